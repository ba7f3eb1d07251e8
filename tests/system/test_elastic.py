"""`muster launch` and `muster orchestrator`: machines that come and go, here each an agent of its own."""

import json
import os
import re
import resource
import signal
import sys

import pytest

from agents import Machines, ask, is_listening, start_orchestrator
from conftest import BINARY, LIMIT, ROOT, Muster, read_until
from processes import wait_until
from servers import free_port

@pytest.fixture
def machines(muster):
    return Machines(muster, free_port())


def test_alone_a_machine_needs_no_server_and_its_processes_know_each_other(muster):
    done = muster("launch", "--standalone", "--nproc-per-node", 2, "--no-python", "--", "sh", "-c",
                  'echo "$RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $GROUP_RANK/$GROUP_WORLD_SIZE '
                  '$OMP_NUM_THREADS $MASTER_ADDR $MASTER_PORT $TF_CONFIG"', code=0)
    lines = sorted(line.split(" | ", 1)[1] for line in done.stdout.splitlines())
    words = [line.split(" ", 6) for line in lines]
    assert [w[:4] for w in words] == [["0/2", "0/2", "0/1", "1"], ["1/2", "1/2", "0/1", "1"]]
    configs = [json.loads(w[6]) for w in words]
    assert [config["task"] for config in configs] == [{"type": "worker", "index": 0}, {"type": "worker", "index": 1}]
    assert configs[0]["cluster"] == configs[1]["cluster"] and len(configs[0]["cluster"]["worker"]) == 2
    assert words[0][4:6] == words[1][4:6] and words[0][4] == "127.0.0.1"
    assert words[0][5] not in {address.split(":")[1] for address in configs[0]["cluster"]["worker"]}


def test_a_process_that_fails_starts_all_again_until_no_restart_is_left(muster):
    done = muster("launch", "--standalone", "--nproc_per_node=2", "--max_restarts=1", "--no-python", "--", "sh", "-c",
                  'echo "$MUSTER_GENERATION $TORCHELASTIC_RESTART_COUNT/$TORCHELASTIC_MAX_RESTARTS $RANK"; '
                  'if test $RANK = 0; then : > said.$MUSTER_GENERATION; exec sleep 1000; fi; '
                  'until test -e said.$MUSTER_GENERATION; do sleep 0.01; done; exit 3', code=1)
    told = sorted(line.split(" | ", 1)[1] for line in done.stdout.splitlines())
    assert told == ["1 0/1 0", "1 0/1 1", "2 1/1 0", "2 1/1 1"]
    assert "world 2: this machine has ranks 0 to 1 of 2 (a process has failed)" in done.stderr
    assert re.search(r"failed after .*: worker-1 exited with code 3 .*\(attempt 2\)", done.stderr)


def test_the_first_agent_is_the_server_and_a_third_machine_is_taken_in(machines):
    machines.launch("one")
    machines.launch("two")
    first = machines.until_world(1, 2)
    machines.launch("three")
    second = machines.until_world(2, 3)
    assert second["three"].rank == 2 and second["one"].rank == first["one"].rank
    for name in ("one", "two", "three"):
        machines.tell(name, 0)
    for name in ("one", "two", "three"):
        machines.ends(name, 0)


def test_machines_that_are_killed_are_dropped_and_a_failure_starts_all_again(machines):
    start_orchestrator(machines)
    for name in ("one", "two", "three"):
        machines.launch(name, "--max-restarts", 1, "--rdzv-conf", "last_call_timeout=100")
    machines.until_world(1, 3)
    machines.tell("two", 3)
    second = machines.until_world(2, 3)
    assert {line.restarts for line in second.values()} == {1}
    machines.kill("three")
    third = machines.until_world(3, 2)
    assert {line.restarts for line in third.values()} == {1}
    status, job = ask(machines, f"/v1/jobs/{machines.job}")
    assert status == 200 and job["phase"] == "running" and job["restarts"] == 1
    assert [world["reason"] for world in job["worlds"]] == ["first", "worker-failed", "lost-member"]
    for name in ("one", "two"):
        machines.tell(name, 0)
    for name in ("one", "two"):
        machines.ends(name, 0)


def test_a_machine_that_is_asked_to_end_leaves_and_the_others_go_on(machines):
    start_orchestrator(machines)
    for name in ("one", "two", "three"):
        machines.launch(name, "--rdzv-conf", "last_call_timeout=100")
    machines.until_world(1, 3)
    machines.agents["one"].send_signal(signal.SIGTERM)
    machines.ends("one", 128 + signal.SIGTERM)
    machines.until_world(2, 2)
    machines.tell("two", 0)
    machines.tell("three", 0)
    machines.ends("two", 0)
    machines.ends("three", 0)


def test_a_spare_steps_in_and_ends_well(machines):
    start_orchestrator(machines)
    for name in ("one", "two"):
        machines.launch(name, nnodes="2:2")
    machines.until_world(1, 2)
    machines.launch("spare", nnodes="2:2")
    wait_until(lambda: ask(machines, f"/v1/jobs/{machines.job}")[1]["members"][2:])
    machines.agents["two"].kill()
    second = machines.until_world(2, 2)
    assert set(second) == {"one", "spare"}
    machines.launch("late", nnodes="2:2")
    wait_until(lambda: ask(machines, f"/v1/jobs/{machines.job}")[1]["members"][2:])
    machines.tell("one", 0)
    machines.tell("spare", 0)
    for name in ("one", "spare"):
        assert "succeeded: 1 worker in " in machines.ends(name, 0)
    assert "muster: job late succeeded; this machine was not needed\n" in machines.ends("late", 0)


def test_no_restart_is_left_and_the_job_has_failed_on_all_machines(machines):
    start_orchestrator(machines)
    for name in ("one", "two"):
        machines.launch(name, nnodes="2")
    machines.until_world(1, 2)
    machines.tell("two", 7)
    said = {name: machines.ends(name, 1) for name in ("one", "two")}
    assert "worker-0 exited with code 7" in said["two"]
    assert re.search(r"job one failed after .*: worker-0 on 127.0.0.1 \(machine \d\) exited with code 7", said["one"])
    assert "next world" not in said["one"] + said["two"]


def test_an_agent_that_waits_says_how_many_machines_have_joined(machines):
    start_orchestrator(machines)
    one = machines.launch("one", nnodes="3").stderr
    read_until(one, f"joined job 'digits' at 127.0.0.1 port {machines.port}, waiting for more machines (1 of 3)\n")
    two = machines.launch("two", nnodes="3").stderr
    read_until(two, "waiting for more machines (2 of 3)\n")
    read_until(one, "muster: waiting for more machines (2 of 3)\n")
    machines.launch("three", nnodes="3")
    machines.until_world(1, 3)
    machines.kill("three")
    read_until(one, "muster: waiting for more machines (2 of 3): a machine was lost\n")
    for name in ("one", "two"):
        machines.agents[name].send_signal(signal.SIGTERM)
        machines.ends(name, 128 + signal.SIGTERM)


def test_an_agent_with_other_options_is_refused(machines):
    start_orchestrator(machines)
    machines.launch("one", nnodes="2")
    machines.launch("other", nnodes="3")
    wait_until(lambda: any(agent.poll() is not None for agent in machines.agents.values()))
    (refused,) = (name for name, agent in machines.agents.items() if agent.poll() is not None)
    assert "was started with other options: --nnodes" in machines.ends(refused, 3)


def test_too_few_machines_for_too_long_end_the_job(machines):
    start_orchestrator(machines)
    machines.launch("one", "--rdzv-conf", "join_timeout=1")
    assert "only 1 of 2 machines took part for 1s (limit: --rdzv-conf join_timeout)" in machines.ends("one", 124)


def test_mistakes_are_told_all_at_once_and_nothing_starts(muster):
    done = muster("launch", "--nnodes", "3:2x", "--nproc-per-node", "many", "--rdzv-id", "a/b", "--rdzv-conf", "x",
                  "--max-restarts", "few", "nothing.py", code=2)
    for word in ("--nnodes", "--nproc-per-node", "--rdzv-id", "--rdzv-conf", "--max-restarts", "nothing.py"):
        assert word in done.stderr
    assert not muster("ps", "-a", "-o", "name").stdout
    assert "missing --rdzv-endpoint" in muster("launch", "--nnodes", "2", "--no-python", "true", code=2).stderr


def test_words_of_the_environment_count_where_the_call_says_nothing(muster):
    environment = {"PET_NPROC_PER_NODE": "3", "PET_NO_PYTHON": "1", "PET_STANDALONE": "1"}
    done = muster("launch", "printenv", "LOCAL_WORLD_SIZE", env=environment, code=0)
    assert done.stdout.count("| 3\n") == 3
    done = muster("launch", "--nproc-per-node", 2, "printenv", "LOCAL_WORLD_SIZE", env=environment, code=0)
    assert done.stdout.count("| 2\n") == 2


def test_a_server_that_is_killed_and_started_again_is_not_noticed(machines):
    server = start_orchestrator(machines)
    for name in ("one", "two"):
        machines.launch(name, "--max-restarts", 2, "--rdzv-conf", "last_call_timeout=0")
    machines.until_world(1, 2)
    machines.tell("one", 5)
    before = machines.until_world(2, 2)
    server.kill()
    server.wait()
    start_orchestrator(machines)
    machines.launch("three", "--max-restarts", 2, "--rdzv-conf", "last_call_timeout=0")
    after = machines.until_world(3, 3)
    assert not machines.lines(4) and len(machines.lines()) == 7
    assert [after[name].rank for name in before] == [before[name].rank for name in before]
    assert {line.restarts for line in after.values()} == {1}
    job = ask(machines, f"/v1/jobs/{machines.job}")[1]
    assert [world["reason"] for world in job["worlds"]] == ["first", "worker-failed", "grew"]
    for name in machines.agents:
        machines.tell(name, 0)
    for name in machines.agents:
        machines.ends(name, 0)


def test_a_server_that_was_away_when_its_job_could_have_ended_tells_it_all_the_same(machines):
    server = start_orchestrator(machines)
    for name in ("one", "two"):
        machines.launch(name, nnodes="2")
    machines.until_world(1, 2)
    server.kill()
    server.wait()
    machines.tell("one", 0)
    machines.tell("two", 0)
    start_orchestrator(machines)
    for name in machines.agents:
        machines.ends(name, 0)
    assert ask(machines, f"/v1/jobs/{machines.job}")[1]["verdict"] == "succeeded"


def test_a_machine_that_was_the_server_too_comes_back_and_the_others_have_waited(machines):
    machines.launch("one", nnodes="2:2")
    wait_until(lambda: is_listening(machines.port))
    machines.launch("two", nnodes="2:2")
    first = machines.until_world(1, 2)
    machines.kill("one")
    machines.launch("one", nnodes="2:2")
    second = machines.until_world(2, 2)
    assert second["two"].rank == 0
    machines.tell("one", 0)
    machines.tell("two", 0)
    machines.ends("one", 0)
    machines.ends("two", 0)


def test_machines_meet_by_the_words_of_a_static_rendezvous_and_have_the_places_they_were_given(machines):
    port = free_port()
    for rank, name in ((1, "one"), (0, "two")):
        machines.agents[name] = machines.muster.start(
            "launch", "--name", name, "--nnodes", 2, "--node-rank", rank, "--master-addr", "127.0.0.1", "--master-port", port,
            "--rdzv-endpoint", machines.endpoint, "--no-python", "--", machines.worker, env={"STORY": machines.story})
        wait_until(lambda: is_listening(machines.port))
    world = machines.until_world(1, 2)
    assert (world["one"].rank, world["two"].rank) == (1, 0)
    for name in machines.agents:
        machines.tell(name, 0)
    for name in machines.agents:
        machines.ends(name, 0)


@pytest.mark.parametrize("words", [
    ("--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0"),
    ("--master_addr", "127.0.0.1", "--master_port", str(free_port()), "--rdzv-id", "mine"),
    ("--standalone", "--rdzv-endpoint", "nowhere.invalid:29400", "--run-path", "--start-method=fork"),
])
def test_one_machine_meets_nobody_whatever_is_said_of_endpoints(muster, words):
    done = muster("launch", *words, "--role", "trainer", "--nproc-per-node", 2, "--no-python", "--", "sh", "-c",
                  'echo "$0 $1 $ROLE_NAME"; test -d "$(dirname "$TORCHELASTIC_ERROR_FILE")"', "${local_rank}", "x${local_rank}y",
                  code=0)
    assert sorted(line.split(" | ")[1] for line in done.stdout.splitlines()) == ["0 x0y trainer", "1 x1y trainer"]


def test_python_of_the_environment_runs_the_script(muster):
    (muster.folder / "train.py").write_text("print('trained')\n")
    assert muster("launch", "train.py", env={"PYTHON_EXEC": "/bin/echo"}, code=0).stdout == "-u train.py\n"
    assert muster("launch", "train.py", code=0).stdout == "trained\n"


def call_of(**changes):
    """A member's call, as rendezvous/json.h has it."""
    known = {"order": "wait", "generation": 0, "reason": "first", "verdict": "open"}
    return {"uid": "", "min": 1, "max": 3, "unit": 1, "joinTime": 600000, "lastCall": 0, "maxRestarts": 0,
            "offer": {"host": "127.0.0.1", "ports": list(range(20000, 20008))}, "nodeRank": 0, "generation": 0,
            "activity": "idle", "drains": False, "hasLeft": False, "known": known, "world": 0, "knownFailure": 0,
            **changes}


@pytest.mark.parametrize("changes, status, word", [
    ({"min": 0}, 400, "min: expected a whole number from 1 to"),
    ({"max": 10001}, 400, "max: expected"),
    ({"min": 3, "max": 2}, 400, "a world has MIN to MAX machines"),
    ({"offer": "x"}, 400, "offer: expected an object"),
    ({"offer": {}}, 400, "offer: an offer has a host and ports"),
    ({"offer": {"host": "h" * 300, "ports": list(range(20000, 20008))}}, 400, "offer: an offer has a host"),
    ({"offer": {"host": "-oX", "ports": list(range(20000, 20008))}}, 400, "offer: an offer has a host, which is a DNS name or an IP address"),
    ({"offer": {"host": "127.0.0.1", "ports": [0] * 8}}, 400, "offer: an offer has a host and ports"),
    ({"offer": {"host": ".".join(["h" * 60] * 3), "ports": list(range(1000, 5100))}, "maxNoProgress": 3}, 400,
     "TF_CONFIG would have 197652 bytes of addresses, of 130944 that Linux takes; use fewer processes per machine"),
    ({"world": 1000000000, "maxNoProgress": 3}, 400, "world: 1000000000 is too far above 1, the newest of the job"),
    ({"livenessPort": 65536}, 400, "livenessPort: expected a whole number from 0 to 65535"),
    ({"uid": "../x"}, 400, "uid: expected a UUID"),
    ({"activity": "asleep"}, 400, "activity: expected one of idle, at-work"),
    ({"known": 7}, 400, "known: expected an object"),
    ({"failure": []}, 400, "failure: expected an object"),
    ({"failure": {"role": "worker", "reason": 1}}, 400, "failure: reason: expected text"),
    ({"knownFailure": "1"}, 400, "knownFailure: expected a whole number"),
    ({"generation": -1}, 400, "generation: expected"),
    ({"drains": 1}, 400, "drains: expected true or false"),
    ({"progress": -1}, 400, "progress: expected a whole number"),
    ({"maxRestarts": 5}, 409, "--max-restarts is 0 on the server and 5 on this machine"),
    ({"restartWindow": 86400000}, 409, "--restart-window is 0s on the server and 24h on this machine"),
    ({"maxNoProgress": 4}, 409, "--max-no-progress is 3 on the server and 4 on this machine"),
])
def test_a_call_that_is_wrong_changes_nothing(machines, changes, status, word):
    start_orchestrator(machines)
    machines.launch("one", "--rdzv-conf", "last_call_timeout=0", nnodes="1:3")
    machines.until_world(1, 1)
    before = ask(machines, f"/v1/jobs/{machines.job}")[1]
    connection = machines.connect()
    connection.request("POST", f"/v1/jobs/{machines.job}/members/stranger", json.dumps(call_of(**changes)))
    answer = connection.getresponse()
    said = json.loads(answer.read())
    assert (answer.status, word in said["error"]) == (status, True), said
    assert {**ask(machines, f"/v1/jobs/{machines.job}")[1], "now": before["now"]} == before
    machines.tell("one", 0)
    machines.ends("one", 0)


def test_an_agent_of_another_version_joins(machines):
    """An older one lacks what came later, and a newer one says more."""
    start_orchestrator(machines)
    known = call_of(maxNoProgress=3)
    assert not {"restartWindow", "progress"} & known.keys()
    for name, body in (("older", known), ("newer", {**known, "restartWindow": 0, "progress": 7, "color": "red", "offers": [{}]})):
        connection = machines.connect()
        connection.request("POST", f"/v1/jobs/{machines.job}/members/{name}", json.dumps(body))
        assert connection.getresponse().status == 200
        assert name in {member["id"] for member in ask(machines, f"/v1/jobs/{machines.job}")[1]["members"]}


def test_paths_and_methods_that_are_not_there_are_told(machines):
    start_orchestrator(machines)
    assert ask(machines, "/v1/jobs") == (200, {"jobs": []})
    for path, status in (("/", 404), ("/v1/jobsx", 404), ("/v1/jobs/none", 404), ("/v1/jobs/a/members/b", 405)):
        assert ask(machines, path)[0] == status, path
    connection = machines.connect()
    for path, body, status in (("/v1/jobs/a%2Fb/members/c", json.dumps(call_of()), 400), ("/v1/jobs/a/members/", "{}", 400),
                               ("/v1/jobs/a/members/b", "{", 400), ("/v1/jobs/a/members/b", "x" * 100000, 413)):
        connection.request("POST", path, body)
        answer = connection.getresponse()
        assert answer.status == status, (path, answer.read())
        answer.read()
        connection.close()
    assert ask(machines, "/v1/jobs") == (200, {"jobs": []})


def test_mistakes_of_an_orchestrator_are_told(muster):
    assert "at least 2s" in muster("orchestrator", "--lease", "1s", code=2).stderr
    assert "--listen: " in muster("orchestrator", "--listen", "nowhere", code=2).stderr


OLD_WORKER = """import json, os, sys
config = json.loads(os.environ["TF_CONFIG"])
print("worker", config["task"]["index"], config["cluster"]["worker"], sys.executable, sys.argv[1:], flush=True)
input_of = open(os.environ["GATE"])
input_of.read()
"""


def test_the_commands_of_tensorflow_elastics_document_work_word_for_word(muster):
    """But for the ports, which others may have, and the script's path. Each worker waits at a gate of its own."""
    (muster.folder / "mnist_mwms.py").write_text(OLD_WORKER)
    orchestrator, first, second = (free_port() for _ in range(3))
    environment = {"PYTHONPATH": ROOT / "python", "MUSTER_BINARY": BINARY, "VIRTUAL_ENV": None}
    launcher = Muster(muster.folder, (sys.executable, "-m", "tensorflow_elastic.distributed.launch"))
    server = launcher.start("--standalone", f"--rdzv_endpoint=localhost:{orchestrator}", "start", env=environment)
    read_until(server.stderr, "elastic jobs connect to")
    agents = []
    for number, port in enumerate((first, second)):
        gate = muster.folder / f"gate{number}"
        os.mkfifo(gate)
        agents.append(launcher.start(
            "--monitor_interval=5", f"--address=localhost:{port}", "--nnodes=1:2", f"--rdzv_endpoint=localhost:{orchestrator}",
            "mnist_mwms.py", "--epochs", "3", env={**environment, "GATE": gate}))
        workers = [f"localhost:{first}", f"localhost:{second}"][:number + 1]
        line = read_until(agents[-1].stdout, "worker ")[-1]
        assert f"worker {number} {workers} {sys.executable} ['--epochs', '3']" in line
    assert str([f"localhost:{first}", f"localhost:{second}"]) in read_until(agents[0].stdout, "worker ")[-1]
    for number, agent in enumerate(agents):
        (muster.folder / f"gate{number}").write_text("")
        assert agent.poll() is None or number
    for agent in agents:
        assert agent.wait(LIMIT) == 0
    server.terminate()
    server.wait(LIMIT)


def test_a_job_that_has_ended_does_not_hold_up_the_next_one_of_its_name(machines):
    """Each agent is the server of its own, and finds the job of the one before."""
    for _ in range(2):
        agent = machines.muster.start("launch", "--nnodes", "1:2", "--rdzv-conf", "last_call_timeout=0", "--rdzv-endpoint",
                                      f"127.0.0.1:{machines.port}", "--no-python", "true")
        said = agent.communicate(timeout=LIMIT)[1]
        assert agent.returncode == 0
        assert "the server" not in said and "cannot" not in said and "has ended" not in said
    machines.launch("one", nnodes="1:2")
    machines.until_world(1, 1)
    job = ask(machines, f"/v1/jobs/{machines.job}")[1]
    assert ask(machines, "/v1/jobs/none")[1]["phase"] == "closed" and job["phase"] == "running"
    machines.tell("one", 0)
    machines.ends("one", 0)


def test_a_part_of_an_elastic_job_cannot_be_made_something_else(machines):
    agent = machines.muster.start("launch", "--name", "part", "--rdzv-id", "digits", "--standalone", "--no-python",
                                  machines.worker, env={"STORY": machines.story})
    machines.until_world(1, 1)
    for words in (("scale", "part", "worker=2"), ("suspend", "part")):
        said = machines.muster(*words, code=4).stderr
        assert "job 'part' is this machine's part of the elastic job 'digits'" in said
    machines.muster("stop", "part", code=0)
    assert agent.wait(LIMIT) == 130, agent.stderr.read()
    assert "to take part again, run the same 'muster launch' command" in machines.muster("resume", "part", code=4).stderr
    assert len(machines.lines()) == 1


def limit_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 1024))


def test_more_agents_than_the_usual_limit_of_descriptors_are_served(machines):
    start_orchestrator(machines, preexec_fn=limit_descriptors)
    connections = [machines.connect() for _ in range(100)]
    for number, connection in enumerate(connections):
        connection.request("POST", f"/v1/jobs/many/members/m{number}", json.dumps(call_of(min=100, max=100)))
    for connection in connections:
        assert connection.getresponse().status == 200
    assert ask(machines, "/v1/jobs/many")[1]["phase"] == "running"
    for connection in connections:
        connection.close()


SAVING = """#!/bin/sh
trap 'sleep 3; echo saved > "$STORY.saved"; exit 143' TERM
printf '1 0 1 one %s 0\\n' $$ > "$STORY"
while :; do sleep 0.1; done
"""


def test_processes_of_a_machine_that_leaves_its_first_world_have_time_to_save(machines):
    machines.worker.write_text(SAVING)
    machines.launch("one", nnodes="1:1")
    machines.until_world(1, 1)
    machines.agents["one"].send_signal(signal.SIGTERM)
    machines.ends("one", 128 + signal.SIGTERM)
    assert (machines.muster.folder / "story.saved").read_text() == "saved\n"


def test_a_job_that_all_machines_have_left_is_over_and_its_name_is_free(machines):
    machines.launch("one", "--max-restarts", 1, nnodes="1:2")
    machines.until_world(1, 1)
    machines.agents["one"].send_signal(signal.SIGTERM)
    machines.ends("one", 128 + signal.SIGTERM)
    machines.story.write_text("")
    machines.launch("one", "--max-restarts", 2, nnodes="1:3")
    machines.until_world(1, 1)
    machines.tell("one", 0)
    machines.ends("one", 0)


def test_a_job_whose_machines_were_all_killed_may_begin_anew_with_other_options(machines):
    machines.launch("one", nnodes="1:2")
    machines.until_world(1, 1)
    machines.kill("one")
    machines.story.write_text("")
    machines.launch("one", nnodes="1:3")
    machines.until_world(1, 1)
    machines.tell("one", 0)
    machines.ends("one", 0)


def test_a_newcomer_beyond_the_maximum_waits_whatever_its_place(machines):
    start_orchestrator(machines)
    for rank, name in ((1, "one"), (2, "two")):
        machines.launch(name, "--node-rank", rank, "--rdzv-conf", "last_call_timeout=0", nnodes="1:2")
        machines.until_world(rank, rank)
    machines.launch("three", "--node-rank", 0, "--rdzv-conf", "last_call_timeout=0", nnodes="1:2")
    wait_until(lambda: len(ask(machines, f"/v1/jobs/{machines.job}")[1]["members"]) == 3)
    machines.tell("two", 3)
    assert "worker-0 on 127.0.0.1 (machine 1) exited with code 3" in machines.ends("one", 1)


def test_a_machine_has_room_for_many_processes(muster):
    done = muster("launch", "--standalone", "--nproc-per-node", 200, "--no-python", "true", code=0)
    assert "200 workers" in done.stderr


def test_a_first_call_that_is_wrong_begins_no_job_and_replaces_none(machines):
    def call(**changes):
        connection = machines.connect()
        connection.request("POST", f"/v1/jobs/{machines.job}/members/m", json.dumps(call_of(**changes)))
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    start_orchestrator(machines)
    assert call(world=1000000000)[0] == 400 and ask(machines, "/v1/jobs") == (200, {"jobs": []})
    call(uid=call()[1]["uid"], hasLeft=True)
    ended = ask(machines, f"/v1/jobs/{machines.job}")[1]
    assert ended["phase"] == "closed"
    assert call(world=1000000000)[0] == 400
    assert ask(machines, f"/v1/jobs/{machines.job}")[1]["uid"] == ended["uid"]


def test_last_words_of_strangers_leave_nothing_behind(machines):
    start_orchestrator(machines)
    connection = machines.connect()
    connection.request("POST", "/v1/jobs/nobodys/members/m", json.dumps(call_of(hasLeft=True)))
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["order"]["order"]) == (200, "go")
    assert ask(machines, "/v1/jobs") == (200, {"jobs": []})
