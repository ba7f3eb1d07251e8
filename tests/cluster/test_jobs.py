"""Jobs of a cluster, looked at and changed from another machine than the one that watches them."""

import json
import signal

import pytest

from conftest import LIMIT, Muster, until
from test_run import left_of, run_in_background, simulated_job


@pytest.fixture
def elsewhere(muster, tmp_path):
    """Another machine with the same access: it has seen none of the jobs."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    program = Muster(folder)
    program.environment["KUBECONFIG"] = muster.environment["KUBECONFIG"]
    yield program
    program.end()


def run_simulated(muster, namespace, tmp_path, *options, **simulate):
    """A job of two workers that run until something ends them; gives its process once both run."""
    job = run_in_background(muster, "-f", simulated_job(tmp_path, **simulate), *options)
    for index in range(2):
        namespace.until_phase(f"simulated-worker-{index}", "Running")
    return job


def until_running(machine, count):
    return machine.until_running("simulated", count)


def end(job, code=130):
    """Ends a job from its terminal."""
    job.send_signal(signal.SIGINT)
    assert job.wait(timeout=LIMIT) == code


def rows_of(listing):
    """The cells of a table, without its headings."""
    return [line.split() for line in listing.stdout.splitlines()[1:]]


def until_row(machine, *cells):
    """What `ps` shows of a job is written behind its status."""
    until(lambda: rows_of(machine("ps", "--on", "kubernetes", code=0))[0], lambda row: row[:len(cells)] == list(cells))


def test_ps_lists_them_when_it_is_told_to(muster, elsewhere, namespace, tmp_path):
    job = run_simulated(muster, namespace, tmp_path)
    until_running(elsewhere, 2)
    assert rows_of(elsewhere("ps", "-a", code=0)) == []
    until_row(elsewhere, "simulated", "Running", "worker=2", "2/2", "0")
    where = f"kubernetes/{namespace.name}"
    assert where in elsewhere("ps", "-n", namespace.name, "-o", "wide", code=0).stdout
    assert elsewhere("ps", "--on", "kubernetes", "-o", "name", code=0).stdout == f"{where}/simulated\n"
    listed = json.loads(elsewhere("ps", "--on", "kubernetes", "-o", "json", code=0).stdout)
    owner = namespace.get("configmap", "simulated.job")["metadata"]
    assert [item["metadata"]["uid"] for item in listed["items"]] == [owner["uid"]]
    elsewhere("run", "--name", "mine", "--", "true", code=0)
    both = elsewhere("ps", "-a", "--on", "all", "-o", "name", code=0).stdout
    assert both == f"local/mine\n{where}/simulated\n"
    end(job)


def test_jobs_of_two_namespaces_are_told_apart(muster, elsewhere, namespace, other_namespace, tmp_path):
    jobs = [run_simulated(muster, place, tmp_path, "-n", place.name) for place in (namespace, other_namespace)]
    found = rows_of(elsewhere("ps", "-A", code=0))
    ours = {(row[0], row[1]) for row in found if row[0] in (namespace.name, other_namespace.name)}
    assert ours == {(namespace.name, "simulated"), (other_namespace.name, "simulated")}
    listed = json.loads(elsewhere("ps", "-A", "-o", "json", code=0).stdout)["items"]
    uids = {item["metadata"]["namespace"]: item["metadata"]["uid"] for item in listed}
    for place in (namespace, other_namespace):
        uid = place.get("configmap", "simulated.job")["metadata"]["uid"]
        assert uids[place.name] == uid
        assert elsewhere.job(f"kubernetes/{place.name}/simulated")["metadata"]["uid"] == uid
        by_option = elsewhere("status", "-n", place.name, "-o", "json", "simulated", code=0).stdout
        assert json.loads(by_option)["metadata"]["uid"] == uid
    elsewhere("stop", f"kubernetes/{other_namespace.name}/simulated", code=0)
    assert jobs[1].wait(timeout=LIMIT) == 130
    assert left_of(other_namespace) == []
    assert "simulated.job" in left_of(namespace)
    end(jobs[0])


def test_status_shows_replicas_as_their_pods_are(muster, elsewhere, namespace, tmp_path):
    job = run_simulated(muster, namespace, tmp_path)
    seen = until_running(elsewhere, 2)
    for replica in seen["status"]["replicas"]:
        pod = namespace.get("pod", f"simulated-worker-{replica['index']}")
        assert replica["pod"] == pod["metadata"]["name"]
        assert replica["node"] == pod["spec"]["nodeName"]
        assert replica["ip"] == pod["status"]["podIP"]
    text = elsewhere("status", "simulated", code=0).stdout
    assert "Supervised: by muster on " in text and seen["status"]["replicas"][0]["node"] in text
    wide = elsewhere("status", "-o", "wide", "simulated", code=0).stdout
    assert seen["status"]["replicas"][0]["ip"] in wide and "simulated-worker-1" in wide
    shown = elsewhere("status", "-o", "yaml", f"kubernetes/{namespace.name}/simulated", code=0).stdout
    assert f"uid: {seen['metadata']['uid']}\n" in shown
    named = elsewhere("status", "-o", "name", "simulated", code=0).stdout
    assert named == f"kubernetes/{namespace.name}/simulated\n"
    end(job)


def test_what_a_pod_waits_for_is_in_status(muster, elsewhere, namespace, tmp_path):
    job = run_in_background(muster, "-f", simulated_job(tmp_path, waiting="ErrImagePull"))
    namespace.wait("pod/simulated-worker-0", "create")
    elsewhere.until("simulated", lambda seen: any(
        replica.get("reason") == "ErrImagePull" for replica in seen["status"].get("replicas", [])))
    assert "ErrImagePull" in elsewhere("status", "simulated", code=0).stdout
    end(job)


def test_status_is_watched_from_elsewhere_until_the_end(muster, elsewhere, namespace, tmp_path):
    job = run_simulated(muster, namespace, tmp_path)
    watching = elsewhere.start("status", "-w", "simulated")
    assert "running" in watching.stdout.readline()
    end(job)
    shown, told = watching.communicate(timeout=LIMIT)
    assert watching.returncode == 0 and told == ""
    assert shown.splitlines()[-1].startswith("Stopped ")


@pytest.mark.sanitize
def test_stop_from_elsewhere_ends_the_job_in_good_order(muster, elsewhere, namespace, tmp_path):
    job = run_simulated(muster, namespace, tmp_path)
    elsewhere("stop", "simulated", code=0)
    assert job.wait(timeout=LIMIT) == 130
    assert "the job was stopped" in job.stderr.read()
    assert left_of(namespace) == []
    assert muster.job("simulated")["status"]["failure"]["reason"] == "Stopped"  # remembered where it was watched
    elsewhere("status", "simulated", code=1)


def test_delete_from_elsewhere_takes_all(muster, elsewhere, namespace, tmp_path):
    job = run_simulated(muster, namespace, tmp_path)
    elsewhere("delete", "simulated", code=0)
    assert namespace.list("pods", "muster/job=simulated") == []
    assert job.wait(timeout=LIMIT) == 130
    assert left_of(namespace) == []


def test_delete_forgets_what_this_machine_has_of_it(muster, namespace, tmp_path):
    job = run_simulated(muster, namespace, tmp_path)
    uid = muster.job("simulated")["metadata"]["uid"]
    assert (muster.state / "muster" / "jobs" / uid).is_dir()
    muster("delete", f"kubernetes/{namespace.name}/simulated", code=0)
    assert not (muster.state / "muster" / "jobs" / uid).exists()
    muster("status", "local/simulated", code=1)
    assert job.wait(timeout=LIMIT) == 130
    assert left_of(namespace) == []


def test_wait_ends_with_the_code_of_the_job(muster, namespace, tmp_path):
    job = run_simulated(muster, namespace, tmp_path)
    waiting = muster.start("wait", "simulated")
    namespace.kubectl("annotate", "pod", "simulated-worker-0", "simulate/exit-code=5", "simulate/run-for=1ms")
    assert waiting.wait(timeout=LIMIT) == 5  # on the cluster, or remembered here when the machine was slow
    assert job.wait(timeout=LIMIT) == 5
    muster("wait", "simulated", code=5)
    assert [replica["state"] for replica in muster.job("simulated")["status"]["replicas"]] == ["Failed", "Stopped"]


def test_wait_gives_up_in_time(muster, elsewhere, namespace, tmp_path):
    job = run_simulated(muster, namespace, tmp_path)
    assert "has not ended yet" in elsewhere("wait", "--timeout", "100ms", "simulated", code=124).stderr
    end(job)


@pytest.mark.sanitize
def test_suspend_resume_and_scale_from_elsewhere(muster, elsewhere, namespace, tmp_path):
    job = run_simulated(muster, namespace, tmp_path)
    elsewhere("suspend", "simulated", code=0)
    namespace.kubectl("wait", "--for=delete", f"--timeout={LIMIT}s", "pod", "-l", "muster/job=simulated")
    elsewhere.until("simulated", lambda seen: any(
        condition["type"] == "Suspended" and condition["status"] == "True" for condition in seen["status"]["conditions"]))
    elsewhere("resume", "simulated", code=0)
    until_running(elsewhere, 2)
    elsewhere("scale", "simulated", "worker=3", code=0)
    until_running(elsewhere, 3)
    namespace.until_phase("simulated-worker-2", "Running")
    end(job)
    assert left_of(namespace) == []


def test_a_synchronous_job_starts_again_in_its_new_size(muster, elsewhere, namespace, tmp_path):
    """All Pods of the old size end before the first of the new one is made, and no restart is counted."""
    job = run_simulated(muster, namespace, tmp_path, "--restart-scope", "job")
    said = elsewhere("scale", "simulated", "worker=3", code=0).stderr
    assert said.startswith("muster: restarting all processes of job 'simulated': ")
    seen = until_running(elsewhere, 3)
    assert [replica["attempt"] for replica in seen["status"]["replicas"]] == [1, 1, 0]
    assert seen["status"].get("restarts", 0) == 0 and "failure" not in seen["status"]
    for index in range(3):
        variables = namespace.get("pod", f"simulated-worker-{index}")["spec"]["containers"][0]["env"]
        (config,) = [entry["value"] for entry in variables if entry["name"] == "TF_CONFIG"]
        assert len(json.loads(config)["cluster"]["worker"]) == 3
    end(job)
    assert left_of(namespace) == []
    assert muster("resume", "simulated", code=4).stderr == (
        "muster: job 'simulated' ran on a cluster and its objects are gone; run its original command again\n")


def test_a_job_that_nobody_watches_is_said_to_be_one(muster, elsewhere, namespace, tmp_path):
    job = run_simulated(muster, namespace, tmp_path)
    until_row(elsewhere, "simulated", "Running", "worker=2", "2/2")
    job.kill()
    job.wait()
    full_name = f"kubernetes/{namespace.name}/simulated"
    text = elsewhere("status", "simulated", code=0).stdout
    assert ("Supervised: no active supervisor, so failures are not restarted; "
            f"to take over: 'muster attach {full_name}'") in text
    for command in (["stop"], ["suspend"]):
        refused = elsewhere(*command, "simulated", code=4)
        assert refused.stderr == (f"muster: job 'simulated' has no active supervisor; take it over with "
                                  f"'muster attach {full_name}', or delete it with 'muster delete {full_name}'\n")
    namespace.kubectl("delete", "pod", "simulated-worker-1")
    assert rows_of(elsewhere("ps", "--on", "kubernetes", code=0))[0][:5] == [
        "simulated", "Running", "(unsupervised)", "worker=2", "1/2"]
    elsewhere("delete", "simulated", code=0)
    assert namespace.list("pods", "muster/job=simulated") == []
    assert rows_of(elsewhere("ps", "--on", "kubernetes", "-a", code=0)) == []


def test_another_context_is_another_cluster_to_look_at(muster, elsewhere, namespace, other_namespace, tmp_path):
    config = json.loads((tmp_path / "kubeconfig").read_text())
    second = json.loads(json.dumps(config["contexts"][0]))
    second["name"] = "second"
    second["context"]["namespace"] = other_namespace.name
    config["contexts"].append(second)
    (tmp_path / "two").write_text(json.dumps(config))
    elsewhere.environment["KUBECONFIG"] = str(tmp_path / "two")
    job = run_simulated(muster, other_namespace, tmp_path, "-n", other_namespace.name)
    elsewhere("status", "simulated", code=1)
    elsewhere("status", "--context", "second", "simulated", code=0)
    assert elsewhere("ps", "--context", "second", "-o", "name", code=0).stdout == (
        f"kubernetes/{other_namespace.name}/simulated\n")
    end(job)
