"""`muster compat elasticdl-client`, also as client.py: what it asks a master for, and what comes of it."""

import http.server
import json
import signal
import threading
import urllib.parse

import pytest

from conftest import BINARY, Muster, read_until

pytestmark = pytest.mark.unsanitized

CALL = ["--strategy", "AllReduce", "--ps-num", "0", "--worker-num", "4", "--image", "allreduce", "--task", "test"]


def tfjob(state, **status):
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob",
            "metadata": {"name": "test", "namespace": "default", "uid": "0f8fad5b-d9cb-469f-a165-70867728950e",
                         "resourceVersion": "1", "creationTimestamp": "2026-11-28T00:00:00Z"},
            "spec": {"tfReplicaSpecs": {"Worker": {"replicas": 4, "template": {"spec": {"containers": [
                {"name": "tensorflow", "image": "allreduce"}]}}}}},
            "status": {"conditions": [{"type": state, "status": "True"}], **status}}


class Master(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append((self.path, self.headers.get("Authorization")))
        path = urllib.parse.urlsplit(self.path).path
        if path in self.server.logs:
            self.send_log(self.server.logs[path])
            return
        answers = self.server.answers.get(path, [(404, "not found\n")])
        status, body = answers.pop(0) if len(answers) > 1 else answers[0]
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", "https://master:7911/create")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_log(self, parts):
        """The next part, and the end of the stream; or, with a part that is False, an end without the last chunk."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        part, is_whole = parts.pop(0)
        for piece in part:
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        if is_whole:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


@pytest.fixture
def master():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Master) as server:
        server.asked, server.answers, server.logs = [], {"/create": [(200, "OK\n")]}, {}
        server.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def client(muster, master, *arguments, **options):
    return muster("compat", "elasticdl-client", "--master", master.url, *CALL, *arguments, **options)


def test_a_job_is_asked_for_and_followed_to_its_end(muster, master):
    master.answers["/jobs/test"] = [(200, tfjob("Created")), (200, tfjob("Running")), (200, tfjob("Succeeded"))]
    done = client(muster, master, code=0)
    assert master.asked[0] == ("/create?strategy=AllReduce&n_worker=4&n_ps=0&img=allreduce&name=test&server=muster", None)
    said = done.stderr.splitlines()
    assert (said[0], said[-1]) == ("muster: job test was created", "muster: job test succeeded") and done.stdout == ""


def line(replica, second, text):
    return f"{replica} | 2026-11-28T00:00:{second:06.3f}Z {text}\n".encode()


def test_each_line_is_printed_once_whatever_becomes_of_the_stream(muster, master):
    """Three streams: the first breaks in a line, the second before what is new; two lines have one time."""
    lines = [line("worker-0", 1, "one"), line("worker-1", 1, "one"), line("worker-0", 2, "two"), line("worker-0", 2, "two"),
             line("worker-1", 3, "\x1b[31mred\x1b[0m\x1b[2J"), line("worker-0", 4, "10%\r20%")]
    text = b"".join(lines)
    master.logs["/jobs/test/log"] = [([text[:60], text[60:-25]], False), ([lines[0]], False),
                                     ([lines[1], b"muster: a sentence\n", *lines[:1], *lines[2:]], True)]
    master.answers["/jobs/test"] = [(200, tfjob("Running")), (200, tfjob("Succeeded"))]
    done = client(muster, master, code=0)
    assert done.stdout.splitlines() == ["worker-0 | one", "worker-1 | one", "worker-0 | two", "worker-0 | two",
                                        "worker-1 | \x1b[31mred\x1b[0m\x1b[0m", "worker-0 | 20%"]
    assert "muster: a sentence\n" in done.stderr
    assert done.stderr.splitlines()[-1] == "muster: job test succeeded"
    assert {path for path, _ in master.asked if "log" in path} == {"/jobs/test/log?follow=true&timestamps=true"}


def test_the_exit_code_is_that_of_the_job(muster, master):
    failure = {"role": "worker", "index": 1, "attempt": 0, "exitCode": 3, "reason": "Error", "message": "worker-1 exited with code 3",
               "time": "2026-11-28T00:00:01Z", "lastLines": ["ValueError: no"]}
    master.answers["/jobs/test"] = [(200, tfjob("Failed", failure=failure))]
    done = client(muster, master, code=3)
    assert "muster: job test failed: worker-1 exited with code 3" in done.stderr and "ValueError: no" in done.stderr


def test_a_detached_client_prints_the_name(muster, master, tmp_path):
    (tmp_path / "token").write_text("the token of the tests\n")
    assert client(muster, master, "--detach", "--token-file", "token", code=0).stdout == "test\n"
    assert [token for _, token in master.asked] == ["Bearer the token of the tests"]


@pytest.mark.parametrize("status, code", [(400, 2), (409, 2), (401, 4), (500, 125)])
def test_what_the_master_refuses_is_told(muster, master, status, code):
    master.answers["/create"] = [(status, "a sentence\nand more\x1b[2J")]
    advice = "muster: give the token of the master: --token-file\n" if status == 401 else ""
    assert client(muster, master, code=code).stderr == f"muster: {master.url}: a sentence\n{advice}"


def test_a_redirect_is_named(muster, master):
    master.answers["/create"] = [(307, "")]
    said = f"muster: {master.url}: it redirects, so give the URL of the master (--master): https://master:7911/create\n"
    assert client(muster, master, code=125).stderr == said
    assert len(master.asked) == 1


def test_a_master_that_has_too_many_requests_is_asked_again(muster, master):
    master.answers["/create"] = [(429, "too many jobs at once"), (200, "OK\n")]
    done = client(muster, master, "--detach", code=0)
    assert (done.stdout, done.stderr) == ("test\n", f"muster: {master.url}: too many jobs at once\n")


def test_a_master_that_is_not_there_is_named(muster, closed_port):
    port = closed_port()
    done = muster("compat", "elasticdl-client", "--master", f"http://127.0.0.1:{port}", *CALL, code=3)
    assert f"127.0.0.1:{port}" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_master_that_comes_back_is_asked_again(muster, master):
    master.answers["/jobs/test"] = [(200, tfjob("Running")), (200, "{"), (200, tfjob("Succeeded"))]
    assert client(muster, master, code=125).stderr.splitlines()[-1].startswith(f"muster: {master.url}: "), "no JSON is no answer"


def test_ctrl_c_leaves_the_job(muster, master):
    master.answers["/jobs/test"] = [(200, tfjob("Running"))]
    process = muster.start("compat", "elasticdl-client", "--master", master.url, *CALL)
    read_until(process.stderr, "job test: Running")
    process.send_signal(signal.SIGINT)
    assert f"job test keeps running; to delete it: curl -X DELETE {master.url}/jobs/test\n" in process.communicate()[1]
    assert process.returncode == 128 + signal.SIGINT


@pytest.mark.parametrize("arguments, said", [
    ([], ["--strategy: missing", "--master: missing"]),
    (["--master", "10.0.0.1:1", *CALL], ["--master: '10.0.0.1:1' is not the URL of a master"]),
    (["--master", "http://a:1/b", *CALL], ["--master: 'http://a:1/b' is not"]),
    (["--master", "http://a:1", *CALL, "--ps-num", "1"], ["--ps-num: must be 0 for AllReduce"]),
    (["--master", "http://a:1", *CALL, "--task", "Test"], ["--task: not a name"]),
    (["--master", "https://a:1", *CALL, "--pin", "/etc/hostname"], ["--pin: not a public key"]),
    (["--master", "http://a:1", *CALL, "--worker-num", "0"], ["--worker-num"]),
    (["--master", "http://a:1", *CALL, "--strategy", "Mirrored"], ["--strategy"]),
])
def test_mistakes_are_told_before_anything_is_sent(muster, arguments, said):
    done = muster("compat", "elasticdl-client", *arguments, code=2)
    assert all(word in done.stderr for word in said), done.stderr


def test_the_command_line_of_the_document_works_by_its_name(muster, master, tmp_path):
    (tmp_path / "client.py").symlink_to(BINARY)
    named = Muster(tmp_path, [tmp_path / "client.py"])
    call = ["--master", master.url, "--strategy", "ParameterServer", "--ps-num", "1", "--worker-num", "2", "--image", "a:b/c", "--task", "t"]
    done = named(*call, "--dry-run", code=0)
    assert done.stdout == f"GET {master.url}/create?strategy=ParameterServer&n_worker=2&n_ps=1&img=a%3Ab%2Fc&name=t&server=muster\n"
    assert master.asked == []
