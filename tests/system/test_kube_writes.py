"""What a job's ConfigMap keeps, and how often it is written, on an API server that counts."""

import json
import signal

import pytest

from conftest import LIMIT, read_until
from living_kube import LivingKube
from test_jobs_elsewhere import write_kubeconfig

pytestmark = pytest.mark.unsanitized

OWNER = ("configmaps", "story.job")



class Writes:
    """What was asked to be changed of the record."""

    def __init__(self):
        self.changes = []

    def __call__(self, exchange):
        if exchange.method == "PATCH" and exchange.path.endswith("/configmaps/story.job"):
            self.changes.append(exchange.json()["data"])
        return False


def data_of(kube):
    return kube.objects[OWNER]["data"] if OWNER in kube.objects else {}


def wait_for_summary(kube, key, value):
    with kube.lock:
        assert kube.lock.wait_for(lambda: json.loads(data_of(kube).get("summary", "{}")).get(key) == value, LIMIT)


def test_each_write_changes_something_and_a_start_is_a_few(muster, tmp_path):
    with LivingKube(lambda labels: None) as kube:  # Pods run on
        writes = kube.trouble = Writes()
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 40, "--image", "i", "--", "true")
        wait_for_summary(kube, "running", 40)
        status = json.loads(data_of(kube)["status"])
        n_writes = len(writes.changes)
        job.send_signal(signal.SIGINT)
        assert job.wait(LIMIT) == 130
    assert status["replicas"] == [{"role": "worker", "indices": "0-39", "attempt": 0, "state": "Started", "restarts": 0}]
    assert "replicaStatuses" not in status
    # That it runs, and that all of it runs; more only where that takes longer than a few seconds.
    assert n_writes <= 4
    known = {}
    for change in writes.changes:
        assert change and all(known.get(key) != text for key, text in change.items())
        known.update(change)


def test_a_client_lays_the_pods_over_what_is_kept(muster, tmp_path):
    with LivingKube(lambda labels: None) as kube:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 2, "--image", "i", "--", "true")
        wait_for_summary(kube, "running", 2)
        status = muster.job("story")["status"]
        read_until(job.stdout, "line 1")
        job.send_signal(signal.SIGINT)
        assert job.wait(LIMIT) == 130
    assert status["replicaStatuses"] == {"Worker": {"active": 2}}
    for index, replica in enumerate(status["replicas"]):
        assert (replica["role"], replica["index"], replica["attempt"]) == ("worker", index, 0)
        assert (replica["state"], replica["node"], replica["pod"]) == ("Running", "node-0", f"story-worker-{index}")
        assert replica["address"].startswith(f"story-worker-{index}.story.")
        assert replica["startTime"]


def test_what_cannot_be_read_is_an_error(muster, tmp_path):
    with LivingKube(lambda labels: None) as kube:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 2, "--image", "i", "--", "true")
        wait_for_summary(kube, "running", 2)
        job.kill()
        job.wait(LIMIT)
        with kube.lock:
            body = kube.objects[OWNER]
            status = json.loads(body["data"]["status"])
            status["replicas"][0]["attempt"] = [1, 2, 3]
            kube.put(*OWNER, {**body, "data": {**body["data"], "status": json.dumps(status)}})
        done = muster("status", "kubernetes/default/story", code=2)
        assert "the status of job 'story' cannot be read: status.replicas[0].attempt: expected" in done.stderr
