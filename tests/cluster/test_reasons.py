"""Every trouble of a job on a cluster is one sentence that says what it is, and nothing of it is ignored."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import termios

import pytest

from conftest import LIMIT, few
from test_run import (
    BUSYBOX,
    RIGHTS,
    as_account,
    give_rights,
    left_of,
    rights,
    run,
    run_in_background,
    simulated_job,
    wait_for_line,
    write_job,
)

__all__ = ["as_account"]  # a fixture


def interrupt(job):
    job.send_signal(signal.SIGINT)
    assert job.wait(timeout=LIMIT) == 130


def quota(pods):
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"pods": pods}}}


def test_a_quota_is_waited_for_and_named(muster, namespace, tmp_path):
    namespace.create(quota(1))
    namespace.wait("resourcequota/few", "jsonpath={.status.hard.pods}=1")
    job = run_in_background(muster, "-f", simulated_job(tmp_path, workers=2, run_for="1s"))
    line = wait_for_line(job.stderr, "ExceededQuota")
    assert "is waiting for room in the quota (ExceededQuota): exceeded quota: few, requested: pods=1" in line
    namespace.kubectl("patch", "resourcequota", "few", "--patch", json.dumps({"spec": {"hard": {"pods": "9"}}}))
    assert job.wait(timeout=LIMIT) == 0
    assert left_of(namespace) == []


def test_what_admission_will_never_take_ends_the_job(muster, namespace, tmp_path):
    namespace.secure_pods("enforce", "baseline")
    template = {"spec": {"hostNetwork": True, "containers": [{"name": "tensorflow", "image": "registry.test/model:1"}]}}
    done = run(muster, "-f", write_job(tmp_path, "hostile", template, policy="OnFailure"), code=127)
    assert 'was rejected by the cluster: violates PodSecurity "baseline:latest": host namespaces' in done.stderr
    assert left_of(namespace) == []


def test_a_limit_range_ends_the_job(muster, namespace):
    namespace.create({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "small"},
                      "spec": {"limits": [{"type": "Container", "max": {"memory": "64Mi"}}]}})
    done = run(muster, "--memory", "1Gi", "--max-restarts", 5, *BUSYBOX, "--", "true", code=127)
    assert "was rejected by the cluster: maximum memory usage per Container is 64Mi, but limit is 1Gi" in done.stderr
    assert left_of(namespace) == []


def test_what_is_no_pod_ends_the_job(muster, namespace, tmp_path):
    template = {"spec": {"containers": [{"name": "tensorflow", "image": "registry.test/model:1"}],
                         "priorityClassName": "nothing"}}
    done = run(muster, "-f", write_job(tmp_path, "odd", template), code=127)
    assert "was rejected by the cluster: no PriorityClass with name nothing was found" in done.stderr


@pytest.mark.parametrize("reason, told", few([
    ("ErrImagePull", "cannot pull its image (ErrImagePull): "),
    ("ImagePullBackOff", "cannot pull its image (ImagePullBackOff): "),
    ("CreateContainerConfigError", "cannot be set up (CreateContainerConfigError): "),
    ("SomethingNew", "is waiting (SomethingNew): "),
]))
def test_what_holds_pods_up_is_said_once_for_all(muster, tmp_path, reason, told):
    job = run_in_background(muster, "-f", simulated_job(tmp_path, workers=3, waiting=reason))
    said = wait_for_line(job.stderr, reason)
    assert told in said and "registry.test/model:1" in said
    interrupt(job)
    assert job.stderr.read().count(reason) < 3


def test_an_image_that_is_not_there_is_named(muster, namespace):
    job = run_in_background(muster, "--image", "localhost/nothing:1", "--node-selector", "type=real", "--", "true")
    line = wait_for_line(job.stderr, "cannot pull its image")
    assert "localhost/nothing:1" in line
    interrupt(job)
    assert left_of(namespace) == []


def test_a_secret_that_is_missing_is_named(muster, namespace, tmp_path):
    template = {"spec": {"nodeSelector": {"type": "real"}, "containers": [{
        "name": "tensorflow", "image": "localhost/busybox:test", "imagePullPolicy": "Never", "command": ["true"],
        "env": [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "absent", "key": "k"}}}]}]}}
    job = run_in_background(muster, "-f", write_job(tmp_path, "secretive", template, workers=1))
    wait_for_line(job.stderr, "cannot be set up (CreateContainerConfigError)")
    # A kubelet that has not heard of any Secret yet says that first.
    muster.until("secretive", lambda seen: any(
        'secret "absent" not found' in replica.get("message", "") for replica in seen["status"]["replicas"]))
    interrupt(job)


def test_a_volume_that_cannot_be_mounted_is_named(muster, namespace, tmp_path):
    template = {"spec": {"nodeSelector": {"type": "real"}, "volumes": [{"name": "v", "configMap": {"name": "absent"}}],
                         "containers": [{"name": "tensorflow", "image": "localhost/busybox:test", "command": ["true"],
                                         "imagePullPolicy": "Never",
                                         "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}}
    job = run_in_background(muster, "-f", write_job(tmp_path, "mounted", template, workers=2))
    said = wait_for_line(job.stderr, "FailedMount")
    assert "worker-0 (and 1 more) is waiting for its volumes (FailedMount): MountVolume.SetUp failed for volume" in said
    assert 'configmap "absent" not found' in said
    namespace.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "absent"}})
    assert job.wait(timeout=LIMIT) == 0
    assert left_of(namespace) == []


def test_memory_that_is_not_enough_is_named_with_its_limit(muster, namespace):
    """containerd may hear of the kill before it hears of its reason (its issues 8180 and 12372), and the Pod then never
    shows it: what muster tells is what the Pod shows."""
    done = run(muster, "--memory", "16Mi", *BUSYBOX, "--", "sh", "-c", "tail /dev/zero", code=137)
    assert re.search(r"worker-0 ran out of memory and was killed \(OOMKilled\).*: its memory limit is 16Mi \(attempt 0\)|"
                     r"worker-0 was killed by signal 9 \(SIGKILL\).*: its memory limit is 16Mi, which it may have reached "
                     r"\(attempt 0\)", done.stderr)


def test_an_eviction_is_said(muster, tmp_path):
    done = run(muster, "-f", simulated_job(tmp_path, workers=1, run_for="200ms", end="Evicted"), code=137)
    assert "worker-0 was evicted by its node" in done.stderr and "The node was low on resource: memory" in done.stderr


def test_a_pod_that_is_ended_by_its_node_has_not_succeeded(muster, namespace, tmp_path):
    """The program catches TERM, saves, and ends with code 0."""
    (tmp_path / "pod.json").write_text(json.dumps({"spec": {"activeDeadlineSeconds": 2, "containers": [{"name": "tensorflow"}]}}))
    done = run(muster, "--pod-template", tmp_path / "pod.json", *BUSYBOX, "--", "sh", "-c",
               "trap 'echo saved; exit 0' TERM; sleep 1000000 & wait", code=1)
    assert "saved" in done.stdout
    assert "worker-0 exceeded activeDeadlineSeconds of its Pod" in done.stderr


def test_what_a_failed_init_container_said_is_told(muster, namespace, tmp_path):
    before = {"name": "before", "image": BUSYBOX[1], "command": ["sh", "-c", "echo looking; echo there is no data; exit 4"]}
    (tmp_path / "pod.json").write_text(json.dumps({"spec": {"initContainers": [before], "containers": [{"name": "tensorflow"}]}}))
    done = run(muster, "--pod-template", tmp_path / "pod.json", *BUSYBOX, "--", "true", code=1)
    assert "worker-0 did not start: init container 'before' exited with code 4: looking; there is no data (attempt 0)" in done.stderr
    assert "muster logs" not in done.stderr


@pytest.mark.disturbs
def test_a_preemption_is_said(muster, namespace, tmp_path):
    """The room of one node, and something more important that wants it."""
    namespace.cluster.kubectl("create", "priorityclass", f"high-{namespace.name}", "--value", "1000")
    node = {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": namespace.name, "labels": {"type": "simulated", "for": namespace.name}},
            "status": {"capacity": {"cpu": "1", "memory": "1Gi", "pods": "1"},
                       "allocatable": {"cpu": "1", "memory": "1Gi", "pods": "1"}}}
    namespace.create(node)
    spec = {"containers": [{"name": "tensorflow", "image": "registry.test/model:1"}],
            "nodeSelector": {"for": namespace.name}, "tolerations": [{"operator": "Exists"}]}
    job = run_in_background(muster, "-f", write_job(tmp_path, "humble", {"spec": spec}, workers=1))
    namespace.until_phase("humble-worker-0", "Running")
    namespace.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "proud"},
                      "spec": {**spec, "priorityClassName": f"high-{namespace.name}"}})
    assert "worker-0 was preempted by a Pod of higher priority" in wait_for_line(job.stderr, "preempted")
    job.communicate(timeout=LIMIT)
    namespace.cluster.kubectl("delete", "node", namespace.name, "--wait=false")


def test_a_namespace_that_goes_ends_the_job(muster, namespace, tmp_path):
    job = run_in_background(muster, "-f", simulated_job(tmp_path, workers=1, policy="OnFailure"))
    namespace.until_phase("simulated-worker-0", "Running")
    namespace.cluster.kubectl("delete", "namespace", namespace.name, "--wait=false")
    said = job.communicate(timeout=LIMIT)[1]
    assert job.returncode in (125, 127)
    assert ("is being terminated" in said or
            "ConfigMap 'simulated.job' was deleted, and the cluster deleted the Pods with it" in said)


def test_a_service_that_somebody_deletes_is_made_again(muster, namespace, tmp_path):
    job = run_in_background(muster, "-f", simulated_job(tmp_path, workers=1))
    namespace.until_phase("simulated-worker-0", "Running")
    before = namespace.get("service", "simulated")["metadata"]["uid"]
    namespace.kubectl("delete", "service", "simulated")
    wait_for_line(job.stderr, "the Service 'simulated' of the job was deleted; creating it again")
    namespace.wait("service/simulated", "create")
    after = namespace.get("service", "simulated")["metadata"]
    assert after["uid"] != before and after["ownerReferences"][0]["name"] == "simulated.job"
    interrupt(job)
    assert left_of(namespace) == []


def test_files_that_somebody_deletes_are_made_again(muster, namespace):
    script = muster.folder / "wait.sh"
    script.write_text("#!/bin/sh\necho up\nsleep 1000\n")
    script.chmod(0o755)
    job = run_in_background(muster, "--name", "filed", "--grace", "1s", *BUSYBOX, "./wait.sh")
    assert job.stdout.readline() == "worker-0 | up\n"
    before, = namespace.list("configmaps", "muster/part=files")
    name = before["metadata"]["name"]
    namespace.kubectl("delete", "configmap", name)
    wait_for_line(job.stderr, f"the ConfigMap '{name}' of the job was deleted; creating it again")
    namespace.wait(f"configmap/{name}", "create")
    after = namespace.get("configmap", name)
    assert after["data"] == before["data"] and after["metadata"]["uid"] != before["metadata"]["uid"]
    assert after["metadata"]["labels"] == before["metadata"]["labels"]
    interrupt(job)
    assert left_of(namespace) == []


def test_a_lease_that_somebody_deletes_is_made_again_by_its_holder(muster, namespace, tmp_path):
    job = run_in_background(muster, "--grace", "1s", "-f", simulated_job(tmp_path, workers=1, policy="OnFailure"))
    namespace.until_phase("simulated-worker-0", "Running")
    before = namespace.get("lease", "simulated.job")
    namespace.kubectl("delete", "lease", "simulated.job")
    namespace.wait("lease/simulated.job", "create")
    after = namespace.get("lease", "simulated.job")
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert after["spec"]["holderIdentity"] == before["spec"]["holderIdentity"]
    assert after["metadata"]["ownerReferences"] == before["metadata"]["ownerReferences"]
    # It still acts.
    namespace.kubectl("delete", "pod", "simulated-worker-0", "--wait=false")
    wait_for_line(job.stderr, "worker-0 was deleted by another client")
    namespace.kubectl("wait", "--for=create", f"--timeout={LIMIT}s", "pod", "-l", "muster/attempt=1")
    interrupt(job)
    assert left_of(namespace) == []


def test_rights_that_are_taken_away_and_given_back_are_waited_for(as_account, namespace, tmp_path):
    without_pods = [rule for rule in RIGHTS if rule["resources"] != ["pods"]]
    pods = [rights("", "pods", "get", "list", "watch", "delete")]
    give_rights(namespace, RIGHTS)
    job = run_in_background(as_account, "--grace", "1s", "-f",
                            simulated_job(tmp_path, workers=1, policy="OnFailure"))
    namespace.until_phase("simulated-worker-0", "Running")
    namespace.kubectl("patch", "role", "given", "--patch", json.dumps({"rules": without_pods + pods}))
    namespace.until_account_may("create", "pods", answer="no")
    namespace.kubectl("delete", "pod", "simulated-worker-0", "--wait=false")
    said = wait_for_line(job.stderr, "may not be created (Forbidden)")
    assert "worker-0 may not be created" in said and 'resources: ["pods"], verbs: ["create"]' in said
    namespace.kubectl("patch", "role", "given", "--patch", json.dumps({"rules": RIGHTS}))
    namespace.kubectl("wait", "--for=create", f"--timeout={LIMIT}s", "pod", "-l", "muster/attempt=1")
    interrupt(job)
    assert left_of(namespace) == []


def test_without_a_terminal_one_line_says_that_all_run(muster):
    done = run(muster, "--name", "start", "-w", 2, *BUSYBOX, "--", "sleep", "1", code=0)
    assert done.stderr.count("muster: all 2 Pods are running\n") == 1


def test_on_a_terminal_a_line_says_how_far_the_start_is(muster, tmp_path):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
    job = muster.start("run", "--on", "kubernetes", "-f", simulated_job(tmp_path, workers=3, waiting="ErrImagePull"),
                       stdout=theirs, stderr=theirs)
    shown = b""
    while b"3 Pods: 3 scheduled, 0 set up, 0 running; worker-0 (and 2 more) cannot pull its image" not in shown:
        shown += os.read(ours, 4096)
    interrupt(job)


@pytest.fixture
def own_node(namespace):
    """A node of which nobody takes care: its state is what the test says. Its Pods do what their status says."""
    made = {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": namespace.name, "labels": {"for": namespace.name}},
            "status": {"capacity": {"cpu": "8", "memory": "8Gi", "pods": "10"},
                       "allocatable": {"cpu": "8", "memory": "8Gi", "pods": "10"},
                       "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}}
    namespace.create(made)
    yield namespace.name
    namespace.cluster.kubectl("delete", "node", namespace.name, "--ignore-not-found", "--wait=false")


def pretend_to_run(namespace, name):
    """What a kubelet would write."""
    now = "2026-01-01T00:00:00Z"
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": now}
                  for kind in ("Initialized", "ContainersReady", "Ready")]
    containers = [{"name": "tensorflow", "image": "registry.test/model:1", "imageID": "", "ready": True,
                   "restartCount": 0, "state": {"running": {"startedAt": now}}}]
    status = {"status": {"phase": "Running", "conditions": conditions, "containerStatuses": containers}}
    namespace.kubectl("patch", "pod", name, "--subresource=status", "--patch", json.dumps(status))


@pytest.mark.long
def test_a_node_that_does_not_answer_is_said(muster, namespace, tmp_path, own_node):
    template = {"spec": {"nodeSelector": {"for": own_node}, "tolerations": [{"operator": "Exists"}],
                         "containers": [{"name": "tensorflow", "image": "registry.test/model:1"}]}}
    job = run_in_background(muster, "--grace", "1s", "-f",
                            write_job(tmp_path, "far", template, workers=1, policy="OnFailure"))
    namespace.wait("pod/far-worker-0", "create")
    namespace.wait("pod/far-worker-0", "jsonpath={.spec.nodeName}")
    pretend_to_run(namespace, "far-worker-0")
    # Nobody tells of that node any more, which the cluster's controller finds out.
    said = wait_for_line(job.stderr, "NodeNotReady")
    assert f"worker-0 may be lost with its node (NodeNotReady): node '{own_node}' does not respond" in said
    namespace.kubectl("delete", "pod", "far-worker-0", "--grace-period=1", "--wait=false")
    said = wait_for_line(job.stderr, "NodeSilent")
    assert f"attempt 0 was asked to stop on node '{own_node}'" in said and f"kubectl delete node {own_node}" in said
    namespace.kubectl("delete", "pod", "far-worker-0", "--force")
    namespace.kubectl("wait", "--for=create", f"--timeout={LIMIT}s", "pod", "-l", "muster/attempt=1")
    namespace.wait("pod/far-worker-0", "jsonpath={.spec.nodeName}")
    job.send_signal(signal.SIGINT)
    said = wait_for_line(job.stderr, "worker-0 is waiting for its previous attempt to stop")
    assert "attempt 1 was asked to stop on node" in said
    namespace.kubectl("delete", "pod", "far-worker-0", "--force")
    assert job.wait(timeout=LIMIT) == 130
    assert left_of(namespace) == []
