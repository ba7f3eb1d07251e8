"""`run --fetch` where a node is slow to say, or cannot say, what became of a process: no Pod is deleted before its folders
are here. How a real cluster does it is in tests/cluster."""

import io
import signal
import tarfile
import threading
import time
import urllib.parse

import pytest

from conftest import LIMIT, read_until
from fake_kube import refuse
from living_kube import LivingKube, now
from test_exec import OUTPUT, SUCCESS, V5, failure
from test_jobs_elsewhere import write_kubeconfig
from websocket_server import accept, close, frame

LATE = 4  # seconds after which a kubelet says that a container has ended, or a copy begins


def archive():
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        member = tarfile.TarInfo("./step")
        member.size = len(b"last\n")
        tar.addfile(member, io.BytesIO(b"last\n"))
    return made.getvalue()


class KubeWithExec(LivingKube):
    """Pods run until their process is told to end from inside; `tell` answers that, and says whether the process has heard."""

    def __init__(self, tell, copy_after=0):
        super().__init__(lambda labels: None)
        self.tell, self.copy_after = tell, copy_after
        self.n_tellings = 0
        self.trouble = self.execute

    def execute(self, exchange):
        if not exchange.path.endswith("/exec"):
            return False
        command = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(exchange.target).query))["command"]
        if "kill -TERM" in command:
            self.n_tellings += 1
            self.tell(exchange)
        else:
            time.sleep(self.copy_after)
            say(exchange, OUTPUT + b"folder\n" + archive(), SUCCESS)
        return True

    def graces(self):
        """Of the deletions of Pods, in seconds."""
        return [exchange.json()["gracePeriodSeconds"] for exchange in self.server.exchanges
                if exchange.method == "DELETE" and "/pods/" in exchange.path]

    def end_training(self):
        def change(pod):
            ended = {"exitCode": 0, "startedAt": now(), "finishedAt": now(), "reason": "Completed"}
            pod["status"]["containerStatuses"] = [
                self._container(pod, {"terminated": ended}), {**self._container(pod, {"running": {}}), "name": "muster-keeper"}]
        self._change("pods", "story-worker-0", self.objects["pods", "story-worker-0"]["metadata"]["uid"], change)


def say(exchange, *messages):
    accept(exchange, V5)
    for message in messages:
        exchange.write(frame(message))
    close(exchange)


@pytest.fixture
def stopped(muster, tmp_path):
    """A job that is interrupted, and fetches what there is; gives what it has said."""
    def stop(kube, grace=30):
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i",
                           "--grace", f"{grace}s", "--fetch", f"worker-0:/models:{tmp_path / 'out'}", "--", "true")
        read_until(job.stdout, "line 19")
        job.send_signal(signal.SIGINT)
        said = job.communicate(timeout=LIMIT)[1]
        assert job.returncode == 128 + signal.SIGINT, said
        assert "fetched worker-0:/models: 1 file" in said
        assert (tmp_path / "out" / "step").read_text() == "last\n"
        assert not kube.wait_until_empty(LIMIT)
        return said
    return stop


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_shell_that_ends_with_the_process_that_it_told_has_told_it(stopped, number):
    """The kernel kills all of a container when its first process ends, unless that one did so before."""
    def tell(exchange):
        say(exchange, failure(128 + number))
        threading.Timer(LATE, kube.end_training).start()

    with KubeWithExec(tell) as kube:
        stopped(kube)
        assert kube.n_tellings == 1


def test_a_process_that_was_perhaps_not_told_is_told_again(stopped):
    answers = [refuse(500, reason="InternalError", message="the kubelet is restarting"),
               lambda exchange: say(exchange, OUTPUT),  # the connection is lost
               lambda exchange: (say(exchange, SUCCESS), kube.end_training())]

    with KubeWithExec(lambda exchange: answers.pop(0)(exchange)) as kube:
        assert "the process of Pod 'story-worker-0' cannot be asked to exit; trying again: " in stopped(kube)
        assert not answers


@pytest.mark.parametrize("tell", [lambda exchange: say(exchange, failure(1)), refuse(500, message="no")], ids=["deaf", "errors"])
def test_a_process_that_was_not_told_has_its_grace_period_when_its_pod_is_deleted(stopped, tell):
    """However long the copy took. Its folders are fetched as they are."""
    with KubeWithExec(tell, copy_after=LATE) as kube:
        stopped(kube, grace=3)
        assert kube.graces() == [3]


def test_a_job_that_is_stopped_at_once_is_fetched_as_it_is(stopped):
    """Nothing is repeated while the copy goes on."""
    with KubeWithExec(lambda exchange: say(exchange, failure(1)), copy_after=LATE) as kube:
        stopped(kube, grace=0)
        assert kube.n_tellings == 1
