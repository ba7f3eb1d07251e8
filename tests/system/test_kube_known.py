"""Jobs on a cluster that this machine began: it knows them from their beginning, finds them by their plain names wherever
they run, and says what became of them when the cluster has forgotten them."""

import re
import time

import pytest

from conftest import LIMIT, read_until
from living_kube import LivingKube
from processes import wait_until_none_has
from test_jobs_elsewhere import write_kubeconfig


@pytest.fixture
def kube():
    with LivingKube(lambda labels: None) as server:  # Pods run on
        yield server


@pytest.fixture
def far(muster, kube, tmp_path):
    """The options that lead to the cluster; without them another one is meant, which does not answer."""
    muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "near", "http://127.0.0.1:1"))
    return ["--namespace", "bob", "--kubeconfig", str(write_kubeconfig(tmp_path / "far", kube.origin))]


def start(muster, far):
    """A job in the foreground, until its lines are here; gives its process."""
    job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", *far, "--", "true")
    read_until(job.stdout, "line 19")
    return job


def delete(kube, plural, name):
    """As `kubectl delete` does."""
    with kube.lock:
        kube._take_away(plural, name, kube.objects[plural, name]["metadata"]["uid"])


def message(muster, *arguments):
    return muster.job(*arguments)["status"]["failure"]["message"]


def test_a_job_that_goes_on_is_found_by_its_plain_name_wherever_it_runs(muster, kube, far):
    start(muster, far)
    assert "Supervised:" in muster("status", "story", code=0).stdout
    assert muster("status", "-o", "name", "story", code=0).stdout == "kubernetes/bob/story\n"
    assert "line 19" in muster("logs", "story", code=0).stdout
    assert muster("ps", "-a", "--no-headers", code=0).stdout == ""  # how it is now, the cluster knows
    muster("delete", "story", code=0)
    assert kube.wait_until_empty(LIMIT) == []


@pytest.mark.parametrize("code", [0, 3])
def test_a_job_that_is_not_to_be_kept_is_deleted_there_and_here_when_it_has_succeeded(muster, tmp_path, code):
    with LivingKube(lambda labels: code) as kube:
        far = ["--namespace", "bob", "--kubeconfig", str(write_kubeconfig(tmp_path / "far", kube.origin))]
        muster("run", "--rm", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", *far, "--", "true", code=code)
        assert kube.objects == {}
        assert len(list((muster.state / "muster" / "jobs").iterdir())) == bool(code)
        assert muster("logs", "story", code=0 if code else 1).stdout.count("line 19") == bool(code)


def test_a_config_map_that_somebody_deletes_ends_the_job_with_a_sentence_and_its_logs_here(muster, kube, far):
    muster("run", "-d", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", *far, "--", "true", code=0)
    following = muster.start("logs", "-f", "story")
    read_until(following.stdout, "line 19")
    delete(kube, "configmaps", "story.job")
    waiting = muster("wait", *far, "story")
    assert waiting.returncode == 125
    assert kube.wait_until_empty(LIMIT) == []
    for call in (["story"], ["kubernetes/bob/story", *far], ["local/story"]):
        done = muster("wait", *call, code=125)
        assert "ConfigMap 'story.job' was deleted, and the cluster deleted the Pods with it" in done.stderr
        assert "line 19" in muster("logs", *call, code=0).stdout
    assert "Failed" in muster("ps", "-a", "--no-headers", code=0).stdout
    wait_until_none_has(f"XDG_STATE_HOME={muster.environment['XDG_STATE_HOME']}")  # before its cluster is gone


def test_who_watched_in_the_foreground_is_told_which_object_was_deleted_and_where_the_lines_are(muster, kube, far):
    job = start(muster, far)
    delete(kube, "configmaps", "story.job")
    assert job.wait(LIMIT) == 125
    told = job.stderr.read()
    assert "job 'story' was deleted; for its output so far: muster logs kubernetes/bob/story --kubeconfig" in told
    assert re.fullmatch("muster: job story ended( after [^:]+)?: ConfigMap 'story.job' was deleted, and the "
                        "cluster deleted the Pods with it", told.splitlines()[-1])


def test_a_job_that_ended_under_another_machine_is_said_to_have_ended_unseen_with_the_logs_that_are_here(muster, kube, far):
    job = start(muster, far)
    job.kill()
    job.wait()
    assert "Supervised:" in muster("status", "story", code=0).stdout  # the cluster is asked
    delete(kube, "configmaps", "story.job")
    delete(kube, "leases", "story.job") if ("leases", "story.job") in kube.objects else None
    sentence = "it is no longer in namespace 'bob' of context 'far', and this machine does not know how it ended"
    assert sentence in muster("status", "story", code=0).stdout
    assert sentence in muster("wait", "kubernetes/bob/story", *far, code=125).stderr
    assert "line 19" in muster("logs", "-n", "bob", *far, "story", code=0).stdout
    muster("delete", "story", code=0)
    assert "not found" in muster("status", "local/story", code=1).stderr


def test_a_job_that_ended_in_order_is_found_where_it_was(muster, kube, far):
    job = start(muster, far)
    kube.plan = lambda labels: 7
    kube.end_pods()
    assert job.wait(LIMIT) == 7
    for call in (["story"], ["kubernetes/bob/story", *far], ["local/story"], ["story", *far]):
        muster("wait", *call, code=7)
        assert "line 19" in muster("logs", *call, code=0).stdout
    elsewhere = muster("status", "-n", "ada", *far[2:], "story", code=1)
    assert "job 'story' not found in namespace 'ada'" in elsewhere.stderr


def test_a_job_of_this_machine_of_the_same_name_hides_none(muster, kube, far):
    job = start(muster, far)
    muster.detach("--name", "story", "--", "sleep", "1000")
    assert muster("status", "-o", "name", "story", code=0).stdout == "local/story\n"
    kube.plan = lambda labels: 7
    kube.end_pods()
    assert job.wait(LIMIT) == 7
    muster("wait", "kubernetes/bob/story", *far, code=7)
    assert "line 19" in muster("logs", "kubernetes/bob/story", *far, code=0).stdout
    assert muster("status", "-o", "name", "story", code=0).stdout == "local/story\n"
    names = muster("ps", "-a", "-o", "name", code=0).stdout.split()
    assert sorted(names) == ["kubernetes/bob/story", "local/story"]
    muster("delete", "kubernetes/bob/story", *far, code=0)


def test_where_its_cluster_does_not_answer_that_is_said_with_the_place(muster, kube, far, tmp_path):
    job = start(muster, far)
    job.kill()
    job.wait()
    write_kubeconfig(tmp_path / "far", "http://127.0.0.1:1")
    refused = muster("status", "story", code=3)
    assert "job 'story' was started in namespace 'bob' of context 'far', which cannot be reached: " in refused.stderr
    assert "--forget" not in refused.stderr  # it may be back in a minute
    write_kubeconfig(tmp_path / "far", kube.origin)
    muster("delete", "story", code=0)


def test_a_kubeconfig_that_leads_elsewhere_by_now_does_not_end_the_job(muster, kube, far, tmp_path):
    job = start(muster, far)
    job.kill()
    job.wait()
    (tmp_path / "far").unlink()
    not_asked = "job 'story' was started in namespace 'bob' of context 'far', which cannot be reached: "
    assert not_asked in muster("wait", "story", code=2).stderr
    with LivingKube(lambda labels: None) as other:
        write_kubeconfig(tmp_path / "far", other.origin)
        refused = muster("status", "story", code=3).stderr
        assert f"{not_asked}it ran on server {kube.origin}, but the kubeconfig now points to {other.origin}" in refused
    write_kubeconfig(tmp_path / "far", kube.origin)
    assert "Supervised:" in muster("status", "story", code=0).stdout
    muster("delete", "story", code=0)


def test_a_hint_about_a_job_found_by_its_plain_name_leads_to_its_cluster(muster, kube, far, tmp_path):
    job = start(muster, far)
    job.kill()
    job.wait()
    if ("leases", "story.job") in kube.objects:
        delete(kube, "leases", "story.job")
    words = f"kubernetes/bob/story --context far --kubeconfig {tmp_path / 'far'}"
    assert f"no active supervisor, so failures are not restarted; to take over: 'muster attach {words}'" in muster("status", "story", code=0).stdout
    muster("delete", "story", code=0)


def test_a_job_that_was_taken_for_ended_and_goes_on_is_remembered_as_it_is(muster, kube, far):
    job = start(muster, far)
    job.kill()
    job.wait()
    with kube.lock:
        record = kube.objects.pop(("configmaps", "story.job"))
    assert "does not know how it ended" in muster("status", "story", code=0).stdout
    with kube.lock:
        kube.objects["configmaps", "story.job"] = record
    if ("leases", "story.job") in kube.objects:
        delete(kube, "leases", "story.job")
    watching = muster.start("attach", "kubernetes/bob/story", *far)
    read_until(watching.stderr, "this muster now supervises it")
    deadline = time.monotonic() + LIMIT
    while "Supervised:" not in muster("status", "story", code=0).stdout:  # it is written a moment later
        assert time.monotonic() < deadline
        time.sleep(0.05)
    kube.plan = lambda labels: 7
    kube.end_pods()
    assert watching.wait(LIMIT) == 7
    assert message(muster, "story").startswith("worker-0 exited with code 7")


@pytest.mark.parametrize("name", ["story", "kubernetes/bob/story"])
@pytest.mark.parametrize("has_kubeconfig", [True, False])
def test_of_a_cluster_that_is_gone_the_lines_are_shown_and_the_job_can_be_forgotten(muster, kube, far, tmp_path, name, has_kubeconfig):
    job = start(muster, far)
    watched = muster("delete", "--forget", name, code=4)
    assert f"is supervised by process {job.pid} of this machine; stop that process first" in watched.stderr
    job.kill()
    job.wait()
    if has_kubeconfig:
        write_kubeconfig(tmp_path / "far", "http://127.0.0.1:1")
    else:
        (tmp_path / "far").unlink()
    shown = muster("logs", "-f", name, code=0)
    assert "line 19" in shown.stdout
    assert "printing the output of job 'kubernetes/bob/story' that is stored on this machine" in shown.stderr
    refused = muster("delete", name)
    assert refused.returncode in (2, 3)
    assert f"if its cluster no longer exists, delete the local record: 'muster delete --forget {name}'" in refused.stderr
    assert "line 19" in muster("logs", name, code=0).stdout
    muster("delete", "--forget", name, code=0)
    assert list((muster.state / "muster" / "jobs").iterdir()) == []
    assert f"this machine has no record of a running job '{name}' on a cluster" in muster("delete", "--forget", name, code=1).stderr
    assert "printing the output of job" not in muster("logs", name).stderr


def test_forgetting_leaves_a_job_of_this_machine_of_the_same_name_alone(muster, kube, far):
    job = start(muster, far)
    job.kill()
    job.wait()
    muster("run", "--name", "story", "--", "true", code=0)
    muster("delete", "--forget", "story", code=0)
    assert "Succeeded" in muster("status", "local/story", code=0).stdout
    muster("delete", "--forget", "story", code=1)
    assert "Succeeded" in muster("status", "local/story", code=0).stdout
