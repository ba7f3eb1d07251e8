"""WebSockets through http/websocket, against a server that can be made to send anything (tests/fake_kube)."""

import json
import pathlib
import signal
import socket
import subprocess
import threading
import time

import pytest

from conftest import BINARY, LIMIT, read_line
from http_server import HttpServer, make_certificate, tls_context
from websocket_server import BINARY as MESSAGE
from websocket_server import CLOSE, PING, PONG, TEXT, accept, close, frame, read_frame

ASK = pathlib.Path(BINARY).parent / "tests" / "fake_kube" / "websocket_ask"
UNREACHABLE, LOST, INVALID, TOO_LARGE = -6, -5, -1, -8


def ask(*arguments):
    done = subprocess.run([ASK, *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def frames_of(exchange):
    """All that the client sends, until it is gone."""
    while (got := read_frame(exchange)) is not None:
        yield got


def speak(conversation, *arguments):
    """What the client makes of a conversation that begins after the handshake; and what it sent."""
    sent = []
    ended = threading.Event()

    def answer(exchange):
        try:
            accept(exchange)
            conversation(exchange)
            sent.extend(frames_of(exchange))
        finally:
            ended.set()

    with HttpServer(answer) as server:
        got = ask(*arguments, server.url)
        assert ended.wait(LIMIT)
        return got, sent, server


def test_a_sub_protocol_is_chosen_and_messages_go_both_ways():
    def echo(exchange):
        accept(exchange, "b")
        for _ in range(2):
            exchange.write(frame(read_frame(exchange)[1]))
        assert read_frame(exchange) == (CLOSE, b"\x03\xe8")
        close(exchange)

    with HttpServer(echo) as server:
        got = ask("--protocol", "a", "--protocol", "b", "--header", "X-One: 1", "--send", "hello", "--send", "ünd",
                  "--close-after", 2, server.origin + "/p/a?q=1&r=%20")
        [exchange] = server.exchanges
    assert got == [{"protocol": "b"}, {"message": "hello"}, {"message": "ünd"}, {"status": 101, "body": "", "close": 1000}]
    assert (exchange.method, exchange.target) == ("GET", "/p/a?q=1&r=%20")
    assert exchange.headers["sec-websocket-protocol"] == "a, b"
    assert exchange.headers["x-one"] == "1"
    assert exchange.headers["host"] == f"127.0.0.1:{server.port}"
    assert exchange.headers["user-agent"] == "muster/test (linux)"


def test_messages_come_whole_however_they_were_cut():
    def cut(exchange):
        stream = frame(b"one") + frame(b"t", TEXT, final=False) + frame(b"", PING) + frame(b"wo", 0) + frame(b"")
        for byte in stream:
            exchange.write(bytes([byte]))
        assert read_frame(exchange) == (PONG, b"")
        close(exchange)

    got, sent, _ = speak(cut)
    assert [line.get("message") for line in got[1:-1]] == ["one", "two", ""]
    assert got[-1] == {"status": 101, "body": "", "close": 1000}
    assert sent == [(CLOSE, b"\x03\xe8")]


def test_what_comes_with_the_head_of_the_answer_is_not_lost():
    def answer(exchange):
        written = []
        write, exchange.write = exchange.write, written.append
        accept(exchange)
        write(written[0].encode() + frame(b"early") + frame(b"\x03\xe8", CLOSE))
        list(frames_of(exchange))

    with HttpServer(answer) as server:
        got = ask(server.url)
    assert [line.get("message") for line in got[1:-1]] == ["early"]


def test_pings_are_answered_with_what_they_hold():
    def ping(exchange):
        exchange.write(frame(b"are you there", PING))
        assert read_frame(exchange) == (PONG, b"are you there")
        close(exchange, 1001)

    got, _, _ = speak(ping)
    assert got[-1] == {"status": 101, "body": "", "close": 1001}


@pytest.mark.parametrize("ending", [b"", frame(b"half", length=10), frame(b"half", final=False)])
def test_a_connection_that_ends_suddenly_is_lost(ending):
    def cut(exchange):
        accept(exchange)
        exchange.write(ending)

    with HttpServer(cut) as server:
        got = ask(server.url)
    assert got[-1]["code"] == LOST
    assert got[-1]["error"] == f"lost {server.origin}: it closed the connection"
    assert len(got) == 2


@pytest.mark.parametrize("wrong", [b"\xf0\x01x", b"\x82\x81abcdx", b"\x09\x00", b"\x83\x00", b"\x80\x00",
                                   frame(b"\xff", TEXT)])
def test_what_is_against_the_protocol_ends_it(wrong):
    got, sent, server = speak(lambda exchange: exchange.write(wrong))
    assert got[-1]["code"] == INVALID
    assert got[-1]["error"] == f"cannot understand {server.origin}: it breaks the WebSocket protocol"
    assert all(opcode == CLOSE for opcode, _ in sent)


def test_a_message_above_the_limit_ends_it():
    got, sent, server = speak(lambda exchange: exchange.write(frame(b"x" * 1001)), "--limit", 1000)
    assert (got[-1]["code"], got[-1]["error"]) == (TOO_LARGE, f"a message of {server.origin} is larger than 1000 bytes")
    assert sent[-1] == (CLOSE, b"\x03\xf1")
    got, _, _ = speak(lambda exchange: (exchange.write(frame(b"x" * 1000)), close(exchange)), "--limit", 1000)
    assert got[1:] == [{"length": 1000}, {"status": 101, "body": "", "close": 1000}]


def test_a_refusal_is_told_with_its_reason():
    with HttpServer(lambda exchange: exchange.answer(403, '{"reason":"Forbidden"}')) as server:
        assert ask(server.url) == [{"status": 403, "body": '{"reason":"Forbidden"}', "close": 0}]


def test_a_refusal_may_end_with_its_connection():
    def answer(exchange):
        exchange.head(400, "Connection: close")
        exchange.write("because")
        exchange.close()

    with HttpServer(answer) as server:
        assert ask(server.url) == [{"status": 400, "body": "because", "close": 0}]


def test_who_is_no_websocket_server_is_not_understood():
    with HttpServer(lambda exchange: exchange.head(101, "Upgrade: websocket", "Sec-WebSocket-Accept: x")) as server:
        [got] = ask(server.url)
    assert (got["code"], got["error"]) == (INVALID, f"cannot understand {server.origin}: it does not speak WebSocket")


def test_an_answer_that_does_not_come_is_not_waited_for():
    with HttpServer(lambda exchange: exchange.wait_for_the_end()) as server:
        [got] = ask("--timeout", 50, server.url)
    assert (got["code"], got["error"]) == (LOST, f"lost {server.origin}: no data for 50ms")


def test_the_time_of_an_answer_begins_with_the_connection():
    """Which with TLS stands only after a while here; that this one then fails is of no matter."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        asking = subprocess.Popen([ASK, "--timeout", "50", f"https://127.0.0.1:{server.getsockname()[1]}/"], stdout=subprocess.PIPE, text=True)
        connection, _ = server.accept()
        time.sleep(0.2)
        connection.close()
        got = json.loads(asking.communicate()[0].splitlines()[-1])
    assert "no connection in time" not in got["error"] and got["code"] != LOST, got


def test_a_silent_server_is_asked_for_a_sign_of_life_and_then_given_up():
    got, sent, server = speak(lambda exchange: None, "--silence", 200)
    assert (got[-1]["code"], got[-1]["error"]) == (LOST, f"lost {server.origin}: no data for 200ms")
    assert (PING, b"") in sent


def test_who_was_stopped_for_longer_than_that_asks_before_it_gives_up():
    sent, ended = [], threading.Event()

    def listen(exchange):
        accept(exchange)
        sent.extend(frames_of(exchange))
        ended.set()

    with HttpServer(listen) as server:
        asking = subprocess.Popen([ASK, "--silence", "200", server.url], stdout=subprocess.PIPE, text=True)
        assert "protocol" in read_line(asking.stdout)
        asking.send_signal(signal.SIGSTOP)
        time.sleep(0.3)
        asking.send_signal(signal.SIGCONT)
        assert asking.wait(LIMIT) == 0
        asking.stdout.close()
        assert ended.wait(LIMIT)
    assert sent == [(PING, b"")]


def test_a_server_that_answers_pings_is_not_given_up():
    def answer_pings(exchange):
        for _ in range(3):
            assert read_frame(exchange) == (PING, b"")
            exchange.write(frame(b"", PONG))
        close(exchange)

    got, _, _ = speak(answer_pings, "--silence", 6000)
    assert got[-1] == {"status": 101, "body": "", "close": 1000}


def test_nobody_listens():
    with HttpServer(lambda exchange: None) as server:
        url, origin = server.url, server.origin
    [got] = ask(url)
    assert (got["code"], got["error"]) == (UNREACHABLE, f"cannot reach {origin}: connection refused")


def test_a_token_is_in_no_error():
    with HttpServer(lambda exchange: exchange.cut()) as server:
        [got] = ask("--header", "Authorization: Bearer secret", server.url + "?token=secret")
        assert got["code"] == LOST and "secret" not in got["error"]
    [got] = ask("--header", "Authorization: Bearer sec\nret", server.url)
    assert got["code"] == INVALID and "sec" not in got["error"]


def test_much_is_sent_as_the_server_takes_it():
    total = 20_000_000
    taken = []

    def take(exchange):
        accept(exchange)
        for opcode, data in frames_of(exchange):
            if opcode == CLOSE:
                close(exchange)
                return
            taken.append(len(data))

    with HttpServer(take) as server:
        got = ask("--send-bytes", total, "--close-after", 0, server.url)
    assert got[-1] == {"status": 101, "body": "", "close": 1000}
    assert sum(taken) == total


def test_a_reader_who_pauses_loses_nothing():
    def flood(exchange):
        for _ in range(50):
            exchange.write(frame(b"x" * 50_000))
        close(exchange)

    got, _, _ = speak(flood, "--pause", 1)
    assert [line["length"] for line in got[1:-1]] == [50_000] * 50
    assert got[-1]["close"] == 1000


def test_it_may_be_ended_from_its_own_callbacks():
    def send(exchange):
        exchange.write(frame(b"one") + frame(b"two") + frame(b"three"))

    got, _, _ = speak(send, "--cancel-after", 2)
    assert [line.get("message") for line in got[1:]] == ["one", "two"]
    got, _, _ = speak(send, "--cancel-after", 0)
    assert len(got) == 1


@pytest.fixture
def certificate(tmp_path):
    return make_certificate(tmp_path)


def test_over_tls_nothing_that_was_decrypted_is_left_lying(certificate):
    """One record of TLS holds more frames than one reading takes; then nothing more comes to the socket."""
    def talk(exchange):
        accept(exchange)
        exchange.write(b"".join(frame(b"%04d" % i * 200) for i in range(20)))
        assert read_frame(exchange) == (MESSAGE, b"hello")
        sent = 0
        while sent < 1_000_000:
            sent += len(read_frame(exchange)[1])
        assert read_frame(exchange)[0] == CLOSE
        close(exchange)

    with HttpServer(talk, tls_context(*certificate)) as server:
        got = ask("--authority", certificate[0], "--send", "hello", "--send-bytes", 1_000_000, "--close-after", 20,
                  server.url)
    assert [line["message"][:4] for line in got[1:-1] if "message" in line] == [f"{i:04d}" for i in range(20)]
    assert got[-1] == {"status": 101, "body": "", "close": 1000}


def test_a_server_that_is_not_trusted_is_told_nothing(certificate):
    with HttpServer(accept, tls_context(*certificate)) as server:
        [got] = ask("--header", "Authorization: Bearer secret", server.url)
    assert got["error"].startswith(f"cannot verify the certificate of {server.origin}")
    assert not server.exchanges
