"""`muster tensorboard` on folders of this machine, with a stub in place of TensorBoard: what it is told, and how it ends."""

import json
import os
import pathlib
import signal
import socket
import sys

import pytest

from checks import says_where
from conftest import LIMIT, read_line
from processes import wait_until_process_is_gone

STAYS = 'echo "pid $$ $*"; exec sleep 1000000'


def write_program(path, script):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def stub(muster):
    """Puts a program before all others in PATH."""
    def write(script, name="tensorboard"):
        write_program(muster.folder / "bin" / name, script)
        muster.environment["PATH"] = f"{muster.folder / 'bin'}:{os.environ['PATH']}"
    return write


@pytest.fixture
def job(muster):
    """A job that has ended, with a folder of event files."""
    muster("run", "--name", "digits", "--", "true", code=0)
    (muster.folder / "logs").mkdir()
    return "digits"


def begin(muster, *arguments, **options):
    """Starts it; gives it with the stub's pid and arguments."""
    viewing = muster.start("tensorboard", *arguments, **options)
    word, pid, *told = read_line(viewing.stderr).split()
    assert word == "pid"
    return viewing, int(pid), told


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_shows_a_folder_until_a_signal_comes(muster, stub, job, number):
    stub(STAYS)
    viewing, pid, told = begin(muster, job, "--logdir", "logs", "--host", "127.0.0.2")
    address = read_line(viewing.stdout).strip()
    port = told[told.index("--port") + 1]
    assert told == ["--logdir", "logs", "--host", "127.0.0.2", "--port", port]
    assert address == f"http://127.0.0.2:{port}/"
    viewing.send_signal(number)
    assert viewing.wait(LIMIT) == 0
    assert wait_until_process_is_gone(pid)


def test_what_does_not_hear_is_killed_with_what_it_started(muster, stub, job):
    """TensorBoard's data server is a process of its own."""
    stub('sleep 1000000 & trap "" TERM; echo "pid $!"; while :; do wait; done')
    viewing, pid, _ = begin(muster, job, "--logdir", "logs")
    viewing.send_signal(signal.SIGINT)
    assert viewing.wait(LIMIT) == 0
    assert wait_until_process_is_gone(pid)


def test_it_dies_with_muster(muster, stub, job):
    stub(STAYS)
    viewing, pid, _ = begin(muster, job, "--logdir", "logs")
    viewing.kill()
    assert wait_until_process_is_gone(pid)


def test_an_end_of_its_own_is_told(muster, stub, job):
    stub("exit 7")
    done = muster("tensorboard", job, "--logdir", "logs", code=1)
    assert "TensorBoard ended with code 7" in done.stderr
    stub("kill -SEGV $$")
    done = muster("tensorboard", job, "--logdir", "logs", code=1)
    assert f"TensorBoard ended by signal {int(signal.SIGSEGV)}" in done.stderr


def test_a_python_that_has_it_is_as_good_as_the_program(muster, job):
    home = muster.folder / "venv"
    write_program(home / "bin" / "python3", says_where(home / "packages") + STAYS)
    (home / "packages" / "tensorboard-2.20.0.dist-info").mkdir(parents=True)
    nothing = muster.folder / "nothing"
    nothing.mkdir()
    write_program(nothing / "sleep", "exec /bin/sleep \"$@\"")
    viewing, pid, told = begin(muster, job, "--logdir", "logs",
                               env={"VIRTUAL_ENV": home, "PATH": nothing})
    assert told[0] == "-c" and told[-6:-4] == ["--logdir", "logs"]
    viewing.send_signal(signal.SIGINT)
    assert viewing.wait(LIMIT) == 0
    assert wait_until_process_is_gone(pid)


def test_modules_of_the_current_folder_are_not_those_of_tensorboard(muster, job):
    home = muster.folder / "venv"
    folder = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    (home / folder / "tensorboard").mkdir(parents=True)
    (home / folder / "tensorboard-2.20.0.dist-info").mkdir()
    (home / folder / "tensorboard" / "__init__.py").touch()
    (home / folder / "tensorboard" / "main.py").write_text(
        "import json, os, signal, sys\n"
        "assert __name__ == '__main__'\n"
        "print('pid', os.getpid(), *sys.argv[1:], file=sys.stderr, flush=True)\n"
        "signal.pause()\n")
    (home / "bin").mkdir()
    (home / "bin" / "python3").symlink_to(os.path.realpath(sys.executable))
    (home / "pyvenv.cfg").write_text(f"home = {os.path.dirname(os.path.realpath(sys.executable))}\n")
    trap = f"open({str(muster.folder / 'trapped')!r}, 'w')\n"
    (muster.folder / "tensorboard").mkdir()
    for name in ["tensorboard/__init__.py", "tensorboard/main.py", "json.py", "runpy.py", "sitecustomize.py"]:
        (muster.folder / name).write_text(trap)
    (muster.folder / "empty").mkdir()
    viewing, pid, told = begin(muster, job, "--logdir", "logs", env={
        "VIRTUAL_ENV": home, "PATH": muster.folder / "empty", "PYTHONPATH": f":{muster.folder / 'empty'}:"})
    assert told[:2] == ["--logdir", "logs"]
    viewing.send_signal(signal.SIGINT)
    assert viewing.wait(LIMIT) == 0
    assert wait_until_process_is_gone(pid)
    assert not (muster.folder / "trapped").exists()


def test_without_it_a_sentence_says_what_to_install(muster, job):
    (muster.folder / "empty").mkdir()
    done = muster("tensorboard", job, "--logdir", "logs", code=1,
                  env={"PATH": muster.folder / "empty", "VIRTUAL_ENV": None})
    assert "TensorBoard not found in PATH or in Python" in done.stderr and "pip install tensorboard" in done.stderr
    assert done.stdout == ""


def test_a_port_that_is_taken_is_another_or_an_error(muster, stub, job):
    stub(STAYS)
    with socket.socket() as taken:
        taken.bind(("", 0))
        port = taken.getsockname()[1]
        done = muster("tensorboard", job, "--logdir", "logs", "--port", port, code=1)
        assert f"port {port} is in use" in done.stderr
    first, _, told = begin(muster, job, "--logdir", "logs")
    assert int(told[-1]) >= 6006
    first.send_signal(signal.SIGINT)
    assert first.wait(LIMIT) == 0


def test_where_the_event_files_are_has_to_be_known(muster, stub, job):
    stub(STAYS)
    done = muster("tensorboard", job, code=2)
    assert "job 'digits' has no --fetch directory; name its event files with --logdir PATH" in done.stderr
    done = muster("tensorboard", job, "--logdir", "elsewhere", code=1)
    assert "has no directory 'elsewhere'" in done.stderr
    muster("tensorboard", "nobody", "--logdir", "logs", code=1)


def test_a_folder_that_was_fetched_is_found(muster, stub):
    document = {
        "apiVersion": "kubeflow.org/v1", "kind": "TFJob",
        "metadata": {"name": "keep", "annotations": {"muster/fetch": json.dumps(["worker-0:/models", "ps-1:/logs/."])}},
        "spec": {"tfReplicaSpecs": {"Worker": {"replicas": 1, "template": {"spec": {"containers": [
            {"name": "tensorflow", "image": "none", "command": ["true"]}]}}}}},
    }
    (muster.folder / "job.json").write_text(json.dumps(document))
    muster("run", "-f", "job.json", code=0)
    stub(STAYS)
    done = muster("tensorboard", "keep", code=1)
    assert "has no directory 'keep-worker-0/models'" in done.stderr
    for arguments, folder in (([], "keep-worker-0/models"), (["--role", "ps", "--index", "1"], "keep-ps-1")):
        pathlib.Path(muster.folder, folder).mkdir(parents=True)
        viewing, _, told = begin(muster, "keep", *arguments)
        assert told[1] == folder
        viewing.send_signal(signal.SIGINT)
        assert viewing.wait(LIMIT) == 0
