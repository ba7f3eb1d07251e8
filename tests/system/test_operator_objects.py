"""What `muster operator` makes for a TFJob, and what it writes into its status, on a fake cluster whose answers the test sees."""

import collections
import json
import threading
import time

import pytest

from conftest import LIMIT
from tfjobs import NAMESPACE, kube, now, refuse, serve  # noqa: F401


def addresses_of(pod):
    env = pod["spec"]["containers"][0]["env"]
    [value] = [entry["value"] for entry in env if entry["name"] == "TF_CONFIG"]
    return json.loads(value)["cluster"]["worker"]


def test_a_job_has_one_service_where_that_is_asked_for(kube, serve):
    serve("--services", "per-job")
    kube.add("one", Worker=2)
    kube.add("many", {"muster/services": "per-replica"}, Worker=2)
    for name in ("one", "many"):
        kube.condition(name, "Running")
    wanted = ["many-worker-0", "many-worker-1", "one"]
    assert kube.until(lambda objects: kube.names("services") == wanted)
    pod = kube.pod("one-worker-1")
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("one-worker-1", "one")
    assert addresses_of(pod) == [f"one-worker-{index}.one.{NAMESPACE}.svc:2222" for index in range(2)]
    assert "hostname" not in kube.pod("many-worker-1")["spec"]
    kube.remove("services", "one")
    kube.service("one")


def test_a_job_goes_on_with_the_services_that_it_has(kube, serve):
    end = serve()
    kube.add("old", more={"restartPolicy": "ExitCode"}, Worker=2)
    kube.add("new", {"muster/services": "per-job"}, Worker=1)
    for name in ("old", "new"):
        kube.condition(name, "Running")
    for name in (services := ["new", "old-worker-0", "old-worker-1"]):
        kube.service(name)
    end()
    serve("--services", "per-job")
    kube.fail_and_replace("old-worker-0")
    assert addresses_of(kube.pod("old-worker-0"))[0] == f"old-worker-0.{NAMESPACE}.svc:2222"
    assert kube.names("services") == services


def test_a_worker_that_comes_and_goes_fails_no_job(kube, serve):
    serve()
    kube.add("dynamic", is_dynamic=True, Worker=2, PS=1)
    kube.condition("dynamic", "Running")
    [variable] = kube.pod("dynamic-worker-1")["spec"]["containers"][0]["env"]
    assert variable["value"] == (
        f'{{"cluster":{{"worker":{{"1":"dynamic-worker-1.{NAMESPACE}.svc:2222"}},"ps":["dynamic-ps-0.{NAMESPACE}.svc:2222"]}},'
        '"task":{"type":"worker","index":1}}')
    codes = {("worker", "1"): 3}
    kube.plan = lambda labels: codes.get((labels["training.kubeflow.org/replica-type"], labels["training.kubeflow.org/replica-index"]))
    kube.end_pods()
    kube.until(lambda objects: objects["tfjobs", "dynamic"]["status"]["replicaStatuses"]["Worker"] == {"active": 1, "failed": 1})
    codes["worker", "0"] = 0
    kube.end_pods()
    kube.condition("dynamic", "Succeeded")


def failure_with_lines(kube, name):
    """The failure of a TFJob once it has lines."""
    def found(objects):
        failure = (objects["tfjobs", name].get("status") or {}).get("failure") or {}
        return failure if failure.get("lastLines") else None
    return kube.until(found)


def logs_asked_for(kube):
    return [(path.split("/")[-2], query) for _, path, query in kube.requests() if path.endswith("/log")]


def test_the_last_lines_of_a_worker_that_failed_are_in_the_status(kube, serve):
    serve()
    kube.add("broken", run_policy={"cleanPodPolicy": "All"}, Worker=1)
    kube.condition("broken", "Running")
    kube.end_pods_with(3)
    failure = failure_with_lines(kube, "broken")
    assert failure["lastLines"] == [f"line {number}" for number in range(20)]
    assert failure["exitCode"] == 3
    kube.until(lambda objects: ("pods", "broken-worker-0") not in objects)
    asked = {"container": "tensorflow", "tailLines": "20", "limitBytes": "524288"}
    assert logs_asked_for(kube) == [("broken-worker-0", asked)]


def test_a_node_that_cannot_be_asked_for_the_last_lines_is_asked_once(kube, serve):
    def trouble(exchange):
        return exchange.path.endswith("/log") and refuse(500, reason="InternalError", message="no kubelet")(exchange)

    kube.trouble = trouble
    serve()
    kube.add("again", more={"restartPolicy": "ExitCode"}, Worker=1)
    kube.condition("again", "Running")
    kube.fail_and_replace("again-worker-0")
    assert [name for name, _ in logs_asked_for(kube)] == ["again-worker-0"]


def test_nothing_is_decided_on_half_a_list(kube, serve):
    """The worker has ended first, and the chief is listed first."""
    is_half, may_go_on = threading.Event(), threading.Event()

    def hold(exchange):
        chunk = exchange.chunk

        def chunk_and_hold(data):
            chunk(data)
            is_half.set()
            may_go_on.wait(LIMIT)
        if exchange.path.endswith("/pods") and exchange.query.get("sendInitialEvents") == "true":
            exchange.chunk = chunk_and_hold
        return False

    serve()
    kube.add("job", run_policy={"cleanPodPolicy": "Running"}, Chief=1, Worker=1)
    kube.condition("job", "Running")
    kube.trouble, kube.code = hold, 0
    with kube.lock:
        for name in ("job-worker-0", "job-chief-0"):
            kube._finish(name, kube.pod(name)["metadata"]["uid"])
        kube.forget_history()
        kube.end_watches()
    assert is_half.wait(LIMIT)
    kube.add("wrong", spec={"containers": []}, Worker=1)
    kube.condition("wrong", "Failed")  # the operator goes on
    may_go_on.set()
    kube.condition("job", "Succeeded")
    kube.add("next", Worker=1)
    kube.condition("next", "Succeeded")
    assert kube.until(lambda objects: objects["tfjobs", "job"]["status"]["replicaStatuses"] == {
        "Chief": {"succeeded": 1}, "Worker": {"succeeded": 1}})
    assert "job-worker-0" in kube.names("pods")


def test_a_container_that_is_started_again_in_its_pod_is_a_restart_with_a_reason(kube, serve):
    serve()
    kube.add("falls", more={"restartPolicy": "OnFailure"}, Worker=1)
    kube.condition("falls", "Running")
    first = kube.pod("falls-worker-0")["metadata"]["uid"]
    for count, reason in enumerate(["OOMKilled", "Evicted", "OOMKilled"], 1):
        def fall(pod, count=count, reason=reason):
            [container] = pod["status"]["containerStatuses"] = [kube._container(pod, {"running": {"startedAt": now()}})]
            container.update(restartCount=count, lastState={"terminated": {
                "exitCode": 137, "reason": reason, "startedAt": now(), "finishedAt": now()}})
        kube.change("pods", "falls-worker-0", fall)
        kube.change("pods", "falls-worker-0", lambda pod: pod["metadata"].update(annotations={"seen": "again"}))
        told = kube.until(lambda objects, count=count: objects["tfjobs", "falls"]["status"].get("restarts") == count
                          and objects["tfjobs", "falls"]["status"])
        assert told["failure"]["reason"] == reason and told["failure"]["signal"] == 9
    assert kube.pod("falls-worker-0")["metadata"]["uid"] == first


def is_first_worker(labels):
    return (labels["training.kubeflow.org/replica-type"], labels["training.kubeflow.org/replica-index"]) == ("worker", "0")


@pytest.mark.parametrize("code,end", [(0, "Succeeded"), (3, "Failed")])
@pytest.mark.parametrize("policy", ["All", "Running", "None"])
def test_services_go_with_the_pods_that_are_cleaned_up(kube, serve, policy, code, end):
    stop = serve("--log", "info")
    kube.add("cleans", run_policy={"cleanPodPolicy": policy}, PS=1, Worker=2)
    kube.condition("cleans", "Running")
    kube.plan = lambda labels: code if is_first_worker(labels) else None  # it decides, and the others run on
    kube.end_pods()
    kube.condition("cleans", end)
    left = {"All": [], "Running": ["cleans-worker-0"],
            "None": ["cleans-ps-0", "cleans-worker-0", "cleans-worker-1"]}[policy]
    for plural in ("pods", "services"):
        kube.until(lambda objects, plural=plural: sorted(name for kind, name in objects if kind == plural) == left)
    assert f"job '{NAMESPACE}/cleans': start worker-0, attempt 0" in stop()


def test_services_over_a_quota_are_asked_for_later_and_later_and_told_of_once(kube, serve):
    times = collections.defaultdict(list)

    def trouble(exchange):
        if exchange.method != "POST" or not exchange.path.endswith("/services"):
            return False
        times[exchange.json()["metadata"]["name"]].append(time.monotonic())
        return refuse(403, reason="Forbidden", message="exceeded quota: few")(exchange)

    kube.trouble = trouble
    end = serve()
    kube.add("job", Worker=5)
    kube.until(lambda _: len(times) == 5 and all(len(of_one) > 2 for of_one in times.values()))
    assert end().count("exceeded quota") == 1
    for first, second, third, *_ in times.values():  # pauses of 1 and 2 s, and up to half as much more
        assert third - second > 1.6, times


def test_services_of_others_stay(kube, serve):
    """Of a job that is suspended, and of one that has ended: a name alone says nothing of whose an object is."""
    others = ["my-kafka-0", "my-worker-0", "run-worker-0"]
    for name in others:
        kube.put("services", name, {"metadata": {"uid": f"of-{name}"}})
    end = serve()
    kube.add("my", run_policy={"suspend": True}, Kafka=1, Worker=1)
    kube.condition("my", "Suspended")
    kube.add("run", run_policy={"cleanPodPolicy": "All"}, Worker=2)
    kube.condition("run", "Running")
    kube.service("run-worker-1")
    kube.end_pods_with(0)
    kube.until(lambda objects: ("services", "run-worker-1") not in objects and not kube.names("pods"))
    end()
    assert kube.names("services") == others
    assert not [path for method, path, _ in kube.requests() if method == "DELETE" and path.rpartition("/")[2] in others[:2]]


def test_workers_that_are_taken_away_are_no_success(kube, serve):
    """By kubectl scale, and with their role."""
    end = serve()
    kube.add("scaled", PS=1, Worker=2)
    kube.add("edited", PS=1, Worker=2)
    for name in ("scaled", "edited"):
        kube.condition(name, "Running")
    kube.change("tfjobs", "scaled", lambda job: job["spec"]["tfReplicaSpecs"]["Worker"].update(replicas=0))
    kube.change("tfjobs", "edited", lambda job: job["spec"]["tfReplicaSpecs"].pop("Worker"))
    kube.until(lambda _: kube.names("pods") == ["edited-ps-0", "scaled-ps-0"])
    kube.plan = lambda labels: 0 if labels["training.kubeflow.org/job-name"] == "edited" else None
    kube.end_pods()
    kube.until(lambda objects: objects["tfjobs", "edited"]["status"]["replicaStatuses"]["PS"] == {"succeeded": 1})
    kube.change("tfjobs", "scaled", lambda job: job["spec"]["tfReplicaSpecs"]["Worker"].update(replicas=1))
    kube.pod("scaled-worker-0")
    end()
    for name in ("scaled", "edited"):
        conditions = kube.objects["tfjobs", name]["status"]["conditions"]
        assert [entry["type"] for entry in conditions if entry["status"] == "True"] == ["Created", "Running"]


def test_a_pod_that_is_deleted_before_it_ran_is_made_again_and_is_no_restart(kube, serve):
    end = serve()
    waits = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "later", "key": "a"}}}
    kube.add("job", run_policy={"backoffLimit": 0}, spec={"containers": [{"name": "tensorflow", "image": "i", "env": [waits]}]}, Worker=1)
    first = kube.until(lambda objects: ("pods", "job-worker-0") in objects and objects["pods", "job-worker-0"]["status"].get(
        "containerStatuses") and objects["pods", "job-worker-0"]["metadata"]["uid"])
    kube.until(lambda objects: "Started" in json.dumps(objects["tfjobs", "job"].get("status", {})))
    kube.remove("pods", "job-worker-0")
    kube.another("job-worker-0", first)
    kube.put("secrets", "later", {"metadata": {"uid": "of-later"}})
    kube.condition("job", "Running")
    end()
    status = kube.objects["tfjobs", "job"]["status"]
    assert not status.get("restarts") and [entry["type"] for entry in status["conditions"]] == ["Created", "Running"], status
    assert kube.events().count("ReplicaRestarting") == 1


def test_what_runs_beside_a_failed_trainer_is_ended_with_its_job(kube, serve):
    def trainer_fails(pod):
        statuses = [{"name": name, "image": "i", "restartCount": 0, "state": state} for name, state in (
            ("tensorflow", {"terminated": {"exitCode": 1, "startedAt": now(), "finishedAt": now()}}), ("upload", {"running": {"startedAt": now()}}))]
        pod["status"] = {"phase": "Running", "containerStatuses": statuses}

    serve()
    kube.add("job", run_policy={"cleanPodPolicy": "Running"}, Worker=1)
    kube.condition("job", "Running")
    kube.change("pods", "job-worker-0", trainer_fails)
    kube.condition("job", "Failed")
    kube.until(lambda objects: ("pods", "job-worker-0") not in objects)


def test_a_right_that_is_missing_is_waited_for(kube, serve):
    """It is the operator's own: its users can do nothing about it."""
    def trouble(exchange):
        return exchange.method == "POST" and exchange.path.endswith("/pods") and refuse(
            403, reason="Forbidden", message='pods is forbidden: User "o" cannot create resource "pods" in API group "" in the namespace "n"')(exchange)

    kube.trouble = trouble
    serve()
    kube.add("job", Worker=1)
    kube.until(lambda _: "FailedCreatePod" in kube.events())
    kube.trouble = lambda exchange: False
    kube.condition("job", "Running")


def test_a_pod_with_its_labels_that_nothing_owns_keeps_its_name_and_is_told(kube, serve):
    labels = {f"training.kubeflow.org/{key}": value for key, value in (
        ("operator-name", "tfjob-controller"), ("job-name", "job"), ("replica-type", "worker"), ("replica-index", "0"))}
    kube.put("pods", "job-worker-0", {"metadata": {"name": "job-worker-0", "labels": labels, "uid": "00000000-0000-4000-8000-00000000ffff"},
                                      "spec": {"containers": [{"name": "tensorflow"}]}, "status": {"phase": "Running"}})
    serve()
    kube.add("job", Worker=1)
    kube.until(lambda _: "FailedCreatePod" in kube.events())
    kube.remove("pods", "job-worker-0")
    kube.condition("job", "Running")


def test_what_ends_with_its_job_has_the_time_of_its_template(kube, serve):
    graces = []

    def trouble(exchange):
        if exchange.method == "DELETE" and "/pods/" in exchange.path:
            graces.append(exchange.json().get("gracePeriodSeconds"))
        return False

    kube.trouble = trouble
    serve()
    kube.add("job", run_policy={"cleanPodPolicy": "Running"}, spec={"terminationGracePeriodSeconds": 45}, Chief=1, Worker=1)
    kube.until(lambda objects: kube.names("pods") == ["job-chief-0", "job-worker-0"])
    kube.condition("job", "Running")
    kube.plan = lambda labels: 0 if labels["training.kubeflow.org/replica-type"] == "chief" else None
    kube.end_pods()
    kube.until(lambda objects: kube.names("pods") == ["job-chief-0"] and "TFJobSucceeded" in kube.events())
    assert graces == [45]


def test_a_condition_of_another_controller_stays(kube, serve):
    foreign = {"type": "example.com/Checked", "status": "True", "reason": "r", "more": [1]}
    end = serve()
    kube.add("job", Worker=1)
    kube.condition("job", "Running")
    end()
    kube.change("tfjobs", "job", lambda job: job["status"]["conditions"].insert(0, foreign))
    uid = kube.pod("job-worker-0")["metadata"]["uid"]
    serve()
    kube.end_pods_with(0)
    kube.condition("job", "Succeeded")
    assert foreign in kube.objects["tfjobs", "job"]["status"]["conditions"]
    assert kube.pod("job-worker-0")["metadata"]["uid"] == uid


def test_a_job_goes_on_when_its_cluster_was_restored_from_a_backup(kube, serve):
    serve()
    kube.add("job", Worker=1)
    kube.condition("job", "Running")
    with kube.lock:
        kube.objects["tfjobs", "job"]["metadata"]["resourceVersion"] = "1"
    kube.end_pods_with(0)
    kube.condition("job", "Succeeded")


def test_nothing_is_made_for_a_job_that_is_being_deleted(kube, serve):
    """In the foreground, or held by a finalizer: its Pods go before it."""
    end = serve()
    kube.add("held", more={"restartPolicy": "OnFailure"}, Worker=1)
    kube.condition("held", "Running")
    kube.change("tfjobs", "held", lambda job: job["metadata"].update(deletionTimestamp=now(), finalizers=["example.com/held"]))
    kube.add("next", Worker=1)
    kube.condition("next", "Running")  # so the end of the first job is known
    kube.remove("pods", "held-worker-0")
    kube.service("held-worker-0")
    kube.remove("services", "held-worker-0")
    kube.add("last", Worker=1)
    kube.condition("last", "Running")
    left = ["last-worker-0", "next-worker-0"]
    kube.service("last-worker-0")
    end()
    assert kube.names("pods") == left and kube.names("services") == left


def test_a_restart_waits_a_moment_for_a_log_and_does_without_one(kube, serve):
    """The node does not answer."""
    def mute(exchange):
        if exchange.path.endswith("/log"):
            exchange.wait_for_the_end()
            return True
        return False
    kube.trouble = mute
    end = serve()
    kube.add("again", more={"restartPolicy": "ExitCode"}, Worker=1)
    kube.condition("again", "Running")
    first = kube.pod("again-worker-0")["metadata"]["uid"]
    kube.end_pods_with(137)
    kube.condition("again", "Restarting")
    kube.code = None
    kube.another("again-worker-0", first)
    kube.condition("again", "Running")
    assert kube.objects["tfjobs", "again"]["status"]["failure"]["message"].startswith("worker-0 was killed by signal 9")
    assert "lastLines" not in kube.objects["tfjobs", "again"]["status"]["failure"]
    assert len(logs_asked_for(kube)) == 1
    assert "log" not in end()


def test_without_the_right_to_logs_jobs_end_all_the_same_and_that_is_said(kube, serve):
    kube.trouble = lambda exchange: exchange.path.endswith("/log") and refuse(403, reason="Forbidden", message="ada may not")(exchange)
    end = serve()
    kube.add("broken", run_policy={"cleanPodPolicy": "All"}, Worker=1)
    kube.condition("broken", "Running")
    kube.end_pods_with(3)
    kube.condition("broken", "Failed")
    kube.until(lambda objects: ("pods", "broken-worker-0") not in objects)
    assert "job 'ada/broken': cannot get pods/log" in end()


def suspend(is_suspended):
    return lambda job: job["spec"]["runPolicy"].update(suspend=is_suspended)


def test_volcano_lets_a_job_in_before_it_has_pods(kube, serve):
    serve("--gang-scheduler-name", "Volcano")
    policy = {"minAvailable": 2, "priorityClass": "high", "scheduleTimeoutSeconds": 9}
    kube.add("gang", {"team": "vision", "kubectl.kubernetes.io/last-applied-configuration": "{}"}, {"schedulingPolicy": policy},
             resources={"requests": {"cpu": "500m", "memory": "1Gi"}}, Worker=2, PS=1)
    group = kube.until(lambda objects: objects.get(("podgroups", "gang")))
    assert group["apiVersion"] == "scheduling.volcano.sh/v1beta1"
    assert group["metadata"]["annotations"] == {"team": "vision"}
    assert group["metadata"]["ownerReferences"][0]["uid"] == kube.objects["tfjobs", "gang"]["metadata"]["uid"]
    assert group["spec"] == {"minMember": 2, "queue": "default", "priorityClassName": "high",
                             "minResources": {"cpu": "1", "memory": "2147483648"}}
    kube.change("podgroups", "gang", lambda group: group.update(status={"phase": "Pending"}))
    kube.service("gang-worker-1")
    assert kube.names("pods") == [] and "startTime" not in kube.objects["tfjobs", "gang"]["status"]
    kube.change("podgroups", "gang", lambda group: group.update(status={"phase": "Inqueue"}))
    kube.condition("gang", "Running")
    pod = kube.pod("gang-worker-0")
    assert pod["spec"]["schedulerName"] == "volcano"
    assert pod["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "gang", "volcano.sh/task-spec": "worker"}


def test_a_pod_group_changes_with_its_job_and_goes_with_its_pods(kube, serve):
    serve("--gang-scheduler-name", "my-scheduler")
    kube.add("gang", run_policy={"schedulingPolicy": {"scheduleTimeoutSeconds": 9}}, Worker=2)
    kube.condition("gang", "Running")
    group = kube.objects["podgroups", "gang"]
    assert group["apiVersion"] == "scheduling.x-k8s.io/v1alpha1"
    assert group["spec"] == {"minMember": 2, "minResources": {}, "scheduleTimeoutSeconds": 9}
    pod = kube.pod("gang-worker-0")
    assert pod["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] == "gang" and pod["spec"]["schedulerName"] == "my-scheduler"
    kube.change("tfjobs", "gang", lambda job: job["spec"]["tfReplicaSpecs"]["Worker"].update(replicas=3))
    kube.until(lambda objects: objects["podgroups", "gang"]["spec"]["minMember"] == 3)
    kube.change("tfjobs", "gang", suspend(True))
    kube.condition("gang", "Suspended")
    kube.until(lambda objects: ("podgroups", "gang") not in objects)
    kube.change("tfjobs", "gang", suspend(False))
    kube.until(lambda objects: ("pods", "gang-worker-2") in objects)
    kube.condition("gang", "Running")
    kube.end_pods_with(0)
    kube.condition("gang", "Succeeded")
    kube.until(lambda objects: ("podgroups", "gang") not in objects)
    patches = [path for method, path, _ in kube.requests() if method == "PATCH" and "podgroups" in path]
    assert len(patches) == 1
    kube.until(lambda _: kube.events().count("JobTerminated"))
    assert "SetPodTemplateSchedulerName" not in kube.events()


def test_another_scheduler_of_a_template_stays_and_is_told_once(kube, serve):
    serve("--gang-scheduler-name", "mine")
    kube.add("other", spec={"schedulerName": "theirs"}, Worker=3)
    kube.condition("other", "Running")
    assert kube.pod("other-worker-2")["spec"]["schedulerName"] == "theirs"
    kube.until(lambda _: kube.events().count("SuccessfulCreatePod") == 3)
    assert kube.events().count("SetPodTemplateSchedulerName") == 1


def test_kubernetes_places_those_together_that_start_together(kube, serve):
    serve("--gang-scheduler-name", "kubernetes")
    kube.add("gang", more={"restartPolicy": "ExitCode"}, Worker=1, Chief=1)
    kube.condition("gang", "Running")
    assert kube.objects["podgroups", "gang"]["spec"] == {"schedulingPolicy": {"gang": {"minCount": 2}}}
    for name in ("gang-chief-0", "gang-worker-0"):
        spec = kube.pod(name)["spec"]
        assert spec["schedulingGroup"] == {"podGroupName": "gang"} and "schedulerName" not in spec
    kube.until(lambda objects: objects["pods", "gang-chief-0"]["spec"].get("nodeName"))
    kube.plan = lambda labels: 137 if labels["training.kubeflow.org/replica-type"] == "worker" else None
    first = kube.pod("gang-worker-0")["metadata"]["uid"]
    kube.end_pods()
    second = kube.another("gang-worker-0", first)
    kube.plan = lambda labels: None
    assert "schedulingGroup" not in second["spec"]


def test_without_its_kind_of_pod_groups_no_operator_starts(kube, muster):
    kube.trouble = lambda exchange: "podgroups" in exchange.path and refuse(404, reason="NotFound")(exchange)
    for name, kind in (("volcano", "podgroups.scheduling.volcano.sh/v1beta1"), ("mine", "podgroups.scheduling.x-k8s.io/v1alpha1"),
                       ("kubernetes", "podgroups.scheduling.k8s.io/v1alpha2")):
        told = muster("operator", "-n", NAMESPACE, "--gang-scheduler-name", name, code=2).stderr
        assert f"the cluster has no {kind} for --gang-scheduler-name" in told


def admit(pool):
    """As Kueue does when there is room: it says where the Pods go, and lets the job go on."""
    def change(job):
        job["spec"]["runPolicy"]["suspend"] = False
        for role in job["spec"]["tfReplicaSpecs"].values():
            role["template"]["spec"]["nodeSelector"] = {"pool": pool}
    return change


def test_kueue_may_hold_a_job_let_it_go_on_and_take_that_back(kube, serve):
    """It reads the condition Running, whether any replica is active, and the end."""
    def counts(objects):
        return objects["tfjobs", "queued"]["status"].get("replicaStatuses")

    def pools(objects):
        return [body["spec"]["nodeSelector"]["pool"] for (plural, _), body in objects.items() if plural == "pods"]

    serve()
    kube.add("queued", run_policy={"suspend": True}, Chief=1, Worker=2)
    kube.condition("queued", "Suspended")
    assert kube.names("pods") == kube.names("services") == []
    for pool in ("small", "large"):
        kube.change("tfjobs", "queued", admit(pool))
        kube.condition("queued", "Running")
        kube.until(lambda objects: counts(objects) == {"Chief": {"active": 1}, "Worker": {"active": 2}})
        assert kube.until(pools) == [pool] * 3
        kube.change("tfjobs", "queued", lambda job: job["spec"]["runPolicy"].update(suspend=True))
        kube.until(lambda objects: not counts(objects) and not pools(objects))
        kube.condition("queued", "Suspended")
    kube.change("tfjobs", "queued", admit("large"))
    kube.condition("queued", "Running")
    kube.end_pods_with(0)
    kube.condition("queued", "Succeeded")
