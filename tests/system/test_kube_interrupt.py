"""A job is left in the end, whatever is waited for: Ctrl-C while the API server hangs, and what was refused until then."""

import contextlib
import os
import pty
import signal
import threading

import pytest

from conftest import LIMIT, read_until
from fake_kube import status
from living_kube import LivingKube
from processes import interrupt
from test_jobs_elsewhere import write_kubeconfig
from test_kube_foreign import document, put_record


class Hanging:
    """From `begin` on the server never answers what is about the job's record; each such call is met by an interrupt.

    The first one by two: the write goes on while the job is asked to stop now, and is left.
    """

    def __init__(self):
        self.job = None
        self.n_calls = 0

    def begin(self, job):
        self.job = job

    def __call__(self, exchange):
        if not self.job or not exchange.path.endswith("/configmaps/story.job"):
            return False
        self.n_calls += 1
        interrupt(self.job)
        if self.n_calls == 1:
            interrupt(self.job)
        exchange.reader.read(1)  # until the client has gone
        exchange.keeps_open = False
        return True


def test_interrupts_do_not_wait_for_a_server_that_hangs(muster, tmp_path):
    """To stop, to stop now, to leave: each gives up the call that it finds, up to the one that takes back what was made."""
    with LivingKube(lambda labels: None) as kube:  # Pods run on
        hanging = kube.trouble = Hanging()
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", "--", "true")
        read_until(job.stdout, "line 19")
        hanging.begin(job)
        job.send_signal(signal.SIGINT)
        assert job.wait(LIMIT) == 130
        assert hanging.n_calls <= 8
        stopping = "muster: stopping job 'story': its Pods have 30s to exit; press Ctrl-C again to kill them immediately\n"
        assert job.stderr.read().count(stopping) == 1


@pytest.mark.parametrize("call, n_interrupts", [
    (["run", "--on", "kubernetes", "--name", "story", "-w", "1", "--image", "i", "--", "true"], 2),
    (["attach", "kubernetes/ada/story"], 1),
])
def test_an_interrupt_while_the_rights_are_asked_for_ends_it_and_nothing_is_made(muster, tmp_path, call, n_interrupts):
    """Of a run the second one: the first waits for the answers. Reviews that are left are answered to nobody."""
    is_asked = threading.Event()

    def trouble(exchange):
        if exchange.path.endswith("/selfsubjectaccessreviews"):
            is_asked.set()
            exchange.wait_for_the_end()
            return True
        return False

    with LivingKube() as kube:
        put_record(kube, document())
        kube.trouble = trouble
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        job = muster.start(*call)
        assert is_asked.wait(LIMIT)
        for _ in range(n_interrupts):
            interrupt(job)
        assert job.wait(LIMIT) == 130
        assert not kube.created and sorted(kube.objects) == [("configmaps", "story.job")]


def run_in_trouble(muster, tmp_path, kube, trouble, code):
    """A whole job, which leaves nothing."""
    kube.trouble = trouble
    muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
    muster("run", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", "--", "true", code=code)
    assert kube.wait_until_empty(LIMIT) == []


AFTER_A_REFUSAL = 2  # seconds in which what was refused would have been tried again


def test_a_refused_service_is_not_made_when_the_job_has_ended(muster, tmp_path):
    """Its owner has been deleted, so it would be left to the cluster's garbage collector."""
    has_ended, made_late = threading.Event(), threading.Event()

    def trouble(exchange):
        if exchange.method == "POST" and exchange.path.endswith("/services"):
            if has_ended.is_set():
                made_late.set()
            exchange.answer(500, status(500, "InternalError", "not now"))
            return True
        if exchange.method == "DELETE" and exchange.path.endswith("/leases/story.job"):
            has_ended.set()
            made_late.wait(AFTER_A_REFUSAL)
        return False

    with LivingKube() as kube:
        run_in_trouble(muster, tmp_path, kube, trouble, code=0)
    assert has_ended.is_set() and not made_late.is_set()


def test_a_server_that_starts_anew_while_the_record_is_made_is_asked_what_became_of_it(muster, tmp_path):
    """The create was done, its answer is lost, and for a moment there is nobody to ask."""
    restarts = iter([True])

    def trouble(exchange):
        if exchange.method == "POST" and exchange.path.endswith("/configmaps") and next(restarts, False):
            kube.server.restart(None)
        return False

    with LivingKube() as kube:
        run_in_trouble(muster, tmp_path, kube, trouble, code=0)


LOOKS_OF_A_CREATE = 3  # whether it was done, before it is given up


def test_a_record_of_which_nobody_knows_is_taken_back(muster, tmp_path):
    """Its create is done and answered with a fault, and so are the looks for it, until it has been given up."""
    creates, looks = [], []

    def trouble(exchange):
        if exchange.method == "POST" and exchange.path.endswith("/configmaps"):
            creates.append(exchange)
            whole = exchange.answer
            exchange.answer = lambda *_: whole(504, "a proxy's time-out")
        elif exchange.method == "GET" and exchange.path.endswith("/configmaps/story.job"):
            looks.append(exchange)
            if len(looks) <= LOOKS_OF_A_CREATE:
                exchange.answer(500, status(500, "InternalError", "not now"))
                return True
        return False

    with LivingKube() as kube:
        run_in_trouble(muster, tmp_path, kube, trouble, code=3)
    assert (len(creates), len(looks)) == (1, LOOKS_OF_A_CREATE + 1)


def test_what_ctrl_c_does_is_said_when_a_run_begins_on_a_terminal(muster, tmp_path):
    """Once, and not where there are no keys: in the background, in a pipe, and to a muster that only looks on."""
    meant = "muster: Ctrl-C also stops the job on the cluster; to keep it running, close the terminal or start it with -d"
    call = ["run", "--on", "kubernetes", "-w", "1", "--image", "i"]
    with LivingKube() as kube:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        terminal, end = pty.openpty()
        job = muster.start(*call, "--name", "shown", "--", "true", stdout=end, stderr=end)
        os.close(end)
        shown = b""
        with contextlib.suppress(OSError):  # nobody has the other end open any more
            while piece := os.read(terminal, 65536):
                shown += piece
        os.close(terminal)
        assert job.wait(LIMIT) == 0
        assert shown.decode().count(meant) == 1
        piped = muster(*call, "--name", "piped", "--", "true", code=0)
        assert "Ctrl-C" not in piped.stderr
