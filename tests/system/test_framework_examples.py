"""The examples for PyTorch and JAX: they learn, save when they are asked to end, and go on with another number of processes."""

import os
import re
import signal

import pytest

from conftest import ROOT, read_until, replicas
from test_examples import accuracy_of, lines_of

# The environments of tests/frameworks are large, so only `script/test frameworks` has them.
pytestmark = [pytest.mark.unsanitized, pytest.mark.skipif("MUSTER_TORCH" not in os.environ, reason="script/test frameworks runs them")]

LIMIT = 600
GOOD_ACCURACY = 0.93


class Example:
    """One of them, with the Python that has its framework."""

    def __init__(self, muster, framework, folder):
        environment = os.environ[f"MUSTER_{framework.upper()}"]
        self.muster, self.folder = muster, folder
        self.script = ROOT / "examples" / {"torch": "pytorch"}.get(framework, framework) / "train.py"
        self.how = {"env": {"VIRTUAL_ENV": environment, "PATH": f"{environment}/bin:{os.environ['PATH']}"}}

    def words(self, command, *options, epochs):
        return [*command.split(), *options, self.script, "--checkpoint-dir", self.folder / "checkpoint", "--epochs", str(epochs)]

    def run(self, command, *options, epochs):
        return self.muster(*self.words(command, *options, epochs=epochs), code=0, limit=LIMIT, **self.how).stdout

    def start(self, command, *options, epochs):
        return self.muster.start(*self.words(command, *options, epochs=epochs), **self.how)


@pytest.fixture(params=("torch", "jax"))
def example(muster, request, tmp_path):
    return Example(muster, request.param, tmp_path)


def test_a_check_of_pytorch_passes(muster):
    environment = {"VIRTUAL_ENV": os.environ["MUSTER_TORCH"]}
    done = muster("check", "--framework", "torch", "-w", 3, code=0, limit=LIMIT, env=environment)
    assert re.search(r"network +ok .* 6 links: round trip .* clocks within ", done.stdout)
    assert done.stdout.endswith(": distributed PyTorch works\n")


def step_of(output):
    step, = re.findall(r"goes on at step (\d+)", output)
    return int(step)


def test_two_processes_learn_and_three_go_on(example):
    assert accuracy_of(lines_of(example.run("run -w 2", epochs=6), "worker-0")) > GOOD_ACCURACY
    output = example.run("run -w 3", epochs=7)
    assert step_of(output) > 100
    assert output.count("epoch ") == 1
    assert accuracy_of(lines_of(output, "worker-0")) > GOOD_ACCURACY


def test_asked_to_end_they_save_and_go_on(example):
    run = example.start("run -w 2 --name asked --grace 1h", epochs=100_000)
    read_until(run.stdout, "epoch 2/", LIMIT)
    example.muster("stop", "asked", code=0, limit=LIMIT)
    output, said = run.communicate(timeout=LIMIT)
    assert run.returncode == 130, said
    ended = {replica.get("exitCode") for replica in replicas(example.muster.job("asked"))}
    assert 128 + signal.SIGTERM in ended
    last = max([2, *map(int, re.findall(r"epoch (\d+)/", output))])
    output = example.run("run -w 2", epochs=last + 2)
    assert f"epoch {last + 2}/{last + 2}" in output
    assert step_of(output) >= 2 * 22


def test_a_killed_process_restarts_all_which_go_on(example):
    run = example.start("launch --nnodes 1 --nproc-per-node 2 --max-restarts 1 --rdzv-id killed", epochs=15)
    assert run.stdout.readline()
    job = example.muster.until_running("killed", 2)
    pid = replicas(job)[1]["pid"]
    read_until(run.stdout, "epoch 3/15", LIMIT)
    os.kill(pid, signal.SIGKILL)
    output, said = run.communicate(timeout=LIMIT)
    assert run.returncode == 0, said
    assert step_of(output) >= 3 * 22
    assert "epoch 15/15" in output and accuracy_of(lines_of(output, "worker-0")) > GOOD_ACCURACY
