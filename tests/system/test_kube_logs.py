"""`muster logs` of a job that another machine supervises: its lines come from its Pods, and are shown while they come."""

import threading

import pytest

from conftest import LIMIT, read_line, read_until
from living_kube import LivingKube
from processes import wait_until
from test_jobs_elsewhere import write_kubeconfig


class Halves:
    """The logs of two Pods that are asked for what is there now; each comes in two parts, and the sender of the second waits."""

    def __init__(self, first, second):
        self.first, self.second = first, second
        self.go_on = threading.Event()

    def __call__(self, exchange):
        if not exchange.path.endswith("/log") or exchange.query.get("follow") == "true":
            return False
        index = exchange.path.split("/")[-2][-1]
        exchange.begin()
        self.send(exchange, self.first[index])
        if self.second[index]:
            assert self.go_on.wait(LIMIT)
        self.send(exchange, self.second[index])
        exchange.end()
        return True

    @staticmethod
    def send(exchange, seconds):
        for second in seconds:
            exchange.chunk(f"2026-01-02T03:04:{second:02}.000000000Z at {second}\n")


def pods_of(kube):
    return [body for (plural, _), body in kube.objects.items() if plural == "pods"]


def wait_until_stored(folder, *lines):
    """Until `muster logs` has these lines from the cluster, shown or not."""
    wait_until(lambda: set(lines) <= {line for path in folder.glob("*/*.log") for line in path.read_text().splitlines()})


@pytest.fixture
def elsewhere(muster, tmp_path):
    """What starts `muster logs` on another machine, and the cluster of the job."""
    with LivingKube(lambda labels: None) as kube:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 2, "--image", "i", "--", "true")
        read_until(job.stdout, "line 19")
        with kube.lock:
            assert kube.lock.wait_for(lambda: [pod["status"]["phase"] for pod in pods_of(kube)] == 2 * ["Running"], LIMIT)
        muster.environment["TMPDIR"] = str(tmp_path / "fetched")
        (tmp_path / "fetched").mkdir()
        yield lambda *words: muster.start("logs", "--state-dir", tmp_path / "other", "kubernetes/ada/story", *words), kube


def test_lines_are_shown_while_others_are_still_on_their_way(elsewhere):
    logs, kube = elsewhere
    halves = kube.trouble = Halves({"0": [1, 3], "1": [2]}, {"0": [6], "1": [4, 7]})
    shown = logs()
    try:
        assert [read_line(shown.stdout) for _ in range(2)] == ["worker-0 | at 1\n", "worker-1 | at 2\n"]
    finally:
        halves.go_on.set()
    rest, _ = shown.communicate(timeout=LIMIT)
    assert [line.split("at ")[1] for line in rest.splitlines()] == ["3", "4", "6", "7"]
    assert shown.returncode == 0


def test_a_log_that_is_whole_holds_nothing_back(elsewhere):
    logs, kube = elsewhere
    halves = kube.trouble = Halves({"0": [1, 2, 9], "1": [5]}, {"0": [], "1": [8]})
    shown = logs()
    try:
        assert [read_line(shown.stdout) for _ in range(3)] == ["worker-0 | at 1\n", "worker-0 | at 2\n", "worker-1 | at 5\n"]
    finally:
        halves.go_on.set()
    rest, _ = shown.communicate(timeout=LIMIT)
    assert rest == "worker-1 | at 8\nworker-0 | at 9\n"


def test_nothing_is_held_back_when_the_last_pod_is_known(elsewhere, tmp_path):
    """Logs are fetched of Pods that the server has named, when others may come that have older lines."""
    logs, kube = elsewhere
    halves = Halves({"0": [1, 2, 9], "1": [5]}, {"0": [], "1": [8]})

    def trouble(exchange):
        whole = exchange.chunk

        def chunk(data):
            if "initial-events-end" in data and any((tmp_path / "fetched").iterdir()):
                wait_until_stored(tmp_path / "fetched", "at 9", "at 5")
            whole(data)
        if exchange.path.endswith("/pods"):
            exchange.chunk = chunk
        return halves(exchange)

    kube.trouble = trouble
    shown = logs()
    try:
        assert [read_line(shown.stdout) for _ in range(3)] == ["worker-0 | at 1\n", "worker-0 | at 2\n", "worker-1 | at 5\n"]
    finally:
        halves.go_on.set()
    assert shown.communicate(timeout=LIMIT)[0] == "worker-1 | at 8\nworker-0 | at 9\n"


def test_a_replica_that_printed_nothing_holds_nothing_back(elsewhere, tmp_path):
    logs, kube = elsewhere
    halves = Halves({"0": [], "1": [5]}, {"0": [], "1": [8]})

    def trouble(exchange):
        whole = exchange.end

        def end():
            wait_until_stored(tmp_path / "fetched", "at 5")
            whole()
        if "-worker-0" in exchange.path:
            exchange.end = end
        return halves(exchange)

    kube.trouble = trouble
    shown = logs()
    try:
        assert read_line(shown.stdout) == "worker-1 | at 5\n"
    finally:
        halves.go_on.set()
    assert shown.communicate(timeout=LIMIT)[0] == "worker-1 | at 8\n"


def test_a_replica_that_has_no_log_is_said_at_the_end(elsewhere):
    logs, kube = elsewhere
    shown = logs("worker-7")
    assert "has no log of worker-7" in shown.communicate(timeout=LIMIT)[1]
    assert shown.returncode == 1


def test_the_reader_may_have_enough(elsewhere):
    """As `| head` does."""
    logs, kube = elsewhere
    kube.trouble = Halves({"0": [1], "1": [2]}, {"0": [3], "1": [4]})
    try:
        shown = logs()
        assert read_line(shown.stdout) == "worker-0 | at 1\n"
        shown.stdout.close()
        kube.trouble.go_on.set()
        shown.wait(LIMIT)
    finally:
        kube.trouble.go_on.set()
