"""Names of jobs that are not here: which cluster is asked, and what is said when it cannot be asked."""

import json
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "fake_kube"))

from fake_kube import FakeKube, refuse  # noqa: E402

pytestmark = pytest.mark.sanitize

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
                          "'muster ps -A' lists the jobs")


@pytest.mark.parametrize("command", ABOUT_A_JOB)
def test_both_facts_are_said_when_the_cluster_does_not_answer(muster, unreachable, command):
    done = muster(*command, "digits", code=3)
    assert said(done).startswith("muster: job 'digits' is not here, and the cluster of context 'far' cannot be asked: ")


def test_wait_and_scale_say_them_too(muster, unreachable):
    for call in (["wait", "digits"], ["scale", "digits", "worker=2"]):
        assert "is not here, and the cluster" in said(muster(*call, code=3))


def test_who_has_no_right_is_refused(muster, cluster):
    cluster.faults += [refuse(403, reason="Forbidden", message="ada may not") for _ in range(20)]
    done = muster("status", "digits", code=4)
    assert said(done).startswith("muster: job 'digits' is not here, and the cluster of context 'far' cannot be asked: ")
    assert muster("ps", "--on", "kubernetes", code=4).stdout == ""


def test_a_kubeconfig_of_no_use_does_not_hide_that_the_job_is_not_here(muster, tmp_path):
    muster.environment["KUBECONFIG"] = str(tmp_path / "config")
    (tmp_path / "config").write_text("clusters: [")
    assert said(muster("status", "digits", code=2)).startswith(
        "muster: job 'digits' is not here, and the cluster cannot be asked: ")
    assert said(muster("ps", "--on", "kubernetes", code=2))


def test_without_a_kubeconfig_only_this_machine_is_meant(muster):
    assert said(muster("status", "digits", code=1)) == "muster: job 'digits' not found; 'muster ps -a' lists the jobs"
    said(muster("ps", "--on", "kubernetes", code=3))
    said(muster("status", "kubernetes/ada/digits", code=3))


def test_what_is_here_needs_no_cluster(muster, unreachable):
    muster("run", "--name", "digits", "--", "true", code=0)
    assert "Succeeded" in muster("status", "digits", code=0).stdout
    assert muster("ps", "-a", "-o", "name", code=0).stdout == "local/digits\n"
    assert said(muster("status", "local/digts", code=1)) == "muster: job 'digts' not found; did you mean 'digits'?"
    muster("delete", "local/digits", code=0)
    assert muster("ps", "-a", "--no-headers", code=0).stdout == ""


def test_a_cluster_that_is_named_is_asked_also_for_what_is_here(muster, cluster):
    muster("run", "--name", "digits", "--", "true", code=0)
    sentence = "muster: job 'digits' not found in namespace 'bob' of context 'far'; 'muster ps -A' lists the jobs"
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
