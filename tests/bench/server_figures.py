"""The figures of `muster server`, beside tf.distribute.Server of the same wheel.

Skipped (None) where the running Python has no TensorFlow.
"""

import contextlib
import importlib.util
import os
import select
import subprocess
import sys
import time

from measure import NANOSECONDS, PATIENCE, STAMP, session, state_folder, tree_of
from tensorflow_figures import free_ports

MEGABYTE = 1e6

PYTHON_SERVER = """
import sys
import tensorflow as tf
job, index, *addresses = sys.argv[1:]
server = tf.distribute.Server({job: addresses}, job_name=job, task_index=int(index), protocol="grpc")
print("serving", flush=True)
server.join()
"""


class MusterServer:
    name = "muster"

    def __init__(self, program):
        self.program = program

    def one(self, addresses, index):
        """The argument list of one server of a cluster of workers."""
        return [self.program, "server", "-o", "json", "--cluster-spec", "worker|" + ";".join(addresses),
                "--job-name", "worker", "--task-index", str(index)]

    def cluster(self, count):
        return [self.program, "run", "-w", str(count), "--", "muster", "server", "-o", "json"]


class PythonServer:
    name = "Python"

    def one(self, addresses, index):
        return [sys.executable, "-c", PYTHON_SERVER, "worker", str(index), *addresses]

    def cluster(self, count):
        addresses = [f"127.0.0.1:{port}" for port in free_ports(count)]
        lines = [f'"$@" worker {index} {" ".join(addresses)} &' for index in range(count)]
        return ["bash", "-c", "\n".join([*lines, "wait"]), "bash", sys.executable, "-c", PYTHON_SERVER]


def contenders(muster):
    """Those that can be measured here."""
    return [MusterServer(muster), PythonServer()] if importlib.util.find_spec("tensorflow") else []


def wait_for_lines(stream, word, count):
    """Waits until `count` lines with this word came, and gives the moment of the last one."""
    seen = b""
    while sum(word in line for line in seen.split(b"\n")[:-1]) < count:
        if not select.select([stream], [], [], PATIENCE)[0]:
            raise TimeoutError(f"no {count} lines with {word} after {PATIENCE} s")
        piece = os.read(stream.fileno(), 65536)
        if not piece:
            raise TimeoutError(f"ended without {count} lines with {word}: {seen}")
        seen += piece
    return time.monotonic_ns()


@contextlib.contextmanager
def serving(argv, count):
    """Starts it; gives (process, seconds from its exec until `count` servers serve)."""
    with session() as (folder, stamps):
        process = subprocess.Popen([STAMP, stamps.path, "begin", *argv], cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, process_group=0,
                                   env={**os.environ, "XDG_STATE_HOME": state_folder(),
                                        "TF_CPP_MIN_LOG_LEVEL": "2"})
        try:
            ready = wait_for_lines(process.stdout, b"serving", count)
            yield process, (ready - stamps.take("begin", 1)[0][1]) / NANOSECONDS
        finally:
            end(process)


def end(process):
    for pid in reversed(tree_of(process.pid)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 15 if pid == process.pid else 9)
    process.wait()
    process.stdout.close()


def resident(pids):
    """Bytes of these processes that are in memory, those that they share included (Rss)."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as rollup:
                total += sum(int(line.split()[1]) * 1024 for line in rollup if line.startswith("Rss:"))
    return total


def measure_one(contender):
    """Seconds from exec until one server serves, and the megabytes of its processes then."""
    address = [f"127.0.0.1:{free_ports(1)[0]}"]
    with serving(contender.one(address, 0), 1) as (process, seconds):
        return {"exec to serving (s)": seconds,
                "memory while it serves (MB)": resident(tree_of(process.pid)) / MEGABYTE}


def measure_cluster(contender, count):
    """Seconds from exec until all servers of a cluster here serve."""
    with serving(contender.cluster(count), count) as (_, seconds):
        return seconds
