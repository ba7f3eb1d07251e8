"""Gang scheduling of `muster operator` on the real control plane: by Kubernetes' own scheduler, and by what others of that kind are
shown. Their schedulers are not there: a test plays what they would do."""

import json
import signal

import pytest

from conftest import LIMIT, until
from test_operator import conditions, crd, tfjob  # noqa: F401

VOLCANO = "scheduling.volcano.sh"
PLUGINS = "scheduling.x-k8s.io"


def pod_group_crd(group, version):
    """What we need of theirs: any spec and status."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"podgroups.{group}", "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"}},
            "spec": {"group": group, "scope": "Namespaced",
                     "names": {"kind": "PodGroup", "listKind": "PodGroupList", "plural": "podgroups", "singular": "podgroup"},
                     "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}


@pytest.fixture
def crds(cluster):
    for group, version in ((VOLCANO, "v1beta1"), (PLUGINS, "v1alpha1")):
        cluster.kubectl("apply", "-f", "-", input=json.dumps(pod_group_crd(group, version)))
        cluster.until_established(f"podgroups.{group}")


@pytest.fixture
def serve(muster, crd, namespace):  # noqa: F811
    started = []

    def start(*options):
        started.append(muster.start("operator", "-n", namespace.name, *options))
    yield start
    for process in started:
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT) == 0


def role(replicas, cpu="1", annotations=None, **spec):
    """On simulated nodes, of which each has 1000 processors."""
    container = {"name": "tensorflow", "image": "registry.test/model:1", "resources": {"requests": {"cpu": cpu}}}
    return {"replicas": replicas, "restartPolicy": "ExitCode",
            "template": {"metadata": {"annotations": annotations or {}},
                         "spec": {"containers": [container], "nodeSelector": {"type": "simulated"},
                                  "tolerations": [{"operator": "Exists"}], **spec}}}


def pods(namespace):
    return namespace.list("pods")


def test_kubernetes_places_all_pods_of_a_job_or_none(serve, namespace):
    serve("--gang-scheduler-name", "kubernetes")
    namespace.create(tfjob("large", Worker=role(5, cpu="600")))  # one on each of 4 nodes would have room
    until(lambda: [condition["reason"] for pod in pods(namespace) for condition in pod["status"].get("conditions", [])
                   if condition["type"] == "PodScheduled"],
          lambda reasons: len(reasons) == 5 and set(reasons) <= {"Unschedulable", "SchedulerError"})
    namespace.create(tfjob("small", Worker=role(3)))
    namespace.wait("tfjob/small", "condition=Running")
    assert not [pod for pod in pods(namespace) if pod["metadata"]["name"].startswith("large") and pod["spec"].get("nodeName")]
    group = namespace.get("podgroups.scheduling.k8s.io", "small")
    assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 3}}
    namespace.kubectl("patch", "tfjob", "large", "--type=merge", "-p", '{"spec": {"runPolicy": {"suspend": true}}}')
    namespace.wait("podgroups.scheduling.k8s.io/large", "delete")
    smaller = {"runPolicy": {"suspend": False}, "tfReplicaSpecs": {"Worker": {"replicas": 4}}}
    namespace.kubectl("patch", "tfjob", "large", "--type=merge", "-p", json.dumps({"spec": smaller}))
    namespace.wait("tfjob/large", "condition=Running")


@pytest.mark.long
def test_a_worker_that_kubernetes_placed_with_its_peers_is_replaced_when_they_have_ended(serve, namespace):
    serve("--gang-scheduler-name", "kubernetes")
    namespace.create(tfjob("uneven", Chief=role(1), Worker=role(1, annotations={"simulate/run-for": "1s"})))
    namespace.until_phase("uneven-worker-0", "Succeeded")
    first = namespace.get("pod", "uneven-chief-0")["metadata"]["uid"]
    namespace.kubectl("delete", "pod", "uneven-chief-0")
    assert namespace.until_phase("uneven-chief-0", "Running")["metadata"]["uid"] != first


def test_volcano_says_when_pods_may_come(serve, crds, namespace):
    serve("--gang-scheduler-name", "volcano")
    namespace.create(tfjob("queued", {"schedulingPolicy": {"queue": "research"}}, Worker=role(2, schedulerName="default-scheduler")))
    group = f"podgroups.{VOLCANO}/queued"
    namespace.wait(group, "create")
    assert namespace.get(*group.split("/"))["spec"] == {"minMember": 2, "minResources": {"cpu": "2"}, "queue": "research"}
    assert pods(namespace) == []
    namespace.kubectl("patch", group, "--type=merge", "-p", '{"status": {"phase": "Inqueue"}}')
    namespace.wait("tfjob/queued", "condition=Running")
    assert {pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] for pod in pods(namespace)} == {"queued"}
    namespace.kubectl("scale", "tfjob", "queued", "--replicas=3")
    namespace.wait(group, "jsonpath={.spec.minMember}=3")


@pytest.mark.long
def test_a_scheduler_with_its_plugins_finds_the_pod_group_of_a_job(serve, crds, namespace):
    serve("--gang-scheduler-name", "default-scheduler")
    namespace.create(tfjob("labelled", Worker=role(2, annotations={"simulate/run-for": "1s"})))
    namespace.wait("tfjob/labelled", "condition=Succeeded")
    namespace.wait(f"podgroups.{PLUGINS}/labelled", "delete")
    assert {pod["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] for pod in pods(namespace)} == {"labelled"}
    assert conditions(namespace, "labelled")["Succeeded"] == "True"
