"""How the output of a job is shown while it runs: whose lines, and what stands before them."""

import os
import re

import pytest

from living_kube import LivingKube
from test_jobs_elsewhere import write_kubeconfig

HELLO = ("--", "sh", "-c", "echo hello from $MUSTER_INDEX")


def test_names_can_be_left_out(muster):
    assert muster("run", "--no-prefix", *HELLO, code=0).stdout == "hello from 0\n"
    long = ["--", "sh", "-c", "head -c 200000 /dev/zero | tr '\\0' x"]
    assert muster("run", "--no-prefix", "--name", "long", *long, code=0).stdout == "x" * 200000 + "\n"
    assert muster("logs", "--no-prefix", "long", code=0).stdout == "x" * 200000 + "\n"


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
    ("worker-7", "--only: job 'job' has no worker-7 (the last one is worker-0)"),
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
    assert "  advice        replicas have no standard input: run with --stdin worker-0 to type into worker-0" in done.stderr


def test_one_replica_gets_our_standard_input(muster, tmp_path):
    (tmp_path / "lines").write_text("one\ntwo\n")
    for lines in open(tmp_path / "lines"), open(tmp_path / "lines").read():
        done = muster("run", "-w", 2, "--stdin", "worker-1", "--", "cat", code=0,
                      **({"input": lines} if isinstance(lines, str) else {"stdin": lines}))
        assert done.stdout == "worker-1 | one\nworker-1 | two\n"


def test_each_attempt_reads_on(muster):
    done = muster("run", "--stdin", "worker-0", "--max-restarts", 1, "--", "sh", "-c", "read line; echo $line; exit 3",
                  code=3, input="one\ntwo\nthree\n")
    assert done.stdout == "worker-0 | one\nworker-0 | two\n"


@pytest.mark.parametrize("options, said", [
    (["--stdin", "worker"], "--stdin: 'worker' is not a replica (expected ROLE-INDEX, for example worker-0)"),
    (["--stdin", "worker-1"], "--stdin: job 'job' has no replica 'worker-1'"),
    (["--stdin", "ps-0"], "--stdin: job 'job' has no replica 'ps-0'"),
    (["--stdin", "worker-0", "-d"], "--stdin: cannot be used with --detach"),
    (["--stdin", "worker-0", "--on", "kubernetes", "--image", "i"], "--stdin: not available with --on kubernetes"),
])
def test_input_for_a_replica_that_cannot_have_it_is_refused_before_anything_starts(muster, options, said):
    done = muster("run", "--name", "job", *options, "--", "touch", "started", code=2)
    assert done.stderr == f"muster: {said}\n"
    assert not (muster.folder / "started").exists()


@pytest.mark.parametrize("place, files", [
    ("out", ["out/worker-0.log", "out/worker-1.log"]),
    ("new/of %% and %j/", ["new/of % and job/worker-0.log", "new/of % and job/worker-1.log"]),
    ("%j-%t.out", ["job-worker-0.out", "job-worker-1.out"]),
])
def test_each_replica_has_a_file_of_its_output(muster, place, files):
    muster("run", "-q", "--name", "job", "-w", 2, "--output-dir", place, *HELLO, code=0)
    assert [(muster.folder / file).read_text() for file in files] == ["hello from 0\n", "hello from 1\n"]


def test_a_file_of_output_has_all_attempts_of_one_job(muster):
    for _ in range(2):
        muster("run", "--replace", "--name", "job", "--max-restarts", 2, "--output-dir", ".", "--", "sh", "-c",
               "printf 'try %s\\nand' $MUSTER_ATTEMPT; exit 3", code=3)
    assert (muster.folder / "worker-0.log").read_text() == "try 0\nandtry 1\nandtry 2\nand"


def test_a_file_of_output_grows_while_the_job_runs(muster):
    os.mkfifo(muster.folder / "worker-0.log")
    reader = os.open(muster.folder / "worker-0.log", os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    muster.detach("--name", "job", "--output-dir", ".", "--", "sh", "-c", "echo begun; exec sleep 1000")
    try:
        muster.until_running("job", 1)
        assert os.read(reader, 100) == b"begun\n"
    finally:
        os.close(reader)
    muster("stop", "--now", "job", code=0)


@pytest.mark.parametrize("target, reason", [("/dev/full", "No space left on device"), (None, "No such device or address")])
def test_a_file_that_takes_no_output_is_told_once_and_disturbs_nothing(muster, target, reason):
    for index in range(2):
        path = muster.folder / f"worker-{index}.log"
        os.mkfifo(path) if target is None else path.symlink_to(target)
    done = muster("run", "--name", "job", "-w", 2, "--output-dir", ".", *HELLO, code=0)
    assert sorted(done.stdout.splitlines()) == ["worker-0 | hello from 0", "worker-1 | hello from 1"]
    assert done.stderr.count(reason) == 1 and "'./worker-" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has links of two users")
def test_through_a_link_of_another_user_no_output_is_written(muster):
    (muster.folder / "precious").write_text("precious\n")
    path = muster.folder / "worker-0.log"
    path.symlink_to("precious")
    os.chown(path, 54321, 54321, follow_symlinks=False)
    done = muster("run", "--name", "job", "--output-dir", ".", *HELLO, code=0)
    assert "cannot write to './worker-0.log': it is a link of another user" in done.stderr
    assert (muster.folder / "precious").read_text() == "precious\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has files of two users")
@pytest.mark.parametrize("make", [lambda path: path.write_text("planted\n"), os.mkfifo], ids=["file", "FIFO"])
def test_nor_into_a_file_that_another_user_has_planted(muster, make):
    path = muster.folder / "worker-0.log"
    make(path)
    os.chown(path, 54321, 54321)
    path.chmod(0o666)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    done = muster("run", "--name", "job", "--output-dir", ".", *HELLO, code=0)
    assert "cannot write to './worker-0.log': it belongs to another user (54321)" in done.stderr
    assert os.read(reader, 100) in (b"planted\n", b"")
    os.close(reader)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has links of two users")
@pytest.mark.parametrize("words", [["run", "--output-dir", "link"], ["run", "--output-dir", "link/new"], ["launch", "--standalone", "-t", "3", "--log-dir", "link"]],
                         ids=["run", "run below it", "launch"])
def test_nor_is_it_through_such_a_link_to_a_directory(muster, words):
    precious = muster.folder / "precious"
    precious.mkdir()
    (precious / "worker-0.log").write_text("precious\n")
    (muster.folder / "link").symlink_to("precious")
    os.chown(muster.folder / "link", 54321, 54321, follow_symlinks=False)
    done = muster(*words, *(["--no-python", "echo"] if words[0] == "launch" else HELLO), cwd=muster.folder)
    assert f"'{muster.folder}/link' is a link of user 54321, who could change where it leads" in done.stderr and done.returncode
    assert (os.listdir(precious), (precious / "worker-0.log").read_text()) == (["worker-0.log"], "precious\n")


@pytest.mark.parametrize("place, said", [
    ("file", "'file' is not a directory"),
    ("", "expected a directory"),
    ("%N", "'%N': expected %j (the job's name), %t (the replica's name) or %% instead of '%N'"),
    ("a%", "'a%': expected %j (the job's name), %t (the replica's name) or %% instead of '%'"),
])
def test_a_place_that_cannot_have_files_of_output_is_refused_before_anything_starts(muster, place, said):
    (muster.folder / "file").write_text("")
    done = muster("run", "--output-dir", place, "--", "touch", "started", code=2)
    assert done.stderr == f"muster: --output-dir: {said}\n"
    assert not (muster.folder / "started").exists() and muster("ps", "-a", "-o", "name", code=0).stdout == ""


def test_the_output_of_pods_is_written_to_files_too(muster, tmp_path):
    with LivingKube(lambda labels: 0) as kube:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        done = muster("run", "--on", "kubernetes", "--name", "job", "-w", 2, "--image", "i", "--no-prefix", "--only", "worker-1",
                      "--output-dir", "out/%j-%t.out", "--", "true", code=0)
    assert (muster.folder / "out/job-worker-1.out").read_text() == done.stdout != ""
    assert (muster.folder / "out/job-worker-0.out").exists()


def test_what_does_not_follow_a_job_writes_no_files_of_its_output(muster):
    done = muster("run", "--on", "kubernetes", "--via", "operator", "-d", "--output-dir", "out", "--image", "i", "--", "true", code=2)
    assert done.stderr == "muster: --output-dir: cannot be used with --via operator and --detach\n"
