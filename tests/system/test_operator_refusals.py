"""`muster operator` on a server that refuses: it asks on, few at a time, and goes on when it is not refused any more."""

from tfjobs import NAMESPACE, kube, refuse, serve  # noqa: F401

AT_ONCE = 16  # calls (kube/request_limiter.h)
FEW = 10  # that asked for the others by then, one after the other: at longer and longer intervals
MANY = 80


class Refusing:
    """A server that refuses these calls for as long as `refuses` is true; `asked` has the names that they were about."""

    def __init__(self, method, plural):
        self.method, self.plural, self.refuses, self.asked = method, plural, True, []

    def is_about(self, name):
        return True

    def __call__(self, exchange):
        steps = exchange.path.split("/")
        if exchange.method != self.method or self.plural not in steps:
            return False
        name = steps[-1] if steps[-2] == self.plural else exchange.json()["metadata"]["name"]
        if not self.refuses or not self.is_about(name):
            return False
        self.asked.append(name)
        return refuse(403, reason="Forbidden", message=f'{self.plural} "{name}" is forbidden: exceeded quota: few')(exchange)


def told(kube, reason):
    kube.until(lambda _: reason in kube.events())


def test_of_many_pods_that_are_refused_one_asks_for_all(kube, serve):
    kube.trouble = refusing = Refusing("POST", "pods")
    serve()
    kube.add("many", Worker=MANY)
    told(kube, "FailedCreatePod")
    kube.until(lambda objects: "exceeded quota" in str(objects["tfjobs", "many"]["status"]))
    assert len(refusing.asked) <= AT_ONCE + FEW
    refusing.refuses = False
    kube.until(lambda _: len(kube.names("pods")) == MANY)
    kube.condition("many", "Running")


def test_of_many_pods_that_cannot_be_deleted_one_asks_for_all(kube, serve):
    kube.trouble = refusing = Refusing("DELETE", "pods")
    serve()
    kube.add("many", Worker=MANY)
    kube.until(lambda objects: (objects["tfjobs", "many"].get("status") or {}).get("replicaStatuses", {}) == {"Worker": {"active": MANY}})
    kube.change("tfjobs", "many", lambda job: job["spec"]["runPolicy"].update(suspend=True))
    told(kube, "FailedDeletePod")
    kube.condition("many", "Suspended")
    assert len(refusing.asked) <= AT_ONCE + FEW
    refusing.refuses = False
    kube.until(lambda _: kube.names("pods") == [])


def test_a_pod_that_is_refused_comes_no_more_when_its_job_has_ended(kube, serve):
    """Under cleanPodPolicy None too, which ends nothing."""
    kube.trouble = refusing = Refusing("POST", "pods")
    refusing.is_about = lambda name: name == "over-worker-1"
    serve()
    kube.add("over", run_policy={"cleanPodPolicy": "None"}, more={"restartPolicy": "Never"}, Worker=2)
    kube.pod("over-worker-0")
    told(kube, "FailedCreatePod")
    kube.end_pods_with(3)
    kube.condition("over", "Failed")
    kube.until(lambda objects: "Stopped" in str(objects["tfjobs", "over"]["status"]["replicas"]))
    refusing.refuses = False
    kube.code = None
    kube.add("next", Worker=1)
    kube.pod("next-worker-0")
    assert kube.names("pods") == ["next-worker-0", "over-worker-0"]


def test_a_job_goes_on_that_has_lost_a_role_whose_services_were_refused(kube, serve):
    kube.trouble = refusing = Refusing("POST", "services")
    refusing.is_about = lambda name: name in ("less-ps-0", "later-ps-0")
    serve()
    kube.add("less", more={"restartPolicy": "ExitCode"}, PS=1, Worker=1)
    kube.condition("less", "Running")
    kube.until(lambda _: refusing.asked)
    kube.change("tfjobs", "less", lambda job: job["spec"]["tfReplicaSpecs"].pop("PS"))
    kube.until(lambda objects: ("pods", "less-ps-0") not in objects)
    kube.add("later", PS=1)
    kube.until(lambda _: refusing.asked.count("later-ps-0") == 3)  # by then the one of less was due again
    kube.fail_and_replace("less-worker-0")
    assert refusing.asked.count("less-ps-0") == 1


def test_a_pod_group_whose_change_is_refused_is_changed_later(kube, serve):
    kube.trouble = refusing = Refusing("PATCH", "podgroups")
    serve("--gang-scheduler-name", "my-scheduler")
    kube.add("gang", Worker=2)
    kube.condition("gang", "Running")
    kube.change("tfjobs", "gang", lambda job: job["spec"]["tfReplicaSpecs"]["Worker"].update(replicas=3))
    kube.until(lambda _: refusing.asked)
    refusing.refuses = False
    kube.until(lambda objects: objects["podgroups", "gang"]["spec"]["minMember"] == 3)


def test_an_edit_that_cannot_be_read_is_passed_over_and_told(kube, serve):
    def edit(**change):
        kube.change("tfjobs", "edited", lambda job: job["spec"]["tfReplicaSpecs"]["Worker"].update(change))

    serve()
    kube.add("edited", more={"restartPolicy": "ExitCode"}, Worker=1)
    kube.condition("edited", "Running")
    edit(restartPolicy="Sometimes")
    told(kube, "ReconcileError")
    [(_, _, message)] = [event for event in kube.told("edited") if event[1] == "ReconcileError"]
    assert message.startswith("ignoring an edit that is not allowed; the job continues unchanged: ") and "restartPolicy" in message
    kube.fail_and_replace("edited-worker-0")
    edit(restartPolicy="ExitCode", replicas=2)
    kube.pod("edited-worker-1")


def test_a_job_of_another_manager_is_left_alone(kube, serve):
    serve()
    kube.add("theirs", run_policy={"managedBy": "kueue.x-k8s.io/multikueue"}, Worker=1)
    kube.add("ours", Worker=1)
    kube.condition("ours", "Running")
    kube.service("ours-worker-0")
    assert "status" not in kube.objects["tfjobs", "theirs"]
    assert kube.names("pods") == kube.names("services") == ["ours-worker-0"]
