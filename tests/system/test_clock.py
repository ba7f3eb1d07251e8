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
from test_exec import SUCCESS
from test_kube_fetch import KubeWithExec, say, stopped  # noqa: F401
from test_operator_refusals import Refusing, told
from tfjobs import NAMESPACE, kube, refuse, serve  # noqa: F401

pytestmark = pytest.mark.unsanitized

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


@pytest.mark.parametrize("method, plural, reason", [
    ("POST", "pods", "FailedCreatePod"),
    ("POST", "services", "FailedCreateService"),
    ("DELETE", "pods", "FailedDeletePod"),
])
def test_a_clock_that_is_set_back_delays_no_refused_call(kube, serve, clock, method, plural, reason):  # noqa: F811
    kube.trouble = refusing = Refusing(method, plural)
    serve()
    kube.add("job", Worker=1)
    if method == "DELETE":
        kube.condition("job", "Running")
        kube.change("tfjobs", "job", lambda job: job["spec"]["runPolicy"].update(suspend=True))
    told(kube, reason)
    clock.set(-5 * HOURS)
    refusing.refuses = False
    kube.until(lambda _: len(kube.names(plural)) == (method == "POST"))


def start_operator(muster):
    return muster.start("operator", "-n", NAMESPACE)


def end_operator(operator):
    operator.terminate()
    assert operator.wait(LIMIT) == 0


def test_a_clock_that_is_set_back_delays_no_pass_after_one_that_failed(muster, clock, kube):  # noqa: F811
    """The status cannot be written."""
    kube.trouble = lambda exchange: exchange.path.endswith("/status") and refuse(403, message="not now")(exchange)
    operator = start_operator(muster)
    kube.add("job", Worker=1)
    read_until(operator.stderr, "not now")
    clock.set(-5 * HOURS)
    kube.trouble = lambda exchange: False
    kube.condition("job", "Running")
    end_operator(operator)


class PodServers:
    """The servers of all Pods. While `is_away` is true, none responds."""

    def __init__(self):
        self.is_away, self.started = True, []

    def __call__(self, exchange):
        pod, _, step = exchange.path.partition("/proxy/")
        if not step:
            return False
        if self.is_away:
            return refuse(503, message="no server responds")(exchange)
        if step == "run":
            self.started.append(pod)
        exchange.answer(200, "{}", "Content-Type: application/json")
        return True


def test_a_clock_that_is_set_back_delays_no_start_of_a_pod_server(muster, clock, kube):  # noqa: F811
    kube.trouble = servers = PodServers()
    operator = start_operator(muster)
    kube.add("job", annotations={"muster/pod-server": "7896"}, Worker=1)
    read_until(operator.stderr, "cannot be told to start")
    clock.set(-5 * HOURS)
    servers.is_away = False
    kube.until(lambda _: servers.started)
    end_operator(operator)


def test_a_clock_that_is_set_back_delays_no_fetch_from_a_process_that_goes_on(clock, stopped):  # noqa: F811
    """It is told again after a while, and has its grace period."""
    answers = [refuse(500, message="no"), lambda exchange: say(exchange, SUCCESS)]

    def tell(exchange):
        clock.set(-5 * HOURS)
        answers.pop(0)(exchange)

    with KubeWithExec(tell) as kube:
        stopped(kube, grace=4)
        assert not answers
