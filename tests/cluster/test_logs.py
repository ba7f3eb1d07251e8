"""Lines of Pods on a real node, each exactly once: while the API server is killed, and to the very last one."""

import subprocess

from conftest import LIMIT, SCRIPT
from test_run import BUSYBOX, left_of, run_in_background


def numbered(how_many, pause_every=1000):
    """A command that counts; it rests now and then so that something can happen to it."""
    return ["sh", "-c", f"i=0; while [ $i -lt {how_many} ]; do echo line $i; i=$((i+1)); "
                        f"[ $((i % {pause_every})) = 0 ] && sleep 0.05; done; true"]


def kill_api_server(cluster):
    subprocess.run([SCRIPT, "kill", "kube-apiserver"], check=True, env=cluster.environment, timeout=LIMIT)


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
    assert left_of(namespace) == []


def test_the_last_line_of_a_container_that_ends_at_once_is_there(muster):
    job = run_in_background(muster, "-w", 4, "--name", "short", *BUSYBOX, "--", *numbered(3_000, 3_001))
    lines = job.stdout.read().splitlines()
    assert job.wait(timeout=LIMIT) == 0
    for index in range(4):
        assert [line for line in lines if line.startswith(f"worker-{index}")] == [
            f"worker-{index} | line {i}" for i in range(3_000)]
