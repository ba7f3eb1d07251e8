"""Servers whose answers have no end before their body: both HTTP clients end the connection instead of keeping it all."""

import contextlib
import json
import pathlib
import socket
import subprocess
import threading

import pytest

from conftest import BINARY, LIMIT

ASK = pathlib.Path(BINARY).parent / "tests" / "fake_kube" / "ask"
MOST = 32 << 20  # far above every limit, and above what sockets buffer
HEADER = b"X-A: " + b"a" * 1000 + b"\r\n"
OK, CHUNKED = b"HTTP/1.1 200 OK\r\n", b"Transfer-Encoding: chunked\r\n\r\n"
ANSWERS = {  # how it begins, and what comes again and again
    "headers": (OK, HEADER),
    "a header": (OK + b"X-A: ", HEADER[5:-2]),
    "a first line": (b"HTTP/1.1 200 ", HEADER[5:-2]),
    "answers before the answer": (b"", b"HTTP/1.1 100 Continue\r\n" + HEADER + b"\r\n"),
    "the size of a chunk": (OK + CHUNKED, b"0" * 1000),
    "trailers": (OK + CHUNKED + b"0\r\n", HEADER),
}


class Server:
    def __init__(self, beginning, again):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.listening.settimeout(LIMIT)
        self.endpoint = f"127.0.0.1:{self.listening.getsockname()[1]}"
        self.beginning, self.piece = beginning, again * 64
        self.sent = 0
        self.thread = threading.Thread(target=self.send)
        self.thread.start()

    def send(self):
        connection, _ = self.listening.accept()
        with connection, contextlib.suppress(ConnectionError):
            connection.settimeout(LIMIT)
            connection.recv(65536)
            connection.sendall(self.beginning)
            while self.sent < MOST:
                connection.sendall(self.piece)
                self.sent += len(self.piece)


@pytest.fixture(params=ANSWERS)
def server(request):
    server = Server(*ANSWERS[request.param])
    yield server
    server.thread.join(LIMIT)
    server.listening.close()


def test_a_client_of_an_orchestrator_gives_it_up(muster, server):
    shown = muster("status", "--rdzv-endpoint", server.endpoint, "digits", code=3)
    server.thread.join(LIMIT)
    assert server.sent < MOST
    assert f"cannot reach {server.endpoint.replace(':', ' port ')}: " in shown.stderr


def test_a_client_of_a_cluster_gives_it_up(server):
    done = subprocess.run([ASK, f"http://{server.endpoint}/"], capture_output=True, text=True, timeout=LIMIT, check=True)
    server.thread.join(LIMIT)
    assert server.sent < MOST
    assert json.loads(done.stdout)["code"] < 0
