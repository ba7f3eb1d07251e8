"""What it costs to copy a large file out of a Pod and into it: `muster cp` beside `kubectl cp`."""

import atexit
import functools
import os
import pathlib
import signal
import subprocess
import sys
import time

import bench_cluster
from measure import session, state_folder

SIZE = 300_000_000


class Copier:
    def __init__(self, name, command, place):
        self.name, self.command, self.place = name, command, place


def copiers(muster):
    if not bench_cluster.can_be_here():
        return []
    return [Copier("muster", [muster, "cp"], "kubernetes/{namespace}/bench:worker-0:{path}"),
            Copier("kubectl cp", ["kubectl", "cp"], "{namespace}/bench-worker-0:{path}")]


@functools.cache
def pod():
    """The namespace of a job of one Pod, which lives as long as this process."""
    here = bench_cluster.cluster()
    kept = here.namespace()
    namespace = kept.__enter__()
    command = ["build/muster", "run", "--on", "kubernetes", "-n", namespace, "--name", "bench", *bench_cluster.REAL,
               "--", "/bin/sh", "-c", "echo up; exec sleep 1000000"]
    running = subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    atexit.register(kept.__exit__, None, None, None)
    atexit.register(running.wait)
    atexit.register(running.send_signal, signal.SIGKILL)
    assert running.stdout.readline() == b"worker-0 | up\n"
    return namespace


def environment():
    return {**bench_cluster.cluster().environment, "XDG_STATE_HOME": state_folder()}


def copy(copier, source, target):
    """(seconds, processor seconds of the program)."""
    begin = time.monotonic()
    process = subprocess.Popen([*copier.command, source, target], env=environment(), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{copier.name} failed: {process.returncode}")
    return time.monotonic() - begin, used.ru_utime + used.ru_stime


def measure_copy(copier):
    """The same file goes in, in once more over what is there, and comes out."""
    namespace = pod()
    with session() as (folder, _):
        here, back = pathlib.Path(folder) / "model", pathlib.Path(folder) / "back"
        here.write_bytes(os.urandom(SIZE))
        there = copier.place.format(namespace=namespace, path=f"/tmp/{copier.name.split()[0]}")
        figures = {}
        for what, ends in (("in", (here, there)), ("in, over a file", (here, there)), ("out", (there, back))):
            figures[f"{what} (s)"], figures[f"{what}, processor (s)"] = copy(copier, *map(str, ends))
        assert back.stat().st_size == SIZE
    return figures
