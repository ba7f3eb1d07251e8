"""Agents of elastic jobs as machines of their own, and the server that they meet at.

Each process writes a line of where it stands to a file that all share, and then waits at a FIFO of its own to be told
how to end.
"""

import collections
import contextlib
import http.client
import json
import os
import signal
import socket
import sys

from conftest import LIMIT, read_line
from processes import wait_until, wait_until_none_has
from servers import free_port

WORKER = """#!/bin/sh
trap 'exit 143' TERM
fifo=$STORY.$MUSTER_JOB_NAME.$LOCAL_RANK
[ -p "$fifo" ] || mkfifo "$fifo"
printf '%s %s %s %s %s %s\\n' "$MUSTER_GENERATION" "$RANK" "$WORLD_SIZE" "$MUSTER_JOB_NAME" "$$" "$MUSTER_RESTART_COUNT" >> "$STORY"
(exec cat "$fifo" > "$fifo.told") & wait $!
exit "$(cat "$fifo.told")"
"""

Line = collections.namedtuple("Line", "generation rank size machine pid restarts")


class Machines:
    """Agents of one job, and what their processes have written."""

    def __init__(self, muster, port, job="digits"):
        self.muster, self.port, self.job = muster, port, job
        self.endpoint = f"127.0.0.1:{port}"
        self.story = muster.folder / "story"
        self.story.touch()
        self.worker = muster.folder / "worker.sh"
        self.worker.write_text(WORKER)
        self.worker.chmod(0o755)
        self.agents = {}

    def launch(self, name, *options, nnodes="2:3", before=()):
        self.agents[name] = self.muster.start(
            "launch", "--name", name, "--replace", "--nnodes", nnodes, "--rdzv-endpoint", self.endpoint,
            "--rdzv-id", self.job, *options, "--no-python", self.worker,
            env={"STORY": self.story, "AGENT": self.agent_word(name)}, before=before)
        return self.agents[name]

    def agent_word(self, name):
        """What this agent, and all that it starts, has in its environment."""
        return f"{self.story}.{name}"

    def kill(self, name, pid=None):
        """One of the agent's processes, by default the outer one. Waits until all of it is gone, for only then does another
        that --replace lets take its place find that it has ended: the inner one outlives the workers, and tells the server."""
        agent = self.agents[name]
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid or agent.pid, signal.SIGKILL)
        agent.wait(LIMIT)
        agent.stderr.close()
        wait_until_none_has(f"AGENT={self.agent_word(name)}")

    def lines(self, generation=None):
        lines = [Line(*(w if i == 3 else int(w) for i, w in enumerate(line.split())))
                 for line in self.story.read_text().splitlines()]
        return [line for line in lines if generation in (None, line.generation)]

    def newest(self):
        return max((line.generation for line in self.lines()), default=0)

    def until_world(self, generation, size, strangers=0):
        """Waits for the processes of a world; gives them by machine. Members that are no agents of ours run none."""
        wait_until(lambda: len(self.lines(generation)) >= size - strangers)
        lines = self.lines(generation)
        assert [line.size for line in lines] == [size] * (size - strangers)
        assert strangers or sorted(line.rank for line in lines) == list(range(size))
        return {line.machine: line for line in lines}

    def tell(self, name, code, local_rank=0):
        """Its process ends with this code. Opening waits until it reads."""
        with open(f"{self.story}.{name}.{local_rank}", "w") as fifo:
            fifo.write(str(code))

    def train_two(self, text, *arguments):
        """Two agents with a Python script, which the running Python is for; gives them."""
        script = self.muster.folder / "train.py"
        script.write_text(text)
        env = {"VIRTUAL_ENV": sys.prefix, "PATH": f"{sys.prefix}/bin:{os.environ['PATH']}"}
        return [self.muster.start("launch", "--name", name, "--nnodes", 2, "--rdzv-endpoint", self.endpoint,
                                  "--rdzv-id", self.job, script, *arguments, env=env) for name in ("one", "two")]

    def connect(self):
        """To the server; requests have the token of the user, as those of agents."""
        return Connection(self.port, self.muster.token())

    def description(self):
        """What the server knows of the job."""
        return ask(self, f"/v1/jobs/{self.job}")[1]

    def status(self):
        return self.muster("status", "--rdzv-endpoint", self.endpoint, self.job, code=0).stdout

    def ends(self, name, code):
        said = self.agents[name].communicate(timeout=LIMIT)[1]
        assert self.agents[name].returncode == code, said
        return said


def machines_with(muster, worker):
    """With a server, and these processes."""
    machines = Machines(muster, free_port())
    machines.worker.write_text(worker)
    machines.server = start_orchestrator(machines)
    return machines


def is_listening(port):
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


def start_orchestrator(machines, *options, host="127.0.0.1", **how):
    process = machines.muster.start("orchestrator", "--listen", f"{host}:{machines.port}", *options, **how)
    line = read_line(process.stderr)
    assert line == f"muster: elastic jobs connect to http://{host}:{machines.port}\n"
    return process


class Connection(http.client.HTTPConnection):
    def __init__(self, port, token):
        super().__init__("127.0.0.1", port, timeout=LIMIT)
        self.token = token

    def putrequest(self, *request, **options):
        super().putrequest(*request, **options)
        if self.token:
            self.putheader("Authorization", f"Bearer {self.token}")


def ask(machines, path):
    connection = machines.connect()
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())
