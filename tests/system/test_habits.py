"""Habits of the hand: what people write who come from kubectl, docker, Slurm, mpirun or torchrun.

A word of theirs that muster does not have, or means otherwise, is answered with muster's own; nothing starts.
"""

import contextlib
import os
import pty
import re
import subprocess
import sys

import pytest

from conftest import BINARY, read_line, read_until

WORKERS = "use -w N for the number of workers"
TAIL = "use --tail N for the last N lines"
GRACE = "use --grace 10s for the time between SIGTERM and SIGKILL"


@pytest.mark.parametrize("call, answer", [
    ("run -n 4 -- true", f"-n 4: -n is --namespace; {WORKERS}"),
    ("run -n4 -- true", f"-n 4: -n is --namespace; {WORKERS}"),
    ("run -dn 4 -- true", f"-n 4: -n is --namespace; {WORKERS}"),
    ("run -np 4 -- true", f"-np: no such option; {WORKERS}"),
    ("run -N 2 -- true", f"-N: no such option; {WORKERS}"),
    ("run -N2 -- true", f"-N: no such option; {WORKERS}"),
    ("run --nnodes=2 -- true", f"--nnodes: no such option; {WORKERS} on this machine; to train on several machines: 'muster launch'"),
    ("run --nproc-per-node 2 -- true", f"--nproc-per-node: no such option; {WORKERS}"),
    ("run --nproc_per_node 2 -- true", f"--nproc_per_node: no such option; {WORKERS}"),
    ("run --ntasks 2 -- true", f"--ntasks: no such option; {WORKERS}"),
    ("run --rdzv-endpoint host:1 -- true", "--rdzv-endpoint: no such option; not needed"),
    ("run --standalone -- true", "--standalone: no such option; not needed"),
    ("run --epochs 3 train.py", "--epochs: no such option of muster run; an option of your program goes after its name"),
    ("run --dependency job -- true", "--dependency: no such option; use --after JOB"),
    ("run --queue gpu -- true", "--queue: no such option; use --wait-for-gpu"),
    ("launch --after job -- true", "--after: no such option; muster has no queue for it: muster wait JOB"),
    ("run --retry 3 -- true", "--retry: no such option; use --max-restarts N"),
    ("run --cwd /tmp -- true", "--cwd: no such option; processes start in the current directory"),
    ("launch --num_processes 2 x.py", "--num_processes: no such option; use --nproc-per-node N"),
    ("launch --main_process_port 1 x.py", "--main_process_port: no such option; use --master-port PORT"),
    ("probe grpc://localhost:2222", "unexpected argument 'grpc://localhost:2222'; name servers with --servers grpc://HOST:PORT"),
    ("run -J job -- true", "-J: no such option; use --name NAME"),
    ("run -t 30 -- true", "-t: no such option; use --timeout 30m"),
    ("run --restart=Never -- true", "--restart: no such option; use --max-restarts N"),
    ("run -x A=b -- true", "-x: no such option; use -e NAME=VALUE"),
    ("run --rm -it -- true", "-it: no such option; use --stdin worker-0 to pass what you type to worker-0"),
    ("run --rm -it -- true", "-it: no such option; use --stdin worker-0"),
    ("run --verbose -- true", "--verbose: no such option; use -v"),
    ("render -n 4 -- true", f"-n 4: -n is --namespace; {WORKERS}"),
    ("check --num-workers 4", f"--num-workers: no such option; {WORKERS}"),
    ("logs -n 10 job", f"-n 10: -n is --namespace; {TAIL}"),
    ("logs -n10 job", f"-n 10: -n is --namespace; {TAIL}"),
    ("logs --lines 10 job", f"--lines: no such option; {TAIL}"),
    ("logs -F job", "-F: no such option; use -f"),
    ("logs --no-color job", "--no-color: no such option; use --color never"),
    ("ps -q", "-q: no such option; use -o name"),
    ("ps job", "unexpected argument 'job'; to show one job: 'muster status JOB'"),
    ("ps -n 10", "-n 10: -n is --namespace; use --last N for the newest jobs"),
    ("ps -l", "-l: no such option; use -a --last 1 for the newest job"),
    ("run -c 2 -- true", "-c: no such option; use --cpu N for the cores of each replica"),
    ("run --gpus all -- true", "--gpus: no such option; use --gpu N, or --gpu all"),
    ("run --tee 3 -- true", "--tee: no such option; not needed: muster run starts one process"),
    ("run --mail-type END -- true", "--mail-type: no such option; use --notify COMMAND"),
    ("run --main_process_port 1 -- true", "--main_process_port: no such option; not needed"),
    ("stop --all", "--all: no such option; name the jobs: muster stop $(muster ps -o name)"),
    ("stop -t 10 job", f"-t: no such option; {GRACE}"),
    ("stop --grace-period=10 job", f"--grace-period: no such option; {GRACE}"),
    ("stop --force job", "--force: no such option; use --now to kill immediately"),
    ("run -s USR1 -- true", "-s: no such option; use --stop-signal SIGNAL"),
    ("delete --force job", "--force: no such option; not needed"),
    ("delete --all", "--all: no such option; use --all-finished"),
    ("wait --for=condition=Complete job", "--for: no such option; wait ends when the job ends"),
    ("scale --replicas 3 job", "--replicas: no such option; write worker=N after the job"),
    ("cp -r a job:worker-0:/b", "-r: no such option; not needed"),
    ("tensorboard --bind_all job", "--bind_all: no such option; write --host 0.0.0.0"),
])
def test_an_option_of_another_program_is_answered_with_the_right_one(muster, call, answer):
    done = muster(*call.split(), code=2)
    assert f"muster {call.split()[0]}: {answer}" in done.stderr
    assert done.stdout == ""
    assert muster("ps", "-a", "-o", "name", code=0).stdout == ""


def test_only_what_is_wrong_is_told(muster):
    """The value of an unknown option is no argument too many."""
    done = muster("logs", "--lines", "10", "--since-time", "1h", "job", code=2)
    assert len(done.stderr.splitlines()) == 3


def test_a_namespace_whose_name_is_a_number_has_its_long_option(muster):
    assert "namespace: \"4\"" in muster("render", "--namespace", "4", "--", "true", code=0).stdout


@pytest.mark.parametrize("call, meant", [
    ("list", "ps"), ("ls", "ps"), ("get", "ps"), ("squeue", "ps"),
    ("rm job", "delete"), ("prune", "delete"),
    ("cancel job", "stop"), ("scancel job", "stop"), ("kill job", "stop"), ("down", "stop"),
    ("start job", "run"), ("up", "run"), ("sbatch x", "run"), ("apply -f job.yaml", "run"),
    ("describe job", "status"), ("inspect job", "status"), ("log job", "logs"), ("top", "ps -w"),
    ("pause job", "suspend"), ("ssh job", "exec"), ("copy a b", "cp"), ("config", "render"),
    ("train.py", "run train.py"), ("job.yaml", "run -f job.yaml"),
])
def test_a_command_of_another_program_is_answered_with_the_right_one(muster, call, meant):
    done = muster(*call.split(), code=2)
    assert done.stderr.splitlines()[0] == f"muster: unknown command '{call.split()[0]}'; did you mean 'muster {meant}'?"
    assert muster("help", call.split()[0], code=2).stderr == done.stderr


def test_options_before_the_command_are_told_where_they_stand(muster):
    assert "put options after the command: muster run -w ..." in muster("-w", "2", "train.py", code=2).stderr


def test_options_of_a_cluster_do_not_start_a_job_here(muster):
    done = muster("run", "-n", "research", "--context", "prod", "--", "true", code=2)
    assert done.stderr.splitlines() == [
        "muster: --namespace: needs --on kubernetes",
        "muster: --context: needs --on kubernetes",
    ]
    assert muster("ps", "-a", "-o", "name", code=0).stdout == ""


@pytest.mark.parametrize("call, env", [
    ("run --timeout 30 -- true", {}), ("run --grace 30 -- true", {}), ("stop --grace 30 job", {}),
    ("wait --timeout 30 job", {}), ("probe --servers a:1 --timeout 30", {}), ("ps --request-timeout 30", {}),
    ("run -- true", {"MUSTER_TIMEOUT": "30"}),
])
def test_a_time_without_a_unit_is_asked_for_one(muster, call, env):
    assert "'30' has no unit; did you mean 30s or 30m?" in muster(*call.split(), code=2, env=env).stderr


def test_memory_without_a_unit_is_asked_for_one(muster):
    done = muster("render", "--memory", "4", "--", "true", code=2)
    assert done.stderr == ("muster: --memory: '4' is too small (the unit is bytes); "
                           "did you mean '4Gi'?\n")


def test_a_file_of_a_job_is_no_program(muster):
    (muster.folder / "job.yaml").write_text("kind: TFJob\n")
    assert muster("run", "job.yaml", code=2).stderr == "muster: 'job.yaml' is not a program; did you mean -f job.yaml?\n"


def test_a_name_that_is_taken_says_what_frees_it(muster):
    muster("run", "--name", "job", "--", "true", code=0)
    done = muster("run", "--name", "job", "--", "true", code=2)
    assert "job 'job' already exists and has ended; use --replace to replace it" in done.stderr
    muster("run", "--replace", "--name", "job", "--", "true", code=0)
    muster.detach("--replace", "--name", "job", "--", "sleep", "1000")
    done = muster("run", "--name", "job", "--", "true", code=2)
    assert "job 'job' already exists and has not ended; choose another --name, or stop it: muster stop job" in done.stderr


@pytest.mark.parametrize("command, name", [("check", "--servers"), ("check", "--server"), ("probe", "--servers"),
                                           ("probe", "--server")])
def test_servers_are_named_alike_everywhere(muster, command, name):
    arguments = ["remote"] if command == "check" else []
    done = muster(command, *arguments, name, "grpc://a", code=2)
    assert "'grpc://a' is not an address like grpc://host:2222" in done.stderr
    assert len([line for line in muster(command, "--help", code=0).stdout.splitlines() if "--server" in line
                and line.startswith("      --")]) == 1


def test_a_virtual_environment_that_is_not_there_is_told(muster):
    (muster.folder / "say.py").write_text("print('hello')\n")
    done = muster("run", "say.py", code=0, env={"VIRTUAL_ENV": "/nonexistent"})
    assert "VIRTUAL_ENV is '/nonexistent', which has no bin/python; using python3 from PATH" in done.stderr
    path = f"{sys.prefix}/bin:{os.environ['PATH']}"
    assert "VIRTUAL_ENV" not in muster("run", "say.py", code=0, env={"VIRTUAL_ENV": sys.prefix, "PATH": path}).stderr


def make_python(folder):
    """A Python that says where it is."""
    folder.mkdir(parents=True)
    python = folder / "python"
    python.write_text(f"#!/bin/sh\necho of {folder.parent.name}\n")
    python.chmod(0o755)
    return python


def test_another_python_in_path_than_that_of_the_environment_is_told(muster, tmp_path):
    (muster.folder / "say.py").write_text("")
    python, other = make_python(tmp_path / "env/bin"), make_python(tmp_path / "conda/bin")
    done = muster("run", "say.py", code=0, env={"VIRTUAL_ENV": tmp_path / "env", "PATH": f"{other.parent}:{os.environ['PATH']}"})
    assert f"using {python}; 'python' in PATH is {other}\n" in done.stderr
    assert "worker-0 | of env\n" in done.stdout


def test_a_muster_in_an_environment_means_the_python_there(muster, tmp_path):
    """As pip's other programs do: cron, and `ssh HOST COMMAND`, activate none."""
    (muster.folder / "say.py").write_text("")
    make_python(tmp_path / "env/bin")
    (tmp_path / "env/pyvenv.cfg").write_text("")
    (tmp_path / "env/bin/muster").symlink_to(BINARY)
    other = make_python(tmp_path / "other/bin")
    muster.environment.update(VIRTUAL_ENV="", PATH=str(other.parent))
    muster.environment.pop("CONDA_PREFIX", None)
    named = [tmp_path / "env/bin/muster"]
    for program, path, python in ((named, None, "env"), (["muster"], f"{tmp_path}/env/bin:", "env"), ([BINARY], None, "other")):
        env = {**muster.environment, "PATH": (path or "") + muster.environment["PATH"]}
        done = subprocess.run([*program, "run", "say.py"], env=env, cwd=muster.folder, capture_output=True, text=True, check=False)
        assert (done.stdout, done.returncode) == (f"worker-0 | of {python}\n", 0), done.stderr


def test_an_environment_beside_the_script_or_here_is_used(muster, tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project/say.py").write_text("")
    make_python(tmp_path / ".venv/bin")
    none = {"VIRTUAL_ENV": None, "CONDA_PREFIX": None, "PYTHON_EXEC": None}
    done = muster("run", "project/say.py", code=0, env=none, cwd=tmp_path)
    assert ("using .venv/bin/python\n" in done.stderr, done.stdout) == (True, "worker-0 | of .venv\n")
    make_python(tmp_path / "project/.venv/bin")
    assert "using project/.venv/bin/python\n" in muster("run", "project/say.py", code=0, env=none, cwd=tmp_path).stderr
    python = make_python(tmp_path / "env/bin")
    for name, value in (("VIRTUAL_ENV", tmp_path / "env"), ("CONDA_PREFIX", tmp_path / "env"), ("PYTHON_EXEC", python)):
        assert ".venv" not in muster("run", "project/say.py", code=0, env={**none, name: value}, cwd=tmp_path).stderr


def test_a_variable_without_a_value_is_that_of_the_shell(muster):
    (muster.folder / "job.env").write_text("OF_FILE\nNOT_SET\n")
    done = muster("run", "-q", "-e", "OF_SHELL", "-e", "NEITHER", "--env-file", "job.env", "--name", "job", "--",
                  "sh", "-c", "echo $OF_SHELL,$OF_FILE", code=0, env={"OF_SHELL": "a b=c", "OF_FILE": "d"})
    assert muster("logs", "--no-prefix", "job", code=0).stdout == "a b=c,d\n"
    env = muster.job("job")["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["env"]
    assert env == [{"name": "OF_FILE", "value": "d"}, {"name": "OF_SHELL", "value": "a b=c"}]
    said = done.stderr.splitlines()
    assert "muster: --env NEITHER: ignored, because the variable is not set in this shell; to set it: NEITHER=VALUE" in said
    assert "muster: --env NOT_SET: ignored, because the variable is not set in this shell; to set it: NOT_SET=VALUE" in said


def test_every_mistake_of_every_list_is_told_at_once(muster):
    (muster.folder / "job.env").write_text("A=1\nb c=2\n=3\n")
    done = muster("render", "--as", "pods", "--name", "A b", "-e", "1 2", "-e", "A=1", "-e", "=3", "--env-file", "job.env",
                  "--env-file", "no.env", "--volume", "a", "--volume", "b", "--node-selector", "c", "--node-selector", "d",
                  "--toleration", "e:f", "--toleration", "g:h", "--fetch", "i", "--fetch", "worker-0:/j:/no/k",
                  "--gpu", "many", "--memory", "4", "--cpu", "l", "nothing.py", code=2)
    beginnings = ["--name: 'A b'", "--env-file: job.env:2: 'b c'", "--env-file: job.env:3: ''", "--env-file: no.env",
                  "--env: '1 2'", "--env: ''", "nothing.py: no such file", "--cpu: 'l'", "--memory: '4'", "--gpu: 'many'",
                  "--node-selector: 'c'", "--node-selector: 'd'", "--toleration: 'e:f'", "--toleration: 'g:h'",
                  "--volume: 'a'", "--volume: 'b'", "--fetch i", "--fetch worker-0:/j:/no/k"]
    said = done.stderr.splitlines()
    assert len(said) == len(beginnings)
    for line, beginning in zip(said, beginnings):
        assert line.startswith(f"muster: {beginning}")


def test_all_that_a_file_does_not_go_with_is_told(muster):
    (muster.folder / "job.yaml").write_text("kind: TFJob\n")
    done = muster("run", "-f", "job.yaml", "-w", "2", "--ps", "1", "-e", "1 2", "train.py", code=2)
    said = done.stderr
    assert all(part in said for part in ("--workers: cannot be used", "--ps: cannot be used", "--env: '1 2'",
                                         "'train.py': cannot be used"))


def test_all_counts_that_are_wrong_are_told(muster):
    name = muster.detach("--", "sleep", "1000")
    said = muster("scale", name, "worker=x", "chief=1", "ps", code=2).stderr.splitlines()
    assert len(said) == 3 and "'x'" in said[0] and "'chief'" in said[1] and "'ps'" in said[2]


def jobs_that_say(muster, *names):
    for name in names:
        muster("run", "-q", "--name", name, "-w", 3, "--", "sh", "-c", f"echo {name} $WORKER_NUMBER", code=0)


def test_replicas_stand_behind_their_job(muster):
    jobs_that_say(muster, "first", "second")
    assert muster("logs", "first", "worker-1", code=0).stdout == "worker-1 | first 1\n"
    both = muster("logs", "first", "worker-0", "worker-2", code=0).stdout
    assert sorted(both.splitlines()) == ["worker-0 | first 0", "worker-2 | first 2"]
    assert muster("logs", "first", "worker-1", "second", "worker-0", code=0).stdout == (
        "first/worker-1 | first 1\nsecond/worker-0 | second 0\n")
    refused = muster("logs", "first", "worker-1", "worker-9", code=1)
    assert refused.stderr == "muster: job 'first' has no log of worker-9: it has worker-0..2\n"
    refused = muster("logs", "--role", "worker", "first", "worker-1", code=2)
    assert "cannot be used with a replica name" in refused.stderr


def test_several_jobs_are_read_one_after_the_other(muster):
    jobs_that_say(muster, "first", "second")
    lines = muster("logs", "first", "second", code=0).stdout.splitlines()
    assert sorted(lines) == [f"{job}/worker-{i} | {job} {i}" for job in ("first", "second") for i in range(3)]
    assert [line.partition("/")[0] for line in lines] == ["first"] * 3 + ["second"] * 3
    part = muster("logs", "first", "third", "second", code=1)
    assert len(part.stdout.splitlines()) == 6 and "job 'third' not found" in part.stderr
    assert "-f: follows one job only" in muster("logs", "-f", "first", "second", code=2).stderr


def test_a_job_that_is_called_like_a_replica_has_its_long_name(muster):
    jobs_that_say(muster, "first", "worker-0")
    assert "worker-0/worker-2 | worker-0 2" in muster("logs", "first", "local/worker-0", code=0).stdout
    assert len(muster("logs", "worker-0", code=0).stdout.splitlines()) == 3


def test_all_lines_and_their_times_are_asked_for_in_short(muster):
    jobs_that_say(muster, "job")
    assert muster("logs", "--tail", "all", "job", code=0).stdout == muster("logs", "--tail", "-1", "job", code=0).stdout
    assert re.fullmatch(r"(worker-\d \| 20\d\d-\S+Z job \d\n){3}", muster("logs", "-t", "job", code=0).stdout)


def test_status_without_a_name_shows_the_job_that_was_made_last(muster):
    assert "no jobs yet; to start one: 'muster run'" in muster("status", code=1).stderr
    jobs_that_say(muster, "zeta", "alpha")
    assert muster("status", "-o", "name", code=0).stdout == "local/alpha\n"
    assert "Name:       alpha\n" in muster("status", code=0).stdout


def test_status_and_wait_take_several_jobs(muster):
    jobs_that_say(muster, "first", "second")
    muster("run", "-q", "--name", "third", "--", "sh", "-c", "exit 3", code=3)
    assert muster("status", "-o", "name", "first", "second", code=0).stdout == "local/first\nlocal/second\n"
    assert re.findall(r"^Name: +(\w+)", muster("status", "second", "first", code=0).stdout, re.M) == ["second", "first"]
    assert len(muster("status", "-o", "yaml", "first", "second", code=0).stdout.split("\n---\n")) == 2
    part = muster("status", "-o", "name", "none", "second", code=1)
    assert part.stdout == "local/second\n" and "job 'none' not found" in part.stderr
    assert "'muster ps -w'" in muster("status", "-w", "first", "second", code=2).stderr
    assert muster("wait", "first", "second", code=0).stderr == ""
    assert muster("wait", "first", "third", "second", code=3).stderr == "muster: job 'third' ended with code 3\n"
    assert muster("wait", "third", "none", code=125).stderr.startswith("muster: job 'none' not found")


def test_ps_goes_on_with_a_row_for_each_change(muster):
    first = muster.detach("--name", "first", "--", "sleep", "1000")
    muster.until_running(first, 1)
    watch = muster.start("ps", "-w")
    assert read_line(watch.stdout).split()[:2] == ["NAME", "STATE"]
    assert read_line(watch.stdout).split()[:2] == ["first", "Running"]
    muster.detach("--name", "second", "--", "sleep", "1000")
    assert "second" in read_until(watch.stdout, "Running")[-1]
    muster("stop", "--grace", "0", "second", code=0)
    assert read_until(watch.stdout, "Stopped")[-1].startswith("second")


def test_ps_does_not_go_on_with_what_is_no_table(muster):
    assert "to follow one job: 'muster status -w -o json JOB'" in muster("ps", "-w", "-o", "json", code=2).stderr


def on_a_terminal(muster, *arguments, env):
    """What a terminal gets."""
    terminal, end = pty.openpty()
    with muster.start(*arguments, env=env, stdout=end, stderr=end) as process:
        os.close(end)
        shown = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while piece := os.read(terminal, 65536):
                shown += piece
        process.wait()
    os.close(terminal)
    return shown.decode()


KATHMANDU = {"TZ": "NPT-5:45"}  # needs no files of time zones


def test_times_are_local_on_a_terminal_and_utc_elsewhere(muster):
    muster("run", "-q", "--name", "job", "--", "sh", "-c", "echo hello; exit 3", code=3, env=KATHMANDU)
    for call in ("status", "job"), ("logs", "-t", "job"), ("ps", "-a", "-o", "wide"):
        local = on_a_terminal(muster, *call, env=KATHMANDU)
        assert re.findall(r"\d\dT[\d:.]+(\S*?)[\s(]", local)[0] == "+05:45", call
        assert "+05:45" not in on_a_terminal(muster, *call, "--utc", env=KATHMANDU)
        piped = muster(*call, code=0, env=KATHMANDU).stdout
        assert "+05:45" not in piped and re.search(r"T[\d:.]+Z", piped)
    assert "+05:45" not in muster("status", "-o", "json", "job", code=0, env=KATHMANDU).stdout
    assert "at            20" in on_a_terminal(muster, "status", "job", env=KATHMANDU)


def test_the_failure_block_tells_the_time_of_the_terminal(muster):
    shown = on_a_terminal(muster, "run", "--", "sh", "-c", "exit 3", env=KATHMANDU)
    assert re.search(r"at +20\S+\+05:45\r\n", shown)
    piped = muster("run", "--", "sh", "-c", "exit 3", code=3, env=KATHMANDU).stderr
    assert re.search(r"at +20\S+Z\n", piped)
