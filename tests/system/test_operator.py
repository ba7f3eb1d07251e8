"""`muster operator` before a fake cluster: its flags and those of the manager that it stands in for, the namespaces that it
serves, what it says, and the definition of TFJobs that it finds."""

import collections
import json
import queue
import signal
import urllib.request

import pytest

from conftest import LIMIT
from fake_kube import refuse, status
from living_kube import LivingKube
from test_jobs_elsewhere import write_kubeconfig

DEFINITION = "tfjobs.kubeflow.org"


class Namespaces(LivingKube):
    """Lists and watches are of the namespace of their path."""

    @staticmethod
    def _is_selected(exchange, body):
        steps = exchange.path.split("/")
        return LivingKube._is_selected(exchange, body) and ("namespaces" not in steps or
               steps[steps.index("namespaces") + 1] == body["metadata"].get("namespace"))


@pytest.fixture
def kube(muster, tmp_path):
    with Namespaces() as kube:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "config", kube.origin))
        define(kube, {"x-kubernetes-preserve-unknown-fields": True})
        yield kube


def define(kube, of_status, subresources=None):
    version = {"name": "v1", "schema": {"openAPIV3Schema": {"properties": {"status": of_status}}},
               "subresources": {"status": {}} if subresources is None else subresources}
    kube.put("customresourcedefinitions", DEFINITION, {"spec": {"versions": [version]}})


def put_job(kube, name, namespace="ada"):
    container = {"name": "tensorflow", "image": "i"}
    kube.put("tfjobs", name, {
        "apiVersion": "kubeflow.org/v1", "kind": "TFJob",
        "metadata": {"namespace": namespace, "uid": "00000000-0000-4000-8000-0000000000aa",
                     "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"tfReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [container]}}}}}})


def until(kube, condition):
    with kube.lock:
        assert kube.lock.wait_for(condition, LIMIT), kube.objects


def has_succeeded(kube, name):
    conditions = kube.objects["tfjobs", name].get("status", {}).get("conditions", [])
    return any(condition["type"] == "Succeeded" for condition in conditions)


def asks_of(kube):
    """Lists and watches of TFJobs."""
    return [path for method, path, _ in kube.requests() if method == "GET" and path.endswith("/tfjobs")]


def end(process):
    """What it said; it is asked to end, and does."""
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=LIMIT)[1]
    assert process.returncode == 0, said
    return said.splitlines()


def test_the_flags_of_the_old_manager_are_taken_and_those_without_a_meaning_named_once(muster, kube):
    process = muster.start(
        "operator", "-enable-scheme=TFJob", "--enable-scheme", "pytorchjob", "--controller-threads=4", "-kube-api-qps", "50",
        "--kube-api-burst=100", "--webhook-server-port=9443", "--webhook-service-name=x", "--webhook-secret-name=y",
        "--pytorch-init-container-image=i", "--pytorch-init-container-template-file=f", "--pytorch-init-container-max-tries=3",
        "--mpi-kubectl-delivery-image=k", "--zap-devel=false", "--zap-stacktrace-level=panic", "--zap-time-encoding=iso8601",
        "--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect=false", "--zap-log-level=error")
    put_job(kube, "one")
    until(kube, lambda: has_succeeded(kube, "one"))
    assert end(process) == [
        "muster: ignored (no effect in muster): --enable-scheme=pytorchjob, --controller-threads, --kube-api-qps, "
        "--kube-api-burst, --webhook-server-port, --webhook-service-name, --webhook-secret-name, "
        "--pytorch-init-container-image, --pytorch-init-container-template-file, --pytorch-init-container-max-tries, "
        "--mpi-kubectl-delivery-image, --zap-devel, --zap-stacktrace-level, --zap-time-encoding"]


@pytest.mark.parametrize("flags, why", [
    (["--enable-scheme=mpijob"], "--enable-scheme=mpijob: muster manages only TFJob objects"),
    (["--enable-scheme=foo", "--enable-scheme=tfjob"], "scheme foo is not supported yet"),
    (["--namespace=Ada"], "--namespace: 'Ada' is not a valid namespace name"),
    (["--metrics-bind-address=nowhere"], "--metrics-bind-address: "),
    (["-leader-elekt"], "no such option"),
    (["instal"], "'instal': unknown (expected install, uninstall or upgrade-from-training-operator)"),
    (["install", "--leader-elect"], "--leader-elect: is an option of the operator itself"),
    (["--image=x"], "--image: needs 'install'"),
])
def test_what_cannot_be_meant_is_told(muster, flags, why):
    assert why in muster("operator", *flags, code=2).stderr


def watched(kube, plural):
    return {path for method, path, query in kube.requests() if query.get("watch") == "true" and path.endswith(f"/{plural}")}


@pytest.mark.parametrize("flags, variable", [(["-n", "ada,bob", "--namespace=ada"], "eve"), ([], "ada,bob")],
                         ids=["flags", "variable"])
def test_each_namespace_has_a_watch_of_its_own_and_others_none(muster, kube, flags, variable):
    put_job(kube, "one")
    put_job(kube, "two", "bob")
    put_job(kube, "other", "eve")
    process = muster.start("operator", *flags, env={"KUBEFLOW_NAMESPACE": variable})
    until(kube, lambda: has_succeeded(kube, "one") and has_succeeded(kube, "two"))
    assert end(process) == []
    assert "status" not in kube.objects["tfjobs", "other"]
    for api, plural in (("/apis/kubeflow.org/v1", "tfjobs"), ("/api/v1", "pods"), ("/api/v1", "services")):
        assert watched(kube, plural) == {f"{api}/namespaces/{name}/{plural}" for name in ("ada", "bob")}


def test_the_lease_is_where_the_operator_is(muster, kube):
    asked = queue.Queue()
    kube.trouble = lambda exchange: "/leases" in exchange.path and asked.put(exchange.path)
    muster.start("operator", "-n", "bob", "--leader-elect")
    assert "/namespaces/ada/leases" in asked.get(timeout=LIMIT)


WHAT_TO_DO = "'muster operator install'"


def test_on_the_definition_of_another_operator_it_stops_and_says_what_to_do(muster, kube):
    define(kube, {"properties": {"conditions": {"type": "array"}}})
    done = muster("operator", code=2)
    assert DEFINITION in done.stderr and WHAT_TO_DO in done.stderr


def test_on_a_definition_without_its_subresource_it_stops_and_says_what_to_do(muster, kube):
    define(kube, {"x-kubernetes-preserve-unknown-fields": True}, subresources={})
    done = muster("operator", code=2)
    assert "takes the subresource 'status'" in done.stderr and WHAT_TO_DO in done.stderr


def test_where_it_may_not_read_the_definition_the_first_status_tells(muster, kube):
    def trouble(exchange):
        if "customresourcedefinitions" in exchange.path:
            exchange.answer(403, status(403, "Forbidden", "no"))
        elif exchange.method == "PUT" and exchange.path.endswith("/status"):
            written = exchange.json()
            kept = {key: value for key, value in written["status"].items() if key == "conditions"}
            exchange.body = json.dumps({**written, "status": kept})
            return False
        else:
            return False
        return True

    kube.trouble = trouble
    put_job(kube, "one")
    done = muster("operator", code=2)
    assert DEFINITION in done.stderr and WHAT_TO_DO in done.stderr
    assert not [key for key in kube.objects if key[0] == "pods"]


@pytest.mark.parametrize("option", ["--log-format=json", "--zap-encoder=json"])
def test_json_lines_have_a_level_and_the_job(muster, kube, option):
    put_job(kube, "one")
    process = muster.start("operator", option, "--zap-log-level=info", "--kube-api-qps=1")
    lines = []
    while not lines or lines[-1].get("job") != "ada/one":
        lines.append(json.loads(process.stderr.readline()))
    assert "--kube-api-qps" in lines[0]["msg"] and lines[0]["level"] == "info" and lines[0]["ts"].endswith("Z")
    assert lines[-1]["msg"].startswith("start worker-0")
    for line in end(process):
        json.loads(line)


def test_what_nothing_can_be_made_of_is_told_by_one_event_also_when_a_write_fails(muster, kube):
    failures = [409, 500, 500]

    def trouble(exchange):
        if exchange.method != "PUT" or not failures:
            return False
        code = failures.pop(0)
        exchange.answer(code, status(code, "Conflict" if code == 409 else "InternalError", "not now"))
        if code == 409:
            kube.put("tfjobs", "none", kube.objects["tfjobs", "none"])
        return True

    kube.trouble = trouble
    kube.put("tfjobs", "none", {
        "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "spec": {"tfReplicaSpecs": {}},
        "metadata": {"uid": "00000000-0000-4000-8000-0000000000aa", "creationTimestamp": "2026-01-01T00:00:00Z"}})
    process = muster.start("operator")
    until(kube, lambda: any(plural == "events" for plural, _ in kube.objects))
    put_job(kube, "one")
    until(kube, lambda: has_succeeded(kube, "one"))
    end(process)
    told = [body["reason"] for (plural, _), body in kube.objects.items()
            if plural == "events" and body["involvedObject"]["name"] == "none"]
    assert len(told) == 1 and not failures, told


def test_what_nothing_can_be_made_of_goes_when_its_time_to_live_is_over(muster, kube):
    """Of one that can be read, and of one that cannot."""
    for number, (name, roles) in enumerate((("none", {}), ("many", {"Worker": {"replicas": 20000}}), (
            "policy", {"Worker": {"restartPolicy": "onFailure"}}))):
        kube.put("tfjobs", name, {
            "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "spec": {"runPolicy": {"ttlSecondsAfterFinished": 1}, "tfReplicaSpecs": roles},
            "metadata": {"namespace": "ada", "uid": f"00000000-0000-4000-8000-00000000000{number}", "creationTimestamp": "2026-01-01T00:00:00Z"}})
    process = muster.start("operator")
    until(kube, lambda: not [key for key in kube.objects if key[0] == "tfjobs"])
    end(process)


@pytest.mark.parametrize("roles", [{}, {"Worker": {"replicas": 20000}}], ids=["none", "many"])
def test_it_goes_too_when_its_status_is_seen_before_the_write_of_it_is_answered(muster, kube, roles):
    kube.trouble = lambda exchange: exchange.method == "PUT" and kube.answer_late(exchange, LIMIT)
    put_job(kube, "one")
    kube.objects["tfjobs", "one"]["spec"] = {"runPolicy": {"ttlSecondsAfterFinished": 0}, "tfReplicaSpecs": roles}
    process = muster.start("operator")
    until(kube, lambda: ("tfjobs", "one") not in kube.objects)
    end(process)


def test_a_status_that_cannot_be_read_is_not_taken_for_new(muster, kube):
    """As after a downgrade."""
    put_job(kube, "one")
    kube.objects["tfjobs", "one"]["status"] = {"conditions": "of a later version"}
    process = muster.start("operator")
    assert "job 'ada/one': the status of job 'one' cannot be read: status.conditions: expected" in process.stderr.readline()
    until(kube, lambda: any(body["reason"] == "ReconcileError" for (plural, _), body in kube.objects.items() if plural == "events"))
    end(process)
    assert kube.objects["tfjobs", "one"]["status"] == {"conditions": "of a later version"}
    assert not [plural for plural, _ in kube.objects if plural in ("pods", "services")]


def test_an_end_is_counted_once(muster, kube):
    """Under ExitCode one has two Events, and of what nothing can be made of the reason is another."""
    kube.plan = lambda labels: 3
    put_job(kube, "fails")
    kube.objects["tfjobs", "fails"]["spec"]["tfReplicaSpecs"]["Worker"]["restartPolicy"] = "ExitCode"
    put_job(kube, "none")
    kube.objects["tfjobs", "none"]["spec"]["tfReplicaSpecs"] = {}
    process = muster.start("operator", "--metrics-bind-address", "127.0.0.1:0")
    origin = process.stderr.readline().split()[-1]
    until(kube, lambda: sum("Failed" in body["reason"] for (plural, _), body in kube.objects.items() if plural == "events") == 3)
    with urllib.request.urlopen(origin + "/metrics", timeout=LIMIT) as answer:
        lines = answer.read().decode().splitlines()
    assert 'training_operator_jobs_failed_total{job_namespace="ada",framework="tensorflow"} 2' in lines
    assert "muster_operator_errors_total 0" in lines
    end(process)


def test_a_job_that_no_operator_has_seen_is_counted_as_created(muster, kube):
    """Also if it was created before the operator was started. The other one was seen by an operator that has ended."""
    for name in ("new", "known"):
        put_job(kube, name)
    created = {"type": "Created", "status": "True", "reason": "TFJobCreated", "message": "", "lastUpdateTime": "2026-01-01T00:00:00Z",
               "lastTransitionTime": "2026-01-01T00:00:00Z"}
    kube.objects["tfjobs", "known"]["status"] = {"conditions": [created]}
    process = muster.start("operator", "--metrics-bind-address", "127.0.0.1:0")
    origin = process.stderr.readline().split()[-1]
    until(kube, lambda: has_succeeded(kube, "new") and has_succeeded(kube, "known"))
    with urllib.request.urlopen(origin + "/metrics", timeout=LIMIT) as answer:
        assert 'training_operator_jobs_created_total{job_namespace="ada",framework="tensorflow"} 1' in answer.read().decode().splitlines()
    end(process)


def test_a_missing_right_is_told_once_for_each_job_and_on_it(muster, kube):
    def trouble(exchange):
        return exchange.method == "PUT" and refuse(403, reason="Forbidden", message="ada may not")(exchange)

    def tries(name):
        return [path for method, path, _ in kube.requests() if method == "PUT" and f"/{name}/" in path]

    kube.trouble = trouble
    for name in ("one", "two"):
        put_job(kube, name)
    process = muster.start("operator")
    until(kube, lambda: len(tries("one")) > 2 and len(tries("two")) > 2)
    said = end(process)
    assert [sum(f"job 'ada/{name}': " in line and "ada may not" in line for line in said) for name in ("one", "two")] == [1, 1], said
    told = [body for (plural, _), body in kube.objects.items() if plural == "events"]
    assert sorted(body["involvedObject"]["name"] for body in told) == ["one", "two"]
    assert {(body["type"], body["reason"]) for body in told} == {("Warning", "ReconcileError")}


def test_a_server_that_is_away_is_told_once_for_all_jobs(muster, kube):
    """Each job has a status to write, and no answer to it comes."""
    names = [f"job-{number}" for number in range(8)]
    is_away = [True]

    def trouble(exchange):
        return is_away and exchange.method != "GET" and refuse(500, reason="InternalError", message="away")(exchange)

    def puts():
        return collections.Counter(path for method, path, _ in kube.requests() if method == "PUT")

    kube.trouble = trouble
    for name in names:
        put_job(kube, name)
    process = muster.start("operator")
    assert "away" in process.stderr.readline()
    tries = max(puts().values())  # of the job that gave up first
    until(kube, lambda: sum(count > tries for count in puts().values()) == len(names))
    is_away.clear()
    until(kube, lambda: all(has_succeeded(kube, name) for name in names))
    assert end(process) == ["muster: the API server responds again"]


def test_a_service_that_is_made_after_its_job_has_ended_goes_as_the_others(muster, kube):
    def trouble(exchange):
        if exchange.method == "POST" and exchange.path.endswith("/services") and exchange.json()["metadata"]["name"] == "one-worker-0":
            until(kube, lambda: has_succeeded(kube, "one") and ("services", "one-worker-1") not in kube.objects)
        return False

    def was_deleted(name):
        """It may have been there for less time than it takes to look."""
        return any((plural, kind, body["metadata"]["name"]) == ("services", "DELETED", name)
                   for _, plural, kind, body in kube.history)

    kube.trouble = trouble
    put_job(kube, "one")
    spec = kube.objects["tfjobs", "one"]["spec"]
    spec["tfReplicaSpecs"]["Worker"]["replicas"] = 2
    spec["runPolicy"] = {"cleanPodPolicy": "All"}
    kube.put("tfjobs", "one", kube.objects["tfjobs", "one"])
    process = muster.start("operator")
    until(kube, lambda: was_deleted("one-worker-0"))
    end(process)


def test_what_gives_its_lease_back_changes_nothing_more(muster, kube):
    def trouble(exchange):
        if exchange.method != "PATCH" or "/leases/" not in exchange.path or not is_ending:
            return False
        put_job(kube, "late")
        for _ in range(2):  # it has seen the job before it asks again
            n_before = len(asks_of(kube))
            kube.end_watches()
            until(kube, lambda: len(asks_of(kube)) > n_before)
        return False

    is_ending = []
    kube.trouble = trouble
    put_job(kube, "one")
    process = muster.start("operator", "-n", "ada", "--leader-elect")
    until(kube, lambda: has_succeeded(kube, "one"))
    is_ending.append(True)
    end(process)
    assert ("tfjobs", "late") in kube.objects and ("pods", "late-worker-0") not in kube.objects
    assert not [path for _, path, _ in kube.requests() if "/late" in path]


@pytest.mark.parametrize("n_failures", [1, 5])
def test_a_service_whose_end_fails_goes_all_the_same(muster, kube, n_failures):
    failures = [500] * n_failures

    def trouble(exchange):
        if exchange.method != "DELETE" or not exchange.path.endswith("/services/one-worker-0") or not failures:
            return False
        code = failures.pop()
        exchange.answer(code, status(code, "InternalError", "not now"))
        return True

    kube.trouble = trouble
    put_job(kube, "one")
    kube.objects["tfjobs", "one"]["spec"]["runPolicy"] = {"cleanPodPolicy": "All"}
    kube.put("tfjobs", "one", kube.objects["tfjobs", "one"])
    process = muster.start("operator")
    until(kube, lambda: not failures and has_succeeded(kube, "one") and ("services", "one-worker-0") not in kube.objects)
    end(process)
