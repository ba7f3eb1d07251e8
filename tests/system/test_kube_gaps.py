"""What a job made on a cluster and what was gone before the watch showed it: a bookmark says that it would be shown by now."""

import json
import re
import threading

import pytest

from conftest import LIMIT
from fake_kube import FakeKube
from living_kube import LivingKube
from processes import wait_until
from test_jobs_elsewhere import write_kubeconfig


class KubeWithGap(LivingKube):
    """An object of this kind and name, the one of this number, is never shown: when its client knows that it was made, there is
    a bookmark."""

    def __init__(self, plural, name, said, begins, plan, number):
        self.plural, self.name, self.said, self.begins, self.number = plural, name, said, begins, number
        self.uids = []
        super().__init__(plan)
        self.trouble = self._with_gap

    def _with_gap(self, exchange):
        if exchange.method == "GET" and exchange.path.endswith(f"/{self.plural}"):
            chunk = exchange.chunk
            exchange.chunk = lambda line: self._tell(exchange, chunk, line)
        return False

    def _tell(self, exchange, chunk, line):
        metadata = json.loads(line)["object"]["metadata"]
        uid = metadata.get("uid")
        is_new = metadata.get("name") == self.name and uid not in self.uids
        if is_new:
            self.uids.append(uid)
        if uid not in self.uids[self.number:self.number + 1]:
            chunk(line)
        elif is_new:
            with self.lock:
                del self.objects[self.plural, self.name]
            self.until_said(self.begins, f"create {self.plural}/ada/{self.name}: 201")
            FakeKube.bookmark(exchange, metadata["resourceVersion"])

    def until_said(self, *words):
        """One behind the other."""
        wait_until(lambda: re.search(".*".join(words), self.said.read_text(), re.DOTALL))

    def until_made(self, plural, times):
        with self.lock:
            assert self.lock.wait_for(lambda: [made for made, _ in self.created].count(plural) == times, LIMIT)


@pytest.fixture
def run(muster, tmp_path):
    """Runs a job with such a gap; gives what it said. `meanwhile` is called with the cluster."""
    said = tmp_path / "said"

    def run_with_gap(plural, name, begins, plan, code, meanwhile=lambda kube: None, number=1):
        with KubeWithGap(plural, name, said, begins, plan, number) as kube, open(said, "w", encoding="utf-8") as stderr:
            muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
            other = threading.Thread(target=meanwhile, args=(kube,))
            other.start()
            muster("run", "-v", "--on", "kubernetes", "--name", "story", "-w", 2, "--max-restarts", 1, "--image", "i", "--",
                   "true", code=code, stderr=stderr)
            other.join()
        return said.read_text()
    return run_with_gap


def test_a_pod_that_was_never_shown_has_disappeared(run):
    def plan(labels):
        return 1 if (labels["muster/index"], labels["muster/attempt"]) == ("1", "0") else None
    assert "worker-1 disappeared (attempt 1)" in run("pods", "story-worker-1", "start worker-1, attempt 1", plan, 1)


def test_a_service_that_was_never_shown_is_made_again(run):
    def lose_two(kube):
        kube.until_said("services of namespace ada are cached")
        kube.until_said("create services/ada/story: 201")
        kube.remove("services", "story")
        kube.until_made("services", 3)
        kube.plan = lambda labels: 0
        kube.end_pods()
    run("services", "story", "the Service 'story' of the job was deleted", lambda labels: None, 0, lose_two)


def test_that_a_service_was_deleted_is_told_though_it_was_never_shown(run):
    def end(kube):
        kube.until_made("services", 2)
        kube.plan = lambda labels: 0
        kube.end_pods()
    assert "the Service 'story' of the job was deleted; creating it again" in run(
        "services", "story", "", lambda labels: None, 0, end, number=0)
