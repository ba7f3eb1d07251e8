"""`muster attach` of a job of this machine: its lines and its end, as if it had been started here."""

import signal

import pytest

from conftest import LIMIT, read_until

# Ends with the code that somebody writes into the file.
UNTIL_TOLD = "echo up; until [ -s end ]; do sleep 0.05; done; echo done; exit $(cat end)"


@pytest.fixture
def job(muster):
    name = muster.detach("-q", "--name", "away", "-w", 2, "--", "sh", "-c", UNTIL_TOLD)
    muster.until_running(name, 2)
    return name


def test_it_shows_all_lines_and_ends_with_the_jobs_code(muster, job):
    attached = muster.start("attach", job)
    read_until(attached.stdout, "worker-1 | up")
    (muster.folder / "end").write_text("7")
    lines, told = attached.communicate(timeout=LIMIT)
    assert attached.returncode == 7
    assert "done" in lines
    assert "job away failed" in told and "exited with code 7" in told


def test_of_a_job_that_has_ended_it_tells_the_end(muster, job):
    (muster.folder / "end").write_text("0")
    muster("wait", job, code=0)
    done = muster("attach", job, code=0)
    assert done.stdout == "" and "job away succeeded: 2 workers" in done.stderr


def test_ctrl_c_leaves_the_job_running(muster, job):
    attached = muster.start("attach", job)
    read_until(attached.stdout, "up")
    attached.send_signal(signal.SIGINT)
    assert attached.wait(timeout=LIMIT) == 130
    assert "muster: detached; the job is still running\n" in attached.stderr.read()
    assert muster.until_running(job, 2)


def test_a_job_that_is_stopped_meanwhile_ends_the_showing(muster, job):
    attached = muster.start("attach", job)
    read_until(attached.stdout, "up")
    muster("stop", "--grace", "0", job, code=0)
    attached.communicate(timeout=LIMIT)
    assert attached.returncode == muster("wait", job).returncode != 0


def test_here_there_is_nothing_to_take_over(muster, job):
    assert "already has a supervisor" in muster("attach", "-d", job, code=4).stderr


def test_a_job_that_is_not_there_is_not_found(muster):
    assert "job 'nothing' not found" in muster("attach", "local/nothing", code=125).stderr
