"""The examples under real TensorFlow: by flags, by file, and with a process killed in mid-training."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

from conftest import ROOT, few, read_line, read_until, replicas
from needs import needs_tensorflow

pytestmark = [pytest.mark.unsanitized, needs_tensorflow]

DIGITS = ROOT / "examples" / "digits"
PARAMETER_SERVER = ROOT / "examples" / "parameter_server"
GOOD_ACCURACY = 0.93
LEARNED = 0.8  # of ten classes; without steps in common, how the machine mixes those of two workers shapes the result
LIMIT = 900  # ten seconds each where nothing else runs; a busy machine takes many times that

# The virtual environment that runs the tests runs the scripts too.
PYTHON = {"VIRTUAL_ENV": sys.prefix, "PATH": f"{sys.prefix}/bin:{os.environ['PATH']}"}


def lines_of(output, replica):
    """What one replica said, its prefix taken away."""
    found = [re.match(r"(\S+) *\| (.*)", line) for line in output.splitlines()]
    return [match.group(2) for match in found if match and match.group(1) == replica]


def epochs_of(lines):
    return [line for line in lines if line.startswith("epoch ")]


def accuracy_of(lines):
    return float(re.search(r"test accuracy ([\d.]+)", "\n".join(lines)).group(1))


def assert_in_step(output, epochs):
    first, second = lines_of(output, "worker-0"), lines_of(output, "worker-1")
    assert len(epochs_of(first)) == epochs
    assert epochs_of(first) == epochs_of(second)  # to the last digit
    assert accuracy_of(first) == accuracy_of(second) >= GOOD_ACCURACY


def pid_of_worker_1(muster, run, count):
    """Of the job 'killed', once so many replicas of it run."""
    assert read_line(run.stdout, LIMIT)  # before it there may be no record of the job
    job = muster.until_running("killed", count)
    return next(replica["pid"] for replica in replicas(job) if (replica["role"], replica["index"]) == ("worker", 1))


def step_where(lines, word):
    """The step at which the example says that it was asked to end, or goes on."""
    step, = (int(line.split()[-1]) for line in lines if line.startswith(f"{word} at step "))
    return step


def ends_of(muster, name):
    return {f"{replica['role']}-{replica['index']}": (replica.get("exitCode"), replica.get("signal"))
            for replica in replicas(muster.job(name))}


def ask_to_end(muster, run, how):
    """As a person does; gives the number of the signal that the processes get."""
    if how == "stop":
        muster("stop", "asked", code=0, limit=LIMIT)
        return signal.SIGTERM
    os.killpg(run.pid, signal.SIGINT)  # the foreground group of a terminal, which Ctrl-C is sent to
    return signal.SIGINT


def restarts_of(muster, name):
    return {f"{replica['role']}-{replica['index']}": replica["restarts"]
            for replica in replicas(muster.job(name))}


@pytest.mark.long
def test_two_synchronous_workers_print_the_same_losses(muster):
    done = muster("run", "-w", "2", DIGITS / "train.py", "--epochs", "5", code=0, limit=LIMIT, env=PYTHON)
    assert_in_step(done.stdout, 5)


@pytest.mark.long
def test_the_first_worker_alone_keeps_the_model(muster, tmp_path):
    model = tmp_path / "digits.keras"
    muster("run", "-w", "2", DIGITS / "train.py", "--epochs", "1", "--model", model, code=0, limit=LIMIT, env=PYTHON)
    assert model.stat().st_size > 100_000


@pytest.mark.long
def test_the_synchronous_example_runs_from_its_file(muster):
    done = muster("run", "-f", DIGITS / "job.yaml", code=0, limit=LIMIT, env=PYTHON, cwd=ROOT)
    assert_in_step(done.stdout, 8)


def test_a_killed_worker_restarts_both_which_go_on_from_the_checkpoint(muster, tmp_path):
    run = muster.start("run", "--name", "killed", "-w", "2", "--max-restarts", "1", DIGITS / "train.py",
                       "--epochs", "15", "--checkpoint-dir", tmp_path / "checkpoint", env=PYTHON)
    pid = pid_of_worker_1(muster, run, 2)
    before = read_until(run.stdout, "epoch 3/15", LIMIT)
    os.kill(pid, signal.SIGKILL)
    after, said = run.communicate(timeout=LIMIT)
    assert run.returncode == 0, said

    output = "".join(before) + after
    assert restarts_of(muster, "killed") == {"worker-0": 1, "worker-1": 1}
    for worker in ("worker-0", "worker-1"):
        log = muster("logs", "killed", "--role", "worker", "--index", worker[-1], "--attempt", "1", code=0).stdout
        resumed = epochs_of(lines_of(log, worker))
        assert int(re.match(r"epoch (\d+)/15", resumed[0]).group(1)) >= 3
        assert resumed[-1].startswith("epoch 15/15")
        assert accuracy_of(lines_of(output, worker)) >= GOOD_ACCURACY


def first_epoch_of(muster, name, attempt):
    log = muster("logs", name, "--role", "worker", "--index", "0", "--attempt", str(attempt), code=0).stdout
    return int(re.match(r"epoch (\d+)/", epochs_of(lines_of(log, "worker-0"))[0]).group(1))


@pytest.mark.long
def test_a_synchronous_job_that_is_scaled_goes_on_from_its_checkpoint(muster, tmp_path):
    """Two become three, three become one; without a restart of all, TensorFlow ends everybody."""
    run = muster.start("run", "--name", "scaled", "-w", "2", "--grace", "1s", DIGITS / "train.py",
                       "--epochs", "60", "--checkpoint-dir", tmp_path / "checkpoint", env=PYTHON)
    read_until(run.stdout, "epoch 3/60", LIMIT)
    for size in (3, 1):
        said = muster("scale", "scaled", f"worker={size}", code=0).stderr
        assert said.startswith("muster: restarting all processes of job 'scaled': ")
        read_until(run.stdout, f"workers in step: {size}", LIMIT)
        read_until(run.stdout, "epoch ", LIMIT)
    output, said = run.communicate(timeout=LIMIT)
    assert run.returncode == 0, said

    assert "epoch 60/60" in output and accuracy_of(lines_of(output, "worker-0")) >= GOOD_ACCURACY
    assert 1 < first_epoch_of(muster, "scaled", 1) <= first_epoch_of(muster, "scaled", 2)
    job = muster.job("scaled")
    assert replicas(job)[0]["attempt"] == 2 and job["status"].get("restarts", 0) == 0


@pytest.mark.parametrize("how", few(["stop", "ctrl-c"]))
def test_asked_to_end_all_workers_save_at_one_step_and_go_on_there(muster, tmp_path, how):
    job = ["--replace", "--name", "asked", "-w", "2", "--grace", "1h", DIGITS / "train.py",
           "--checkpoint-dir", tmp_path / "checkpoint", "--epochs"]
    run = muster.start("run", *job, "1000", env=PYTHON, start_new_session=True)
    before = read_until(run.stdout, "epoch 2/1000", LIMIT)
    number = ask_to_end(muster, run, how)
    after, said = run.communicate(timeout=LIMIT)
    assert run.returncode == 130, said

    output = "".join(before) + after
    step = step_where(lines_of(output, "worker-0"), "asked to end")
    assert step_where(lines_of(output, "worker-1"), "asked to end") == step >= 46
    assert number + 128 in {code for code, _ in ends_of(muster, "asked").values()}
    assert {killed for _, killed in ends_of(muster, "asked").values()} == {None}  # by themselves, in good order

    epochs = step // 23 + 2
    output = muster("run", *job, epochs, code=0, limit=LIMIT, env=PYTHON).stdout
    for worker in ("worker-0", "worker-1"):
        assert step_where(lines_of(output, worker), "goes on") == step
        assert epochs_of(lines_of(output, worker))[-1].startswith(f"epoch {epochs}/")


# Python waits for such a thread before it ends, as it may for those of TensorFlow.
NEVER_ENDS = """
import runpy, sys, threading
threading.Thread(target=threading.Event().wait).start()
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.long
def test_without_muster_the_example_is_one_worker_that_saves_too(tmp_path):
    command = [sys.executable, DIGITS / "train.py", "--checkpoint-dir", tmp_path / "checkpoint", "--epochs"]
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with subprocess.Popen([command[0], "-c", NEVER_ENDS, *command[1:], "1000"], stdout=subprocess.PIPE,
                          env={**os.environ, "TMPDIR": str(temporary)}) as process:
        read_until(process.stdout, "epoch 1/1000", LIMIT)
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=LIMIT)[0].decode()
    assert process.returncode == 128 + signal.SIGTERM
    assert not list(temporary.glob("*.py"))  # TensorFlow's own
    step = step_where(said.splitlines(), "asked to end")
    said = subprocess.run([*command, str(step // 23 + 1)], capture_output=True, text=True, check=True, timeout=LIMIT).stdout
    assert step_where(said.splitlines(), "goes on") == step


@pytest.mark.long
@pytest.mark.parametrize("how, servers", [("ctrl-c", []), ("stop", ["--ps-server", "--worker-server"])],
                         ids=["ctrl-c", "stop of bare servers"])
def test_a_chief_saves_while_its_servers_are_there(muster, tmp_path, how, servers):
    job = ["--replace", "--name", "asked", "--chief", "-w", "2", "--ps", "1", "--grace", "1h", *servers,
           PARAMETER_SERVER / "train.py", "--checkpoint-dir", tmp_path / "checkpoint", "--epochs"]
    run = muster.start("run", *job, "1000", env=PYTHON, start_new_session=True)
    before = read_until(run.stdout, "epoch 2/1000", LIMIT)
    number = ask_to_end(muster, run, how)
    after, said = run.communicate(timeout=LIMIT)
    assert run.returncode == 130, said

    step = step_where(lines_of("".join(before) + after, "chief-0"), "asked to end")
    assert step >= 88
    ends = ends_of(muster, "asked")
    assert ends["chief-0"] == (128 + number, None)
    assert signal.SIGKILL not in {killed for _, killed in ends.values()}

    epochs = step // 44 + 2
    output = muster("run", *job, epochs, code=0, limit=LIMIT, env=PYTHON).stdout
    lines = lines_of(output, "chief-0")
    assert step_where(lines, "goes on") == step
    assert epochs_of(lines)[-1].startswith(f"epoch {epochs}/")


AS_FIRST_PROCESS = ["unshare", "--map-root-user", "--pid", "--fork", "--kill-child"]


def test_a_server_ends_by_its_signal_also_as_the_first_process_of_a_container():
    """The kernel drops what such a process does not catch, and TERM would be followed by KILL after the whole grace."""
    config = json.dumps({"cluster": {"ps": ["localhost:0"]}, "task": {"type": "ps", "index": 0}})
    command = [*AS_FIRST_PROCESS, sys.executable, PARAMETER_SERVER / "train.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "TF_CONFIG": config}) as process:
        read_until(process.stdout, "ps 0 serves", LIMIT)
        first, = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(first), signal.SIGTERM)
        try:
            process.wait(timeout=LIMIT)
        finally:
            process.kill()
    assert process.returncode == 128 + signal.SIGTERM


@pytest.mark.long
def test_a_parameter_server_job_trains(muster):
    done = muster("run", "--chief", "-w", "2", "--ps", "1", PARAMETER_SERVER / "train.py", code=0, limit=LIMIT, env=PYTHON)
    assert accuracy_of(lines_of(done.stdout, "chief-0")) >= LEARNED
    assert "ps 0 serves" in lines_of(done.stdout, "ps-0")


@pytest.mark.long
def test_the_parameter_server_example_runs_from_its_file(muster):
    done = muster("run", "-f", PARAMETER_SERVER / "job.yaml", code=0, limit=LIMIT, env=PYTHON, cwd=ROOT)
    assert accuracy_of(lines_of(done.stdout, "chief-0")) >= LEARNED


def assert_trained_on_bare_servers(output):
    assert accuracy_of(lines_of(output, "chief-0")) >= LEARNED
    for server in "worker-0", "worker-1", "ps-0":
        first, *_ = lines_of(output, server)  # behind it TensorFlow may complain of its clients' leaving
        assert first.startswith(f"muster: {server} is serving at grpc://127.0.0.1:")


@pytest.mark.long
def test_workers_and_parameter_servers_without_python_run_from_their_file(muster):
    done = muster("run", "-f", PARAMETER_SERVER / "job-servers.yaml", code=0, limit=LIMIT, env=PYTHON, cwd=ROOT)
    assert_trained_on_bare_servers(done.stdout)


@pytest.fixture
def one_core():
    """What the test starts has one core, and so, of its own accord, one thread for TensorFlow's operations in a process."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)


def test_workers_and_parameter_servers_without_python_are_asked_for_by_flags(muster, one_core):
    done = muster("run", "--chief", "-w", "2", "--ps", "1", "--ps-server", "--worker-server",
                  PARAMETER_SERVER / "train.py", "--epochs", "5", code=0, limit=LIMIT, env=PYTHON)
    assert_trained_on_bare_servers(done.stdout)


@pytest.mark.parametrize("servers", few([["--ps-server", "--worker-server"], []]), ids=["muster", "python"])
def test_a_killed_worker_of_a_parameter_server_job_restarts_alone(muster, one_core, servers):
    run = muster.start("run", "--name", "killed", "--chief", "-w", "2", "--ps", "1", "--max-restarts", "1", *servers,
                       PARAMETER_SERVER / "train.py", "--epochs", "15", env=PYTHON)
    pid = pid_of_worker_1(muster, run, 4)
    before = read_until(run.stdout, "epoch 3/15", LIMIT)
    os.kill(pid, signal.SIGKILL)
    after, said = run.communicate(timeout=LIMIT)
    assert run.returncode == 0, said

    output = "".join(before) + after
    assert restarts_of(muster, "killed") == {"chief-0": 0, "worker-0": 0, "worker-1": 1, "ps-0": 0}
    assert accuracy_of(lines_of(output, "chief-0")) >= LEARNED


def test_the_synchronous_example_says_at_once_which_example_is_for_parameter_servers(muster):
    done = muster("run", "-w", 1, "--ps", 1, ROOT / "examples" / "digits" / "train.py", code=1)
    assert "examples/digits/train.py trains without --ps; examples/parameter_server/train.py is for jobs with it" in done.stdout
