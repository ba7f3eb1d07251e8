"""An API server in whose objects any text may be a nasty one (tests/fake_kube/hostile.py): no command moves a cursor, makes a
file that it should not, or dies of it, and an operator serves what comes when the server is as it should be again."""

import json
import re
import signal
import subprocess

import pytest

from conftest import LIMIT, few
from hostile import Hostile
from living_kube import LivingKube
from test_jobs_elsewhere import write_kubeconfig
from test_kube_foreign import LABELS, UID, document, put_record

WHERE = "kubernetes/ada/story"
COMMANDS = [
    ["status", WHERE], ["status", "-o", "json", WHERE], ["status", "-o", "yaml", WHERE], ["ps", "--on", "kubernetes"],
    ["ps", "-a", "-A"], ["ps", "-A", "-o", "name"], ["ps", "-A", "-o", "json"], ["logs", WHERE], ["scale", WHERE, "3"],
    ["suspend", WHERE], ["resume", WHERE], ["fetch", WHERE, "out"], ["cp", "story:worker-0:/x", "out"],
    ["exec", WHERE, "worker-0", "--", "true"], ["stop", "--no-wait", WHERE], ["attach", "-d", WHERE]]
# A line of a job may have colours; these are lines of muster, and tables.
UNCLEAN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
CODES = {0, 1, 2, 3, 4, 5, 124, 125, 126, 127}
PATIENCE = 5  # with a command that is told that nothing comes to its end
STATUS = {
    "conditions": [{"type": "Created", "status": "True", "reason": "TFJobCreated", "message": "TFJob ada/story is created."},
                   {"type": "Restarting", "status": "True", "reason": "TFJobRestarting", "message": "job story is restarting"}],
    "replicas": [{"role": "worker", "indices": "0-1", "state": "Started"}], "startTime": "2026-01-02T03:04:05Z",
    "failure": {"role": "worker", "index": 0, "attempt": 0, "exitCode": 3, "reason": "Error", "message": "worker-0 exited with code 3",
                "lastLines": ["Traceback", "ValueError: no"]}}


def put_pods(kube):
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "story.job", "uid": UID, "controller": True}
    for index in range(2):
        labels = {**LABELS, "muster/role": "worker", "muster/index": str(index), "muster/attempt": "0"}
        kube.put("pods", f"story-worker-{index}", {
            "metadata": {"labels": labels, "ownerReferences": [owner], "namespace": "ada"},
            "spec": {"nodeName": "node-0", "containers": [{"name": "tensorflow", "image": "i"}]},
            "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                                                          "message": "0/5 nodes are available"}],
                       "containerStatuses": [{"name": "tensorflow", "state": {"waiting": {"reason": "ErrImagePull",
                                                                                         "message": "not found"}}}]}})
    kube.put("leases", "story.job", {"metadata": {"labels": LABELS, "ownerReferences": [owner]}, "spec": {
        "holderIdentity": "laptop_1_2_3_b_4", "leaseDurationSeconds": 15, "renewTime": "2026-01-02T03:04:05.000000Z"}})


@pytest.mark.parametrize("seed", few(range(12), 2))
def test_no_command_is_harmed_or_does_harm(muster, tmp_path, seed):
    (tmp_path / "a" / "b").mkdir(parents=True)
    with LivingKube(lambda labels: None) as kube:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        put_record(kube, document(), status=json.dumps(STATUS))
        put_pods(kube)
        muster.environment["MUSTER_REQUEST_TIMEOUT"] = "2s"
        kube.trouble = Hostile(seed).trouble
        for command in COMMANDS:
            try:
                done = muster(*command, cwd=tmp_path / "a" / "b", limit=PATIENCE)
            except subprocess.TimeoutExpired as late:  # told that nothing ends, it waits: what it said counts
                said = "".join((text or b"").decode(errors="replace") for text in (late.stdout, late.stderr))
            else:
                assert done.returncode in CODES, (command, done)
                said = done.stdout + done.stderr
            assert not UNCLEAN.search(said), (command, said)
        kube.trouble = lambda exchange: False
    assert not [path for path in tmp_path.rglob("*escaped*")]


def put_tfjob(kube, name, **more):
    uid = f"{UID[:-12]}{sum(name.encode()):012}"
    kube.put("tfjobs", name, {**json.loads(document(name)), **more, "metadata": {
        "name": name, "namespace": "ada", "uid": uid, "creationTimestamp": "2026-01-02T03:04:05Z"}})


def count_asks(kube):
    return sum(path.endswith("/tfjobs") for _, path, _ in kube.requests())


def wait_until_it_asks_again(kube, process, n_before):
    with kube.lock:  # nobody tells when
        while count_asks(kube) == n_before:
            assert process.poll() is None
            kube.lock.wait(0.01)


@pytest.mark.parametrize("seed", range(4))
def test_an_operator_goes_on(muster, tmp_path, seed):
    said = tmp_path / "said"
    with LivingKube(lambda labels: 0) as kube, said.open("w") as errors:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        kube.trouble = Hostile(seed).trouble
        put_tfjob(kube, "story-0")
        process = muster.start("operator", "-n", "ada", stderr=errors)
        wait_until_it_asks_again(kube, process, 0)
        for index in range(1, 6):
            n_before = count_asks(kube)
            put_tfjob(kube, f"story-{index}")
            kube.end_watches()
            wait_until_it_asks_again(kube, process, n_before)
        kube.trouble = lambda exchange: False
        n_before = count_asks(kube)
        kube.end_watches()
        wait_until_it_asks_again(kube, process, n_before)  # what was asked before is still answered with nasties
        put_tfjob(kube, "last")
        with kube.lock:  # the server is what it should be again, and is served
            assert kube.lock.wait_for(lambda: ("pods", "last-worker-0") in kube.objects, LIMIT)
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT) == 0
    assert not UNCLEAN.search(said.read_text())
