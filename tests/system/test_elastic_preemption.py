"""TensorFlow's PreemptionCheckpointHandler under `muster launch`: the codes with which it exits are no failures."""

import os
import re
import signal

import pytest

from agents import Machines, start_orchestrator
from conftest import LIMIT, read_until
from needs import needs_tensorflow
from servers import free_port

pytestmark = [pytest.mark.unsanitized, pytest.mark.long, needs_tensorflow]

SCRIPT = """\
import os, sys
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    steps = tf.Variable(0, dtype=tf.int64, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
handler = tf.distribute.experimental.PreemptionCheckpointHandler(
    strategy.cluster_resolver, tf.train.Checkpoint(steps=steps), sys.argv[1])
print("process", os.getpid(), "begins at step", int(steps.numpy()), flush=True)

@tf.function
def train():
    def step():
        steps.assign_add(1)
        return tf.distribute.get_replica_context().all_reduce("sum", tf.ones([10]))
    return strategy.run(step)

# The first time until it is preempted.
last = int(steps.numpy()) + 20 if int(steps.numpy()) else 1000000
while int(steps.numpy()) < last:
    handler.run(train)
    if int(steps.numpy()) == 10:
        print("trains", flush=True)
print("ends at step", int(steps.numpy()), flush=True)
"""


def test_a_preempted_worker_saves_with_its_peers_and_all_go_on_from_there(muster):
    machines = Machines(muster, free_port())
    start_orchestrator(machines)
    agents = machines.train_two(SCRIPT, muster.folder / "checkpoints")
    begun = [read_until(agent.stdout, "begins at step 0")[-1] for agent in agents]
    for agent in agents:
        read_until(agent.stdout, "trains")
    os.kill(int(re.search(r"process (\d+)", begun[1]).group(1)), signal.SIGTERM)
    again = [int(read_until(agent.stdout, "begins at step")[-1].split()[-1]) for agent in agents]
    assert again[0] == again[1] >= 10
    for agent in agents:
        said = agent.communicate(timeout=LIMIT)
        assert agent.returncode == 0, said
        assert "(a process asked for a restart)" in said[1]
    job = machines.description()
    assert job["restarts"] == 0 and [world["reason"] for world in job["worlds"]] == ["first", "restart-asked"]
