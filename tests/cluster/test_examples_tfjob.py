"""The jobs of examples/tfjob on a real Kubernetes: `kubectl apply -k deploy`, then each job, which trains and succeeds."""

import functools
import json
import pathlib
import re

import pytest

from conftest import ROOT, until
from needs import needs_tensorflow
from test_image import image, image_file  # noqa: F401
from test_operator import conditions, crd, deployed  # noqa: F401
from test_real_node import needs_python_of_the_system
from test_template import pods_of, put_on_real_node

EXAMPLES = ROOT / "examples" / "tfjob"
JOBS = ["simple", "dist-mnist", "multi-worker", "mnist-with-summaries", "chief-and-evaluator", "smoke-dist"]
EPOCHS = 20
LEARNED = 0.8  # of ten classes


def trains(test):
    marks = [pytest.mark.long, pytest.mark.disturbs, needs_python_of_the_system,
             needs_tensorflow]
    return functools.reduce(lambda marked, mark: mark(marked), marks, test)


def read(namespace, job, *options):
    """The job of a file, as kubectl reads it."""
    return json.loads(namespace.kubectl("create", "-o", "json", "-f", EXAMPLES / f"{job}.yaml", *options))


@pytest.fixture
def directory(namespace, tmp_path):
    """What `kubectl apply -k` creates, with a volume; gives the directory that the jobs know as /train."""
    name = f"train-{namespace.name}"
    made = tmp_path / "train"
    made.mkdir()
    namespace.cluster.kubectl("create", "-f", "-", input=json.dumps({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                 "hostPath": {"path": str(made)}, "persistentVolumeReclaimPolicy": "Retain",
                 "claimRef": {"namespace": namespace.name, "name": "tfjob-examples"}}}))
    namespace.kubectl("apply", "-k", EXAMPLES)
    yield made
    namespace.cluster.kubectl("delete", "pv", name, "--wait=false")


@pytest.fixture
def run(deployed, namespace, directory):  # noqa: F811
    """A function that runs the job of a file, with the Python of the tests as its image, until it has succeeded."""
    def run(file):
        job = read(namespace, file, "--dry-run=client")
        for template in pods_of(job):
            put_on_real_node(template)
        namespace.create(job)
        name = job["metadata"]["name"]
        ended = until(lambda: conditions(namespace, name),
                      lambda found: "True" in (found.get("Succeeded"), found.get("Failed")))
        assert (ended["Created"], ended["Running"], ended.get("Succeeded")) == ("True", "False", "True"), ended
        assert namespace.get("tfjob", name)["status"]["replicaStatuses"] == {
            role: {"succeeded": spec.get("replicas", 1)} for role, spec in job["spec"]["tfReplicaSpecs"].items()}
    return run


def accuracies(namespace, pod):
    """What a Pod, which ends by itself, found on the digits that were not trained on."""
    return [float(found) for found in re.findall(r"test accuracy ([\d.]+)", namespace.kubectl("logs", "-f", pod))]


def test_the_api_server_takes_the_jobs_and_the_config_map_has_their_scripts(crd, namespace):  # noqa: F811
    namespace.kubectl("apply", "-k", EXAMPLES)
    assert sorted(path.stem for path in EXAMPLES.glob("*.yaml")) == sorted([*JOBS, "kustomization", "volume"])
    configured = namespace.get("configmap", "tfjob-examples")
    files = {*configured["data"], *configured["binaryData"]}
    assert files == {path.name for pattern in ("*.py", "*.gz") for path in EXAMPLES.glob(pattern)}
    for name in JOBS:
        for template in pods_of(read(namespace, name, "--dry-run=server", "--validate=strict")):
            container, = template["spec"]["containers"]
            script = pathlib.PurePath(container["command"][1])
            assert (container["image"], str(script.parent)) == ("tensorflow/tensorflow", "/examples") and script.name in files


@trains
@pytest.mark.parametrize("name, pod", [("simple", "tfjob-simple-worker-0"), ("dist-mnist", "dist-mnist-chief-0")])
def test_a_job_trains(run, namespace, name, pod):
    run(name)
    found = accuracies(namespace, pod)
    assert len(found) == EPOCHS and found[-1] >= LEARNED


@trains
def test_workers_keep_checkpoints_and_the_model_on_the_volume(run, namespace, directory):
    run("multi-worker")
    found = [accuracies(namespace, f"multi-worker-worker-{index}") for index in range(2)]
    assert found[0] == found[1] and found[0][-1] >= LEARNED
    assert (directory / "multi-worker" / f"ckpt-{EPOCHS}.index").exists()
    assert (directory / "multi-worker" / "model" / "saved_model.pb").exists()


@trains
def test_a_worker_writes_summaries_to_the_volume(run, namespace, directory):
    run("mnist-with-summaries")
    events, = (directory / "mnist-with-summaries" / "logs" / "worker").glob("events.out.tfevents.*")
    assert events.read_bytes().count(b"accuracy") == EPOCHS
    assert accuracies(namespace, "mnist-with-summaries-worker-0")[-1] >= LEARNED


@trains
def test_an_evaluator_tests_the_last_checkpoint(run, namespace, directory):
    run("chief-and-evaluator")
    of_evaluator, of_chief = (accuracies(namespace, f"chief-and-evaluator-{role}-0")[-1] for role in ("evaluator", "chief"))
    assert of_evaluator == of_chief >= LEARNED
    for role in ("chief", "evaluator"):
        assert list((directory / "chief-and-evaluator" / "logs" / role).glob("events.out.tfevents.*"))


@trains
def test_every_replica_computes_on_every_device(run, namespace):
    run("smoke-dist")
    said = namespace.kubectl("logs", "-f", "smoke-dist-chief-0")
    for replica in ("chief-0", "worker-0", "ps-0"):
        assert f"{replica} has used 3 devices" in said
