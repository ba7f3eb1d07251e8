"""`muster pod-server`: the server in a Pod that runs exec.py when the master of ElasticDL's launcher says so."""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from conftest import LIMIT, read_until

SECRET = "a secret of the tests"
CONFIG = {"MASTER": "10.0.0.1:7897", "SET_ID": "7", "NUM_WORKERS": 2,
          "TF_CONFIG": {"cluster": {"worker": ["10.0.0.2:1234", "10.0.0.3:1234"]}, "task": {"type": "worker", "index": 1}}}


class Pod:
    """A pod-server, and the master's side of it."""

    def __init__(self, muster, *arguments, secret=SECRET, **environment):
        self.muster, self.secret = muster, secret
        self.process = muster.start("pod-server", "--listen", "127.0.0.1:0", *arguments,
                                    env=environment | ({"MUSTER_POD_SECRET": secret} if secret else {}))
        self.port = int(re.search(r":(\d+)$", read_until(self.process.stderr, "waiting for the master")[-1])[1])

    def ask(self, method, path, body=None, secret=None, headers=None):
        """Status and text."""
        given = secret or self.secret
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        connection.request(method, path, body, ({"Authorization": f"Bearer {given}"} if given else {}) | (headers or {}))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def state(self):
        return json.loads(self.ask("GET", "/status")[1])["state"]

    def begin(self, script, config=CONFIG):
        (self.muster.folder / "exec.py").write_text(script)
        assert self.ask("POST", "/config", json.dumps(config)) == (200, "OK\n")
        assert self.ask("GET", "/run") == (200, "OK\n")

    def end(self):
        """What is left of its output, and its exit code."""
        out, err = self.process.communicate(timeout=LIMIT)
        return out, err, self.process.returncode


def test_exec_py_runs_with_what_the_master_said(muster):
    pod = Pod(muster, BY_IMAGE="yes")
    assert pod.state() == "Waiting"
    assert pod.ask("POST", "/config", json.dumps(CONFIG)) == (200, "OK\n")
    assert json.loads(pod.ask("GET", "/status")[1]) == {"state": "Configured", "master": "10.0.0.1:7897", "setId": "7"}
    pod.begin("import json, os, sys\n"
              "print(json.dumps(dict(os.environ)))\n"
              "print(os.listdir('/proc/self/fd'), open('/proc/self/status').read().split('NoNewPrivs:')[1].split()[0])\n"
              "print('to stderr', file=sys.stderr)\n"
              "sys.exit(3)\n")
    out, err, code = pod.end()
    environment, descriptors, last = out.splitlines()
    environment = json.loads(environment)
    assert json.loads(environment["TF_CONFIG"]) == CONFIG["TF_CONFIG"] and environment["NUM_WORKERS"] == "2"
    assert environment["BY_IMAGE"] == "yes" and "MUSTER_POD_SECRET" not in environment
    assert descriptors == "['0', '1', '2', '3'] 1", "3 is the directory that lists them"
    assert (last, err, code) == ("to stderr", "", 3)
    assert (muster.folder / "outputs.log").read_text() == out


def test_nothing_runs_twice_or_too_early(muster):
    pod = Pod(muster)
    assert pod.ask("GET", "/run") == (409, "not configured yet; POST /config first\n")
    pod.begin("import time; print('runs', flush=True); time.sleep(1000000)")
    read_until(pod.process.stdout, "runs")
    assert pod.state() == "Running"
    assert pod.ask("GET", "/run") == (409, "the training has already been started\n")
    assert pod.ask("POST", "/config", json.dumps(CONFIG)) == (409, "the training has already been started\n")
    assert pod.ask("POST", "/stop") == (200, "OK\n")
    assert pod.end() == ("", "", 128 + signal.SIGTERM)


def test_a_config_may_be_sent_again_before_the_run(muster):
    pod = Pod(muster)
    assert pod.ask("POST", "/config", json.dumps(CONFIG))[0] == 200
    pod.begin("import os; print(os.environ['NUM_WORKERS'])", CONFIG | {"NUM_WORKERS": 9})
    assert pod.end() == ("9\n", "", 0)


@pytest.mark.parametrize("body, status, sentence", [
    ("", 400, "body: line 1, column 0: "), ("[1]", 400, "expected an object"), ('{"NUM_WORKERS": -1}', 400, "NUM_WORKERS: expected"),
    ('{"NUM_WORKERS": 1, "NUM_WORKERS": 2, "TF_CONFIG": {}}', 400, "NUM_WORKERS"),
    (json.dumps({"NUM_WORKERS": 1, "TF_CONFIG": {"a": "x" * 200_000}}), 413, "TF_CONFIG: must be shorter"),
], ids=["nothing", "list", "negative", "twice", "too-long"])
def test_a_config_that_is_none_changes_nothing(muster, body, status, sentence):
    pod = Pod(muster)
    answer, text = pod.ask("POST", "/config", body)
    assert answer == status and sentence in text, text
    assert pod.state() == "Waiting"
    pod.process.terminate()
    assert pod.end()[2] == 128 + signal.SIGTERM


def test_a_body_beyond_the_limit_is_not_waited_for(muster):
    pod = Pod(muster)
    connection = http.client.HTTPConnection("127.0.0.1", pod.port, timeout=LIMIT)
    connection.putrequest("POST", "/config")
    connection.putheader("Content-Length", "2000000")
    connection.endheaders()
    assert connection.getresponse().status == 413


def test_without_the_secret_a_body_is_not_waited_for(muster):
    pod = Pod(muster)
    connection = http.client.HTTPConnection("127.0.0.1", pod.port, timeout=LIMIT)
    connection.putrequest("POST", "/config")
    connection.putheader("Content-Length", "1000000")
    connection.endheaders()
    assert connection.getresponse().status == 401


def test_a_caller_without_the_secret_starts_nothing(muster):
    pod = Pod(muster)
    for method, path in (("POST", "/config"), ("GET", "/run"), ("GET", "/status"), ("POST", "/stop")):
        for wrong in ("another secret!!!!!!!", SECRET + "x", SECRET[:-1]):
            assert pod.ask(method, path, json.dumps(CONFIG), secret=wrong) == (401, "missing or wrong bearer token\n")
    pod.secret = None
    assert pod.ask("GET", "/run")[0] == 401 and pod.ask("GET", "/healthz") == (200, "ok\n")
    assert pod.ask("GET", "/nowhere")[0] == 404
    pod.secret = SECRET
    status, text = pod.ask("POST", "/run")
    assert (status, text) == (405, "method not allowed; use GET\n")
    assert pod.ask("GET", "/run", headers={"Origin": "http://elsewhere.example"})[0] == 403
    assert pod.ask("GET", "/status", headers={"Host": "elsewhere.example"})[0] == 421
    assert pod.state() == "Waiting"
    pod.process.terminate()
    pod.end()


def test_a_browser_changes_nothing(muster, browser_header):
    pod = Pod(muster)
    for method, path in (("POST", "/config"), ("GET", "/run"), ("POST", "/stop")):
        assert pod.ask(method, path, json.dumps(CONFIG), headers=browser_header | {"Host": "localhost"}) == (
            403, "requests of browsers are rejected\n")
    assert pod.state() == "Waiting"


def test_without_a_secret_it_has_to_be_allowed(muster):
    done = muster("pod-server", "--listen", "127.0.0.1:0", code=4)
    assert done.stderr.startswith("muster: no secret: any client that reaches this Pod could start its training; ")
    assert "at least 16 characters" in muster("pod-server", env={"MUSTER_POD_SECRET": "short"}, code=2).stderr
    pod = Pod(muster, "--insecure", secret=None)
    pod.begin("print('runs')")
    assert pod.end() == ("runs\n", "", 0)


def test_the_secret_may_be_in_a_file(muster):
    (muster.folder / "secret").write_text(SECRET + "\n")
    pod = Pod(muster, "--secret-file", "secret", secret=None)
    pod.secret = SECRET
    pod.begin("print('runs')")
    assert pod.end()[0] == "runs\n"


def test_the_environment_of_the_server_is_not_for_the_training_to_read(muster):
    may_nothing_more = ["setpriv", "--bounding-set=-all"] if os.getuid() == 0 else []
    pod = Pod(muster, *may_nothing_more, sys.executable, "exec.py")
    pod.begin("import os; print(open('/proc/self/environ').read().count('NUM_WORKERS'), flush=True)\n"
              "open(f'/proc/{os.getppid()}/environ').read()")
    out, _, code = pod.end()
    assert out.startswith("1\n") and "PermissionError" in out and code == 1


def test_the_command_of_the_image_runs_in_the_place_of_exec_py(muster):
    pod = Pod(muster, "sh", "-c", "echo $0 $NUM_WORKERS", "$(touch never)")
    pod.begin("print('never')")
    assert pod.end() == ("$(touch never) 2\n", "", 0)
    assert not (muster.folder / "never").exists()


def test_a_program_that_is_not_there_ends_the_pod(muster):
    pod = Pod(muster, "no-such-program")
    assert pod.ask("POST", "/config", json.dumps(CONFIG))[0] == 200
    status, text = pod.ask("GET", "/run")
    assert status == 500 and "no-such-program" in text
    assert pod.end() == ("", f"muster: {text}", 127)


def test_a_stop_before_the_run_ends_it(muster):
    pod = Pod(muster)
    assert pod.ask("POST", "/stop") == (200, "OK\n")
    assert pod.end()[2] == 128 + signal.SIGTERM


def test_sigterm_gives_the_training_its_grace_period(muster):
    pod = Pod(muster)
    pod.begin("import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit('saved'))\nprint('up', flush=True)\nsignal.pause()")
    read_until(pod.process.stdout, "up")
    pod.process.terminate()
    assert pod.end() == ("saved\n", "", 1)


def test_what_ignores_sigterm_is_killed_and_leaves_nothing(muster):
    pod = Pod(muster, "--grace", "200ms")
    pod.begin("import os, signal, subprocess\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
              "print(subprocess.Popen(['setsid', 'sleep', '1000000']).pid, flush=True)\nsignal.pause()")
    grandchild = int(read_until(pod.process.stdout, "")[-1])
    pod.process.terminate()
    assert pod.end()[2] == 128 + signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(grandchild, 0)


def test_the_grace_period_begins_once_however_often_it_is_stopped(muster):
    pod = Pod(muster, "--grace", "1s")
    pod.begin("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\nwhile True: signal.pause()")
    read_until(pod.process.stdout, "up")
    for _ in range(100):  # for ten seconds
        pod.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            pod.process.wait(0.1)
            break
    else:
        pytest.fail("each signal began it again")
    assert pod.end()[2] == 128 + signal.SIGKILL


def test_all_output_is_written_before_it_ends(muster):
    pod = Pod(muster)
    pod.begin("for i in range(200_000): print('line', i)")
    out, _, code = pod.end()
    assert out == "".join(f"line {i}\n" for i in range(200_000)) and code == 0
    assert (muster.folder / "outputs.log").read_text() == out


def test_a_log_that_cannot_be_written_is_told_once(muster):
    (muster.folder / "outputs.log").symlink_to("/dev/full")
    pod = Pod(muster)
    pod.begin("print('one', flush=True); print('two')")
    assert pod.end() == ("one\ntwo\n", "muster: cannot write 'outputs.log': No space left on device\n", 0)
