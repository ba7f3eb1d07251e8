"""A process in which nothing happens is ended, and one that does not listen is named."""

import json
import os
import signal
import socket
import subprocess
import sys

import pytest

from conftest import ROOT
from muster_check import membership, watch
from muster_check.events import Fault

LONG = 600  # seconds that nothing here takes

HANGING = """
import os, signal, sys, threading
sys.path.insert(0, sys.argv[1])
from muster_check import watch

def work(happened):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(os.getpid(), flush=True)
    happened()
    threading.Event().wait()

sys.exit(watch.run(float(sys.argv[2]), {"ps-0": "127.0.0.1:1"}, work))
"""


@pytest.fixture(autouse=True)
def keep_the_signal():
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("work, code", [
    (lambda happened: 0, 0),
    (lambda happened: happened() or 7, 7),
    (lambda happened: os.kill(os.getpid(), signal.SIGKILL), 128 + signal.SIGKILL),
])
def test_the_code_is_that_of_the_work(work, code):
    assert watch.run(LONG, {}, work) == code


def start_hanging(limit, script=HANGING):
    return subprocess.Popen([sys.executable, "-c", script, ROOT / "python", str(limit)], stdout=subprocess.PIPE, text=True)


def test_silence_is_ended_and_named():
    process = start_hanging(3)  # seconds in which the work surely says its first word
    said, _ = process.communicate()
    pid, event = said.splitlines()
    assert process.returncode == 1
    assert json.loads(event) == {"muster": "error", "step": "training", "message": "ps-0 did not answer within 3.0 s"}
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_work_does_not_outlive_who_looks_at_the_time(number):
    process = start_hanging(LONG)
    pid = int(process.stdout.readline())
    process.send_signal(number)
    assert process.stdout.read() == ""  # its other end is closed when both are gone
    assert process.wait() in (128 + number, -number)
    assert pid != process.pid


def test_the_work_does_not_outlive_who_is_ended_while_it_starts():
    script = HANGING.replace("sys.exit(watch", """
start = watch.processes.Process.start

def start_and_be_ended(process):
    start(process)
    os.kill(os.getpid(), signal.SIGTERM)

watch.processes.Process.start = start_and_be_ended
sys.exit(watch""")
    process = start_hanging(LONG, script)
    process.stdout.read()
    assert process.wait() == -signal.SIGTERM


def test_who_listens_is_not_named(capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:
        watch.tell_silence(5, {"worker-1": f"127.0.0.1:{server.getsockname()[1]}"})
    assert "although every task accepts connections" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"task": {"type": "worker"}, "cluster": {}}', '{"task": 1}'])
def test_a_tf_config_that_is_none_is_a_fault(monkeypatch, text):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(Fault):
        membership.read()


def test_others_are_all_but_oneself(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1", "b:2"], "ps": ["c:3"]}, '
                                    '"task": {"type": "worker", "index": 1}}')
    assert membership.read().others() == {"worker-0": "a:1", "ps-0": "c:3"}
