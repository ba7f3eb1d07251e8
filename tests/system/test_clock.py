"""The wall clock of the machine is set forward and back by hours, as after a virtual machine was resumed: what waits for a
time waits as long as it would have, and nothing is lost. The jobs have a clock of their own (stub_clock.c)."""

import os
import pathlib
import re
import struct
import subprocess

import pytest

from agents import Machines, start_orchestrator
from conftest import LIMIT, read_until, replicas
from processes import wait_until
from servers import free_port

STUB = pathlib.Path(__file__).with_name("stub_clock.c")
HOURS = 3600
# Says on SIGTERM that it goes on, and ends when it is told to.
STUBBORN = """trap 'echo asked' TERM; echo begun; while ! read -r code < $FOLDER/$MUSTER_ROLE-$MUSTER_INDEX; do :; done; exit $code"""


class Clock:
    def __init__(self, muster):
        self.file = muster.folder / "clock"
        self.set(0)
        library = muster.folder / "clock.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, STUB], check=True)
        muster.environment.update(LD_PRELOAD=str(library), STUB_CLOCK=str(self.file))

    def set(self, seconds):
        """In place: it is mapped."""
        with open(self.file, "r+b" if self.file.exists() else "wb") as file:
            file.write(struct.pack("=q", seconds))


@pytest.fixture
def clock(muster):
    return Clock(muster)


def start_stubborn(muster, workers, *options):
    """Gives the job's output."""
    for index in range(workers):
        os.mkfifo(muster.folder / f"worker-{index}")
    muster.detach("--name", "job", "--workers", workers, *options, "--env", f"FOLDER={muster.folder}", "--", "sh", "-c", STUBBORN)
    output = muster.start("logs", "-f", "job").stdout
    for _ in range(workers):
        read_until(output, "begun")
    return output


def tell(muster, index, code):
    with open(muster.folder / f"worker-{index}", "w") as fifo:
        fifo.write(f"{code}\n")


def test_a_clock_that_is_set_back_delays_no_kill(muster, clock):
    output = start_stubborn(muster, 1)
    stop = muster.start("stop", "--grace", "1s", "job")
    read_until(output, "asked")
    clock.set(-5 * HOURS)
    assert stop.wait(LIMIT) == 0
    assert replicas(muster.job("job"))[0]["signal"] == 9


def test_a_clock_that_is_set_forward_kills_nothing_early(muster, clock):
    output = start_stubborn(muster, 2)
    stop = muster.start("stop", "--grace", f"{LIMIT}s", "job")
    for _ in range(2):
        read_until(output, "asked")
    clock.set(5 * HOURS)
    tell(muster, 0, 6)
    wait_until(lambda: replicas(muster.job("job"))[0]["state"] == "Stopped")
    tell(muster, 1, 7)
    assert stop.wait(LIMIT) == 0
    assert [replica["exitCode"] for replica in replicas(muster.job("job"))] == [6, 7]


def test_a_clock_that_is_set_forward_ends_no_job_early(muster, clock):
    start_stubborn(muster, 2, "--timeout", "1h")
    clock.set(5 * HOURS)
    for index in range(2):
        tell(muster, index, 0)
        wait_until(lambda: replicas(muster.job("job"))[index]["state"] == "Succeeded")
    muster("wait", "job", code=0)
    assert not re.search(r"\b\dh", muster("status", "job", code=0).stdout)


def test_a_clock_that_is_set_back_delays_no_restart(muster, clock):
    """The fourth restart waits for four seconds."""
    script = "echo attempt $MUSTER_ATTEMPT; [ $MUSTER_ATTEMPT = 4 ]"
    job = muster.start("run", "--name", "job", "--max-restarts", 4, "--", "sh", "-c", script)
    read_until(job.stdout, "attempt 3")
    wait_until(lambda: "restartAt" in replicas(muster.job("job"))[0])
    clock.set(-5 * HOURS)
    assert job.wait(LIMIT) == 0


def test_an_elastic_job_trains_on(muster, clock):
    machines = Machines(muster, free_port())
    start_orchestrator(machines)
    at_once = ("--rdzv-conf", "last_call_timeout=0", "--max-restarts", 3)
    for name in ("one", "two"):
        machines.launch(name, *at_once)
    machines.until_world(1, 2)
    for generation, hours, name in ((2, 7, "one"), (3, -30, "two"), (4, 0, "one")):
        clock.set(hours * HOURS)
        machines.tell(name, 1)
        machines.until_world(generation, 2)
    machines.launch("three", *at_once)
    machines.until_world(5, 3)
    for name in machines.agents:
        machines.tell(name, 0)
    for name in machines.agents:
        assert not re.search(r"after \d+h", machines.ends(name, 0))
    assert [world["reason"] for world in machines.description()["worlds"]] == [
        "first", "worker-failed", "worker-failed", "worker-failed", "grew"]
