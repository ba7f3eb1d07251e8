"""What a real cluster puts in the way of `muster operator`: quotas, Pod Security, webhooks, namespaces and jobs that go."""

import json
import select
import signal
import socket

import pytest

from conftest import LIMIT, until
from test_killed import Pods
from test_operator import conditions, crd, operator, tfjob  # noqa: F401
from test_operator_killed import ATTEMPT, simulated
from test_reasons import quota

HANGING = 64  # more Pods than calls of one namespace are under way at once (kube/request_limiter.h)


@pytest.fixture
def serve_both(muster, crd, namespace, other_namespace):  # noqa: F811
    process = muster.start("operator", "-n", f"{namespace.name},{other_namespace.name}")
    yield process
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT) == 0


def warnings(namespace, reason):
    return [event["message"] for event in namespace.list("events") if event["reason"] == reason]


def test_a_quota_is_named_once_and_waited_for(operator, namespace):  # noqa: F811
    namespace.create(quota(2))
    namespace.wait("resourcequota/few", "jsonpath={.status.hard.pods}=2")
    namespace.create(tfjob("four", Worker=simulated(4)))
    namespace.wait("tfjob/four", "jsonpath={.status.replicaStatuses.Worker.active}=2")
    found = until(lambda: warnings(namespace, "FailedCreatePod"), bool)
    assert "exceeded quota: few" in found[0] and conditions(namespace, "four")["Created"] == "True"
    namespace.kubectl("patch", "resourcequota", "few", "--patch", json.dumps({"spec": {"hard": {"pods": "9"}}}))
    namespace.wait("tfjob/four", "jsonpath={.status.replicaStatuses.Worker.active}=4")
    assert len(warnings(namespace, "FailedCreatePod")) <= 2  # of each Pod that was refused one at most


def test_what_pod_security_refuses_is_told_on_the_job(operator, namespace):  # noqa: F811
    namespace.secure_pods("enforce", "baseline")
    hostile = tfjob("hostile", Worker=simulated(2))
    hostile["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["hostNetwork"] = True
    namespace.create(hostile, tfjob("plain", Worker=simulated(1, run_for="10ms")))
    namespace.wait("tfjob/plain", "condition=Succeeded")
    until(lambda: namespace.kubectl("describe", "tfjob", "hostile"), lambda text: 'violates PodSecurity "baseline:latest"' in text)


def test_what_is_deleted_in_the_foreground_is_not_made_again(operator, namespace):  # noqa: F811
    namespace.create(tfjob("going", {"cleanPodPolicy": "None"}, Chief=simulated(1), Worker=simulated(5, "Always")))
    namespace.wait("tfjob/going", "jsonpath={.status.replicaStatuses.Worker.active}=5")
    made = Pods(namespace, ATTEMPT)
    namespace.kubectl("delete", "tfjob", "going", "--cascade=foreground")
    until(lambda: namespace.list("pods,services", "training.kubeflow.org/job-name=going"), lambda left: not left)
    names = [name for name, *_ in made.end()]
    assert len(names) == len(set(names)), names


def test_a_namespace_that_goes_takes_its_jobs_and_leaves_the_others(serve_both, namespace, other_namespace):
    other_namespace.create(tfjob("lost", {"cleanPodPolicy": "All"}, Worker=simulated(3, "Always")))
    other_namespace.wait("tfjob/lost", "jsonpath={.status.replicaStatuses.Worker.active}=3")
    namespace.create(tfjob("kept", Worker=simulated(2)))
    other_namespace.cluster.kubectl("delete", "namespace", other_namespace.name)
    namespace.wait("tfjob/kept", "jsonpath={.status.replicaStatuses.Worker.active}=2")
    namespace.create(tfjob("next", Worker=simulated(1, run_for="10ms")))
    namespace.wait("tfjob/next", "condition=Succeeded")
    assert serve_both.poll() is None


@pytest.fixture
def hanging_webhook(namespace):
    """Pods of the namespace wait for a webhook that takes connections, and never answers; gives its connections."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=HANGING)
    name = f"hangs-{namespace.name}"
    namespace.cluster.kubectl("create", "-f", "-", input=json.dumps({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": name},
        "webhooks": [{
            "name": "hangs.test.example", "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 30,
            "clientConfig": {"url": f"https://127.0.0.1:{listener.getsockname()[1]}/"},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace.name}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}]}]}))
    yield listener
    namespace.cluster.kubectl("delete", "validatingwebhookconfiguration", name)
    listener.close()


def test_a_webhook_that_hangs_in_one_namespace_holds_no_job_of_another(serve_both, namespace, other_namespace, hanging_webhook):
    namespace.create(tfjob("hangs", Worker=simulated(HANGING)))
    assert select.select([hanging_webhook], [], [], LIMIT)[0]
    connection, _ = hanging_webhook.accept()
    other_namespace.create(tfjob("goes", Worker=simulated(2, run_for="10ms")))
    other_namespace.wait("tfjob/goes", "condition=Succeeded")
    assert warnings(namespace, "FailedCreatePod") == [], "the webhook has timed out: the test has shown nothing"
    assert namespace.list("pods") == []
    connection.close()
