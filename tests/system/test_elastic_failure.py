"""What each machine of an elastic job, and its server, say of the process that failed first."""

import json
import os
import re
import signal

import pytest

from agents import WORKER, machines_with, start_orchestrator
from conftest import replicas
from processes import wait_until

# What it is told is a code, or "stay", and the error that it prints before.
SCRIPT = WORKER.replace('exit "$(cat "$fifo.told")"', r"""
read -r code error < "$fifo.told"
[ -z "$error" ] || printf 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n%s\n' "$error" >&2
[ "$code" != stay ] || { : > "$STORY.stays"; sleep 1000 & wait $!; }
exit "$code"
""")

GONE = "RuntimeError: [pair.cc:534] Connection closed by peer [127.0.0.1]:29401"
OWN = "ValueError: shapes do not match"


@pytest.fixture
def machines(muster):
    return machines_with(muster, SCRIPT)


def launch_two(machines, restarts):
    """Gives the ranks of both."""
    for name in ("one", "two"):
        machines.launch(name, "--max-restarts", restarts, nnodes="2")
    world = machines.until_world(1, 2)
    return world["one"].rank, world["two"].rank


def end_all(machines):
    """Gives what each machine has said."""
    for name in machines.agents:
        machines.tell(name, 0)
    return {name: machines.ends(name, 0) for name in machines.agents}


def test_a_restart_is_explained_on_every_machine(machines):
    _, rank = launch_two(machines, 1)
    machines.tell("two", f"3 {OWN}")
    machines.until_world(2, 2)
    place = rf"127\.0\.0\.1 \(machine {rank}\)"
    of_rank = "rank 1, " if rank == 1 else ""
    sentence = rf"worker-0 on {place} exited with code 3 after \S+ \({of_rank}attempt 1\): {OWN}"
    shown = machines.status()
    head, _, worlds, last = shown.split("\n\n")
    assert head == "digits: running, 2 machines (2 to 2), world 2, 1 restart"
    assert re.search(sentence + "$", worlds.splitlines()[2])
    assert last.startswith("Cause of the last restart:\nworker-0 on 127.0.0.1")
    assert re.search(rf"\n  error +{OWN}\n", last) and re.search(r"\n  last output +\| Traceback", last)
    assert re.search(rf"\n  full log +on {place}: muster logs two --role worker --index 0 --attempt 1\n", last)
    said = end_all(machines)
    lines = said["one"].splitlines()
    assert [i for i, line in enumerate(lines) if re.fullmatch("muster: " + sentence, line)] == [
        i - 1 for i, line in enumerate(lines) if line.startswith("muster: world 2:")]
    assert re.search(rf"muster: worker-0 exited with code 3 after \S+ \({of_rank}attempt 1\): {OWN}\n", said["two"])
    assert place not in said["two"] and "worker-0 on " not in said["two"]
    assert "failure" not in machines.status().lower()


def test_the_block_of_a_job_that_failed_is_the_same_on_every_machine(machines):
    _, rank = launch_two(machines, 0)
    machines.tell("two", f"3 {OWN}")
    said = {name: machines.ends(name, 1) for name in ("one", "two")}
    for name, on in (("one", rf" on 127\.0\.0\.1 \(machine {rank}\)"), ("two", "")):
        block = said[name][said[name].index(f"muster: job {name} failed after"):]
        assert re.match(rf"muster: job {name} failed after \S+: worker-0{on} exited with code 3 after", block), block
        assert re.search(rf"\n  error +{OWN}\n", block), block
        assert ("log file" in block) == (name == "two")
    assert "\n\nFailure:\nworker-0 on 127.0.0.1" in machines.status()
    kept = json.loads(machines.muster("status", "one", "-o", "json", code=0).stdout)["status"]["failure"]
    assert kept["exception"] == OWN and kept["machineJob"] == "two" and kept["exitCode"] == 3


def test_the_machine_whose_process_waits_for_its_peers_is_found(machines):
    """It printed why it failed and did not end: the one that ends blames it."""
    first, second = launch_two(machines, 1)
    machines.tell("two", f"stay {OWN}")
    wait_until(lambda: (machines.muster.folder / "story.stays").exists())
    machines.tell("one", f"1 {GONE}")
    machines.until_world(2, 2)
    wait_until(lambda: machines.description()["failure"]["exception"] == OWN)
    failure = machines.description()["failure"]
    assert failure["message"] == f"worker-0 on 127.0.0.1 (machine {second}) printed an error (attempt 1)"
    (consequence,) = failure["consequences"]
    assert consequence["machine"] == f"127.0.0.1 (machine {first})" and consequence["what"].endswith(GONE)
    said = end_all(machines)
    assert f"muster: worker-0 on 127.0.0.1 (machine {second}) printed an error (attempt 1): {OWN}\n" in said["one"]
    assert f"muster: worker-0 on 127.0.0.1 (machine {first}) exited with code 1" in said["two"]


def test_a_process_that_is_paused_is_why_its_peers_on_other_machines_fail(machines):
    """It neither printed anything nor ended."""
    launch_two(machines, 1)
    pid = next(line.pid for line in machines.lines(1) if line.machine == "two")
    rank = next(line.rank for line in machines.lines(1) if line.machine == "two")
    os.kill(pid, signal.SIGSTOP)
    machines.muster.until("two", lambda job: replicas(job)[0].get("reason") == "ProcessStopped")
    machines.tell("one", f"1 {GONE}")
    machines.until_world(2, 2)
    wait_until(lambda: machines.description()["failure"]["reason"] == "ProcessStopped")
    failure = machines.description()["failure"]
    assert failure["message"].startswith(f"worker-0 on 127.0.0.1 (machine {rank}) was paused (SIGSTOP, Ctrl-Z or a debugger)")
    assert failure["consequences"][0]["what"].endswith(GONE)
    said = end_all(machines)
    assert f"muster: worker-0 on 127.0.0.1 (machine {rank}) was paused" in said["one"]
    assert "muster: worker-0 was paused" in said["two"]


def test_a_job_fails_with_the_error_of_the_process_that_waits(machines):
    _, second = launch_two(machines, 0)
    machines.tell("two", f"stay {OWN}")
    wait_until(lambda: (machines.muster.folder / "story.stays").exists())
    machines.tell("one", f"1 {GONE}")
    said = {name: machines.ends(name, 1) for name in ("one", "two")}
    assert re.search(rf"job one failed after \S+: worker-0 on 127.0.0.1 \(machine {second}\) printed an error", said["one"])
    assert re.search(r"job two failed after \S+: worker-0 (on \S+ \(machine \d\) )?printed an error", said["two"])
    assert re.search(rf"\n  consequences +worker-0 on .* exited with code 1 .*{re.escape(GONE)[:20]}", said["one"])


def test_a_server_that_is_started_again_has_not_forgotten_why(machines):
    launch_two(machines, 1)
    machines.tell("two", f"3 {OWN}")
    machines.until_world(2, 2)
    before = machines.description()
    machines.server.kill()
    machines.server.wait()
    start_orchestrator(machines)
    after = machines.description()
    assert after["failure"] == before["failure"] and after["worlds"] == before["worlds"]
    end_all(machines)
    assert machines.status().startswith("digits: succeeded, world 2, 1 restart")
