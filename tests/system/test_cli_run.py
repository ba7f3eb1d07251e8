"""`run` through its front door: what is started, what is printed where, and the code it ends with."""

import json
import re
import shutil
import signal
import subprocess
import zipfile

import pytest

from conftest import BINARY, LIMIT, conditions, read_until, replicas


def shell(command):
    return ["--", "sh", "-c", command]


def lines_of(output, replica):
    return re.findall(rf"^{replica} +\| (.*)$", output, re.MULTILINE)


def test_each_worker_is_told_who_the_others_are(muster):
    done = muster("run", "-w", "2", *shell("echo $TF_CONFIG"), code=0)
    configs = [json.loads(lines_of(done.stdout, f"worker-{index}")[0]) for index in (0, 1)]
    assert configs[0]["cluster"] == configs[1]["cluster"]
    assert list(configs[0]["cluster"]) == ["worker"]
    assert len(set(configs[0]["cluster"]["worker"])) == 2
    assert [config["task"] for config in configs] == [{"type": "worker", "index": 0}, {"type": "worker", "index": 1}]


def test_a_script_runs_with_its_own_arguments(muster, tmp_path):
    (tmp_path / "train.py").write_text("import sys\nprint(sys.argv[1:])\n")
    done = muster("run", "train.py", "-w", "--", "x", code=0)
    assert lines_of(done.stdout, "worker-0") == ["['-w', '--', 'x']"]


def test_a_zip_of_python_runs_as_a_script(muster, tmp_path):
    with zipfile.ZipFile(tmp_path / "train.pyz", "w") as archive:
        archive.writestr("__main__.py", "import sys\nprint(sys.argv[1:])\n")
    done = muster("run", "train.pyz", "--steps", "5", code=0)
    assert lines_of(done.stdout, "worker-0") == ["['--steps', '5']"]


def test_variables_reach_every_process_as_they_were_written(muster):
    done = muster("run", "-w", "2", "-e", "A=$(B) $$", *shell('echo "$A"'), code=0)
    assert lines_of(done.stdout, "worker-0") == lines_of(done.stdout, "worker-1") == ["$(B) $$"]


@pytest.mark.parametrize("command, code", [
    ("exit 0", 0),
    ("exit 7", 7),
    ("kill -KILL $$", 128 + signal.SIGKILL),
    ("kill -SEGV $$", 128 + signal.SIGSEGV),
    ("[ $WORKER_NUMBER = 0 ] || exit 9; sleep 1000", 9),
])
def test_run_and_wait_end_with_the_code_of_the_job(muster, command, code):
    muster("run", "--name", "job", "-w", "2", *shell(command), code=code)
    muster("wait", "job", code=code)
    assert muster.job("job")["status"]["exitCode"] == code


def test_a_job_that_fails_again_ends_with_the_code_of_who_failed_first(muster):
    done = muster("run", "--name", "job", "-w", "3", "--max-restarts", "2",
                  *shell("[ $WORKER_NUMBER != 1 ] || exit 3; sleep 60"), code=3)
    assert "worker-1 exited with code 3" in done.stderr
    status = muster.job("job")["status"]
    assert (status["failure"]["role"], status["failure"]["index"], status["failure"]["exitCode"]) == ("worker", 1, 3)
    assert [replica["restarts"] for replica in status["replicas"]] == [2, 2, 2]
    assert muster("status", "job", code=0).stdout.count("worker-1 exited with code 3") >= 1


def test_a_job_that_takes_too_long_ends_with_124(muster):
    muster("run", "--name", "job", "--timeout", "1s", "--grace", "1s", *shell("sleep 1000"), code=124)
    assert muster.job("job")["status"]["failure"]["reason"] == "DeadlineExceeded"


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_to_muster_ends_the_job_in_good_order(muster, number, code):
    received = "INT" if number == signal.SIGINT else "TERM"
    command = f"trap 'echo saved; exit 0' {received}; echo started; while :; do sleep 0.1; done"
    process = muster.start("run", "--name", "job", *shell(command))
    read_until(process.stdout, "started")
    process.send_signal(number)
    output, told = process.communicate(timeout=LIMIT)
    assert process.returncode == code
    assert "saved" in output
    stopping = "muster: stopping job 'job': its processes have 30s to exit; press Ctrl-C again to kill them immediately\n"
    assert told.count(stopping) == (number == signal.SIGINT)
    muster("wait", "job", code=code)


def test_who_ends_a_job_that_ends_in_turns_is_told_the_time_of_all(muster):
    # A shell loses an interrupt that comes while it becomes the last program of its line.
    forever = "trap 'exit 1' INT; echo started; while :; do sleep 0.1; done"
    process = muster.start("run", "--name", "job", "--ps", 1, "--grace", "60m", *shell(forever))
    read_until(process.stdout, "started")
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=LIMIT)
    assert "stopping job 'job': its processes have 60m to exit; press Ctrl-C again" in told


@pytest.mark.parametrize("options, number", [([], signal.SIGINT), (["--stop-signal", "SIGINT"], signal.SIGTERM)])
def test_what_takes_term_and_goes_on_is_ended_by_int(muster, options, number):
    """As Python under TensorFlow: the process dies of the signal, and nothing has to be killed."""
    process = muster.start("run", "--name", "job", *options, "--", "sh", "-c",
                           "trap '' TERM; echo started; while :; do sleep 0.1; done")
    read_until(process.stdout, "started")
    process.send_signal(number)
    process.communicate(timeout=LIMIT)
    replica, = replicas(muster.job("job"))
    assert (replica["state"], replica["signal"]) == ("Stopped", signal.SIGINT)


def test_the_signal_of_a_stop_is_kept_in_the_job(muster):
    process = muster.start("run", "--name", "job", "--stop-signal", "usr1",
                           *shell("trap 'echo saved; exit 0' USR1; echo started; while :; do sleep 0.1; done"))
    read_until(process.stdout, "started")
    assert muster.job("job")["spec"]["runPolicy"]["stopSignal"] == "SIGUSR1"
    muster("stop", "job", code=0)
    assert "saved" in lines_of(process.communicate(timeout=LIMIT)[0], "worker-0")


def test_a_signal_that_is_none_starts_nothing(muster):
    done = muster("run", "--stop-signal", "STOPP", "--", "true", code=2)
    assert done.stderr == ("muster: --stop-signal: unknown signal 'STOPP'; usual ones are TERM, INT, HUP, QUIT, USR1 "
                           "and USR2\n")
    assert muster("ps", "-a", "-o", "name", code=0).stdout == ""


IGNORES = """import mmap, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(sys.argv[1], "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
print("started")
time.sleep(3600)
"""


@pytest.mark.parametrize("library", ["libtensorflow_cc.so.2", "libtorch.so"])
def test_what_goes_on_after_the_signal_is_told_of_once_and_killed_when_asked_to(muster, library):
    (muster.folder / library).write_text("something")
    (muster.folder / "ignores.py").write_text(IGNORES)
    process = muster.start("run", "--name", "job", "-w", "2", "--grace", "1h", "ignores.py", muster.folder / library)
    for _ in range(2):
        read_until(process.stdout, "started")
    stopping = muster.start("stop", "job")
    told = "worker-0 (and 1 more) is still running after the stop signal (StillRuns): SIGTERM did not stop it within 5s"
    assert "`muster stop --now job`" in read_until(stopping.stderr, told)[-1]
    # What TensorFlow does with SIGTERM, where it is TensorFlow.
    assert ("`muster run --stop-signal INT`" in read_until(process.stderr, told)[-1]) == ("tensorflow" in library)
    assert "StillRuns" in muster("status", "job", code=0).stdout
    muster("stop", "--now", "job", code=0)
    rest = process.communicate(timeout=LIMIT)[1] + stopping.communicate(timeout=LIMIT)[1]
    assert "StillRuns" not in rest
    assert {replica["signal"] for replica in replicas(muster.job("job"))} == {signal.SIGKILL}
    log, = muster.state.glob("muster/jobs/*/muster.log")
    assert log.read_text().count("(StillRuns)") == 1


def test_the_grace_of_one_end_is_not_that_of_the_next(muster):
    muster.detach("--name", "job", "--", "sh", "-c",
                  "trap 'echo saved; exit 0' TERM; echo started; while :; do sleep 0.1; done")
    muster.until_running("job", 1)
    muster("stop", "--now", "job", code=0)
    muster("resume", "job", code=0)
    read_until(muster.start("logs", "-f", "--attempt", "1", "job").stdout, "started")
    muster("stop", "job", code=0)
    assert "saved" in muster("logs", "job", code=0).stdout


def test_now_and_a_grace_contradict_each_other(muster):
    assert "--grace" in muster("stop", "--now", "--grace", "3s", "job", code=2).stderr


def test_a_program_that_does_not_exist_is_a_mistake_and_starts_nothing(muster):
    done = muster("run", "--", "no-such-program", code=2)
    assert "no-such-program" in done.stderr
    assert muster("ps", "-a", "-o", "name", code=0).stdout == ""


def test_a_job_that_says_muster_means_the_one_that_runs_it(muster, tmp_path):
    """Also where PATH has none, or another one, and where this one was called through a link."""
    other = tmp_path / "bin" / "muster"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\necho another one\n")
    other.chmod(0o755)
    link = tmp_path / "called"
    link.symlink_to(BINARY)
    version = muster("version", code=0).stdout.strip()
    for path in (tmp_path / "none", other.parent):
        environment = {**muster.environment, "PATH": str(path)}
        done = subprocess.run([link, "run", "--", "muster", "version"], env=environment, cwd=tmp_path,
                              capture_output=True, text=True, check=True)
        assert lines_of(done.stdout, "worker-0") == [version]


REMOVES_THE_PROGRAM = """\
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: job}
spec:
  runPolicy: {backoffLimit: 1, restartScope: job}
  tfReplicaSpecs:
    Chief:
      restartPolicy: OnFailure
      template: {spec: {containers: [{name: tensorflow, command: [sh, -c, "
        [ $MUSTER_ATTEMPT != 0 ] || {
        until grep -q . state/muster/jobs/*/ps-0.0.log; do sleep 0.1; done; rm muster; exit 1; };
        until grep -q . state/muster/jobs/*/ps-0.1.log; do sleep 0.1; done"]}]}}
    PS:
      template: {spec: {containers: [{name: tensorflow, command: [muster, version]}]}}
"""


def test_a_job_that_says_muster_still_means_the_same_when_its_file_is_gone(muster, tmp_path):
    """As an update does it while a job runs: what is started after it is what runs the job."""
    (tmp_path / "job.yaml").write_text(REMOVES_THE_PROGRAM)
    shutil.copy(BINARY, tmp_path / "muster")
    subprocess.run(["./muster", "run", "-f", "job.yaml"], env=muster.environment, cwd=tmp_path, check=True,
                   capture_output=True, timeout=LIMIT)
    said = muster("logs", "job", "--role", "ps", "--attempt", "1", code=0).stdout
    assert lines_of(said, "ps-0") == [muster("version", code=0).stdout.strip()]


def test_a_cluster_without_a_job_for_it_is_a_mistake(muster):
    done = muster("run", "--context", "elsewhere", "--", "true", code=2)
    assert done.stderr == "muster: --context: needs --on kubernetes\n"


def test_a_name_that_is_taken_starts_nothing(muster):
    muster("run", "--name", "job", *shell("exit 5"), code=5)
    done = muster("run", "--name", "job", *shell("exit 0"), code=2)
    assert "'job'" in done.stderr
    muster("wait", "job", code=5)
    muster("run", "--replace", "--name", "job", *shell("exit 0"), code=0)
    muster("wait", "job", code=0)


def test_a_dry_run_prints_the_job_and_starts_nothing(muster):
    done = muster("run", "--dry-run", "--name", "job", "-w", "2", "--", "sh", "-c", "touch started", code=0)
    assert done.stdout == muster("render", "--name", "job", "-w", "2", "--", "sh", "-c", "touch started").stdout
    assert done.stderr == "muster: would start worker-0 to worker-1: sh -c 'touch started'\n"
    assert not (muster.folder / "started").exists()
    assert not muster.state.exists()


def test_json_on_stdout_is_the_job_and_nothing_else(muster):
    done = muster("run", "-o", "json", "--name", "job", "-w", "2", *shell("echo hello"), code=0)
    job = json.loads(done.stdout)
    assert (job["kind"], job["metadata"]["name"]) == ("TFJob", "job")
    assert conditions(job)[-1] == "Succeeded"
    assert lines_of(done.stderr, "worker-0") == ["hello"]


def test_quiet_shows_no_lines_of_the_processes_and_keeps_them(muster):
    done = muster("run", "-q", "--name", "job", *shell("echo hello"), code=0)
    assert "hello" not in done.stdout + done.stderr
    assert "hello" in muster("logs", "job", code=0).stdout


def test_a_file_runs_as_it_is_written(muster):
    text = muster("render", "--name", "job", "-w", "2", *shell("exit 4")).stdout
    muster("run", "-f", "-", code=4, input=text)
    assert len(replicas(muster.job("job"))) == 2


def test_what_has_no_meaning_here_is_named_once(muster):
    text = muster("render", "--name", "job", "-w", "2", "--", "true").stdout
    text = text.replace("- name: tensorflow", "- name: tensorflow\n            image: tensorflow/tensorflow")
    done = muster("run", "-f", "-", code=0, input=text)
    warnings = [line for line in done.stderr.splitlines() if "ignored on this machine" in line]
    assert len(warnings) == 1 and "image" in warnings[0]


def test_every_fault_of_a_file_is_told_and_nothing_starts(muster):
    text = muster("render", "--name", "job", "--", "true").stdout
    text = text.replace("name: job", "name: Job").replace("restartPolicy: Never", "restartPolicy: Sometimes")
    done = muster("run", "-f", "-", code=2, input=text)
    assert len(done.stderr.splitlines()) == 2
    assert all(re.match(r"standard input:\d+:\d+: ", line) for line in done.stderr.splitlines())
    assert muster("ps", "-a", "-o", "name", code=0).stdout == ""


def test_a_reader_that_leaves_early_stops_nothing(muster):
    process = muster.start("run", "--name", "job", *shell("for i in $(seq 20000); do echo line $i; done; exit 6"))
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=LIMIT) == 6
    assert "line 20000" in muster("logs", "--tail", "1", "job", code=0).stdout


def test_files_of_muster_never_take_the_place_of_closed_standard_files(muster):
    command = shell("for n in 0 1 2; do readlink /proc/$PPID/fd/$n; done")
    call = ["sh", "-c", '"$0" "$@" <&- >&- 2>&-', BINARY, "run", "--name", "closed", *command]
    assert subprocess.run(call, env=muster.environment, check=False).returncode == 0
    assert lines_of(muster("logs", "closed", code=0).stdout, "worker-0") == ["/dev/null"] * 3


def test_a_log_that_may_not_grow_further_ends_neither_muster_nor_the_job(muster):
    call = ["sh", "-c", 'ulimit -f 4000; "$0" "$@"', BINARY, "run", *shell("seq 1000000; exit 4")]
    done = subprocess.run(call, env=muster.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=False)
    assert done.returncode == 4, done.stderr
    assert "File too large" in done.stderr


@pytest.mark.parametrize("words", [["torchrun", "x.py"], ["python3", "-m", "torch.distributed.run", "x.py"]])
def test_torchrun_inside_of_replicas_is_warned_of(muster, tmp_path, words):
    (tmp_path / "torchrun").write_text("#!/bin/sh\n")
    (tmp_path / "torchrun").chmod(0o755)
    path = {"PATH": f"{tmp_path}:{muster.environment['PATH']}"}
    assert "torchrun starts processes of its own" in muster("run", "--dry-run", "-w", 2, "--", *words, code=0, env=path).stderr
    assert "torchrun" not in muster("run", "--dry-run", "--", *words, code=0, env=path).stderr.split("would start")[0]


@pytest.mark.parametrize("words, said", [
    (["nb.ipynb"], "'nb.ipynb': not a script; convert the notebook: jupyter nbconvert --to script nb.ipynb"),
    (["LR=2", "train.py"], "'LR=2': not a script; to set a variable: -e LR=2"),
    (["--", "train.py"], "'train.py' is not in PATH; a script goes without '--', a program that is in this directory is ./train.py"),
    (["-o", "out.txt", "train.py"], "-o: 'out.txt' is not json (print the TFJob with its final status on stdout"),
    (["--", "python3 train.py"], "program 'python3 train.py' not found; write the program and each argument as a word of its own"),
    (["--", "./crlf.sh"], "'./crlf.sh' names an interpreter in its first line that does not exist (if its lines end with CR LF"),
])
def test_what_is_no_program_says_what_may_be_meant(muster, words, said):
    (muster.folder / "crlf.sh").write_bytes(b"#!/bin/sh\r\necho hello\r\n")
    (muster.folder / "crlf.sh").chmod(0o755)
    (muster.folder / "train.py").touch()
    done = muster("run", *words)
    assert done.returncode in (2, 127) and said in done.stderr


def test_a_restart_says_why(muster):
    (muster.folder / "fails.py").write_text("raise ValueError('no')\n")
    done = muster("run", "-q", "--max-restarts", 1, "fails.py", code=1)
    assert re.search(r"worker-0 exited with code 1 after \w+ \(attempt 0\): restarting the whole job \(restart 1 of 1\): ValueError: no\n", done.stderr)


def test_a_tf_config_of_the_jobs_own_is_warned_of(muster):
    done = muster("run", "--dry-run", "-w", 2, "--env", "TF_CONFIG={}", "--", "true", code=0)
    assert ("muster: warning: the job sets TF_CONFIG (worker) itself, which overrides muster's: its replicas all get "
            "the same value, and none learns which one it is\n") in done.stderr
    assert "sets RANK (worker) itself" in muster(
        "run", "--dry-run", "-w", 2, "-e", "RANK=0", "-e", "MASTER_ADDR=h", "--", "true", code=0).stderr
    assert "itself" not in muster("run", "--dry-run", "-e", "RANK=0", "--", "true", code=0).stderr
    assert "TF_CONFIG" not in muster("run", "--dry-run", "-w", 2, "--", "true", code=0).stderr


def test_a_template_that_would_tell_all_replicas_the_same_is_refused_with_its_file(muster, tmp_path):
    pod = tmp_path / "pod.yaml"
    pod.write_text("kind: Pod\nspec:\n  containers:\n  - name: a\n    env:\n    - {name: TF_CONFIG, value: x}\n")
    call = ["render", "--as", "pods", "-w", 1, "--image", "i", "--pod-template", pod, "--", "true"]
    assert f"--pod-template: {pod}: it sets TF_CONFIG" in muster(*call, code=2).stderr
    pod.write_text("kind: Service\nspec: {}\n")
    assert f"--pod-template: {pod}: kind 'Service' has no Pod template" in muster(*call, code=2).stderr
