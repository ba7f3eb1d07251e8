"""Commands on TFJob objects: ours and anybody's, served by `muster operator` on the real control plane."""

import json
import re
import signal
import socket

import pytest
from conftest import LIMIT, until
from test_operator import conditions, crd, operator, role, tfjob  # noqa: F401
from test_run import BUSYBOX

FOR_EVER = "trap 'exit 3' TERM; while :; do sleep 0.1; done"


def test_a_tfjob_of_kubectl_is_looked_at_like_any_job(operator, muster, namespace):
    serving = "while :; do echo there | nc -l -p 7007; done & "
    namespace.create(tfjob("seen", Worker=role(2, "echo I am $HOSTNAME; " + serving + FOR_EVER)))
    for index in range(2):
        namespace.until_phase(f"seen-worker-{index}", "Running")
    namespace.wait("tfjob/seen", "condition=Running")
    on_cluster = ["-n", namespace.name]
    listed = muster("ps", *on_cluster, code=0).stdout
    assert "seen" in listed and "worker=2" in listed
    shown = muster("status", "seen", code=0).stdout
    assert "Served:     by muster operator" in shown and "Running:    2 of 2" in shown
    assert sorted(muster("logs", "seen", code=0).stdout.splitlines()) == [
        "worker-0 | I am seen-worker-0", "worker-1 | I am seen-worker-1"]
    assert muster("exec", "seen", "worker-1", "--", "hostname", code=0).stdout == "seen-worker-1\n"
    muster("cp", "seen:worker-0:/etc/hostname", muster.folder / "hostname", code=0)
    assert (muster.folder / "hostname").read_text() == "seen-worker-0\n"
    forwarding = muster.start("port-forward", "seen", "worker-1", ":7007")
    line = forwarding.stdout.readline()
    assert line, forwarding.stderr.read()
    port = int(re.search(r":(\d+) -> 7007", line).group(1))
    with socket.create_connection(("127.0.0.1", port), LIMIT) as connection:
        assert connection.recv(100) == b"there\n"
    forwarding.send_signal(signal.SIGTERM)
    forwarding.wait(LIMIT)


@pytest.mark.sanitize
def test_a_tfjob_is_scaled_suspended_resumed_stopped_and_deleted(operator, muster, namespace):
    namespace.create(tfjob("ruled", {"cleanPodPolicy": "Running"}, Worker=role(1, FOR_EVER)))
    namespace.until_phase("ruled-worker-0", "Running")
    muster("scale", "ruled", "worker=2", code=0)
    namespace.until_phase("ruled-worker-1", "Running")
    muster("suspend", "ruled", code=0)
    namespace.wait("pod/ruled-worker-0", "delete")
    namespace.wait("tfjob/ruled", "condition=Suspended")
    muster("resume", "ruled", code=0)
    namespace.until_phase("ruled-worker-1", "Running")
    muster("stop", "ruled", code=0)
    assert conditions(namespace, "ruled")["Failed"] == "True"
    assert "Stopped" in muster("ps", "-a", "-n", namespace.name, code=0).stdout
    assert "has finished, and a finished TFJob cannot be restarted" in muster("resume", "ruled", code=4).stderr
    muster("delete", "ruled", code=0)
    namespace.kubectl("get", "tfjob", "ruled", code=1)
    assert namespace.list("pods") == []


def test_wait_and_attach_end_with_the_code_of_the_job(operator, muster, namespace):
    script = "echo first; until [ -e /tmp/end ]; do sleep 0.1; done; echo last; exit 7"
    namespace.create(tfjob("failing", Worker=role(1, script, restartPolicy="Never")))
    attached = muster.start("attach", "failing")
    waiting = muster.start("wait", "failing")
    assert attached.stdout.readline() == "worker-0 | first\n"
    namespace.end_by("failing-worker-0", "touch", "/tmp/end")
    assert attached.stdout.read() == "worker-0 | last\n"
    assert attached.wait(timeout=LIMIT) == 7, attached.stderr.read()
    assert waiting.wait(timeout=LIMIT) == 7
    assert "nothing to take over" in muster("attach", "-d", "failing", code=4).stderr


def test_a_script_runs_via_the_operator(operator, muster, namespace):
    script = muster.folder / "train.sh"
    script.write_text('#!/bin/sh\necho "$GREETING from $HOSTNAME"\n')
    job = muster("run", "--on", "kubernetes", "--via", "operator", "-w", 2, "--name", "via", "--env", "GREETING=hello",
                 *BUSYBOX, script, code=0)
    assert sorted(job.stdout.splitlines()) == ["worker-0 | hello from via-worker-0", "worker-1 | hello from via-worker-1"]
    assert conditions(namespace, "via")["Succeeded"] == "True"
    again = muster("submit", "--name", "via", *BUSYBOX, "--", "true", code=2)
    assert "has finished; replace it with --replace" in again.stderr
    assert muster("submit", "-q", "--replace", "--name", "via", *BUSYBOX, "--", "true", code=0).stdout == "via\n"
    assert muster("wait", "via", code=0)
    namespace.kubectl("delete", "tfjob", "via")
    until(lambda: [item["metadata"]["name"] for item in namespace.list("configmaps,secrets")],
          lambda names: not any(name.startswith("via.") for name in names))


def test_what_nobody_serves_says_so(crd, muster, namespace):
    namespace.create(tfjob("waiting", Worker=role(1, "true")))
    assert "no operator manages it yet" in muster("status", "waiting", code=0).stdout
    assert "no operator manages it yet" in muster("ps", "-n", namespace.name, "-o", "wide", code=0).stdout
    assert "no operator manages job 'waiting' yet" in muster("stop", "waiting", code=4).stderr
    status = {"conditions": [{"type": "Created", "status": "True", "reason": "TFJobCreated"},
                             {"type": "Running", "status": "True", "reason": "TFJobRunning"}],
              "replicaStatuses": {"Worker": {"active": 1}}}
    namespace.kubectl("patch", "tfjob", "waiting", "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))
    assert "Served:     by another operator" in muster("status", "waiting", code=0).stdout
    assert "only 'muster operator' can stop a job" in muster("stop", "waiting", code=4).stderr
    status["conditions"].append({"type": "Failed", "status": "True", "reason": "TFJobFailed", "message": "it broke"})
    namespace.kubectl("patch", "tfjob", "waiting", "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))
    assert muster("wait", "waiting", code=1)
    muster("delete", "waiting", code=0)
    namespace.kubectl("get", "tfjob", "waiting", code=1)
