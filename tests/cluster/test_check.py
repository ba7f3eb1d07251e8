"""`muster check remote --on kubernetes`: servers and their clients are Pods, and nothing is left of them.

The image is that of `make server-image`; Python and TensorFlow of this machine come in by a Pod template.
"""

import json
import os
import re
import shlex
import signal
import sys

import pytest

from conftest import LIMIT
from test_real_node import needs_python_of_the_system
from test_run import left_of
from test_server_image import NAME, base, image, image_file, needs_tensorflow, with_python  # noqa: F401 (fixtures)


@pytest.fixture
def template(image, muster):  # noqa: F811
    """A Pod that has Python; of the tests' user, whose files they may be."""
    spec = with_python({"containers": [{"name": "tensorflow"}]})
    spec["containers"][0]["env"].append({"name": "PATH", "value": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin"})
    spec["securityContext"] = {"runAsUser": os.getuid()}
    path = muster.folder / "pod.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": spec}))
    return path


@pytest.fixture
def on_cluster(template):
    return ["--on", "kubernetes", "--image", NAME, "--pod-template", template]


def until_nothing_is_left(namespace):
    """A job in the background has ended before its objects have gone."""
    namespace.kubectl("wait", "--for=delete", f"--timeout={LIMIT}s", "pods,services,networkpolicies,configmaps,leases",
                      "-l", "app.kubernetes.io/managed-by=muster")
    assert left_of(namespace) == []


@needs_tensorflow
@needs_python_of_the_system
@pytest.mark.long
def test_servers_and_a_model_run_as_pods(muster, namespace, on_cluster):
    done = muster("check", "remote", *on_cluster, "--ps", "1", "-o", "json", code=0)
    report = json.loads(done.stdout)
    states = {step["name"]: step["state"] for step in report["steps"]}
    assert states == {"library": "skipped", "data": "skipped", "servers": "passed", "network": "passed",
                      "devices": "passed", "session": "passed", "training": "passed", "result": "passed"}
    assert report["where"] == "kubernetes" and len(report["network"]) == 6
    assert {server["task"] for server in report["servers"]} == {"worker-0", "worker-1", "ps-0"}
    assert left_of(namespace) == []
    assert muster("ps", "-a", "-o", "name", code=0).stdout == ""


@needs_tensorflow
@needs_python_of_the_system
@pytest.mark.long
def test_a_check_that_is_interrupted_takes_its_pods_away(muster, namespace, on_cluster):
    check = muster.start("check", "remote", *on_cluster, "--model", "none", "--ps", "0")
    namespace.kubectl("wait", "--for=create", f"--timeout={LIMIT}s", "pod", "-l", "muster/role=worker")
    check.send_signal(signal.SIGINT)
    assert check.wait(timeout=LIMIT) == 130
    assert left_of(namespace) == []


@needs_tensorflow
@needs_python_of_the_system
@pytest.mark.long
def test_servers_that_stay_are_tried_and_ended_as_it_is_said(muster, namespace, on_cluster):
    said = muster("check", "remote", *on_cluster, "--setup-only", "-w", "1", "--ps", "1", code=0).stdout
    assert "the servers keep running" in said
    assert namespace.list("pods", "muster/role=ps")
    lines = {word: rest for word, rest in re.findall(r"^  (test|stop) +muster (.*)", said, re.MULTILINE)}
    tried = muster(*shlex.split(lines["test"]), "--model", "none", "--timeout", "300s", code=0)
    assert re.search(r"devices +ok .*worker-0 CPU:0; ps-0 CPU:0|devices +ok .*ps-0 CPU:0; worker-0 CPU:0", tried.stdout)
    muster(*shlex.split(lines["stop"]), code=0)
    until_nothing_is_left(namespace)


@needs_tensorflow
@needs_python_of_the_system
@pytest.mark.long
def test_servers_that_were_to_stay_go_when_the_check_is_interrupted(muster, namespace, on_cluster):
    check = muster.start("check", "remote", *on_cluster, "--setup-only", "-w", "1", "--ps", "1")
    namespace.kubectl("wait", "--for=create", f"--timeout={LIMIT}s", "pod", "-l", "muster/role=ps")
    check.send_signal(signal.SIGINT)
    assert check.wait(timeout=LIMIT) == 130
    until_nothing_is_left(namespace)


def test_an_image_without_muster_is_named(muster, namespace):
    done = muster("check", "remote", "--on", "kubernetes", "--image", "localhost/busybox:test", "--node-selector",
                  "type=real", "--model", "none", code=1)
    assert "servers" in done.stdout and "could not be started" in done.stdout and '"muster"' in done.stdout
    assert left_of(namespace) == []


def test_a_cluster_that_is_not_there_is_one_fault(muster):
    done = muster("check", "--on", "kubernetes", "--image", "a:1", "--context", "elsewhere", "--model", "none", code=1)
    assert "elsewhere" in done.stdout
