"""`muster exec`: a command beside a replica. On this machine it is real; Pods are those of a fake API server, which
sees what a terminal sends. How a real one does it is in tests/cluster."""

import json
import os
import pty
import signal
import termios
import threading
import urllib.parse

import pytest

from conftest import LIMIT
from living_kube import LivingKube
from processes import wait_until
from test_jobs_elsewhere import write_kubeconfig
from test_kube_foreign import document, put_record
from websocket_server import accept, close, frame, read_frame

V5 = "v5.channel.k8s.io"
INPUT, OUTPUT, ERROR_OUTPUT, STATUS, SIZE, END = b"\x00", b"\x01", b"\x02", b"\x03", b"\x04", b"\xff"
SUCCESS = STATUS + b'{"metadata":{},"status":"Success"}'
RUNS_UNTIL_IT_MAY_GO = "until [ -e go ]; do sleep 0.1; done"


def failure(code):
    return STATUS + json.dumps({"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": [
        {"reason": "ExitCode", "message": str(code)}]}}).encode()


# Jobs of this machine.

@pytest.fixture
def job(muster):
    """Two workers that run, started in a folder and an environment of their own."""
    (muster.folder / "here").mkdir()
    muster("run", "-d", "--name", "job", "-w", 2, "--env", "MINE=a b", "--", "sh", "-c", RUNS_UNTIL_IT_MAY_GO,
           code=0, env={"VIRTUAL_ENV": muster.folder / "environment"}, cwd=muster.folder / "here")
    return muster.until_running("job", 2)


def test_a_command_has_the_environment_and_the_folder_of_its_replica(muster, job):
    done = muster("exec", "job", "worker-1", "--", "sh", "-c",
                  'pwd; echo "$MINE,$MUSTER_INDEX,$VIRTUAL_ENV"; echo "$TF_CONFIG"', code=0, cwd="/")
    folder, words, tf_config = done.stdout.splitlines()
    assert folder == str(muster.folder / "here")
    assert words == f"a b,1,{muster.folder / 'environment'}"
    assert json.loads(tf_config)["task"] == {"type": "worker", "index": 1}
    done = muster("exec", "job", "--", "sh", "-c", "echo $MUSTER_ROLE-$MUSTER_INDEX", code=0)
    assert done.stdout == "worker-0\n", "the first worker is meant when no replica is named"


def test_input_outputs_and_the_code_are_the_commands(muster, job):
    done = muster("exec", "job", "worker-1", "--", "sh", "-c", "cat; echo err >&2; exit 7", input="in\n", code=7)
    assert (done.stdout, done.stderr) == ("in\n", "err\n")
    done = muster("exec", "--no-stdin", "job", "--", "cat", input="in\n", code=0)
    assert done.stdout == ""


def test_a_command_is_no_part_of_the_job(muster, job):
    """By these marks muster finds what a job has left, and ends it."""
    said = muster("exec", "job", "--", "env", code=0).stdout
    assert "MUSTER_JOB_NAME=job" in said and "MUSTER_JOB_UID" not in said and "MUSTER_ATTEMPT_ID" not in said
    running = muster.start("exec", "job", "--", "sh", "-c", "echo up; cat", stdin=-1)
    assert running.stdout.readline() == "up\n"
    muster("stop", "job", code=0)
    out, _ = running.communicate("still here\n", timeout=LIMIT)
    assert (running.returncode, out) == (0, "still here\n")


@pytest.mark.parametrize("arguments, said, code", [
    (["job", "--", "no-such-program"], "program 'no-such-program' not found in PATH", 127),
    (["job", "--", "/"], "program '/' cannot be run: it is not executable", 126),
    (["job", "worker-7", "--", "true"], "job 'job' has no worker-7", 125),
    (["nobody", "--", "true"], "nobody", 125),
    (["job", "true"], "write it after --", 2),
    (["job", "--"], "write it after --", 2),
    (["job", "sh", "--", "true"], "'sh' is not a replica (expected ROLE-INDEX, for example worker-0)", 2),
])
def test_what_cannot_be_run_is_one_sentence(muster, job, arguments, said, code):
    done = muster("exec", *arguments, code=code)
    assert said in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def test_no_program_of_the_current_folder_is_run_through_an_empty_element_of_path(muster):
    for name in ("whoami", "planted"):
        (muster.folder / name).write_text("#!/bin/sh\necho planted\n")
        (muster.folder / name).chmod(0o755)
    muster("run", "-d", "--name", "job", "--", "sh", "-c", RUNS_UNTIL_IT_MAY_GO, code=0, env={"PATH": f":{os.environ['PATH']}:"})
    muster.until_running("job", 1)
    assert "planted" not in muster("exec", "job", "--", "whoami", code=0).stdout
    assert "an empty PATH element does not mean the current directory" in muster("exec", "job", "--", "planted", code=127).stderr


def test_a_replica_that_does_not_run_has_no_environment(muster, job):
    (muster.folder / "here" / "go").touch()
    muster("wait", "job", code=0)
    done = muster("exec", "job", "worker-1", "--", "true", code=125)
    assert done.stderr == "muster: worker-1 is not running (Succeeded), so it has no environment to run the command in\n"


# Jobs on a cluster.

@pytest.fixture
def kube(muster, tmp_path):
    """A server with a job of two workers, whose exec gets what `answer` says; those that came are in `execs`."""
    running = {"state": {"running": {"startedAt": "2026-01-02T03:04:05Z"}}}

    def pod(name):
        return {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "tensorflow"}]},
                "status": {"phase": "Running", "containerStatuses": [{"name": "tensorflow", **running}]},
                "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "muster", "muster/job": "story"}}}

    def trouble(exchange):
        if exchange.path.endswith("/exec"):
            server.execs.append(exchange)
            server.answer_exec(exchange)
        elif exchange.path.rpartition("/")[2].startswith("story-worker-"):
            exchange.answer(200, pod(exchange.path.rpartition("/")[2]))
        else:
            return False
        return True

    with LivingKube(lambda labels: None) as server:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", server.origin))
        put_record(server, document())
        server.execs = []
        server.trouble = trouble
        yield server


def parameters(exchange):
    return urllib.parse.parse_qsl(urllib.parse.urlsplit(exchange.target).query)


def test_a_command_in_a_pod_gets_the_input_and_gives_its_outputs_and_code(muster, kube):
    got = []

    def answer(exchange):
        accept(exchange, V5)
        while (message := read_frame(exchange)[1])[:1] == INPUT:
            got.append(message[1:])
        assert message == END + INPUT
        for message in (OUTPUT + b"out\n", ERROR_OUTPUT + b"err\n", failure(9)):
            exchange.write(frame(message))
        close(exchange)

    kube.answer_exec = answer
    done = muster("exec", "story", "worker-1", "--", "sh", "-c", "a b", input="in\n", code=9)
    assert (done.stdout, done.stderr, b"".join(got)) == ("out\n", "err\n", b"in\n")
    [exchange] = kube.execs
    assert exchange.path.endswith("/pods/story-worker-1/exec")
    assert parameters(exchange) == [("command", "sh"), ("command", "-c"), ("command", "a b"),
                                    ("container", "tensorflow"), ("stdin", "true"), ("stdout", "true"), ("stderr", "true")]


class Terminal:
    """A terminal of this size with muster at its other end."""

    def __init__(self, muster, *arguments, rows=33, columns=99, **options):
        self.ours, self.its = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.its)
        options.setdefault("stdout", self.its)
        self.process = muster.start("exec", *arguments, stdin=self.its, **options)

    def resize(self, rows, columns):
        termios.tcsetwinsize(self.its, (rows, columns))

    def is_as_before(self):
        return termios.tcgetattr(self.its) == self.before

    def end(self):
        self.process.wait(timeout=LIMIT)
        os.close(self.ours)
        os.close(self.its)


def begin_terminal(exchange):
    """What a terminal sends first; gives it as (width, height)."""
    accept(exchange, V5)
    return size_of(read_frame(exchange)[1])


def size_of(message):
    assert message[:1] == SIZE, message
    size = json.loads(message[1:])
    return size["Width"], size["Height"]


def keys_of(exchange, count):
    got = b""
    while len(got) < count:
        message = read_frame(exchange)[1]
        assert message[:1] == INPUT, message
        got += message[1:]
    return got


def test_a_terminal_here_is_one_there_with_its_size_and_all_its_keys(muster, kube):
    seen, resized = [], threading.Event()

    def answer(exchange):
        seen.append(begin_terminal(exchange))
        exchange.write(frame(OUTPUT + b"$ "))
        seen.append(keys_of(exchange, 4))
        resized.set()
        seen.append(size_of(read_frame(exchange)[1]))
        exchange.write(frame(OUTPUT + b"bye") + frame(failure(3)))
        close(exchange)

    kube.answer_exec = answer
    terminal = Terminal(muster, "story", "--", "bash")
    assert os.read(terminal.ours, 100) == b"$ "
    os.write(terminal.ours, b"a\x03\x04\r")
    assert resized.wait(LIMIT)
    terminal.resize(10, 20)
    terminal.process.send_signal(signal.SIGWINCH)
    assert os.read(terminal.ours, 100) == b"bye", "nothing is echoed here: the terminal there does that"
    assert terminal.process.wait(timeout=LIMIT) == 3
    assert terminal.is_as_before()
    terminal.end()
    assert seen == [(99, 33), b"a\x03\x04\r", (20, 10)]
    [exchange] = kube.execs
    assert parameters(exchange)[1:] == [("container", "tensorflow"), ("stdin", "true"), ("stdout", "true"),
                                        ("tty", "true")]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_the_terminal_is_as_it_was_whatever_ends_muster(muster, kube, number):
    def answer(exchange):
        begin_terminal(exchange)
        exchange.write(frame(OUTPUT + b"$ "))
        exchange.wait_for_the_end()

    kube.answer_exec = answer
    terminal = Terminal(muster, "story", "--", "bash")
    assert os.read(terminal.ours, 100) == b"$ "
    assert not terminal.is_as_before()
    terminal.process.send_signal(number)
    assert terminal.process.wait(timeout=LIMIT) == (-number if number == signal.SIGKILL else 128 + number)
    wait_until(terminal.is_as_before)
    terminal.end()


def test_a_connection_that_is_lost_leaves_the_terminal_as_it_was(muster, kube):
    def answer(exchange):
        begin_terminal(exchange)
        exchange.write(frame(OUTPUT + b"$ "))
        exchange.cut()

    kube.answer_exec = answer
    terminal = Terminal(muster, "story", "--", "bash")
    said = terminal.process.stderr.read()
    assert terminal.process.wait(timeout=LIMIT) == 125
    assert "lost" in said and terminal.is_as_before()
    terminal.end()


def test_keys_are_not_taken_when_the_output_goes_elsewhere(muster, kube):
    def answer(exchange):
        accept(exchange, V5)
        exchange.write(frame(OUTPUT + b"out") + frame(SUCCESS))
        close(exchange)

    kube.answer_exec = answer
    terminal = Terminal(muster, "story", "--", "ls", stdout=-1)
    assert terminal.process.communicate(timeout=LIMIT)[0] == "out"
    assert terminal.process.returncode == 0
    terminal.end()
    assert parameters(kube.execs[0])[2:] == [("stdout", "true"), ("stderr", "true")]


def test_a_terminal_that_is_not_there_is_said_and_a_program_that_cannot_run_is_126(muster, kube):
    refused = {"status": "Failure", "reason": "InternalError", "message": "exec: \"nosuch\": not found"}

    def answer(exchange):
        accept(exchange, V5)
        exchange.write(frame(STATUS + json.dumps(refused).encode()))
        close(exchange)

    kube.answer_exec = answer
    done = muster("exec", "-it", "story", "--", "nosuch", code=126)
    first, second = done.stderr.splitlines()
    assert first == "muster: --tty: standard input is not a terminal"
    assert "nosuch" in second
    assert ("tty", "true") not in parameters(kube.execs[0])
