"""`muster run --on kubernetes` among objects that are not its own but look like it, and among numbers and words that no
server of good will sends: what is foreign is neither taken, changed nor deleted, and holds nothing up."""

import functools
import json
import threading

import pytest

from conftest import LIMIT, read_line, read_until
from fake_kube import refuse
from living_kube import LivingKube, merge
from test_jobs_elsewhere import write_kubeconfig

UID = "5d0c1f3e-0000-4000-8000-000000000001"
LABELS = {"app.kubernetes.io/managed-by": "muster", "muster/job": "story"}


@pytest.fixture
def kube(muster, tmp_path):
    with LivingKube() as server:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", server.origin))
        yield server


def run(muster, **options):
    return muster("run", "--on", "kubernetes", "--name", "story", "-w", 2, "--image", "i", "--", "true", "", **options)


def test_pods_with_our_labels_that_the_job_does_not_own_hold_nothing_up(muster, kube):
    kube.put("pods", "mine", {"metadata": {"uid": "foreign", "labels": {**LABELS, "muster/role": "worker",
             "muster/index": "0", "muster/attempt": "0"}}, "spec": {}, "status": {"phase": "Running"}})
    run(muster, code=0)
    left = [("pods", "mine")]
    assert kube.wait_until_left(left, LIMIT) == left


def put_record(kube, document, status="null", summary="null", labels=LABELS):
    kube.put("configmaps", "story.job", {
        "metadata": {"uid": UID, "creationTimestamp": "2026-01-02T03:04:05Z", "labels": labels},
        "data": {"document": document, "status": status, "summary": summary}})


def begun(replicas=2):
    """The status of a job that a supervisor has acted for, and none of whose Pods is started."""
    return json.dumps({"replicas": [{"role": "worker", "indices": f"0-{replicas - 1}" if replicas > 1 else "0", "state": "Pending"}]})


def document(name="story", namespace="ada", replicas=2):
    return json.dumps({
        "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": name, "namespace": namespace},
        "spec": {"tfReplicaSpecs": {"Worker": {"replicas": replicas, "template": {"spec": {
            "containers": [{"name": "tensorflow", "image": "i"}]}}}}}})


@pytest.mark.parametrize("labels", [{}, {"app.kubernetes.io/managed-by": "helm", "muster/job": "story"}, {**LABELS, "muster/job": "other"}])
def test_a_config_map_of_that_name_that_is_not_ours_is_left_alone(muster, kube, labels):
    put_record(kube, document(), labels=labels)
    before = json.dumps(kube.objects["configmaps", "story.job"])
    assert "ConfigMap 'story.job' in namespace 'ada' does not belong to muster" in run(muster, code=2).stderr
    for command, code in (("status", 1), ("stop", 1), ("delete", 1), ("attach", 125)):
        assert "job 'story' not found" in muster(command, "kubernetes/ada/story", code=code).stderr
    assert [json.dumps(made) for made in kube.objects.values()] == [before] and not kube.created


@pytest.mark.parametrize("text, status", [
    (document(), "[]"), (document(), "half"), (document(replicas=2**31 - 1), "null"), ("half", "null"), ("[]", "null"),
    (document("another"), "null"), (document(namespace="kube-system"), "null")])
def test_a_record_that_nobody_can_read_can_be_deleted(muster, kube, text, status):
    put_record(kube, text, status)
    for command in ("status", "attach"):
        assert "cannot be read" in muster(command, "kubernetes/ada/story").stderr
    assert not kube.created
    muster("delete", "kubernetes/ada/story", code=0)
    assert kube.wait_until_empty(LIMIT) == []


def test_the_namespace_of_a_job_under_a_watching_muster_cannot_be_changed(muster, tmp_path):
    """Whoever may write ConfigMaps in one namespace would have Pods made in another, with the rights of who watches."""
    with LivingKube(lambda labels: None) as kube:  # Pods run on
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 2, "--image", "i", "--", "true")
        with kube.lock:
            kube.lock.wait_for(lambda: len([1 for plural, _ in kube.created if plural == "pods"]) == 2, LIMIT)
            data = dict(kube.objects["configmaps", "story.job"]["data"])
            spec = json.loads(data["document"])
            spec["metadata"]["namespace"] = "kube-system"
            spec["spec"]["tfReplicaSpecs"]["Worker"]["replicas"] = 3
            before = kube.objects["configmaps", "story.job"]
            kube.put("configmaps", "story.job", {**before, "data": {**data, "document": json.dumps(spec)}})
        while "job 'story' cannot be read" not in read_line(job.stderr):
            pass
        muster("delete", "kubernetes/ada/story", code=0)
        assert job.wait(LIMIT) == 125
        assert not [exchange.path for exchange in kube.server.exchanges if "kube-system" in exchange.path]


def patch_document(kube, patch):
    """As somebody does who may write ConfigMaps."""
    with kube.lock:
        owner = kube.objects["configmaps", "story.job"]
        document = merge(json.loads(owner["data"]["document"]), patch)
        kube.put("configmaps", "story.job", {**owner, "data": {**owner["data"], "document": json.dumps(document)}})


def wait_for_pods(kube, count):
    with kube.lock:
        assert kube.lock.wait_for(lambda: len([1 for plural, _ in kube.objects if plural == "pods"]) == count, LIMIT)
        return [body["spec"] for (plural, _), body in sorted(kube.objects.items()) if plural == "pods"]


EVIL = {"serviceAccountName": "admin-sa", "hostPID": True, "containers": [{"name": "tensorflow", "image": "evil"}]}


def test_others_change_the_size_of_a_job_and_nothing_of_its_pods(muster, kube):
    """Whoever may write ConfigMaps would have Pods made with the rights of who watches."""
    kube.plan = lambda labels: None  # Pods run on
    job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", "--", "true")
    wait_for_pods(kube, 1)
    patch_document(kube, {"spec": {"tfReplicaSpecs": {"Worker": {"replicas": 2, "template": {"spec": EVIL}}}}})
    second = wait_for_pods(kube, 2)[1]
    assert second["containers"][0]["image"] == "i" and not {"hostPID", "serviceAccountName"} & {*second}
    fields = [f"spec.tfReplicaSpecs[Worker].template.spec.{field}" for field in (
        "containers[0].image", "hostPID", "serviceAccountName")]
    told = wait_for_line(job.stderr, "job 'story' was changed on the cluster")
    assert all(field in told for field in fields) and "muster ignores the change" in told
    muster("delete", "kubernetes/ada/story", code=0)
    assert kube.wait_until_empty(LIMIT) == []


def wait_for_line(stream, part):
    line = read_line(stream)
    while part not in line:
        line = read_line(stream)
    return line


def test_what_a_job_made_elsewhere_may_do_is_shown_before_its_pods_are_made(muster, kube):
    spec = json.loads(document(replicas=1))
    spec["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"].update({
        **EVIL, "volumes": [{"name": "v", "hostPath": {"path": "/"}}, {"name": "k", "secret": {"secretName": "keys\u001b[2J"}}]})
    put_record(kube, json.dumps(spec))
    refused = muster("attach", "kubernetes/ada/story", code=4).stderr
    assert refused == ("muster: job 'story' was created elsewhere, and its Pods would run with your rights; use "
                       "--trust to allow that. They ask for: hostPID, service account admin-sa, hostPath /, "
                       "Secret keys?[2J\n")
    assert muster("attach", "-d", "kubernetes/ada/story", code=4).stderr == refused
    assert not kube.created


def leave_patched(muster, kube):
    """A job that no muster supervises, and whose record somebody has patched."""
    kube.plan = lambda labels: None  # Pods run on
    job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", "--", "true")
    read_until(job.stdout, "line 19")
    job.kill()
    job.wait(LIMIT)
    patch_document(kube, {"spec": {"tfReplicaSpecs": {"Worker": {"replicas": 2, "template": {"spec": EVIL}}}}})


def test_a_job_that_is_known_here_is_attached_to_as_it_was(muster, kube):
    leave_patched(muster, kube)
    attached = muster.start("attach", "kubernetes/ada/story")
    told = wait_for_line(attached.stderr, "job 'story' was changed on the cluster")
    assert "spec.tfReplicaSpecs[Worker].template.spec.hostPID" in told
    second = wait_for_pods(kube, 2)[1]
    assert second["containers"][0]["image"] == "i" and not {"hostPID", "serviceAccountName"} & {*second}
    muster("delete", "kubernetes/ada/story", code=0)
    attached.wait(LIMIT)
    assert kube.wait_until_empty(LIMIT) == []


def test_who_trusts_a_job_made_elsewhere_has_its_pods_made(muster, kube, tmp_path):
    leave_patched(muster, kube)
    muster.environment["MUSTER_STATE_DIR"] = str(tmp_path / "elsewhere")
    refused = muster("attach", "kubernetes/ada/story", code=4)
    assert "They ask for: hostPID, service account admin-sa\n" in refused.stderr
    attached = muster.start("attach", "--trust", "kubernetes/ada/story")
    second = wait_for_pods(kube, 2)[1]
    assert second["hostPID"] and second["serviceAccountName"] == "admin-sa"
    muster("delete", "kubernetes/ada/story", code=0)
    attached.wait(LIMIT)
    assert kube.wait_until_empty(LIMIT) == []


@pytest.mark.parametrize("change, is_refused", [
    ({"data": {"0-train.py": "print('evil')"}}, True), ({"data": {}, "binaryData": {"0-train.py": "ZXZpbA=="}}, True),
    ({"metadata": {"annotations": {"seen": "yes"}}}, False)], ids=["text", "bytes", "annotation"])
def test_files_that_somebody_replaced_run_in_no_pod(muster, kube, change, is_refused):
    """A ConfigMap is immutable, but may be deleted and made again."""
    kube.plan = lambda labels: None  # Pods run on
    (muster.folder / "train.py").write_text("print('good')\n")
    job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", "--max-restarts", 1, "train.py")
    read_until(job.stdout, "line 19")
    with kube.lock:
        name, = (name for _, name in kube.objects if name.startswith("story.files-0-"))
        files = json.loads(json.dumps(kube.objects["configmaps", name]))
    assert "good" in json.dumps(files["data"])
    kube.put("configmaps", name, {**files, **change, "metadata": {**files["metadata"], **change.get("metadata", {})}})
    if not is_refused:
        kube.plan = lambda labels: 0
        kube.end_pods()
    told = job.stderr.read()
    assert (job.wait(LIMIT) != 0) == is_refused
    assert (f"the ConfigMap '{name}' of the job was replaced" in told) == is_refused
    assert [plural for plural, _ in kube.created].count("pods") == 1


def document_with_secret():
    story = json.loads(document(replicas=1))
    story["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["env"] = [
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "story.env", "key": "TOKEN"}}}]
    return json.dumps(story)


def put_applied(kube):
    """A job as `kubectl apply` makes what `render` shows: nobody owns its objects."""
    put_record(kube, document_with_secret())
    pod = {**LABELS, "muster/role": "worker", "muster/index": "0", "muster/attempt": "0"}
    kube.put("pods", "story-worker-0", {"metadata": {"labels": pod}, "spec": {}, "status": {"phase": "Running"}})
    for plural, name in (("services", "story"), ("networkpolicies", "story.network"), ("secrets", "story.env"),
                         ("configmaps", "story.files-0")):
        kube.put(plural, name, {"metadata": {"labels": LABELS}})


def refuse_for(kube, method, plural):
    """This right is missing."""
    def trouble(exchange):
        is_it = exchange.method == method and f"/{plural}" in exchange.path
        return is_it and refuse(403, reason="Forbidden", message="ada may not")(exchange)
    kube.trouble = trouble


def test_what_was_applied_goes_and_what_another_owns_stays(muster, kube):
    put_applied(kube)
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": "other"}
    kube.put("secrets", "foreign", {"metadata": {"labels": LABELS, "ownerReferences": [owner]}})
    kube.put("secrets", "unlabelled")
    muster("delete", "kubernetes/ada/story", code=0)
    left = [("secrets", "foreign"), ("secrets", "unlabelled")]
    assert kube.wait_until_left(left, LIMIT) == left


@pytest.mark.parametrize("change", [
    {"labels": {"muster/job": "other"}}, {"labels": {}}, {"labels": LABELS, "ownerReferences": [{"uid": "other", "name": "o"}]}],
    ids=["of another job", "of nobody", "of another owner"])
def test_a_secret_of_that_name_that_is_not_of_the_job_stays(muster, kube, change):
    put_record(kube, document_with_secret())
    kube.put("secrets", "story.env", {"metadata": change})
    muster("delete", "kubernetes/ada/story", code=0)
    left = [("secrets", "story.env")]
    assert kube.wait_until_left(left, LIMIT) == left
    assert kube.objects[left[0]]["metadata"].get("ownerReferences") == change.get("ownerReferences")


@pytest.mark.parametrize("method, verb, plural, name", [
    ("GET", "list", "services", "story"), ("DELETE", "delete", "services", "story"),
    ("DELETE", "delete", "networkpolicies", "story.network"), ("PATCH", "patch", "secrets", "story.env")])
def test_a_missing_right_is_named_the_rest_goes_and_the_job_can_be_deleted_again(muster, kube, method, verb, plural, name):
    put_applied(kube)
    refuse_for(kube, method, plural)
    done = muster("delete", "kubernetes/ada/story", code=4)
    assert f"cannot delete everything of job 'story'; its ConfigMap stays: cannot {verb} {plural}" in done.stderr
    with kube.lock:
        assert {("configmaps", "story.job"), (plural, name)} <= set(kube.objects)
    kube.trouble = lambda exchange: False
    muster("delete", "kubernetes/ada/story", code=0)
    assert kube.wait_until_empty(LIMIT) == []


def test_secrets_are_not_listed_and_who_may_not_change_them_deletes_a_job_of_ours(muster, kube):
    put_record(kube, document_with_secret())
    seen = []

    def trouble(exchange):
        if "/secrets" in exchange.path:
            seen.append((exchange.method, exchange.path))
            return refuse(403, reason="Forbidden", message="ada may not")(exchange)
        return False

    kube.trouble = trouble
    muster("delete", "kubernetes/ada/story", code=0)
    assert kube.wait_until_empty(LIMIT) == []
    assert seen == [("PATCH", "/api/v1/namespaces/ada/secrets/story.env")]


def test_a_warning_of_a_pod_that_is_seen_before_its_create_is_answered_is_said(muster, kube):
    is_seen, is_answered = threading.Event(), threading.Event()

    def answer_late(answer, *what):
        assert is_seen.wait(LIMIT)
        answer(*what, 'Warning: 299 - "would violate PodSecurity"')
        is_answered.set()

    def trouble(exchange):
        if exchange.method == "POST" and exchange.path.endswith("/pods"):
            exchange.answer = functools.partial(answer_late, exchange.answer)
        elif exchange.path.endswith("/log"):
            is_seen.set()
            assert is_answered.wait(LIMIT)
        return False

    kube.trouble = trouble
    assert run(muster, code=0).stderr.count("muster: Warning: would violate PodSecurity") == 1


def test_what_the_server_warns_of_is_said_once_beside_the_lines(muster, kube):
    kube.server.headers = ['Warning: 299 - "would violate PodSecurity"']
    told = run(muster, code=0).stderr.splitlines()
    # The job's record has a connection of its own.
    assert 1 <= told.count("muster: Warning: would violate PodSecurity") <= 2


@pytest.mark.parametrize("metadata", [
    {"labels": {"app": "web"}, "ownerReferences": [{"uid": "another"}]},
    {},
    {"labels": LABELS},  # left of a job that kubectl applied, and nobody's
    {"labels": {**LABELS, "muster/job": "other"}, "ownerReferences": [{"uid": "another"}]},
])
def test_a_service_of_another_that_has_the_name_is_told_before_anything_starts(muster, kube, metadata):
    kube.put("services", "story", {"metadata": metadata})
    refused = muster("run", "--on", "kubernetes", "--name", "story", "-w", 2, "--image", "i", "--", "true", code=2)
    assert refused.stderr == (
        "muster: Service 'story' in namespace 'ada' does not belong to job 'story', whose Pods need a Service of that name to "
        "find each other; choose another --name, or delete it if it is not used (kubectl -n ada delete service story)\n")
    assert not [plural for plural, _ in kube.created if plural != "selfsubjectaccessreviews"]
    assert sorted(kube.objects) == [("services", "story")]


def reviewed(exchange):
    """What a call asks the rights to; None: it does something else."""
    is_review = exchange.path.endswith("/selfsubjectaccessreviews")
    return exchange.json()["spec"]["resourceAttributes"]["resource"] if is_review else None


def test_the_look_for_such_a_service_does_not_wait_for_the_rights(muster, kube):
    """A round trip less: some rights are told only when the Service has been looked for."""
    is_looked_for = threading.Event()

    def trouble(exchange):
        if exchange.method == "GET" and "metadata.name=story" in exchange.query.get("fieldSelector", ""):
            is_looked_for.set()
        return reviewed(exchange) == "services" and not is_looked_for.wait(LIMIT)

    kube.trouble = trouble
    run(muster, code=0)
    assert kube.wait_until_empty(LIMIT) == []


def test_a_missing_right_is_told_before_such_a_service(muster, kube):
    def trouble(exchange):
        what = reviewed(exchange)
        if what:
            exchange.answer(201, {"status": {"allowed": what != "leases"}})
        return what

    kube.trouble = trouble
    kube.put("services", "story")
    told = run(muster, code=3).stderr
    assert "cannot create leases in namespace 'ada'" in told and "Service" not in told
    assert not kube.created


def test_a_service_of_an_earlier_job_of_the_name_is_waited_for(muster, kube):
    kube.plan = lambda labels: None
    kube.put("services", "story", {"metadata": {"labels": LABELS, "ownerReferences": [{"uid": "earlier"}]}})
    job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", "--", "true")
    read_until(job.stdout, "line 19")
    kube.remove("services", "story")
    with kube.lock:
        assert kube.lock.wait_for(lambda: ("services", "story") in kube.objects, LIMIT)
    muster("stop", "kubernetes/ada/story", code=0)
    assert kube.wait_until_empty(LIMIT) == []
