"""`muster operator --leader-elect` that loses its Lease, and of two operators: one acts, on what is so now."""

import signal
import threading
import urllib.request

import pytest

from conftest import LIMIT, read_line, read_until
from processes import wait_until
from tfjobs import NAMESPACE, kube, write_kubeconfig  # noqa: F401

LEASE = ("leases", "1ca428e5.training-operator.kubeflow.org")


def changes(kube, since=0):
    """What was asked for that changes something, and is no Lease and no Event: (number, method, path, host)."""
    return [(number, exchange.method, exchange.path, exchange.headers["host"])
            for number, exchange in enumerate(list(kube.server.exchanges))
            if number >= since and exchange.method != "GET"
            and not any(kind in exchange.path for kind in ("/leases", "/events"))]


def lists(kube, plural, since):
    return [number for number, (method, path, query) in enumerate(kube.requests())
            if number >= since and method == "GET" and path.endswith(f"/{plural}")
            and (query.get("watch") != "true" or query.get("sendInitialEvents") == "true")]


def hand_lease_to(kube, holder):
    def change(lease):
        lease["spec"]["holderIdentity"] = holder
    kube.change(*LEASE, change)


def test_who_holds_its_lease_again_lists_anew(muster, kube):  # noqa: F811
    """Its watches may have been silent while another acted."""
    operator = muster.start("operator", "-n", NAMESPACE, "--leader-elect")
    kube.add("one", Worker=1)
    uid = kube.pod("one-worker-0")["metadata"]["uid"]
    kube.condition("one", "Running")
    hand_lease_to(kube, "another")
    read_until(operator.stderr, "another is the leader")
    n_before = len(kube.requests())
    kube.remove("pods", "one-worker-0")
    kube.change("tfjobs", "one", lambda job: job["status"].pop("startTime", None))
    hand_lease_to(kube, "")
    kube.another("one-worker-0", uid)
    first = changes(kube, n_before)[0][0]
    for plural in ("pods", "services", "tfjobs"):
        again = lists(kube, plural, n_before)
        assert len(again) == 1 and again[0] < first, (plural, again, first)
    operator.send_signal(signal.SIGTERM)
    assert operator.wait(LIMIT) == 0


def start_by(muster, kube, tmp_path, host):  # noqa: F811
    """An operator whose calls are told apart by the name that it has for the server."""
    config = write_kubeconfig(tmp_path / host, kube.origin.replace("127.0.0.1", host))
    return muster.start("operator", "-n", NAMESPACE, "--leader-elect", env={"KUBECONFIG": str(config)})


def changes_by(kube, host):
    return [change for change in changes(kube) if change[3].startswith(host + ":")]


@pytest.mark.long
def test_who_stands_still_until_another_acts_does_nothing_more(muster, kube, tmp_path):  # noqa: F811
    """It is stopped when its first write of a job's status is answered: what is next are Services and Pods."""
    stopped = threading.Event()

    def stop_first(exchange):
        if exchange.method == "PUT" and exchange.path.endswith("/one/status") and not stopped.is_set():
            first.send_signal(signal.SIGSTOP)
            stopped.set()
        return False

    kube.trouble = stop_first
    first = start_by(muster, kube, tmp_path, "127.0.0.1")
    read_until(first.stderr, "became the leader")
    second = start_by(muster, kube, tmp_path, "localhost")
    read_until(second.stderr, "this operator is waiting")
    kube.add("one", Worker=3)
    assert stopped.wait(LIMIT)
    kube.condition("one", "Running")
    of_first = changes_by(kube, "127.0.0.1")
    assert [path for _, _, path, _ in of_first if not path.endswith("/one/status")] == []
    first.send_signal(signal.SIGCONT)
    read_until(first.stderr, "this operator is waiting")
    kube.end_pods_with(0)
    kube.condition("one", "Succeeded")
    assert changes_by(kube, "127.0.0.1") == of_first
    assert sum(method == "POST" and path.endswith("/pods") for _, method, path, _ in changes_by(kube, "localhost")) == 3
    for operator in (first, second):
        operator.send_signal(signal.SIGTERM)
        assert operator.wait(LIMIT) == 0


def counted(origin):
    """The counters of jobs that are not 0."""
    with urllib.request.urlopen(origin + "/metrics", timeout=LIMIT) as answer:
        lines = answer.read().decode().splitlines()
    return {line.partition("{")[0]: int(line.rpartition(" ")[2]) for line in lines
            if line.startswith("training_operator_jobs_") and not line.endswith(" 0")}


def test_of_two_operators_the_one_that_acts_counts(muster, kube):  # noqa: F811
    kube.code = 0
    operators, origins = [], []
    for said in ("became the leader", "this operator is waiting"):
        operators.append(muster.start("operator", "-n", NAMESPACE, "--leader-elect", "--metrics-bind-address", "127.0.0.1:0"))
        origins.append(read_line(operators[-1].stderr).split()[-1])
        read_until(operators[-1].stderr, said)
    kube.add("one", Worker=1)
    kube.condition("one", "Succeeded")
    once = {f"training_operator_jobs_{event}_total": 1 for event in ("created", "successful")}
    wait_until(lambda: counted(origins[0]) == once)
    assert counted(origins[1]) == {}
    operators[0].send_signal(signal.SIGTERM)
    assert operators[0].wait(LIMIT) == 0
    read_until(operators[1].stderr, "became the leader")
    kube.add("two", Worker=1)
    kube.condition("two", "Succeeded")
    wait_until(lambda: counted(origins[1]) == once)
    operators[1].send_signal(signal.SIGTERM)
    assert operators[1].wait(LIMIT) == 0
