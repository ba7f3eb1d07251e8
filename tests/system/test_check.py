"""`muster check` with a library that is no TensorFlow and a model that is a shell script: what is started, what is said
when something breaks, and that nothing stays. What it says of real TensorFlow is in test_check_tensorflow.py."""

import json
import os
import pathlib
import signal
import stat
import xml.etree.ElementTree

import pytest

from conftest import LIMIT, read_line, read_until, replicas, wait_until_process_is_gone
from servers import free_port, make_stub
from test_nothing_left_behind import is_alive, processes_with, wait_until_none_has

pytestmark = pytest.mark.sanitize

# What a good worker of mnist prints.
GOOD_MODEL = """
say() { echo "{\\"muster\\":$1}"; }
say '"data","name":"a shell script","source":"made","examples":7'
say '"training-begins","worker":'$WORKER_NUMBER
say '"step","worker":'$WORKER_NUMBER',"step":500,"of":500,"loss":0.31'
say '"training-ends","worker":'$WORKER_NUMBER',"seconds":0.1'
[ $WORKER_NUMBER != 0 ] || say '"result","crossEntropy":0.21,"before":2.31,"bound":0.8'
"""

# One that trains until somebody ends it.
ENDLESS_MODEL = """
echo '{"muster":"training-begins","worker":'$WORKER_NUMBER'}'
echo '{"muster":"step","worker":'$WORKER_NUMBER',"step":3,"of":500,"loss":2.25}'
exec sleep 1000
"""


@pytest.fixture(scope="session")
def stub(tmp_path_factory):
    """A library whose servers serve, and whose sessions find them."""
    return make_stub(tmp_path_factory.mktemp("stub"))


@pytest.fixture
def python(tmp_path, stub):
    """Makes a virtual environment with the library, whose Python is a shell that runs a script of ours."""
    folder = tmp_path / "venv"
    package = folder / "lib" / "python3.11" / "site-packages" / "tensorflow"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "libtensorflow_cc.so.2").symlink_to(stub)
    (folder / "bin").mkdir()
    (folder / "pyvenv.cfg").write_text("version = 3.11.2\n")
    for name in ("python", "python3"):
        program = folder / "bin" / name
        program.write_text(f'#!/bin/sh\nexec sh {tmp_path}/model.sh "$@"\n')
        program.chmod(0o755)

    def with_model(script):
        (tmp_path / "model.sh").write_text(script)
        return {"VIRTUAL_ENV": str(folder), "TF_DIST_GRPC_SERVER_URL": None, "CHECK_TEST_TAG": str(tmp_path)}

    return with_model


@pytest.fixture
def tag(tmp_path):
    """What all processes that come from a check of this test have in their environment."""
    tag = f"CHECK_TEST_TAG={tmp_path}"
    yield tag
    for pid in processes_with(tag):
        os.kill(pid, signal.SIGKILL)


def report_of(done):
    return json.loads(done.stdout)


def states_of(report):
    return {step["name"]: step["state"] for step in report["steps"]}


def names_of(muster):
    return muster("ps", "-a", "-o", "name", code=0).stdout.split()


def wait_for_row(process, wanted):
    """Until the check has said this on stderr."""
    return read_until(process.stderr, wanted)


# It passes.

def test_a_check_without_a_model_takes_five_steps_and_leaves_no_job(muster, python, tag):
    done = muster("check", "--model", "none", "-o", "json", env=python(GOOD_MODEL), code=0)
    report = report_of(done)
    assert report["result"] == "passed"
    assert states_of(report) == {"library": "passed", "data": "skipped", "servers": "passed", "network": "passed",
                                 "devices": "passed", "session": "passed", "training": "skipped", "result": "skipped"}
    assert [server["task"] for server in report["servers"]] == ["worker-0", "worker-1", "ps-0", "ps-1"]
    assert len(report["network"]) == 12 and not any("error" in way for way in report["network"])
    assert names_of(muster) == []
    assert not processes_with(tag)


def test_a_model_is_trained_by_all_workers_on_all_servers(muster, python, tag, tmp_path):
    script = f'echo "$@" >> {tmp_path}/calls\n{GOOD_MODEL}'
    done = muster("check", "-w", "3", "--ps", "1", "--sync-replicas", "--steps", "7", env=python(script), code=0)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 3 and len(set(calls)) == 1
    words = calls[0].split()
    assert words[1].endswith(".pyz") and words[2] == "mnist"
    assert "--sync-replicas" in words
    for option, value in (("--steps", "7"), ("--workers", "3"), ("--ps", "1")):
        assert words[words.index(option) + 1] == value
    assert len(words[words.index("--servers") + 1].split(",")) == 3
    assert "500 steps; data: a shell script, 7 examples" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("passed in ")
    assert done.stderr == ""


def test_a_report_for_ci_has_a_test_case_for_each_step(muster, python, tag):
    done = muster("check", "-w", "1", "--ps", "1", "-o", "junit", env=python(GOOD_MODEL), code=0)
    suite = xml.etree.ElementTree.fromstring(done.stdout).find("testsuite")
    assert [case.get("name") for case in suite] == [
        "library", "data", "servers", "network", "devices", "session", "training", "result"]
    assert suite.get("failures") == "0" and suite.get("skipped") == "1"
    assert "muster check: 1 worker and 1 parameter server" in done.stderr


# What is missing is said before anything is started.

def test_without_a_library_it_says_what_to_install(muster, tmp_path):
    environment = {"PATH": "/usr/bin:/bin", "VIRTUAL_ENV": None, "HOME": tmp_path}
    done = muster("check", "-o", "json", "--libtensorflow", tmp_path / "none.so", env=environment, code=3)
    report = report_of(done)
    assert report["fault"]["step"] == "library" and "none.so" in report["fault"]["message"]
    assert names_of(muster) == []


def test_a_file_that_is_no_library_is_refused_by_the_servers(muster, python, tag, tmp_path):
    wrong = tmp_path / "libtensorflow_cc.so.2"
    wrong.write_text("no library at all\n")
    done = muster("check", "--libtensorflow", wrong, "-o", "json", env=python(GOOD_MODEL))
    assert done.returncode in (1, 3)
    assert report_of(done)["result"] == "failed"
    assert str(wrong) in report_of(done)["fault"]["message"]


def test_a_python_without_tensorflow_is_no_use_to_a_model(muster, python, stub, tmp_path):
    environment = python(GOOD_MODEL)
    (tmp_path / "venv/lib/python3.11/site-packages/tensorflow/__init__.py").unlink()
    done = muster("check", "--libtensorflow", stub, env=environment, code=3)
    assert "the models need Python with TensorFlow" in done.stdout
    assert "pip install tensorflow-cpu" in done.stdout


@pytest.mark.parametrize("files, said", [
    (None, "does not exist"),
    ([], "train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte"),
    (["train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte"],
     "has no t10k-labels-idx1-ubyte ("),
])
def test_data_that_are_missing_are_told_before_anything_is_started(muster, python, tmp_path, files, said):
    folder = tmp_path / "data"
    if files is not None:
        folder.mkdir()
        for name in files:
            (folder / name).write_bytes(b"")
    done = muster("check", "--data-dir", folder, env=python(GOOD_MODEL), code=3)
    assert said in done.stdout
    assert names_of(muster) == []


@pytest.mark.parametrize("arguments, said", [
    (["elsewhere"], "'elsewhere'"),
    (["remote"], "which servers?"),
    (["remote", "--servers", "db7"], "'db7' is no address"),
    (["remote", "--servers", "grpc://db7:2222", "--model", "mwms"], "brings its own servers"),
    (["remote", "--servers", "grpc://db7:2222", "--model", "ps2"], "brings its own servers"),
    (["remote", "--servers", "grpc://db7:2222", "--setup-only"], "--setup-only"),
    (["--servers", "grpc://db7:2222"], "goes with 'check remote'"),
    (["--ps", "0"], "--ps 0"),
    (["--model", "mwms", "--sync-replicas"], "--sync-replicas goes with"),
    (["--model", "none", "--data-dir", "/tmp"], "--data-dir"),
    (["-w", "0"], "0"),
])
def test_wrong_use_is_told(muster, arguments, said):
    done = muster("check", *arguments, code=2, env={"TF_DIST_GRPC_SERVER_URL": None})
    assert said in done.stderr
    assert names_of(muster) == []


# Something breaks.

def test_a_worker_that_fails_is_named_with_its_reason(muster, python, tag):
    script = """
[ $WORKER_NUMBER = 1 ] || exec sleep 1000
echo 'Traceback (most recent call last):' >&2
echo '  File "x.py", line 1' >&2
echo 'ValueError: shapes do not match' >&2
exit 1
"""
    done = muster("check", "-w", "2", "--ps", "1", "-o", "json", env=python(script), code=1)
    fault = report_of(done)["fault"]
    assert (fault["step"], fault["reason"], fault["task"]) == ("training", "TrainingFailed", "worker-1")
    assert fault["message"].endswith("ValueError: shapes do not match")
    assert "ValueError" in muster("logs", fault["job"], "--role", "worker", "--index", "1", code=0).stdout
    assert not processes_with(tag)


def server_of(muster, process, name):
    """The pid of a server of the check that runs, as its job knows it."""
    job = next(job for job in names_of(muster) if job.count("-") == 1)
    role, index = name.split("-")
    return next(r["pid"] for r in replicas(muster.job(job)) if (r["role"], r["index"]) == (role, int(index)))


def begin_training(muster, python, *options):
    process = muster.start("check", "-w", "2", "--ps", "2", "-o", "json", *options, env=python(ENDLESS_MODEL))
    wait_for_row(process, "session ")
    job = next(name for name in iter_jobs(muster) if name.endswith("-mnist"))
    muster.until_running(job, 2)
    return process


def iter_jobs(muster):
    """The names of jobs as they come."""
    while True:
        yield from names_of(muster)


def test_a_server_that_is_killed_in_training_is_what_the_report_names(muster, python, tag):
    process = begin_training(muster, python)
    os.kill(server_of(muster, process, "ps-1"), signal.SIGKILL)
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 1
    fault = json.loads(output)["fault"]
    assert (fault["step"], fault["reason"], fault["task"]) == ("training", "ServerDied", "ps-1")
    assert "SIGKILL" in fault["message"]
    assert not processes_with(tag)


def test_a_server_that_somebody_ends_in_training_is_what_the_report_names(muster, python, tag):
    process = begin_training(muster, python, "--timeout", "5s")
    os.kill(server_of(muster, process, "ps-0"), signal.SIGTERM)
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 1
    assert json.loads(output)["fault"]["task"] == "ps-0"
    assert not processes_with(tag)


def test_a_server_that_is_stopped_in_training_is_named_when_the_time_is_over(muster, python, tag):
    process = begin_training(muster, python, "--timeout", "5s")
    os.kill(server_of(muster, process, "ps-1"), signal.SIGSTOP)
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 1
    fault = json.loads(output)["fault"]
    assert (fault["step"], fault["reason"], fault["task"]) == ("training", "ServerStopped", "ps-1")
    assert not processes_with(tag)


# It is ended itself.

@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_check_that_is_interrupted_says_so_and_leaves_nothing(muster, python, tag, number, code):
    process = begin_training(muster, python)
    process.send_signal(number)
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == code
    report = json.loads(output)
    assert report["result"] == "interrupted" and report["fault"]["step"] == "training"
    assert not processes_with(tag)


@pytest.mark.parametrize("whom", ["outer", "inner"])
def test_a_check_that_is_killed_leaves_nothing(muster, python, tag, whom):
    process = begin_training(muster, python)
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    inner = int(children.read_text().split()[0]) if children.exists() else None
    if whom == "inner" and inner is None:
        pytest.skip("this kernel does not tell of children")
    os.kill(process.pid if whom == "outer" else inner, signal.SIGKILL)
    process.wait(LIMIT)
    wait_until_none_has(tag)
    assert "Running" not in muster("ps", "-a", code=0).stdout


# Servers that stay, and servers that exist.

def test_servers_of_setup_only_stay_until_they_are_stopped(muster, python, tag):
    environment = python(GOOD_MODEL)
    done = muster("check", "--setup-only", "-w", "1", "--ps", "1", env=environment, code=0)
    name = done.stdout.split("muster stop ")[1].split()[0]
    assert names_of(muster) == [name]
    muster.until_running(name, 2)
    assert muster.job(name)["status"]["conditions"]
    muster("stop", name, code=0)
    muster("wait", name)
    wait_until_none_has(tag)


def test_a_port_where_nobody_listens_is_told_with_its_address(muster, python):
    port = free_port()
    done = muster("check", "remote", "--servers", f"grpc://127.0.0.1:{port}", "-o", "json", env=python(GOOD_MODEL), code=3)
    fault = report_of(done)["fault"]
    assert (fault["step"], fault["reason"]) == ("network", "PortClosed")
    assert f"cannot reach 127.0.0.1:{port}: connection refused" in fault["message"]
    assert names_of(muster) == []


def test_a_name_that_nobody_knows_is_told(muster, python):
    done = muster("check", "remote", env={**python(GOOD_MODEL), "TF_DIST_GRPC_SERVER_URL": "grpc://no.such.host.invalid:2222"})
    assert done.returncode == 3
    assert "cannot find no.such.host.invalid:2222" in done.stdout
