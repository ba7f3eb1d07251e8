"""The figures with real TensorFlow: training under muster and under a bare shell script.

Skipped (None) where the running Python has no TensorFlow.
"""

import importlib.util
import json
import os
import select
import shlex
import signal
import socket
import sys
import time

from measure import NANOSECONDS, STAMP, launched, session

SCRIPT = os.path.abspath("examples/digits/train.py")


def can_measure(launcher):
    return launcher.name in ("muster", "bash") and importlib.util.find_spec("tensorflow")


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listening.getsockname()[1] for listening in sockets]
    for listening in sockets:
        listening.close()
    return ports


def bare_shell(command):
    """What a person writes without a launcher: two processes, each with its TF_CONFIG."""
    workers = [f"127.0.0.1:{port}" for port in free_ports(2)]
    lines = []
    for index in range(2):
        config = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}}
        lines.append(f"TF_CONFIG={shlex.quote(json.dumps(config))} {shlex.join(command)} &\n")
    return ["bash", "-c", "".join(lines) + "wait"]


def training(launcher, command):
    if launcher.name == "bash":
        return bare_shell(command)
    return launcher.start_restarting(2, command, None)


def measure_training(launcher):
    """Seconds of the example from exec to end."""
    if not can_measure(launcher):
        return None
    with session() as (folder, stamps):
        argv = training(launcher, [sys.executable, "-u", SCRIPT])
        with launched(argv, folder, stamps) as job:
            ended, _ = job.wait()
            return (ended - job.begin) / NANOSECONDS


class Output:
    """The launched job's output, followed."""

    def __init__(self, path):
        self.file = open(path, "rb")
        self.seen = b""

    def wait_for(self, text, after=0):
        """Waits for `text` behind the offset, and gives the moment at which it was there."""
        while text not in self.seen[after:]:
            time.sleep(0.01)
            self.seen += self.file.read()
        return time.monotonic_ns()


def measure_death(launcher):
    """What follows the SIGKILL of worker 1 in mid-training, in seconds after it.

    Under muster: both new processes run; the first step of the new attempt is done. Under the shell:
    the survivor has noticed, and ends.
    """
    if not can_measure(launcher):
        return None
    with session() as (folder, stamps):
        command = [STAMP, stamps.path, "worker", sys.executable, "-u", SCRIPT, "--epochs", "100000",
                   "--checkpoint-dir", os.path.join(folder, "checkpoint")]
        with launched(training(launcher, command), folder, stamps) as job:
            job.wait_for_workers(2)
            output = Output(job.output)
            output.wait_for(b"epoch 3/")
            length = len(output.seen)
            begin = time.monotonic_ns()
            os.kill(job.workers[1], signal.SIGKILL)
            if launcher.name == "bash":
                noticed = wait_for_end(job.workers[0])
                return {"TensorFlow has noticed": (noticed - begin) / NANOSECONDS}
            running = job.wait_for_workers(2)
            output.wait_for(b"workers in step", length)
            step = output.wait_for(b"epoch ", output.seen.index(b"workers in step", length))
            return {"new processes run": (running - begin) / NANOSECONDS,
                    "first epoch of the new attempt": (step - begin) / NANOSECONDS}


def wait_for_end(pid):
    descriptor = os.pidfd_open(pid)
    select.select([descriptor], [], [])
    os.close(descriptor)
    return time.monotonic_ns()
