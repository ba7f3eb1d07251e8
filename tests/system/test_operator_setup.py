"""`muster operator install` and `upgrade-from-training-operator` before a fake cluster in which other users were first."""

import pytest

from conftest import read_until
from test_operator import kube  # noqa: F401

OURS = "muster-operator"
LABELS = {"app.kubernetes.io/name": OURS}
OLD = {"control-plane": "kubeflow-training-operator"}


@pytest.fixture
def cluster(kube):  # noqa: F811
    """It takes server-side apply, too."""
    def apply(exchange):
        if exchange.method != "PATCH" or "fieldManager" not in exchange.query:
            return False
        plural, name = exchange.path.split("/")[-2:]
        exchange.answer(201, kube.put(plural, name, exchange.json()))
        return True

    kube.trouble = apply
    return kube


def put(kube, plural, name, labels=None, namespace=OURS, **body):  # noqa: F811
    kube.put(plural, name, {"metadata": {"namespace": namespace, "labels": labels or {}}, **body})


def changes(kube):  # noqa: F811
    return [(method, path) for method, path, _ in kube.requests() if method != "GET"]


def install(muster, *options, code=0, word="install"):
    return muster("operator", word, "--no-wait", *options, code=code)


def test_a_namespace_that_is_missing_or_empty_is_used(muster, cluster):
    assert "namespaces 'muster-operator' created" in install(muster).stdout
    cluster.objects.clear()
    put(cluster, "namespaces", OURS)
    put(cluster, "serviceaccounts", "default")
    put(cluster, "rolebindings", "elsewhere", namespace="ada")
    assert install(muster).stderr == ""


@pytest.mark.parametrize("plural", ["rolebindings", "serviceaccounts", "pods", "deployments", "statefulsets", "daemonsets", "replicasets",
                                    "replicationcontrollers", "cronjobs", "jobs", "tfjobs"])
@pytest.mark.parametrize("word", ["install", "upgrade-from-training-operator"])
def test_a_namespace_in_which_others_have_objects_is_refused(muster, cluster, plural, word):
    put(cluster, "namespaces", OURS)
    put(cluster, plural, "theirs")
    refused = install(muster, word=word, code=3)
    assert f"namespace 'muster-operator' has objects that are not muster's: {plural} 'theirs'; their owner could act" in refused.stderr
    assert "use --force to keep them" in refused.stderr and changes(cluster) == []
    shown = install(muster, "--dry-run", word=word)
    assert f"not muster's: {plural} 'theirs'\n" in shown.stderr and changes(cluster) == []
    forced = install(muster, "--force", word=word)
    assert f"not muster's: {plural} 'theirs'\n" in forced.stderr and ("deployments", OURS) in cluster.objects


def test_names_and_labels_of_muster_count_only_in_its_namespace(muster, cluster):
    """Objects that are applied over those of another user are merged with them."""
    def prepare(labels):
        put(cluster, "namespaces", OURS, labels)
        put(cluster, "serviceaccounts", OURS)
        put(cluster, "rolebindings", "muster-operator-lease", LABELS)
        put(cluster, "deployments", OURS, LABELS)
        put(cluster, "pods", "muster-operator-0", LABELS)

    prepare({})
    assert "rolebindings 'muster-operator-lease', serviceaccounts 'muster-operator', pods 'muster-operator-0', " \
           "deployments 'muster-operator'; their owner" in install(muster, code=3).stderr
    prepare(LABELS)
    assert install(muster).stderr == ""


def test_of_many_objects_some_are_named(muster, cluster):
    put(cluster, "namespaces", OURS)
    for number in range(12):
        put(cluster, "rolebindings", f"b-{number:02}")
    assert "'b-09' and 2 more; their owner" in install(muster, code=3).stderr


@pytest.mark.parametrize("word, plural, said", [
    ("upgrade-from-training-operator", "pytorchjobs", "which would have no operator: 20 PyTorchJobs; use --force"),
    ("upgrade-from-training-operator", "tfjobs", "'job-09' and 10 more; their owner"),
    ("uninstall", "tfjobs", "20 TFJobs would be deleted with the definition"),
])
def test_more_jobs_than_one_answer_may_have_are_counted_in_pages(muster, cluster, word, plural, said):
    put(cluster, "namespaces", OURS)
    for number in range(20):
        put(cluster, plural, f"job-{number:02}", spec={"padding": "x" * 1000000})
    assert said in install(muster, *(["--with-crd"] if word == "uninstall" else []), word=word, code=3).stderr
    assert changes(cluster) == []


def test_a_deployment_of_another_user_holds_up_no_upgrade(muster, cluster):
    """It only has the label, and a Pod that does not end."""
    put(cluster, "deployments", "training-operator", OLD, "kubeflow")
    put(cluster, "deployments", "false", OLD, "mallory")
    put(cluster, "pods", "stays", OLD, "mallory")
    upgrade = muster.start("operator", "upgrade-from-training-operator", "--no-wait")
    assert "deployments 'false' of namespace mallory scaled to 0\n" in read_until(upgrade.stdout, "mallory"), "it waits for the Pod"
    upgrade.kill()
    upgrade.wait()
    cluster.server.exchanges.clear()
    done = install(muster, "--skip-namespace", "mallory", word="upgrade-from-training-operator")
    assert "deployments 'false' of namespace mallory skipped\n" in done.stdout
    assert not [path for _, path in changes(cluster) if "mallory" in path]
    assert cluster.objects["deployments", "training-operator"]["spec"]["replicas"] == 0 and ("deployments", OURS) in cluster.objects
