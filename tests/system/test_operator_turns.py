"""`muster operator` with more to make than a server takes at once: what is told of jobs does not wait behind it."""

import signal
import threading

import pytest

from conftest import LIMIT
from fake_kube import NAMESPACE
from living_kube import LivingKube, now
from processes import wait_until
from test_jobs_elsewhere import write_kubeconfig
from tfjobs import kube, serve  # noqa: F401

AT_ONCE = 16  # statuses of one namespace (reconcile/queue.h)
QUEUE_TURNS = 4  # of so many one is of a job that has not begun
MANY = 100  # more than there are calls under way at once (http/client.h)


def add_tfjob(kube, name, workers, namespace=NAMESPACE):
    template = {"spec": {"containers": [{"name": "tensorflow", "image": "i"}]}}
    kube.put("tfjobs", name, {
        "apiVersion": "kubeflow.org/v1", "kind": "TFJob",
        "metadata": {"uid": f"00000000-0000-4000-9000-{len(kube.history):012}", "creationTimestamp": now(), "namespace": namespace},
        "spec": {"tfReplicaSpecs": {"Worker": {"replicas": workers, "template": template}}}})


def until_created(kube, name):
    with kube.lock:
        assert kube.lock.wait_for(lambda: "conditions" in (kube.objects["tfjobs", name].get("status") or {}), LIMIT)


@pytest.fixture
def held(muster, tmp_path):
    """A cluster that makes no Pod and no Service until `release`, and an operator of it."""
    release, asked = threading.Event(), threading.Semaphore(0)

    def hold(exchange):
        if exchange.method == "POST" and exchange.path.rsplit("/", 1)[1] in ("pods", "services"):
            asked.release()
            assert release.wait(LIMIT)
        return False

    with LivingKube(lambda labels: None) as kube:
        kube.trouble, kube.release, kube.asked = hold, release, asked
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        operator = muster.start("operator", "-n", NAMESPACE)
        yield kube
        release.set()
        operator.send_signal(signal.SIGTERM)
        assert operator.wait(LIMIT) == 0


def test_a_job_is_told_of_while_hundreds_of_services_wait(held):
    add_tfjob(held, "large", MANY)
    assert held.asked.acquire(timeout=LIMIT)
    add_tfjob(held, "small", 1)
    until_created(held, "small")
    held.release.set()
    with held.lock:
        assert held.lock.wait_for(lambda: sum(kind in ("pods", "services") for kind, _ in held.objects) == 2 * (MANY + 1),
                                  LIMIT)


def test_the_first_job_waits_for_no_list(held):
    """Pods and Services are known before it is there."""
    wait_until(lambda: {"pods", "services"} <= {path.rsplit("/", 1)[1] for _, path, _ in held.requests()})


def test_statuses_that_are_not_answered_hold_up_no_other_namespace(muster, tmp_path):
    """More of them than calls are made at once."""
    release = threading.Event()

    def hold(exchange):
        assert not (exchange.path.endswith("/status") and "/tfjobs/slow-" in exchange.path) or release.wait(LIMIT)
        return False

    with LivingKube(lambda labels: None) as kube:
        kube.trouble = hold
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        for index in range(MANY):
            add_tfjob(kube, f"slow-{index}", 1)
        operator = muster.start("operator")
        wait_until(lambda: sum(path.endswith("/status") for _, path, _ in kube.requests()) >= AT_ONCE)
        add_tfjob(kube, "quick", 1, "other")
        until_created(kube, "quick")
        release.set()
        operator.send_signal(signal.SIGTERM)
        assert operator.wait(LIMIT) == 0


def test_a_job_that_has_begun_waits_for_few_that_have_not(kube, serve):
    """Statuses of jobs to come are answered one by one, so that the next comes after the one before."""
    held, answers = threading.Semaphore(0), threading.Semaphore(0)

    def hold(exchange):
        if exchange.path.endswith("/status") and "/tfjobs/new-" in exchange.path:
            held.release()
            assert answers.acquire(timeout=LIMIT)
        return False

    def written():
        """The jobs whose statuses were written, in order."""
        return [path.split("/")[-2] for _, path, _ in kube.requests() if path.endswith("/status")]

    kube.trouble = hold
    kube.add("begun", Worker=1)
    end = serve()
    kube.condition("begun", "Running")
    for index in range(MANY):
        kube.add(f"new-{index}", Worker=1)
    for _ in range(AT_ONCE):
        assert held.acquire(timeout=LIMIT)
    n_before = len(written())
    kube.end_pods_with(0)
    kube.until(lambda objects: "ExitedWithCode" in kube.events())  # the operator has seen it
    while "begun" not in (since := written()[n_before:]):
        answers.release()
        wait_until(lambda: len(written()) > n_before + len(since))
    assert since.index("begun") <= QUEUE_TURNS  # and the AT_ONCE that were under way
    kube.trouble = lambda exchange: False
    answers.release(MANY)
    kube.condition("begun", "Succeeded")
    end()


def test_the_lease_waits_behind_no_status(muster, tmp_path):
    """As many statuses as are written at once are not answered; the Lease is renewed all the same."""
    release = threading.Event()

    def hold(exchange):
        assert not exchange.path.endswith("/status") or release.wait(LIMIT)
        return False

    def renewals(kube):
        return sum(method == "PATCH" and "/leases/" in path for method, path, _ in kube.requests())

    with LivingKube(lambda labels: None) as kube:
        kube.trouble = hold
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        for index in range(MANY):
            add_tfjob(kube, f"job-{index}", 1)
        operator = muster.start("operator", "-n", NAMESPACE, "--leader-elect")
        wait_until(lambda: sum(path.endswith("/status") for _, path, _ in kube.requests()) >= AT_ONCE)
        n_before = renewals(kube)
        wait_until(lambda: renewals(kube) >= n_before + 2)
        release.set()
        operator.send_signal(signal.SIGTERM)
        assert operator.wait(LIMIT) == 0
