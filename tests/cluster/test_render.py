"""What `render` and `--dry-run=server` say is what `run` makes, with the real API server as the judge."""

import base64
import json

import pytest

from conftest import LIMIT, until
from test_run import BUSYBOX, left_of, run, run_in_background, write_job

KINDS = "pods,services,networkpolicies,configmaps,secrets"
OWNED = "app.kubernetes.io/managed-by=muster"


def asked_for(wanted, found):
    """The part of `found` that `wanted` speaks of: what a server adds is left out."""
    if isinstance(wanted, dict):
        return {key: asked_for(value, found[key]) for key, value in wanted.items() if key in found}
    if isinstance(wanted, list) and isinstance(found, list):
        # A server adds its own at the end (the volume of the account's token).
        return [asked_for(*pair) for pair in zip(wanted, found, strict=False)]
    return found


def by_name(items):
    return {(item["kind"], item["metadata"]["name"]): item for item in items}


def rendered(muster, *arguments):
    text = muster("render", "--as", "pods", "-o", "json", *arguments, code=0).stdout
    decoder, items = json.JSONDecoder(), []
    while text.strip():
        value, end = decoder.raw_decode(text.lstrip())
        items += value["items"] if value["kind"] == "List" else [value]
        text = text.lstrip()[end:]
    return items


def test_kubectl_sees_what_render_said(muster, namespace):
    script = muster.folder / "wait.sh"
    script.write_text("#!/bin/sh\necho up\nsleep 1000\n")
    script.chmod(0o755)
    flags = ["--name", "same", "--namespace", namespace.name, "-w", 2, "--env", "COLOUR=blue", "--cpu", "10m",
             "--memory", "32Mi", "--grace", "1s", *BUSYBOX, "./wait.sh", "--epochs", "3"]
    wanted = by_name(rendered(muster, *flags))
    job = run_in_background(muster, *flags)
    # Pods and what they need are requested at the same time.
    found = until(lambda: by_name(namespace.list(KINDS, OWNED)), lambda found: len(found) >= len(wanted))
    assert sorted(found) == sorted(wanted)
    # How a server keeps what a Secret was given as text.
    secret = wanted["Secret", "same.env"]
    secret["data"] = {key: base64.b64encode(text.encode()).decode() for key, text in secret.pop("stringData").items()}
    for key, made in found.items():
        assert made["kind"] == "ConfigMap" and key[1] == "same.job" or asked_for(wanted[key], made) == wanted[key]
    document = json.loads(found["ConfigMap", "same.job"]["data"]["document"])
    assert document["spec"] == json.loads(wanted["ConfigMap", "same.job"]["data"]["document"])["spec"]
    job.terminate()
    job.wait(timeout=LIMIT)
    assert left_of(namespace) == []


def test_kubectl_can_apply_what_is_rendered(muster, namespace):
    flags = ["--name", "applied", "--namespace", namespace.name, "-w", 2, *BUSYBOX, "--", "sh", "-c",
             "test -n \"$TF_CONFIG\" && nslookup applied-worker-1.applied >/dev/null; echo I am $RANK"]
    text = muster("render", "--as", "pods", *flags, code=0).stdout
    namespace.kubectl("apply", "-f", "-", input=text)
    for index in range(2):
        namespace.until_phase(f"applied-worker-{index}", "Succeeded")
        assert namespace.kubectl("logs", f"applied-worker-{index}") == f"I am {index}\n"


@pytest.fixture
def applied(muster, namespace):
    """A job with a Secret and a file that kubectl made: it has run on without a muster."""
    script = muster.folder / "wait.sh"
    script.write_text("#!/bin/sh\necho up; while [ ! -e /tmp/end ]; do sleep 0.1; done; exit $(cat /tmp/end)\n")
    script.chmod(0o755)
    flags = ["--name", "applied", "--namespace", namespace.name, "-w", 2, "--env", "COLOUR=blue", "--grace", "1s"]
    text = muster("render", "--as", "pods", *flags, *BUSYBOX, "./wait.sh", code=0).stdout
    namespace.kubectl("apply", "-f", "-", input=text)
    for index in range(2):
        namespace.until_phase(f"applied-worker-{index}", "Running")
    return f"kubernetes/{namespace.name}/applied"


def ours(namespace):
    return sorted((item["kind"], item["metadata"]["name"]) for item in namespace.list(f"{KINDS},leases", OWNED))


def test_what_kubectl_applied_is_seen(muster, applied):
    listed = muster("ps", "--on", "kubernetes", code=0).stdout.splitlines()[1].split()
    assert listed[:5] == ["applied", "Pending", "(unsupervised)", "worker=2", "2/2"]
    shown = muster("status", applied, code=0).stdout
    assert "Running:    2 of 2" in shown and "Supervised: no" in shown


def test_what_kubectl_applied_is_deleted_as_a_whole_and_nothing_else(muster, namespace, applied):
    labels = {"app.kubernetes.io/managed-by": "muster", "muster/job": "applied"}
    other = namespace.get("configmap", "kube-root-ca.crt")["metadata"]
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": other["name"], "uid": other["uid"]}
    namespace.create({"apiVersion": "v1", "kind": "Secret",
                      "metadata": {"name": "foreign", "labels": labels, "ownerReferences": [owner]}})
    muster("delete", applied, code=0)
    namespace.kubectl("wait", "--for=delete", f"--timeout={LIMIT}s", "secret/applied.env")  # by the garbage collector
    assert ours(namespace) == [("Secret", "foreign")]


def test_attach_rejects_what_kubectl_applied_and_changes_nothing(muster, namespace, applied):
    before = ours(namespace)
    assert "'applied' has no Lease: kubectl created it" in muster("attach", applied, code=125).stderr
    assert ours(namespace) == before


def test_a_cluster_that_would_take_all_says_so_and_makes_nothing(muster, namespace):
    done = run(muster, "--dry-run=server", "--name", "rehearsed", "-w", 2, *BUSYBOX, "--", "true", code=0)
    assert "dry run: the cluster would accept every object of job rehearsed" in done.stderr
    assert left_of(namespace) == []


def test_all_that_a_cluster_would_refuse_is_said_once(muster, namespace, tmp_path):
    template = {"spec": {"containers": [{"name": "tensorflow", "image": "registry.test/model:1", "memory": "1Gi"}],
                         "fieldOfTomorrow": "Never"}}
    done = run(muster, "--dry-run=server", "-f", write_job(tmp_path, "odd", template, workers=3), code=2)
    assert done.stderr.count('unknown field "spec.fieldOfTomorrow"') == 1
    assert 'unknown field "spec.containers[0].memory"' in done.stderr
    assert left_of(namespace) == []


def test_a_dry_run_of_the_client_asks_nobody(muster):
    done = run(muster, "--dry-run=client", "--kubeconfig", "/nowhere", *BUSYBOX, "--", "true", code=0)
    assert "would start worker-0" in done.stderr


def test_only_a_cluster_can_be_asked(muster):
    done = muster("run", "--dry-run=server", "--", "true", code=2)
    assert "--dry-run=server: needs --on kubernetes" in done.stderr
