"""An API server that lies, and whoever may write a job's objects: no name of theirs makes a file outside the job's folder."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import urllib.parse

import pytest

from conftest import BINARY, LIMIT, read_line
from fake_kube import refuse
from http_server import Gone
from living_kube import LivingKube
from test_jobs_elsewhere import write_kubeconfig
from test_kube_foreign import LABELS, UID, begun, document, put_record
from test_kube_secret import KubeWithKeepers
from websocket_server import accept, frame

UP = "../../../../escaped"  # from a job's own folder, and from that of `logs`, to the test's


@pytest.fixture
def kube(muster, tmp_path):
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    with LivingKube() as server:
        muster.environment.update(KUBECONFIG=str(write_kubeconfig(tmp_path / "kubeconfig", server.origin)),
                                  TMPDIR=str(tmp_path / "a" / "b" / "c"))
        yield server
    assert [path for path in tmp_path.parent.rglob("*escaped*")] == []


def lies(plural, change):
    """What is told of these objects is changed, in answers and in watches; the server itself knows better."""
    def changed(text):
        told = json.loads(text if isinstance(text, str) else json.dumps(text))
        for item in told.get("items", [told.get("object", told)]):
            if "name" in item.get("metadata", {}):
                change(item)
        return json.dumps(told)

    def trouble(exchange):
        if f"/{plural}" in exchange.path and not exchange.path.endswith("/log"):
            answer, chunk = exchange.answer, exchange.chunk
            exchange.answer = lambda status, body="", *headers: answer(status, changed(body), *headers)
            exchange.chunk = lambda line: chunk(changed(line) + "\n")
        return False
    return trouble


def with_uid_elsewhere(config_map):
    config_map["metadata"]["uid"] = "../../../escaped"


def with_role_elsewhere(pod):
    labels = pod["metadata"]["labels"]
    if labels["muster/index"] == "1":
        labels["muster/role"] = UP


def run(muster, **options):
    return muster("run", "--on", "kubernetes", "--name", "story", "-w", 2, "--image", "i", "--", "true", **options)


def test_a_uid_that_leads_elsewhere_is_no_job(muster, kube):
    kube.trouble = lies("configmaps", with_uid_elsewhere)
    assert "uid that Kubernetes would not allow" in run(muster, code=2).stderr
    put_record(kube, document())
    for command, code in (("status", 1), ("logs", 1), ("attach", 125), ("stop", 1)):
        assert muster(command, "kubernetes/ada/story", code=code).stderr
    muster("ps", "-A", code=0)


def test_a_role_that_leads_elsewhere_has_no_log(muster, kube):
    """Nor is that Pod anybody's: its replica is gone."""
    kube.trouble = lies("pods", with_role_elsewhere)
    assert "worker-1 disappeared" in run(muster, code=1).stderr


def test_a_restarted_replica_whose_role_leads_elsewhere_is_gone_too(muster, tmp_path):
    """What comes by the watch alone: no list follows that would not have it."""
    def with_second_attempt_elsewhere(pod):
        labels = pod["metadata"]["labels"]
        if labels["muster/attempt"] == "1":
            labels["muster/role"] = UP

    with LivingKube(plan=lambda labels: 1) as kube:
        kube.trouble = lies("pods", with_second_attempt_elsewhere)
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        said = muster("run", "--on", "kubernetes", "--name", "story", "-w", 1, "--max-restarts", 1, "--image", "i", "--", "true",
                      code=1).stderr
    assert "worker-0 disappeared (attempt 1)" in said


def test_logs_of_a_job_of_another_machine_stay_in_their_folder(muster, kube):
    put_record(kube, document(), status=json.dumps({"conditions": [{"type": "Succeeded", "status": "True"}], "exitCode": 0}))
    for index, role in enumerate(("worker", UP)):
        kube.put("pods", f"story-worker-{index}", {
            "metadata": {"labels": {**LABELS, "muster/role": role, "muster/index": str(index), "muster/attempt": "0"},
                         "ownerReferences": [{"uid": UID}]},
            "spec": {"containers": [{"name": "tensorflow"}]}, "status": {
                "phase": "Succeeded", "containerStatuses": [{"name": "tensorflow", "state": {"terminated": {
                    "exitCode": 0, "startedAt": "2026-01-02T03:04:05Z", "finishedAt": "2026-01-02T03:04:06Z"}}}]}})
    assert muster("logs", "kubernetes/ada/story", code=0).stdout.count("line 19") == 1


def test_a_failure_without_a_reason_is_not_read(muster, kube):
    put_record(kube, document(), status=json.dumps({"failure": {"role": "worker", "index": 0, "attempt": 0}}))
    assert "status.failure.reason: expected text" in muster("status", "kubernetes/ada/story", code=2).stderr


def test_a_failure_whose_role_leads_elsewhere_is_not_read(muster, kube):
    put_record(kube, document(), status=json.dumps({"failure": {"role": UP, "index": 0, "attempt": 0}}))
    for command in ("status", "attach", "wait"):
        assert "cannot be read" in muster(command, "kubernetes/ada/story").stderr
    assert not kube.created


@pytest.mark.parametrize("replica", ["escaped/../../escaped-0", "escaped-0"])
def test_what_is_fetched_makes_no_folder_elsewhere(muster, kube, replica):
    """A document that somebody else wrote says from which replica; a folder is made when that one is there."""
    made = json.loads(document(replicas=1))
    made["metadata"]["annotations"] = {"muster/fetch": json.dumps([f"{replica}:/models"])}
    put_record(kube, json.dumps(made), begun(replicas=1))
    assert "job story succeeded" in muster("attach", "kubernetes/ada/story").stderr


def put_old_lease(kube, holder):
    kube.put("leases", "story.job", {
        "metadata": {"labels": LABELS, "ownerReferences": [{"uid": UID}]},
        "spec": {"holderIdentity": holder, "leaseDurationSeconds": 1, "renewTime": "2026-01-02T03:04:05.000000Z"}})


def test_a_path_of_a_document_is_in_quotes_where_a_command_is_shown(muster, tmp_path):
    """Whoever may write ConfigMaps writes it, and the job's owner copies that command into a shell."""
    made = json.loads(document(replicas=1))
    made["metadata"]["annotations"] = {"muster/fetch": json.dumps(["worker-0:/models$(touch escaped)"])}
    with KubeWithKeepers() as kube:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        put_record(kube, json.dumps(made))
        put_old_lease(kube, "another")
        said = muster("attach", "kubernetes/ada/story", code=125).stderr
    assert "'muster cp 'kubernetes/ada/story:worker-0:/models$(touch escaped)' DEST' copies by hand" in said


# Words for a terminal

EVIL = "\x1b[2J\x1b]0;owned\x07\r\b\x9b31m\u202e"


def moving(text):
    """Control bytes that do more than begin a line or a column."""
    return [byte for byte in text if byte not in "\n\t" and (ord(byte) < 32 or 127 <= ord(byte) < 160)]


def assert_still(done):
    assert moving(done.stdout) == [] == moving(done.stderr), done


def evil_record(kube, code):
    replica = {"role": "worker", "index": 0, "attempt": 0, "state": "Failed", "exitCode": code, "reason": EVIL, "message": EVIL,
               "address": EVIL, "log": EVIL, "gpus": EVIL, "pod": EVIL, "node": EVIL, "ip": EVIL}
    failure = {"role": "worker", "index": 0, "attempt": 0, "reason": EVIL, "message": EVIL, "cause": EVIL, "exitCode": code,
               "lastLines": [EVIL], "consequences": [{"role": "worker", "index": 1, "attempt": 0, "what": EVIL}]}
    status = {"conditions": [{"type": "Failed", "status": "True", "reason": EVIL, "message": EVIL}], "replicas": [replica],
              "replicaStatuses": {EVIL: {"failed": 1}}, "failure": failure, "exitCode": code}
    summary = {"state": EVIL, "roles": EVIL, "message": EVIL, "running": 0, "wanted": 1, "restarts": 0, "exitCode": code,
               "finished": True}
    put_record(kube, document(), json.dumps(status), json.dumps(summary))
    kube.objects["configmaps", "story.job"]["data"]["supervisor"] = EVIL


def test_no_word_of_a_finished_record_moves_a_cursor(muster, kube):
    evil_record(kube, 7)
    put_old_lease(kube, EVIL)
    job = "kubernetes/ada/story"
    for call in (["status", job], ["status", "-o", "wide", job], ["status", "-o", "yaml", job], ["status", "-o", "json", job],
                 ["ps", "-A"], ["ps", "-a", "-A", "-o", "wide"], ["ps", "-a", "-A", "-o", "name"], ["logs", job], ["wait", job],
                 ["stop", job], ["attach", job]):
        done = muster(*call)
        assert done.returncode >= 0, call
        assert_still(done)


def test_no_word_of_a_refusal_moves_a_cursor(muster, kube):
    """In what is told of each call, too."""
    kube.trouble = refuse(403, reason=EVIL, message=EVIL)
    done = muster("status", "-v", "kubernetes/ada/story", code=4)
    assert "debug: watch configmaps/ada: 403" in done.stderr
    assert_still(done)


def test_no_name_of_an_object_that_is_removed_moves_a_cursor(muster, kube):
    kube.put("pods", f"a{EVIL}", {"metadata": {"labels": {"training_attempt": "mine"}}})
    kube.trouble = lambda exchange: setattr(exchange, "path", urllib.parse.unquote(exchange.path))
    done = muster("compat", "tf-spawner", "-d", "mine", input="y\n")
    assert "removing 'a?" in done.stdout
    assert_still(done)


def with_evil_words(pod):
    """What a kubelet says, and what the program that ended left in its message."""
    words = {"reason": EVIL, "message": EVIL}
    pod["spec"]["nodeName"] = EVIL
    pod["status"].update(words, podIP=EVIL, conditions=[{"type": "DisruptionTarget", "status": "True", **words}])
    for container in pod["status"].get("containerStatuses", []):
        for state in container["state"].values():
            state.update(words)


def test_no_word_of_a_pod_moves_a_cursor(muster, kube):
    kube.plan = lambda labels: 7
    kube.trouble = lies("pods", with_evil_words)
    done = run(muster)
    assert done.returncode and "job story failed" in done.stderr
    assert_still(done)


# A disk of 4 MiB

SMALL_DISK = ["unshare", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs -o size=4m none "$TMPDIR" && exec "$0" "$@"']
FIRST = b"ready\n0 5 ./small.tfevents\nbytes.\n"


@pytest.fixture
def viewing(muster, kube, tmp_path):
    """`muster tensorboard` of a Pod that sends these pieces, again and again, behind its first round."""
    def start(*pieces):
        def container(exchange):
            if not exchange.path.endswith("/exec"):
                return False
            accept(exchange, "v5.channel.k8s.io")
            exchange.write(frame(b"\x01" + FIRST))
            with contextlib.suppress(Gone):
                for number in range(10**6):
                    exchange.write(frame(b"\x01" + b"".join(piece.replace(b"NUMBER", b"%d" % number) for piece in pieces)))
            return True

        kube.trouble = container
        return subprocess.Popen([*SMALL_DISK, BINARY, "tensorboard", "kubernetes/ada/story", "--logdir", "/logs", "--interval", "1s"],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=muster.environment)

    if subprocess.run([*SMALL_DISK, "true"], env=muster.environment, capture_output=True, check=False).returncode:
        pytest.skip("nothing may be mounted here")
    put_record(kube, document())
    kube.put("pods", "story-worker-0", {
        "metadata": {"labels": {**LABELS, "muster/role": "worker", "muster/index": "0"}, "ownerReferences": [
            {"kind": "ConfigMap", "name": "story.job", "uid": UID, "controller": True}]},
        "spec": {"containers": [{"name": "tensorflow"}]}, "status": {
            "phase": "Running", "containerStatuses": [{"name": "tensorflow", "state": {"running": {}}}]}})
    program = tmp_path / "bin" / "tensorboard"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 1000000\n")
    program.chmod(0o755)
    muster.environment["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    return start


@pytest.mark.parametrize("size, pieces", [
    (2**63 - 1, [b"0 %d ./huge.tfevents\n" % (2**63 - 1), b"x" * 1000]),
    (3 << 20, [b"0 %d ./large.tfevents\n" % (3 << 20), b"x" * 1000]),
    (0, [b"0 0 ./NUMBER.tfevents\n"]),
    (0, [b"0 0 ./" + b"d/" * 100 + b"NUMBER/1.tfevents\n"]),
    (9, [b"0 9 ./same.tfevents\n123456789"]),
], ids=["all", "more", "files", "folders", "anew"])
def test_a_pod_cannot_fill_the_disk_through_tensorboard(muster, viewing, size, pieces):
    """It ends where half of the disk is written, or would be; what came in the first round is shown on."""
    shown = viewing(*pieces)
    muster.started.append(shown)
    said = read_line(shown.stderr)
    assert f"needs {size} more bytes, but muster uses at most half of the free space in " in said
    assert "showing the data fetched so far until Ctrl-C" in said
    disk = pathlib.Path(f"/proc/{shown.pid}/root{muster.environment['TMPDIR']}")
    space = os.statvfs(disk)
    assert space.f_bavail * space.f_frsize >= 2 << 20
    assert [path.read_text() for path in disk.glob("*/small.tfevents")] == ["bytes"]
    shown.send_signal(signal.SIGINT)
    assert shown.wait(LIMIT) == 0 and shown.stderr.read() == b""
