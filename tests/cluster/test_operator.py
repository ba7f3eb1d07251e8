"""`muster operator` on the real control plane: TFJob objects as kubectl makes them are served as training-operator served them."""

import json
import signal
import urllib.error
import urllib.request

import pytest

from conftest import LIMIT, ROOT, until
from test_image import NAME, image  # noqa: F401

CRD = ROOT / "deploy" / "crd.yaml"


@pytest.fixture
def crd(namespace):
    namespace.cluster.kubectl("apply", "-f", CRD)
    namespace.cluster.kubectl("wait", "--for=condition=Established", "crd/tfjobs.kubeflow.org", f"--timeout={LIMIT}s")


@pytest.fixture
def operator(muster, crd, namespace):
    """Serves the namespace's TFJobs."""
    process = muster.start("operator", "-n", namespace.name, "--metrics-bind-address", "127.0.0.1:0")
    yield process
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT) in (0, -signal.SIGKILL)


def ask(process, path):
    """(code, text) of its HTTP server, whose address it says first."""
    if not hasattr(process, "origin"):
        process.origin = process.stderr.readline().split()[-1]
    try:
        with urllib.request.urlopen(process.origin + path, timeout=LIMIT) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def role(replicas, script, **more):
    container = {"name": "tensorflow", "image": "localhost/busybox:test", "imagePullPolicy": "Never",
                 "command": ["sh", "-c", script]}
    return {"replicas": replicas, **more,
            "template": {"spec": {"nodeSelector": {"type": "real"}, "terminationGracePeriodSeconds": 1,
                                  "containers": [container]}}}


def tfjob(name, run_policy=None, **roles):
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": name},
            "spec": {"tfReplicaSpecs": roles, **({"runPolicy": run_policy} if run_policy else {})}}


def conditions(namespace, name):
    status = namespace.get("tfjob", name).get("status", {})
    return {condition["type"]: condition["status"] for condition in status.get("conditions", [])}


def test_two_workers_succeed(operator, namespace):
    namespace.create(tfjob("mnist", Worker=role(2, 'echo $TF_CONFIG; nslookup mnist-worker-1; exit 0')))
    namespace.wait("tfjob/mnist", "condition=Succeeded")
    assert conditions(namespace, "mnist") == {"Created": "True", "Running": "False", "Succeeded": "True"}
    pod = namespace.get("pod", "mnist-worker-1")
    assert pod["metadata"]["labels"] == {
        "training.kubeflow.org/operator-name": "tfjob-controller", "training.kubeflow.org/job-name": "mnist",
        "training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "1"}
    [variable] = [entry for entry in pod["spec"]["containers"][0]["env"] if entry["name"] == "TF_CONFIG"]
    where = f"{namespace.name}.svc:2222"
    assert json.loads(variable["value"]) == {
        "cluster": {"worker": [f"mnist-worker-0.{where}", f"mnist-worker-1.{where}"]},
        "task": {"type": "worker", "index": 1}, "environment": "cloud"}
    service = namespace.get("service", "mnist-worker-1")
    assert service["spec"]["clusterIP"] == "None" and service["spec"]["ports"][0]["port"] == 2222
    assert ask(operator, "/healthz")[0] == 200 and ask(operator, "/readyz")[0] == 200
    labels = f'{{job_namespace="{namespace.name}",framework="tensorflow"}}'
    numbers = ask(operator, "/metrics")[1]
    for event in ("created", "successful"):
        assert f"training_operator_jobs_{event}_total{labels} 1\n" in numbers
    assert "muster_operator_jobs 1\n" in numbers and "muster_pass_seconds_count{} " in numbers


def test_a_chief_ends_the_job_and_the_rest_is_cleaned_up(operator, namespace):
    namespace.create(tfjob("led", {"cleanPodPolicy": "Running"}, Chief=role(1, "sleep 2"), Worker=role(1, "sleep 1000000"),
                           PS=role(1, "sleep 1000000")))
    namespace.wait("tfjob/led", "condition=Succeeded")
    namespace.wait("pod/led-ps-0", "delete")
    assert namespace.get("pod", "led-chief-0")["status"]["phase"] == "Succeeded"
    assert namespace.get("pod", "led-chief-0")["metadata"]["labels"]["training.kubeflow.org/job-role"] == "master"


def test_a_worker_that_fails_is_started_again_and_a_permanent_code_fails_the_job(operator, namespace):
    namespace.create(tfjob("again", Worker=role(1, "exit 137", restartPolicy="ExitCode")))
    until(lambda: namespace.get("tfjob", "again"), lambda job: '"Restarting"' in json.dumps(job))
    namespace.kubectl("delete", "tfjob", "again")
    namespace.create(tfjob("broken", Worker=role(2, "exit 3", restartPolicy="ExitCode")))
    namespace.wait("tfjob/broken", "condition=Failed")
    events = namespace.kubectl("get", "events", "-o", "jsonpath={.items[*].message}")
    assert 'job "broken" is failing because "Worker" replica(s) failed.' in events or "has failed because" in events


def test_suspended_resumed_scaled_and_deleted(operator, namespace):
    namespace.create(tfjob("sleeper", {"suspend": True}, Worker=role(1, "sleep 1000000")))
    namespace.wait("tfjob/sleeper", "condition=Suspended")
    namespace.kubectl("patch", "tfjob", "sleeper", "--type=merge", "-p", '{"spec": {"runPolicy": {"suspend": false}}}')
    namespace.until_phase("sleeper-worker-0", "Running")
    namespace.wait("tfjob/sleeper", "condition=Running")
    namespace.kubectl("scale", "tfjob", "sleeper", "--replicas=2")
    namespace.until_phase("sleeper-worker-1", "Running")
    assert namespace.get("tfjob", "sleeper")["status"]["replicaStatuses"]["Worker"]["active"] >= 1
    namespace.kubectl("delete", "tfjob", "sleeper", "--wait=true")
    namespace.wait("pod/sleeper-worker-1", "delete")


def test_another_operator_goes_on_with_the_jobs_of_one_that_was_killed(muster, operator, namespace):
    namespace.create(tfjob("kept", Worker=role(2, "until [ -e /tmp/end ]; do sleep 1; done")))
    for index in range(2):
        namespace.until_phase(f"kept-worker-{index}", "Running")
    before = {pod["metadata"]["uid"] for pod in namespace.get("pods")["items"]}
    operator.kill()
    operator.wait(LIMIT)
    second = muster.start("operator", "-n", namespace.name)
    for index in range(2):
        namespace.kubectl("exec", f"kept-worker-{index}", "--", "touch", "/tmp/end")
    namespace.wait("tfjob/kept", "condition=Succeeded")
    assert {pod["metadata"]["uid"] for pod in namespace.get("pods")["items"]} == before
    second.send_signal(signal.SIGTERM)
    assert second.wait(LIMIT) == 0


def test_a_pod_that_somebody_deletes_is_started_again(operator, namespace):
    """training-operator fails the job."""
    namespace.create(tfjob("lost", Worker=role(1, "sleep 1000000", restartPolicy="OnFailure")))
    first = namespace.until_phase("lost-worker-0", "Running")["metadata"]["uid"]
    namespace.kubectl("delete", "pod", "lost-worker-0")
    second = until(lambda: namespace.cluster.try_kubectl("-n", namespace.name, "get", "pod", "lost-worker-0", "-o", "json"),
                   lambda done: done.returncode == 0 and json.loads(done.stdout)["metadata"]["uid"] != first
                   and json.loads(done.stdout)["status"]["phase"] == "Running")
    assert json.loads(second.stdout)["metadata"]["annotations"]["muster/attempt"] == "1"
    assert "Failed" not in conditions(namespace, "lost")


def test_a_job_that_is_edited_to_fewer_workers_goes_on(operator, namespace):
    """training-operator fails it."""
    namespace.create(tfjob("smaller", Worker=role(2, "sleep 1000000")))
    for index in range(2):
        namespace.until_phase(f"smaller-worker-{index}", "Running")
    namespace.kubectl("patch", "tfjob", "smaller", "--type=merge", "-p", '{"spec": {"tfReplicaSpecs": {"Worker": {"replicas": 1}}}}')
    namespace.wait("pod/smaller-worker-1", "delete")
    namespace.wait("service/smaller-worker-1", "delete")
    assert conditions(namespace, "smaller") == {"Created": "True", "Running": "True"}


def test_a_deadline_is_seen_though_nothing_happens(operator, namespace):
    """training-operator waits for the next event of the job."""
    namespace.create(tfjob("late", {"activeDeadlineSeconds": 2}, Worker=role(1, "sleep 1000000")))
    namespace.wait("tfjob/late", "condition=Failed")
    [failed] = [entry for entry in namespace.get("tfjob", "late")["status"]["conditions"] if entry["type"] == "Failed"]
    assert failed["message"] == "Job late has failed because it was active longer than specified deadline"


@pytest.mark.parametrize("job, why", [
    (tfjob("a" * 60, Worker=role(1, "true")), "Too long: '" + "a" * 60 + "' is too long a name"),
    (tfjob("empty"), "spec.tfReplicaSpecs: Required value: has no role"),
    (tfjob("null", Worker=None), "spec.tfReplicaSpecs: Required value: has no role"),
], ids=["name", "no roles", "a role that is null"])
def test_what_nothing_can_be_made_of_has_failed_and_says_why(operator, namespace, job, why):
    """training-operator is silent for ever."""
    name = job["metadata"]["name"]
    namespace.kubectl("create", "--validate=false", "-f", "-", input=json.dumps(job))
    namespace.wait(f"tfjob/{name}", "condition=Failed")
    [failed] = [entry for entry in namespace.get("tfjob", name)["status"]["conditions"] if entry["type"] == "Failed"]
    assert failed["reason"] == "TFJobFailedValidation" and why in failed["message"]
    until(lambda: namespace.kubectl("get", "events", "-o", "jsonpath={.items[*].message}"), lambda told: why in told)


@pytest.mark.parametrize("job, why", [
    (tfjob("Upper", Worker=role(1, "true")), "should match: a DNS-1035 label"),
    (tfjob("two", Chief=role(1, "true"), Master=role(1, "true")), "must not have more than 1 Chief or Master role"),
    ({**tfjob("none"), "spec": {}}, "tfReplicaSpecs: Required value"),
    (tfjob("other", {"managedBy": ""}, Worker=role(1, "true")), "Unsupported value"),
], ids=["name", "chief and master", "no roles", "managed by nobody"])
def test_what_the_webhook_refused_the_server_refuses(operator, namespace, job, why):
    done = namespace.cluster.try_kubectl("-n", namespace.name, "create", "-f", "-", input=json.dumps(job))
    assert done.returncode == 1 and why in done.stderr


def read_until(stream, words):
    while words not in stream.readline():
        pass


def lead(muster, namespace, tmp_path):
    path = namespace.write_kubeconfig(tmp_path / "kubeconfig")
    muster.environment["KUBECONFIG"] = str(path)
    return muster.start("operator", "-n", namespace.name, "--leader-elect")


def test_one_of_two_acts_and_the_other_goes_on_when_it_ends(muster, crd, namespace, tmp_path):
    first = lead(muster, namespace, tmp_path)
    read_until(first.stderr, "TFJobs are served from here from now on")
    second = lead(muster, namespace, tmp_path)
    read_until(second.stderr, "this one waits")
    namespace.create(tfjob("one", Worker=role(1, "true")))
    namespace.wait("tfjob/one", "condition=Succeeded")
    first.send_signal(signal.SIGTERM)
    assert first.wait(LIMIT) == 0
    read_until(second.stderr, "TFJobs are served from here from now on")
    namespace.create(tfjob("two", Worker=role(1, "true")))
    namespace.wait("tfjob/two", "condition=Succeeded")
    third = lead(muster, namespace, tmp_path)
    read_until(third.stderr, "this one waits")
    second.kill()
    read_until(third.stderr, "TFJobs are served from here from now on")
    namespace.create(tfjob("three", Worker=role(1, "true")))
    namespace.wait("tfjob/three", "condition=Succeeded")
    third.send_signal(signal.SIGTERM)
    assert third.wait(LIMIT) == 0


def test_it_runs_as_the_deployment_of_its_image_without_rights_that_it_does_not_need(cluster, image, namespace, tmp_path):  # noqa: F811
    for name in ("crd.yaml", "operator.yaml", "kustomization.yaml"):
        text = (ROOT / "deploy" / name).read_text().replace("newName: muster, newTag: latest", "newName: localhost/muster, newTag: test")
        text = text.replace("imagePullPolicy: IfNotPresent", "imagePullPolicy: Never")
        text = text.replace("      serviceAccountName:", "      nodeSelector: {type: real}\n      serviceAccountName:")
        (tmp_path / name).write_text(text)
    assert NAME == "localhost/muster:test"
    cluster.kubectl("apply", "-k", tmp_path)
    try:
        cluster.kubectl("-n", "muster-operator", "rollout", "status", "deployment/muster-operator", f"--timeout={LIMIT}s")
        namespace.create(tfjob("deployed", {"ttlSecondsAfterFinished": 0}, Chief=role(1, "true"), Worker=role(1, "sleep 1000000")))
        namespace.kubectl("wait", "--for=delete", "tfjob/deployed", f"--timeout={LIMIT}s")
        namespace.wait("pod/deployed-worker-0", "delete")
        lines = cluster.kubectl("-n", "muster-operator", "logs", "-l", "app.kubernetes.io/name=muster-operator", "--tail=-1")
        assert "cannot" not in lines and "forbidden" not in lines, lines
    finally:
        cluster.kubectl("delete", "-f", tmp_path / "operator.yaml", "--wait=false")
