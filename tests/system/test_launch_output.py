"""torchrun's options for the output of processes: --log-dir, --redirects, --tee and --local-ranks-filter."""

import os
import tempfile

import pytest

pytestmark = pytest.mark.sanitize

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


def printed(done):
    return sorted(done.stdout.splitlines())


def lines_of(*ranks):
    return sorted(f"worker-{rank} | {stream} {rank}" for rank in ranks for stream in ("out", "err"))


@pytest.mark.parametrize("options,ranks", [
    ((), (0, 1)),
    (("--redirects", 3), ()),
    (("-r", "3", "-t", "3"), (0, 1)),
    (("-r", "3", "-t", "1:3"), (1,)),
    (("--redirects=0:3,1:0",), (1,)),
    (("--tee", 1), (0, 1)),
    (("--log-dir", "/dev/null"), (0, 1)),
    (("--local-ranks-filter", "1,7"), (1,)),
    (("--local_ranks_filter", "0", "--redirects", "0:3"), ()),
])
def test_what_is_printed(muster, options, ranks):
    assert printed(launch(muster, *options, code=0)) == lines_of(*ranks)
    # All of it is kept.
    assert sorted(muster("logs", "digits", code=0).stdout.splitlines()) == lines_of(0, 1)


def test_what_the_environment_says(muster):
    assert printed(launch(muster, env={"PET_REDIRECTS": "1:3"}, code=0)) == lines_of(0)
    assert printed(launch(muster, "--redirects", 0, env={"PET_REDIRECTS": "3"}, code=0)) == lines_of(0, 1)
    launch(muster, env={"PET_LOG_DIR": "here"}, code=0)
    assert (muster.folder / "here/digits/attempt_0/1/stdout.log").read_text() == "out 1\nerr 1\n"


def test_each_attempt_of_each_process_has_its_files(muster):
    folder = muster.folder / "a%b"
    for _ in range(2):  # the second job replaces them
        launch(muster, "--log-dir", folder, "-r", "3", "--max-restarts", 1, command=fail_once(muster, "$LOCAL_RANK"), code=0)
        for attempt in (0, 1):
            for rank in (0, 1):
                place = folder / f"digits/attempt_{attempt}/{rank}"
                assert (place / "stdout.log").read_text() == f"{rank} {attempt}\n"
                assert os.readlink(place / "stderr.log") == "stdout.log"


def test_a_new_job_overwrites_the_files_of_an_output_dir(muster):
    for word in ("one", "two"):
        launch(muster, "--output-dir", "out", "--max-restarts", 1, command=fail_once(muster, word), code=0)
        assert (muster.folder / "out/worker-1.log").read_text() == f"{word} 0\n{word} 1\n"


@pytest.mark.parametrize("options,said", [
    (("--redirects", 1), "--redirects: '1' is not supported, because muster keeps both streams of a process together "
                         "(expected 0 or 3)"),
    (("-r", "0:2"), "--redirects: '2' is not supported, because muster keeps both streams of a process together "
                    "(expected 0 or 3)"),
    (("--redirects", "x"), "--redirects: 'x' is not a whole number from 0 to 3"),
    (("--tee", "0:9"), "--tee: '9' is not a whole number from 0 to 3"),
    (("--local-ranks-filter", "0,b"), "--local-ranks-filter: 'b' is not a whole number from 0 to 1023"),
    (("--log-dir", "a", "--output-dir", "b"), "--log-dir: cannot be used with --output-dir"),
    (("--log-dir", "/dev/null/a"), "--log-dir: cannot create directory '/dev/null/a': Not a directory"),
])
def test_what_cannot_be(muster, options, said):
    done = launch(muster, *options, command=("--no-python", "touch", "started"), code=2)
    assert done.stderr == f"muster: {said}\n"
    assert not (muster.folder / "started").exists()
