"""Jobs that wait for GPUs and for each other: a queue without a daemon, whose processes may be killed at any moment."""

import contextlib
import os
import random
import signal
import sqlite3

import pytest

from conftest import conditions, few
from processes import interrupt
from test_gpus import SHOW, machine, said, seen, supervisor_of  # noqa: F401 (a fixture)


def rows(muster, *options):
    """The name of each job, its state, and what it waits for or why it failed."""
    lines = muster("ps", "-a", "-o", "wide", "--no-headers", *options, code=0).stdout.splitlines()
    cells = [[cell.strip() for cell in line.split("   ") if cell.strip()] for line in lines]
    return {name: (state.split()[0], state.partition(" (")[2].removesuffix(")") or more[-1]) for name, state, *more in cells}


def hold(muster, name, gpus, *options):
    muster("run", "-d", "--name", name, "--gpu", gpus, *options, "--", "sleep", 1000, code=0)
    muster.until_running(name, 1)


def queue(muster, name, *options, program=("true",)):
    muster("run", "-d", "--name", name, *options, "--", *program, code=0)


def kill(muster, name, *processes):
    """Processes of its supervisor, if it has one."""
    supervisor = supervisor_of(muster, name)
    for process in processes if supervisor else ():
        with contextlib.suppress(ProcessLookupError):
            os.kill(supervisor[process]["pid"], signal.SIGKILL)


def until_state(muster, name, state):
    return muster.until(name, lambda job: state in conditions(job))


def test_a_job_waits_until_gpus_are_free_and_then_has_them(machine):
    muster = machine(2)
    hold(muster, "a", 2)
    waiting = muster.start("run", "--name", "b", "--gpu", 1, "--wait-for-gpu", "--", "sh", "-c", SHOW)
    assert waiting.stderr.readline() == "muster: job 'b' waits for 1 GPU: job 'a' holds 0,1\n"
    assert rows(muster)["b"] == ("Queued", "waits for 1 GPU")
    table = muster("status", "b", code=0).stdout
    assert "State:      Queued" in table and "Message:    waits for 1 GPU" in table
    muster("stop", "--grace", 0, "a", code=0)
    output = waiting.communicate()[0]
    assert waiting.returncode == 0 and "worker-0 sees [GPU-0]" in output
    assert "TFJobAdmitted" in [c["reason"] for c in muster.job("b")["status"]["conditions"]]


def test_without_a_number_each_replica_waits_for_one(machine):
    muster = machine(3)
    hold(muster, "a", 2)
    queue(muster, "b", "-w", 2, "--ps", 1, "--wait-for-gpu", program=("sh", "-c", SHOW))
    assert rows(muster)["b"] == ("Queued", "waits for 2 GPUs")
    assert seen(muster("run", "--wait-for-gpu", "--", "sh", "-c", SHOW, code=0)) == {"worker-0": "GPU-2"}
    muster("stop", "--grace", 0, "a", code=0)
    muster("wait", "b", code=0)


def test_what_can_never_be_is_refused(machine):
    muster = machine(2)
    done = muster("run", "--name", "b", "--gpu", 3, "--wait-for-gpu", "--", "true", code=2)
    assert "the job requests 3 GPUs, but 2 are available" in done.stderr
    done = muster("run", "--after", "nobody", "--", "true", code=2)
    assert said(done)[0].startswith("--after: job 'nobody' not found")
    for option in ("--wait-for-gpu", "--after=x", "--after-any=x"):
        done = muster("run", "--on", "kubernetes", "--image", "i", option, "--", "true", code=2)
        assert said(done)[0].startswith(option.split("=")[0].removesuffix("-any"))
    assert rows(muster) == {}


def test_a_small_job_passes_one_that_cannot_run_yet_ten_times_and_no_more(machine):
    muster = machine(2)
    hold(muster, "holder", 1)
    queue(muster, "large", "--gpu", 2, "--wait-for-gpu")
    for number in range(10):
        queue(muster, f"small-{number}", "--wait-for-gpu")
        muster("wait", f"small-{number}", code=0)
    queue(muster, "late", "--wait-for-gpu")
    assert rows(muster)["late"] == ("Queued", "waits for 1 GPU")
    assert rows(muster)["large"] == ("Queued", "waits for 2 GPUs")
    # A job that does not wait is not in the queue.
    muster("run", "--name", "direct", "--gpu", 1, "--", "true", code=0)
    muster("stop", "--grace", 0, "holder", code=0)
    muster("wait", "large", "late", code=0)
    finished = [muster.job(name)["status"]["startTime"] for name in ("large", "late")]
    assert finished == sorted(finished)


@pytest.mark.parametrize("end", ["stop", "kill", "delete"])
def test_one_that_leaves_the_queue_holds_up_nobody(machine, end):
    muster = machine(2)
    hold(muster, "holder", 1)
    queue(muster, "large", "--gpu", 2, "--wait-for-gpu")
    for number in range(10):
        muster("run", "--wait-for-gpu", "--", "true", code=0)
    queue(muster, "late", "--wait-for-gpu")
    assert rows(muster)["late"][0] == "Queued"
    if end == "kill":
        kill(muster, "large", "outer", "inner")
    else:
        muster(end, "large", code=0)
    muster("wait", "late", code=0)
    assert rows(muster)["holder"][0] == "Running"


def test_one_whose_muster_is_stopped_by_ctrl_z_holds_up_nobody(machine):
    muster = machine(2)
    hold(muster, "holder", 2)
    queue(muster, "first", "--gpu", 2, "--wait-for-gpu")
    queue(muster, "second", "--gpu", 2, "--wait-for-gpu")
    until_state(muster, "second", "Queued")
    pid = supervisor_of(muster, "first")["inner"]["pid"]
    os.kill(pid, signal.SIGSTOP)
    muster("stop", "--now", "holder", code=0)
    muster("wait", "second", code=0)
    assert rows(muster)["first"][0] == "Queued"
    os.kill(pid, signal.SIGCONT)
    muster("wait", "first", code=0)


def test_one_that_was_suspended_while_it_waited_waits_again(machine):
    muster = machine(1)
    hold(muster, "holder", 1)
    queue(muster, "waiting", "--wait-for-gpu")
    until_state(muster, "waiting", "Queued")
    muster("suspend", "waiting", code=0)
    muster.until("waiting", lambda job: conditions(job)[-1] == "Suspended")
    muster("resume", "waiting", code=0)
    muster.until("waiting", lambda job: "Queued" in conditions(job))
    assert rows(muster)["waiting"] == ("Queued", "waits for 1 GPU")
    muster("stop", "--now", "holder", code=0)
    muster("wait", "waiting", code=0)


def test_what_runs_in_the_background_says_what_it_waits_for(machine):
    muster = machine(1)
    hold(muster, "holder", 1)
    waiting = muster("run", "-d", "--name", "waiting", "--wait-for-gpu", "--", "true", code=0)
    assert "muster: the job waits for 1 GPU in the background; to follow its output: muster logs -f waiting" in waiting.stderr
    stopped = muster("stop", "holder", "missing", "waiting", code=1)
    assert "job 'missing' not found" in stopped.stderr
    assert {state for state, _ in rows(muster).values()} == {"Stopped"}


def test_gpus_of_a_killed_job_go_to_the_one_that_waits(machine):
    muster = machine(2)
    hold(muster, "a", 2)
    queue(muster, "b", "--gpu", 2, "--wait-for-gpu")
    kill(muster, "a", "outer", "inner")
    muster("wait", "b", code=0)


def test_gpus_of_a_job_that_has_succeeded_are_not_free_while_its_processes_end(machine):
    """Its chief has succeeded; a worker takes its time, and has a GPU."""
    muster = machine(2)
    script = "[ $MUSTER_ROLE = worker ] || { until [ -e ready ]; do sleep 0.05; done; exit 0; }; " \
        "trap 'echo ending; until [ -e go ]; do sleep 0.05; done; touch over; exit' TERM; touch ready; while :; do sleep 0.05; done"
    muster("run", "-d", "--name", "a", "--chief", "-w", 1, "--gpu", 1, "--grace", "60s", "--", "sh", "-c", script, code=0)
    queue(muster, "b", "--gpu", 2, "--wait-for-gpu", program=("sh", "-c", "[ -e over ]"))
    queue(muster, "c", "--after", "a", "--gpu", "none", program=("sh", "-c", "[ -e over ]"))
    muster.until("a", lambda job: "Succeeded" in conditions(job))
    assert rows(muster)["b"][0] == "Queued" and rows(muster)["c"][0] == "Queued"
    (muster.folder / "go").touch()
    muster("wait", "b", "c", code=0)


def test_gpus_of_a_suspended_job_are_free_and_it_waits_for_them_again(machine):
    muster = machine(2)
    hold(muster, "a", 2, "--wait-for-gpu")
    queue(muster, "b", "--gpu", 1, "--wait-for-gpu", program=("sleep", "1000"))
    muster("suspend", "a", code=0)
    muster.until_running("b", 1)
    muster("resume", "a", code=0)
    until_state(muster, "a", "Queued")
    assert rows(muster)["a"] == ("Queued", "waits for 2 GPUs")
    muster("stop", "--grace", 0, "b", code=0)
    muster.until_running("a", 1)
    muster("stop", "--grace", 0, "a", code=0)
    # A resumed job waits, too.
    hold(muster, "c", 1)
    muster("resume", "a", code=0)
    until_state(muster, "a", "Queued")
    muster("stop", "--grace", 0, "c", code=0)
    muster.until_running("a", 1)
    muster("stop", "--grace", 0, "a", code=0)


def test_a_job_that_runs_does_not_wait_to_be_scaled(machine):
    """It would have stopped its processes first."""
    muster = machine(2)
    hold(muster, "a", 1, "--wait-for-gpu")
    hold(muster, "b", 1)
    done = muster("scale", "a", "worker=2", code=1)
    assert "the job requests 2 GPUs, but 1 of 2 are free (job 'b' holds 1)" in done.stderr.replace("is free", "are free")
    queue(muster, "c", "--wait-for-gpu")
    muster("scale", "c", "worker=2", code=0)
    muster.until("c", lambda job: "waits for 2 GPUs" in [c.get("message") for c in job["status"]["conditions"]])
    muster("stop", "--grace", 0, "a", "b", code=0)
    muster("wait", "c", code=0)


def test_ctrl_c_takes_a_job_out_of_the_queue(machine):
    muster = machine(1)
    hold(muster, "a", 1)
    waiting = muster.start("run", "--name", "b", "--wait-for-gpu", "--timeout", "1s", "--", "touch", "started")
    assert waiting.stderr.readline() == "muster: job 'b' waits for 1 GPU: job 'a' holds 0\n"
    interrupt(waiting)
    assert waiting.wait() == 130
    assert rows(muster)["b"][0] == "Stopped" and not (muster.folder / "started").exists()


def test_the_jobs_of_a_version_without_a_queue_stay(machine):
    muster = machine(1)
    muster("run", "--name", "a", "--gpu", 1, "--", "true", code=0)
    with contextlib.closing(sqlite3.connect(muster.state / "muster" / "muster.db")) as store, store:
        store.execute("DROP TABLE queue")
    muster("run", "--name", "b", "--wait-for-gpu", "--", "true", code=0)
    assert set(rows(muster)) == {"a", "b"}


def test_the_visible_gpus_are_those_that_are_waited_for(machine):
    muster = machine(4)
    hold(muster, "a", 1)
    muster("run", "-d", "--name", "b", "--wait-for-gpu", "--", "true", env={"CUDA_VISIBLE_DEVICES": "0"}, code=0)
    muster("run", "--wait-for-gpu", "--gpu", 3, "--", "true", code=0)
    assert rows(muster)["b"][0] == "Queued"
    muster("stop", "--grace", 0, "a", code=0)
    muster("wait", "b", code=0)


def test_a_job_follows_others(muster):
    muster("run", "-d", "--name", "first-1", "--", "sh", "-c", "until [ -e go ]; do sleep 0.05; done; echo 1 >>order", code=0)
    queue(muster, "second", "--after", "first", program=("sh", "-c", "echo 2 >>order"))
    queue(muster, "third", "--after", "first-1,second", program=("sh", "-c", "echo 3 >>order"))
    assert rows(muster)["second"] == ("Queued", "waits for job 'first-1' to succeed")
    assert rows(muster)["third"] == ("Queued", "waits for job 'first-1' to succeed, job 'second' to succeed")
    (muster.folder / "go").touch()
    muster("wait", "third", code=0)
    assert (muster.folder / "order").read_text() == "1\n2\n3\n"
    muster("run", "--after", "third", "--", "true", code=0)


@pytest.mark.parametrize("end", ["fail", "stop", "kill", "delete"])
def test_a_job_that_should_follow_a_success_does_not_run_without_it(muster, end):
    muster("run", "-d", "--name", "first", "--", "sh", "-c", "until [ -e go ]; do sleep 0.05; done; exit 3", code=0)
    queue(muster, "second", "--after", "first", program=("touch", "second"))
    queue(muster, "third", "--after", "second", program=("touch", "third"))
    queue(muster, "any", "--after-any", "first,second")
    if end == "fail":
        (muster.folder / "go").touch()
    elif end == "kill":
        kill(muster, "first", "outer", "inner")
    else:
        muster(end, "first", code=0)
    muster("wait", "second", code=125)
    muster("wait", "third", code=125)
    muster("wait", "any", code=0)
    message = rows(muster)["second"][1]
    assert message.startswith("job 'first', which it should follow, has not succeeded (exit code ") or (
        end == "delete" and message == "job 'first', which it should follow, was deleted")
    assert not (muster.folder / "second").exists() and not (muster.folder / "third").exists()


def test_a_job_that_was_deleted_before_the_next_look_is_named(muster):
    """Its supervisor was stopped, and wakes when there is no record any more."""
    muster("run", "-d", "--name", "first", "--", "sleep", "1000", code=0)
    queue(muster, "second", "--after", "first", program=("touch", "second"))
    sleeper = supervisor_of(muster, "second")["inner"]["pid"]
    os.kill(sleeper, signal.SIGSTOP)
    muster("delete", "first", code=0)
    os.kill(sleeper, signal.SIGCONT)
    muster("wait", "second", code=125)
    assert rows(muster)["second"] == ("Failed", "job 'first', which it should follow, was deleted")


def test_a_file_can_say_it(machine):
    muster = machine(1)
    hold(muster, "a", 1)
    text = muster("run", "--name", "b", "--wait-for-gpu", "--after-any", "a", "--dry-run", "--", "true", code=0).stdout
    assert 'muster/wait-for-gpu: "true"' in text and "muster/after-any: a" in text
    (muster.folder / "job.yaml").write_text(text)
    muster("run", "-d", "-f", "job.yaml", code=0)
    assert rows(muster)["b"] == ("Queued", "waits for job 'a' to end")
    muster("stop", "--grace", 0, "a", code=0)
    muster("wait", "b", code=0)
    (muster.folder / "job.yaml").write_text(text.replace('"true"', '"yes"'))
    done = muster("run", "-f", "job.yaml", "--replace", code=2)
    assert "muster/wait-for-gpu" in done.stderr


# Holds a lock for each of its GPUs, which the kernel takes back from killed processes.
WORK = """
for gpu in $(echo $CUDA_VISIBLE_DEVICES | tr , ' '); do set -- "$@" flock -n -E 77 locks/$gpu; done
exec "$@" sh -c 'echo ran >>ran/$MUSTER_JOB_NAME; sleep 0.1'
"""


@pytest.mark.parametrize("count", few([30, 200]))
def test_many_jobs_share_few_gpus_while_some_are_killed(machine, count):
    muster = machine(4)
    chance = random.Random(count)
    (muster.folder / "locks").mkdir()
    (muster.folder / "ran").mkdir()
    names = [f"job-{number}" for number in range(count)]
    disturbed = set()
    for number, name in enumerate(names):
        queue(muster, name, "-q", "--wait-for-gpu", "--gpu", chance.choice([1, 2]), program=("sh", "-c", WORK, "work"))
        if number % 5:
            continue
        victim = chance.choice(names[:number + 1])
        disturbed.add(victim)
        if chance.random() < 0.2:
            muster("stop", "--grace", 0, victim, code=0)
        else:
            kill(muster, victim, *chance.choice([("outer",), ("inner",), ("outer", "inner")]))
    muster("wait", "--timeout", "120s", *names)
    states = {name: state for name, (state, _) in rows(muster).items()}
    assert {states[name] for name in names if name not in disturbed} == {"Succeeded"}
    for name in names:
        ran = muster.folder / "ran" / name
        times = len(ran.read_text().splitlines()) if ran.exists() else 0
        assert times == 1 or (times == 0 and name in disturbed), (name, times)
    assert not set(states.values()) & {"Queued", "Running", "Created"}
