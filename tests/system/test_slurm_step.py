"""launch as a task of a Slurm step, whose variables and signals are made here. tests/slurm has the real Slurm."""

import os
import pathlib
import signal
import socket
import subprocess
import sys

import pytest
from conftest import BINARY, read_until

PLACE = "import os; print('place', *(os.environ[name] for name in ('RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'LOCAL_WORLD_SIZE', 'GROUP_RANK')))"
SIGNALLED = """
import signal, sys, time
def on_signal(number, frame):
    print("got", signal.Signals(number).name, flush=True)
    if number == signal.SIGTERM:
        sys.exit(0)
for number in (signal.SIGTERM, signal.SIGUSR1):
    signal.signal(number, on_signal)
print("runs", flush=True)
while True:
    time.sleep(0.05)
"""
# A process whose name is that of Slurm's: it signals the processes that stdin names.
STEPD = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(15, b"slurmstepd", 0, 0, 0)
for line in sys.stdin:
    number, *pids = map(int, line.split())
    for pid in pids:
        os.kill(pid, number)
    print("sent", flush=True)
"""


def task(muster, number, count=2, local_count=1, **variables):
    """The variables of a task of a step on two nodes with this many tasks."""
    node = number // local_count
    tasks = ",".join(str(node * local_count + i) for i in range(local_count))
    return {**muster.environment, "SLURM_JOB_ID": str(os.getpid()), "SLURM_STEP_ID": "0", "SLURM_STEP_NODELIST": "localhost,other",
            "SLURMD_NODENAME": f"n{node}", "SLURM_PROCID": str(number), "SLURM_NODEID": str(node), "SLURM_GTIDS": tasks,
            "SLURM_LOCALID": str(number % local_count), "SLURM_STEP_NUM_TASKS": str(count), "SLURM_STEP_NUM_NODES": "2", **variables}


def launch(muster, environment, *words):
    return subprocess.Popen([BINARY, "launch", *words], env=environment, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, cwd=muster.folder)


@pytest.mark.parametrize("local_count, expected", [
    (1, ["place 0 2 0 1 0", "place 1 2 0 1 1"]),
    (2, ["place 0 4 0 2 0", "place 1 4 1 2 0", "place 2 4 0 2 1", "place 3 4 1 2 1"])])
def test_the_tasks_meet_and_keep_their_order(muster, local_count, expected):
    count = 2 * local_count
    tasks = [launch(muster, task(muster, number, count, local_count), "--no-python", sys.executable, "-c", PLACE)
             for number in reversed(range(count))]
    said = [process.communicate(timeout=600) for process in tasks]
    assert [process.returncode for process in tasks] == [0] * count, said
    assert sorted(line[line.index("place "):] for line, _ in said for line in line.splitlines()) == expected
    first = said[-1][1]
    assert f"muster: Slurm step {os.getpid()}.0: {count} tasks on 2 nodes meet at localhost port 2" in first
    assert not any("Slurm step" in trouble for _, trouble in said[:-1])


def test_a_task_below_a_job_of_muster_is_none(muster):
    inside = task(muster, 1, MUSTER_JOB_NAME="outer")
    with launch(muster, inside, "--no-python", sys.executable, "-c", PLACE) as process:
        assert process.communicate(timeout=600)[0] == "place 0 1 0 1 0\n"


def test_an_unknown_first_node_is_said(muster):
    nowhere = task(muster, 0, SLURM_STEP_NODELIST="nowhere.invalid", PATH="/nonexistent")
    with launch(muster, nowhere, "--no-python", sys.executable, "-c", PLACE) as process:
        trouble = process.communicate(timeout=600)[1]
    assert process.returncode == 2
    assert "cannot resolve host 'nowhere.invalid'" in trouble and "; give one: --rdzv-endpoint\n" in trouble


def test_a_signal_that_slurm_sent_to_all_is_not_repeated(muster):
    alone = task(muster, 0, 1, SLURM_STEP_NUM_NODES="1")
    with subprocess.Popen([sys.executable, "-c", STEPD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stepd, \
            launch(muster, alone, "--no-python", sys.executable, "-u", "-c", SIGNALLED) as process:
        read_until(process.stdout, "runs")
        inner = int(subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True).stdout)
        worker = int(subprocess.run(["pgrep", "-P", str(inner)], capture_output=True, text=True, check=True).stdout)
        for number in (signal.SIGUSR1, signal.SIGTERM):
            stepd.stdin.write(f"{number.value} {worker} {inner} {process.pid}\n")
            stepd.stdin.flush()
            assert stepd.stdout.readline() == "sent\n"
            read_until(process.stdout, f"got {number.name}")
        said, trouble = process.communicate(timeout=600)
        stepd.stdin.close()
    assert "got" not in said
    assert f"muster: SIGTERM from slurmstepd (PID {stepd.pid}): stopping job" in trouble
    assert "passed on" not in trouble


def test_the_address_of_each_node_for_itself_is_no_endpoint(muster):
    """`hostname --ip-address` on Debian, as the sbatch scripts of PyTorch's examples have it."""
    with launch(muster, task(muster, 0, 2), "--nnodes", "2", "--rdzv-endpoint", "127.0.1.1:29500", "--no-python", "true") as process:
        trouble = process.communicate(timeout=600)[1]
    assert process.returncode == 2
    assert "--rdzv-endpoint: 127.0.1.1 is the address of each node for itself; leave the option out, and the step meets at " in trouble


def test_a_step_has_the_nodes_that_the_job_needs(muster):
    with launch(muster, task(muster, 0, 2), "--nnodes", "3", "--no-python", "true") as process:
        trouble = process.communicate(timeout=600)[1]
    assert process.returncode == 2
    assert f"--nnodes: Slurm step {os.getpid()}.0 has 2 nodes, fewer than the job needs; use srun -N" in trouble


def test_who_sent_a_signal_is_named(muster):
    with launch(muster, muster.environment, "--no-python", sys.executable, "-u", "-c", SIGNALLED) as process:
        read_until(process.stdout, "runs")
        process.send_signal(signal.SIGTERM)
        said, trouble = process.communicate(timeout=600)
    name = pathlib.Path(f"/proc/{os.getpid()}/comm").read_text().strip()
    assert said == "got SIGTERM\n"
    assert f"muster: SIGTERM from {name} (PID {os.getpid()}): stopping job" in trouble


def test_the_process_of_a_batch_script_passes_a_signal_on(muster):
    """#SBATCH --signal=B:USR1@60 reaches the script's own process alone, which may have become muster (exec)."""
    batch = {name: value for name, value in task(muster, 0, 1).items() if name != "SLURM_STEP_ID"}
    with subprocess.Popen([sys.executable, "-c", STEPD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stepd, \
            launch(muster, batch, "--no-python", sys.executable, "-u", "-c", SIGNALLED) as process:
        read_until(process.stdout, "runs")
        for number in (signal.SIGUSR1, signal.SIGTERM):
            stepd.stdin.write(f"{number.value} {process.pid}\n")
            stepd.stdin.flush()
            read_until(process.stdout, f"got {number.name}")
        process.communicate(timeout=600)
        stepd.stdin.close()


def test_a_server_that_is_silent_is_named(muster):
    """Its port is known: another program may listen there."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        with launch(muster, muster.environment, "--nnodes", "2", "--rdzv-endpoint", place, "--insecure", "--rdzv-conf", "read_timeout=2",
                    "--no-python", "true") as process:
            trouble = process.communicate(timeout=600)[1]
    assert process.returncode == 3
    name = pathlib.Path(f"/proc/{os.getpid()}/comm").read_text().strip()
    silence = f"{place.replace(':', ' port ')} does not answer (the port belongs to process {os.getpid()} ({name}) of user "
    assert silence in trouble.splitlines()[-1]
