"""How many threads each replica computes with: OMP_NUM_THREADS, from cores, flags and files."""

import os
import pathlib

import pytest



def core_of(cpu):
    topology = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    return topology.read_text() if topology.exists() else cpu


CORES = {core_of(cpu): cpu for cpu in os.sched_getaffinity(0)}  # one of its CPUs for each core
N_CORES = len(CORES)
SHOW = ["--", "sh", "-c", "echo threads ${OMP_NUM_THREADS-none}"]
JOB = """\
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: threads}
spec:
  tfReplicaSpecs:
    Worker:
      template:
        spec:
          containers:
          - name: tensorflow
            image: i
            command: [sh, -c, echo threads $OMP_NUM_THREADS]
            resources: {requests: {cpu: 500m}, limits: {cpu: 3}}
            ENV
"""


@pytest.fixture
def threads(muster):
    """Runs a job; gives what its replicas see, each once."""
    muster.environment.pop("OMP_NUM_THREADS", None)

    def run(*arguments, **options):
        done = muster("run", *arguments, code=0, **options)
        return {line.split()[-1] for line in done.stdout.splitlines() if " threads " in line}
    return run


@pytest.mark.parametrize("workers", [2, N_CORES + 1])
def test_replicas_share_the_cores(threads, workers):
    assert threads("-w", workers, *SHOW) == {str(max(1, N_CORES // workers))}


def test_a_single_replica_has_no_limit(threads):
    assert threads("-w", 1, *SHOW) == {"none"}
    assert threads("-w", 1, "--cpu", 3, *SHOW) == {"3"}


def test_affinity_leaves_fewer_cores(threads):
    one = {min(os.sched_getaffinity(0))}
    assert threads("-w", 2, *SHOW, preexec_fn=lambda: os.sched_setaffinity(0, one)) == {"1"}


def test_a_flag_says_how_many(threads):
    assert threads("-w", 2, "--cpu", 3, *SHOW) == {"3"}
    assert threads("-w", 2, "--cpu", "1500m", *SHOW) == {"1"}


def test_who_sets_it_has_decided(threads):
    assert threads("-w", 2, "--env", "OMP_NUM_THREADS=5", *SHOW) == {"5"}
    assert threads("-w", 2, "--cpu", 3, *SHOW, env={"OMP_NUM_THREADS": "7"}) == {"7"}


@pytest.mark.parametrize("env, expected", [("", "3"), ("env: [{name: OMP_NUM_THREADS, value: '6'}]", "6")])
def test_a_file_says_how_many(threads, tmp_path, env, expected):
    job = tmp_path / "job.yaml"
    job.write_text(JOB.replace("ENV", env))
    assert threads("-f", job) == {expected}


def test_each_is_told_in_the_log(muster):
    done = muster("run", "-w", 2, "--cpu", 2, "--log", "info", "--", "true", code=0, env={"OMP_NUM_THREADS": None})
    assert "worker-1: OMP_NUM_THREADS=2 unless the job sets it" in done.stderr
