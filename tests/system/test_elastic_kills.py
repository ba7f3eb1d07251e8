"""Elastic jobs whose agents, workers and server are killed at random moments, and started again."""

import os
import random
import signal

from agents import Machines, ask, start_orchestrator
from conftest import KILLS, LIMIT
from processes import children_of, processes_with, wait_until
from servers import free_port

# Works in steps, as training does, until the file says that it was enough.
WORKER = """#!/bin/sh
printf '%s %s %s %s %s %s\\n' "$MUSTER_GENERATION" "$RANK" "$WORLD_SIZE" "$MUSTER_JOB_NAME" "$$" "$MUSTER_RESTART_COUNT" >> "$STORY"
while [ ! -e "$STORY.enough" ]; do sleep 0.05; done
"""
NAMES = ("one", "two", "three", "four")


class Story:
    def __init__(self, muster, seed):
        self.dice = random.Random(seed)
        self.machines = Machines(muster, free_port())
        self.machines.worker.write_text(WORKER)
        self.server = start_orchestrator(self.machines, "--lease", "2s")
        for name in NAMES:
            self.launch(name)

    def launch(self, name):
        self.machines.launch(name, "--max-restarts", "unlimited", "--rdzv-conf", "last_call_timeout=0,is_host=0", nnodes="1:4")

    def workers(self):
        return processes_with(f"STORY={self.machines.story}") & processes_with("TORCHELASTIC_USE_AGENT_STORE=False")

    def kill_worker(self):
        """Of those that fail again and again the restart waits for longer and longer: five do."""
        pids = sorted(self.workers())
        if pids and self.job()["restarts"] < 5:
            kill(self.dice.choice(pids))
        else:
            self.kill_agent()

    def kill_agent(self):
        """The outer process of one of them, or the inner one, if there is one yet."""
        name = self.dice.choice(NAMES)
        inner = children_of(self.machines.agents[name].pid)
        self.machines.kill(name, inner[0] if inner and self.dice.random() < 0.5 else None)
        self.launch(name)

    def kill_server(self):
        self.server.kill()
        self.server.wait()
        self.server.stderr.close()
        self.server = start_orchestrator(self.machines, "--lease", "2s")

    def one_more(self):
        self.dice.choice((self.kill_worker, self.kill_worker, self.kill_agent, self.kill_server))()

    def job(self):
        return ask(self.machines, f"/v1/jobs/{self.machines.job}")[1]

    def is_whole(self):
        """All machines train, those that were started last too. None of their agents has given up."""
        for name, agent in self.machines.agents.items():
            assert agent.poll() is None, (name, agent.returncode, agent.stderr.read())
        job = self.job()
        lines = self.machines.lines(job.get("generation", 0))
        return job.get("phase") == "running" and len(self.workers() & {line.pid for line in lines}) == len(NAMES)


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def test_whatever_is_killed_the_job_goes_on_and_ends_well(muster):
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    story = Story(muster, seed)
    for _ in range(KILLS):
        before = len(story.machines.lines())
        story.one_more()
        if story.dice.random() < 0.5:  # else the next one comes into the middle of it
            wait_until(lambda before=before: len(story.machines.lines()) > before or story.is_whole())
    wait_until(story.is_whole)
    (muster.folder / "story.enough").touch()
    for name, agent in story.machines.agents.items():
        assert agent.wait(LIMIT) == 0, (name, agent.stderr.read())
    assert story.job()["verdict"] == "succeeded"
    for generation in {line.generation for line in story.machines.lines()}:
        ranks = [line.rank for line in story.machines.lines(generation)]
        assert len(ranks) == len(set(ranks)), (story.machines.lines()[:20], story.job())
    assert not story.workers()


def test_no_worker_notices_that_the_server_is_killed_again_and_again(muster):
    """Twenty times under twenty agents, and under fifty a hundred times where kills are soaked."""
    count, times = (50, 100) if KILLS > 50 else (20, 20)
    machines = Machines(muster, free_port())
    machines.worker.write_text(WORKER)
    server = start_orchestrator(machines)
    for number in range(count):
        machines.launch(f"m{number}", "--rdzv-conf", "is_host=0", nnodes=str(count))
    machines.until_world(1, count)
    for _ in range(times):
        server.kill()
        server.wait()
        server.stderr.close()
        server = start_orchestrator(machines)
        wait_until(lambda: len(ask(machines, f"/v1/jobs/{machines.job}")[1]["members"]) == count)
    assert len(machines.lines()) == count
    (muster.folder / "story.enough").touch()
    for name, agent in machines.agents.items():
        assert agent.wait(LIMIT) == 0, (name, agent.stderr.read())
