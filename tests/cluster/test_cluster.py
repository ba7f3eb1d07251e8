"""The test cluster itself: several at once, and nothing stays behind, however one ends."""

import os
import pathlib
import select
import signal
import subprocess

import pytest

import namespaces
import programs
from conftest import LIMIT, SCRIPT, until
from control_plane import ControlPlane


def wait_until_gone(fd):
    assert select.select([fd], [], [], LIMIT)[0]


class Running:
    """A control plane that ends with a process of the test."""

    def __init__(self, cluster):
        self.caller = subprocess.Popen(["sleep", "infinity"])
        command = [SCRIPT, "up", "--caller", str(self.caller.pid)]
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=cluster.environment)
        self.folder = pathlib.Path(said.stdout.strip())
        self.environment = {**cluster.environment, "MUSTER_TEST_CLUSTER": str(self.folder)}
        self.keeper = int((self.folder / "lock").read_text())
        # All others are in its process namespace, and the kernel lets it go only behind them.
        self.first = os.pidfd_open(int((self.folder / "first").read_text()))
        self.lock_fd = os.pidfd_open(self.keeper)

    def end(self):
        self.caller.kill()
        self.caller.wait()
        wait_until_gone(self.lock_fd)


@pytest.fixture
def second(cluster):
    running = Running(cluster)
    yield running
    running.end()


@pytest.mark.long
def test_two_clusters_know_nothing_of_each_other(cluster, second):
    in_second = [SCRIPT, "exec", "kubectl"]
    subprocess.run([*in_second, "create", "namespace", "only-there"], check=True, env=second.environment)
    cluster.kubectl("get", "namespace", "only-there", code=1)
    nodes = [*in_second, "get", "nodes", "-o", "name"]
    done = subprocess.run(nodes, env=second.environment, capture_output=True, text=True)
    assert done.stdout.split() == [f"node/simulated-{n}" for n in range(4)]


@pytest.mark.long
def test_a_cluster_ends_with_its_caller(second):
    second.caller.kill()
    wait_until_gone(second.first)
    wait_until_gone(second.lock_fd)
    assert not second.folder.exists()


@pytest.mark.long
def test_a_killed_keeper_leaves_no_process_and_the_next_cluster_takes_its_folder_away(cluster, second):
    os.kill(second.keeper, signal.SIGKILL)
    wait_until_gone(second.first)
    subprocess.run([SCRIPT, "env"], check=True, env=cluster.environment, stdout=subprocess.DEVNULL)
    # Somebody else's may have been the next one, and may not have taken all of it away yet.
    until(second.folder.exists, lambda is_there: not is_there)


@pytest.mark.long
def test_a_program_that_is_killed_is_started_again(second):
    """A client has to survive an API server that comes back, and tests of that need one."""
    subprocess.run([SCRIPT, "kill", "kube-apiserver"], check=True, env=second.environment)
    asking = [SCRIPT, "exec", "kubectl", "get", "--raw", "/readyz"]
    until(lambda: subprocess.run(asking, env=second.environment, capture_output=True),
          lambda done: done.returncode == 0)


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Puts programs that fail, with these words, where those of the cluster are."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    programs.folder().mkdir(parents=True)

    def put(name, words):
        program = programs.folder() / name
        program.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
        program.chmod(0o755)

    return put


@pytest.mark.skipif(not namespaces.are_allowed(), reason=namespaces.NOT_ALLOWED)
def test_a_cluster_that_cannot_start_says_what_failed_and_its_last_words(fake):
    fake("busybox", "ip: no bridges here")
    done = subprocess.run([SCRIPT, "up"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "busybox ip link" in done.stderr and "ip: no bridges here" in done.stderr


def test_kubectl_has_the_last_word_about_nodes_that_do_not_come(fake, tmp_path):
    fake("kubectl", "timed out waiting for the condition on nodes/real")
    plane = ControlPlane(tmp_path, programs.folder(), None)
    with pytest.raises(programs.Trouble, match="condition on nodes/real"):
        plane.wait_for_nodes(["real"], 1)
