"""torchrun's options for the output of processes: --log-dir, --redirects, --tee, --log-line-prefix-template and
--local-ranks-filter; and muster's own for the two streams."""

import json
import socket
import tempfile

import pytest

TWO = ("--standalone", "--nproc-per-node", 2, "--name", "digits", "--replace")
SAYS = ("--no-python", "sh", "-c", "echo out $LOCAL_RANK; echo err $LOCAL_RANK >&2")


def fail_once(muster, words):
    """Prints words in each attempt; the first one fails when both processes have printed, because a failure ends the other process."""
    meeting = tempfile.mkdtemp(dir=muster.folder)
    return ("--no-python", "sh", "-c",
            f"echo {words} $MUSTER_RESTART_COUNT; [ $MUSTER_RESTART_COUNT = 0 ] || exit 0; : >{meeting}/$LOCAL_RANK; "
            f"until [ -e {meeting}/0 ] && [ -e {meeting}/1 ]; do sleep 0.01; done; exit 1")


def launch(muster, *options, command=SAYS, **how):
    return muster("launch", *TWO, *options, *command, **how)


def printed(text):
    """The processes' own lines."""
    return sorted(line for line in text.splitlines() if not line.startswith("muster: "))


def named(stream, *ranks):
    return [f"worker-{rank} | {stream} {rank}" for rank in ranks]


def marked(stream, *ranks):
    return [f"[default{rank}]:{stream} {rank}" for rank in ranks]


def files(folder):
    """What a run wrote below its log directory, by the path below the only run's directory."""
    (run,) = folder.iterdir()
    return {str(path.relative_to(run)): path.read_text() for path in run.rglob("*") if path.is_file()}


@pytest.mark.parametrize("options,out,err", [
    ((), named("out", 0, 1), named("err", 0, 1)),
    (("--redirects", 3), [], []),
    (("-r1",), [], named("err", 0, 1)),
    (("--redirects=2",), named("out", 0, 1), []),
    (("-r", "0:1,1:2"), named("out", 1), named("err", 0)),
    (("-r", "3", "-t", "3"), marked("out", 0, 1), marked("err", 0, 1)),
    (("-r", "1", "-t", "2"), [], marked("err", 0, 1)),
    (("-r", "3", "-t", "1:3,9:3"), marked("out", 1), marked("err", 1)),
    (("--redirects=0:3,1:0",), named("out", 1), named("err", 1)),
    (("--tee", 1), marked("out", 0, 1), named("err", 0, 1)),
    (("--tee", "3", "--role", "trainer", "--local-ranks-filter", "0"), ["[trainer0]:out 0"], ["[trainer0]:err 0"]),
    (("--log-dir", "/dev/null"), named("out", 0, 1), named("err", 0, 1)),
    (("--log-dir", "/dev/null", "-t", "3", "-r", "1"), named("out", 0, 1), named("err", 0, 1)),
    (("--local-ranks-filter", "1,7"), named("out", 1), named("err", 1)),
    (("--local_ranks_filter", "0", "--redirects", "0:3"), [], []),
    (("--log-line-prefix-template", "<${rank}/$local_rank of $$ ${other} ${hostname}>", "-t1"),
     [f"<{rank}/{rank} of $ ${{other}} {socket.gethostname()}>out {rank}" for rank in (0, 1)], named("err", 0, 1)),
])
def test_what_is_printed(muster, options, out, err):
    done = launch(muster, *options, code=0)
    assert printed(done.stdout) == sorted(out)
    assert printed(done.stderr) == sorted(err)
    # All of it is kept.
    assert printed(muster("logs", "digits", code=0).stdout) == sorted(named("out", 0, 1) + named("err", 0, 1))


def test_what_the_environment_says(muster):
    assert printed(launch(muster, env={"PET_REDIRECTS": "1:3"}, code=0).stdout) == named("out", 0)
    assert printed(launch(muster, "--redirects", 0, env={"PET_REDIRECTS": "3"}, code=0).stdout) == named("out", 0, 1)
    template = {"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE": "$rank:"}
    assert printed(launch(muster, "-t3", env=template, code=0).stdout) == ["0:out 0", "1:out 1"]
    done = launch(muster, "-t3", "--log-line-prefix-template", "-", env=template, code=0)
    assert printed(done.stdout) == ["-out 0", "-out 1"]
    launch(muster, "-t0:1", env={"PET_LOG_DIR": "here"}, code=0)
    assert files(muster.folder / "here") == {"attempt_0/0/stdout.log": "out 0\n"}


def test_on_one_terminal_or_in_one_file_the_streams_keep_their_order(muster):
    command = ("--no-python", "sh", "-c", "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done")
    with open(muster.folder / "both", "w+") as both:
        muster("launch", "--standalone", *command, stdout=both, stderr=both, code=0)
        both.seek(0)
        assert [line for line in both.read().splitlines() if not line.startswith("muster: ")] == [
            f"{stream} {i}" for i in range(1, 6) for stream in ("out", "err")]


def test_one_process_is_printed_without_a_prefix(muster):
    done = muster("launch", *SAYS, code=0)
    assert done.stdout == "out 0\n"
    assert printed(done.stderr) == ["err 0"]


def test_a_run_keeps_the_streams_apart_if_asked(muster):
    command = ("--", "sh", "-c", "echo out; echo err >&2")
    done = muster("run", "-w", 2, "--name", "run", *command, code=0)
    assert len(printed(done.stdout)) == 4 and not printed(done.stderr)
    done = muster("run", "-w", 2, "--name", "run", "--replace", "--separate-stderr", "--output-dir", "out", *command, code=0)
    assert printed(done.stdout) == ["worker-0 | out", "worker-1 | out"]
    assert printed(done.stderr) == ["worker-0 | err", "worker-1 | err"]
    assert sorted((muster.folder / "out/worker-0.log").read_text().split()) == ["err", "out"]
    said = muster("run", "--on", "kubernetes", "--image", "x", "--separate-stderr", *command, code=2).stderr
    assert "--separate-stderr: not available with --on kubernetes" in said


def test_each_attempt_of_each_process_has_its_files(muster):
    folder = muster.folder / "a%b"
    launch(muster, "--rdzv-id", "lj", "--log-dir", folder, "-r", "3", "--max-restarts", 1,
           command=fail_once(muster, "$LOCAL_RANK"), code=0)
    assert files(folder) == {f"attempt_{attempt}/{rank}/{name}": f"{rank} {attempt}\n" if name == "stdout.log" else ""
                             for attempt in (0, 1) for rank in (0, 1) for name in ("stdout.log", "stderr.log")}


def test_two_runs_have_two_directories(muster):
    for _ in range(2):
        launch(muster, "--log-dir", "here", "-t3", code=0)
    assert len(list((muster.folder / "here").iterdir())) == 2


def test_without_a_redirect_there_is_no_file(muster):
    launch(muster, "--log-dir", "here", code=0)
    assert files(muster.folder / "here") == {}


def test_a_log_directory_in_deep_folders_and_a_long_line(muster):
    command = ("--no-python", "sh", "-c", "head -c 100000 /dev/zero | tr '\\0' a; echo")
    done = launch(muster, "--log-dir", "a/b/c", "-t1", command=command, code=0)
    assert printed(done.stdout) == [f"[default{rank}]:" + 100_000 * "a" for rank in (0, 1)]
    assert files(muster.folder / "a/b/c") == {f"attempt_0/{rank}/stdout.log": 100_000 * "a" + "\n" for rank in (0, 1)}


def test_a_new_job_overwrites_the_files_of_an_output_dir(muster):
    for word in ("one", "two"):
        launch(muster, "--output-dir", "out", "--max-restarts", 1, command=fail_once(muster, word), code=0)
        assert (muster.folder / "out/worker-1.log").read_text() == f"{word} 0\n{word} 1\n"


RECORD = """
import json, os, sys, time
rank = int(os.environ["RANK"])
file = os.environ["TORCHELASTIC_ERROR_FILE"]
if rank == 0:
    time.sleep(60)
json.dump({"message": {"message": "ValueError: no such digit", "extraInfo": {
    "py_callstack": "Traceback (most recent call last):\\n  File \\"train.py\\", line 3, in main\\nValueError: no such digit\\n",
    "timestamp": "1700000000"}}}, open(file, "w"))
sys.exit(7)
"""


@pytest.mark.parametrize("options", [(), ("--log-dir", "here")])
def test_what_a_script_left_in_its_error_file_is_its_error(muster, options):
    (muster.folder / "train.py").write_text(RECORD)
    done = launch(muster, *options, command=("train.py",), code=1)
    assert "ValueError: no such digit" in done.stderr
    assert 'File "train.py", line 3, in main' in done.stderr
    if options:
        assert [*files(muster.folder / "here")] == ["attempt_0/1/error.json"]


def test_the_error_is_handed_on_to_who_started_the_launcher(muster):
    (muster.folder / "train.py").write_text(RECORD)
    launch(muster, command=("train.py",), env={"TORCHELASTIC_ERROR_FILE": "above.json"}, code=1)
    message = json.loads((muster.folder / "above.json").read_text())["message"]
    assert (message["message"], message["errorCode"]) == ("ValueError: no such digit", 7)
    assert message["extraInfo"]["timestamp"] == "1700000000"
    launch(muster, env={"TORCHELASTIC_ERROR_FILE": "other.json"}, code=0)
    assert not (muster.folder / "other.json").exists()


@pytest.mark.parametrize("words", [
    "mkfifo $TORCHELASTIC_ERROR_FILE", "head -c 10000000 /dev/zero >$TORCHELASTIC_ERROR_FILE",
    "echo '{\"message\": [1]}' >$TORCHELASTIC_ERROR_FILE", "echo '{\"message\": \"just words\"}' >$TORCHELASTIC_ERROR_FILE"])
def test_an_error_file_that_is_none_harms_nothing(muster, words):
    done = launch(muster, command=("--no-python", "sh", "-c", f"echo before >&2; {words}; exit 3"), code=1)
    assert ("just words" in done.stderr) == ("just words" in words)


def test_without_files_there_is_no_error_file(muster):
    done = launch(muster, "--log-dir", "/dev/null", command=("--no-python", "sh", "-c", 'echo "<$TORCHELASTIC_ERROR_FILE>"'), code=0)
    assert printed(done.stdout) == ["worker-0 | <>", "worker-1 | <>"]


@pytest.mark.parametrize("options,said", [
    (("--redirects", "x"), "--redirects: 'x' is not a whole number from 0 to 3"),
    (("--tee", "0:9"), "--tee: '0:9': '9' is not a whole number from 0 to 3"),
    (("--duplicate-stderr-filters", "loss"), "--duplicate-stderr-filters: not supported; the lines are in the output: muster logs JOB | grep -F WORD"),
    (("--local-ranks-filter", "0,b"), "--local-ranks-filter: 'b' is not a whole number from 0 to 1023"),
    (("--log-dir", "a", "--output-dir", "b"), "--log-dir: cannot be used with --output-dir"),
    (("--log-dir", "/dev/null/a"), "--log-dir: cannot create directory '/dev/null/a': Not a directory"),
])
def test_what_cannot_be(muster, options, said):
    done = launch(muster, *options, command=("--no-python", "touch", "started"), code=2)
    assert done.stderr == f"muster: {said}\n"
    assert not (muster.folder / "started").exists()


def test_a_log_directory_in_which_others_may_rename_is_refused(muster):
    """The processes open their error files by name."""
    shared = muster.folder / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    done = muster("launch", "--standalone", "--log-dir", str(shared), "--no-python", "true", code=2)
    assert f"--log-dir: '{shared}' is writable by other users (mode 777)" in done.stderr
    shared.chmod(0o1777)
    muster("launch", "--standalone", "--log-dir", str(shared), "--no-python", "true", code=0)
    assert [path.name.split("_")[0] for path in shared.iterdir()]
