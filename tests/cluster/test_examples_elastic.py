"""The job of examples/elastic-kubernetes on the real node: it goes on while Pods come and go, and without its server for a time."""

import json
import pathlib
import re
import secrets
import sys

import pytest

from conftest import BINARY, ROOT, python_pod, system, until
from needs import needs_tensorflow
from test_real_node import needs_python_of_the_system

FILE = ROOT / "examples" / "elastic-kubernetes" / "elastic.yaml"
pytestmark = [pytest.mark.long, needs_python_of_the_system]

# A stand-in for a script of PyTorch: it trains until a file says that it is enough, and saves when it is asked to end.
TRAIN = """
import os, pathlib, signal, sys, time
folder = pathlib.Path("/checkpoints")
rank, size, generation = (os.environ[name] for name in ("RANK", "WORLD_SIZE", "MUSTER_GENERATION"))
def on_term(number, frame):
    (folder / "saved").write_text(generation)
    sys.exit(143)
signal.signal(signal.SIGTERM, on_term)
print(f"world {generation}: rank {rank} of {size}", flush=True)
(folder / f"world-{generation}-of-{size}-rank-{rank}").touch()
while not (folder / "enough").exists():
    time.sleep(0.05)
"""


def claim(namespace, name, folder, mode):
    """What the cluster's administrator does: a volume for a claim."""
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    namespace.cluster.kubectl("create", "-f", "-", input=json.dumps({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"{name}-{namespace.name}"},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": [mode], "hostPath": {"path": str(folder)},
                 "persistentVolumeReclaimPolicy": "Retain", "claimRef": {"namespace": namespace.name, "name": name}}}))


def put_on_real_node(template, script):
    """With what stands in for its image: the tests' Python, the checkout with its muster, and a script of the test."""
    here = python_pod("any")["spec"]
    container, = template["spec"]["containers"]
    words = [str(script) if word == "/work/train.py" else word for word in container["command"]]
    container.update(image=here["containers"][0]["image"], imagePullPolicy="Never", command=[BINARY, *words[1:]])
    container["volumeMounts"] += [*here["containers"][0]["volumeMounts"], {"name": "scripts", "mountPath": str(script.parent)}]
    container.setdefault("env", []).append({"name": "PATH", "value": f"{sys.prefix}/bin:/usr/bin:/bin"})
    template["spec"]["volumes"] += [*here["volumes"], {"name": "scripts", "hostPath": {"path": str(script.parent)}}]
    # The tests' Python may be below /root, which only root may read.
    template["spec"].update(nodeSelector=here["nodeSelector"], securityContext={})


@pytest.fixture
def start(namespace, tmp_path):
    """A function that starts the example with a script; gives its directory of checkpoints."""
    def start(text):
        tmp_path.chmod(0o755)
        script, checkpoints = tmp_path / "train.py", tmp_path / "checkpoints"
        script.write_text(text)
        claim(namespace, "digits-checkpoints", checkpoints, "ReadWriteMany")
        claim(namespace, "state-digits-rendezvous-0", tmp_path / "state", "ReadWriteOnce")
        namespace.kubectl("create", "secret", "generic", "digits-token", f"--from-literal=token={secrets.token_hex(32)}")
        namespace.kubectl("create", "--dry-run=server", "--validate=strict", "-f", FILE)
        for item in system.objects_of(namespace.kubectl("create", "-o", "json", "--dry-run=client", "-f", FILE).splitlines(True)):
            if item["kind"] in ("Job", "StatefulSet"):
                put_on_real_node(item["spec"]["template"], script)
            namespace.create(item)
        return checkpoints
    yield start
    for name in ("digits-checkpoints", "state-digits-rendezvous-0"):
        namespace.cluster.kubectl("delete", "pv", f"{name}-{namespace.name}", "--wait=false", "--ignore-not-found")


def until_world(checkpoints, size, after=0):
    """Until a world of this size trains, newer than this one; gives its number."""
    def newest():
        found = [re.fullmatch(r"world-(\d+)-of-(\d+)-rank-\d+", path.name) for path in checkpoints.iterdir()]
        ranks = [int(match[1]) for match in found if match and int(match[2]) == size]
        return max((number for number in ranks if ranks.count(number) == size), default=0)
    return until(newest, lambda number: number > after)


def pod_of(namespace, index):
    """The Pod of an index that is not on its way out."""
    found = [pod for pod in namespace.list("pod", f"batch.kubernetes.io/job-completion-index={index}")
             if "deletionTimestamp" not in pod["metadata"] and pod["status"].get("phase") in ("Pending", "Running")]
    return found[0]["metadata"]["name"] if found else None


def scale(namespace, count):
    namespace.kubectl("patch", "job", "digits", "--type", "merge", "-p",
                      json.dumps({"spec": {"parallelism": count, "completions": count}}))


def test_training_goes_on_while_pods_come_and_go(namespace, start):
    checkpoints = start(TRAIN)
    world = until_world(checkpoints, 3)

    namespace.kubectl("delete", "pod", pod_of(namespace, 1), "--wait=false")
    world = until_world(checkpoints, 3, world)  # with the Pod that replaces it
    assert (checkpoints / "saved").exists()

    evicted = pod_of(namespace, 2)
    namespace.cluster.kubectl("create", "--raw", f"/api/v1/namespaces/{namespace.name}/pods/{evicted}/eviction", "-f", "-",
                              input=json.dumps({"apiVersion": "policy/v1", "kind": "Eviction",
                                                "metadata": {"name": evicted, "namespace": namespace.name}}))
    world = until_world(checkpoints, 3, world)

    scale(namespace, 2)
    world = until_world(checkpoints, 2, world)
    scale(namespace, 4)
    world = until_world(checkpoints, 4, world)

    namespace.kubectl("delete", "pod", "digits-rendezvous-0")
    namespace.until_phase("digits-rendezvous-0", "Running")
    scale(namespace, 3)  # the server that came back knows the job
    until_world(checkpoints, 3, world)

    (checkpoints / "enough").touch()
    namespace.wait("job/digits", "condition=Complete")
    assert namespace.get("job", "digits")["status"].get("failed", 0) == 0


@needs_tensorflow
def test_tensorflow_trains_on_after_a_pod_was_deleted(namespace, start):
    text = pathlib.Path(ROOT / "examples" / "digits" / "train.py").read_text()
    checkpoints = start(text)
    until(lambda: list(checkpoints.rglob("*.index")), bool)
    namespace.kubectl("delete", "pod", pod_of(namespace, 1), "--wait=false")
    namespace.wait("job/digits", "condition=Complete")
    said = namespace.kubectl("logs", "job/digits")
    assert "goes on at step" in said or "goes on at step" in namespace.kubectl("logs", pod_of(namespace, 0) or "job/digits")
