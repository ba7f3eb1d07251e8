"""One cache of all jobs of a cluster (kube/job_cache) against a fake API server: each job's own objects are told to those that
follow it."""

import json

import pytest

from fake_kube import FakeKube, refuse
from kube_tool import KubeTool

KINDS = {"owners", "leases", "pods", "services", "networkpolicies", "files"}


class Cache(KubeTool):
    """The program that follows jobs, and what it has said so far."""

    def __init__(self, kube, *jobs):
        super().__init__("job_cache", kube.origin, *jobs)
        self.jobs, self.lines = jobs, []

    def until(self, condition):
        while not condition():
            self.lines.append(json.loads(self.line()))

    def until_synced(self):
        self.until(lambda: all(self.synced(job) == KINDS for job in self.jobs))

    def synced(self, job):
        return {line["synced"] for line in self.lines if line["job"] == job and "synced" in line}

    def of(self, job):
        return [line for line in self.lines if line["job"] == job]

    def there(self, job):
        """{(kind, name): the last line of it}, without what is gone."""
        last = {(line["kind"], line["name"]): line for line in self.of(job) if "kind" in line}
        return {key: line for key, line in last.items() if line["there"]}


@pytest.fixture
def kube():
    with FakeKube() as server:
        yield server


@pytest.fixture
def cache_of():
    caches = []

    def make(kube, *jobs):
        caches.append(Cache(kube, *jobs))
        return caches[-1]

    yield make
    for cache in caches:
        assert cache.end() == 0


def put(kube, plural, name, job, namespace="ada", phase=None, **labels):
    labels = {"app.kubernetes.io/managed-by": "muster", "muster/job": job, **labels}
    kube.put(plural, name, {"metadata": {"namespace": namespace, "labels": labels}, "status": {"phase": phase}})


def put_pod(kube, job, index, phase="Running", namespace="ada"):
    put(kube, "pods", f"{job}-worker-{index}", job, namespace, phase,
        **{"muster/role": "worker", "muster/index": str(index), "muster/attempt": "0"})


def test_each_job_has_its_own_objects(kube, cache_of):
    put(kube, "configmaps", "digits.job", "digits")
    put(kube, "configmaps", "digits.files-0", "digits", **{"muster/part": "files"})
    put(kube, "services", "digits", "digits")
    put(kube, "networkpolicies", "digits.network", "digits")
    put(kube, "leases", "digits.job", "digits")
    for index in range(3):
        put_pod(kube, "digits", index)
    put_pod(kube, "faces", 0)
    put_pod(kube, "digits", 7, namespace="eve")
    cache = cache_of(kube, "ada/digits", "eve/digits", "ada/nobody")
    cache.until_synced()
    assert set(cache.there("ada/digits")) == {("owners", "digits.job"), ("files", "digits.files-0"), ("services", "digits"),
                                              ("networkpolicies", "digits.network"),
                                              ("leases", "digits.job"), *(("pods", f"digits-worker-{i}") for i in range(3))}
    assert set(cache.there("eve/digits")) == {("pods", "digits-worker-7")}
    assert cache.there("ada/nobody") == {}


def test_a_change_is_told_to_the_job_that_it_is_of(kube, cache_of):
    put_pod(kube, "digits", 0, phase="Pending")
    cache = cache_of(kube, "ada/digits", "ada/faces")
    cache.until_synced()
    put_pod(kube, "digits", 0)
    put_pod(kube, "faces", 5)
    kube.remove("pods", "digits-worker-0")
    put_pod(kube, "faces", 6)
    cache.until(lambda: ("pods", "faces-worker-6") in cache.there("ada/faces"))
    pods = [(line["name"], line["there"], line.get("phase"), line["pods"]) for line in cache.of("ada/digits") if "kind" in line]
    assert pods == [("digits-worker-0", True, "Starting", 1), ("digits-worker-0", True, "Running", 1),
                    ("digits-worker-0", False, None, 0)]
    assert [line["pods"] for line in cache.of("ada/faces") if "kind" in line] == [1, 2]
    assert cache.there("ada/faces")["pods", "faces-worker-5"]["index"] == 5


def test_a_pod_that_loses_its_labels_is_gone(kube, cache_of):
    put_pod(kube, "digits", 0)
    cache = cache_of(kube, "ada/digits")
    cache.until_synced()
    put(kube, "pods", "digits-worker-0", "digits")
    cache.until(lambda: not cache.there("ada/digits"))


def test_there_is_one_watch_for_each_kind_however_many_jobs(kube, cache_of):
    cache = cache_of(kube, *(f"ada/job-{i}" for i in range(20)))
    cache.until_synced()
    assert len(kube.requests()) == len(KINDS)
    assert all("/namespaces/" not in path for _, path, _ in kube.requests())


def test_what_went_while_nobody_watched_is_told_after_the_next_list(kube, cache_of):
    for index in range(2):
        put_pod(kube, "digits", index)
    cache = cache_of(kube, "ada/digits")
    cache.until_synced()
    kube.remove("pods", "digits-worker-1")
    kube.forget_history()
    cache.until(lambda: set(cache.there("ada/digits")) == {("pods", "digits-worker-0")})


def test_trouble_of_a_watch_is_told_to_all(kube, cache_of):
    kube.watch_faults = [refuse(403, reason="Forbidden")]
    cache = cache_of(kube, "ada/digits", "ada/faces")
    cache.until_synced()
    for job in cache.jobs:
        assert len([line for line in cache.of(job) if "trouble" in line]) == 1
