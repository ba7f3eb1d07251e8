"""The figures of http/server, beside a plain evhttp program (http_plain.c), both with the answer "ok".

The server is alone on one processor and its callers (http_load.c) on another one, where there are two; processor time
and memory are the server's alone.
"""

import contextlib
import os
import subprocess

from making_figures import MEGABYTE
from measure import NANOSECONDS, PROGRAMS
from server_figures import resident

SERVE = os.path.abspath(os.path.join("build", "tests", "http", "http_serve"))
PLAIN, LOAD = (os.path.abspath(os.path.join(PROGRAMS, f"bench_http_{name}")) for name in ("plain", "load"))
HEADERS, BODY, CONNECTIONS, PATIENCE = 16384, 65536, 20000, 3600  # limits of ours, as a program would have them


class Server:
    def __init__(self, name, *command):
        self.name, self.command = name, list(map(str, command))


def servers(_):
    return [Server("muster", SERVE, "127.0.0.1:0", HEADERS, BODY, CONNECTIONS, PATIENCE), Server("evhttp", PLAIN)]


@contextlib.contextmanager
def running(command, processor):
    """A program that prints a line when it is ready and ends with its standard input: (process, that line)."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               preexec_fn=lambda: os.sched_setaffinity(0, {processor}))
    try:
        yield process, process.stdout.readline().decode()
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


@contextlib.contextmanager
def called(server, connections, answers):
    """The server's process while its callers keep their connections, and the seconds that the answers took."""
    processors = sorted(os.sched_getaffinity(0))
    with running(server.command, processors[0]) as (process, line):
        port = line.rsplit(":", 1)[1].strip()
        with running([LOAD, port, str(connections), str(answers)], processors[-1]) as (_, nanoseconds):
            yield process, int(nanoseconds) / NANOSECONDS


def processor_seconds(pid):
    """To the nanosecond, where /proc/PID/stat counts hundredths."""
    with open(f"/proc/{pid}/schedstat", encoding="utf-8") as spent:
        return int(spent.read().split()[0]) / NANOSECONDS


def measure_answers(server, answers):
    """The rate that one processor has when it does nothing else, and that of now, where others may be on it.

    The start of the server and the answers that open connections are in its processor time.
    """
    with called(server, 32, answers) as (process, seconds):
        return {"answers a second of processor time": answers / processor_seconds(process.pid),
                "answers a second": answers / seconds}


def measure_idle(server, connections):
    """Megabytes that are resident while connections wait that have had an answer each."""
    with called(server, connections, 0) as (process, _):
        return resident([process.pid]) / MEGABYTE
