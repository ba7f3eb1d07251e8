"""`muster server` with the real library: a Python client's session, and the bytes of ServerDef. Jobs that train on such
servers are in test_examples.py."""

import json
import os
import random
import re
import subprocess
import sys

import pytest

from conftest import read_line
from needs import needs_tensorflow
from servers import free_port, make_stub

pytestmark = [pytest.mark.unsanitized, needs_tensorflow]

LIMIT = 900

# The virtual environment that runs the tests has the library too.
PYTHON = {"VIRTUAL_ENV": sys.prefix}

CLIENT = """
import json, sys
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
target, tasks = sys.argv[1], sys.argv[2:]
answers = {}
for task in tasks:
    with tf.device(task):
        answers[task] = tf.constant(3) * 14
with tf.Session(target) as session:
    devices = [device.name for device in session.list_devices()]
    print(json.dumps({"devices": devices, "answers": {k: int(v) for k, v in session.run(answers).items()}}))
"""


def events_of(output):
    """The events that the replicas of a job printed."""
    return [json.loads(line.split("|", 1)[1]) for line in output if re.search(r'\| \{"muster"', line)]


def serving_cluster(muster):
    """Two workers and two parameter servers; gives the target of each task when all serve."""
    run = muster.start("run", "-w", "2", "--ps", "2", "--", "muster", "server", "-o", "json", env=PYTHON)
    lines, targets = [], {}
    while len(targets) < 4:
        lines.append(read_line(run.stdout, LIMIT))
        assert lines[-1], run.stderr.read()
        targets = {event["task"]: event["target"] for event in events_of(lines)}
    return run, targets


def test_a_session_lists_the_devices_and_runs_an_operation_on_each_of_four_tasks(muster):
    run, targets = serving_cluster(muster)
    assert sorted(targets) == ["ps-0", "ps-1", "worker-0", "worker-1"]
    tasks = [f"/job:{job}/task:{index}" for job in ("worker", "ps") for index in (0, 1)]
    client = subprocess.run([sys.executable, "-c", CLIENT, targets["worker-0"], *tasks], env=muster.environment,
                            timeout=LIMIT, check=True, capture_output=True, text=True)
    told = json.loads(client.stdout.splitlines()[-1])
    assert told["answers"] == {task: 42 for task in tasks}
    assert {re.match(r"/job:\w+", device)[0] + "/" + re.search(r"task:\d", device)[0]
            for device in told["devices"]} == set(tasks)
    assert all(re.search(r"device:\w+:\d+$", device) for device in told["devices"])
    run.terminate()
    run.communicate(timeout=LIMIT)


# The bytes. A stub writes down what it is given, so that nothing needs to serve.

def random_cluster(dice):
    """{job: {index: address}}"""
    def host():
        return dice.choice(["localhost", "10.0.0.1", "[::1]", "a-long-name.of.some-host.example.org", "h"])

    names = dice.sample(["worker", "ps", "chief", "evaluator", "a", "job2", "x" * 150], dice.randint(1, 5))
    ports = iter(dice.sample(range(1, 65536), 4000))
    return {name: {index: f"{host()}:{next(ports)}" for index in range(dice.choice([1, 2, 3, 130, 400]))}
            for name in names}


def sparse(dice, cluster):
    """The same with gaps: some tasks are gone."""
    return {name: {index: tasks[index] for index in sorted(dice.sample(sorted(tasks), dice.randint(1, len(tasks))))}
            for name, tasks in cluster.items()}


def spec_of(cluster):
    return ",".join(f"{name}|" + ";".join(tasks.values()) for name, tasks in cluster.items())


def wheels_bytes(cluster, job, index, fraction=None):
    """What the protobuf class of the wheel makes of it."""
    from tensorflow.core.protobuf import tensorflow_server_pb2

    server_def = tensorflow_server_pb2.ServerDef(job_name=job, task_index=index, protocol="grpc")
    for name, tasks in cluster.items():
        added = server_def.cluster.job.add(name=name)
        for task, address in tasks.items():
            added.tasks[task] = address
    n_threads = min(64, 1 + sum(map(len, cluster.values())))
    if len(os.sched_getaffinity(0)) < n_threads:
        server_def.default_session_config.inter_op_parallelism_threads = n_threads
    if fraction is not None:
        server_def.default_session_config.gpu_options.per_process_gpu_memory_fraction = fraction
    return server_def.SerializeToString(deterministic=True)


@pytest.fixture(scope="module")
def refusing_stub(tmp_path_factory):
    return make_stub(tmp_path_factory.mktemp("stub"), "STUB_CODE=3")


@pytest.fixture
def our_bytes(muster, refusing_stub, tmp_path):
    def ask(*arguments, **env):
        written = tmp_path / "server_def"
        written.unlink(missing_ok=True)
        done = muster("server", *arguments, code=1,
                      env={"MUSTER_LIBTENSORFLOW": refusing_stub, "STUB_BYTES": written, **env})
        assert "the stub says no" in done.stderr
        return written.read_bytes()

    return ask


def own_task(dice, cluster):
    """Some task, put where a port is free on this machine."""
    taken = {address for tasks in cluster.values() for address in tasks.values()}
    job = dice.choice(sorted(cluster))
    index = dice.choice(sorted(cluster[job]))
    while (address := f"localhost:{free_port()}") in taken:
        pass
    cluster[job][index] = address
    return job, index


@pytest.mark.parametrize("seed", range(30))
def test_a_cluster_spec_becomes_the_bytes_that_the_wheel_itself_writes(our_bytes, seed):
    dice = random.Random(seed)
    cluster = random_cluster(dice)
    job, index = own_task(dice, cluster)
    fraction = dice.choice([None, 0.5, 1.0, 0.333])
    flags = [] if fraction is None else [f"--gpu-memory-fraction={fraction}"]
    ours = our_bytes("--cluster-spec", spec_of(cluster), "--job-name", job, "--task-index", index, *flags)
    assert ours == wheels_bytes(cluster, job, index, fraction)


@pytest.mark.parametrize("seed", range(10))
def test_a_sparse_tf_config_becomes_the_bytes_that_the_wheel_itself_writes(our_bytes, seed):
    dice = random.Random(1000 + seed)
    cluster = sparse(dice, random_cluster(dice))
    job, index = own_task(dice, cluster)
    config = {"cluster": cluster, "task": {"type": job, "index": index}}
    assert our_bytes(TF_CONFIG=json.dumps(config)) == wheels_bytes(cluster, job, index)
