"""A job in the background: it outlives its terminal, and every other terminal can follow and end it."""

import fcntl
import json
import os
import pty
import signal
import subprocess
import termios

from conftest import BINARY, LIMIT, conditions, objects_of, read_until
from processes import parent_of, wait_until_process_is_gone


def read_to_end(terminal):
    """What was written to a terminal until its last writer was gone."""
    text = b""
    while True:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:  # a terminal says EIO where a pipe says end of file
            return text.decode()
        if not chunk:
            return text.decode()
        text += chunk


def take_terminal():
    """Makes standard input the terminal of this session, which ends with it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def run_in_terminal(muster, command):
    """Runs a shell in a terminal of its own, then closes that terminal; gives what it showed."""
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(["sh", "-c", command], cwd=muster.folder, env=muster.environment, stdin=theirs,
                             stdout=theirs, stderr=theirs, start_new_session=True, preexec_fn=take_terminal)
    os.close(theirs)
    assert shell.wait(timeout=LIMIT) == 0
    text = read_to_end(ours)
    os.close(ours)
    return text


def supervisor_pids(pid):
    """The two processes above a worker."""
    inner = parent_of(pid)
    return inner, parent_of(inner)


def test_a_job_outlives_its_terminal_and_ends_with_its_own_code(muster):
    fifo = muster.folder / "fifo"
    os.mkfifo(fifo)
    shown = run_in_terminal(muster, f"{BINARY} run -d --name far -- sh -c 'echo started; read go < {fifo}; exit 7'")
    assert "far" in shown and "started" not in shown
    muster.until_running("far", 1)
    waiting = muster.start("wait", "far")
    fifo.write_text("go\n")
    assert waiting.wait(timeout=LIMIT) == 7
    assert "started" in muster("logs", "far", code=0).stdout


def test_the_supervisor_has_left_terminal_and_session(muster):
    name = muster.detach("--", "sleep", "1000")
    job = muster.until_running(name, 1)
    for pid in supervisor_pids(job["status"]["replicas"][0]["pid"]):
        assert os.getsid(pid) != os.getsid(0)
        for descriptor in (0, 1, 2):
            assert os.readlink(f"/proc/{pid}/fd/{descriptor}") == "/dev/null"


def test_a_job_in_the_background_holds_nothing_that_its_caller_had_open(muster):
    """A lock of a shell's (`flock`) would be held, and the reader of a pipe wait, until the job has ended."""
    reading, writing = os.pipe()
    started = muster.start("run", "-d", "--name", "held", "--", "sleep", "1000", pass_fds=[writing])
    os.close(writing)
    assert started.wait(timeout=LIMIT) == 0
    with open(reading, "rb") as pipe:
        assert pipe.read() == b""
    muster("stop", "--now", "held", code=0)


def test_a_job_that_a_job_has_started_ends_with_it_and_that_is_said(muster):
    done = muster("run", "--name", "above", "--", BINARY, "run", "-d", "--name", "below", "--", "sleep", "1000", code=0)
    assert "the job runs in the background until job 'above', which started it, ends" in done.stdout
    assert muster.job("below")["status"]["failure"]["reason"] == "SupervisorLost"


def test_replicas_of_a_job_in_the_background_run_where_it_was_started(muster):
    name = muster.detach("--", "pwd")
    muster("wait", name, code=0)
    assert str(muster.folder) in muster("logs", name, code=0).stdout


def test_followers_from_other_terminals_see_everything_and_end_with_the_job(muster):
    gates = [muster.folder / "gate0", muster.folder / "gate1"]
    for gate in gates:
        os.mkfifo(gate)
    wait = f"cat {muster.folder}/gate$WORKER_NUMBER > /dev/null"
    name = muster.detach("-w", "2", "--", "sh", "-c", f"echo first; {wait}; echo last")
    muster.until_running(name, 2)
    logs = muster.start("logs", "-f", name)
    status = muster.start("status", "-w", "-o", "json", name)
    read_until(logs.stdout, "first")
    for gate in gates:
        gate.write_text("go")
    shown = logs.communicate(timeout=LIMIT)[0]
    assert logs.returncode == 0 and shown.count("last") >= 1
    last = list(objects_of(status.stdout))[-1]
    assert status.wait(timeout=LIMIT) == 0
    assert "Succeeded" in conditions(last)


def test_stop_from_elsewhere_ends_the_job_and_its_supervisor(muster):
    name = muster.detach("-w", "2", "--", "sleep", "1000")
    job = muster.until_running(name, 2)
    inner, outer = supervisor_pids(job["status"]["replicas"][0]["pid"])
    muster("stop", name, code=0)
    assert wait_until_process_is_gone(inner) and wait_until_process_is_gone(outer)
    assert muster("wait", name).returncode == 130
    assert muster.job(name)["status"]["failure"]["reason"] == "Stopped"


def test_a_detached_name_that_is_taken_is_told_to_who_asked(muster):
    muster.detach("--name", "taken", "--", "sleep", "1000")
    done = muster("run", "-d", "--name", "taken", "--", "true")
    assert done.returncode == 2
    assert "job 'taken' already exists" in done.stderr and done.stdout == ""
    assert "--name" in done.stderr and "muster stop taken" in done.stderr


def test_the_state_of_a_job_whose_start_failed_is_told_all_the_same(muster):
    name = muster.detach("--", "sh", "-c", "exit 9")
    assert muster("wait", name).returncode == 9
    failure = muster.job(name)["status"]["failure"]
    assert (failure["role"], failure["index"], failure["exitCode"]) == ("worker", 0, 9)


def test_a_supervisor_in_the_background_obeys_term(muster):
    name = muster.detach("--", "sleep", "1000")
    job = muster.until_running(name, 1)
    _, outer = supervisor_pids(job["status"]["replicas"][0]["pid"])
    os.kill(outer, signal.SIGTERM)
    assert wait_until_process_is_gone(outer)
    assert muster("wait", name).returncode == 143


def test_what_is_listed_while_jobs_run_is_what_they_are(muster):
    names = [muster.detach("--name", f"job-{i}", "--", "sleep", "1000") for i in range(3)]
    for name in names:
        muster.until_running(name, 1)
    items = json.loads(muster("ps", "-o", "json", code=0).stdout)["items"]
    assert [item["metadata"]["name"] for item in items] == names
    assert all("Running" in conditions(item) for item in items)
