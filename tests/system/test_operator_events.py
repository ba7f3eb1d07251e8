"""The Events that `muster operator` sends, on a fake cluster: those of training-operator, each of them once."""

import pytest

from conftest import LIMIT
from tfjobs import NAMESPACE, kube, now, refuse, serve  # noqa: F401

NORMAL, WARNING = "Normal", "Warning"


def created(*names):
    return [(NORMAL, f"SuccessfulCreate{kind.title()}", f"Created {kind}: {name}") for kind in ("pod", "service") for name in names]


def exited(name, code):
    return (NORMAL, "ExitedWithCode", f"Pod: {NAMESPACE}.{name} exited with code {code}")


def succeeded(name):
    return (NORMAL, "TFJobSucceeded", f"TFJob {NAMESPACE}/{name} successfully completed.")


def wait_for_events(kube, name, wanted):
    """Until the TFJob has these and no other ones."""
    with kube.lock:
        if not kube.lock.wait_for(lambda: kube.told(name) == sorted(wanted), LIMIT):
            told = kube.told(name)
            pytest.fail(f"lacks {[one for one in wanted if one not in told]}, and tells {[one for one in told if one not in wanted]}")


def wait_for_event(kube, name, wanted):
    with kube.lock:
        assert kube.lock.wait_for(lambda: wanted in kube.told(name), LIMIT), kube.told(name)


def test_what_is_made_ends_and_is_deleted_is_told(kube, serve):
    serve()
    kube.add("job", run_policy={"cleanPodPolicy": "All"}, Chief=1, Worker=2)
    kube.condition("job", "Running")
    names = ["job-chief-0", "job-worker-0", "job-worker-1"]
    wait_for_events(kube, "job", created(*names))
    kube.end_pods_with(0)
    wait_for_events(kube, "job", [
        *created(*names), *(exited(name, 0) for name in names), succeeded("job"),
        *((NORMAL, f"SuccessfulDelete{kind.title()}", f"Deleted {kind}: {name}") for kind in ("pod", "service") for name in names)])


def test_why_pods_are_not_set_up_is_asked_once_for_all_jobs(kube, serve):
    kube._run = lambda *_: None  # no container ever starts
    serve()
    names = ["one", "two", "three"]
    for name in names:
        kube.add(name, Worker=1)
    for name in names:
        uid = kube.pod(f"{name}-worker-0")["metadata"]["uid"]
        for number, (moment, message) in enumerate([(now(), "no volume"), ("2026-01-02T03:04:05Z", "what was before")]):
            kube.put("events", f"{name}.{number}", {
                "apiVersion": "v1", "kind": "Event", "type": WARNING, "reason": "FailedMount", "message": message,
                "lastTimestamp": moment, "involvedObject": {"kind": "Pod", "name": f"{name}-worker-0", "uid": uid}})
    for name in names:
        wait_for_event(kube, name, (WARNING, "FailedMount", f"Error pod {name}-worker-0 condition message: no volume"))
    assert not any("before" in message for name in names for _, _, message in kube.told(name))
    asked = [query for method, path, query in kube.requests() if method == "GET" and path.endswith("/events")]
    assert [query["fieldSelector"] for query in asked] == ["involvedObject.kind=Pod,type=Warning"]


def test_a_restart_is_told_of_each_pod(kube, serve):
    serve()
    kube.add("job", more={"restartPolicy": "ExitCode"}, Worker=1)
    kube.condition("job", "Running")
    kube.fail_and_replace("job-worker-0")
    wait_for_event(kube, "job", exited("job-worker-0", 137))
    wait_for_event(kube, "job", (NORMAL, "SuccessfulDeletePod", "Deleted pod: job-worker-0"))
    kube.until(lambda _: kube.events().count("SuccessfulCreatePod") == 2)


def test_a_deletion_that_is_seen_before_its_answer_is_told(kube, serve):
    kube.code = 0
    kube.trouble = lambda exchange: exchange.method == "DELETE" and kube.answer_late(exchange, LIMIT)
    serve()
    kube.add("job", run_policy={"cleanPodPolicy": "All"}, Worker=1)
    wait_for_events(kube, "job", [
        *created("job-worker-0"), exited("job-worker-0", 0), succeeded("job"),
        (NORMAL, "SuccessfulDeletePod", "Deleted pod: job-worker-0"),
        (NORMAL, "SuccessfulDeleteService", "Deleted service: job-worker-0")])


def test_an_operator_that_is_started_again_repeats_nothing_and_tells_what_came_meanwhile(kube, serve):
    kube.plan = lambda labels: 0 if labels["training.kubeflow.org/replica-index"] in ended else None
    ended = []
    end = serve()
    kube.add("job", Chief=1, Worker=3)
    kube.condition("job", "Running")
    ended.append("1")
    kube.end_pods()
    wanted = [*created("job-chief-0", *(f"job-worker-{index}" for index in range(3))), exited("job-worker-1", 0)]
    wait_for_events(kube, "job", wanted)
    end()
    ended.append("2")
    kube.end_pods()
    serve()
    wait_for_events(kube, "job", [*wanted, exited("job-worker-2", 0)])


def test_of_a_large_job_those_of_one_kind_are_one(kube, serve):
    serve()
    kube.add("job", PS=2, Worker=30)
    kube.condition("job", "Running")
    wait_for_event(kube, "job", (NORMAL, "SuccessfulCreatePod", "Created pod: job-ps-0 to job-ps-1 (2)"))
    for reason in ("SuccessfulCreatePod", "SuccessfulCreateService"):
        kube.until(lambda objects, reason=reason: sum(
            body["count"] for (plural, _), body in objects.items() if plural == "events" and body["reason"] == reason) == 32)
    assert len(kube.events()) < 20  # where answers pause, one kind has several


@pytest.mark.parametrize("kind", ["pods", "services"])
def test_what_is_refused_is_told_of_the_first(kube, serve, kind):
    why = f'{kind} "job-worker-X" is forbidden: exceeded quota: small'

    def trouble(exchange):
        return exchange.method == "POST" and exchange.path.endswith(f"/{kind}") and refuse(403, reason="Forbidden", message=why)(exchange)

    kube.trouble = trouble
    serve()
    kube.add("job", Worker=3)
    kube.until(lambda _: sum(method == "POST" and path.endswith(f"/{kind}") for method, path, _ in kube.requests()) > 3)
    failed = (WARNING, f"FailedCreate{kind[:-1].title()}", f"Error creating: {why}")
    wait_for_event(kube, "job", failed)
    kube.trouble = lambda exchange: False
    kube.condition("job", "Running")
    wait_for_events(kube, "job", [*created(*(f"job-worker-{index}" for index in range(3))), failed])


def test_a_foreign_pod_of_the_name_is_told(kube, serve):
    kube.put("pods", "job-worker-0", {"metadata": {"name": "job-worker-0", "uid": "00000000-0000-4000-8000-00000000ffff"}})
    serve()
    kube.add("job", Worker=1)
    wait_for_event(kube, "job", (WARNING, "FailedCreatePod", 'Error creating: pods "job-worker-0" already exists'))
    kube.condition("job", "Created")


def test_what_holds_a_pod_up_is_told_in_its_words(kube, serve):
    """Once for each Pod and reason; the messages of a back-off change."""
    def is_unplaced(pod):
        pod["status"] = {"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available"}]}

    def waits(message):
        def change(pod):
            pod["status"] = {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}], "containerStatuses": [
                kube._container(pod, {"waiting": {"reason": "ImagePullBackOff", "message": message}})]}
        return change

    serve()
    kube.add("job", Worker=1)
    kube.condition("job", "Running")
    kube.change("pods", "job-worker-0", is_unplaced)
    unplaced = (WARNING, "Unschedulable", "Error pod job-worker-0 condition message: 0/3 nodes are available")
    wait_for_event(kube, "job", unplaced)
    kube.change("pods", "job-worker-0", waits('Back-off pulling image "i"'))
    held = (WARNING, "ImagePullBackOff", 'Error pod job-worker-0 container tensorflow waiting message: Back-off pulling image "i"')
    wait_for_event(kube, "job", held)
    kube.change("pods", "job-worker-0", waits('Back-off pulling image "i": not found'))
    kube.end_pods_with(0)
    kube.condition("job", "Succeeded")
    wait_for_events(kube, "job", [*created("job-worker-0"), unplaced, held, exited("job-worker-0", 0), succeeded("job")])


def test_a_restart_policy_of_a_template_is_told_once(kube, serve):
    serve()
    kube.add("job", spec={"restartPolicy": "Always"}, Worker=2)
    kube.condition("job", "Running")
    wait_for_events(kube, "job", [*created("job-worker-0", "job-worker-1"), (
        WARNING, "SetPodTemplateRestartPolicy",
        "Restart policy in pod template will be overwritten by restart policy in replica spec")])


@pytest.mark.parametrize("is_late", [False, True], ids=["answered", "seen first"])
def test_a_job_whose_time_to_live_is_over_is_told_of(kube, serve, is_late):
    kube.code = 0
    kube.trouble = lambda exchange: is_late and exchange.method == "DELETE" and kube.answer_late(exchange, LIMIT)
    serve()
    kube.add("job", run_policy={"ttlSecondsAfterFinished": 0}, Worker=1)
    kube.add("none", run_policy={"ttlSecondsAfterFinished": 0})
    for name in ("job", "none"):
        wait_for_event(kube, name, (NORMAL, "SuccessfulDeleteJob", f"Deleted job: {name}"))


def test_events_wait_behind_pods_and_are_all_sent(kube, serve):
    """No Pod waits for an Event to be answered."""
    kube.trouble = lambda exchange: exchange.method == "POST" and exchange.path.endswith("/events") and not kube.until(
        lambda objects: sum(plural == "pods" for plural, _ in objects) == 60)
    serve()
    for number in range(6):
        kube.add(f"job-{number}", Worker=10)
    for number in range(6):
        wait_for_events(kube, f"job-{number}", created(*(f"job-{number}-worker-{index}" for index in range(10))))
