"""Jobs that are named by the beginning of their name, or not at all."""

import pytest

from conftest import read_until

FOREVER = ["--", "sh", "-c", "echo from $MUSTER_JOB_NAME; exec sleep 1000"]


@pytest.fixture
def two(muster):
    """One that has ended, and a newer one that runs and has said so."""
    muster("run", "--name", "digits-old", "--", "echo", "old", code=0)
    muster.detach("--name", "digits-new", "-w", 2, *FOREVER)
    following = muster.start("logs", "-f", "digits-new")
    for _ in range(2):
        read_until(following.stdout, "from digits-new")
    following.kill()
    following.wait()


def test_without_a_name_it_is_the_newest_job(muster, two):
    done = muster("logs", code=0)
    assert set(done.stdout.splitlines()) == {f"worker-{index} | from digits-new" for index in range(2)}
    assert done.stderr == "muster: job digits-new\n"
    assert muster("exec", "--", "sh", "-c", "echo in $MUSTER_JOB_NAME", code=0).stdout == "in digits-new\n"
    assert "worker-0" in muster("stacks", code=0).stdout
    assert muster("wait", "--timeout", "10ms", code=124).stderr == "muster: job digits-new\nmuster: job 'digits-new' has not ended yet\n"
    attached = muster.start("attach")
    read_until(attached.stdout, "from digits-new")
    muster("stop", "--grace", "0", "digits-new", code=0)
    assert attached.wait() == 130


def test_stop_without_a_name_stops_the_only_job_that_runs(muster, two):
    assert muster("stop", code=0).stderr.startswith("muster: job digits-new\n")
    assert muster.job("digits-new")["status"]["replicas"][0]["state"] == "Stopped"
    assert muster("stop", code=1).stderr == "muster: no job is running\n"


def test_stop_without_a_name_asks_which_one(muster, two):
    muster.detach("--name", "faces", *FOREVER)
    done = muster("stop", code=2)
    assert done.stderr == "muster: 2 jobs are running (faces, digits-new): name the job\n"
    assert muster.job("faces")["status"]["replicas"][0]["state"] in ("Starting", "Running")


def test_the_beginning_of_a_name_will_do_where_one_job_has_it(muster, two):
    done = muster("logs", "digits-o", code=0)
    assert (done.stdout, done.stderr) == ("worker-0 | old\n", "muster: job digits-old\n")
    assert "Name:       digits-new" in muster("status", "digits-n", code=0).stdout
    assert "job 'digits-n' not found; did you mean 'digits-new'?" in muster("stop", "local/digits-n", code=1).stderr
    assert muster.job("digits-new")["status"]["replicas"][0]["state"] == "Running"


def test_what_changes_a_job_needs_all_that_its_user_chose(muster):
    """Nobody who stops exp-1, which is gone, means exp-10."""
    muster.detach("--name", "exp-10", *FOREVER)
    for command in (["stop", "exp-1"], ["stop", "--now", "exp"], ["suspend", "exp-1"], ["resume", "exp-1"], ["scale", "exp-1", "worker=2"]):
        assert "job 'exp" in muster(*command, code=1).stderr
    assert muster.job("exp-10")["status"]["replicas"][0]["state"] in ("Starting", "Running")
    name = muster("run", "-d", "--", "sleep", "1000", code=0).stdout.strip()
    assert muster("stop", "--grace", "0", "sleep", code=0).stderr.startswith(f"muster: job {name}\n")
    assert "Name:       exp-10" in muster("status", "exp", code=0).stdout


def test_a_whole_name_wins_and_a_beginning_means_the_one_that_runs(muster, two):
    muster("run", "--name", "digits", "--", "echo", "whole", code=0)
    assert muster("logs", "digits", code=0).stdout == "worker-0 | whole\n"
    assert muster("logs", "dig", code=0).stderr == "muster: job digits-new (the one that runs of 3 that begin with 'dig')\n"
    muster.detach("--name", "digits-newest", *FOREVER)
    assert muster("logs", "dig", code=1).stderr == "muster: job 'dig' not found; jobs that begin with it: digits-old, digits-new, digits, digits-newest\n"
    muster("stop", "--grace", "0", "digits-new", "digits-newest", code=0)
    assert muster("logs", "dig", code=0).stderr == "muster: job digits-newest (the newest of 4 that begin with 'dig')\n"
    assert "job 'worker-1' not found; if it is a replica, name its job first: JOB worker-1" in muster("logs", "worker-1", code=1).stderr


def test_what_is_deleted_is_named_in_full(muster, two):
    assert "job 'digits-o' not found; did you mean 'digits-old'?" in muster("delete", "digits-o", code=1).stderr
    assert "digits-old" in muster("ps", "-a", code=0).stdout


def test_without_any_job_that_is_said(muster):
    for command in ("logs", "attach", "wait", "stacks"):
        assert "no jobs yet; to start one: 'muster run'" in muster(command).stderr
