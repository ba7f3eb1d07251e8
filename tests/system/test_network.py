"""`muster server --network`: which task reaches which, with stub libraries, over loopback and in a network of its own."""

import json
import pathlib
import signal
import subprocess

import pytest

from conftest import BINARY, LIMIT, read_line, read_until
from networks import machines_of
from processes import children_of, inner_of, wait_until, wait_until_process_is_gone
from servers import free_port, make_stub


@pytest.fixture(scope="session")
def stub(tmp_path_factory):
    """A library whose servers serve."""
    return make_stub(tmp_path_factory.mktemp("stub"))


def arguments_of(stub, spec, job, index, *options):
    return ["server", "--network", "--cluster-spec", spec, "--job-name", job, "--task-index", str(index),
            "--libtensorflow", str(stub), *options]


def events_until_it_serves(server):
    """The events of the network, one for each task that it tried."""
    events = []
    while not events or events[-1]["muster"] != "serving":
        events.append(json.loads(read_line(server.stdout)))
    assert all(event["muster"] == "network" for event in events[:-1])
    return {event["to"]: event for event in events[:-1]}


def test_servers_that_are_up_find_each_other_in_both_directions(muster, stub):
    ports = [free_port() for _ in range(3)]
    spec = f"worker|127.0.0.1:{ports[0]};127.0.0.1:{ports[1]},ps|127.0.0.1:{ports[2]}"
    tasks = {"worker-0": ports[0], "worker-1": ports[1], "ps-0": ports[2]}
    servers = {task: muster.start(*arguments_of(stub, spec, *task.split("-"), "--network-timeout", f"{LIMIT}s",
                                                "-o", "json")) for task in tasks}
    for task, server in servers.items():
        events = events_until_it_serves(server)
        assert set(events) == set(tasks) - {task}
        for other, event in events.items():
            assert event["from"] == task
            assert event["address"] == f"127.0.0.1:{tasks[other]}"
            assert event["ip"] == "127.0.0.1"
            assert "error" not in event
            assert min(event["resolve"], event["connect"], event["roundTrip"], event["bandwidth"]) > 0
            assert abs(event["clock"]) < 1  # one clock


def test_people_get_sentences(muster, stub):
    ports = [free_port(), free_port()]
    spec = f"worker|127.0.0.1:{ports[0]};127.0.0.1:{ports[1]}"
    servers = [muster.start(*arguments_of(stub, spec, "worker", index, "--network-timeout", f"{LIMIT}s"))
               for index in (0, 1)]
    said = read_line(servers[0].stderr)
    assert said.startswith(f"muster: worker-0 reaches worker-1 (127.0.0.1:{ports[1]}): round trip ")
    assert "clock" in said
    read_until(servers[1].stderr, "is serving at")


def test_a_task_that_is_missing_is_told_and_the_server_serves_all_the_same(muster, stub, closed_port):
    ports = [free_port(), closed_port()]
    spec = f"worker|127.0.0.1:{ports[0]},ps|127.0.0.1:{ports[1]}"
    server = muster.start(*arguments_of(stub, spec, "worker", 0, "--network-timeout", "200ms", "-o", "json"))
    event = events_until_it_serves(server)["ps-0"]
    assert (event["stage"], event["error"]) == ("connect", "connection refused")
    assert read_line(server.stderr) == (
        f"muster: worker-0 cannot reach ps-0 (127.0.0.1:{ports[1]}): connection refused\n")


def test_a_name_from_another_address_does_not_count_and_is_told(muster, stub):
    ports = [free_port(), free_port()]
    named, meant = (f"worker|127.0.0.1:{ports[0]};{host}:{ports[1]}" for host in ("192.0.2.1", "127.0.0.1"))
    server = muster.start(*arguments_of(stub, named, "worker", 0, "--network-timeout", "2s"))
    muster.start(*arguments_of(stub, meant, "worker", 1, "--network-timeout", "2s"))
    said = read_until(server.stderr, "is serving at")
    assert ("muster: warning: worker-0 got a request in the name of worker-1 from 127.0.0.1, which is not an address "
            "of 192.0.2.1; it was answered, but muster kept waiting for worker-1\n") in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_it_waits_for_others(muster, stub, number, closed_port):
    ports = [free_port(), closed_port()]
    spec = f"worker|127.0.0.1:{ports[0]},ps|127.0.0.1:{ports[1]}"
    server = muster.start(*arguments_of(stub, spec, "worker", 0, "--network-timeout", f"{LIMIT}s"))
    assert_listens(ports[0])
    server.send_signal(number)
    assert server.wait(LIMIT) == 0
    assert server.stdout.read() == ""


def test_no_question_outlives_a_server_that_is_killed(muster, stub, closed_port):
    ports = [free_port(), closed_port(), closed_port()]
    spec = f"worker|127.0.0.1:{ports[0]};127.0.0.1:{ports[1]};127.0.0.1:{ports[2]}"
    server = muster.start(*arguments_of(stub, spec, "worker", 0, "--network-timeout", f"{LIMIT}s"))
    assert_listens(ports[0])
    inner = inner_of(server)
    wait_until(lambda: len(children_of(inner)) == 2)
    questions = children_of(inner)
    server.kill()
    assert all(wait_until_process_is_gone(pid) for pid in (inner, *questions))


def sockets():
    """The rows of the kernel's tables of TCP; there is one for each version of IP that it knows."""
    tables = (pathlib.Path("/proc/net", name) for name in ("tcp", "tcp6"))
    return [line for table in tables if table.exists() for line in table.read_text().splitlines()]


def assert_listens(port):
    """Waits until somebody listens on the port of this machine."""
    wait_until(lambda: any(f":{port:04X} " in line and " 0A " in line for line in sockets()))


# Networks of their own, where names can be had, and machines that swallow packets.

HOSTS = """127.0.0.1 localhost worker-0 ps-0 ps-1
10.99.0.2 worker-1
"""

@pytest.fixture
def new_machine(muster, tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text(HOSTS)
    with machines_of(muster, hosts) as make:
        yield make


def test_tasks_name_the_one_that_is_missing_and_the_one_that_answers_nothing(new_machine, stub):
    machine = new_machine()
    machine.ip("link add near0 type veth peer name far0")
    machine.ip("link set far0 up")
    machine.ip("addr add 10.99.0.1/24 dev near0")
    machine.ip("link set near0 up")
    machine.ip("neigh add 10.99.0.2 lladdr 02:00:00:00:00:01 dev near0")  # nobody's
    spec = "worker|worker-0:2222;worker-1:2222;nowhere:2222,ps|ps-0:2223;ps-1:2224"
    servers = {f"ps-{index}": machine.start(*arguments_of(stub, spec, "ps", index, "-o", "json")) for index in (0, 1)}
    for task, server in servers.items():
        other = "ps-1" if task == "ps-0" else "ps-0"
        events = events_until_it_serves(server)
        said = "".join(read_until(server.stderr, "is serving at"))
        assert "error" not in events[other]
        assert (events["worker-0"]["stage"], events["worker-1"]["stage"]) == ("connect", "connect")
        assert events["worker-2"]["stage"] == "resolve"
        assert events["worker-1"]["ip"] == "10.99.0.2"
        assert f"muster: {task} cannot reach worker-0:2222: connection refused\n" in said
        assert f"muster: {task} cannot reach worker-1:2222: timed out\n" in said
        assert f"muster: {task} cannot reach worker-2 (nowhere:2222): " in said


def test_a_way_that_swallows_large_packets_is_told_by_the_task_that_sends_them(new_machine, stub):
    near, far = new_machine(), new_machine()
    near.ip("link add near0 type veth peer name far0")
    near.ip(f"link set far0 netns {far.keeper.pid}")
    near.ip("addr add 10.98.0.1/24 dev near0")
    near.ip("link set near0 up gso_max_segs 1")  # packets are made by the sender, and not on their way
    far.ip("link set far0 mtu 1280 up")
    far.ip("addr add 10.98.0.2/24 dev far0")
    far.ip("route change 10.98.0.0/24 dev far0 src 10.98.0.2 advmss 1460")
    spec = "worker|10.98.0.1:2222;10.98.0.2:2222"
    servers = [machine.start(*arguments_of(stub, spec, "worker", index, "-o", "json"))
               for index, machine in enumerate((near, far))]
    there, back = (events_until_it_serves(server) for server in servers)
    assert there["worker-1"]["stage"] == "answer"
    assert there["worker-1"]["error"].startswith("small messages arrive, but 16384 bytes do not within ")
    assert "error" not in back["worker-0"]
