"""Jobs go on when `muster operator` takes the place of training-operator 1.9.4, and back again; `make soak` builds that.

Pods are simulated, and end when a test says so. No Pod is made twice by the change of operators: their uids stay.
"""

import re
import signal

import pytest
import training_operator
from training_operator import TrainingOperator

from conftest import LIMIT, until
from test_operator import CRD, conditions, read_until, tfjob

UPSTREAM = training_operator.folder() / training_operator.CRD
pytestmark = [pytest.mark.long, pytest.mark.disturbs,
              pytest.mark.skipif(not UPSTREAM.exists(), reason="training-operator is not built (script/soak)")]

SUCCEEDED = {"Created": "True", "Running": "False", "Succeeded": "True"}
RUNNING = {"Created": "True", "Running": "True"}


def role(replicas, restart_policy="Never"):
    container = {"name": "tensorflow", "image": "registry.test/model:1"}
    return {"replicas": replicas, "restartPolicy": restart_policy, "template": {"spec": {
        "nodeSelector": {"type": "simulated"}, "tolerations": [{"operator": "Exists"}], "containers": [container]}}}


def jobs():
    all_workers = tfjob("half", Worker=role(2))
    all_workers["spec"]["successPolicy"] = "AllWorkers"
    return [
        tfjob("pair", Worker=role(2)),
        tfjob("led", {"cleanPodPolicy": "Running"}, Chief=role(1), PS=role(1), Worker=role(2)),
        all_workers,
        tfjob("again", Worker=role(1, "ExitCode")),
        tfjob("fragile", Worker=role(2, "OnFailure")),
        tfjob("asleep", {"suspend": True}, Worker=role(1)),
        tfjob("over", Worker=role(1)),
    ]


def apply_crd(namespace, path):
    """As each project says it: the old one is too large for what `apply` remembers."""
    large = ["--server-side", "--force-conflicts"] if path == UPSTREAM else []
    namespace.cluster.kubectl("apply", *large, "-f", path)
    # kubectl cannot wait for a condition where there are none yet.
    until(lambda: namespace.cluster.try_kubectl("get", "tfjobs").returncode, lambda code: code == 0)


class Ours:
    def __init__(self, muster, namespace, options):
        self.process = muster.start("operator", "-n", namespace.name, *options)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(LIMIT) == 0


@pytest.fixture
def start(muster, namespace, tmp_path):
    """Starts an operator; the last one is ended behind the test."""
    running = []

    def begin(kind, *options):
        if kind == "ours":
            running.append(Ours(muster, namespace, options))
        else:
            environment = {**namespace.cluster.environment, "KUBECONFIG": str(namespace.cluster.kubeconfig)}
            running.append(TrainingOperator(environment, namespace.cluster.kubectl, tmp_path / "old.log",
                                            f"--namespace={namespace.name}", *options, namespace=namespace.name))
        return running[-1]

    yield begin
    for operator in running:
        if operator.process.poll() is None:
            operator.end()
    namespace.kubectl("delete", "tfjobs", "--all")


def finish(namespace, pod, code=0):
    """Its node ends it."""
    namespace.kubectl("annotate", "pod", pod, "simulate/run-for=1ms", f"simulate/exit-code={code}")


def uids(namespace):
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in namespace.list("pods")}


def until_conditions(namespace, name, wanted):
    until(lambda: conditions(namespace, name), lambda found: found == wanted)


def until_active(namespace, name, role, count):
    namespace.wait(f"tfjob/{name}", f"jsonpath={{.status.replicaStatuses.{role}.active}}={count}")


def bring_to_the_middle(namespace):
    """Jobs in every state that one may be in when its operator ends; gives the uids of the Pods."""
    namespace.create(*jobs())
    for name, count in (("pair", 2), ("led", 2), ("half", 2), ("again", 1), ("fragile", 2), ("over", 1)):
        until_active(namespace, name, "Worker", count)
    first = uids(namespace)["again-worker-0"]
    finish(namespace, "again-worker-0", 137)
    until(lambda: uids(namespace).get("again-worker-0"), lambda uid: uid not in (None, first))
    finish(namespace, "half-worker-0")
    finish(namespace, "over-worker-0")
    namespace.wait("tfjob/half", "jsonpath={.status.replicaStatuses.Worker.succeeded}=1")
    until_conditions(namespace, "over", SUCCEEDED)
    until_conditions(namespace, "again", RUNNING)
    until_active(namespace, "again", "Worker", 1)
    namespace.wait("tfjob/asleep", "condition=Suspended")
    return uids(namespace)


def times_of(namespace, name):
    status = namespace.get("tfjob", name)["status"]
    return {key: value for key, value in status.items() if key in ("startTime", "completionTime", "conditions")}


def see_to_the_end(namespace, before):
    """The jobs go on under the operator that has come, and end as they would have ended."""
    assert uids(namespace) == before
    for name in ("pair", "half", "again", "fragile"):
        assert conditions(namespace, name) == RUNNING, name
    finish(namespace, "fragile-worker-1", 1)
    until(lambda: uids(namespace).get("fragile-worker-1"), lambda uid: uid not in (None, before["fragile-worker-1"]))
    until_active(namespace, "fragile", "Worker", 2)
    after = {**before, "fragile-worker-1": uids(namespace)["fragile-worker-1"]}
    assert uids(namespace) == after
    for pod in ("pair-worker-0", "half-worker-1", "again-worker-0", "led-chief-0"):
        finish(namespace, pod)
    for name in ("pair", "half", "again", "led"):
        until_conditions(namespace, name, SUCCEEDED)
    for pod in ("led-ps-0", "led-worker-0", "led-worker-1"):
        namespace.wait(f"pod/{pod}", "delete")
        del after[pod]
    assert uids(namespace) == after
    namespace.kubectl("patch", "tfjob", "asleep", "--type=merge", "-p", '{"spec": {"runPolicy": {"suspend": false}}}')
    until_active(namespace, "asleep", "Worker", 1)
    assert conditions(namespace, "asleep") == {"Created": "True", "Suspended": "False", "Running": "True"}
    for status, name in (("succeeded", "pair"), ("succeeded", "half"), ("succeeded", "again")):
        assert namespace.get("tfjob", name)["status"]["replicaStatuses"]["Worker"][status] >= 1


def until_served(namespace):
    """The operator that has come acts, and so has looked at what was there: a new job runs."""
    namespace.create(tfjob("new", Worker=role(1)))
    until_active(namespace, "new", "Worker", 1)
    namespace.kubectl("delete", "tfjob", "new", "--cascade=foreground")


def test_jobs_go_on_under_ours(namespace, start):
    apply_crd(namespace, UPSTREAM)
    old = start("old")
    before = bring_to_the_middle(namespace)
    ended = times_of(namespace, "over")
    old.end()
    finish(namespace, "pair-worker-1")  # which nobody sees
    apply_crd(namespace, CRD)
    start("ours")
    until_served(namespace)
    namespace.wait("tfjob/pair", "jsonpath={.status.replicaStatuses.Worker.succeeded}=1")
    see_to_the_end(namespace, before)
    assert times_of(namespace, "over") == ended


@pytest.mark.parametrize("crd", [UPSTREAM, CRD], ids=["upstream", "ours"])
def test_jobs_go_on_under_the_old_one(namespace, start, crd):
    """Which keeps of a status what it knows; our CRD may stay."""
    apply_crd(namespace, CRD)
    ours = start("ours")
    before = bring_to_the_middle(namespace)
    ended = times_of(namespace, "over")
    ours.end()
    finish(namespace, "pair-worker-1")
    apply_crd(namespace, crd)
    start("old")
    until_served(namespace)
    namespace.wait("tfjob/pair", "jsonpath={.status.replicaStatuses.Worker.succeeded}=1")
    see_to_the_end(namespace, before)
    assert times_of(namespace, "over") == ended


@pytest.mark.parametrize("first, second", [("old", "ours"), ("ours", "old")])
def test_what_was_half_made_is_made_whole(namespace, start, first, second):
    apply_crd(namespace, CRD)
    operator = start(first)
    namespace.create(tfjob("large", Worker=role(60)))
    namespace.wait("pod/large-worker-0", "create")
    operator.process.kill()
    operator.process.wait()
    before = uids(namespace)
    start(second)
    until_active(namespace, "large", "Worker", 60)
    after = uids(namespace)
    assert len(after) == 60 and {name: after[name] for name in before} == before


def test_there_and_back_again(namespace, start):
    """What ours adds to a status is lost under the old one, and of no consequence."""
    apply_crd(namespace, UPSTREAM)
    old = start("old")
    namespace.create(tfjob("lasting", Worker=role(2, "OnFailure")))
    until_active(namespace, "lasting", "Worker", 2)
    old.end()
    apply_crd(namespace, CRD)
    ours = start("ours")
    finish(namespace, "lasting-worker-0", 1)
    namespace.wait("tfjob/lasting", "jsonpath={.status.restarts}=1")
    until_active(namespace, "lasting", "Worker", 2)
    before = uids(namespace)
    ours.end()
    old = start("old")
    finish(namespace, "lasting-worker-1", 1)
    until(lambda: uids(namespace).get("lasting-worker-1"), lambda uid: uid not in (None, before["lasting-worker-1"]))
    until_active(namespace, "lasting", "Worker", 2)
    before = uids(namespace)
    assert "restarts" not in namespace.get("tfjob", "lasting")["status"]
    old.end()
    start("ours")
    until_served(namespace)
    assert uids(namespace) == before
    finish(namespace, "lasting-worker-0")
    until_conditions(namespace, "lasting", SUCCEEDED)
    assert uids(namespace) == before


@pytest.mark.parametrize("first, second", [("old", "ours"), ("ours", "old")])
def test_one_lease_lets_one_of_both_act(muster, namespace, start, tmp_path, first, second):
    """The one that waits acts when the other has ended, and finds what that one has made."""
    apply_crd(namespace, CRD)
    muster.environment["KUBECONFIG"] = str(namespace.write_kubeconfig(tmp_path / "kubeconfig"))
    leads = start(first, "--leader-elect")
    namespace.create(tfjob("one", Worker=role(1)))
    until_active(namespace, "one", "Worker", 1)
    [lease] = namespace.list("leases")
    holder = lease["spec"]["holderIdentity"]
    before = uids(namespace)
    waits = start(second, "--leader-elect")
    if second == "old":
        until(waits.is_ready, bool)
    else:
        read_until(waits.process.stderr, "is the leader; this operator is waiting")
    finish(namespace, "one-worker-0")
    until_conditions(namespace, "one", SUCCEEDED)
    [lease] = namespace.list("leases")
    assert lease["spec"]["holderIdentity"] == holder and uids(namespace) == before
    leads.end()
    namespace.create(tfjob("two", Worker=role(1)))
    until_active(namespace, "two", "Worker", 1)
    [lease] = namespace.list("leases")
    assert lease["spec"]["holderIdentity"] != holder


def described(namespace, name):
    """The lines that `kubectl describe` shows, without what is different each time; Events come in any order."""
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID", namespace.kubectl("describe", "tfjob", name))
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME", text)
    text = re.sub(r"Resource Version: +\d+", "Resource Version: N", text)
    text, _, events = text.partition("Events:")
    events = [re.sub(r"^(\w+ +\w+) +[\w<>]+( \(x\d+ over \w+\))? +", r"\1 AGE ", line.strip()) for line in events.splitlines()]
    return [" ".join(line.split()) for line in [*text.splitlines(), *sorted(events)]]


def test_kubectl_describes_a_job_as_under_the_old_one(namespace, start):
    """All that it said is there; ours says more."""
    seen = {}
    for kind, crd in (("old", UPSTREAM), ("ours", CRD)):
        apply_crd(namespace, crd)
        operator = start(kind)
        bring_to_the_middle(namespace)
        middle = {name: described(namespace, name) for name in ("pair", "led", "half", "again", "asleep", "over")}
        finish(namespace, "led-chief-0")
        finish(namespace, "pair-worker-0", 1)
        until_conditions(namespace, "led", SUCCEEDED)
        until(lambda: conditions(namespace, "pair").get("Failed"), lambda found: found == "True")
        for pod in ("led-ps-0", "led-worker-0", "led-worker-1"):
            namespace.wait(f"pod/{pod}", "delete")
        seen[kind] = middle, {name: described(namespace, name) for name in ("pair", "led")}
        namespace.kubectl("delete", "tfjobs", "--all", "--cascade=foreground")
        operator.end()
    for old, ours in zip(seen["old"], seen["ours"]):
        for name in old:
            lines = iter(ours[name])
            assert [line for line in old[name] if line not in lines] == [], name  # these, in this order
            assert sum(line.startswith("Worker:") for line in ours[name]) == sum(line.startswith("Worker:") for line in old[name])
