"""`muster operator` on the real control plane: TFJob objects as kubectl makes them are served as training-operator served them."""

import json
import re
import signal
import urllib.error
import urllib.request

import pytest

from conftest import LIMIT, ROOT, Shared, until
from test_image import NAME, image, image_file  # noqa: F401

CRD = ROOT / "deploy" / "crd.yaml"


@pytest.fixture
def crd(namespace, tmp_path_factory):
    """A cluster has one: of two that apply it at once, one would be told that it already exists."""
    with Shared(tmp_path_factory).lock("crd"):
        namespace.cluster.kubectl("apply", "-f", CRD)
    namespace.cluster.until_established("tfjobs.kubeflow.org")


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


def falling(n_times, code):
    """A script that fails so often before it goes on; what is in the volume outlives a container."""
    return f'echo x >> /kept/falls; [ $(wc -l < /kept/falls) -gt {n_times} ] && exit 0; echo falls $(wc -l < /kept/falls); exit {code}'


def keeping(role):
    spec = role["template"]["spec"]
    spec["volumes"] = [{"name": "kept", "emptyDir": {}}]
    spec["containers"][0]["volumeMounts"] = [{"name": "kept", "mountPath": "/kept"}]
    return role


def test_a_container_that_its_kubelet_starts_again_keeps_its_pod(operator, namespace):
    namespace.create(tfjob("falls", {"backoffLimit": 2, "cleanPodPolicy": "None"},
                           Worker=keeping(role(1, falling(2, 3), restartPolicy="OnFailure"))))
    first = namespace.until_phase("falls-worker-0", "Running")["metadata"]["uid"]
    namespace.wait("tfjob/falls", "condition=Succeeded")
    pod = namespace.get("pod", "falls-worker-0")
    assert pod["metadata"]["uid"] == first and pod["status"]["containerStatuses"][0]["restartCount"] == 2
    assert namespace.get("tfjob", "falls")["status"]["restarts"] == 2


def test_restarts_by_a_kubelet_count_towards_the_limit(operator, namespace):
    namespace.create(tfjob("sinks", {"backoffLimit": 1, "cleanPodPolicy": "None"},
                           Worker=keeping(role(1, falling(9, 7), restartPolicy="Always"))))
    namespace.wait("tfjob/sinks", "condition=Failed")
    failure = until(lambda: namespace.get("tfjob", "sinks")["status"]["failure"], lambda told: "lastLines" in told)
    assert failure["exitCode"] == 7 and failure["lastLines"] == ["falls 2"]


def test_two_workers_succeed(operator, namespace):
    namespace.create(tfjob("mnist", Worker=role(2, 'echo $TF_CONFIG; nslookup mnist-worker-1; exit 0')))
    namespace.wait("tfjob/mnist", "condition=Succeeded")
    # A kubelet may tell of Pods as short as these for the first time when they have ended: then the job never ran.
    assert {"Running": "False", **conditions(namespace, "mnist")} == {"Created": "True", "Running": "False", "Succeeded": "True"}
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
    numbers = until(lambda: ask(operator, "/metrics")[1], lambda text: f"training_operator_jobs_successful_total{labels} 1\n" in text)
    assert f"training_operator_jobs_created_total{labels} 1\n" in numbers
    assert "muster_operator_jobs 1\n" in numbers and "muster_pass_seconds_count{} " in numbers


def test_two_workers_find_each_other_by_one_service(operator, namespace):
    other = f"shared-worker-1.shared.{namespace.name}.svc"
    script = f"[ $HOSTNAME = shared-worker-1 ] && sleep 1000000; until nslookup {other}.cluster.local; do sleep 1; done"
    job = tfjob("shared", Worker=role(2, script))
    job["metadata"]["annotations"] = {"muster/services": "per-job"}
    namespace.create(job)
    namespace.wait("tfjob/shared", "condition=Succeeded")
    assert [service["metadata"]["name"] for service in namespace.list("services")] == ["shared"]
    [variable] = [entry for entry in namespace.get("pod", "shared-worker-0")["spec"]["containers"][0]["env"] if entry["name"] == "TF_CONFIG"]
    assert json.loads(variable["value"])["cluster"]["worker"][1] == f"{other}:2222"


def test_a_chief_ends_the_job_and_the_rest_is_cleaned_up(operator, namespace):
    namespace.create(tfjob("led", {"cleanPodPolicy": "Running"}, Chief=role(1, "sleep 2"), Worker=role(1, "sleep 1000000"),
                           PS=role(1, "sleep 1000000")))
    namespace.wait("tfjob/led", "condition=Succeeded")
    namespace.wait("pod/led-ps-0", "delete")
    assert namespace.get("pod", "led-chief-0")["status"]["phase"] == "Succeeded"
    assert namespace.get("pod", "led-chief-0")["metadata"]["labels"]["training.kubeflow.org/job-role"] == "master"


def test_kubectl_describes_a_job_by_its_events(operator, namespace):
    def row(kind, reason, message):
        return rf"(?m)^ +{kind} +{reason} .* tfjob-controller +{re.escape(message)}"

    image, node = role(1, ""), role(1, "")
    image["template"]["spec"]["containers"][0]["image"] = "localhost/none:1"
    node["template"]["spec"]["nodeSelector"] = {"type": "none"}
    namespace.create(tfjob("told", {"cleanPodPolicy": "All"}, Worker=role(1, "exit 0")), tfjob("image", Worker=image), tfjob("node", Worker=node))
    wanted = {
        "told": [("Normal", "SuccessfulCreatePod", "Created pod: told-worker-0"),
                 ("Normal", "SuccessfulCreateService", "Created service: told-worker-0"),
                 ("Normal", "ExitedWithCode", f"Pod: {namespace.name}.told-worker-0 exited with code 0"),
                 ("Normal", "TFJobSucceeded", f"TFJob {namespace.name}/told successfully completed."),
                 ("Normal", "SuccessfulDeletePod", "Deleted pod: told-worker-0"),
                 ("Normal", "SuccessfulDeleteService", "Deleted service: told-worker-0")],
        "image": [("Warning", "ErrImageNeverPull", "Error pod image-worker-0 container tensorflow waiting message: ")],
        "node": [("Warning", "Unschedulable", "Error pod node-worker-0 condition message: ")]}
    for name, events in wanted.items():
        until(lambda name=name: namespace.kubectl("describe", "tfjob", name),
              lambda text, events=events: all(len(re.findall(row(*event), text)) == 1 for event in events))


@pytest.mark.sanitize
def test_a_worker_that_fails_is_started_again_and_a_permanent_code_fails_the_job(operator, namespace):
    namespace.create(tfjob("again", Worker=role(1, "exit 137", restartPolicy="ExitCode")))
    until(lambda: namespace.get("tfjob", "again"), lambda job: '"Restarting"' in json.dumps(job))
    until(lambda: ask(operator, "/metrics")[1], lambda text: 'muster_operator_restarts_total{reason="' in text)
    namespace.kubectl("delete", "tfjob", "again")
    namespace.create(tfjob("broken", Worker=role(2, "echo no such file; exit 3", restartPolicy="ExitCode")))
    namespace.wait("tfjob/broken", "condition=Failed")
    namespace.wait("tfjob/broken", "jsonpath={.status.failure.lastLines[0]}=no such file")
    until(lambda: namespace.kubectl("get", "events", "-o", "jsonpath={.items[*].message}"),
          lambda told: 'job "broken" is failing because "Worker" replica(s) failed.' in told or "has failed because" in told)


@pytest.mark.sanitize
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
    before = {pod["metadata"]["uid"] for pod in namespace.list("pods")}
    operator.kill()
    operator.wait(LIMIT)
    second = muster.start("operator", "-n", namespace.name)
    for index in range(2):
        namespace.end_by(f"kept-worker-{index}", "touch", "/tmp/end")
    namespace.wait("tfjob/kept", "condition=Succeeded")
    assert {pod["metadata"]["uid"] for pod in namespace.list("pods")} == before
    second.send_signal(signal.SIGTERM)
    assert second.wait(LIMIT) == 0


def test_a_job_that_had_ended_before_is_left_as_it_is(muster, crd, namespace):
    """Of ten thousand that another operator saw to the end, none is written when ours starts."""
    namespace.create(tfjob("ended", Worker=role(1, "true")), tfjob("new", Worker=role(1, "true")))
    succeeded = {"type": "Succeeded", "status": "True", "reason": "TFJobSucceeded", "message": "TFJob successfully completed."}
    namespace.kubectl("patch", "tfjob", "ended", "--subresource=status", "--type=merge", "-p",
                      json.dumps({"status": {"conditions": [succeeded], "replicaStatuses": {"Worker": {"succeeded": 1}}}}))
    before = namespace.get("tfjob", "ended")
    process = muster.start("operator", "-n", namespace.name)
    namespace.wait("tfjob/new", "condition=Succeeded")
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT) == 0
    assert namespace.get("tfjob", "ended") == before


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
    until(lambda: conditions(namespace, "smaller"), lambda now: now == {"Created": "True", "Running": "True"})


def test_a_deadline_is_seen_though_nothing_happens(operator, namespace):
    """training-operator waits for the next event of the job."""
    namespace.create(tfjob("late", {"activeDeadlineSeconds": 2}, Worker=role(1, "sleep 1000000")))
    namespace.wait("tfjob/late", "condition=Failed")
    [failed] = [entry for entry in namespace.get("tfjob", "late")["status"]["conditions"] if entry["type"] == "Failed"]
    assert failed["message"] == "Job late has failed because it was active longer than specified deadline"


@pytest.mark.parametrize("job, why", [
    (tfjob("a" * 60, Worker=role(1, "true")), "Too long: '" + "a" * 60 + "' is too long a name"),
    (tfjob("empty"), "spec.tfReplicaSpecs: Required value: must have at least one role"),
    (tfjob("null", Worker=None), "spec.tfReplicaSpecs: Required value: must have at least one role"),
    (tfjob("huge", Worker=role(20000, "true")), "Too many: 20000 replicas: must have at most 10000"),
    (tfjob("deep", Worker={"template": {"spec": {"containers": [{"name": "tensorflow", "image": "i", "args": ["x"] * 11000}]}}}),
     "values: must have at most 10000"),
], ids=["name", "no roles", "a role that is null", "replicas", "values"])
def test_what_nothing_can_be_made_of_has_failed_and_says_why(operator, namespace, job, why):
    """training-operator is silent for ever."""
    name = job["metadata"]["name"]
    namespace.kubectl("create", "--validate=false", "-f", "-", input=json.dumps(job))
    namespace.wait(f"tfjob/{name}", "condition=Failed")
    [failed] = [entry for entry in namespace.get("tfjob", name)["status"]["conditions"] if entry["type"] == "Failed"]
    assert failed["reason"] == "TFJobFailedValidation" and why in failed["message"]
    until(lambda: namespace.kubectl("get", "events", "-o", "jsonpath={.items[*].message}"), lambda told: why in told)


CONTAINERS = "spec.tfReplicaSpecs[Worker].template.spec.containers"
TENSORFLOW = {"name": "tensorflow", "image": "i"}


def of_containers(*containers):
    return tfjob("x", Worker={"template": {"spec": {"containers": list(containers)}}})


def of_policy(**policy):
    return tfjob("x", policy, Worker=role(1, "true"))


def create(namespace, job, *options):
    text = json.dumps(job)
    return namespace.cluster.try_kubectl("-n", namespace.name, "create", "--dry-run=server", *options, "-f", "-", input=text)


@pytest.mark.parametrize("job, faults", [
    (tfjob("9a", Worker=role(1, "true")), [
        "metadata.name: Invalid value: should match: a DNS-1035 label must consist of lower case alphanumeric characters or "
        "'-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex "
        "used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"]),
    (tfjob("a" * 64, Worker=role(1, "true")), ["metadata.name: Invalid value: should match: must be no more than 63 characters"]),
    ({"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "x"}},
     ["spec.tfReplicaSpecs: Required value: must be required"]),
    (of_containers(), [f"{CONTAINERS}: Required value: must be specified",
                       f"{CONTAINERS}: Required value: must have at least one container with name tensorflow"]),
    (of_containers({"name": "other", "image": "i"}),
     [f"{CONTAINERS}: Required value: must have at least one container with name tensorflow"]),
    (of_containers(TENSORFLOW, {"name": "side"}), [f"{CONTAINERS}[1].image: Required value: must be required"]),
    (tfjob("x", Chief=role(1, "true"), Master=role(1, "true")),
     ["spec.tfReplicaSpecs: Forbidden: must not have more than 1 Chief or Master role"]),
    (of_policy(managedBy=""), [
        'spec.runPolicy.managedBy: Unsupported value: "": supported values: "kubeflow.org/training-operator", '
        '"kueue.x-k8s.io/multikueue"']),
], ids=["name", "long name", "no spec", "no containers", "no tensorflow", "no image", "chief and master", "managed by nobody"])
def test_the_server_refuses_what_the_webhook_did_in_its_words(crd, namespace, job, faults):
    done = create(namespace, job, "--validate=false")
    assert done.returncode == 1
    lines = [line.removeprefix("* ") for line in done.stderr.split(" is invalid: ", 1)[1].strip().splitlines()]
    assert [line for line in lines if "some validation rules were not checked" not in line] == faults


def test_who_manages_a_job_cannot_be_changed(crd, namespace):
    namespace.create(of_policy(suspend=True))
    for patch in ({"managedBy": "kueue.x-k8s.io/multikueue"}, {"managedBy": "kubeflow.org/training-operator"}):
        done = namespace.cluster.try_kubectl("-n", namespace.name, "patch", "tfjob", "x", "--type=merge", "-p",
                                             json.dumps({"spec": {"runPolicy": patch}}))
        assert done.returncode == 1 and "spec.runPolicy.managedBy: Invalid value" in done.stderr
        assert "field is immutable" in done.stderr


@pytest.mark.parametrize("job", [
    tfjob("x"), tfjob("x", chief=role(1, "true"), master=role(1, "true")), tfjob("x", Strange=role(1, "true", restartPolicy="?")),
    of_policy(cleanPodPolicy="?", backoffLimit=-1, ttlSecondsAfterFinished=-1,
              schedulingPolicy={"minResources": {"cpu": 1, "memory": "1Gi"}}),
    {**tfjob("x", Worker=role(1, "true")), "status": {}},
], ids=["no role", "chief and master in small letters", "a strange role", "odd values", "a status"])
def test_what_the_old_operator_took_is_taken(crd, namespace, job):
    done = create(namespace, job)
    assert done.returncode == 0, done.stderr


def test_the_fields_of_a_tfjob_are_known_and_explained(crd, namespace):
    """Also those that training-operator has not: a server drops what its definition does not have."""
    job = of_policy(restartScope="job", gracePeriodSeconds=1, stopSignal=2)
    assert json.loads(create(namespace, job, "-o", "json").stdout)["spec"]["runPolicy"].items() >= job["spec"]["runPolicy"].items()
    schema = json.loads(namespace.cluster.kubectl("get", "crd", "tfjobs.kubeflow.org", "-o", "json"))
    unexplained = []

    def walk(value, path):
        for name, field in value.get("properties", {}).items():
            if "description" not in field and path + name != "metadata":
                unexplained.append(path + name)
            for inner in (field, field.get("items", {}), field.get("additionalProperties", {})):
                walk(inner, f"{path}{name}.")

    walk(schema["spec"]["versions"][0]["schema"]["openAPIV3Schema"], "")
    assert [path for path in unexplained if path != "metadata.name"] == []
    until(lambda: namespace.cluster.try_kubectl("explain", "tfj.spec.runPolicy.restartScope").stdout,
          lambda told: "restarts only the replica." in told)  # the server publishes it after a moment


def read_until(stream, words):
    while words not in stream.readline():
        pass


def lead(muster, namespace, tmp_path):
    path = namespace.write_kubeconfig(tmp_path / "kubeconfig")
    muster.environment["KUBECONFIG"] = str(path)
    return muster.start("operator", "-n", namespace.name, "--leader-elect")


def test_one_of_two_acts_and_the_other_goes_on_when_it_ends(muster, crd, namespace, tmp_path):
    first = lead(muster, namespace, tmp_path)
    read_until(first.stderr, "became the leader: this operator now serves the TFJobs")
    second = lead(muster, namespace, tmp_path)
    read_until(second.stderr, "is the leader; this operator is waiting")
    namespace.create(tfjob("one", Worker=role(1, "true")))
    namespace.wait("tfjob/one", "condition=Succeeded")
    first.send_signal(signal.SIGTERM)
    assert first.wait(LIMIT) == 0
    read_until(second.stderr, "became the leader: this operator now serves the TFJobs")
    namespace.create(tfjob("two", Worker=role(1, "true")))
    namespace.wait("tfjob/two", "condition=Succeeded")
    third = lead(muster, namespace, tmp_path)
    read_until(third.stderr, "is the leader; this operator is waiting")
    second.kill()
    read_until(third.stderr, "became the leader: this operator now serves the TFJobs")
    namespace.create(tfjob("three", Worker=role(1, "true")))
    namespace.wait("tfjob/three", "condition=Succeeded")
    third.send_signal(signal.SIGTERM)
    assert third.wait(LIMIT) == 0


@pytest.fixture
def deployed(muster, cluster, image, tmp_path):  # noqa: F811
    """`kubectl apply -k deploy`, with the image of the tests: the operator of all namespaces."""
    for name in ("crd.yaml", "operator.yaml", "kustomization.yaml"):
        text = (ROOT / "deploy" / name).read_text().replace("newName: muster, newTag: latest", "newName: localhost/muster, newTag: test")
        text = text.replace("imagePullPolicy: IfNotPresent", "imagePullPolicy: Never")
        text = text.replace("      serviceAccountName:", "      nodeSelector: {type: real}\n      serviceAccountName:")
        (tmp_path / name).write_text(text)
    assert NAME == "localhost/muster:test"
    cluster.kubectl("apply", "-k", tmp_path)
    try:
        cluster.kubectl("-n", "muster-operator", "rollout", "status", "deployment/muster-operator", f"--timeout={LIMIT}s")
        yield
        assert_no_right_is_missing(cluster)
    finally:
        uninstall(muster, cluster)


@pytest.mark.disturbs
def test_it_runs_as_the_deployment_of_its_image_without_rights_that_it_does_not_need(muster, cluster, namespace, deployed):
    namespace.create(tfjob("deployed", {"ttlSecondsAfterFinished": 0}, Chief=role(1, "true"), Worker=role(1, "sleep 1000000")))
    namespace.kubectl("wait", "--for=delete", "tfjob/deployed", f"--timeout={LIMIT}s")
    namespace.wait("pod/deployed-worker-0", "delete")
    assert_no_right_is_missing(cluster)
    # Over it the same with rights in one namespace alone, by muster, which waits until it runs.
    done = muster("operator", "install", "--image", NAME, "-n", namespace.name, code=0)
    assert done.stdout.splitlines()[-1] == "the operator is running"
    assert "clusterroles 'muster-operator' deleted\n" in done.stdout
    namespace.create(tfjob("again", {"ttlSecondsAfterFinished": 0}, Worker=role(1, "true")))
    namespace.kubectl("wait", "--for=delete", "tfjob/again", f"--timeout={LIMIT}s")


def assert_no_right_is_missing(cluster):
    lines = cluster.kubectl("-n", "muster-operator", "logs", "-l", "app.kubernetes.io/name=muster-operator", "--tail=-1")
    assert "cannot" not in lines and "forbidden" not in lines, lines


def uninstall(muster, cluster, *options):
    """Until it is gone, for a namespace that is being deleted takes nothing new; gives what is said."""
    done = muster("operator", "uninstall", *options, code=0)
    cluster.kubectl("wait", "--for=delete", "namespace/muster-operator", f"--timeout={LIMIT}s")
    return done.stdout


def definition(plural, kind, of_status):
    schema = {"type": "object", "properties": {
        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "status": {"type": "object", "properties": of_status}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.kubeflow.org"},
            "spec": {"group": "kubeflow.org", "scope": "Namespaced",
                     "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                                   "schema": {"openAPIV3Schema": schema}}]}}


def webhook(kind):
    return {"name": f"validator.{kind}.training-operator.kubeflow.org", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {"name": "training-operator", "namespace": "default", "path": f"/{kind}"}},
            "rules": [{"apiGroups": ["kubeflow.org"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
                       "resources": [f"{kind}s"]}]}


@pytest.fixture
def old_operator(cluster, namespace):
    """What training-operator leaves to be seen: its Deployment, its webhook, two definitions, and a job of each."""
    labels = {"control-plane": "kubeflow-training-operator"}
    container = {"name": "training-operator", "image": "localhost/nothing:test", "imagePullPolicy": "Never"}
    namespace.create({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "training-operator", "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
                                                                   "spec": {"containers": [container]}}}})
    conditions = {"conditions": {"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
    made = [definition("tfjobs", "TFJob", conditions), definition("pytorchjobs", "PyTorchJob", conditions),
            {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
             "metadata": {"name": "validator.training-operator.kubeflow.org"},
             "webhooks": [webhook("pytorchjob"), webhook("tfjob")]}]
    cluster.kubectl("delete", "crd", "tfjobs.kubeflow.org", "--ignore-not-found")
    cluster.kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": made[:2]}))
    for name in ("tfjobs", "pytorchjobs"):
        cluster.until_established(f"{name}.kubeflow.org")
    namespace.create(tfjob("before", {"suspend": True}, Worker=role(1, "true")),
                     {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "other"}, "spec": {}})
    cluster.kubectl("create", "-f", "-", input=json.dumps(made[2]))
    yield made[2]["metadata"]["name"]
    cluster.kubectl("delete", "validatingwebhookconfiguration", made[2]["metadata"]["name"], "--ignore-not-found")
    cluster.kubectl("delete", "crd", "pytorchjobs.kubeflow.org")


@pytest.mark.long
@pytest.mark.disturbs
def test_it_takes_the_place_of_the_old_operator_and_goes_again(muster, cluster, old_operator, namespace):
    replicas = ("get", "deployment", "training-operator", "-o", "jsonpath={.spec.replicas}")
    entries = ("get", "validatingwebhookconfiguration", old_operator, "-o", "jsonpath={.webhooks[*].name}")
    assert "operator upgrade-from-training-operator" in muster("operator", "-n", namespace.name, code=2).stderr
    shown = muster("operator", "upgrade-from-training-operator", "--dry-run", code=0)
    assert "which would have no operator: 1 PyTorchJob" in shown.stderr
    assert f"deployments 'training-operator' of namespace {namespace.name} scaled to 0 (dry run)\n" in shown.stdout
    assert f"validatingwebhookconfigurations '{old_operator}' without its entry of TFJobs (dry run)\n" in shown.stdout
    refused = muster("operator", "upgrade-from-training-operator", "--no-wait", code=3)
    assert "--force" in refused.stderr and refused.stdout == ""
    assert namespace.kubectl(*replicas) == "1" and cluster.kubectl(*entries).count("tfjob") == 1

    uid = namespace.get("tfjob", "before")["metadata"]["uid"]
    done = muster("operator", "upgrade-from-training-operator", "--no-wait", "--force", code=0)
    assert [line.replace(" created", " applied") for line in done.stdout.splitlines()] == [
        line.removesuffix(" (dry run)") for line in shown.stdout.splitlines()]
    assert namespace.kubectl(*replicas) == "0" and namespace.list("pods") == []
    assert cluster.kubectl(*entries) == "validator.pytorchjob.training-operator.kubeflow.org"

    namespace.kubectl("delete", "deployment", "training-operator")  # whoever did that left its webhook
    step = {"op": "add", "path": "/webhooks/-", "value": webhook("tfjob")}
    cluster.kubectl("patch", "validatingwebhookconfiguration", old_operator, "--type=json", "-p", json.dumps([step]))
    again = muster("operator", "upgrade-from-training-operator", "--no-wait", "--force", code=0)
    assert "training-operator is not installed, or is already deleted" in again.stderr
    assert cluster.kubectl(*entries) == "validator.pytorchjob.training-operator.kubeflow.org"

    operator = muster.start("operator", "-n", namespace.name)
    namespace.wait("tfjob/before", "condition=Suspended")
    assert namespace.get("tfjob", "before")["metadata"]["uid"] == uid
    operator.send_signal(signal.SIGTERM)
    assert operator.wait(LIMIT) == 0

    refused = muster("operator", "uninstall", "--with-crd", code=3)
    assert "1 TFJob would be deleted with the definition" in refused.stderr
    assert "the definition of TFJobs and all jobs are kept" in uninstall(muster, cluster)
    namespace.kubectl("delete", "tfjob", "before")
    assert "customresourcedefinitions 'tfjobs.kubeflow.org' deleted" in muster("operator", "uninstall", "--with-crd", code=0).stdout
    cluster.kubectl("wait", "--for=delete", "crd/tfjobs.kubeflow.org", f"--timeout={LIMIT}s")
