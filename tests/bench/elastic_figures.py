"""The figures of elastic jobs: agents that meet, come, and are killed; each agent a machine of its own on loopback.

Nobody starts a server: the first agent is the one, as it is with torchrun's c10d.
"""

import contextlib
import os
import signal
import socket
import time

from figures import MEGABYTE, sleeping_worker
from launchers import Torchrun
from measure import NANOSECONDS, launched, memory_of, session

REACTION = 20  # seconds after which the others are taken not to react


class MusterAgents:
    name = "muster"

    def __init__(self, program):
        self.program = program

    def agent(self, nnodes, port, command, last_call):
        return [self.program, "launch", "--nnodes", nnodes, "--rdzv-endpoint", f"127.0.0.1:{port}", "--max-restarts", "3",
                "--rdzv-conf", f"last_call_timeout={last_call}", "--no-python", *command]


class TorchAgents:
    name = "torchrun"

    def agent(self, nnodes, port, command, last_call):
        return [Torchrun.python, "-m", "torch.distributed.run", "--nnodes", nnodes, "--rdzv-backend", "c10d",
                "--rdzv-endpoint", f"127.0.0.1:{port}", "--max-restarts", "3",
                "--rdzv-conf", f"last_call_timeout={last_call}", "--no-python", *command]


def contenders(muster):
    return [MusterAgents(muster), *([TorchAgents()] if Torchrun().is_here() else [])]


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

    def __init__(self, contender, stack, nnodes, last_call=1):
        self.folder, self.stamps = stack.enter_context(session())
        self.stack, self.jobs = stack, []
        self.port = free_port()
        self.argv = contender.agent(nnodes, self.port, sleeping_worker(self.stamps), last_call)

    def add(self):
        self.jobs.append(self.stack.enter_context(launched(self.argv, self.folder, self.stamps)))
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


def measure_restart(contender):
    """Milliseconds from the SIGKILL of one of two machines' workers until both new ones run."""
    with contextlib.ExitStack() as stack:
        machines = Machines(contender, stack, "2")
        machines.add()
        machines.add()
        machines.wait_for_workers(2)
        time.sleep(0.5)
        begin = time.monotonic_ns()
        os.kill(machines.jobs[0].workers[0], signal.SIGKILL)
        return (machines.wait_for_workers(2) - begin) / NANOSECONDS * 1000


def measure_loss(contender):
    """Milliseconds from the SIGKILL of one of three agents, not the server, until the others' new workers run."""
    with contextlib.ExitStack() as stack:
        machines = Machines(contender, stack, "2:3", last_call=3)
        for _ in range(3):
            machines.add()
            wait_for_server(machines.port)
        machines.wait_for_workers(3)
        time.sleep(0.5)
        begin = time.monotonic_ns()
        machines.jobs[2].signal(signal.SIGKILL)
        moment = machines.new_workers(2)
        return moment and (moment - begin) / NANOSECONDS * 1000


def measure_growth(contender):
    """Milliseconds from the exec of a second agent until the workers of both run."""
    with contextlib.ExitStack() as stack:
        machines = Machines(contender, stack, "1:2", last_call=1)
        machines.add()
        machines.wait_for_workers(1)
        second = machines.add()
        moment = machines.new_workers(2)
        return moment and (moment - second.begin) / NANOSECONDS * 1000


def measure_agent(contender):
    """One machine: milliseconds to its worker, and megabytes of the agent."""
    with contextlib.ExitStack() as stack:
        machines = Machines(contender, stack, "1:1")
        job = machines.add()
        moment = machines.wait_for_workers(1)
        time.sleep(1)
        return {"launch to the worker (ms)": (moment - job.begin) / NANOSECONDS * 1000,
                "memory (MB)": memory_of(job.own_processes()) / MEGABYTE}
