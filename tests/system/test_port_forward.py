"""`muster port-forward` against a fake API server that does what a real one cannot be made to do. How a real one does it is
in tests/cluster."""

import json
import re
import select
import signal
import socket
import struct
import threading

import pytest

from conftest import LIMIT, read_line, read_until
from fake_kube import status
from living_kube import LivingKube
from test_jobs_elsewhere import write_kubeconfig
from test_kube_foreign import document, put_record
from websocket_server import CLOSE, accept, close, frame, read_frame

V4 = "v4.channel.k8s.io"
DATA, ERROR = b"\x00", b"\x01"
PORT = struct.pack("<H", 6006)
CONNECTIONS = 256  # as in spec/limits.h
AT_REST = 2  # seconds in which a connection takes nothing, and so will not without somebody's doing
ENDED = json.dumps({"conditions": [{"type": "Succeeded", "status": "True", "reason": "r", "message": "m"}]})


class Forwards:
    """The port-forwards that a server got, each with the answer of its turn: the next of `answers`, at last the only one."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.exchanges = []
        self.lock = threading.Lock()

    def __call__(self, exchange):
        if not exchange.path.endswith("/portforward"):
            return False
        with self.lock:
            self.exchanges.append(exchange)
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        answer(exchange)
        return True


@pytest.fixture
def kube(muster, tmp_path):
    """A server with a job of two workers."""
    with LivingKube(lambda labels: None) as server:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", server.origin))
        put_record(server, document())
        yield server


@pytest.fixture
def forward(muster, kube):
    """Starts the command where `answers` are those of the server; gives it, its local port, and the forwards."""
    def start(*answers, arguments=("story", ":6006")):
        kube.trouble = Forwards(*answers)
        process = muster.start("port-forward", "--address", "127.0.0.1", *arguments)
        line = read_line(process.stdout)
        found = re.fullmatch(r"Forwarding from 127\.0\.0\.1:(\d+) -> \d+\n", line)
        assert found, line + process.stderr.read()
        return process, int(found[1]), kube.trouble
    return start


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=LIMIT)


def begin(exchange, *messages, protocol=V4):
    """As a kubelet does: the port on both channels first."""
    accept(exchange, protocol)
    for message in (DATA + PORT, ERROR + PORT, *messages):
        exchange.write(frame(message))


def echo(exchange):
    begin(exchange)
    while (read := read_frame(exchange)) and read[0] != CLOSE:
        exchange.write(frame(read[1]))


def read_to_end(connection):
    read = b""
    while more := connection.recv(1 << 16):
        read += more
    return read


def is_cut(connection):
    try:
        read_to_end(connection)
    except ConnectionResetError:
        return True
    return False


def try_and_see_it_cut(port):
    """It may be cut while Python still looks how connecting went."""
    try:
        with connect(port) as connection:
            assert is_cut(connection)
    except ConnectionResetError:
        pass


def end(process, code=0):
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=LIMIT)[1]
    assert process.returncode == code, said
    return said


def test_bytes_go_both_ways_however_they_are_cut(forward):
    def answer(exchange):
        accept(exchange, V4)
        for message in (DATA + PORT[:1], ERROR, ERROR + PORT, DATA, DATA + PORT[1:] + b"\x00wel", DATA, b"\x07news",
                        DATA + b"come\xff"):
            exchange.write(frame(message))
        got = b""
        while len(got) < 100_000:
            message = read_frame(exchange)[1]
            assert message[:1] == DATA
            got += message[1:]
        exchange.write(frame(DATA + got[::-1]))
        close(exchange)

    process, port, forwards = forward(answer)
    sent = bytes(range(250)) * 400
    with connect(port) as connection:
        connection.sendall(sent)
        assert read_to_end(connection) == b"\x00welcome\xff" + sent[::-1]
    [exchange] = forwards.exchanges
    assert exchange.method == "GET" and exchange.target.endswith("/namespaces/ada/pods/story-worker-0/portforward?ports=6006")
    assert exchange.headers["sec-websocket-protocol"] == V4
    assert end(process) == ""


def test_each_connection_has_a_way_of_its_own(forward):
    process, port, forwards = forward(echo, arguments=("story", "worker-1", ":6006"))
    with connect(port) as one, connect(port) as other:
        for connection, word in ((one, b"one"), (other, b"other"), (one, b"once more")):
            connection.sendall(word)
            assert connection.recv(100) == word
    assert [exchange.path.split("/")[-2] for exchange in forwards.exchanges] == ["story-worker-1"] * 2
    assert end(process) == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_all_that_is_open(forward, number):
    process, port, _ = forward(echo)
    with connect(port) as connection:
        connection.sendall(b"up")
        assert connection.recv(100) == b"up"
        process.send_signal(number)
        assert process.wait(LIMIT) == 0
        assert is_cut(connection) or connection.recv(1) == b""


def complain(text):
    def answer(exchange):
        begin(exchange, ERROR + text)
        close(exchange)
    return answer


def test_where_nothing_listens_a_sentence_says_so_once_and_the_next_connection_tries_again(forward):
    refused = complain(b"error forwarding port 6006 to pod 77aa, uid : dial tcp4 127.0.0.1:6006: connect: connection refused")
    process, port, _ = forward(refused, refused, echo, refused, complain(b"no sandbox\n"), echo)
    for is_refused in (True, True, False, True, True, False):
        if is_refused:
            try_and_see_it_cut(port)
            continue
        with connect(port) as connection:
            connection.sendall(b"up")
            assert connection.recv(100) == b"up"
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    said = end(process).splitlines()
    assert set(said) == {
        "muster: no program listens on port 6006 of Pod 'story-worker-0' (connection refused)",
        "muster: port 6006 of Pod 'story-worker-0' cannot be reached: no sandbox"}
    assert len(said) <= 3


def refuse(code, reason, message):
    return lambda exchange: exchange.answer(code, status(code, reason, message))


@pytest.mark.parametrize("answer, said", [
    (refuse(404, "NotFound", 'pods "story-worker-0" not found'), "Pod 'story-worker-0' does not exist now"),
    (refuse(403, "Forbidden", 'pods "story-worker-0" is forbidden: User "u" cannot get resource "pods/portforward" in API group '
            '"" in the namespace "ada"'), 'resources: ["pods/portforward"]'),
    (refuse(400, "BadRequest", "pod story-worker-0 does not have a host assigned"), "does not have a host assigned"),
    (lambda exchange: begin(exchange, protocol=None), "does not support the protocol v4.channel.k8s.io"),
    (lambda exchange: begin(exchange, protocol="v9"), "it chose a subprotocol that was not requested"),
    (lambda exchange: (accept(exchange, V4), exchange.write(frame(DATA + b"\x01\x02"))),
     "another port than the requested 6006"),
    (lambda exchange: (accept(exchange, V4), exchange.write(frame(b""))), "a message without a channel"),
    (lambda exchange: (begin(exchange, DATA + b"half"), exchange.cut()), "lost"),
    (lambda exchange: (begin(exchange), exchange.write(frame(DATA + b"x" * 2_000_000))), "larger than"),
])
def test_what_goes_wrong_cuts_the_connection_and_is_one_sentence(forward, answer, said):
    process, port, _ = forward(answer, echo)
    try_and_see_it_cut(port)
    [line] = read_until(process.stderr, said)
    with connect(port) as connection:
        connection.sendall(b"up")
        assert connection.recv(100) == b"up"
    assert end(process) == "" and line.startswith("muster: ")


def test_a_client_that_only_stopped_sending_gets_its_answer(forward):
    stopped = threading.Event()

    def answer(exchange):
        begin(exchange)
        assert read_frame(exchange)[1] == DATA + b"question"
        assert stopped.wait(LIMIT)
        exchange.write(frame(DATA + b"ans"))
        exchange.write(frame(DATA + b"wer"))
        close(exchange)

    process, port, _ = forward(answer)
    with connect(port) as connection:
        connection.sendall(b"question")
        connection.shutdown(socket.SHUT_WR)
        stopped.set()
        assert read_to_end(connection) == b"answer"
    assert end(process) == ""


def test_a_pod_that_never_hears_of_the_clients_end_is_left(forward):
    left = threading.Event()

    def answer(exchange):
        begin(exchange)
        exchange.wait_for_the_end()
        left.set()

    process, port, _ = forward(answer)
    connect(port).close()
    assert left.wait(LIMIT)
    assert end(process) == ""


def test_an_answer_arrives_though_the_client_goes_on_sending(forward):
    """A server that refuses an upload closes first; the client has not read yet."""
    def answer(exchange):
        begin(exchange)
        read_frame(exchange)
        exchange.write(frame(DATA + b"too large"))
        close(exchange)
        exchange.wait_for_the_end()

    process, port, _ = forward(answer)
    with connect(port) as connection:
        connection.sendall(b"x" * 4_000_000)
        assert read_to_end(connection) == b"too large"
    assert end(process) == ""


def test_a_slow_client_is_waited_for_and_not_remembered_for(forward):
    """What was sent when nothing more is taken, is bounded by the kernel's buffers; all of it arrives in the end."""
    piece, total = b"p" * 32_000, 64_000_000
    sent, at_rest = [0], threading.Event()

    def answer(exchange):
        begin(exchange)
        for _ in range(total // len(piece)):
            if not select.select([], [exchange.connection], [], AT_REST)[1]:
                at_rest.set()
            exchange.write(frame(DATA + piece))
            sent[0] += len(piece)
        close(exchange)

    process, port, _ = forward(answer)
    with connect(port) as connection:
        assert at_rest.wait(LIMIT)
        assert sent[0] < total / 2
        memory = int(re.search(r"VmHWM:\s+(\d+) kB", open(f"/proc/{process.pid}/status").read())[1])
        got = 0
        while more := connection.recv(1 << 20):
            assert not more.strip(b"p")
            got += len(more)
    assert got == total
    assert memory < 500_000, "a sanitizer takes most of it"
    assert end(process) == ""


def test_a_slow_pod_holds_the_client_back(forward):
    reads = threading.Event()
    got = [0]

    def answer(exchange):
        begin(exchange)
        assert reads.wait(LIMIT)
        while got[0] < 40_000_000:
            message = read_frame(exchange)[1]
            assert message[:1] == DATA and len(message) <= 32 * 1024 + 1
            got[0] += len(message) - 1
        exchange.write(frame(DATA + b"all"))
        close(exchange)

    process, port, _ = forward(answer)
    with connect(port) as connection:
        connection.setblocking(False)
        sent = 0
        while sent < 40_000_000 and select.select([], [connection], [], AT_REST)[1]:
            sent += connection.send(b"c" * min(100_000, 40_000_000 - sent))
        assert sent < 20_000_000
        reads.set()
        connection.settimeout(LIMIT)
        connection.sendall(b"c" * (40_000_000 - sent))
        assert read_to_end(connection) == b"all"
    assert end(process) == ""


def test_more_connections_than_are_carried_wait_until_one_ends(forward):
    lock = threading.Condition()
    count = {"now": 0, "most": 0, "all": 0}
    may_end = threading.Semaphore(0)

    def answer(exchange):
        with lock:
            count["now"] += 1
            count["all"] += 1
            count["most"] = max(count["most"], count["now"])
            lock.notify_all()
        begin(exchange)
        assert may_end.acquire(timeout=LIMIT)
        with lock:
            count["now"] -= 1
        exchange.write(frame(DATA + b"bye"))
        close(exchange)

    process, port, _ = forward(answer)
    clients = [connect(port) for _ in range(CONNECTIONS + 40)]
    assert f"{CONNECTIONS} connections are open" in read_line(process.stderr)
    with lock:
        assert lock.wait_for(lambda: count["now"] == CONNECTIONS, LIMIT)
    for _ in clients:
        may_end.release()
    for client in clients:
        assert read_to_end(client) == b"bye"
        client.close()
    assert count["most"] <= CONNECTIONS and count["all"] == len(clients)
    assert end(process) == "", "it was said once"


@pytest.mark.parametrize("put", [lambda kube: put_record(kube, document(), ENDED),
                                 lambda kube: kube.remove("configmaps", "story.job")])
def test_it_ends_with_the_job(muster, forward, kube, put):
    process, port, _ = forward(echo)
    with connect(port) as connection:
        connection.sendall(b"up")
        assert connection.recv(100) == b"up"
        put(kube)
        said = process.communicate(timeout=LIMIT)[1]
        assert process.returncode == 0
        assert said == "muster: job 'story' has ended; forwarding to worker-0 stopped\n"


def test_a_job_that_has_ended_has_no_ports(muster, kube):
    put_record(kube, document(), ENDED)
    done = muster("port-forward", "story", "6006", code=1)
    assert done.stdout == "" and "job 'story' has ended, so it has no ports to forward" in done.stderr


def test_a_port_that_is_taken_is_named_and_nothing_listens(muster, kube):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = muster("port-forward", "story", ":6006", f"{port}:6006", code=1)
    assert done.stdout == "" and f"port {port} of 127.0.0.1 is already in use on this machine" in done.stderr


def test_rights_are_asked_for_before_anything_listens(muster, kube):
    def trouble(exchange):
        if exchange.method != "POST":
            return False
        what = exchange.json()["spec"]["resourceAttributes"]
        assert what["subresource"] == "portforward"
        exchange.answer(201, {"status": {"allowed": what["verb"] != "create"}})
        return True

    kube.trouble = trouble
    done = muster("port-forward", "story", "6006", code=4)
    assert done.stdout == "" and 'resources: ["pods/portforward"], verbs: ["create"]' in done.stderr


@pytest.mark.parametrize("arguments, code, said", [
    (("story", "worker-2", "80"), 1, "job 'story' has no worker-2"),
    (("story", "chief-0", "80"), 1, "job 'story' has no chief-0"),
    (("storm", "80"), 1, "did you mean 'story'?"),
    (("story", "worker-0"), 2, "missing port (expected REMOTE or LOCAL:REMOTE)"),
    (("story", "80:http"), 2, "'80:http' is not a port"),
    (("--address", "nowhere", "story", "80"), 2, "'nowhere' is not an IP address"),
    (("--address", "192.0.2.1", "story", "8080"), 1, "192.0.2.1 is not an address of this machine"),
])
def test_wrong_use_is_one_sentence(muster, kube, arguments, code, said):
    done = muster("port-forward", *arguments, code=code)
    assert said in done.stderr and done.stdout == ""


def test_ports_of_a_job_of_this_machine_are_here(muster):
    name = muster.detach("--", "sleep", "1000000")
    done = muster("port-forward", name, "6006", code=4)
    address = muster.job(name)["status"]["replicas"][0]["address"]
    assert done.stderr == (f"muster: job '{name}' runs on this machine; use its ports directly: localhost:6006; "
                           f"the port of TensorFlow in worker-0 is {address}\n")
    muster("stop", "--grace", "0", name, code=0)
    assert "has ended" in muster("port-forward", name, "6006", code=1).stderr
