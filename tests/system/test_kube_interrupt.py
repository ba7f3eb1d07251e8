"""Ctrl-C while the API server hangs: a job is left in the end, whatever is waited for."""

import signal
import sys

import pytest

from conftest import LIMIT, ROOT, read_line

sys.path.insert(0, str(ROOT / "tests" / "fake_kube"))

from living_kube import LivingKube  # noqa: E402
from test_jobs_elsewhere import write_kubeconfig  # noqa: E402

pytestmark = pytest.mark.sanitize


class Hanging:
    """From `begin` on the server never answers what is about the job's record; each such call is sent an interrupt."""

    def __init__(self):
        self.job = None
        self.n_calls = 0

    def begin(self, job):
        self.job = job

    def __call__(self, exchange):
        if not self.job or not exchange.path.endswith("/configmaps/story.job"):
            return False
        self.n_calls += 1
        self.job.send_signal(signal.SIGINT)
        exchange.reader.read(1)  # until the client has gone
        exchange.keeps_open = False
        return True


def test_interrupts_do_not_wait_for_a_server_that_hangs(muster, tmp_path):
    """To stop, to stop now, to leave: each gives up the call that it finds, up to the one that takes back what was made."""
    with LivingKube(lambda labels: None) as kube:  # Pods run on
        hanging = kube.trouble = Hanging()
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", "--", "true")
        while "line 19" not in read_line(job.stdout):
            pass
        hanging.begin(job)
        job.send_signal(signal.SIGINT)
        assert job.wait(LIMIT) == 130
        assert hanging.n_calls <= 8
