"""Lines of Pods on a real node, each exactly once: while the API server is killed, and to the very last one."""

import subprocess

import pytest

from conftest import LIMIT, SCRIPT
from test_run import BUSYBOX, left_of, run_in_background


def numbered(how_many, pause_every=1000):
    """A command that counts; it rests now and then so that something can happen to it."""
    return ["sh", "-c", f"i=0; while [ $i -lt {how_many} ]; do echo line $i; i=$((i+1)); "
                        f"[ $((i % {pause_every})) = 0 ] && sleep 0.05; done; true"]


def kill_api_server(cluster):
    subprocess.run([SCRIPT, "kill", "kube-apiserver"], check=True, env=cluster.environment, timeout=LIMIT)


@pytest.mark.disturbs
def test_each_of_100_000_lines_comes_once_while_the_api_server_is_killed(cluster, muster, namespace):
    job = run_in_background(muster, "--name", "count", *BUSYBOX, "--", *numbered(100_000))
    lines = []
    for line in job.stdout:
        lines.append(line)
        if len(lines) in (5_000, 40_000, 70_000):
            kill_api_server(cluster)
    assert job.wait(timeout=LIMIT) == 0, job.stderr.read()
    assert lines == [f"worker-0 | line {i}\n" for i in range(100_000)]
    assert muster("logs", "--prefix=false", "count", code=0).stdout == "".join(f"line {i}\n" for i in range(100_000))
    cluster.until_it_answers()
    assert left_of(namespace) == []


def test_the_last_line_of_a_container_that_ends_at_once_is_there(muster):
    job = run_in_background(muster, "-w", 4, "--name", "short", *BUSYBOX, "--", *numbered(3_000, 3_001))
    lines = job.stdout.read().splitlines()
    assert job.wait(timeout=LIMIT) == 0
    for index in range(4):
        assert [line for line in lines if line.startswith(f"worker-{index}")] == [
            f"worker-{index} | line {i}" for i in range(3_000)]


def other_machine(muster):
    """The options of a muster that knows nothing of what happened here."""
    return ["--state-dir", str(muster.folder / "elsewhere")]


def test_logs_of_a_job_that_another_machine_watches_come_from_its_pods(muster, namespace):
    job = run_in_background(muster, "-w", 2, "--name", "far", *BUSYBOX, "--",
                            "sh", "-c", "trap 'echo bye; exit 0' USR1; echo I am $HOSTNAME; echo warning: rain; "
                            "while :; do sleep 0.1; done")
    for _ in range(4):
        job.stdout.readline()
    there = ["logs", *other_machine(muster)]
    assert sorted(muster(*there, "far", code=0).stdout.splitlines()) == [
        "worker-0 | I am far-worker-0", "worker-0 | warning: rain",
        "worker-1 | I am far-worker-1", "worker-1 | warning: rain"]
    name = f"kubernetes/{namespace.name}/far"
    assert muster(*there, "--role", "worker", "--index", 1, "--tail", 1, name, code=0).stdout == "worker-1 | warning: rain\n"
    assert muster(*there, "--index", 0, "--grep", "am", "far", code=0).stdout == "worker-0 | I am far-worker-0\n"
    assert "has no log of worker-7" in muster(*there, "--index", 7, "--role", "worker", "far", code=1).stderr
    follow = muster.start(*there, "-f", "--tail", 1, "far")
    assert sorted(follow.stdout.readline() for _ in range(2)) == ["worker-0 | warning: rain\n", "worker-1 | warning: rain\n"]
    for index in range(2):
        namespace.end_by(f"far-worker-{index}", "kill", "-USR1", "1")
    assert sorted(follow.stdout.read().splitlines()) == ["worker-0 | bye", "worker-1 | bye"]
    assert follow.wait(timeout=LIMIT) == 0
    assert job.wait(timeout=LIMIT) == 0
    assert muster("logs", "--index", 1, "far", code=0).stdout.splitlines()[-1] == "worker-1 | bye"
