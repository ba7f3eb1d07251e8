"""How the output of a job is shown while it runs: whose lines, and what stands before them."""

import re

import pytest

pytestmark = pytest.mark.sanitize

HELLO = ("--", "sh", "-c", "echo hello from $MUSTER_INDEX")


def test_names_can_be_left_out(muster):
    assert muster("run", "--no-prefix", *HELLO, code=0).stdout == "hello from 0\n"


def test_the_time_of_a_line_can_stand_before_it(muster):
    done = muster("run", "--timestamps", "--utc", *HELLO, code=0)
    assert re.fullmatch(r"worker-0 \| \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z hello from 0\n", done.stdout)


@pytest.mark.parametrize("only", [["--only", "worker-0,worker-2"], ["--only", "worker-0", "--only", "worker-2"]])
def test_some_replicas_are_shown_and_all_are_saved(muster, only):
    done = muster("run", "--name", "job", "-w", 3, *only, *HELLO, code=0)
    assert sorted(done.stdout.splitlines()) == ["worker-0 | hello from 0", "worker-2 | hello from 2"]
    assert "worker-1 | hello from 1\n" in muster("logs", "job", code=0).stdout


def test_the_failure_of_a_replica_that_is_not_shown_is_reported(muster):
    done = muster("run", "-w", 2, "--only", "worker-0", "--", "sh", "-c",
                  "[ $MUSTER_INDEX = 0 ] || { echo 'ValueError: no'; exit 3; }; sleep 1000", code=3)
    assert "worker-1 exited with code 3" in done.stderr and "last output   | ValueError: no\n" in done.stderr
    assert done.stdout == ""


def test_much_output_that_is_not_shown_holds_nothing_up(muster):
    done = muster("run", "-w", 2, "--only", "worker-1", "--", "sh", "-c",
                  "[ $MUSTER_INDEX = 1 ] && echo shown || seq 400000", code=0)
    assert done.stdout == "worker-1 | shown\n"


@pytest.mark.parametrize("only, said", [
    ("worker", "--only: 'worker' is not a replica (expected ROLE-INDEX, for example worker-0)"),
    ("worker-0,", "--only: '' is not a replica (expected ROLE-INDEX, for example worker-0)"),
    ("ps-0", "--only: job 'job' has no role 'ps'"),
])
def test_what_names_no_replica_is_refused_before_anything_starts(muster, only, said):
    done = muster("run", "--name", "job", "--only", only, "--", "touch", "started", code=2)
    assert done.stderr == f"muster: {said}\n"
    assert not (muster.folder / "started").exists() and muster("ps", "-a", "-o", "name", code=0).stdout == ""


def test_one_who_attaches_chooses_too(muster):
    muster.detach("--name", "job", "-w", "2", "--", "sh", "-c", "echo hello from $MUSTER_INDEX; sleep 1000")
    muster.until_running("job", 2)
    attached = muster.start("attach", "--only", "worker-1", "--no-prefix", "job")
    assert attached.stdout.readline() == "hello from 1\n"
    muster("stop", "--now", "job", code=0)
    assert attached.stdout.read() == ""


def test_a_script_that_asks_for_input_is_advised(muster, tmp_path):
    (tmp_path / "ask.py").write_text("input('name: ')\n")
    done = muster("run", tmp_path / "ask.py", code=1)
    assert "  error         EOFError: EOF when reading a line\n" in done.stderr
    assert "  advice        replicas have no standard input: pass values as arguments or with --env" in done.stderr
