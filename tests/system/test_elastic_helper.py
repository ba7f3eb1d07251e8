"""python/muster_elastic.py, with which a script saves at the same step on all machines before it ends."""

import importlib.util
import os
import re
import shutil
import signal
import sys

import pytest

from agents import Machines, start_orchestrator
from conftest import LIMIT, ROOT, read_until
from servers import free_port

pytestmark = pytest.mark.unsanitized

HELPER = ROOT / "python" / "muster_elastic.py"

# What makes the workers know each other, and one step, in which all take part.
FRAMEWORKS = {
    "tensorflow": """
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
def train():
    strategy.reduce("SUM", tf.constant(1.0), axis=None)
""",
    "torch": """
import torch
strategy = None
torch.distributed.init_process_group("gloo")
def train():
    torch.distributed.all_reduce(torch.ones(1))
""",
    "jax": """
import os, jax
from jax.experimental import multihost_utils
strategy = None
jax.distributed.initialize(num_processes=int(os.environ["WORLD_SIZE"]), process_id=int(os.environ["RANK"]))
def train():
    multihost_utils.process_allgather(1.0)
""",
}

SCRIPT = """
import os, sys
import muster_elastic
path = sys.argv[1]
first = int(open(path).read()) if os.path.exists(path) else 0
last = first + 20 if first else 10 ** 9  # the first time until a worker is asked to end
training = muster_elastic.Training(strategy)
print("process", os.getpid(), "begins at step", first, flush=True)
for step in range(first, last):
    train()
    if (step + 1) % 1000 == 0 or training.must_end():
        if os.environ.get("RANK", "0") == "0":
            with open(path + ".new", "w") as file:
                file.write(str(step + 1))
            os.rename(path + ".new", path)
        if training.is_ending:
            print("saves at step", step + 1, flush=True)
        training.saved(step + 1)
    if step == 10:
        print("trains", flush=True)
print("ends at step", last, flush=True)
"""


@pytest.mark.long
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_all_workers_save_at_the_same_step(muster, framework):
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"the running Python has no {framework}")
    machines = Machines(muster, free_port())
    shutil.copy(HELPER, muster.folder)
    start_orchestrator(machines)
    agents = machines.train_two(FRAMEWORKS[framework] + SCRIPT, muster.folder / "step")
    begun = [read_until(agent.stdout, "begins at step 0")[-1] for agent in agents]
    for agent in agents:
        read_until(agent.stdout, "trains")
    os.kill(int(re.search(r"process (\d+)", begun[1]).group(1)), signal.SIGTERM)
    saved = {int(read_until(agent.stdout, "saves at step")[-1].split()[-1]) for agent in agents}
    again = {int(read_until(agent.stdout, "begins at step")[-1].split()[-1]) for agent in agents}
    assert len(saved) == 1 and again == saved
    for agent in agents:
        said = agent.communicate(timeout=LIMIT)
        assert agent.returncode == 0, said
        assert f"ends at step {max(saved) + 20}\n" in said[0]
    job = machines.description()
    assert job["restarts"] == 0 and [world["reason"] for world in job["worlds"]] == ["first", "restart-asked"]
    assert job["progress"] >= max(saved)


def test_a_process_whose_signal_another_library_takes_saves_all_the_same(muster):
    """By MUSTER_STOP_FILE."""
    machines = Machines(muster, free_port())
    shutil.copy(HELPER, muster.folder)
    start_orchestrator(machines)
    agents = machines.train_two("import signal, time\nstrategy = None\ntrain = lambda: time.sleep(0.01)\n" + SCRIPT.replace(
        "training = muster_elastic.Training(strategy)", "training = muster_elastic.Training(strategy); signal.signal(signal.SIGTERM, signal.SIG_IGN)"), muster.folder / "step")
    for agent in agents:
        read_until(agent.stdout, "trains")
    muster("drain", "--rdzv-endpoint", machines.endpoint, "digits", "1", code=0)
    for agent in agents:
        read_until(agent.stdout, "saves at step")


@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT"])
def test_without_muster_one_worker_saves_and_exits(tmp_path, number):
    code = "import os, signal, muster_elastic as m; t = m.Training(); assert not t.must_end(); " \
           f"os.kill(os.getpid(), signal.{number}); assert t.must_end(); t.saved(3)"
    environment = {**os.environ, "PYTHONPATH": str(HELPER.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    assert os.spawnve(os.P_WAIT, sys.executable, [sys.executable, "-c", code], environment) == 143
