"""A real training under `muster operator` goes on, from its last step, whatever happens to its Pods and their node."""

import json
import os
import pathlib
import re
import signal

import pytest

from conftest import ROOT, python_pod, until
from needs import needs_tensorflow
from test_operator import crd, operator, tfjob  # noqa: F401
from test_real_node import needs_python_of_the_system

pytestmark = [
    pytest.mark.disturbs,
    pytest.mark.long,
    pytest.mark.skipif("MUSTER_SOAK_NODE" not in os.environ, reason="four starts of TensorFlow (script/soak)"),
    needs_tensorflow,
    needs_python_of_the_system,
]

EPOCHS = 150


def training(folder):
    """Two workers in step, which save after each epoch, and when they are asked to end."""
    spec = python_pod("any", ROOT / "examples" / "digits" / "train.py", "--epochs", EPOCHS, "--checkpoint-dir", "/kept")["spec"]
    spec["securityContext"] = {"runAsUser": 0}  # the Python of the tests may be root's alone
    spec["terminationGracePeriodSeconds"] = 30
    spec["volumes"].append({"name": "kept", "hostPath": {"path": str(folder)}})
    spec["containers"][0]["volumeMounts"].append({"name": "kept", "mountPath": "/kept"})
    job = tfjob("digits", {"backoffLimit": 9, "restartScope": "job"},
                Worker={"replicas": 2, "restartPolicy": "ExitCode", "template": {"spec": spec}})
    job["spec"]["successPolicy"] = "AllWorkers"
    return job


def said(namespace, name):
    return namespace.cluster.try_kubectl("-n", namespace.name, "logs", name).stdout


def until_it_trains(namespace, attempt):
    """Until this attempt of both trains; gives the step at which it went on."""
    for index in range(2):
        until(lambda name=f"digits-worker-{index}": attempt_of(namespace, name), lambda number: number == attempt)
        namespace.until_phase(f"digits-worker-{index}", "Running")
    text = until(lambda: said(namespace, "digits-worker-1"), lambda text: len(re.findall(r"^epoch ", text, re.MULTILINE)) >= 3)
    found = re.search(r"goes on at step (\d+)", text)
    return int(found.group(1)) if found else 0


def attempt_of(namespace, name):
    done = namespace.cluster.try_kubectl("-n", namespace.name, "get", "pod", name, "-o", "json")
    return int(json.loads(done.stdout)["metadata"].get("annotations", {}).get("muster/attempt", 0)) if done.returncode == 0 else -1


def process_of(namespace, index):
    """The training process of a worker of this namespace, on the node that is this machine."""
    host = f"digits-worker-{index}.{namespace.name}.svc".encode()
    mine = f'"index":{index}'.encode()
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if host in environment and mine in environment and b"TF_CONFIG" in environment:
            return int(folder.name)
    raise AssertionError(f"no process of worker {index}")


def evict(namespace):
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "digits-worker-1", "namespace": namespace.name}}
    namespace.cluster.kubectl("create", "--raw", f"/api/v1/namespaces/{namespace.name}/pods/digits-worker-1/eviction", "-f", "-",
                              input=json.dumps(body))


def kill_under_the_kubelet(namespace):
    os.kill(process_of(namespace, 0), signal.SIGKILL)


def drain(namespace):
    node = namespace.get("pod", "digits-worker-0")["spec"]["nodeName"]
    selector = "--pod-selector=training.kubeflow.org/job-name=digits"
    try:
        namespace.cluster.kubectl("drain", node, selector, "--force", "--ignore-daemonsets", "--delete-emptydir-data")
    finally:
        namespace.cluster.kubectl("uncordon", node)


def test_a_training_goes_on_from_its_last_step(operator, namespace, tmp_path):  # noqa: F811
    namespace.create(training(tmp_path))
    steps = [until_it_trains(namespace, 0)]
    for attempt, happening in enumerate([evict, kill_under_the_kubelet, drain], 1):
        happening(namespace)
        steps.append(until_it_trains(namespace, attempt))
    assert steps == sorted(set(steps)), steps
    namespace.wait("tfjob/digits", "condition=Succeeded")
    ends = {re.search(r"^test loss .*", said(namespace, f"digits-worker-{index}"), re.MULTILINE).group(0) for index in range(2)}
    assert len(ends) == 1
    assert f"epoch {EPOCHS}/{EPOCHS}" in said(namespace, "digits-worker-0")
