"""TF_CONFIG as muster writes it, read by TensorFlow's own resolver."""

import json
import re

import pytest

from conftest import LIMIT, read_line
from needs import needs_tensorflow

pytestmark = [pytest.mark.unsanitized, needs_tensorflow]


@pytest.fixture
def resolve(monkeypatch):
    """What TFConfigClusterResolver makes of a TF_CONFIG: (cluster, task type, task id)."""
    import tensorflow

    def ask(text):
        monkeypatch.setenv("TF_CONFIG", text)
        resolver = tensorflow.distribute.cluster_resolver.TFConfigClusterResolver()
        return resolver.cluster_spec().as_dict(), resolver.task_type, resolver.task_id

    return ask


def configs_of(muster, count, *flags):
    """{replica: its TF_CONFIG} of a job whose every process, so many of them, prints it."""
    run = muster.start("run", *flags, "--", "sh", "-c", "echo $TF_CONFIG; exec sleep 1000")
    lines = [read_line(run.stdout) for _ in range(count)]
    run.terminate()
    assert run.wait(LIMIT) == 143
    return dict(re.match(r"(\S+) *\| (\{.*\})", line).groups() for line in lines)


def test_the_resolver_accepts_both_configurations_of_two_workers(muster, resolve):
    configs = configs_of(muster, 2, "-w", "2")
    assert sorted(configs) == ["worker-0", "worker-1"]
    clusters = []
    for index in range(2):
        cluster, task_type, task_id = resolve(configs[f"worker-{index}"])
        assert (task_type, task_id) == ("worker", index)
        clusters.append(cluster)
    assert clusters[0] == clusters[1]
    assert list(clusters[0]) == ["worker"]
    assert len(set(clusters[0]["worker"])) == 2


def test_the_resolver_accepts_every_role(muster, resolve):
    configs = configs_of(muster, 5, "--chief", "-w", "2", "--ps", "1", "--evaluator")
    assert sorted(configs) == ["chief-0", "evaluator-0", "ps-0", "worker-0", "worker-1"]
    for replica, text in configs.items():
        cluster, task_type, task_id = resolve(text)
        assert f"{task_type}-{task_id}" == replica
        assert {role: len(tasks) for role, tasks in cluster.items()} == {"chief": 1, "worker": 2, "ps": 1}


def test_the_configuration_of_a_lone_worker_means_no_cluster_to_wait_for(muster, resolve):
    text = configs_of(muster, 1, "-w", "1")["worker-0"]
    cluster, task_type, task_id = resolve(text)
    assert (task_type, task_id) == ("worker", 0)
    assert len(cluster["worker"]) == 1
    assert json.loads(text)["task"] == {"type": "worker", "index": 0}
