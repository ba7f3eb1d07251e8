"""A write that is on its way stands nothing still: an API server that answers changes of the job's record late."""

import signal
import threading
from contextlib import contextmanager

from conftest import LIMIT, read_until
from living_kube import LivingKube
from processes import interrupt, wait_until
from test_jobs_elsewhere import write_kubeconfig

CHANGES = ("PATCH", "PUT")


class HeldWrites:
    """Changes of the record wait for `release`; what else is changed meanwhile is noted."""

    def __init__(self):
        self.started, self.release, self.lease_renewed = threading.Event(), threading.Event(), threading.Event()
        self.n_under_way = self.most_under_way = 0
        self.lock = threading.Lock()

    def __call__(self, exchange):
        if exchange.method not in CHANGES:
            return False
        if exchange.path.endswith("/configmaps/story.job"):
            self._hold()
        elif exchange.path.endswith("/leases/story.job") and self.started.is_set():
            self.lease_renewed.set()
        return False

    def _hold(self):
        with self.lock:
            self.n_under_way += 1
            self.most_under_way = max(self.most_under_way, self.n_under_way)
        self.started.set()
        assert self.release.wait(LIMIT)
        with self.lock:
            self.n_under_way -= 1


def start_story(muster, tmp_path, kube, n_workers):
    muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
    return muster.start("run", "--on", "kubernetes", "--name", "story", "-w", n_workers, "--image", "i", "--", "true")


@contextmanager
def story_whose_writes_are_held(muster, tmp_path, n_workers):
    """Until the end of the block; then the job, which was interrupted in it, ends and leaves nothing behind."""
    with LivingKube(lambda labels: None) as kube:  # Pods run on
        held = kube.trouble = HeldWrites()
        job = start_story(muster, tmp_path, kube, n_workers)
        try:
            assert held.started.wait(LIMIT)
            yield job, held
        finally:
            held.release.set()
        assert job.wait(LIMIT) == 130
        assert kube.wait_until_empty(LIMIT) == []


def test_lease_lines_and_signals_go_on_while_a_write_is_on_its_way(muster, tmp_path):
    with story_whose_writes_are_held(muster, tmp_path, 2) as (job, held):
        read_until(job.stdout, "line 19")
        assert held.lease_renewed.wait(LIMIT)
        job.send_signal(signal.SIGINT)
        read_until(job.stderr, "stopping job 'story'")
    assert held.most_under_way == 1


def test_a_job_is_left_while_its_writes_are_on_their_way(muster, tmp_path):
    """The third Ctrl-C waits for no answer to what was started, and what was made is taken back."""
    with story_whose_writes_are_held(muster, tmp_path, 1) as (job, _):
        job.send_signal(signal.SIGINT)
        read_until(job.stderr, "stopping job 'story'")
        interrupt(job)
        interrupt(job)
        assert job.wait(LIMIT) == 130


class AnsweredWhenLeft:
    """The first supervisor's changes of the record are lost; the next one's is answered after it was asked to leave."""

    def __init__(self, kube):
        self.kube = kube
        self.is_killed, self.started, self.release = threading.Event(), threading.Event(), threading.Event()

    def __call__(self, exchange):
        is_record, is_lease = (exchange.path.endswith(f"/{kind}/story.job") for kind in ("configmaps", "leases"))
        if exchange.method not in CHANGES or not (is_record or is_lease):
            return False
        if is_record and not self.is_killed.is_set():
            exchange.reader.read(1)  # until the client has gone
            exchange.keeps_open = False
            return True
        if is_record:
            self.started.set()
            assert self.release.wait(LIMIT)
        elif self.started.is_set():  # the Lease is given back behind the answer
            before = self._version()
            wait_until(lambda: self.release.is_set() and self._version() != before)
        return False

    def _version(self):
        return self.kube.objects["configmaps", "story.job"]["metadata"]["resourceVersion"]


def test_the_code_of_leaving_is_that_of_the_signal_whatever_is_written_then(muster, tmp_path):
    with LivingKube(lambda labels: None) as kube:
        held = kube.trouble = AnsweredWhenLeft(kube)
        job = start_story(muster, tmp_path, kube, 1)
        read_until(job.stdout, "line 19")
        job.kill()
        job.wait(LIMIT)
        held.is_killed.set()
        attached = muster.start("attach", "kubernetes/ada/story")
        try:
            assert held.started.wait(LIMIT)
            attached.send_signal(signal.SIGINT)
            read_until(attached.stderr, "the job keeps running without a supervisor")
        finally:
            held.release.set()
        assert attached.wait(LIMIT) == 130
