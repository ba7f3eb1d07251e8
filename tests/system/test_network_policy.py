"""The NetworkPolicy of a job on a cluster: it lets in the job's own Pods and nobody else. Whether a network enforces it is the
cluster's affair; that of tests/cluster does not."""

import json

import pytest

from conftest import LIMIT, read_until
from fake_kube import refuse
from living_kube import LivingKube
from test_jobs_elsewhere import write_kubeconfig
from test_kube_foreign import LABELS, begun, document, put_record, reviewed

POLICY = ("networkpolicies", "story.network")


@pytest.fixture
def kube(muster, tmp_path):
    with LivingKube(lambda labels: None) as server:  # Pods run until end_pods
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", server.origin))
        yield server


def start(muster, *arguments):
    job = muster.start("run", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", *arguments, "--", "true")
    read_until(job.stdout, "line 19")
    return job


def end(kube, job):
    kube.plan = lambda labels: 0
    kube.end_pods()
    told = job.stderr.read()
    assert job.wait(LIMIT) == 0
    assert kube.wait_until_empty(LIMIT) == []
    return told


def made(kube, plural):
    return [kind for kind, _ in kube.created].count(plural)


def test_it_lets_in_the_pods_of_the_job_alone_and_goes_with_it(muster, kube):
    job = start(muster)
    policy, pod = kube.objects[POLICY], kube.objects["pods", "story-worker-0"]
    own = {"podSelector": {"matchLabels": LABELS}}
    assert policy["spec"] == {**own, "policyTypes": ["Ingress"], "ingress": [{"from": [own]}]}
    assert LABELS.items() <= pod["metadata"]["labels"].items()
    assert policy["metadata"]["ownerReferences"][0]["uid"] == kube.objects["configmaps", "story.job"]["metadata"]["uid"]
    end(kube, job)


def test_one_that_somebody_deletes_is_made_again_and_that_is_said(muster, kube):
    job = start(muster)
    kube.remove(*POLICY)
    with kube.lock:
        assert kube.lock.wait_for(lambda: POLICY in kube.objects, LIMIT)
    assert "the NetworkPolicy 'story.network' of the job was deleted; creating it again" in end(kube, job)
    assert made(kube, "networkpolicies") == 2


def forbid_policies(exchange):
    """The rights to them are missing."""
    if reviewed(exchange) == "networkpolicies":
        exchange.answer(201, {"status": {"allowed": False}})
        return True
    return "/networkpolicies" in exchange.path and refuse(403, reason="Forbidden", message="ada may not")(exchange)


def test_a_job_without_one_takes_no_right_to_it_and_neither_does_attaching_to_it(muster, kube):
    kube.trouble = forbid_policies
    end(kube, start(muster, "--no-network-policy"))
    open_to_all = json.loads(document(replicas=1))
    open_to_all["metadata"]["annotations"] = {"muster/network-policy": "none"}
    kube.plan = lambda labels: None
    put_record(kube, json.dumps(open_to_all), begun(replicas=1))
    watching = muster.start("attach", "kubernetes/ada/story")
    read_until(watching.stdout, "line 19")
    end(kube, watching)
    assert made(kube, "networkpolicies") == 0


def test_nothing_is_made_without_the_right_to_it_and_the_way_out_is_told(muster, kube):
    kube.trouble = forbid_policies
    done = muster("run", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", "--", "true", code=3)
    assert done.stderr == (
        "muster: cannot create networkpolicies in namespace 'ada': permission denied; add this rule to a Role there: "
        '{apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: ["create", "list", "watch"]}; or '
        "use --no-network-policy, which needs no rights on networkpolicies\n")
    put_record(kube, document())
    assert "cannot create networkpolicies" in muster("attach", "kubernetes/ada/story", code=3).stderr
    assert not [plural for plural, _ in kube.created if plural != "selfsubjectaccessreviews"]


def test_who_takes_a_job_over_makes_the_one_that_it_lacks(muster, kube):
    put_record(kube, document(replicas=1), begun(replicas=1))
    watching = muster.start("attach", "kubernetes/ada/story")
    read_until(watching.stdout, "line 19")
    assert POLICY in kube.objects
    end(kube, watching)


def test_the_choice_is_in_the_job_and_can_be_taken_out_of_it(muster):
    program = ["--image", "i", "--", "true"]
    written = muster("render", "--no-network-policy", *program, code=0).stdout
    assert "muster/network-policy: none" in written

    def kinds(*arguments, **options):
        done = muster("render", "--as", "pods", "-o", "json", *arguments, code=0, **options)
        return {item["kind"] for item in json.loads(done.stdout)["items"]}

    assert "NetworkPolicy" in kinds(*program)
    assert "NetworkPolicy" not in kinds("--no-network-policy", *program)
    assert "NetworkPolicy" not in kinds("-f", "-", input=written)
    assert "NetworkPolicy" in kinds("--network-policy", "-f", "-", input=written)
