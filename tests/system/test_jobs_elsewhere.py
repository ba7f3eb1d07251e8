"""Jobs that are not here: which cluster is asked for them, what is said when it cannot be asked, and what is shown.

The cluster is a fake one, which has what a test puts into it."""

import datetime
import json
import threading

import pytest

from conftest import LIMIT, read_line
from fake_kube import FakeKube, cut, refuse

# One call of each command that is about a job.
ABOUT_A_JOB = [["status"], ["stop"], ["delete"], ["suspend"], ["resume"], ["logs"]]


def write_kubeconfig(path, server):
    path.write_text(json.dumps({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "far",
        "clusters": [{"name": "far", "cluster": {"server": server}}],
        "users": [{"name": "ada", "user": {}}],
        "contexts": [{"name": "far", "context": {"cluster": "far", "user": "ada", "namespace": "ada"}}],
    }))
    return path


@pytest.fixture
def cluster(muster, tmp_path):
    """One without jobs, in the kubeconfig of the call."""
    with FakeKube() as kube:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "config", kube.origin))
        yield kube


@pytest.fixture
def unreachable(muster, tmp_path):
    muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "config", "http://127.0.0.1:1"))


def said(done):
    """The one sentence."""
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and done.stdout == "", done.stderr
    return lines[0]


@pytest.mark.parametrize("command", ABOUT_A_JOB)
def test_a_name_that_is_neither_here_nor_there(muster, cluster, command):
    done = muster(*command, "digits", code=1)
    assert said(done) == ("muster: job 'digits' not found, neither here nor in namespace 'ada' of context 'far'; "
                          "to list the jobs: 'muster ps -A'")


@pytest.mark.parametrize("command", ABOUT_A_JOB)
def test_both_facts_are_said_when_the_cluster_does_not_answer(muster, unreachable, command):
    done = muster(*command, "digits", code=3)
    assert said(done).startswith("muster: job 'digits' is not on this machine, and the cluster of context 'far' cannot be reached: ")


@pytest.mark.parametrize("command", ABOUT_A_JOB)
def test_a_connection_that_is_lost_once_is_no_answer(muster, cluster, command):
    cluster.faults += [cut, cut]  # one for each of what is asked at once
    assert "not found, neither here nor in namespace 'ada'" in said(muster(*command, "digits", code=1))


def test_wait_and_scale_say_them_too(muster, unreachable):
    for call in (["wait", "digits"], ["scale", "digits", "worker=2"]):
        assert "is not on this machine, and the cluster" in said(muster(*call, code=3))


def test_who_has_no_right_is_refused(muster, cluster):
    cluster.faults += [refuse(403, reason="Forbidden", message="ada may not") for _ in range(20)]
    done = muster("status", "digits", code=4)
    assert said(done).startswith("muster: job 'digits' is not on this machine, and the cluster of context 'far' cannot be reached: ")
    assert muster("ps", "--on", "kubernetes", code=4).stdout == ""


def test_a_kubeconfig_of_no_use_does_not_hide_that_the_job_is_not_here(muster, tmp_path):
    muster.environment["KUBECONFIG"] = str(tmp_path / "config")
    (tmp_path / "config").write_text("clusters: [")
    assert said(muster("status", "digits", code=2)).startswith(
        "muster: job 'digits' is not on this machine, and the cluster cannot be reached: ")
    assert said(muster("ps", "--on", "kubernetes", code=2))


def test_without_a_kubeconfig_only_this_machine_is_meant(muster):
    assert said(muster("status", "digits", code=1)) == "muster: job 'digits' not found; to list the jobs: 'muster ps -a'"
    said(muster("ps", "--on", "kubernetes", code=3))
    said(muster("status", "kubernetes/ada/digits", code=3))


def test_what_is_here_needs_no_cluster(muster, unreachable):
    muster("run", "--name", "digits", "--", "true", code=0)
    assert "Succeeded" in muster("status", "digits", code=0).stdout
    assert muster("ps", "-a", "-o", "name", code=0).stdout == "local/digits\n"
    assert said(muster("status", "local/digts", code=1)) == "muster: job 'digts' not found; did you mean 'digits'?"
    muster("delete", "local/digits", code=0)
    assert muster("ps", "-a", "--no-headers", code=0).stdout == ""


def test_an_empty_list_says_where_else_jobs_may_be(muster, unreachable):
    done = muster("ps", code=0)
    assert done.stdout.splitlines() == ["NAME   STATE   ROLES   RUNNING   RESTARTS   AGE"]
    assert done.stderr == "muster: no job is running on this machine; to list namespace 'ada' of the cluster: muster ps --on kubernetes\n"
    assert muster("ps", "--no-headers", code=0).stderr == muster("ps", "-o", "name", code=0).stderr == ""
    muster("run", "--name", "digits", "--", "true", code=0)
    assert muster("ps", "-a", code=0).stderr == ""
    del muster.environment["KUBECONFIG"]
    assert muster("ps", code=0).stderr == ""


def test_ps_shows_what_is_here_also_when_the_cluster_cannot_be_asked(muster, unreachable):
    muster("run", "--name", "digits", "--", "true", code=0)
    done = muster("ps", "-a", "--on", "all", "-o", "name", code=3)
    assert done.stdout == "local/digits\n" and len(done.stderr.splitlines()) == 1
    assert said(muster("ps", "--on", "kubernetes", code=3))


def test_a_cluster_that_is_named_is_asked_also_for_what_is_here(muster, cluster):
    muster("run", "--name", "digits", "--", "true", code=0)
    sentence = "muster: job 'digits' not found in namespace 'bob' of context 'far'; to list the jobs: 'muster ps -A'"
    assert said(muster("status", "-n", "bob", "digits", code=1)) == sentence
    assert said(muster("status", "kubernetes/bob/digits", code=1)) == sentence
    assert "namespace 'ada'" in said(muster("status", "--context", "far", "digits", code=1))
    config = muster.environment.pop("KUBECONFIG")
    assert "namespace 'ada'" in said(muster("status", "--kubeconfig", config, "digits", code=1))


def test_a_context_that_is_not_there_is_wrong_use(muster, cluster):
    assert "elsewhere" in said(muster("status", "--context", "elsewhere", "digits", code=2))
    assert cluster.requests() == []


def test_what_is_no_name_of_a_job_is_wrong_use(muster):
    for text in ("ada/digits", "kubernetes/ada", "local/", "kubernetes/Ada/digits"):
        said(muster("status", text, code=2))


# Jobs as a cluster remembers them

LABELS = {"app.kubernetes.io/managed-by": "muster", "muster/job": "digits"}
UID = "5d0c1f3e-0000-4000-8000-000000000001"
LONG_AGO = "2026-01-02T03:04:05Z"


def condition(word):
    return {"type": word, "status": "True", "reason": "Some", "message": "It is so.",
            "lastUpdateTime": LONG_AGO, "lastTransitionTime": LONG_AGO}


def put_job(kube, state="Running", code=None, namespace="ada"):
    """Two workers that run, as far as was written."""
    document = {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "digits", "namespace": namespace},
                "spec": {"tfReplicaSpecs": {"Worker": {"replicas": 2, "template": {"spec": {
                    "containers": [{"name": "tensorflow", "image": "registry.test/model:1"}]}}}}}}
    replicas = [{"role": "worker", "index": index, "attempt": 0, "state": "Running", "restarts": 0} for index in range(2)]
    status = {"conditions": [condition(state)], "replicaStatuses": {}, "replicas": replicas}
    summary = {"state": state, "roles": "worker=2", "message": "", "running": 2, "wanted": 2, "restarts": 0,
               "exitCode": -1, "finished": code is not None}
    if code is not None:
        status["exitCode"] = summary["exitCode"] = code
    kube.put("configmaps", "digits.job", {
        "metadata": {"uid": UID, "namespace": namespace, "labels": LABELS, "creationTimestamp": LONG_AGO},
        "data": {"document": json.dumps(document), "status": json.dumps(status), "summary": json.dumps(summary)}})


def put_lease(kube, renewed=None):
    """Held by another machine's muster, and renewed just now if nothing else is said."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    kube.put("leases", "digits.job", {
        "metadata": {"labels": LABELS, "ownerReferences": [{"uid": UID}]},
        "spec": {"holderIdentity": "another", "leaseDurationSeconds": 15, "renewTime": renewed or now}})


def put_pod(kube, index, phase, **container):
    kube.put("pods", f"digits-worker-{index}", {
        "metadata": {"labels": {**LABELS, "muster/role": "worker", "muster/index": str(index), "muster/attempt": "0"},
                     "ownerReferences": [{"uid": UID}]},
        "spec": {"nodeName": f"node-{index}"},
        "status": {"phase": phase, "podIP": f"10.0.0.{index}",
                   "containerStatuses": [{"name": "tensorflow", "state": container}]}})


@pytest.fixture
def job(cluster):
    """The cluster, with a job that somebody watches."""
    put_job(cluster)
    put_lease(cluster)
    for index in range(2):
        put_pod(cluster, index, "Running", running={"startedAt": LONG_AGO})
    return cluster


def test_a_job_there_is_found_by_the_beginning_of_its_name_and_without_one(muster, job):
    for call in (["dig"], ["-n", "ada", "dig"], ["kubernetes/ada/dig"]):
        done = muster("status", *call, code=0)
        assert "Name:       digits" in done.stdout and done.stderr == "muster: job digits\n"
    assert "job 'dig' not found, neither here nor in" not in muster("wait", "--timeout", "10ms", "dig", code=124).stderr
    assert muster("wait", "--timeout", "10ms", "-n", "ada", code=124).stderr.startswith("muster: job digits\n")


def test_a_whole_name_there_is_meant_before_a_beginning_here(muster, job):
    muster("run", "--name", "digits-local", "--", "true", code=0)
    assert "Supervised:" in muster("status", "digits", code=0).stdout
    assert "job digits-local" in muster("status", "digits-", code=0).stderr


def test_a_job_of_the_cluster_is_found_by_its_plain_name(muster, job):
    text = muster("status", "digits", code=0).stdout
    assert "State:      Running\n" in text and "Supervised: by another\n" in text
    assert muster("status", "-o", "name", "digits", code=0).stdout == "kubernetes/ada/digits\n"
    assert muster("ps", "-A", "-o", "name", code=0).stdout == "kubernetes/ada/digits\n"
    assert said(muster("stop", "digts", code=1)) == (
        "muster: job 'digts' not found, neither here nor in namespace 'ada' of context 'far'; did you mean 'digits'?")


def test_replicas_are_shown_as_their_pods_are_now(muster, job):
    put_pod(job, 1, "Failed", terminated={"exitCode": 3, "startedAt": LONG_AGO, "finishedAt": LONG_AGO})
    replicas = muster.job("digits")["status"]["replicas"]
    assert [(r["state"], r["pod"], r["node"], r["ip"]) for r in replicas] == [
        ("Running", "digits-worker-0", "node-0", "10.0.0.0"), ("Failed", "digits-worker-1", "node-1", "10.0.0.1")]
    assert replicas[1]["exitCode"] == 3


def test_a_lease_that_is_not_renewed_is_nobodys(muster, job):
    put_lease(job, renewed=LONG_AGO)
    put_pod(job, 1, "Failed", terminated={"exitCode": 3, "startedAt": LONG_AGO, "finishedAt": LONG_AGO})
    assert muster.job("digits")["status"]["supervisedBy"] == ""
    assert "to take over: 'muster attach kubernetes/ada/digits'" in muster("status", "digits", code=0).stdout
    assert " Running (unsupervised)   worker=2   1/2 " in muster("ps", "-A", code=0).stdout
    for command in (["stop"], ["suspend"], ["resume"]):
        sentence = said(muster(*command, "digits", code=4))
        assert sentence == ("muster: job 'digits' has no active supervisor; take it over with "
                            "'muster attach kubernetes/ada/digits', or delete it with "
                            "'muster delete kubernetes/ada/digits'")
    said(muster("scale", "digits", "worker=3", code=4))


@pytest.mark.parametrize("hours", [-1, 1])
def test_leases_are_judged_by_the_clock_of_the_server(muster, job, hours):
    there = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=hours)
    job.server.headers.append(there.strftime("Date: %a, %d %b %Y %H:%M:%S GMT"))
    put_lease(job, renewed=there.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
    assert muster.job("digits")["status"]["supervisedBy"] == "another"
    assert "unsupervised" not in muster("ps", "-A", code=0).stdout
    put_lease(job, renewed=(there - datetime.timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
    assert muster.job("digits")["status"]["supervisedBy"] == ""
    assert " Running (unsupervised) " in muster("ps", "-A", code=0).stdout


def test_who_may_not_read_leases_sees_the_rest(muster, job):
    def refuse_leases(exchange):
        return "/leases" in exchange.path and refuse(403, reason="Forbidden", message="ada may not")(exchange)

    job.faults += [refuse_leases] * 100
    assert "Supervised:" not in muster("status", "digits", code=0).stdout
    assert "unsupervised" not in muster("ps", "-A", code=0).stdout


def test_wait_sees_an_end_whose_record_goes_at_once(muster, job):
    def end(exchange):
        if exchange.path.endswith("/pods"):  # the job was seen: its Pods are asked for
            put_job(job, "Failed", code=3)
            job.remove("configmaps", "digits.job")
        else:
            job.watch_faults.append(end)
        return False

    job.watch_faults.append(end)
    assert muster("wait", "digits", code=3).stderr == ""


def test_stop_sees_the_end_of_a_lease_before_that_of_its_job(muster, job):
    """Each has a watch of its own, and that of the job says nothing here."""
    is_over = threading.Event()

    def hold(exchange):
        if not exchange.path.endswith("/configmaps"):
            return False
        exchange.begin()
        job.event(exchange, "ADDED", job.objects["configmaps", "digits.job"])
        job.bookmark(exchange, job.version, ends_list=True)
        return is_over.wait(LIMIT)

    job.watch_faults += [hold] * 10
    stopping = muster.start("stop", "digits")
    try:
        assert "waiting for worker-0" in read_line(stopping.stderr)
        job.remove("configmaps", "digits.job")
        job.remove("leases", "digits.job")
        assert stopping.communicate(timeout=LIMIT)[1] == ""
    finally:
        is_over.set()
    assert stopping.returncode == 0


def test_wait_gives_the_code_of_a_job_that_ended_under_nobody(muster, job):
    put_lease(job, renewed=LONG_AGO)
    put_job(job, "Failed", code=3)
    muster("wait", "digits", code=3)


def test_wait_says_that_nobody_watches_and_waits_on(muster, job):
    put_lease(job, renewed=LONG_AGO)
    waiting = muster.start("wait", "digits")
    assert "job 'digits' has no active supervisor" in read_line(waiting.stderr)
    put_lease(job)
    put_job(job, "Failed", code=3)
    for index in range(2):
        job.remove("pods", f"digits-worker-{index}")
    job.remove("configmaps", "digits.job")
    assert waiting.wait(LIMIT) == 3


def test_a_watch_that_breaks_is_taken_up_again(muster, job):
    watching = muster.start("status", "-w", "digits")
    assert read_line(watching.stdout).startswith("Running  running 2/2")
    job.cut_watches()
    put_pod(job, 1, "Failed", terminated={"exitCode": 3, "startedAt": LONG_AGO, "finishedAt": LONG_AGO})
    assert read_line(watching.stdout).startswith("Running  running 1/2")
    watching.kill()
    assert len(watching.stderr.read().splitlines()) == 1  # and not one for each of three watches


def test_delete_returns_when_the_pods_are_gone(muster, job):
    put_lease(job, renewed=LONG_AGO)

    def collect(exchange):
        """What the garbage collector does once the owner is gone."""
        if exchange.method == "DELETE":
            for index in range(2):
                job.remove("pods", f"digits-worker-{index}")
        else:
            job.faults.append(collect)
        return False

    job.faults.append(collect)
    muster("delete", "digits", code=0)
    assert not [name for kind, name in job.objects if kind in ("configmaps", "pods")]


def test_a_state_folder_that_cannot_be_made_is_no_missing_job(muster, cluster):
    (muster.folder / "file").write_text("")
    state = muster.folder / "file" / "state"
    for name in ("digits", "local/digits"):
        assert str(state) in said(muster("status", "--state-dir", state, name, code=1))


class Always(list):
    """Faults: the same one for each request."""

    def pop(self, _=0):
        return self[0]


def without_end(exchange):
    """A fault: a page of a list that is never the last one."""
    exchange.answer(200, {"kind": "List", "apiVersion": "v1", "metadata": {"continue": "more", "resourceVersion": "1"},
                          "items": []})
    return True


def test_a_server_that_forgets_each_list_is_not_asked_for_ever(muster, cluster):
    cluster.faults = Always([refuse(410, reason="Expired", message="the list is gone")])
    assert "forgot the list of configmaps each time it was read" in said(muster("ps", "--on", "kubernetes", code=3))
    assert len(cluster.requests()) == 5
    assert "the list is gone" in said(muster("status", "kubernetes/ada/digits", code=1))


def test_a_list_without_end_is_given_up(muster, cluster):
    cluster.supports_watch_list = False
    cluster.faults = Always([without_end])
    assert "list of configmaps does not end: received 2000 pages with 0 objects" in said(muster("ps", "--on", "kubernetes", code=1))
    assert len(cluster.requests()) == 2000


def test_what_the_server_warns_of_is_said_once_and_moves_no_cursor(muster, cluster):
    cluster.server.headers = ['Warning: 299 - "v0 is \x1b[31mold\x1b[0m \u009b2J"', 'Warning: 299 - "and \\"soon\\" gone"']
    for call, code in ((["ps", "--on", "kubernetes"], 0), (["status", "kubernetes/ada/digits"], 1)):
        lines = muster(*call, code=code).stderr.splitlines()
        assert lines[:2] == ["muster: Warning: v0 is ?[31mold?[0m ?2J", 'muster: Warning: and "soon" gone']
        assert not [line for line in lines[2:] if "Warning" in line]


def test_no_word_of_a_record_on_the_cluster_moves_a_cursor(muster, job):
    """Whoever may write ConfigMaps writes what others see on their terminals."""
    evil = "\x1b[2J\x1b]0;owned\x07\r\x9b31m"
    put_job(job)
    record = job.objects["configmaps", "digits.job"]
    data = record["data"]
    summary = {**json.loads(data["summary"]), "state": evil, "roles": evil, "message": evil}
    status = json.loads(data["status"])
    status["conditions"][0].update(reason=evil, message=evil)
    for replica in status["replicas"]:
        replica.update(reason=evil, message=evil, node=evil, pod=evil)
    status["failure"] = {"role": "worker", "index": 0, "attempt": 0, "reason": evil, "message": evil, "cause": evil,
                         "lastLines": [evil], "consequences": [{"role": "worker", "index": 1, "what": evil}]}
    job.put("configmaps", "digits.job", {**record, "data": {**data, "summary": json.dumps(summary), "status": json.dumps(status)}})
    put_lease(job, renewed=LONG_AGO)
    for call in (["ps", "-A"], ["ps", "-A", "-o", "wide"], ["status", "digits"], ["status", "-o", "wide", "digits"]):
        done = muster(*call)
        assert done.stdout
        for text in (done.stdout, done.stderr):
            unsafe = [c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)]
            assert unsafe == [], (call, text)


def test_a_status_whose_roles_are_no_names_is_not_read(muster, job):
    """They name files of logs, and words of the commands that are shown."""
    record = job.objects["configmaps", "digits.job"]
    status = {**json.loads(record["data"]["status"]), "failure": {"role": "../x; rm", "index": 0, "attempt": 0}}
    job.put("configmaps", "digits.job", {**record, "data": {**record["data"], "status": json.dumps(status)}})
    done = muster("status", "digits", code=2)
    assert done.stderr == "muster: the status of job 'digits' cannot be read: status.failure.role: expected a name\n" and not done.stdout
