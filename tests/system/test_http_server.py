"""http/server, by a small program (tests/http): callers that behave, that are slow, and that mean harm."""

import contextlib
import http.client
import os
import pathlib
import re
import resource
import select
import socket
import ssl
import struct
import subprocess
import warnings

import pytest

from conftest import BINARY, LIMIT, read_line
from http_server import make_certificate

SERVE = pathlib.Path(BINARY).parent / "tests" / "http" / "http_serve"
HEADERS, BODY, CONNECTIONS = 4096, 20000, 8
HANDSHAKES = 1024  # LIMIT_HANDSHAKES of src/http/server.c
A_LONG_TIME, A_SHORT_TIME = 3600, 5  # seconds of patience; a busy machine takes some of the short one


class Server:
    def __init__(self, address, patience, *tls, connections=CONNECTIONS):
        self.tls = tls
        self.process = subprocess.Popen([SERVE, address, *map(str, (HEADERS, BODY, connections, patience)), *tls],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.address = read_line(self.process.stdout).split()[1]

    def said(self):
        return read_line(self.process.stdout).strip()

    def connect(self):
        if self.address.startswith("unix:"):
            made = socket.socket(socket.AF_UNIX)
            made.connect(self.address.removeprefix("unix:"))
        else:
            host, port = self.address.rsplit(":", 1)
            made = socket.create_connection((host.strip("[]"), int(port)))
        made.settimeout(LIMIT)
        if self.tls:
            context = ssl.create_default_context(cafile=self.tls[0])
            made = context.wrap_socket(made, server_hostname="127.0.0.1")
        return made

    def ask(self, path, method="GET", body=None, headers=()):
        with contextlib.closing(self.client()) as client:
            client.request(method, path, body, dict(headers))
            answer = client.getresponse()
            return answer.status, answer.read()

    def client(self):
        client = http.client.HTTPConnection("localhost")
        client.sock = self.connect()
        return client

    def end(self):
        """All is freed in order; a sanitizer says so otherwise."""
        self.process.stdin.close()
        assert self.process.wait(LIMIT) == 0
        self.process.stdout.close()


@contextlib.contextmanager
def serving(address="127.0.0.1:0", patience=A_LONG_TIME, tls=(), connections=CONNECTIONS):
    server = Server(address, patience, *tls, connections=connections)
    try:
        yield server
        server.end()
    finally:
        server.process.kill()
        server.process.wait()


def read_to_end(connection):
    """All that comes; a reset is an end, too."""
    pieces = []
    with contextlib.suppress(ConnectionResetError):
        while got := connection.recv(65536):
            pieces.append(got)
    return b"".join(pieces)


def status_of(answer):
    return int(re.match(rb"HTTP/1\.[01] (\d+) ", answer)[1])


def exchange(server, text):
    with server.connect() as connection:
        connection.sendall(text)
        return read_to_end(connection)


@pytest.fixture(params=["127.0.0.1:0", "[::1]:0", "unix", "tls"])
def server(request, tmp_path):
    address = f"unix:{tmp_path}/socket" if request.param == "unix" else "localhost:0" if request.param == "tls" else request.param
    tls = make_certificate(tmp_path) if request.param == "tls" else ()
    with serving(address, tls=tls) as made:
        yield made


def test_what_is_asked_is_what_is_answered(server):
    assert server.ask("/ok") == (200, b"ok\n")
    assert server.ask("/a%20b/?x=1&y", "PUT", headers={"X-ONE": "one"}) == (200, b"PUT /a%20b/ x=1&y one\n")
    assert server.ask("/echo", "POST", b"\x00\xff" * 5000) == (200, b"\x00\xff" * 5000)
    assert server.ask("/forget") == (500, b"")
    assert server.ask("/ok", "HEAD") == (200, b"")
    assert len(server.ask("/large")[1]) == 64 << 20


def test_an_answer_comes_later_and_a_hang_up_is_told(server):
    with server.connect() as gone, contextlib.closing(server.client()) as patient:
        patient.request("GET", "/hold")
        assert server.said() == "held"
        gone.sendall(b"GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
        assert server.said() == "held"
        gone.close()
        assert server.said() == "gone"
        server.ask("/release")
        assert patient.getresponse().read() == b"released\n"
        patient.request("GET", "/ok")  # on the same connection
        assert patient.getresponse().read() == b"ok\n"


def test_a_held_caller_that_is_reset_and_one_that_has_sent_more(server):
    with server.connect() as gone, server.connect() as eager:
        gone.sendall(b"GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
        assert server.said() == "held"
        eager.sendall(b"GET /hold HTTP/1.1\r\nHost: x\r\n\r\n" + 3 * b"GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
        assert server.said() == "held"
        eager.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        gone.close()
        assert server.said() == "gone"
        server.ask("/release")
        assert re.findall(rb"released|ok|GET /a", read_to_end(eager)) == [b"released", b"ok", b"ok", b"ok", b"GET /a"]


def test_the_end_of_a_connection_is_told_if_its_last_call_was_accepted(server):
    for paths, said in ((["/ok"], None), (["/report", "/ok"], None), (["/ok", "/report"], "end /report")):
        with contextlib.closing(server.client()) as client:
            for path in paths:
                client.request("GET", path)
                assert client.getresponse().read() == b"ok\n"
        if said:
            assert server.said() == said
        while server.ask("/connections") != (200, b"1 0\n"):
            pass


def test_calls_that_are_held_when_the_server_ends_are_told(server):
    with server.connect() as connection:
        connection.sendall(b"GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
        assert server.said() == "held"
        server.process.stdin.close()
        assert server.said() == "gone"
        assert server.process.wait(LIMIT) == 0


def test_requests_in_one_piece_are_answered_in_order():
    with serving() as server:
        text = b"".join(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n%04d" % i for i in range(500))
        answers = exchange(server, text + b"GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert re.findall(rb"\r\n\r\n(\d{4}|ok)", answers) == [b"%04d" % i for i in range(500)] + [b"ok"]


@pytest.mark.parametrize("path", ["/ok", "/large"])
def test_a_caller_may_shut_down_its_side_when_it_has_sent_all(path):
    with serving() as server, server.connect() as connection:
        connection.sendall(b"GET " + path.encode() + b" HTTP/1.0\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        answer = read_to_end(connection)
        assert status_of(answer) == 200
        assert len(answer.split(b"\r\n\r\n", 1)[1]) == (3 if path == "/ok" else 64 << 20)


@pytest.mark.parametrize("text, status", [
    (b"GET /ok HTTP/1.1\r\nX: " + b"x" * 2 * HEADERS + b"\r\n\r\n", 400),
    (b"GET /" + b"x" * 2 * HEADERS, 400),
    (b"GET /ok HTTP/1.1\r\n" + b"X: y\r\n" * HEADERS, 400),
    (b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (BODY + 1), 413),
    (b"POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n", 413),
    (b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
    (b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400),
    (b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n", 411),
    (b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", 411),
    (b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"400\r\n" + b"x" * 1024 + b"\r\n400\r\n" +
     (b"x" * 1024 + b"\r\n400\r\n") * 20, 411),
    (b"no request\r\n\r\n", 400),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)) + b"\n\n", 400),
    (b"GET /ok HTTP/1.1\r\nno header\r\n\r\n", 400),
    (b"WHAT /ok HTTP/1.1\r\nHost: x\r\n\r\n", 501),
    (b"GET /ok HTTP/0.0\r\nConnection: keep-alive\r\n\r\n", 505),
    (b"GET /ok HTTP/1.-1\r\nHost: x\r\n\r\n", 505),
    (b"GET /ok HTTP/2.0\r\nHost: x\r\n\r\n", 400),
], ids=range(17))
def test_what_is_too_much_or_wrong_is_refused_and_the_next_one_is_served(text, status):
    with serving() as server:
        with server.connect() as connection:
            with contextlib.suppress(ConnectionError):  # it may have answered and hung up before all was sent
                connection.sendall(text)
            answer = read_to_end(connection)
        assert not answer or status_of(answer) == status  # a reset takes the answer along
        assert server.ask("/ok") == (200, b"ok\n")


CHUNKED, NEXT = b"Transfer-Encoding: chunked", b"GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize("headers, body", [
    ([b"Content-Length: 5", CHUNKED], b"0\r\n\r\n"),
    ([CHUNKED, b"Content-Length: 0"], b"0\r\n\r\n"),
    ([b"Content-Length: 5", b"Content-Length: 6"], b"123456"),
    ([b"Content-Length: 5", b"Content-Length: 5"], b"12345"),
    ([b"Content-Length: 5, 5"], b"12345"),
    ([b"Content-Length: +5"], b"12345"),
    ([b"Content-Length:\t5"], b"12345"),
    ([b"Content-Length:"], b""),
    ([b"Content-Length : 5"], b"12345"),
    ([CHUNKED, CHUNKED], b"0\r\n\r\n"),
    ([b"Transfer-Encoding: gzip, chunked"], b"0\r\n\r\n"),
    ([b"Transfer-Encoding: chunked, identity"], b"0\r\n\r\n"),
    ([b"Transfer-Encoding: identity"], b""),
    ([b"Transfer-Encoding:\tchunked"], b"0\r\n\r\n"),
    ([b"Transfer-Encoding:", b" chunked"], b"0\r\n\r\n"),
    ([b"Transfer-Encoding : chunked"], b"0\r\n\r\n"),
    ([CHUNKED], b"5;x=y\r\n12345\r\n0\r\n\r\n"),
    *(([CHUNKED], size + b"\r\n1234567\r\n0\r\n\r\n") for size in (b"0x7", b"+7", b" 7", b"7 ", b"7 junk", b"7\0", b"-1", b"")),
    ([b"Content-Length: 0\0 5"], b"12345"),
    ([b"Content-Length: 5\0"], b"12345"),
    ([b"\0Content-Length: 5"], b"12345"),
    ([b"X: \0", b"Content-Length: 5"], b"12345"),
    ([b"Content-Length: 0", b" 5"], b"12345"),
    ([b"Host: y"], b""),
    ([b": x"], b""),
    ([b"(X): x"], b""),
    ([b"X y: x"], b""),
    ([b"X: x\rContent-Length: 5"], b""),
    ([b"X: \x01"], b""),
    ([b"X: a\nContent-Length: 5"], b"12345"),
    ([b"X: a", b" Transfer-Encoding: chunked"], b"0\r\n\r\n"),
    ([b"X: a", b"\tb"], b""),
], ids=range(39))
@pytest.mark.parametrize("method", [b"POST", b"GET"])
def test_a_request_that_another_could_end_elsewhere_is_refused(method, headers, body):
    """What lies behind it would be a request to one of the two, and part of a body to the other (RFC 9112, 11.2)."""
    with serving() as server:
        head = b"\r\n".join([method + b" /echo HTTP/1.1", b"Host: x", *headers])
        answer = exchange(server, head + b"\r\n\r\n" + body + NEXT)
        assert not answer or status_of(answer) in (400, 411)
        assert answer.count(b"HTTP/1.1 ") <= 1


@pytest.mark.parametrize("text", [
    b"HEAD /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345",
    b"HEAD /ok HTTP/1.1\r\nHost: x\r\n" + CHUNKED + b"\r\n\r\n0\r\n\r\n",
    b"POST /echo HTTP/1.0\r\nHost: x\r\n" + CHUNKED + b"\r\n\r\n0\r\n\r\n",
    b"GET /ok HTTP/1.1\r\n\r\n", b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /a\x7f HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /ok HTTP/1.1\r\n Host: x\r\n\r\n", b"GET /ok HTTP/1.1\r\nHost: x\0.example\r\n\r\n",
    b"GET /ok\0 HTTP/1.1\r\nHost: x\r\n\r\n", b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345",
    b"GET /ok HTTP/1.1\nHost: x\r\n\r\n", b"GET /ok HTTP/1.1\r\nHost: x\r\n\n"], ids=range(12))
def test_so_is_one_whose_parts_are_not_clear(text):
    with serving() as server:
        answer = exchange(server, text + NEXT)
        assert not answer or status_of(answer) in (400, 411)
        assert answer.count(b"HTTP/1.1 ") <= 1


def test_what_is_unusual_and_clear_is_served():
    with serving() as server:
        for text, said in ((b"GET /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345", b"12345"),
                           (b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length:   005 \r\n\r\n1\r\n\r\n", b"1\r\n\r\n"),
                           (b"HEAD /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", b"Content-Length: 3"),
                           (b"GET /ok HTTP/1.0\r\n\r\n", b"ok")):
            answer = exchange(server, text + b"GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert status_of(answer) == 200 and said in answer


@pytest.mark.parametrize("beginning", [
    b"", b"GET /ok HT", b"GET /ok HTTP/1.1\r\nHost", b"POST /echo HTTP/1.1\r\nContent-Length: 9\r\n\r\n1234",
], ids=range(4))
def test_a_request_that_does_not_come_to_its_end_is_given_up(beginning):
    with serving(patience=A_SHORT_TIME) as server, server.connect() as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(beginning)
        assert read_to_end(connection) == b""
        assert server.ask("/ok") == (200, b"ok\n")


def test_who_wants_a_proxy_is_refused_and_given_up():
    with serving(patience=A_SHORT_TIME) as server:
        assert status_of(exchange(server, b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n")) == 501


def test_a_trickle_is_given_up_too():
    """Each byte is no new patience."""
    with serving(patience=A_SHORT_TIME) as server, server.connect() as connection:
        connection.sendall(b"GET /ok HTTP/1.1\r\nX: ")
        with contextlib.suppress(ConnectionError):
            while not select.select([connection], [], [], 0.1)[0]:
                connection.sendall(b"x")
        assert read_to_end(connection) == b""


def test_an_answer_that_is_not_taken_is_given_up():
    with serving(patience=A_SHORT_TIME) as server, server.connect() as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        while server.ask("/connections") != (200, b"1 0\n"):
            pass
        assert len(read_to_end(connection)) < 64 << 20


PIECE = 50000


def test_an_answer_comes_in_pieces_and_a_hang_up_meanwhile_is_told(server):
    with contextlib.closing(server.client()) as client, server.connect() as gone:
        client.request("GET", "/pieces?400")
        answer = client.getresponse()
        assert answer.getheader("Transfer-Encoding") == "chunked"
        assert answer.read() == b"".join(bytes([ord("a") + left % 26]) * PIECE for left in reversed(range(400)))
        client.request("GET", "/ok")  # on the same connection
        assert client.getresponse().read() == b"ok\n"
        gone.sendall(b"GET /pieces?1000000 HTTP/1.1\r\nHost: x\r\n\r\n")
        gone.recv(PIECE)
        gone.close()
        assert server.said() == "gone"


def test_an_answer_in_pieces_may_take_long_and_one_that_is_not_taken_is_given_up():
    with serving(patience=A_SHORT_TIME) as server, server.connect() as idle, server.connect() as slow:
        slow.sendall(b"GET /pieces?1000000 HTTP/1.0\r\n\r\n")
        while not select.select([idle], [], [], 0.1)[0]:  # until one that came with it is given up
            slow.recv(PIECE)
        assert slow.recv(PIECE)
        assert server.said() == "gone"


def cpu_time_of(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_who_asks_on_and_reads_nothing_of_an_answer_in_pieces_is_given_up():
    """What it sends fills the input, and would be reported again and again."""
    with serving() as server, server.connect() as eager:
        eager.sendall(b"GET /pieces?1000000 HTTP/1.1\r\nHost: x\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            for _ in range(10000):
                eager.sendall(b"GET /ok HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
        assert server.said() == "gone"
        assert server.ask("/connections") == (200, b"1 0\n")


def test_who_reads_nothing_of_an_answer_in_pieces_costs_no_time():
    with serving() as server, contextlib.ExitStack() as stack:
        before = cpu_time_of(server.process)
        for more in (b"", b"GET /ok HTTP/1.1\r\nHost: x\r\n\r\n", b"x" * 2 * HEADERS, b"x" * 20 * BODY):
            connection = stack.enter_context(server.connect())
            connection.sendall(b"GET /pieces?1000000 HTTP/1.1\r\nHost: x\r\n\r\n" + more)
        assert server.ask("/ok") == (200, b"ok\n")
        assert not select.select([server.process.stdout], [], [], 2)[0]
        assert cpu_time_of(server.process) - before < 1


def test_what_is_held_may_take_longer_than_the_patience():
    with serving(patience=A_SHORT_TIME) as server, server.connect() as held, server.connect() as idle:
        held.sendall(b"GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
        assert server.said() == "held"
        assert read_to_end(idle) == b""  # it came later, and its time is over
        with server.connect() as later:
            assert read_to_end(later) == b""
        server.ask("/release")
        assert b"released" in read_to_end(held)  # and then it is idle


def test_who_comes_when_all_connections_have_calls_waits():
    with serving() as server:
        with contextlib.ExitStack() as stack:
            held = [stack.enter_context(server.connect()) for _ in range(CONNECTIONS)]
            for connection in held:
                connection.sendall(b"GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
                assert server.said() == "held"
            late = stack.enter_context(server.connect())
            late.sendall(b"GET /connections HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            held[0].close()
            assert server.said() == "gone"
            assert b"%d %d\n" % (CONNECTIONS, CONNECTIONS - 1) in read_to_end(late)
        while server.ask("/connections") != (200, b"1 0\n"):
            pass


def test_who_says_nothing_makes_room_for_who_asks():
    with serving() as server, contextlib.ExitStack() as stack:
        held = stack.enter_context(server.connect())
        held.sendall(b"GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
        assert server.said() == "held"
        idle = [stack.enter_context(server.connect()) for _ in range(3 * CONNECTIONS)]
        assert server.ask("/connections") == (200, b"%d 1\n" % CONNECTIONS)
        assert read_to_end(idle[0]) == b""  # it had waited longest
        idle[-1].sendall(b"GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"ok" in idle[-1].recv(4096)
        assert server.ask("/release")[0] == 200
        assert b"released" in held.recv(4096)


def test_without_free_descriptors_who_says_nothing_makes_room_too():
    """The limit of the process may be below that of connections."""
    with serving() as server, contextlib.ExitStack() as stack:
        room = CONNECTIONS // 2
        most = len(os.listdir(f"/proc/{server.process.pid}/fd")) + room
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (most, most))
        idle = [stack.enter_context(server.connect()) for _ in range(3 * CONNECTIONS)]
        assert server.ask("/ok") == (200, b"ok\n")
        assert read_to_end(idle[0]) == b""  # it had waited longest
        held = []
        for _ in range(room):
            held.append(stack.enter_context(server.connect()))
            held[-1].sendall(b"GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
            assert server.said() == "held"
        late = stack.enter_context(server.connect())
        late.sendall(b"GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        held[0].close()
        assert server.said() == "gone"
        assert b"ok" in read_to_end(late)


def test_hundreds_that_connect_and_hang_up_leave_nothing():
    with serving() as server:
        for i in range(300):
            with server.connect() as connection:
                connection.sendall((b"", b"GET", b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")[i % 3])
        while server.ask("/connections") != (200, b"1 0\n"):
            pass


def test_no_tls_where_tls_is_spoken(tmp_path):
    with serving("localhost:0", patience=A_SHORT_TIME, tls=make_certificate(tmp_path)) as server:
        host, port = server.address.rsplit(":", 1)
        for text in (b"GET /ok HTTP/1.1\r\n\r\n", b"", b"\x16\x03\x01"):
            with socket.create_connection((host, int(port))) as plain:
                plain.settimeout(LIMIT)
                plain.sendall(text)
                assert b"HTTP" not in read_to_end(plain)
        assert server.ask("/ok") == (200, b"ok\n")


HEAD_OF_LONG_HELLO = b"\x16\x03\x01\x00\x24\x01" + (131396).to_bytes(3, "big") + b"\x03\x03" + bytes(30)
WARNING, CHANGE_OF_CIPHER = b"\x15\x03\x01\x00\x02\x01\x00", b"\x14\x03\x03\x00\x01\x01"
ASKS_AGAIN = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891")  # for another hello (RFC 8446, 4.1.3)


def hello():
    """The first bytes of a client."""
    come, gone = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(come, gone, server_hostname="a").do_handshake()
    return gone.read()


def hello_without_a_share():
    """Of a client whose only key share is of a group that the server does not know."""
    groups, share = b"\x00\x1d\x00\x17\x00\x1e", b"\x00\x33\x00\x26\x00\x24\x00\x1d"
    return hello().replace(groups, groups[:-2] + b"jj").replace(share, share[:-2] + b"jj")


@pytest.mark.parametrize("first, then", [
    (b"", HEAD_OF_LONG_HELLO), (WARNING, HEAD_OF_LONG_HELLO), (b"", b"\x16\x03\x01\x00\x01\x01"),
    (hello_without_a_share(), HEAD_OF_LONG_HELLO), (hello_without_a_share(), CHANGE_OF_CIPHER + HEAD_OF_LONG_HELLO),
], ids=["at once", "after a warning", "in pieces", "when asked again", "when asked again, later"])
def test_a_hello_that_announces_more_than_a_record_ends_the_connection(tmp_path, first, then):
    """OpenSSL would allocate what it announces and wait for it: with a server this patient, for ever."""
    with serving("localhost:0", tls=make_certificate(tmp_path)) as server:
        host, port = server.address.rsplit(":", 1)
        with socket.create_connection((host, int(port))) as plain:
            plain.settimeout(LIMIT)
            plain.sendall(first)
            if len(first) > len(WARNING):
                assert ASKS_AGAIN in plain.recv(65536)
            plain.sendall(then)
            read_to_end(plain)
        assert server.ask("/ok") == (200, b"ok\n")


@pytest.mark.parametrize("n_missing", [0, 1], ids=["hello", "half a hello"])
def test_unfinished_handshakes_are_limited_and_keep_out_no_client(tmp_path, n_missing):
    """They would stay for ever with a server this patient, and with room for them all."""
    first = hello()
    with serving("localhost:0", tls=make_certificate(tmp_path), connections=3 * HANDSHAKES) as server, contextlib.ExitStack() as stack:
        few, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        for pid in (os.getpid(), server.process.pid):
            _, most = resource.prlimit(pid, resource.RLIMIT_NOFILE)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (min(4 * HANDSHAKES, most), most))
        stack.callback(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (few, most)))
        finished = stack.enter_context(contextlib.closing(server.client()))
        finished.request("GET", "/ok")
        assert finished.getresponse().read() == b"ok\n"
        host, port = server.address.rsplit(":", 1)
        flood = []
        for _ in range(HANDSHAKES + 100):
            flood.append(stack.enter_context(socket.create_connection((host, int(port)))))
            flood[-1].sendall(first[:len(first) - n_missing])
        assert server.ask("/ok") == (200, b"ok\n")
        flood[0].settimeout(LIMIT)
        read_to_end(flood[0])
        finished.request("GET", "/ok")
        assert finished.getresponse().read() == b"ok\n"


def test_tls_before_1_2_is_not_spoken_where_the_machine_allows_it(tmp_path, monkeypatch):
    (tmp_path / "openssl.cnf").write_text("openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = tls\n"
                                          "[tls]\nMinProtocol = TLSv1\nCipherString = ALL:@SECLEVEL=0\n")
    monkeypatch.setenv("OPENSSL_CONF", str(tmp_path / "openssl.cnf"))
    with serving("localhost:0", tls=make_certificate(tmp_path)) as server:
        tls = ssl.create_default_context(cafile=server.tls[0])
        tls.check_hostname = False
        tls.set_ciphers("ALL:@SECLEVEL=0")
        host, port = server.address.rsplit(":", 1)
        for version in (ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2):
            with warnings.catch_warnings(action="ignore"):
                tls.minimum_version = tls.maximum_version = version
            with socket.create_connection((host, int(port))) as plain:
                refusal = pytest.raises(ssl.SSLError, match="ALERT_PROTOCOL_VERSION")
                with refusal if version == ssl.TLSVersion.TLSv1_1 else contextlib.nullcontext():
                    tls.wrap_socket(plain).close()


def test_a_certificate_that_is_none_is_named(tmp_path):
    (tmp_path / "no.pem").write_text("no")
    done = subprocess.run([SERVE, ":0", "1", "1", "1", "1", tmp_path / "no.pem", tmp_path / "no.pem"],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT)
    assert done.returncode == 1
    assert done.stderr.startswith(f"cannot use '{tmp_path}/no.pem' for TLS: ")
