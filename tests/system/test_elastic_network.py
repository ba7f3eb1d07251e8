"""Elastic jobs on bad networks: connections that take long, or end; machines that die; servers that come back without their
files; members that say what cannot be."""

import contextlib
import json
import shutil
import socket
import sqlite3
import threading
import time

import pytest

from agents import Machines, ask, start_orchestrator
from conftest import LIMIT, read_until
from disks import needs_mount
from processes import wait_until
from servers import free_port
from test_elastic import call_of
from test_elastic_state import AT_ONCE, Server, begin_with_two, end_well


@pytest.fixture
def machines(muster):
    return Machines(muster, free_port())


class SlowNetwork:
    """A proxy to a port, whose connections, but for the first ones, take `delay` seconds to stand, as after a lost packet."""

    def __init__(self, port, delay, n_fast):
        self.port, self.delay, self.n_fast = port, delay, n_fast
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.own_port = self.listening.getsockname()[1]
        self.n_connections = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                is_fast = self.n_connections < self.n_fast
                self.n_connections += 1
                threading.Thread(target=self.connect, args=(client, 0 if is_fast else self.delay), daemon=True).start()

    def connect(self, client, delay):
        time.sleep(delay)
        with client, socket.create_connection(("127.0.0.1", self.port)) as server:
            back = threading.Thread(target=self.pump, args=(server, client), daemon=True)
            back.start()
            self.pump(client, server)
            back.join()

    @staticmethod
    def pump(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


class Ghost:
    """A member without an agent: its connection, and the port where it says its id."""

    def __init__(self, machines, job="digits", has_port=True, headers={}):
        self.machines, self.job, self.headers = machines, job, headers
        self.listening = socket.create_server(("127.0.0.1", 0)) if has_port else None
        self.n_asked = 0
        if has_port:
            threading.Thread(target=self.say_id, daemon=True).start()
        self.connection = machines.connect()
        port = self.listening.getsockname()[1] if has_port else 0
        self.connection.request("POST", f"/v1/jobs/{job}/members/ghost", json.dumps(call_of(livenessPort=port)), headers)
        assert json.loads(self.connection.getresponse().read())["order"]["order"] == "run"
        if has_port:
            wait_until(lambda: self.n_asked == 1)

    def say_id(self):
        with contextlib.suppress(OSError):
            while True:
                asker, _ = self.listening.accept()
                asker.sendall(b"ghost")
                asker.close()
                self.n_asked += 1

    def die(self):
        # close() alone leaves it open for as long as the other thread is in accept().
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()

    def is_member(self):
        connection = self.machines.connect()
        connection.request("GET", f"/v1/jobs/{self.job}", headers=self.headers)
        return bool(json.loads(connection.getresponse().read())["members"])


def test_connections_that_take_long_to_stand_end_no_world(muster, machines):
    network = SlowNetwork(machines.port, 0.8, n_fast=2)
    start_orchestrator(machines)
    machines.endpoint = f"127.0.0.1:{network.own_port}"
    begin_with_two(machines)
    machines.launch("three", *AT_ONCE)
    machines.until_world(2, 3)
    machines.tell("three", 42)
    machines.until_world(3, 3)
    end_well(machines, "one", "two", "three")
    assert [world["reason"] for world in machines.description()["worlds"]] == ["first", "grew", "restart-asked"]


def start_two(muster, name, line):
    """A server, and two agents that know it by this name, if their table of hosts, which only they see, has it."""
    hosts = muster.folder / "hosts"
    hosts.write_text(line)
    enter = ["unshare", "--mount", "sh", "-c", f"mount --bind {hosts} /etc/hosts && exec \"$@\"", "sh"]
    server = Server(muster, muster.folder / "server")
    server.machines.endpoint = f"{name}:{server.machines.port}"
    for agent in ("one", "two"):
        server.machines.launch(agent, *AT_ONCE, before=enter)
    return hosts, server


@needs_mount
def test_a_name_that_comes_later_is_waited_for(muster):
    """A Pod has no name before it runs."""
    hosts, server = start_two(muster, "young.invalid.localhost", "127.0.0.1 localhost\n")
    read_until(server.machines.agents["one"].stderr, "cannot resolve host 'young.invalid.localhost'")
    hosts.write_text("127.0.0.1 localhost young.invalid.localhost\n")
    server.machines.until_world(1, 2)


@needs_mount
def test_a_server_that_comes_back_at_another_address_is_found(muster, machines):
    """Its name is in a table of hosts, which only these agents see."""
    hosts, server = start_two(muster, "elastic.localhost", "127.0.0.1 elastic.localhost\n")
    server.machines.until_world(1, 2)
    server.kill()
    hosts.write_text("127.0.0.2 elastic.localhost\n")
    server.start("127.0.0.2")
    server.machines.tell("two", 1)
    server.machines.until_world(2, 2)
    end_well(server.machines, "one", "two")


def test_a_machine_that_dies_between_two_calls_is_missed_at_once(machines):
    start_orchestrator(machines, "--lease", "600s")
    ghost = Ghost(machines)
    ghost.die()
    ghost.connection.close()
    wait_until(lambda: not ghost.is_member())


def test_the_end_of_a_connection_is_no_death(machines):
    start_orchestrator(machines, "--lease", "600s")
    ghost = Ghost(machines)
    ghost.connection.close()
    wait_until(lambda: ghost.n_asked == 2)
    assert ghost.is_member()


def test_a_caller_without_the_token_ends_nothing_of_a_member(machines):
    """Its connection ends before that of a member of another job, after whose agent the server asks."""
    folder = machines.muster.folder
    machines.muster("orchestrator", "--make-token", folder / "token", code=0)
    start_orchestrator(machines, "--lease", "600s", "--token-file", folder / "token.hash")
    known = {"Authorization": "Bearer " + (folder / "token").read_text().strip()}
    member, other = (Ghost(machines, job, headers=known) for job in ("one", "two"))
    stranger = machines.connect()
    stranger.request("POST", "/v1/jobs/one/members/ghost", "{}")
    assert stranger.getresponse().status == 401
    stranger.close()
    other.connection.close()
    wait_until(lambda: other.n_asked == 2)
    assert member.n_asked == 1


def test_a_port_that_never_said_an_id_says_nothing_by_being_closed(machines):
    start_orchestrator(machines, "--lease", "600s")
    ghost = Ghost(machines, has_port=False)
    ghost.connection.close()
    assert ask(machines, "/v1/jobs")[0] == 200 and ghost.is_member()


def test_a_machine_that_waited_and_died_does_not_hold_the_name(machines):
    start_orchestrator(machines)
    machines.launch("one", *AT_ONCE)
    wait_until(lambda: machines.description().get("members"))
    machines.kill("one")
    wait_until(lambda: not machines.description()["members"])
    machines.launch("two", *AT_ONCE, nnodes="1:1")
    machines.until_world(1, 1)
    end_well(machines, "two")


@pytest.mark.parametrize("comes_first", [False, True], ids=["members first", "a newcomer first"])
def test_a_server_without_its_files_founds_the_job_again(muster, comes_first):
    server = Server(muster, muster.folder / "server")
    machines = server.machines
    begin_with_two(machines)
    machines.tell("two", 1)
    ranks = {line.machine: line.rank for line in machines.until_world(2, 2).values()}
    server.kill()
    shutil.rmtree(server.folder)
    if comes_first:
        machines.launch("three", *AT_ONCE)
        read_until(machines.agents["three"].stderr, "and muster tries again")
    server.start()
    wait_until(lambda: machines.newest() > 2 and len(machines.lines(machines.newest())) == len(machines.agents))
    lines = {line.machine: line.rank for line in machines.lines(machines.newest())}
    assert {name: lines[name] for name in ranks} == ranks
    assert {world["reason"] for world in machines.description()["worlds"]} <= {"forgotten", "grew"}
    end_well(machines, *machines.agents)


def test_a_name_that_was_used_again_is_closed_to_members_of_the_earlier_job(machines):
    start_orchestrator(machines)
    machines.launch("one", *AT_ONCE, nnodes="1:1")
    machines.until_world(1, 1)
    uid = machines.description()["uid"]
    end_well(machines, "one")
    machines.story.write_text("")
    machines.launch("two", *AT_ONCE, nnodes="1:1")
    machines.until_world(1, 1)
    connection = machines.connect()
    connection.request("POST", f"/v1/jobs/{machines.job}/members/ghost", json.dumps(call_of(uid=uid)))
    answer = connection.getresponse()
    assert (answer.status, "no longer exists" in answer.read().decode()) == (410, True)
    end_well(machines, "two")


def test_a_record_that_cannot_be_read_is_kept_under_another_name(muster):
    server = Server(muster, muster.folder / "server")
    machines = server.machines
    begin_with_two(machines)
    for name in ("one", "two"):
        machines.kill(name)
    server.kill()
    with sqlite3.connect(server.database) as database:
        assert database.execute("UPDATE bodies SET status = replace(status, '\"generation\":1,', '\"generation\":10000000000,')").rowcount == 1
    database.close()
    server.process = machines.muster.start("orchestrator", "--listen", machines.endpoint, "--state-dir", server.folder)
    said, _ = read_until(server.process.stderr, "muster: elastic jobs connect to")
    assert "the record of job 'digits': generation: expected a whole number" in said and "; it is kept as 'digits (unreadable, " in said
    assert ask(machines, "/v1/jobs") == (200, {"jobs": []})
    server.kill()
    server.start()  # with nothing more to say
    machines.story.write_text("")
    begin_with_two(machines)
    end_well(machines, "one", "two")
    with sqlite3.connect(server.database) as database:
        names = [name for name, in database.execute("SELECT name FROM jobs ORDER BY name")]
    assert names[0] == "digits" and names[1].startswith("digits (unreadable, ")


def test_a_machine_that_is_named_twice_is_drained_once(machines):
    start_orchestrator(machines)
    begin_with_two(machines)
    connection = machines.connect()
    connection.request("POST", f"/v1/jobs/{machines.job}/drain", json.dumps({"machines": ["127.0.0.1", "0"] * 5000}))
    assert len(json.loads(connection.getresponse().read())["members"]) == 2
    for name in ("one", "two"):
        machines.ends(name, 143)
