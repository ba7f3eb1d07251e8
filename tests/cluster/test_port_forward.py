"""`muster port-forward`: a port of a Pod on the real node is reached from here, as kubectl reaches it."""

import http.client
import json
import re
import signal
import socket
import threading
import urllib.request

import pytest

from conftest import LIMIT, ROOT, python_pod
from test_run import BUSYBOX, rights, wait_for_line, write_job

PAGE = b"\x00\xffa page of a Pod\n" * 100_000
# Behind each connection's end it says so; a path says how the answer comes.
SERVER = """
import http.server, socketserver, sys

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        page = b"\\x00\\xffa page of a Pod\\n" * 100_000 if self.path == "/page" else sys.argv[1].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(str(len(body)))))
        self.end_headers()
        self.wfile.write(str(len(body)).encode())

class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    request_queue_size = 256

server = Server(("127.0.0.1", 6006), Handler)
print("listening", flush=True)
server.serve_forever()
"""


@pytest.fixture
def forward(muster):
    """Starts the command; gives it and the local ports of what it printed, for each address."""
    def start(*arguments, n_lines=1):
        process = muster.start("port-forward", *arguments)
        lines = []
        for _ in range(n_lines):
            lines.append(process.stdout.readline())
            assert lines[-1], process.stderr.read()
        found = [re.fullmatch(r"Forwarding from (.*):(\d+) -> (\d+)\n", line).groups() for line in lines]
        return process, [(address, int(local), int(remote)) for address, local, remote in found]
    return start


@pytest.fixture
def serving(muster, tmp_path):
    """A job of two workers that serve a page, each with its name in it; gives the process that watches it."""
    made = python_pod("unused", "-c", SERVER, "$(MUSTER_TEST_NAME)")
    made["spec"]["containers"][0]["env"].append(
        {"name": "MUSTER_TEST_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}})
    job = write_job(tmp_path, "pages", {"spec": made["spec"]}, policy="OnFailure")
    running = muster.start("run", "--on", "kubernetes", "--grace", "0s", "-f", job)
    for _ in range(2):
        wait_for_line(running.stdout, "listening")
    yield running
    running.terminate()
    running.communicate(timeout=LIMIT)


def get(port, path="/", host="127.0.0.1"):
    with urllib.request.urlopen(f"http://{host}:{port}{path}", timeout=LIMIT) as answer:
        return answer.read()


def end(process, code=0, number=signal.SIGINT):
    process.send_signal(number)
    said = process.communicate(timeout=LIMIT)[1]
    assert process.returncode == code, said
    return said


def test_a_page_of_a_pod_is_read_here(serving, forward):
    process, ports = forward("pages", ":6006", n_lines=2)
    assert [(address, remote) for address, _, remote in ports] == [("127.0.0.1", 6006), ("[::1]", 6006)]
    assert get(ports[0][1]) == get(ports[1][1], host="[::1]") == b"pages-worker-0"
    assert get(ports[0][1], "/page") == PAGE
    assert end(process) == ""
