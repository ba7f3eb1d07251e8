"""`muster attach` beside another muster that watches the job on a cluster."""

import json
import threading

from conftest import LIMIT, read_until
from living_kube import LivingKube
from test_jobs_elsewhere import write_kubeconfig


class AllAtOnce:
    """Changes of the job's record are told with its end, in one piece, to all who watch it from `begin` on."""

    def __init__(self):
        self.has_started = threading.Event()

    def __call__(self, exchange):
        if exchange.path.endswith("/configmaps") and "watch" in exchange.query:
            self._hold_back(exchange)
        return False

    def _hold_back(self, exchange):
        chunk, held = exchange.chunk, []

        def hold(line):
            if not self.has_started.is_set():
                chunk(line)
                return
            held.append(line)
            if json.loads(line)["type"] == "DELETED":
                chunk("".join(held))
                held.clear()

        exchange.chunk = hold


def test_who_looks_on_learns_how_the_job_ended_when_its_record_goes_in_the_same_moment(muster, tmp_path):
    with LivingKube(lambda labels: None) as kube:  # Pods run on
        watches = kube.trouble = AllAtOnce()
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", "--", "true")
        read_until(job.stdout, "line 19")
        looking = muster.start("attach", "kubernetes/ada/story")
        read_until(looking.stdout, "line 19")
        watches.has_started.set()
        kube.plan = lambda labels: 7
        kube.end_pods()
        assert job.wait(LIMIT) == 7
        assert looking.wait(LIMIT) == 7
        assert "ConfigMap 'story.job' was deleted" not in looking.stderr.read()
