"""`muster port-forward`: a port of a Pod on the real node is reached from here, as kubectl reaches it."""

import http.client
import json
import re
import signal
import socket
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import LIMIT, python_pod
from test_run import give_rights, rights, wait_for_line, write_job

PAGE = b"\x00\xffa page of a Pod\n" * 100_000
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
    made["spec"]["securityContext"] = {"runAsUser": 0}  # the Python of the tests may be root's alone
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


def post(port, body):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", data=body, timeout=LIMIT) as answer:
        return int(answer.read())


def test_pages_of_pods_are_read_here(serving, forward, namespace):
    process, ports = forward("pages", ":6006", n_lines=2)
    assert [(address, remote) for address, _, remote in ports] == [("127.0.0.1", 6006), ("[::1]", 6006)]
    port = ports[0][1]
    assert get(port) == get(ports[1][1], host="[::1]") == b"pages-worker-0"
    assert get(port, "/page") == PAGE
    assert post(port, b"u" * 20_000_000) == 20_000_000
    with ThreadPoolExecutor(40) as pool:
        assert set(pool.map(lambda _: get(port, "/page"), range(80))) == {PAGE}
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as connection:  # as nc and others do
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        assert answer.read() == b"pages-worker-0"
    assert end(process) == ""


def test_where_nothing_listens_it_is_said(serving, forward):
    process, [(_, none, _), (_, port, _)] = forward("--address", "127.0.0.1", "pages", "worker-1", ":6007", ":6006",
                                                    n_lines=2)
    for _ in range(2):
        with pytest.raises((OSError, http.client.HTTPException)):
            get(none)
    assert get(port) == b"pages-worker-1"
    assert end(process) == "muster: no program listens on port 6007 of Pod 'pages-worker-1' (connection refused)\n"


def test_a_new_pod_is_found_and_the_end_of_the_job_is_the_end(serving, forward, muster, namespace):
    process, [(_, port, _)] = forward("--address", "127.0.0.1", "pages", ":6006")
    uid = namespace.get("pod", "pages-worker-0")["metadata"]["uid"]
    kept = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
    kept.request("GET", "/")
    assert kept.getresponse().read() == b"pages-worker-0"
    namespace.kubectl("delete", "pod", "pages-worker-0", "--force", "--grace-period=0")
    with pytest.raises((OSError, http.client.HTTPException)):
        while True:  # until the kubelet has ended the old one
            kept.request("GET", "/")
            kept.getresponse().read()
    wait_for_line(serving.stdout, "worker-0 | listening")
    assert get(port) == b"pages-worker-0"
    assert namespace.get("pod", "pages-worker-0")["metadata"]["uid"] != uid
    muster("stop", "--grace", "0", "pages", code=0)
    said = process.communicate(timeout=LIMIT)[1]
    assert process.returncode == 0 and "job 'pages' has ended; forwarding to worker-0 stopped" in said


# As in muster-port-forward(1).
RIGHTS = [rights("", "configmaps", "get", "list", "watch"), rights("", "pods", "get", "list", "watch")]
RIGHT_TO_FORWARD = rights("", "pods/portforward", "get", "create")


def test_it_takes_no_more_rights_than_its_manual_says(serving, forward, muster, namespace, tmp_path):
    path = namespace.write_account_kubeconfig(tmp_path / "account")
    give_rights(namespace, RIGHTS)
    done = muster("port-forward", "--kubeconfig", path, "pages", ":6006", code=4)
    assert 'resources: ["pods/portforward"], verbs: ["get", "create"]' in done.stderr and done.stdout == ""
    patch = [{"op": "add", "path": "/rules/-", "value": RIGHT_TO_FORWARD}]
    namespace.kubectl("patch", "role", "given", "--type=json", "-p", json.dumps(patch))
    namespace.until_account_may("create", "pods", "--subresource=portforward")
    process, ports = forward("--kubeconfig", path, "pages", ":6006", n_lines=2)
    assert get(ports[0][1]) == b"pages-worker-0"
    assert end(process) == ""
