"""The figures of elastic jobs: agents that meet, come, freeze and are killed, each a machine of its own on loopback or in
a network namespace; and an orchestrator that many meet at.

Without an orchestrator the first agent is the server, as it is with torchrun's c10d.
"""

import contextlib
import os
import signal
import socket
import subprocess
import time

from figures import MEGABYTE, sleeping_worker
from http_figures import running
from launchers import Torchrun
from measure import NANOSECONDS, PROGRAMS, launched, memory_of, session, tree_of

LOAD = os.path.abspath(os.path.join(PROGRAMS, "bench_elastic_load"))
REACTION = 20  # seconds after which the others are taken not to react


class MusterAgents:
    """With the token of their user; over TLS where they are different machines, or by `options`."""

    name = "muster"

    def __init__(self, program, *options):
        self.program, self.options = program, options

    def agent(self, nnodes, endpoint, command, conf):
        return [self.program, "launch", *self.options, "--nnodes", nnodes, "--rdzv-endpoint", endpoint, "--max-restarts", "3",
                "--rdzv-conf", conf, "--no-python", *command]

    def alone(self, processes, command):
        return [self.program, "launch", "--standalone", "--nproc-per-node", str(processes), "--max-restarts", "3", "--no-python",
                *command]


class TorchAgents:
    name = "torchrun"

    def agent(self, nnodes, endpoint, command, conf):
        return [Torchrun.python, "-m", "torch.distributed.run", "--nnodes", nnodes, "--rdzv-backend", "c10d",
                "--rdzv-endpoint", endpoint, "--max-restarts", "3",
                "--rdzv-conf", conf, "--no-python", *command]

    def alone(self, processes, command):
        return [Torchrun.python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes),
                "--max-restarts", "3", "--no-python", *command]


def contenders(muster):
    return [MusterAgents(muster), *([TorchAgents()] if Torchrun().is_here() else [])]


def contenders_with_tls(muster):
    return [MusterAgents(muster, "--rdzv-tls")]


def contenders_of_many(muster):
    """So many agents of torchrun have no room in the memory."""
    return [MusterAgents(muster)]


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def wait_for_server(port):
    """Until somebody listens: the first agent, which is not to be the one that is killed."""
    while True:
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)


class Machines:
    """Agents that share the stamps of one session."""

    def __init__(self, contender, stack, nnodes, last_call=1, host="127.0.0.1"):
        self.folder, self.stamps = stack.enter_context(session())
        self.stack, self.jobs = stack, []
        self.port = free_port()
        self.contender, self.nnodes, self.endpoint = contender, nnodes, f"{host}:{self.port}"
        self.conf = f"last_call_timeout={last_call}"

    def add(self, inside=()):
        """An agent, `inside` a network namespace where that command line enters one. There torchrun does not find out that an
        address is its own."""
        conf = f"{self.conf},is_host={int(not self.jobs)}" if inside else self.conf
        argv = self.contender.agent(self.nnodes, self.endpoint, sleeping_worker(self.stamps), conf)
        self.jobs.append(self.stack.enter_context(launched([*inside, *argv], self.folder, self.stamps)))
        return self.jobs[-1]

    def wait_for_workers(self, count):
        return self.jobs[0].wait_for_workers(count)

    def new_workers(self, count):
        """When so many have started since; None: they do not in time."""
        end = time.monotonic() + REACTION
        while not self.stamps.has("worker", count, 1):
            if time.monotonic() > end:
                return None
        return self.wait_for_workers(count)


def measure_meeting(contender, count):
    """Milliseconds from the first agent's exec until the workers of all run."""
    with contextlib.ExitStack() as stack:
        machines = Machines(contender, stack, str(count))
        for _ in range(count):
            machines.add()
        return (machines.wait_for_workers(count) - machines.jobs[0].begin) / NANOSECONDS * 1000


@contextlib.contextmanager
def two_networks():
    """Two network namespaces with a cable between them: the address of the first, and how to run a program in each."""
    names = [f"muster-bench-{os.getpid()}-{number}" for number in (1, 2)]
    try:
        for name in names:
            subprocess.run(["ip", "netns", "add", name], check=True)
        subprocess.run(["ip", "-n", names[0], "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", names[1]],
                       check=True)
        for number, name in enumerate(names, 1):
            for words in ("link set lo up", f"addr add 10.98.0.{number}/24 dev eth0", "link set eth0 up"):
                subprocess.run(["ip", "-n", name, *words.split()], check=True)
        yield "10.98.0.1", [["ip", "netns", "exec", name] for name in names]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False, stderr=subprocess.DEVNULL)


def kill_a_worker(jobs):
    """Milliseconds from the SIGKILL of the first one's worker until two new ones run."""
    time.sleep(0.5)
    begin = time.monotonic_ns()
    os.kill(jobs[0].workers[0], signal.SIGKILL)
    return (jobs[0].wait_for_workers(2) - begin) / NANOSECONDS * 1000


def measure_restart(contender):
    """Of one of two machines, each in a network namespace."""
    with contextlib.ExitStack() as stack:
        host, networks = stack.enter_context(two_networks())
        machines = Machines(contender, stack, "2", host=host)
        for inside in networks:
            machines.add(inside)
        machines.wait_for_workers(2)
        return kill_a_worker(machines.jobs)


def measure_restart_alone(contender):
    """Of one of the two workers of a machine alone."""
    with contextlib.ExitStack() as stack:
        folder, stamps = stack.enter_context(session())
        job = stack.enter_context(launched(contender.alone(2, sleeping_worker(stamps)), folder, stamps))
        job.wait_for_workers(2)
        return kill_a_worker([job])


def lose_the_third(contender, find, number):
    """Milliseconds from a signal to processes of the third of three agents, not the server, until the others' new workers run.
    `find` gives the processes of an agent's pid."""
    with contextlib.ExitStack() as stack:
        machines = Machines(contender, stack, "2:3", last_call=3)
        for _ in range(3):
            machines.add()
            wait_for_server(machines.port)
        machines.wait_for_workers(3)
        time.sleep(0.5)
        lost = find(machines.jobs[2].pid)
        begin = time.monotonic_ns()
        for pid in lost:
            os.kill(pid, number)
        moment = machines.new_workers(2)
        for pid in lost:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return moment and (moment - begin) / NANOSECONDS * 1000


def measure_loss(contender):
    """The agent is killed."""
    return lose_the_third(contender, lambda pid: [pid], signal.SIGKILL)


def measure_freeze(contender):
    """The whole machine is stopped."""
    return lose_the_third(contender, tree_of, signal.SIGSTOP)


def measure_first(contender):
    """Milliseconds from the exec of the first agent under 1:2, which waits a second for another, until its worker runs."""
    with contextlib.ExitStack() as stack:
        machines = Machines(contender, stack, "1:2", last_call=1)
        job = machines.add()
        return (machines.wait_for_workers(1) - job.begin) / NANOSECONDS * 1000


def measure_growth(contender):
    """Milliseconds from the exec of a second agent until the workers of both run."""
    with contextlib.ExitStack() as stack:
        machines = Machines(contender, stack, "1:2", last_call=1)
        machines.add()
        machines.wait_for_workers(1)
        second = machines.add()
        moment = machines.new_workers(2)
        return moment and (moment - second.begin) / NANOSECONDS * 1000


class Orchestrator:
    """A server of its own, which elastic_load asks as so many agents would."""

    name = "muster"

    def __init__(self, program):
        self.program = program


def orchestrators(muster):
    return [Orchestrator(muster)]


def measure_rendezvous(contender, jobs, members):
    """From the first connection until the last member has its world, and megabytes of the server at most."""
    with contextlib.ExitStack() as stack:
        folder, _ = stack.enter_context(session())
        port = free_port()
        token = os.path.join(folder, "muster", "token")
        os.makedirs(os.path.dirname(token), mode=0o700)
        with open(os.open(token, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
            file.write("0123456789abcdef" * 4)
        server = subprocess.Popen(
            [contender.program, "orchestrator", "--listen", f"127.0.0.1:{port}", "--lease", "60s", "--state-dir", folder],
            stderr=subprocess.DEVNULL, env={**os.environ, "XDG_CONFIG_HOME": folder})
        stack.callback(server.wait)
        stack.callback(server.kill)
        wait_for_server(port)
        with running([LOAD, str(port), token, str(jobs), str(members)], max(os.sched_getaffinity(0))) as (_, nanoseconds):
            return {"all have their world (ms)": int(nanoseconds) / NANOSECONDS * 1000,
                    "memory of the server (MB)": peak_of(server.pid) / MEGABYTE}


def peak_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))


def measure_agent(contender):
    """One machine: milliseconds to its worker, and megabytes of the agent."""
    with contextlib.ExitStack() as stack:
        machines = Machines(contender, stack, "1:1")
        job = machines.add()
        moment = machines.wait_for_workers(1)
        time.sleep(1)
        return {"launch to the worker (ms)": (moment - job.begin) / NANOSECONDS * 1000,
                "memory (MB)": memory_of(job.own_processes()) / MEGABYTE}
