"""`muster check` with real servers. Most of its models are shell scripts here, so that only a few tests cost what
TensorFlow in Python costs."""

import importlib.util
import json
import os
import pathlib
import signal
import sys

import pytest

from checks import (ENDLESS_MODEL, GIVEN_UP, GOOD_MODEL, LONG, begin_training, environment_of, jobs_of, make_python,
                    pid_of, report_of, states_of, tag_of, wait_for_step)
from conftest import LIMIT, few
from processes import children_of, kill_all_with, processes_with, wait_until_none_has

TENSORFLOW = importlib.util.find_spec("tensorflow")
pytestmark = [pytest.mark.unsanitized, pytest.mark.skipif(TENSORFLOW is None, reason="the running Python has no TensorFlow")]


@pytest.fixture
def python(tmp_path):
    """The environment of a check whose models are this script."""
    library = pathlib.Path(TENSORFLOW.origin).parent / "libtensorflow_cc.so.2" if TENSORFLOW else None
    return lambda script: make_python(tmp_path, library, script)


@pytest.fixture
def real(tmp_path):
    """The environment of a check whose models are trained by the Python that runs the tests."""
    return environment_of(tmp_path, sys.prefix)


@pytest.fixture
def tag(tmp_path):
    tag = tag_of(tmp_path)
    yield tag
    kill_all_with(tag)


def inner_server(pid):
    """The process that serves: a server's first process only waits for it."""
    (inner,) = children_of(pid)
    return inner


# It passes.

def test_a_check_trains_and_leaves_neither_job_nor_process(muster, real, tag):
    done = muster("check", "-o", "json", "--timeout", LONG, env=real, code=0)
    report = report_of(done)
    assert report["result"] == "passed" and "fault" not in report
    assert states_of(report) == {name: "skipped" if name == "data" else "passed" for name in states_of(report)}
    assert [server["task"] for server in report["servers"]] == ["worker-0", "worker-1", "ps-0", "ps-1"]
    assert len(report["network"]) == 12 and not any("error" in way for way in report["network"])
    assert all(task["devices"] and task["ran"] for task in report["devices"]) and len(report["devices"]) == 4
    assert 0 < report["figures"]["crossEntropy"] < report["figures"]["bound"] < report["figures"]["before"]
    assert report["training"]["step"] >= 500 and all(worker["ends"] for worker in report["training"]["workers"])
    assert jobs_of(muster) == []
    assert not processes_with(tag)


@pytest.mark.parametrize("options", few([
    ["--model", "mwms"],
    ["--model", "ps2"],
    ["--model", "census", "--sync-replicas"],
]), ids=lambda options: options[1])
def test_every_model_passes(muster, real, tag, options):
    report = report_of(muster("check", *options, "-o", "json", "--timeout", LONG, env=real, code=0))
    assert states_of(report)["training"] == states_of(report)["result"] == "passed"
    assert 0 < report["figures"]["crossEntropy"] < report["figures"]["bound"]
    assert jobs_of(muster) == []
    assert not processes_with(tag)


def test_without_a_model_it_ends_after_the_session(muster, python, tag):
    done = muster("check", "--model", "none", "--verbose", env=python("exit 9"), code=0)
    assert "4 of 4 serving" in done.stdout
    assert "12 links: round trip" in done.stdout and "  from " in done.stdout
    assert "an operation ran on each of 4 tasks" in done.stdout
    assert "training" not in done.stdout
    assert done.stdout.splitlines()[-1].startswith("passed in ")
    assert done.stderr == ""
    assert jobs_of(muster) == []


def test_a_model_is_given_all_servers_and_what_was_asked_for(muster, python, tag, tmp_path):
    script = f'echo "$@" >> {tmp_path}/calls\n{GOOD_MODEL}'
    done = muster("check", "-w", "3", "--ps", "1", "--sync-replicas", "--steps", "7",
                  env=python(script), code=0)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 3 and len(set(calls)) == 1
    words = calls[0].split()
    assert words[1].endswith(".pyz") and words[2] == "mnist" and "--sync-replicas" in words
    for option, value in (("--steps", "7"), ("--workers", "3"), ("--ps", "1")):
        assert words[words.index(option) + 1] == value
    assert len(words[words.index("--servers") + 1].split(",")) == 3
    assert "a shell script, 7 examples" in done.stdout


# A worker, or a server, does not come to its end.

def test_a_worker_that_fails_is_named_with_its_exception(muster, python, tag):
    script = """
[ $WORKER_NUMBER = 1 ] || exec sleep 1000
echo 'Traceback (most recent call last):' >&2
echo '  File "x.py", line 1' >&2
echo 'ValueError: shapes do not match' >&2
exit 1
"""
    fault = report_of(muster("check", "-o", "json", env=python(script), code=1))["fault"]
    assert (fault["step"], fault["reason"], fault["task"]) == ("training", "TrainingFailed", "worker-1")
    assert fault["message"].endswith("ValueError: shapes do not match")
    assert "ValueError" in muster("logs", fault["job"], "--role", "worker", "--index", "1", code=0).stdout
    assert not processes_with(tag)


def fault_of(process, code):
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == code, output
    return json.loads(output)["fault"]


def test_a_server_that_is_killed_is_named_and_not_the_workers_that_fail_of_it(muster, real, tag):
    process = muster.start("check", "-o", "json", "--steps", "1000000", "--timeout", LONG, env=real)
    servers = wait_for_step(muster)
    os.kill(pid_of(muster, servers, "ps-1"), signal.SIGKILL)
    fault = fault_of(process, 1)
    assert (fault["step"], fault["reason"], fault["task"]) == ("training", "ServerFailed", "ps-1")
    assert "SIGKILL" in fault["message"]
    assert fault["job"] == servers
    assert not processes_with(tag)


@pytest.mark.long
def test_a_server_that_somebody_ends_in_training_is_named(muster, python, tag):
    process, servers = begin_training(muster, python(ENDLESS_MODEL), "--timeout", GIVEN_UP)
    os.kill(pid_of(muster, servers, "ps-0"), signal.SIGTERM)
    fault = fault_of(process, 1)
    assert (fault["step"], fault["task"]) == ("training", "ps-0")
    assert not processes_with(tag)


@pytest.mark.long
def test_a_server_that_is_stopped_in_training_is_named_when_the_time_is_over(muster, python, tag):
    process, servers = begin_training(muster, python(ENDLESS_MODEL), "--timeout", GIVEN_UP)
    os.kill(inner_server(pid_of(muster, servers, "ps-1")), signal.SIGSTOP)
    fault = fault_of(process, 1)
    assert (fault["step"], fault["reason"], fault["task"]) == ("training", "ProcessStopped", "ps-1")
    assert not processes_with(tag)


@pytest.mark.long
def test_workers_that_never_end_are_named_when_all_servers_answer(muster, python, tag):
    process, _ = begin_training(muster, python(ENDLESS_MODEL), "--timeout", GIVEN_UP)
    fault = fault_of(process, 1)
    assert fault["reason"] == "SilentTraining"
    assert fault["message"] == f"worker-0 and worker-1 did not end within {GIVEN_UP}; the last reported step was 3 of 500"
    assert not processes_with(tag)


# The check itself is ended.

@pytest.mark.long
def test_ctrl_c_in_training_leaves_nothing(muster, python, tag):
    process, _ = begin_training(muster, python(ENDLESS_MODEL))
    process.send_signal(signal.SIGINT)
    fault = fault_of(process, 130)
    assert (fault["step"], fault["reason"]) == ("training", "Interrupted")
    assert not processes_with(tag)


def test_a_kill_in_training_leaves_nothing(muster, python, tag):
    process, servers = begin_training(muster, python(ENDLESS_MODEL))
    process.kill()
    process.wait(LIMIT)
    wait_until_none_has(tag)
    assert "Running" not in muster("ps", "-a", code=0).stdout


# Servers that stay are servers that exist.

@pytest.mark.long
def test_servers_of_setup_only_serve_a_remote_check_until_they_are_stopped(muster, python, tag, tmp_path):
    environment = python(f'echo "$@" >> {tmp_path}/calls\n{GOOD_MODEL}')
    done = muster("check", "--setup-only", "-o", "json", env=environment, code=0)
    report = report_of(done)
    name, targets = report["name"], {server["task"]: server["target"] for server in report["servers"]}

    remote = muster("check", "remote", "--servers", targets["worker-1"], "-o", "json", env=environment, code=0)
    assert states_of(report_of(remote))["servers"] == "skipped"
    assert sorted(task["task"] for task in report_of(remote)["devices"]) == ["ps-0", "ps-1", "worker-0", "worker-1"]
    assert "--workers 2 --ps 2" in (tmp_path / "calls").read_text()

    many = muster("check", "remote", "-w", "3", "-o", "json", code=1,
                  env={**environment, "TF_DIST_GRPC_SERVER_URL": targets["ps-0"]})
    assert report_of(many)["fault"]["message"] == "3 workers were requested, but the cluster has 2"

    frozen = inner_server(pid_of(muster, name, "ps-1"))
    os.kill(frozen, signal.SIGSTOP)
    silent = muster("check", "remote", "--servers", targets["worker-0"], "--timeout", "60s", "-o", "json", env=environment)
    os.kill(frozen, signal.SIGCONT)
    assert silent.returncode == 3
    assert report_of(silent)["fault"]["task"] == "ps-1"

    muster.until_running(name, 4)
    muster("stop", name, code=0)
    muster("wait", name)
    wait_until_none_has(tag)
