"""The Secret with the variables of a call, `JOB.env`, deleted under a running job on a cluster: its values are nowhere else."""

import json

import pytest

from conftest import LIMIT, read_until
from fake_kube import refuse
from living_kube import LivingKube, now
from processes import wait_until_none_has
from test_jobs_elsewhere import write_kubeconfig
from test_kube_foreign import begun, document, put_record

SECRET = ("secrets", "story.env")


@pytest.fixture
def kube(muster, tmp_path):
    with LivingKube(lambda labels: None if labels["muster/attempt"] == "0" else 0) as server:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", server.origin))
        yield server


def lose_secret_and_fail(kube):
    kube.remove(*SECRET)
    kube.plan = lambda labels: 7 if labels["muster/attempt"] == "0" else 0
    kube.end_pods()


def start(muster):
    job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 2, "--image", "i", "--max-restarts", 1,
                       "-e", "TOKEN=xyzzy", "--", "true")
    for index in range(2):
        read_until(job.stdout, "line 19")
    return job


def test_who_made_it_makes_it_again(muster, kube):
    job = start(muster)
    made = kube.objects[SECRET]["stringData"]
    lose_secret_and_fail(kube)
    told = job.stderr.read()
    assert job.wait(LIMIT) == 0
    assert "is waiting for a Secret that does not exist (SecretMissing): 'story.env' was deleted; creating it again" in told
    assert [plural for plural, _ in kube.created].count("secrets") == 2
    assert made == {"TOKEN": "xyzzy"} and "xyzzy" not in told


def test_so_does_one_in_the_background(muster, kube):
    muster("run", "-d", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", "--max-restarts", 1, "-e", "TOKEN=xyzzy",
           "--", "true", code=0)
    read_until(muster.start("logs", "-f", "kubernetes/ada/story").stdout, "line 19")
    lose_secret_and_fail(kube)
    assert kube.wait_until_empty(LIMIT) == []
    assert [plural for plural, _ in kube.created].count("secrets") == 2
    wait_until_none_has(f"XDG_STATE_HOME={muster.environment['XDG_STATE_HOME']}")  # before its cluster is gone


def test_one_that_may_not_be_made_again_is_tried_again_until_it_may(muster, kube):
    job = start(muster)
    refused = []

    def trouble(exchange):
        if exchange.method != "POST" or not exchange.path.endswith("/secrets") or refused:
            return False
        refused.append(exchange)
        return refuse(403, reason="Forbidden", message='secrets is forbidden: User "eve" cannot create resource "secrets"')(exchange)

    kube.trouble = trouble
    lose_secret_and_fail(kube)
    told = job.stderr.read()
    assert job.wait(LIMIT) == 0
    assert refused and 'cannot create resource "secrets"' in told


def test_who_does_not_have_its_values_says_what_to_do(muster, kube):
    story = json.loads(document())
    story["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["env"] = [
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "story.env", "key": "TOKEN"}}}]
    put_record(kube, json.dumps(story), begun())
    kube.plan = lambda labels: 0
    watching = muster.start("attach", "kubernetes/ada/story")
    sentence = ("is waiting for a Secret that does not exist (SecretMissing): 'story.env', which holds the "
                "variables of --env, was deleted, so new Pods cannot start: create it again (kubectl create "
                "secret generic -n ada story.env --from-literal=NAME=VALUE), or stop the job and run it again")
    read_until(watching.stderr, sentence)
    assert sentence in " ".join(muster("status", "kubernetes/ada/story", code=0).stdout.split())
    kube.put(*SECRET, {"metadata": {}})
    assert watching.wait(LIMIT) == 0


class KubeWithKeepers(LivingKube):
    """What trained in a Pod has ended, and the container beside it keeps its folders."""

    def _finish(self, name, uid):
        def change(pod):
            ended = {"exitCode": 0, "startedAt": now(), "finishedAt": now(), "reason": "Completed"}
            pod["status"]["containerStatuses"] = [
                self._container(pod, {"terminated": ended}), {**self._container(pod, {"running": {}}), "name": "muster-keeper"}]
        self._change("pods", name, uid, change)


@pytest.mark.parametrize("code", [None, 403, 404])
def test_it_goes_when_the_job_has_ended_though_its_pods_stay(muster, tmp_path, code):
    """A folder that did not come keeps them; nothing of them is started again. To delete Secrets is no right that jobs take."""
    def trouble(exchange):
        return bool(code and exchange.method == "DELETE" and "/secrets/" in exchange.path
                    and refuse(code, reason="Forbidden" if code == 403 else "NotFound", message="no")(exchange))

    (tmp_path / "out").write_text("in the way")
    with KubeWithKeepers() as kube:
        kube.trouble = trouble
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        done = muster("run", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", "-e", "TOKEN=xyzzy",
                      "--fetch", f"worker-0:/out:{tmp_path / 'out'}", "--", "true", code=125)
        assert "'muster attach kubernetes/ada/story' tries again and deletes them" in done.stderr
        assert "ecret" not in done.stderr
        with kube.lock:  # what is deleted is gone a moment after that was answered
            assert kube.lock.wait_for(lambda: (SECRET in kube.objects) == bool(code), LIMIT)
            assert ("pods", "story-worker-0") in kube.objects
