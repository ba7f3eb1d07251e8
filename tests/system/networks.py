"""Machines in network namespaces: each has a network and names of its own, and is ended with its test."""

import contextlib
import os
import shutil
import subprocess

import pytest

from conftest import BINARY, LIMIT, read_line

SETUP = 'mount --bind "$1" /etc/hosts && ip link set lo up && echo ready && exec cat'


class Machine:
    """Network and names of its own, held by a process that waits for the end of its input."""

    def __init__(self, muster, hosts):
        self.muster = muster
        self.keeper = subprocess.Popen(["unshare", "--net", "--mount", "sh", "-c", SETUP, "sh", hosts],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.inside = ["nsenter", f"--target={self.keeper.pid}", "--net", "--mount"]
        if read_line(self.keeper.stdout) != "ready\n":
            pytest.skip(f"no network namespace can be had: {self.end()}")

    def ip(self, arguments):
        subprocess.run([*self.inside, "ip", *arguments.split()], check=True)

    def start(self, *arguments, env=None, **options):
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        process = subprocess.Popen([*self.inside, BINARY, *map(str, arguments)],
                                   env={**self.muster.environment, **(env or {})}, **pipes)
        self.muster.started.append(process)
        return process

    def end(self):
        return self.keeper.communicate(timeout=LIMIT)[1]


@contextlib.contextmanager
def machines_of(muster, hosts):
    """Gives a function that makes one, and ends those that it made; skips the test where none can be had."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("ip", "unshare", "nsenter"))):
        pytest.skip("needs root, iproute2 and util-linux")
    machines = []

    def make():
        machines.append(Machine(muster, hosts))
        return machines[-1]

    yield make
    for machine in machines:
        machine.end()
