"""A mirror of a cluster's Pods (kube/mirror) against a fake API server: whatever happens to its watches, it ends up right."""

import functools
import json
import os
import random

import pytest

from fake_kube import (FakeKube, byte_by_byte, cut, ends_at_once, fail_in_the_stream, half_a_line,
                       no_event, refuse, silence)
from kube_tool import KubeTool


class Mirror(KubeTool):
    """The program that mirrors, and what it has said so far."""

    def __init__(self, kube, silence_limit=None):
        environment = dict(os.environ)
        if silence_limit:
            environment["MIRROR_SILENCE"] = str(silence_limit)
        super().__init__("kube_mirror", kube.origin, env=environment)
        self.pods, self.lines, self.n_synced = {}, [], 0

    def next(self):
        line = json.loads(self.line())
        self.lines.append(line)
        if "synced" in line:
            self.n_synced += 1
            assert line["synced"] == len(self.pods)
        elif line.get("phase") is not None:
            self.pods[line["name"]] = line["phase"]
        elif "name" in line:
            del self.pods[line["name"]]
        return line

    def until(self, condition):
        while not condition(self):
            self.next()

    def until_synced(self, times=1):
        self.until(lambda mirror: mirror.n_synced >= times)

    def troubles(self):
        return [line["trouble"] for line in self.lines if "trouble" in line]


@pytest.fixture
def kube():
    with FakeKube() as server:
        yield server


@pytest.fixture
def mirror_of():
    mirrors = []

    def make(kube, **options):
        mirrors.append(Mirror(kube, **options))
        return mirrors[-1]

    yield make
    for mirror in mirrors:
        assert mirror.end() == 0


def put(kube, name, phase):
    kube.put("pods", name, {"status": {"phase": phase}})


def kinds_of(kube):
    """The kind of each reading request so far."""
    return ["stream" if q.get("sendInitialEvents") else "watch" if q.get("watch") else "list"
            for _, _, q in kube.requests()]


def test_objects_come_as_a_stream_and_changes_after_them(kube, mirror_of):
    for i in range(3):
        put(kube, f"worker-{i}", "Pending")
    kube.put("configmaps", "worker-9")
    mirror = mirror_of(kube)
    mirror.until_synced()
    assert mirror.pods == {f"worker-{i}": "Pending" for i in range(3)}
    put(kube, "worker-1", "Running")
    kube.remove("pods", "worker-0")
    put(kube, "worker-7", "Pending")
    mirror.until(lambda m: m.pods == {"worker-1": "Running", "worker-2": "Pending", "worker-7": "Pending"})
    [(_, path, query)] = kube.requests()
    assert path == "/api/v1/namespaces/default/pods"
    assert (query["resourceVersionMatch"], query["allowWatchBookmarks"]) == ("NotOlderThan", "true")
    assert 300 <= int(query["timeoutSeconds"]) <= 600
    assert mirror.troubles() == []


def test_a_server_that_cannot_stream_a_list_gives_pages(kube, mirror_of):
    kube.supports_watch_list = False
    for i in range(250):
        put(kube, f"worker-{i}", "Running")
    mirror = mirror_of(kube)
    mirror.until_synced()
    assert len(mirror.pods) == 250
    put(kube, "worker-0", "Succeeded")
    mirror.until(lambda m: m.pods["worker-0"] == "Succeeded")
    assert kinds_of(kube) == ["stream", "list", "list", "list", "watch"]
    assert kube.requests()[-1][2]["resourceVersion"] == "350"
    assert mirror.troubles() == []


def test_what_happens_between_pages_is_seen_after_them(mirror_of, kube):
    def happens_before_the_second_page(exchange):
        if exchange.query.get("continue") and ("pods", "a-first") not in kube.objects:
            put(kube, "a-first", "Running")
        return False

    kube.supports_watch_list = False
    for i in range(150):
        put(kube, f"worker-{i}", "Running")
    kube.faults = [happens_before_the_second_page] * 3
    mirror = mirror_of(kube)
    mirror.until(lambda m: len(m.pods) == 151)
    assert [line["synced"] for line in mirror.lines if "synced" in line] == [150]


def test_large_objects_come_one_by_one(kube, mirror_of):
    """A hundred of them are more than an answer may be: whoever may make some must not blind who looks at all."""
    kube.supports_watch_list = False
    for i in range(20):
        kube.put("pods", f"worker-{i}", {"metadata": {"annotations": {"large": "x" * 1000000}}, "status": {"phase": "Running"}})
    mirror = mirror_of(kube)
    mirror.until_synced()
    assert len(mirror.pods) == 20
    assert [query["limit"] for _, _, query in kube.requests() if "limit" in query] == ["100"] + ["1"] * 20
    assert mirror.troubles() == []


HOSTILE = {"nul": "\0", "nul\0": 1, "large": 10**20, "deep": functools.reduce(lambda inner, _: [inner], range(200), 1)}


@pytest.mark.parametrize("supports_watch_list", [True, False])
def test_an_object_that_cannot_be_read_does_not_hide_the_others(kube, mirror_of, supports_watch_list):
    kube.supports_watch_list = supports_watch_list
    put(kube, "worker-0", "Running")
    kube.put("pods", "worker-1", {"spec": HOSTILE, "status": {"phase": "Running"}})
    mirror = mirror_of(kube)
    mirror.until_synced()
    assert mirror.pods == {"worker-0": "Running", "worker-1": "Running"}
    kube.put("pods", "worker-1", {"spec": HOSTILE, "status": {"phase": "Succeeded"}})
    put(kube, "worker-0", "Succeeded")
    mirror.until(lambda m: m.pods == {"worker-0": "Succeeded", "worker-1": "Succeeded"})
    assert mirror.troubles() == []


def test_an_error_in_the_stream_of_a_list_means_pages(kube, mirror_of):
    kube.watch_faults.append(fail_in_the_stream(500))
    put(kube, "worker-0", "Running")
    mirror = mirror_of(kube)
    mirror.until_synced()
    assert kinds_of(kube)[:2] == ["stream", "list"]
    assert mirror.pods == {"worker-0": "Running"}


def test_a_watch_that_ends_goes_on_where_it_was(kube, mirror_of):
    put(kube, "worker-0", "Running")
    mirror = mirror_of(kube)
    mirror.until_synced()
    put(kube, "worker-1", "Running")
    mirror.until(lambda m: "worker-1" in m.pods)
    kube.end_watches()
    put(kube, "worker-2", "Running")
    mirror.until(lambda m: "worker-2" in m.pods)
    assert kinds_of(kube)[:2] == ["stream", "watch"]
    assert int(kube.requests()[1][2]["resourceVersion"]) >= 102
    assert mirror.n_synced == 1


def test_a_version_that_is_no_longer_kept_means_to_list_anew(kube, mirror_of):
    put(kube, "worker-0", "Running")
    put(kube, "worker-1", "Running")
    mirror = mirror_of(kube)
    mirror.until_synced()
    kube.watch_faults.append(refuse(410, reason="Expired"))
    with kube.lock:  # the list that follows is of what is left
        kube.end_watches()
        kube.remove("pods", "worker-0")
        kube.forget_history()
    mirror.until_synced(2)
    mirror.until(lambda m: m.pods == {"worker-1": "Running"})
    assert kinds_of(kube)[-1] == "stream"
    assert mirror.troubles() == []


def test_a_server_that_dies_and_comes_back_is_found_again(kube, mirror_of):
    put(kube, "worker-0", "Running")
    mirror = mirror_of(kube)
    mirror.until_synced()
    kube.watch_faults.append(refuse(503))
    kube.cut_watches()
    put(kube, "worker-0", "Failed")
    mirror.until(lambda m: m.pods == {"worker-0": "Failed"})
    assert "lost" in mirror.troubles()[0]
    assert mirror.n_synced == 1


def test_a_silent_connection_is_given_up(kube, mirror_of):
    put(kube, "worker-0", "Running")
    kube.watch_faults.append(silence)
    mirror = mirror_of(kube, silence_limit=300)
    mirror.until_synced()
    assert "no data for 300ms" in mirror.troubles()[0]


def test_a_slow_server_is_only_slow(kube, mirror_of):
    put(kube, "worker-0", "Running")
    kube.watch_faults.append(byte_by_byte)
    mirror = mirror_of(kube)
    mirror.until_synced()
    assert mirror.pods == {"worker-0": "Running"}
    assert mirror.troubles() == []


def test_who_may_not_look_is_told_why_and_goes_on_trying(kube, mirror_of):
    kube.faults.append(refuse(403, reason="Forbidden", message='pods is forbidden: User "eve" cannot watch resource '
                              '"pods" in API group "" in the namespace "default"'))
    mirror = mirror_of(kube)
    mirror.until_synced()
    assert mirror.troubles()[0].endswith('resources: ["pods"], verbs: ["watch"]}')


FAULTS = [cut, half_a_line, no_event, ends_at_once, fail_in_the_stream(500), fail_in_the_stream(410, "Expired"),
          refuse(410, reason="Expired"), refuse(429, "Retry-After: 0"), refuse(500), refuse(504), byte_by_byte]


def test_whatever_happens_in_whatever_order_it_ends_up_right(mirror_of):
    stories = []
    for seed in range(12):
        kube, choose = FakeKube(), random.Random(seed)
        kube.supports_watch_list = choose.random() < 0.7
        stories.append((kube, choose, mirror_of(kube)))
        kube.watch_faults += choose.choices(FAULTS, k=1)
        for i in range(choose.randrange(250)):
            put(kube, f"worker-{i}", "Pending")
    for kube, choose, mirror in stories:
        mirror.until_synced()
        n_faults = 0
        for _ in range(30):
            name = f"worker-{choose.randrange(40)}"
            if choose.random() < 0.3 and ("pods", name) in kube.objects:
                kube.remove("pods", name)
            else:
                put(kube, name, choose.choice(["Running", "Succeeded", "Failed"]))
            if choose.random() < 0.1 and n_faults < 2:
                n_faults += 1
                kube.watch_faults.append(choose.choice(FAULTS))
                kube.forget_history()
                choose.choice([kube.end_watches, kube.cut_watches])()
        put(kube, "last", "Running")
    for kube, _, mirror in stories:
        mirror.until(lambda m: "last" in m.pods)
        truth = {name: body["status"]["phase"] for (kind, name), body in kube.objects.items() if kind == "pods"}
        mirror.until(lambda m, truth=truth: m.pods == truth)
        kube.close()
