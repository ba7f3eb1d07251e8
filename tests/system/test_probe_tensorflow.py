"""The probe of `muster check` and TensorFlow's own servers: all there, one stopped, one killed, and none at all."""

import json
import os
import signal
import socket
import sys

import pytest

from conftest import Muster, read_until
from needs import needs_tensorflow
from processes import inner_of
from servers import free_port

pytestmark = [pytest.mark.unsanitized, needs_tensorflow]

LIMIT = 900
# How long a probe waits for what says nothing: far longer than any answer takes.
SILENCE = "15s"
# The virtual environment that runs the tests has the library too. Nobody is behind the proxy: what gRPC sends through
# it never arrives.
PYTHON = {"VIRTUAL_ENV": sys.prefix, "http_proxy": "http://127.0.0.1:1", "no_proxy": None, "no_grpc_proxy": None,
          "grpc_proxy": None}
TASKS = ["worker-0", "worker-1", "ps-0", "ps-1"]


class Cluster:
    """Two workers and two parameter servers, which serve."""

    def __init__(self, muster):
        ports = [free_port() for _ in TASKS]
        self.addresses = {task: f"127.0.0.1:{port}" for task, port in zip(TASKS, ports)}
        spec = ",".join(f"{job}|" + ";".join(self.addresses[f"{job}-{index}"] for index in (0, 1))
                        for job in ("worker", "ps"))
        self.servers = {}
        for task in TASKS:
            job, index = task.split("-")
            self.servers[task] = muster.start("server", "--cluster-spec", spec, "--job-name", job,
                                              "--task-index", index, env=PYTHON)
        for server in self.servers.values():
            read_until(server.stderr, "is serving at", LIMIT)

    def signal(self, task, number):
        os.kill(inner_of(self.servers[task]), number)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    muster = Muster(tmp_path_factory.mktemp("cluster"))
    try:
        yield Cluster(muster)
    finally:
        muster.end()


def probe(muster, servers, code, *options):
    """The events, and what was said for people."""
    done = muster("check", "probe", "--server", ",".join(servers), *options, code=code, limit=LIMIT, env=PYTHON)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def tasks_of(events, kind):
    return [event["task"] for event in events if event["muster"] == kind]


def errors_of(events):
    return [event for event in events if event["muster"] == "error"]


def test_one_server_shows_every_task_and_an_operation_runs_on_each(muster, cluster):
    events, said = probe(muster, [cluster.addresses["ps-1"]], 0)
    assert tasks_of(events, "devices") == tasks_of(events, "ran") == TASKS
    assert all("CPU:0" in event["devices"] and event["seconds"] >= 0 for event in events)
    assert said == ""


def test_people_get_the_steps_of_a_check(muster, cluster):
    said = muster("probe", "--server", f"grpc://{cluster.addresses['worker-0']}", code=0, limit=LIMIT, env=PYTHON).stdout
    assert "devices   ok" in said and "worker-0 CPU:0; worker-1 CPU:0; ps-0 CPU:0; ps-1 CPU:0" in said
    assert "an operation ran on each of 4 tasks" in said
    assert said.splitlines()[-1].endswith("the servers work together")


@pytest.mark.long
def test_a_stopped_server_is_named_and_the_others_run(muster, cluster):
    cluster.signal("ps-1", signal.SIGSTOP)
    try:
        events, said = probe(muster, cluster.addresses.values(), 3, "--timeout", SILENCE)
    finally:
        cluster.signal("ps-1", signal.SIGCONT)
    assert tasks_of(events, "ran") == TASKS[:-1]
    by_name, by_address = errors_of(events)
    assert (by_name["step"], by_name["task"], by_name["code"]) == ("devices", "ps-1", "DEADLINE_EXCEEDED")
    assert by_name["message"].startswith(f"ps-1: no response within {SILENCE} (asked through ")
    assert by_address["server"] == "grpc://" + cluster.addresses["ps-1"]
    assert said.splitlines() == [f"muster: {error['message']}" for error in (by_name, by_address)]


@pytest.mark.long
def test_what_is_no_tensorflow_server_and_what_is_no_server_are_told(muster, cluster, closed_port):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        servers = [f"grpc://127.0.0.1:{listening.getsockname()[1]}", f"grpc://127.0.0.1:{closed_port()}",
                   cluster.addresses["worker-1"]]
        events, _ = probe(muster, servers, 3, "--timeout", SILENCE)
    assert tasks_of(events, "ran") == TASKS
    silent, refused = errors_of(events)
    assert (silent["server"], silent["code"]) == (servers[0], "DEADLINE_EXCEEDED")
    assert "not a TensorFlow server" in silent["message"]
    assert (refused["server"], refused["code"]) == (servers[1], "UNAVAILABLE")
    assert refused["message"].endswith("cannot be reached: connection refused")


# The last of all, because the cluster does not get over it.
@pytest.mark.long
def test_a_killed_server_is_named_and_the_others_run(muster, cluster):
    cluster.signal("worker-1", signal.SIGKILL)
    cluster.servers["worker-1"].wait(LIMIT)
    events, _ = probe(muster, cluster.addresses.values(), 3, "--timeout", SILENCE)
    assert tasks_of(events, "ran") == ["worker-0", "ps-0", "ps-1"]
    by_name, by_address = errors_of(events)
    assert by_name["task"] == "worker-1"
    assert by_address["message"].endswith("cannot be reached: connection refused")
