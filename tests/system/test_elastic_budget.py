"""How often an elastic job is restarted, and which machine is no longer used."""

import re

import pytest

from agents import WORKER, machines_with, start_orchestrator
from processes import wait_until

# What it is told is a code, or the step that it has reached and a code.
SCRIPT = WORKER.replace('exit "$(cat "$fifo.told")"', r"""
read -r step code < "$fifo.told"
[ -n "$code" ] || exit "$step"
echo "$step" > "$MUSTER_PROGRESS_FILE"
exit "$code"
""")


@pytest.fixture
def machines(muster):
    return machines_with(muster, SCRIPT)


def test_a_machine_that_keeps_failing_is_set_aside(machines):
    for name in ("one", "two", "bad"):
        machines.launch(name, "--max-restarts", "unlimited", "--rdzv-conf", "last_call_timeout=600", nnodes="2:3")
    for world in (1, 2, 3):
        machines.until_world(world, 3)
        machines.tell("bad", 3)
    assert {*machines.until_world(4, 2)} == {"one", "two"}
    shown = machines.status()
    assert shown.startswith("digits: running, 2 machines (2 to 3), world 4, 3 restarts\n")
    assert re.search(r"\n- +127\.0\.0\.1 +set aside +1 +\S+\n", shown)
    # A server that is killed and started again keeps it aside.
    machines.server.kill()
    machines.server.wait()
    machines.server = start_orchestrator(machines)
    wait_until(lambda: len(machines.description()["members"]) == 3)
    assert "set aside" in machines.status() and machines.newest() == 4
    # It is used where the others are too few.
    machines.tell("one", 143)
    machines.until_world(5, 2)
    machines.agents["one"].terminate()
    machines.ends("one", 143)
    assert {*machines.until_world(6, 2)} == {"two", "bad"}
    for name in ("two", "bad"):
        machines.tell(name, 0)
    assert "set aside" not in machines.ends("two", 0)
    assert ("muster: this machine was set aside, because its processes were the first to fail 3 times; it trains again "
            "if too few other machines are left\n") in machines.ends("bad", 0)


def test_progress_gives_restarts_back(machines):
    machines.launch("one", "--max-restarts", 1, nnodes="1")
    for step in (10, 20, 30):
        machines.until_world(step // 10, 1)
        machines.tell("one", f"{step} 1")
    machines.until_world(4, 1)
    assert machines.status().startswith("digits: running, 1 machine (1 to 1), world 4, 3 restarts, step 30\n")
    machines.tell("one", "29 7")
    assert re.search(r"\nmuster: job one failed after \S+: worker-0 exited with code 7", machines.ends("one", 1))


def test_a_job_without_progress_ends(machines):
    machines.launch("one", "--max-restarts", 100, nnodes="1")
    for world in (1, 2, 3, 4):
        machines.until_world(world, 1)
        machines.tell("one", "12 1")
    said = machines.ends("one", 5)
    assert re.search(r"muster: job one failed after \S+: worker-0 exited with code 1 after \S+ \(attempt 4\); "
                     r"muster does not restart a job without progress \(--max-no-progress\)\n", said)
    assert machines.status().startswith("digits: no-progress, world 4, 3 restarts, step 12\n")


def test_old_restarts_do_not_count(machines):
    machines.launch("one", "--max-restarts", 1, "--restart-window", "1ms", nnodes="1")
    for world in (1, 2, 3):
        machines.until_world(world, 1)
        machines.tell("one", 1)
    machines.until_world(4, 1)
    machines.tell("one", 0)
    machines.ends("one", 0)


def test_what_a_script_writes_instead_of_a_step_is_ignored(machines):
    machines.worker.write_text(SCRIPT.replace('echo "$step" > "$MUSTER_PROGRESS_FILE"', """case $step in
1) mkfifo "$MUSTER_PROGRESS_FILE" ;;
2) mkdir "$MUSTER_PROGRESS_FILE" ;;
3) echo far > "$MUSTER_PROGRESS_FILE" ;;
4) ln -s /dev/zero "$MUSTER_PROGRESS_FILE" ;;
esac"""))
    machines.launch("one", "--max-restarts", 3, nnodes="1")
    for step in (1, 2, 3):
        machines.until_world(step, 1)
        machines.tell("one", f"{step} 1")
    machines.until_world(4, 1)
    assert "progress" not in machines.description()
    machines.tell("one", "4 0")
    machines.ends("one", 0)


def test_a_window_counts_a_thousand_restarts(muster):
    said = muster("launch", "--max-restarts", 1001, "--restart-window", "1h", "--no-python", "true", code=2).stderr
    assert said == "muster: --restart-window: needs --max-restarts of at most 1000\n"
    for option, word in (("--max-no-progress", "-1"), ("--restart-window", "soon")):
        assert f"{option}: " in muster("launch", option, word, "--no-python", "true", code=2).stderr
