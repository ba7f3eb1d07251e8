"""Real TensorFlow on machines that come and go: network namespaces as machines, with an orchestrator on one of its own."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

from conftest import BINARY, LIMIT, ROOT, read_line, read_until
from needs import needs_tensorflow
from networks import machines_of
from processes import children_of, processes_with, wait_until_none_has

pytestmark = [pytest.mark.unsanitized, needs_tensorflow]

TRAIN = ROOT / "examples" / "digits" / "train.py"
PYTHON = {"VIRTUAL_ENV": sys.prefix, "PATH": f"{sys.prefix}/bin:{os.environ['PATH']}"}
SERVER = "10.97.0.254"
EPOCHS = 60


class Network:
    """Machines on one bridge, which is in the server's network."""

    def __init__(self, muster, make, hosts):
        self.muster, self.make = muster, make
        self.server = make()
        self.server.ip("link add bridge0 type bridge")
        self.server.ip(f"addr add {SERVER}/24 dev bridge0")
        self.server.ip("link set bridge0 up")
        self.agents, self.said = {}, {}
        self.events = []  # (seconds since 1970, what was done to the machines)

    def start_orchestrator(self):
        """With a token, and a key of its own, as other machines need them."""
        folder = self.muster.folder
        if not (folder / "token").exists():
            self.muster("orchestrator", "--make-token", folder / "token", code=0)
            (folder / "tls").mkdir()
        process = self.server.start("orchestrator", "--listen", f"{SERVER}:29400", "--token-file", folder / "token.hash",
                                    "--tls-dir", folder / "tls", text=True)
        assert read_line(process.stderr) == f"muster: elastic jobs connect to https://{SERVER}:29400\n"
        self.access = ["--rdzv-token-file", folder / "token", "--rdzv-pin", read_line(process.stderr).split()[-1]]
        return process

    def note(self, what):
        self.events.append((time.time(), what))

    def add(self, name, *arguments):
        machine, number = self.make(), len(self.agents) + 1
        machine.ip("link add port0 type veth peer name far0")
        machine.ip(f"link set far0 name port{number} netns {self.server.keeper.pid}")
        self.server.ip(f"link set port{number} master bridge0 up")
        machine.ip(f"addr add 10.97.0.{number}/24 dev port0")
        machine.ip("link set port0 up")
        self.said[name] = []
        self.agents[name] = machine.start("launch", "--name", name, *self.access, *arguments, env=PYTHON, stderr=subprocess.STDOUT)
        return self.agents[name]

    def until(self, name, wanted):
        """Reads what an agent says until a line has it; gives what came since the last time."""
        lines = read_until(self.agents[name].stdout, wanted)
        self.said[name] += lines
        return lines

    def job(self):
        return json.loads(self.status("-o", "json"))

    def status(self, *options):
        """Asked from within the server's network."""
        ask = [BINARY, "status", "--rdzv-endpoint", SERVER, *self.access, *options, "digits"]
        return subprocess.run([*self.server.inside, *map(str, ask)], check=True, capture_output=True, text=True,
                              timeout=LIMIT).stdout


@pytest.fixture
def network(muster, tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost\n")
    with machines_of(muster, hosts) as make:
        yield Network(muster, make, hosts)




def steps_of(lines, word):
    return [int(line.split()[-1]) for line in lines if f"| {word} at step " in line]


def accuracy_of(lines):
    return float(re.search(r"test accuracy ([\d.]+)", "".join(lines)).group(1))


@pytest.mark.long
def test_machines_come_and_go_and_training_goes_on(network, muster):
    words = ["--nnodes", "1:3", "--rdzv-endpoint", SERVER, "--rdzv-id", "digits", "--rdzv-conf", "last_call_timeout=2",
             "--shutdown-timeout", "60s", TRAIN, "--epochs", EPOCHS, "--checkpoint-dir", muster.folder / "checkpoints"]
    orchestrator = network.start_orchestrator()
    network.add("one", *words)
    network.until("one", "waiting for a place in the world")
    network.add("two", *words)
    network.until("one", "epoch 2/")

    network.note("a third machine joins")
    network.add("three", *words)
    grown = network.until("one", "epoch ")  # of the old world, or the new one
    while not steps_of(network.said["one"], "goes on"):
        network.until("one", "epoch ")
    assert steps_of(network.said["one"], "asked to end") == steps_of(network.said["one"], "goes on"), grown
    assert any("workers in step: 3" in line for line in network.said["one"])

    network.note("one is killed")
    network.agents["two"].kill()
    network.until("one", "workers in step: 2")
    network.until("one", "epoch ")
    wait_until_none_has("MUSTER_JOB_NAME=two")

    three = processes_with("MUSTER_JOB_NAME=three") | tree_of(network.agents["three"].pid)
    network.note("one freezes")
    for pid in three:
        os.kill(pid, signal.SIGSTOP)
    network.until("one", "workers in step: 1")
    network.until("one", "epoch ")

    network.note("the orchestrator is killed")
    orchestrator.kill()
    orchestrator.wait()
    network.until("one", "epoch ")
    network.note("it is started again")
    network.start_orchestrator()
    generation = network.job()["generation"]

    network.note("the frozen one continues")
    for pid in three:
        os.kill(pid, signal.SIGCONT)
    network.until("one", "workers in step: 2")
    network.until("one", "test accuracy")
    job = network.job()
    assert [world["reason"] for world in job["worlds"]] == ["first", "grew", "lost-member", "lost-member", "grew"]
    assert [world["members"] for world in job["worlds"]] == [2, 3, 2, 1, 2]
    assert job["restarts"] == 0 and job["generation"] == generation + 1
    for name in ("one", "three"):
        network.said[name] += network.agents[name].stdout.read().decode().splitlines(keepends=True)
        assert network.agents[name].wait(LIMIT) == 0, network.said[name]

    epochs = [int(number) for number in re.findall(r"epoch (\d+)/", "".join(network.said["one"]))]
    assert set(epochs) == set(range(1, EPOCHS + 1))
    undisturbed = muster("run", "-w", 1, TRAIN, "--epochs", EPOCHS, env=PYTHON, code=0).stdout
    assert abs(accuracy_of(network.said["one"]) - accuracy_of(undisturbed)) <= 0.02
    record(muster, network, job)
    print(network.status())
    print("".join(line for line in network.said["one"] if "muster:" in line or "goes on" in line))


def record(muster, network, job):
    """For tools/elastic_picture.py, where the file is asked for."""
    if "MUSTER_RECORDING" in os.environ:
        log = muster("logs", "one", "--timestamps", "--utc", code=0).stdout
        pathlib.Path(os.environ["MUSTER_RECORDING"]).write_text(
            json.dumps({"job": job, "events": network.events, "log": log}))


def tree_of(pid):
    """It and all that it has started."""
    return {pid}.union(*map(tree_of, children_of(pid)))
