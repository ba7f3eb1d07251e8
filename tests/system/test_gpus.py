"""GPUs that do not exist, dealt out for real: the driver is a stub of NVML, a script called nvidia-smi, or nobody."""

import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import time

import pytest

from conftest import LIMIT, read_line, read_until, replicas
from processes import wait_until_process_is_gone
from test_metrics import ask, connection_to, numbers

STUB = pathlib.Path(__file__).with_name("stub_nvml.c")
SHOW = 'echo "$MUSTER_ROLE-$MUSTER_INDEX sees [${CUDA_VISIBLE_DEVICES-unset}], local rank [$LOCAL_RANK]"'


def make_program(folder, text):
    """An nvidia-smi; gives the PATH with it. Where it is, muster looks for NVML too."""
    folder.mkdir(exist_ok=True)
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def make_library(folder, *definitions):
    folder.mkdir(exist_ok=True)
    library = folder / "libnvidia-ml.so.1"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, *(f"-D{d}" for d in definitions), STUB], check=True)
    return folder


@pytest.fixture
def machine(muster, tmp_path):
    """Makes it a machine with GPUs: as many as NVML tells."""
    for name in "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER":
        muster.environment.pop(name, None)

    def have(gpus=2, *definitions, program="exit 9"):
        library = make_library(tmp_path / "nvml", f"STUB_GPUS={gpus}", *definitions)
        muster.environment.update(LD_LIBRARY_PATH=str(library), PATH=make_program(tmp_path / "bin", program))
        return muster

    return have


def seen(done):
    """What each replica sees, and its LOCAL_RANK."""
    lines = [line.split(" | ")[1] for line in done.stdout.splitlines() if " sees [" in line]
    return {line.split()[0]: line.split("[")[1].split("]")[0] for line in lines}


def show_together(folder, count):
    """SHOW, and nobody ends before all have shown: the end of the workers ends those that serve them."""
    folder.mkdir()
    return f"{SHOW}; : >{folder}/$MUSTER_ROLE-$MUSTER_INDEX; until [ $(ls {folder} | wc -l) = {count} ]; do sleep 0.05; done"


def said(done):
    return [line.removeprefix("muster: ") for line in done.stderr.splitlines()]


def gpus_of(muster, name):
    return {f"{r['role']}-{r['index']}": r.get("gpus") for r in replicas(muster.job(name))}


@pytest.mark.parametrize("options, expected", [
    (("--gpu", 1), "GPUs: worker-0 1"), (("--gpu", 2), "GPUs: worker-0 0,1"), ((), "GPUs: worker-0 1"),
    (("-w", 2), "GPUs: worker-0 0; worker-1 1")])
def test_gpus_that_others_use_come_last(machine, options, expected):
    muster = machine(2, f"STUB_LOADS={os.getpid()}")
    done = muster("run", *options, "--", "true", code=0)
    assert f"{expected}; other processes use 0" in said(done)


def test_replicas_that_train_share_the_gpus_in_order_and_a_ps_gets_none(machine, tmp_path):
    muster = machine(4)
    done = muster("run", "--name", "j", "-w", 2, "--ps", 1, "--", "sh", "-c", show_together(tmp_path / "shown", 3), code=0)
    assert seen(done) == {"worker-0": "GPU-0,GPU-1", "worker-1": "GPU-2,GPU-3", "ps-0": ""}
    assert "GPUs: worker-0 0,1; worker-1 2,3" in said(done)
    assert gpus_of(muster, "j") == {"worker-0": "0,1", "worker-1": "2,3", "ps-0": "none"}
    table = muster("status", "j", code=0).stdout
    assert "GPUS" in table and " 2,3 " in table


def test_local_rank_counts_the_processes_of_the_machine(machine):
    muster = machine(2)
    done = muster("run", "-w", 2, "--", "sh", "-c", SHOW, code=0)
    assert "worker-1 sees [GPU-1], local rank [1]" in done.stdout
    done = muster("run", "-w", 2, "--gpu", "all", "--", "sh", "-c", SHOW, code=0)
    assert "worker-1 sees [unset], local rank [1]" in done.stdout


SCRIPT = """{0}
import os
print("%s-%s sees [%s], local rank [%s]" % tuple(os.environ[name] for name in (
    "MUSTER_ROLE", "MUSTER_INDEX", "CUDA_VISIBLE_DEVICES", "LOCAL_RANK")))
"""
TOLD = "; each sees all of these and chooses by LOCAL_RANK (--visible-gpus replica: only its own)"


@pytest.mark.parametrize("imports,options,has_all", [
    ("try:\n    import numpy as np, torch.nn as nn\nexcept ImportError: pass", (), True),
    ("try:\n    from accelerate import Accelerator\nexcept ImportError: pass", (), True),
    ("try:\n    import torch\n    import tensorflow\nexcept ImportError: pass", (), False),
    ("# import torch", (), False),
    ("", ("--visible-gpus", "job"), True),
    ("try:\n    import torch\nexcept ImportError: pass", ("--visible-gpus", "replica"), False),
])
def test_processes_of_pytorch_see_the_gpus_of_the_job(machine, imports, options, has_all):
    muster = machine(4)
    (muster.folder / "train.py").write_text(SCRIPT.format(imports))
    for command in (("train.py",), ("-m", "train")):
        done = muster("run", "-w", 2, *options, *command, code=0)
        # The first of each comes first: cuda:LOCAL_RANK is its own.
        assert seen(done) == ({"worker-0": "GPU-0,GPU-2,GPU-1,GPU-3", "worker-1": "GPU-0,GPU-2,GPU-1,GPU-3"} if has_all else
                              {"worker-0": "GPU-0,GPU-1", "worker-1": "GPU-2,GPU-3"})
        assert ("GPUs: worker-0 0,1; worker-1 2,3" + (TOLD if has_all else "")) in said(done)
        assert "local rank [1]" in done.stdout


def test_two_jobs_of_pytorch_have_different_gpus(machine, tmp_path):
    muster = machine(4)
    (muster.folder / "train.py").write_text(SCRIPT.format("import sys; sys.modules['torch'] = sys\nimport torch"))
    muster("run", "-d", "--name", "holder", "-w", 2, "--gpu", 1, "--", "sleep", 300, code=0)
    assert seen(muster("run", "-w", 2, "--gpu", 1, "train.py", code=0)) == {"worker-0": "GPU-2,GPU-3", "worker-1": "GPU-2,GPU-3"}
    muster("stop", "holder", code=0)


def test_without_gpus_nothing_changes_and_nothing_is_said(machine):
    muster = machine(0)
    done = muster("run", "--name", "j", "-w", 2, "--ps", 1, "--", "sh", "-c", SHOW, code=0)
    assert set(seen(done).values()) == {"unset"}
    assert len(said(done)) == 1
    assert gpus_of(muster, "j") == {"worker-0": None, "worker-1": None, "ps-0": None}
    assert "GPUS" not in muster("status", "j", code=0).stdout


def test_a_driver_that_hangs_after_its_answer_is_not_waited_for(machine):
    done = machine(2, "STUB_HANGS")("run", "--", "sh", "-c", SHOW, code=0)
    assert seen(done) == {"worker-0": "unset"}
    assert said(done)[0] == "the NVIDIA driver does not answer within 15 s"


@pytest.mark.parametrize("library", ["STUB_FAILS", "STUB_CRASHES"])
def test_a_driver_that_does_not_answer_takes_nothing_along(machine, library):
    muster = machine(2, library)
    done = muster("run", "--", "sh", "-c", SHOW, code=0)
    assert seen(done) == {"worker-0": "unset"}
    assert said(done)[0] == "the NVIDIA driver does not respond; for details: 'nvidia-smi'"
    done = muster("run", "--gpu", "1", "--", "true", code=2)
    assert said(done) == ["the job requests 1 GPU, but the NVIDIA driver does not respond; for details: 'nvidia-smi'; "
                          "to run without them: --gpu none"]
    rows = {row["name"]: row for row in json.loads(muster("doctor", "-o", "json").stdout)["rows"]}
    assert rows["gpu"]["state"] == "warning" and "does not respond" in rows["gpu"]["found"]


def test_without_nvml_the_program_is_asked(machine, tmp_path):
    muster = machine(2)
    (tmp_path / "nvml" / "libnvidia-ml.so.1").write_text("no library")
    make_program(tmp_path / "bin", '[ "$1" = -L ] && echo "GPU 7: Some GPU (UUID: GPU-77aa)"')
    assert "muster: GPUs: worker-0 7\n" in muster("run", "--", "true", code=0).stderr


def test_the_program_is_not_taken_from_the_current_folder(machine, tmp_path):
    muster = machine(2)
    (tmp_path / "nvml" / "libnvidia-ml.so.1").write_text("no library")
    make_program(tmp_path / "bin", 'echo "GPU 7: Some GPU (UUID: GPU-77aa)"')
    make_program(muster.folder, "touch planted; exit 9")
    muster.environment["PATH"] = ":" + muster.environment["PATH"]
    assert "muster: GPUs: worker-0 7\n" in muster("run", "--", "true", code=0).stderr
    assert not (muster.folder / "planted").exists()


def test_of_mig_devices_each_process_gets_one(machine):
    muster = machine(1, "STUB_MIG=3")
    done = muster("run", "-w", 2, "--", "sh", "-c", SHOW, code=0)
    assert seen(done) == {"worker-0": "MIG-0-0", "worker-1": "MIG-0-1"}
    assert "GPUs: worker-0 0:0; worker-1 0:1" in said(done)


def test_cuda_visible_devices_limits_what_is_dealt(machine):
    muster = machine(4)
    run = ["run", "-w", 2, "--", "sh", "-c", SHOW]
    assert seen(muster(*run, env={"CUDA_VISIBLE_DEVICES": "3,1"})) == {"worker-0": "3", "worker-1": "1"}
    assert seen(muster(*run, env={"CUDA_VISIBLE_DEVICES": "GPU-2,0"})) == {"worker-0": "GPU-2", "worker-1": "0"}
    for nothing in "", "-1":
        done = muster(*run, env={"CUDA_VISIBLE_DEVICES": nothing})
        assert seen(done) == {"worker-0": nothing, "worker-1": nothing}
        assert len(said(done)) == 1


def test_without_a_driver_cuda_visible_devices_is_the_list(muster, tmp_path):
    if os.path.exists("/proc/driver/nvidia"):
        pytest.skip("this machine has a driver")
    env = {"CUDA_VISIBLE_DEVICES": "GPU-abc,5", "PATH": "/usr/bin:/bin"}
    done = muster("run", "--name", "j", "-w", 2, "--", "sh", "-c", SHOW, code=0, env=env)
    assert seen(done) == {"worker-0": "GPU-abc", "worker-1": "5"}


def test_too_few_gpus_are_for_none_and_that_is_said(machine, tmp_path):
    muster = machine(2)
    done = muster("run", "-w", 3, "--evaluator", "--", "sh", "-c", SHOW, code=0)
    assert set(seen(done).values()) == {""}
    assert said(done)[0] == ("2 of 2 GPUs are free, fewer than the 3 training replicas: no replica gets a GPU, because "
                             "all must be alike (--gpu all: they share all)")
    done = muster("run", "-d", "--name", "j", "-w", 3, "--", "true", code=0)
    assert said(done)[0].startswith("2 of 2 GPUs are free, fewer than the 3 training replicas")
    done = muster("run", "-w", 2, "--evaluator", "--", "sh", "-c", show_together(tmp_path / "shown", 3), code=0)
    assert seen(done) == {"worker-0": "GPU-0", "worker-1": "GPU-1", "evaluator-0": ""}


def test_more_than_there_are_is_refused_before_anything_starts(machine, tmp_path):
    muster = machine(2)
    for arguments in (["--gpu", 2, "-w", 2], ["--gpus-per-worker", "4"], ["--gpu", 1, "-w", 3, "--dry-run"]):
        done = muster("run", "--name", "j", *arguments, "--", "touch", tmp_path / "started", code=2)
        assert "the job requests" in done.stderr and "but 2 are available" in done.stderr
    muster("status", "j", code=1)
    text = muster("render", "--name", "j", "--gpu", 3, "--", "true", code=0).stdout
    (tmp_path / "job.yaml").write_text(text)
    line = 1 + next(i for i, line in enumerate(text.splitlines()) if "nvidia.com/gpu" in line)
    done = muster("run", "-f", tmp_path / "job.yaml", code=2)
    assert f"job.yaml:{line}:" in done.stderr and "limits[nvidia.com/gpu]: the job requests 3 GPUs" in done.stderr
    muster("run", "-f", tmp_path / "job.yaml", "--gpu", "none", code=0)
    assert not (tmp_path / "started").exists()


def test_the_choice_is_in_the_document(machine, tmp_path):
    muster = machine(3)
    for gpu, expected in ("1", ["GPU-0", "GPU-1"]), ("none", ["", ""]), ("all", ["unset"] * 2):
        text = muster("render", "--gpu", gpu, "-w", 2, "--name", "j", "--", "sh", "-c", SHOW, code=0).stdout
        (tmp_path / "job.yaml").write_text(text)
        done = muster("run", "-f", tmp_path / "job.yaml", "--replace", code=0)
        assert sorted(seen(done).values()) == expected
        assert "no effect" not in done.stderr


@pytest.mark.parametrize("given", [{}, {"CUDA_VISIBLE_DEVICES": "2,0"}])
def test_who_sees_all_gpus_has_the_variable_of_the_caller(machine, given):
    """Numbers, or nothing, as under torchrun: some libraries cannot read others from it."""
    muster = machine(3)
    done = muster("run", "-w", 2, "--gpu", "all", "--", "sh", "-c", SHOW, code=0, env=given)
    assert set(seen(done).values()) == {given.get("CUDA_VISIBLE_DEVICES", "unset")}


def test_what_all_gpus_are_in_pods_has_to_be_said(muster):
    done = muster("run", "--on", "kubernetes", "--gpu", "all", "--dry-run", "--", "true", code=2)
    assert said(done) == ["--gpu all: not available with --on kubernetes; give the number of GPUs per Pod"]
    done = muster("run", "--on", "kubernetes", "--gpu", "none", "--dry-run", "--image", "i", "--", "true", code=0)
    assert 'nvidia.com/gpu: "0"' in done.stdout


def test_a_variable_of_the_job_itself_wins_and_that_is_said(machine):
    muster = machine(2)
    done = muster("run", "--name", "j", "--env", "CUDA_VISIBLE_DEVICES=1", "--", "sh", "-c", SHOW, code=0)
    assert seen(done) == {"worker-0": "1"}
    assert said(done)[0] == "worker uses the GPUs in the job's own CUDA_VISIBLE_DEVICES"
    assert gpus_of(muster, "j") == {"worker-0": None}


def test_two_jobs_at_once_do_not_take_the_same(machine):
    muster = machine(2)
    muster.detach("--name", "a", "--gpu", 1, "--", "sleep", 1000)
    muster.until_running("a", 1)
    muster.detach("--name", "b", "--", "sleep", 1000)
    muster.until_running("b", 1)
    assert gpus_of(muster, "a") == {"worker-0": "0"} and gpus_of(muster, "b") == {"worker-0": "1"}
    rows = {row["name"]: row["found"] for row in json.loads(muster("doctor", "-o", "json").stdout)["rows"]}
    assert rows["gpus in use"] == "job 'a' holds 0; job 'b' holds 1"
    assert rows["gpu"].endswith(": 0,1 Stub 40") or "does not use them" in rows["gpu"]

    done = muster("run", "--name", "c", "--gpu", 1, "--", "true", code=125)
    assert said(done) == ["the job requests 1 GPU, but 0 of 2 are free (job 'a' holds 0; job 'b' holds 1); wait for a "
                          "job to end (muster wait JOB, or run --wait-for-gpu), or run without them (--gpu none)"]
    muster("status", "c", code=1)
    done = muster("run", "--name", "c", "--", "sh", "-c", SHOW, code=0)
    assert seen(done) == {"worker-0": ""}
    assert said(done)[0] == "0 of 2 GPUs are free (job 'a' holds 0; job 'b' holds 1): the job runs without GPUs (to wait for one: --wait-for-gpu)"
    muster("stop", "--grace", 0, "a", code=0)
    done = muster("run", "--replace", "--name", "c", "--gpu", 1, "--", "sh", "-c", SHOW, code=0)
    assert seen(done) == {"worker-0": "GPU-0"}


def test_many_jobs_at_once_never_share_a_gpu(machine, tmp_path):
    muster = machine(2)
    script = f'cd {tmp_path} && mkdir "held-$CUDA_VISIBLE_DEVICES" && rmdir "held-$CUDA_VISIBLE_DEVICES"'
    for _ in range(4):
        jobs = [muster.start("run", "--gpu", 1, "--", "sh", "-c", script) for _ in range(5)]
        codes = [job.wait() for job in jobs]
        assert set(codes) <= {0, 125} and 0 in codes, [job.stderr.read() for job in jobs]


def test_a_restart_gives_the_same_again(machine, tmp_path):
    muster = machine(4)
    script = f'{SHOW}; mkdir {tmp_path}/$MUSTER_INDEX && exit 1; exit 0'
    done = muster("run", "-w", 2, "--ps", 1, "--max-restarts", 5, "--gpu", 1, "--", "sh", "-c", script, code=0)
    lines = [line.split(" | ")[1] for line in done.stdout.splitlines() if "worker-1 sees" in line]
    assert len(lines) >= 2 and set(lines) == {"worker-1 sees [GPU-1], local rank [1]"}


def supervisor_of(muster, name):
    store = sqlite3.connect(muster.state / "muster" / "muster.db")
    (text,) = store.execute("SELECT supervisor FROM jobs WHERE name = ?", (name,)).fetchone()
    store.close()
    return json.loads(text or "null")


def test_gpus_of_a_job_whose_supervisor_was_killed_are_free_again(machine):
    muster = machine(2)
    muster.detach("--name", "a", "--gpu", "all", "--", "sleep", 1000)
    muster.until_running("a", 1)
    supervisor = supervisor_of(muster, "a")
    for who in "outer", "inner":
        os.kill(supervisor[who]["pid"], signal.SIGKILL)
    for who in "outer", "inner":
        assert wait_until_process_is_gone(supervisor[who]["pid"])
    assert "muster: GPUs: worker-0 0,1\n" in muster("run", "--gpu", 2, "--", "true", code=0).stderr


def run_when_free(muster, *arguments):
    """What a job gives back is free in the pass behind the status that says so."""
    while (done := muster("run", *arguments)).returncode == 125:
        assert "are free" in done.stderr
    return done


def test_a_worker_that_comes_gets_a_free_one_and_one_that_goes_gives_it_back(machine):
    muster = machine(3)
    muster.detach("--name", "a", "-w", 1, "--ps", 1, "--gpu", 1, "--", "sleep", 1000)
    muster.until_running("a", 2)
    muster("scale", "a", "worker=3", code=0)
    muster.until_running("a", 4)
    assert gpus_of(muster, "a") == {"worker-0": "0", "worker-1": "1", "worker-2": "2", "ps-0": "none"}
    muster("scale", "a", "worker=1", code=0)
    muster.until("a", lambda job: [r["state"] for r in replicas(job)].count("Stopped") == 2)
    done = run_when_free(muster, "--gpu", 1, "--", "sh", "-c", SHOW)
    assert seen(done)["worker-0"] in ("GPU-1", "GPU-2")


def test_a_job_is_not_scaled_beyond_the_gpus_that_its_replicas_need(machine):
    muster = machine(2)
    muster.detach("--name", "a", "-w", 1, "--gpu", 1, "--", "sleep", 1000)
    muster.until_running("a", 1)
    done = muster("scale", "a", "worker=3", code=1)
    assert "the job requests 3 GPUs, but 2 are available" in done.stderr
    muster.detach("--name", "b", "--gpu", 1, "--", "sleep", 1000)
    muster.until_running("b", 1)
    done = muster("scale", "a", "worker=2", code=1)
    assert "the job requests 2 GPUs, but 1 of 2 is free (job 'b' holds 1)" in done.stderr
    assert len(replicas(muster.job("a"))) == 1
    muster("stop", "--grace", 0, "b", code=0)
    muster("scale", "a", "worker=2", code=0)
    muster.until_running("a", 2)


def test_a_synchronous_job_in_another_size_shares_equally_again(machine):
    muster = machine(4)
    muster.detach("--name", "a", "-w", 2, "--grace", "0", "--", "sleep", 1000)
    muster.until_running("a", 2)
    assert gpus_of(muster, "a") == {"worker-0": "0,1", "worker-1": "2,3"}
    muster("scale", "a", "worker=4", code=0)
    muster.until_running("a", 4)
    assert gpus_of(muster, "a") == {f"worker-{i}": str(i) for i in range(4)}


def test_a_suspended_job_gives_its_gpus_back_and_is_resumed_when_it_gets_some(machine):
    muster = machine(1)
    muster.detach("--name", "a", "--gpu", 1, "--grace", "0", "--", "sleep", 1000)
    muster.until_running("a", 1)
    muster("suspend", "a", code=0)
    muster.until("a", lambda job: [r["state"] for r in replicas(job)] == ["Stopped"])
    run_when_free(muster, "-d", "--name", "b", "--gpu", 1, "--", "sleep", 1000)
    done = muster("resume", "a", code=1)
    assert "the job requests 1 GPU, but 0 of 1 are free (job 'b' holds 0)" in done.stderr
    muster("stop", "--grace", 0, "b", code=0)
    muster("resume", "a", code=0)
    muster.until_running("a", 1)
    assert gpus_of(muster, "a") == {"worker-0": "0"}


def test_gpus_of_a_job_that_is_gone_are_free_again(machine):
    muster = machine(2)
    muster("run", "--name", "first", "-w", 2, "--", "true", code=0)
    with sqlite3.connect(muster.state / "muster" / "muster.db") as store:
        store.execute("INSERT INTO claims (kind, number, owner) VALUES ('gpu', 0, 'of-nobody')")
    assert "job 'of-nobody' holds 0" in muster("doctor").stdout
    done = muster("run", "--name", "second", "-w", 2, "--gpu", 1, "--", "sh", "-c", SHOW, code=0)
    assert seen(done) == {"worker-0": "GPU-0", "worker-1": "GPU-1"}


def test_launch_beside_a_job_that_holds_gpus_says_who_uses_them(machine):
    """As under torchrun it runs: several agents on one machine are how people try it."""
    muster = machine(4)
    muster("run", "-d", "--name", "holder", "-w", 2, "--gpu", 1, "--", "sleep", 300, code=0)
    done = muster("launch", "--standalone", "--nproc-per-node", 2, "--no-python", "sh", "-c", SHOW, code=0)
    assert seen(done) == {"worker-0": "unset", "worker-1": "unset"}
    assert done.stderr.count("GPU") == 1
    assert ("muster: the processes see all 4 GPUs, but 2 are in use (job 'holder' holds 0,1); to choose others: "
            "CUDA_VISIBLE_DEVICES\n") in done.stderr
    muster.environment["CUDA_VISIBLE_DEVICES"] = "2,3"
    done = muster("launch", "--standalone", "--nproc-per-node", 2, "--no-python", "sh", "-c", SHOW, code=0)
    assert "in use" not in done.stderr
    muster("stop", "holder", code=0)


def test_the_status_shows_what_the_gpus_of_a_job_do(machine):
    muster = machine(3, f"STUB_LOADS={os.getpid()}")
    muster("run", "-d", "--name", "a", "-w", 2, "--gpu", 1, "--", "sleep", 1000, code=0, env={"CUDA_VISIBLE_DEVICES": "0,1"})
    muster.until_running("a", 2)
    lines = [line.split("   ") for line in muster("status", "a", code=0).stdout.splitlines()]
    rows = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    start = rows.index(["GPU", "USED BY", "BUSY", "MEMORY", "TEMPERATURE", "POWER", "PROCESSES"])
    name = pathlib.Path("/proc/self/comm").read_text().strip()
    assert rows[start + 1] == ["0", "worker-0", "93%", "12288Mi of 40960Mi", "65 C", "250 W",
                               f"{name} ({os.getpid()}) 12000Mi, another (999999999)"]
    assert rows[start + 2] == ["1", "worker-1", "-", "0Mi of 40960Mi", "-", "-", "-"]
    assert rows[start + 3] == []
    shown = muster("ps", "-o", "wide", code=0).stdout
    assert "   0 (93%, 12288Mi, 65 C, 250 W), 1 (0Mi)   " in shown and "   GPUS   " in shown
    muster("stop", "--grace", 0, "a", code=0)
    assert "USED BY" not in muster("status", "a", code=0).stdout


def test_a_status_needs_no_driver_that_answers(machine, tmp_path):
    muster = machine(2)
    muster.detach("--name", "a", "--gpu", 1, "--", "sleep", 1000)
    muster.until_running("a", 1)
    for definition in ("STUB_FAILS", "STUB_CRASHES"):
        make_library(tmp_path / "nvml", "STUB_GPUS=2", definition)
        assert "State:      Running" in muster("status", "a", code=0).stdout


RUNS = ["--", "sh", "-c", "echo runs; exec sleep 1000"]


def test_the_metrics_show_what_the_gpus_of_a_job_do(machine):
    muster = machine(3, f"STUB_LOADS={os.getpid()}")
    job = muster.start("run", "--metrics-listen", "127.0.0.1:0", "--name", "a", "-w", 2, "--gpu", 1, *RUNS,
                       env={"CUDA_VISIBLE_DEVICES": "0,1"})
    connection = connection_to(read_line(job.stderr))
    read_until(job.stdout, "runs")
    muster.until_running("a", 2)
    labels = 'job="a",role="worker",index="{0}",gpu="{0}"'
    over = time.monotonic() + LIMIT
    while "muster_gpu" not in (text := ask(connection)[1]):
        assert time.monotonic() < over, text
        time.sleep(0.1)
    values = numbers(text)
    assert {name: values[f"muster_gpu_{name}{{{labels.format(0)}}}"] for name in (
        "busy_ratio", "memory_used_bytes", "memory_bytes", "temperature_celsius", "power_watts")} == {
        "busy_ratio": 0.93, "memory_used_bytes": 12288 << 20, "memory_bytes": 40960 << 20, "temperature_celsius": 65,
        "power_watts": 250.4}
    assert f"muster_gpu_busy_ratio{{{labels.format(1)}}}" not in values
    assert values[f"muster_gpu_memory_bytes{{{labels.format(1)}}}"] == 40960 << 20
    job.send_signal(signal.SIGTERM)
    assert job.wait(LIMIT) == 143


@pytest.mark.parametrize("definition", ["STUB_FAILS", "STUB_CRASHES"])
def test_metrics_need_no_driver_that_answers(machine, tmp_path, definition):
    muster = machine(2)
    job = muster.start("run", "--metrics-listen", "127.0.0.1:0", "--name", "a", "--gpu", 1, *RUNS)
    connection = connection_to(read_line(job.stderr))
    read_until(job.stdout, "runs")
    muster.until_running("a", 1)
    make_library(tmp_path / "nvml", "STUB_GPUS=2", definition)
    for _ in range(5):
        status, text = ask(connection)
        assert status == 200 and "muster_job_replicas" in text and "muster_gpu" not in text
    muster("stop", "--grace", 0, "a", code=0)
    job.communicate(timeout=LIMIT)
