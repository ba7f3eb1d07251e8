"""muster launch in a step of a real Slurm: the scripts of docs/slurm.md as printed, and how a job ends."""

import re
import shutil

import pytest
from conftest import ROOT, until

# A stand-in for a script of PyTorch: it trains until a file says that it is enough, saves when it is asked to end, and goes
# on where its checkpoint is. It tells signals by name.
TRAIN = """
import argparse, os, pathlib, signal, sys, time
parser = argparse.ArgumentParser()
parser.add_argument("--checkpoint-dir", default="checkpoints")
folder = pathlib.Path(parser.parse_args().checkpoint_dir)
rank, size = (os.environ[name] for name in ("RANK", "WORLD_SIZE"))
checkpoint = folder / rank

def on_signal(number, frame):
    print(f"rank {rank} got {signal.Signals(number).name}", flush=True)
    if number == signal.SIGTERM:
        folder.mkdir(exist_ok=True)
        checkpoint.write_text("7")
        print(f"rank {rank} saved", flush=True)
        sys.exit(143)

for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, on_signal)
step = checkpoint.read_text() if checkpoint.exists() else "0"
print(f"rank {rank} of {size} trains at step {step}", flush=True)
while not pathlib.Path("enough").exists():
    if pathlib.Path("fail").exists() and rank == "1":
        raise ValueError("shapes do not match")
    time.sleep(0.05)
"""
PLACE = """
import os
names = "RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK GROUP_WORLD_SIZE SLURM_PROCID MASTER_ADDR TORCHELASTIC_RUN_ID"
print("place", *(os.environ[name] for name in names.split()))
"""
SRUN = "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1 --output=%j.out\nsrun muster launch train.py\n"


def script_of(name):
    """A script of docs/slurm.md, by the name of its job."""
    scripts = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "slurm.md").read_text(), re.DOTALL)
    (found,) = (script for script in scripts if f"--job-name={name}\n" in script)
    return found


@pytest.fixture
def train(slurm):
    (slurm.home / "train.py").write_text(TRAIN)


def finish(slurm, number, state="COMPLETED"):
    (slurm.home / "enough").touch()
    slurm.until_state(number, state)
    return slurm.output(number)


def places(text):
    return sorted(line.partition("place ")[2].split() for line in text.splitlines() if "place " in line)


def test_the_tasks_of_a_step_meet_without_an_option(slurm):
    (slurm.home / "place.py").write_text(PLACE)
    said, trouble = slurm.run("srun", "--nodes", "2", "muster", "launch", "--nproc-per-node", "2", "place.py")
    assert [place[:6] for place in places(said)] == [
        ["0", "4", "0", "2", "0", "2"], ["1", "4", "1", "2", "0", "2"], ["2", "4", "0", "2", "1", "2"], ["3", "4", "1", "2", "1", "2"]]
    # Its own name is 127.0.1.1 on the first node, and another address on the others.
    assert {tuple(place[7:]) for place in places(said)} == {("n1", place[8]) for place in places(said)}
    assert re.search(r"muster: Slurm step \d+\.0: 2 tasks on 2 nodes meet at n1 port 2\d{4}; 2 processes per task\n", trouble)
    assert "this machine has ranks 2 to 3 of 4" in trouble
    assert "rank 3 | place" in said


def test_each_of_several_tasks_of_a_node_starts_one_process(slurm):
    (slurm.home / "place.py").write_text(PLACE)
    said = slurm.run("srun", "--nodes", "2", "--ntasks-per-node", "2", "muster", "launch", "place.py")[0]
    assert [place[:7] for place in places(said)] == [
        ["0", "4", "0", "2", "0", "2", "0"], ["1", "4", "1", "2", "0", "2", "1"],
        ["2", "4", "0", "2", "1", "2", "2"], ["3", "4", "1", "2", "1", "2", "3"]]
    said = slurm.run("srun", "--nodes", "2", "--ntasks-per-node", "2", "--distribution", "cyclic", "muster", "launch", "place.py")[0]
    assert [place[:7] for place in places(said)] == [
        ["0", "4", "0", "2", "0", "2", "0"], ["1", "4", "0", "2", "1", "2", "1"],
        ["2", "4", "1", "2", "0", "2", "2"], ["3", "4", "1", "2", "1", "2", "3"]]
    trouble = slurm.run("srun", "--nodes", "1", "--ntasks-per-node", "2", "muster", "launch", "--nproc-per-node", "2", "place.py", code=2)[1]
    assert "has 2 tasks on this node, and each starts one process" in trouble


def test_what_an_option_says_counts(slurm):
    (slurm.home / "place.py").write_text(PLACE)
    alone = slurm.run("srun", "--nodes", "2", "muster", "launch", "--standalone", "place.py")[0]
    assert [place[:2] for place in places(alone)] == [["0", "1"], ["0", "1"]]
    given = slurm.run("srun", "--nodes", "2", "muster", "launch", "--nnodes", "2", "--rdzv-endpoint", "n1:29400", "--rdzv-id", "mine",
                      "--rdzv-backend", "c10d", "place.py")[0]
    assert [(place[0], place[6], place[8]) for place in places(given)] == [("0", "0", "mine"), ("1", "1", "mine")]


def test_a_batch_script_alone_uses_its_node_alone(slurm):
    (slurm.home / "place.py").write_text(PLACE)
    number = slurm.submit(SRUN.replace("srun muster launch train.py", "muster launch place.py"))
    slurm.until_state(number, "COMPLETED")
    said = slurm.output(number)
    assert [place[:2] for place in places(said)] == [["0", "1"]]
    assert "muster: this runs on one of the 2 nodes of the job; on all: srun muster launch ...\n" in said


def test_a_node_whose_name_is_no_host_is_looked_up(slurm):
    (slurm.home / "place.py").write_text(PLACE)
    hosts = "sed /n1/d /etc/hosts >hosts; mount --bind hosts /etc/hosts; exec muster launch place.py"
    said = slurm.run("srun", "--nodes", "2", "--nodelist", "n2,n1", "unshare", "--mount", "sh", "-c", hosts)[0]
    assert [place[:2] for place in places(said)] == [["0", "2"], ["1", "2"]]


def test_the_script_for_pytorch(slurm, train):
    number = slurm.submit(script_of("pytorch"))
    slurm.until_printed(number, "trains at step 0", 2)
    said = finish(slurm, number)
    assert "rank 1 | rank 1 of 2 trains at step 0\n" in said
    assert re.search(r"muster: job \S+ succeeded: 1 worker in", said)


def test_the_script_for_tensorflow(slurm):
    shutil.copy(ROOT / "examples" / "digits" / "train.py", slurm.home)
    number = slurm.submit(script_of("tensorflow"))
    slurm.until_state(number, "COMPLETED")
    said = slurm.output(number)
    assert len(re.findall("test accuracy 0.9", said)) >= 1, said


def test_an_elastic_job_goes_on_without_a_node_that_is_lost(slurm, train):
    number = slurm.submit(script_of("elastic"))
    slurm.until_printed(number, "of 8 trains", 8)
    try:
        slurm.kill("n8")
        slurm.until_printed(number, "of 7 trains", 7)
        slurm.until_down("n8")
        said = finish(slurm, number)
        assert "(a machine was lost)" in said
        assert "rank 6 of 7 trains" in said
    finally:
        slurm.restore("n8")


def test_a_failure_names_the_rank_and_its_error(slurm, train):
    number = slurm.submit(SRUN)
    slurm.until_printed(number, "trains", 2)
    (slurm.home / "fail").touch()
    job = slurm.until_state(number, "FAILED")
    assert job["ExitCode"] == "1:0"
    said = slurm.output(number)
    assert re.search(r"  error +ValueError: shapes do not match\n", said)
    assert re.search(r"  rank +1 of 2\n", said)
    assert len(re.findall("got SIGTERM", said)) == 1


@pytest.mark.parametrize("how", ["scancel", "preemption", "time limit"])
def test_a_job_that_slurm_ends_may_save_and_is_told_once(slurm, train, how):
    number = slurm.submit(SRUN, "--no-requeue")
    slurm.until_printed(number, "trains", 2)
    if how == "scancel":
        slurm.run("scancel", number)
    elif how == "preemption":
        slurm.run("srun", "--partition", "urgent", "--nodes", "8", "--exclusive", "true")
    else:
        slurm.run("scontrol", "update", f"jobid={number}", "timelimit=0:01")
    slurm.until_state(number, "CANCELLED", "PREEMPTED", "TIMEOUT", "FAILED")
    said = until(lambda: slurm.output(number), lambda text: text.count("exit code 143") >= 2)
    for rank in ("0", "1"):
        assert said.count(f"rank {rank} got SIGTERM") == said.count(f"rank {rank} saved") == 1, said
    assert re.search(r"muster: SIGTERM from slurmstepd \(PID \d+\): stopping job '\S+'\n", said)
    assert re.search(r"muster: job \S+ ended after \S+: the job was stopped \(terminated\)\n", said)
    until(slurm.is_empty, bool)


def test_user_signals_reach_each_process_once(slurm, train):
    number = slurm.submit(SRUN)
    slurm.until_printed(number, "trains", 2)
    for name in ("USR1", "USR2"):
        slurm.run("scancel", "--signal", name, number)
        slurm.until_printed(number, f"got SIG{name}", 2)
    said = finish(slurm, number)
    for rank in ("0", "1"):
        assert said.count(f"rank {rank} got SIGUSR1") == said.count(f"rank {rank} got SIGUSR2") == 1, said


@pytest.mark.parametrize("how", ["the time limit is near", "preemption"])
def test_a_requeued_job_goes_on_at_its_checkpoint(slurm, train, how):
    number = slurm.submit(script_of("requeue"))
    slurm.until_printed(number, "trains at step 0", 2)
    if how == "preemption":
        slurm.run("srun", "--partition", "urgent", "--nodes", "8", "--exclusive", "true")
    else:
        slurm.run("scancel", "--batch", "--signal", "USR1", number)
    slurm.until_state(number, "PENDING")
    assert slurm.output(number).count("saved") == 2
    slurm.run("scontrol", "update", f"jobid={number}", "starttime=now")  # Slurm waits for two minutes
    slurm.until_printed(number, "trains at step 7", 2)
    finish(slurm, number)
    assert slurm.job(number)["Restarts"] == "1"


def test_nothing_is_left_after_a_kill(slurm, train):
    number = slurm.submit(SRUN)
    slurm.until_printed(number, "trains", 2)
    slurm.run("scancel", "--full", "--signal", "KILL", number)
    slurm.until_state(number, "FAILED", "CANCELLED")
    until(slurm.is_empty, bool)


def test_status_shows_the_step_and_the_ranks(slurm, train):
    number = slurm.submit(SRUN)
    slurm.until_printed(number, "trains", 2)
    said = slurm.on_node("n2", "muster", "status", f"{number}-0-n2")
    assert said.returncode == 0, said
    assert re.search(r"^Ranks: +1 of 2$", said.stdout, re.MULTILINE), said.stdout
    assert f"{number}.0" in said.stdout and "n2" in said.stdout
    finish(slurm, number)
