"""`muster stacks`: where the Python processes of a job are, and what is kept of it before they are stopped."""

import json
import os
import signal
import subprocess
import sys

import pytest

from conftest import LIMIT, read_until

WAIT = """
import os, threading, time
def wait_for_peer():
    print("waits", flush=True)
    time.sleep(1000)
def load_data():
    print("waits", flush=True)
    time.sleep(1000)
threading.Thread(target=time.sleep, args=(1000,), daemon=True, name="idle").start()
load_data() if os.environ["MUSTER_INDEX"] == "1" else wait_for_peer()
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(WAIT)
    return path


def start(muster, *arguments, workers=1, lines=1):
    """A job whose replicas have each printed so many lines; gives its name."""
    process = muster.start("run", "--name", "job", "-w", workers, *arguments)
    for _ in range(workers * lines):
        read_until(process.stdout, "")
    return "job"


def test_a_fifo_of_the_name_of_the_file_blocks_nothing(muster):
    process = muster.start("run", "--name", "job", "--", "sh", "-c", "rm -f $MUSTER_STACKS_FILE; mkfifo $MUSTER_STACKS_FILE; echo made; exec sleep 1000")
    read_until(process.stdout, "made")
    muster("stacks", "job")
    muster("stop", "--grace", "1s", "job", code=0)


def test_stacks_that_are_alike_are_shown_as_one(muster, script):
    name = start(muster, script, workers=4)
    text = muster("stacks", name, code=0).stdout
    first, second = text.split("\n\n")
    assert first.splitlines() == ["worker-0, worker-2, worker-3",
                                  f'  File "{script}", line 5 in wait_for_peer', f'  File "{script}", line 10 in <module>']
    assert second.splitlines()[0].startswith("worker-1 (process ")
    assert second.splitlines()[1:] == [f'  File "{script}", line 8 in load_data', f'  File "{script}", line 10 in <module>']


def test_a_replica_and_all_its_threads(muster, script):
    name = start(muster, script, workers=2)
    text = muster("stacks", "--all-threads", name, "worker-1", code=0).stdout
    assert "worker-0" not in text and "load_data" in text
    assert text.startswith("worker-1, thread 0x") and "in run\n" in text  # threading.Thread.run


def test_stacks_are_there_for_programs_too(muster, script):
    name = start(muster, script, workers=2)
    main, other = (json.loads(muster("stacks", "-o", "json", *more, name, "worker-1", code=0).stdout) for more in ((), ("--all-threads",)))
    [stack] = main
    assert stack["replica"] == "worker-1" and stack["process"].endswith(str(script)) and "thread" not in stack
    assert stack["frames"] == [f'File "{script}", line 8 in load_data', f'File "{script}", line 10 in <module>']
    assert len(other) == 2 and main[0] in other and any(found.get("thread", "").startswith("0x") for found in other)


def test_a_main_thread_that_keeps_python_to_itself_shows_its_stack(muster):
    """In a function of C, with the lock that every Python thread needs."""
    program = "import ctypes; print('waits', flush=True); ctypes.PyDLL(None).sleep(1000)"
    name = start(muster, "--", sys.executable, "-c", program)
    assert '  File "<string>", line 1 in <module>\n' in muster("stacks", name, code=0).stdout


def test_children_of_a_replica_are_shown_and_a_shell_before_it_is_not(muster):
    program = ("import os, time\nchild = os.fork()\nif child == 0:\n    print('child', flush=True)\n    time.sleep(1000)\n"
               "print('waits', flush=True)\nos.waitpid(child, 0)\n")
    name = start(muster, "--", "sh", "-c", f"{sys.executable} -c \"$0\"; true", program, lines=2)
    text = muster("stacks", name, code=0).stdout
    assert text.count("worker-0 (process ") == 2
    assert "line 5 in <module>" in text and "line 7 in <module>" in text and "sh -c" not in text


def test_what_shows_no_stack_says_why_and_runs_on(muster):
    name = start(muster, "--", "sh", "-c", "echo waits; exec sleep 1000")
    assert "worker-0 (process " in (text := muster("stacks", name, code=0).stdout)
    assert "sleep 1000): not a Python process" in text
    assert muster.job(name)["status"]["replicas"][0]["state"] == "Running"


def test_a_state_directory_with_a_colon_adds_no_directory_to_python(muster):
    done = muster("run", "--state-dir", muster.folder / "a:b", "--", "sh", "-c", "echo path=$PYTHONPATH", code=0, env={"PYTHONPATH": None})
    assert "path=\n" in done.stdout


def test_a_process_that_is_stopped_says_so(muster, script):
    name = start(muster, script)
    pid = muster.job(name)["status"]["replicas"][0]["pid"]
    os.kill(pid, signal.SIGSTOP)
    assert ": stopped by a signal (SIGSTOP)\n" in muster("stacks", name, code=0).stdout
    os.kill(pid, signal.SIGCONT)
    assert "in wait_for_peer" in muster("stacks", name, code=0).stdout


def test_a_program_that_closed_the_file_is_not_asked(muster):
    """Its descriptor may be that of a file of its own by now."""
    program = ("import os, time\nos.closerange(3, 100)\nown = open('own', 'wb')\nprint('waits', flush=True)\n"
               "time.sleep(1000)\n")
    name = start(muster, "--", sys.executable, "-c", program)
    assert ": not a Python process, or it did not load" in muster("stacks", name, code=0).stdout
    assert (muster.folder / "own").read_bytes() == b""


def test_a_sitecustomize_of_the_user_is_loaded_and_its_folders_are_searched(muster, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("print('own sitecustomize')\n")
    program = "import sys; print([folder for folder in sys.path if 'programs' in folder])"
    done = muster("run", "--", sys.executable, "-c", program, code=0, env={"PYTHONPATH": str(own)})
    assert done.stdout == "worker-0 | own sitecustomize\nworker-0 | []\n"


def test_python_starts_where_the_file_cannot_be_written(muster):
    done = muster("run", "--env", "MUSTER_STACKS_FILE=/nowhere/at/all", "--", sys.executable, "-c", "print('runs')", code=0)
    assert done.stdout == "worker-0 | runs\n"


@pytest.mark.parametrize("arguments, sentence", [
    (["none"], "none"),
    (["job", "train.py"], "'train.py' is not a replica (expected ROLE-INDEX, for example worker-0)"),
    (["job", "worker-3"], "job 'job' has no worker-3"),
    (["job"], "job 'job': no process is running, and no stacks were saved"),
])
def test_each_mistake_has_a_sentence(muster, arguments, sentence):
    muster("run", "--name", "job", "--", "true", code=0)
    done = muster("stacks", *arguments)
    assert done.returncode in (1, 2) and sentence in done.stderr and done.stdout == ""


@pytest.mark.parametrize("workers", [3, 40])
def test_a_deadline_says_where_each_process_was(muster, script, workers):
    done = muster("run", "--name", "job", "-w", workers, "--timeout", "3s", script, code=124)
    others = "worker-0, worker-2" if workers == 3 else f"worker-0, worker-2 to worker-{workers - 1}"
    block = done.stderr[done.stderr.index("muster: job job failed"):]
    rows = [line.rstrip() for line in block.splitlines()]
    assert rows[0].endswith("the job was active longer than its deadline of 3s")
    assert rows[1:3] == [f"  stacks        {others}: wait_for_peer (train.py:5)",
                         "                worker-1: load_data (train.py:8)"]
    assert rows[3:5] == ["  last output   worker-0 | waits", "                worker-1 | waits"]
    assert rows[-2:] == ["  all stacks    muster stacks job", "  full log      muster logs job"]
    kept = muster("stacks", "job", code=0)
    assert "has finished; these stacks were saved before it was stopped" in kept.stderr and "in wait_for_peer" in kept.stdout
    assert muster.job("job")["status"]["failure"]["stacks"][0] == f"{others}: wait_for_peer (train.py:5)"


def test_a_deadline_shows_what_was_printed_before_the_signal(muster, tmp_path):
    (tmp_path / "late.py").write_text(
        "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: (print('saved', flush=True), sys.exit()))\n"
        "print('step 7', flush=True)\ntime.sleep(1000)\n")
    done = muster("run", "--timeout", "2s", tmp_path / "late.py", code=124)
    assert "worker-0 | saved\n" in done.stdout
    assert "  last output   worker-0 | step 7\n" in done.stderr


def test_a_deadline_of_other_programs_shows_their_last_lines(muster):
    done = muster("run", "--name", "job", "--timeout", "500ms", "--", "sh", "-c", "echo begun; exec sleep 1000", code=124)
    assert "\n  last output   worker-0 | begun\n  full log      muster logs job\n" in done.stderr
    assert "stacks" not in done.stderr


def test_a_stop_of_a_job_that_prints_says_nothing_more(muster, script):
    name = start(muster, script)
    done = muster("stop", name, code=0)
    assert "stacks" not in muster("status", name, code=0).stdout + done.stderr


@pytest.mark.long
def test_a_job_whose_output_has_no_reader_any_more_is_not_called_silent(muster):
    """As in `muster run … | head -1`: what is printed then is not read, so nothing is known of a silence."""
    process = muster.start("run", "--max-restarts", 1, "--", "sh", "-c", "if mkdir once; then echo begun; until [ -e closed ]; do sleep 0.1; "
                           "done; echo more; sleep 1; exit 1; fi; for i in $(seq 80); do echo $i; sleep 0.5; done")
    process.stdout.readline()
    process.stdout.close()
    (muster.folder / "closed").touch()
    said = process.stderr.read()
    assert process.wait(LIMIT) == 0 and "printed nothing" not in said


@pytest.mark.long
def test_a_stop_of_a_silent_job_says_where_it_was(muster, script):
    process = muster.start("run", "--name", "job", script)
    told = "".join(read_until(process.stderr, "printed nothing"))
    assert "worker-0 has printed nothing for 30s; to see the stacks: muster stacks job" in told
    log, = muster.folder.rglob("worker-0.0.log")
    os.utime(log, (0, 0))  # it may have been written some milliseconds after the start
    status = muster("status", "job", code=0).stdout
    assert "\nSilence:\n  worker-0 has printed nothing for " in status and "\n  to see the stacks: muster stacks job\n" in status
    muster("stop", "job", code=0)
    assert "\n  stacks        worker-0: wait_for_peer (train.py:5)\n" in muster("status", "job", code=0).stdout


def test_several_who_ask_at_once_get_the_same(muster, script):
    name = start(muster, script, workers=2)
    calls = [muster.start("stacks", name, stdout=subprocess.PIPE) for _ in range(4)]
    answers = {call.communicate()[0] for call in calls}
    assert len(answers) == 1 and "wait_for_peer" in answers.pop()
