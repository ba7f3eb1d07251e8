"""Changes of an elastic job that are planned: machines that are drained, and processes that ask for a restart."""

import contextlib
import json
import os
import signal

import pytest

from agents import WORKER, Machines, ask, start_orchestrator
from conftest import LIMIT, read_line, read_until
from processes import processes_with, wait_until, wait_until_process_is_gone
from servers import free_port

AT_ONCE = ("--rdzv-conf", "last_call_timeout=0")

# It needs as long to save as the test wants.
SAVES = WORKER.replace("trap 'exit 143' TERM", """trap ': > "$STORY.saving"; read -r _ < "$STORY.disk"; : > "$STORY.saved"; exit 143' TERM""")


@pytest.fixture
def machines(muster):
    return Machines(muster, free_port())


def begin(machines, *names, nnodes="1:3", options=()):
    """Gives the last world, in which all of them train."""
    for i, name in enumerate(names, 1):
        machines.launch(name, *AT_ONCE, *options, nnodes=nnodes)
        world = machines.until_world(i, i)
    return world


def end_all(machines, *names):
    for name in names:
        machines.tell(name, 0)
    return [machines.ends(name, 0) for name in names]


def send_all(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def drain(machines, *arguments, code=0):
    return machines.muster("drain", "--rdzv-endpoint", machines.endpoint, *arguments, code=code).stderr


def test_a_drained_machine_leaves_and_the_others_go_on(machines):
    start_orchestrator(machines)
    begin(machines, "one", "two", "three")
    assert drain(machines, "digits", "1") == (
        "muster: 127.0.0.1 (machine 1) is leaving job 'digits'\nmuster: 127.0.0.1 (machine 1) has left job 'digits'\n")
    said = machines.ends("two", 143)
    assert "muster: this machine was drained, and leaves the job\n" in said
    assert "muster: job two ended after" in said and said.rstrip().endswith(": this machine was drained")
    assert set(machines.until_world(4, 2)) == {"one", "three"}
    job = machines.description()
    assert job["restarts"] == 0 and job["worlds"][-1]["reason"] == "member-left"
    end_all(machines, "one", "three")


def test_a_drain_waits_until_the_machine_has_saved(machines):
    start_orchestrator(machines)
    machines.worker.write_text(SAVES)
    disk = machines.muster.folder / "story.disk"
    os.mkfifo(disk)
    begin(machines, "one")
    draining = machines.muster.start("drain", "--rdzv-endpoint", machines.endpoint, "digits", "127.0.0.1")
    wait_until(lambda: (machines.muster.folder / "story.saving").exists())
    assert [member["order"] for member in machines.description()["members"]] == ["go"]
    rows = machines.muster("status", "--rdzv-endpoint", machines.endpoint, "digits", code=0).stdout.split("\n\n")[1].splitlines()
    assert rows[1].split()[:3] == ["-", "127.0.0.1", "leaving"]
    assert draining.poll() is None
    disk.write_text("\n")
    assert draining.communicate(timeout=LIMIT)[1].endswith("has left job 'digits'\n") and draining.returncode == 0
    assert (machines.muster.folder / "story.saved").exists()
    machines.ends("one", 143)


def test_a_machine_that_waits_is_drained_too(machines):
    start_orchestrator(machines)
    begin(machines, "one", nnodes="1:1")
    machines.launch("spare", *AT_ONCE, nnodes="1:1")
    wait_until(lambda: machines.description()["members"][1:])
    spare = machines.description()["members"][1]
    assert spare["order"] == "wait" and spare["host"] == "127.0.0.1"
    assert drain(machines, "digits", spare["id"]).endswith("muster: 127.0.0.1 has left job 'digits'\n")
    assert "muster: this machine was drained, and leaves the job\n" in machines.ends("spare", 143)
    end_all(machines, "one")


@pytest.mark.parametrize("trust", [[], ["--rdzv-tls"]], ids=["plain", "tls"])
def test_the_last_machine_is_drained_that_was_the_server_too(muster, trust):
    """Its agent ends with it, after it has answered."""
    if trust:
        (muster.folder / "token").write_text("0123456789abcdef" * 4)
        (muster.folder / "token").chmod(0o600)
        trust = [*trust, "--rdzv-token-file", muster.folder / "token"]
    machines = Machines(muster, free_port())
    machines.launch("one", *AT_ONCE, *trust, nnodes="1:2")
    machines.until_world(1, 1)
    assert drain(machines, *trust, "digits", "0") == (
        "muster: 127.0.0.1 (machine 0) is leaving job 'digits'\nmuster: 127.0.0.1 (machine 0) has left job 'digits'\n")
    machines.ends("one", 143)


def test_who_asked_for_a_drain_is_told_what_came_of_it(muster):
    """The last machine to leave is the server: it stays until the client has asked, or has closed its connection."""
    machines = Machines(muster, free_port())
    agent = machines.launch("one", *AT_ONCE, nnodes="1:2")
    worker = machines.until_world(1, 1)["one"].pid
    connection = machines.connect()
    connection.request("POST", "/v1/jobs/digits/drain", '{"machines": ["0"]}')
    assert len(json.loads(connection.getresponse().read())["members"]) == 1
    assert wait_until_process_is_gone(worker)
    assert not wait_until_process_is_gone(agent.pid, limit=0.5)
    connection.request("GET", "/v1/jobs/digits?after=0")
    assert json.loads(connection.getresponse().read())["members"] == []
    connection.close()
    machines.ends("one", 143)


def test_a_drain_ends_when_its_server_has_gone(muster):
    machines = Machines(muster, free_port())
    machines.worker.write_text(SAVES)
    os.mkfifo(muster.folder / "story.disk")  # it saves until its machine is asked no more
    server = start_orchestrator(machines)
    machines.launch("one", *AT_ONCE, nnodes="1:2")
    machines.until_world(1, 1)
    draining = muster.start("drain", "--rdzv-endpoint", machines.endpoint, "digits", "0")
    assert "is leaving" in read_line(draining.stderr)
    server.kill()
    assert draining.wait(LIMIT) == 3
    assert draining.stderr.read().count("cannot reach") == 2


def test_all_machines_of_a_host_are_drained_at_once(machines):
    start_orchestrator(machines)
    begin(machines, "one", "two")
    said = drain(machines, "--no-wait", "digits", "127.0.0.1")
    assert said.count("is leaving job 'digits'") == 2 and "has left" not in said
    machines.ends("one", 143)
    machines.ends("two", 143)


def test_what_cannot_be_drained_is_told_and_nothing_is(machines):
    start_orchestrator(machines)
    begin(machines, "one")
    assert "job 'digits' has no machine '10.9.9.9', '7'" in drain(machines, "digits", "0", "10.9.9.9", "7", code=1)
    assert "the server has no elastic job 'other'" in drain(machines, "other", "0", code=1)
    assert "missing --rdzv-endpoint" in machines.muster("drain", "digits", "0", code=2).stderr
    assert "'a/b' is not the id of a job" in drain(machines, "a/b", "0", code=2)
    assert f"cannot reach 127.0.0.1 port {free_port()}"[:20] in machines.muster(
        "drain", "--rdzv-endpoint", f"127.0.0.1:{free_port()}", "digits", "0", code=3).stderr
    connection = machines.connect()
    for method, body, status in (("GET", None, 405), ("POST", "{", 400), ("POST", "{}", 400), ("POST", '{"machines": 7}', 400),
                                 ("POST", '{"machines": [7]}', 404)):
        connection.request(method, "/v1/jobs/digits/drain", body)
        answer = connection.getresponse()
        assert (answer.status, "error" in json.loads(answer.read())) == (status, True), body
    assert machines.description()["generation"] == 1 and len(machines.lines()) == 1
    end_all(machines, "one")
    assert "job 'digits' has already ended" in drain(machines, "digits", "0", code=1)


def test_a_frozen_machine_is_drained_when_its_lease_ends(machines):
    start_orchestrator(machines, "--lease", "2s")
    world = begin(machines, "one", "two")
    two = processes_with(f"AGENT={machines.agent_word('two')}")
    send_all(two, signal.SIGSTOP)
    said = drain(machines, "digits", str(world["two"].rank))
    assert said.endswith("has left job 'digits'\n")
    machines.until_world(3, 1)
    end_all(machines, "one")
    send_all(two, signal.SIGKILL)
    machines.kill("two")


def test_a_drained_agent_that_is_the_server_serves_the_others_until_they_end(machines):
    begin(machines, "one", "two")
    assert "has left" in drain(machines, "digits", "0")
    assert set(machines.until_world(3, 1)) == {"two"}
    read_until(machines.agents["one"].stderr, "this machine was drained")
    assert machines.agents["one"].poll() is None
    end_all(machines, "two")
    machines.ends("one", 143)


@pytest.mark.parametrize("code", [42, 143])
def test_a_process_that_has_saved_asks_for_a_restart_that_is_not_charged(machines, code):
    start_orchestrator(machines)
    begin(machines, "one", "two", nnodes="1:2")
    machines.tell("two", code)
    third = machines.until_world(3, 2)
    assert {line.restarts for line in third.values()} == {0}
    job = machines.description()
    assert job["restarts"] == 0 and job["worlds"][-1]["reason"] == "restart-asked"
    said = end_all(machines, "one", "two")
    assert f"muster: worker-0 exited with code {code} after" in said[1] and "(rank 1, attempt 2): it asks for a restart\n" in said[1]
    assert "world 3: this machine has rank" in said[0] and "(a process asked for a restart)" in said[0]


def test_a_script_that_asks_for_a_restart_at_each_start_fails(muster):
    done = muster("launch", "--standalone", "--no-python", "--", "sh", "-c", 'echo "$MUSTER_GENERATION"; exit 42', code=1)
    assert done.stdout.split() == ["1", "2", "3", "4"]
    assert "worker-0 exited with code 42" in done.stderr.splitlines()[-4] or "exited with code 42" in done.stderr
