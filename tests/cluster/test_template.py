"""The workshop of examples/template on a real Kubernetes: what `render` makes of it, `kubectl apply`, training, the page."""

import json
import sys

import pytest

from conftest import ROOT, python_pod, until
from needs import needs_tensorflow
from test_operator import crd, operator  # noqa: F401
from test_real_node import needs_python_of_the_system


def put_on_real_node(pod):
    """A Pod template of the example, with what stands in for its image: the tests' Python and the checkout."""
    here = python_pod("any")["spec"]
    container, = pod["spec"]["containers"]
    container.update(image=here["containers"][0]["image"], imagePullPolicy="Never", workingDir=str(ROOT),
                     command=[f"{sys.prefix}/bin/{container['command'][0]}", *container["command"][1:]])
    container["volumeMounts"] += here["containers"][0]["volumeMounts"]
    pod["spec"]["volumes"] += here["volumes"]
    pod["spec"].update(nodeSelector=here["nodeSelector"], terminationGracePeriodSeconds=1)


def pods_of(item):
    """Its Pod templates."""
    if item["kind"] == "TFJob":
        return [role["template"] for role in item["spec"]["tfReplicaSpecs"].values()]
    return [item["spec"]["template"]] if item["kind"] == "Deployment" else []


@pytest.fixture
def volume(namespace, tmp_path):
    """The volume that the template's claim is bound to."""
    name = f"models-{namespace.name}"
    (tmp_path / "models").mkdir()
    namespace.cluster.kubectl("create", "-f", "-", input=json.dumps({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"],
                 "hostPath": {"path": str(tmp_path / "models")}, "persistentVolumeReclaimPolicy": "Retain",
                 "claimRef": {"namespace": namespace.name, "name": "user1"}}}))
    yield name
    namespace.cluster.kubectl("delete", "pv", name, "--wait=false")


def get(namespace, service, path):
    """An answer of a Service of the namespace, by way of the API server; None as long as it has none."""
    done = namespace.cluster.try_kubectl("get", "--raw", f"/api/v1/namespaces/{namespace.name}/services/{service}/proxy/{path}")
    return done.stdout if done.returncode == 0 else None


@pytest.mark.long
@needs_tensorflow
@needs_python_of_the_system
def test_what_kubectl_applied_trains_and_the_page_has_the_model(muster, operator, namespace, volume):  # noqa: F811
    name = "training-distributed-user1"
    done = muster("render", "-f", ROOT / "examples" / "template" / "template.yaml", "--param", f"JOB_NAME={name}", "--param",
                  "IMAGE_NAME=training-user1", "--param", "BUCKET=user1", "--param", "WORKERS=2", "-p", "EPOCHS=2",
                  "-o", "json", code=0)
    objects = json.loads(done.stdout)
    for item in objects["items"]:
        for template in pods_of(item):
            put_on_real_node(template)
    namespace.kubectl("apply", "-f", "-", input=json.dumps(objects))
    until(lambda: {pod["metadata"]["name"] for pod in namespace.list("pods", f"training.kubeflow.org/job-name={name}")},
          lambda names: names == {f"{name}-{replica}" for replica in ("chief-0", "ps-0", "worker-0", "worker-1")})
    namespace.wait(f"tfjob/{name}", "condition=Succeeded")
    said = namespace.kubectl("logs", "-f", f"{name}-chief-0").splitlines()
    exported = next(line.rpartition("/")[2] for line in said if line.startswith("exported /models/export/"))
    until(lambda: get(namespace, "user1-web:80", "model"), lambda answer: answer and json.loads(answer) == {"model": exported})
    until(lambda: get(namespace, "user1-tensorboard:6006", "data/runs"), lambda answer: answer and json.loads(answer) == [name])
