"""`muster launch` where torchrun's users rely on its letter: variables, addresses, and what is refused.

Each process runs a probe, which leaves its environment in a file, whatever is printed.
"""

import collections
import contextlib
import json
import os
import pathlib
import pwd
import re
import socket
import sys

import pytest
from agents import Machines, start_orchestrator
from conftest import BINARY, LIMIT, Muster
from servers import free_port

PROBE = """\
import json, os, socket, sys
if os.environ["RANK"] == "0":
    store = socket.create_server(("", int(os.environ["MASTER_PORT"])))
place = os.path.join(os.environ["PROBE"], os.environ["MUSTER_GENERATION"] + "." + os.environ["RANK"])
with open(place + ".new", "w") as file:
    json.dump({**os.environ, "arguments": sys.argv[1:]}, file)
os.rename(place + ".new", place)
sys.exit(int(os.environ["FAILS_IN"] == os.environ["MUSTER_GENERATION"]) if "FAILS_IN" in os.environ else 0)
"""
RANDOM = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
CLEARED = {"OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID"}
given_servers = []


class Probe:
    """Runs the probe, and gives what its processes found."""

    def __init__(self, muster):
        self.muster = muster
        self.folder = muster.folder / "found"
        self.folder.mkdir()
        self.script = muster.folder / "probe.py"
        self.script.write_text(PROBE)
        for name in [*muster.environment]:
            if name in CLEARED or name.startswith("PET_"):
                del muster.environment[name]
        muster.environment.update(PROBE=str(self.folder), VIRTUAL_ENV=sys.prefix)

    def start(self, *options, **how):
        return self.muster.start("launch", *options, self.script, **how)

    def launch(self, *options, code=0, **how):
        """The environments of the processes by rank, in the first generation."""
        for path in self.folder.iterdir():
            path.unlink()
        self.done = self.muster("launch", *options, self.script, code=code, **how)
        return self.found()

    def found(self, generation=1):
        # A process that was killed while it wrote has left its unfinished file.
        paths = sorted(self.folder.glob(f"{generation}.*[0-9]"), key=lambda path: int(path.suffix[1:]))
        return [json.loads(path.read_text()) for path in paths]


@pytest.fixture
def probe(muster):
    return Probe(muster)


def master_port():
    """A free port whose server's port is free, too."""
    while True:
        port = free_port()
        server = server_port(port)
        reserved = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(OSError), socket.socket() as listening:
            listening.bind(("", server))
            reserved.bind(f"\0muster-port-{server}")
            given_servers.append(reserved)
            return port


def server_port(port):
    return port + 10000 if port < 20000 else port - 10000


# Threads.


@pytest.mark.parametrize("processes,given,found", [(1, None, None), (2, None, "1"), (1, "3", "3"), (2, "3", "3")])
def test_threads_are_limited_if_several_processes_share_a_machine(probe, processes, given, found):
    everyone = probe.launch("--nproc-per-node", processes, env={"OMP_NUM_THREADS": given})
    assert [one.get("OMP_NUM_THREADS") for one in everyone] == [found] * processes


# The id of the job.


@pytest.mark.parametrize("options,env,found", [
    ((), {}, RANDOM),
    (("--rdzv-id", "job5"), {}, "job5"),
    (("--rdzv-backend", "static"), {}, RANDOM),
    (("--rdzv-backend", "c10d"), {}, "none"),
    (("--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0"), {}, "none"),
    (("--rdzv-backend=c10d", "--rdzv-id=100"), {}, "100"),
    (("--master-port", "PORT"), {}, "none"),
    (("--master-port", "PORT", "--rdzv-id", "job5"), {}, "job5"),
    (("--standalone",), {}, RANDOM),
    (("--standalone", "--rdzv-backend=static", "--rdzv-id", "job5", "--rdzv-endpoint", "nowhere.invalid:1"), {}, RANDOM),
    ((), {"PET_RDZV_BACKEND": "c10d"}, "none"),
    ((), {"PET_RDZV_BACKEND": "c10d", "PET_RDZV_ID": "p1"}, "p1"),
    ((), {"PET_STANDALONE": "1", "PET_RDZV_ID": "p1"}, RANDOM),
])
def test_the_run_id(probe, options, env, found):
    options = [str(free_port()) if option == "PORT" else option for option in options]
    ids = {one["TORCHELASTIC_RUN_ID"] for one in probe.launch("--nproc-per-node", 2, *options, env=env)}
    assert len(ids) == 1
    assert found.fullmatch(ids.pop()) if found is RANDOM else ids == {found}


@pytest.mark.parametrize("options", [(), ("--standalone",), ("--rdzv-backend", "c10d")])
def test_a_job_is_found_by_its_id_even_if_that_is_a_number(muster, options):
    muster("launch", *options, "--rdzv-id", 100, "--no-python", "echo", "trained", code=0)
    name = muster("ps", "-a", "-o", "name", code=0).stdout.strip()
    assert re.fullmatch("local/100-[a-z0-9]{5}", name)
    for word in ("100", name):
        assert "Succeeded" in muster("status", word, code=0).stdout
        assert "trained" in muster("logs", word, code=0).stdout
    muster("delete", name, code=0)


# The address of rank 0.


@pytest.mark.parametrize("options,env,address", [
    (("--master-port", "PORT"), {}, "127.0.0.1"),
    (("--master-addr", "localhost", "--master-port", "PORT"), {}, "localhost"),
    (("--master_addr=localhost", "--master_port=PORT", "--node_rank=0"), {}, "localhost"),
    (("--master-addr", "[::1]", "--master-port", "PORT"), {}, "::1"),
    (("--rdzv-backend", "static", "--rdzv-endpoint", "localhost:PORT"), {}, "localhost"),
    ((), {"PET_MASTER_ADDR": "node-0.job.invalid", "PET_MASTER_PORT": "PORT", "PET_NODE_RANK": "0", "PET_NNODES": "1"},
     "node-0.job.invalid"),
])
def test_the_address_of_rank_0_is_the_one_that_was_given_in_each_generation(probe, options, env, address):
    port = str(free_port())
    probe.launch("--nproc-per-node", 2, "--max-restarts", 1, *[option.replace("PORT", port) for option in options],
                 env={"FAILS_IN": "1", **{name: value.replace("PORT", port) for name, value in env.items()}})
    for generation in (1, 2):
        for one in probe.found(generation):
            assert (one["MASTER_ADDR"], one["MASTER_PORT"]) == (address, port)
            assert one["TORCHELASTIC_USE_AGENT_STORE"] == "False"
            assert port not in one["TF_CONFIG"] and "127.0.0.1:" in one["TF_CONFIG"]
    assert len(probe.found(2)) == 2


@pytest.mark.parametrize("options", [(), ("--master-addr", "nowhere.invalid"), ("--rdzv-backend", "c10d"),
                                     ("--rdzv-backend", "c10d", "--master-port", "29500", "--master-addr", "nowhere.invalid")])
def test_else_rank_0_chooses_it(probe, options):
    one, = probe.launch(*options)
    assert one["MASTER_ADDR"] == "127.0.0.1" and one["MASTER_PORT"] != "29500"


def ends(process, code=0):
    said = process.communicate(timeout=LIMIT)[1]
    assert process.returncode == code, said
    return said


def test_machines_of_a_static_rendezvous_meet_beside_the_port_of_rank_0(probe):
    port = master_port()
    agents = [probe.start("--nnodes", 2, "--node-rank", rank, "--master-addr", "localhost", "--master-port", port)
              for rank in (1, 0)]
    for agent in agents:
        ends(agent)
    assert [one["GROUP_RANK"] for one in probe.found()] == ["0", "1"]
    assert {(one["MASTER_ADDR"], one["MASTER_PORT"]) for one in probe.found()} == {("localhost", str(port))}


def test_machines_of_a_static_rendezvous_meet_at_an_endpoint_besides(probe):
    machines = Machines(probe.muster, free_port())
    start_orchestrator(machines)
    port = free_port()
    for rank in (0, 1):
        machines.agents[rank] = probe.start("--nnodes", 2, "--node-rank", rank, "--master-addr", "localhost", "--master-port",
                                            port, "--rdzv-endpoint", machines.endpoint, "--rdzv-id", "digits")
    for rank in (0, 1):
        machines.ends(rank, 0)
    assert {(one["MASTER_ADDR"], one["MASTER_PORT"]) for one in probe.found()} == {("localhost", str(port))}
    assert machines.description()["verdict"] == "succeeded"


def test_a_port_that_is_taken_is_refused_with_its_owner(probe):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        program = pathlib.Path("/proc/self/comm").read_text().strip()
        user = pwd.getpwuid(os.getuid()).pw_name
        told = f"port {port} is taken by process {os.getpid()} ({program}) of user '{user}'"
        static = ("--nnodes", 2, "--master-addr", "localhost", "--master-port", port)
        for options in (("--master-port", port), (*static, "--node-rank", 0)):
            assert probe.launch(*options, code=2) == []
            assert probe.done.stderr == f"muster: --master-port: {told}\n"
        probe.launch("--rdzv-backend=static", f"--rdzv-endpoint=localhost:{port}", code=2)
        assert probe.done.stderr == f"muster: --rdzv-endpoint: {told}\n"
        # On another machine, the port does not matter.
        probe.launch(*static, "--node-rank", 1, "--rdzv-conf", "join_timeout=1", code=124)


# Roles.


def test_ranks_within_a_role_count_only_its_processes(probe):
    machines = Machines(probe.muster, free_port())
    start_orchestrator(machines)
    roles = (("alpha", 1), ("beta", 2), ("alpha", 2))
    for rank, (role, processes) in enumerate(roles):
        machines.agents[rank] = probe.start("--nnodes", 3, "--node-rank", rank, "--role", role, "--nproc-per-node", processes,
                                            "--rdzv-endpoint", machines.endpoint, "--rdzv-id", "digits")
    for rank in range(3):
        machines.ends(rank, 0)
    found = collections.defaultdict(list)
    for one in probe.found():
        found[one["ROLE_NAME"]].append((one["RANK"], one["ROLE_RANK"], one["ROLE_WORLD_SIZE"]))
    assert found == {"alpha": [("0", "0", "3"), ("3", "1", "3"), ("4", "2", "3")], "beta": [("1", "0", "2"), ("2", "1", "2")]}


# What is refused.

WRONG = [
    (("--nnodes", "1:2:3"), "--nnodes: '1:2:3' is not N or MIN:MAX"),
    (("--max-restarts", "-1"), "--max-restarts: '-1' is negative; to allow any number: --max-restarts unlimited"),
    (("--monitor-interval", "x"), "--monitor-interval: 'x'"),
    (("--master-port", "x"), "--master-port: 'x'"),
    (("--rdzv-conf", "=3"), "--rdzv-conf: '=3' is not KEY=VALUE"),
    (("--rdzv-conf", "join_timeout=soon"), "--rdzv-conf: join_timeout: 'soon'"),
    (("--rdzv-conf", "join_timeout=0"), "--rdzv-conf: join_timeout: '0'"),
    (("--start-method", "magic"), "--start-method: 'magic' is not one of spawn|fork|forkserver"),
    (("--no-python", "-m"), "--no-python: cannot be used with --module"),
    (("--logs-specs", "mine"), "--logs-specs: 'mine' is not one of default"),
    (("--numa-binding", "moon"), "--numa-binding: 'moon' is not one of node|socket|exclusive|core-complex"),
    (("--rdzv-backend", "etcd"), "--rdzv-backend: 'etcd' is not supported"),
    (("--role", "a b"), "--role: 'a b' is not a role"),
    (("--rdzv-backend", "static", "--nnodes", 2, "--rdzv-endpoint", "localhost"), "--rdzv-endpoint: 'localhost' is not HOST:PORT"),
    (("--rdzv-backend", "static", "--nnodes", 2), "missing --rdzv-endpoint"),
]


@pytest.mark.parametrize("options,told", WRONG)
def test_what_torchrun_refuses_is_refused(probe, options, told):
    assert probe.launch(*options, code=2) == []
    assert f"muster: {told}" in probe.done.stderr
    assert not probe.muster("ps", "-a", "-o", "name").stdout


def test_mistakes_of_the_environment_are_told_all_at_once(probe):
    env = {"PET_NNODES": "1:2:3", "PET_MAX_RESTARTS": "-1", "PET_MONITOR_INTERVAL": "x", "PET_MASTER_PORT": "x",
           "PET_RDZV_CONF": "=3", "PET_START_METHOD": "magic"}
    probe.launch(code=2, env=env)
    for option in ("nnodes", "max-restarts", "monitor-interval", "master-port", "rdzv-conf", "start-method"):
        assert f"muster: --{option}: " in probe.done.stderr


def test_restarts_may_be_unlimited(probe):
    one, = probe.launch("--max-restarts", "unlimited", env={"FAILS_IN": "1"})
    assert one["TORCHELASTIC_MAX_RESTARTS"] == "-1"
    assert len(probe.found(2)) == 1


# Spellings.


def test_dashes_before_the_script_mean_nothing(probe):
    one, = probe.launch("--nnodes", 1, "--")
    assert one["arguments"] == []
    probe.muster("launch", "--", probe.script, "--nnodes", "9", code=0)
    assert probe.found()[0]["arguments"] == ["--nnodes", "9"]


def test_options_without_an_effect_are_accepted(probe):
    port = free_port()
    probe.launch("--use_env", "--logs_specs=default", "--start_method=fork", "--monitor_interval=.5", "--run_path",
                 "--event_log_handler=null", "--node_rank=0", "--master_addr=127.0.0.1", f"--master_port={port}")
    assert probe.found()[0]["LOCAL_RANK"] == "0"


# One GPU for each process.


@pytest.mark.parametrize("options,env,devices", [
    (("--virtual-local-rank",), {}, ["0", "1"]),
    (("--virtual_local_rank",), {"CUDA_VISIBLE_DEVICES": "5,3"}, ["5", "3"]),
    ((), {"PET_VIRTUAL_LOCAL_RANK": "1"}, ["0", "1"]),
    ((), {}, [None, None]),
])
def test_each_process_may_see_its_own_gpu_as_the_first(probe, options, env, devices):
    found = probe.launch("--nproc-per-node", 2, *options, env=env)
    is_virtual = devices[0] is not None
    assert [one.get("CUDA_VISIBLE_DEVICES") for one in found] == devices
    assert [one["LOCAL_RANK"] for one in found] == ["0", "0" if is_virtual else "1"]
    assert [one["LOCAL_WORLD_SIZE"] for one in found] == ["2", "2"]


def test_each_process_needs_a_gpu_of_its_own_then(probe):
    probe.launch("--nproc-per-node", 2, "--virtual-local-rank", env={"CUDA_VISIBLE_DEVICES": "4"}, code=2)
    assert "--virtual-local-rank: CUDA_VISIBLE_DEVICES has 1 device, but --nproc-per-node starts 2" in probe.done.stderr


# Ends.


@pytest.mark.parametrize("conf", ["is_host=0,read_timeout=1", "is_host=0,join_timeout=1", "is_host=0,timeout=1,read_timeout=50"])
def test_an_agent_that_finds_nobody_gives_up_in_time(probe, conf):
    probe.launch("--nnodes", "1:2", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{free_port()}", "--rdzv-conf",
                 conf, code=3, limit=30)
    assert "cannot reach 127.0.0.1" in probe.done.stderr


def test_a_failure_names_the_script(probe):
    probe.launch("--rdzv-id", "mine", env={"FAILS_IN": "1"}, code=1)
    assert re.search(rf"worker-0 exited with code 1 .*\n(  .*\n)*  script        {probe.script}\n", probe.done.stderr)


def test_a_failure_names_the_rank_among_all_processes(probe):
    machines = Machines(probe.muster, free_port())
    start_orchestrator(machines)
    for rank, processes in ((0, 2), (1, 1)):
        machines.agents[rank] = probe.start(
            "--nnodes", 2, "--node-rank", rank, "--nproc-per-node", processes, "--name", f"part-{rank}", "--rdzv-endpoint",
            machines.endpoint, "--rdzv-id", "digits", "--no-python", "sh", "-c", "[ $RANK = 2 ] && exit 3; exec sleep 1000")
    for rank in (0, 1):
        assert "\n  rank          2 of 3\n" in machines.ends(rank, 1)
        assert "\n  rank          2 of 3\n" in probe.muster("status", f"part-{rank}", code=0).stdout
    assert "\n  rank          2 of 3\n" in machines.status()


def test_the_completion_is_printed(muster):
    done = muster("launch", "--print-completion", "bash", code=0)
    assert done.stdout == muster("completion", "bash", code=0).stdout
    muster("launch", "--print-completion", "nonsense", code=2)


def test_a_link_of_the_name_torchrun_is_launch(probe):
    link = probe.muster.folder / "torchrun"
    link.symlink_to(BINARY)
    torchrun = Muster(probe.muster.folder, (link,))
    torchrun("--nproc-per-node", 2, probe.script, "--version", code=0, env=probe.muster.environment)
    assert [one["arguments"] for one in probe.found()] == [["--version"]] * 2
    assert torchrun("--version", code=0).stdout.startswith("muster ")
    assert torchrun("--help", code=0).stdout.startswith("muster launch: ")
    assert "Run 'muster launch --help' for usage." in torchrun("--nonsense", code=2).stderr
