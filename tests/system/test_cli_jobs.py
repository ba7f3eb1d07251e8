"""Commands from other terminals: a job is looked at, waited for, ended and forgotten."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from conftest import LIMIT, conditions, read_line, read_until, replicas
from processes import parent_of, wait_until, wait_until_process_is_gone

FOREVER = ["--", "sh", "-c", "echo started; exec sleep 1000"]


def sh(script):
    return ["--", "sh", "-c", script]


def test_a_detached_job_is_seen_and_ended_from_elsewhere(muster):
    name = muster.detach("-w", "2", "--name", "job", *FOREVER)
    assert name == "job"
    job = muster.until_running(name, 2)
    pids = [replica["pid"] for replica in replicas(job)]
    following = muster.start("logs", "-f", name)
    read_until(following.stdout, "started")
    watching = muster.start("status", "-w", name)
    read_until(watching.stdout, "Running")
    waiting = muster.start("wait", name)
    muster("stop", name, code=0)
    assert waiting.wait(timeout=LIMIT) == 130
    assert "Stopped" in watching.communicate(timeout=LIMIT)[0]
    assert following.wait(timeout=LIMIT) == 0
    assert all(wait_until_process_is_gone(pid, limit=0) for pid in pids)


@pytest.mark.parametrize("turn", range(20))
def test_all_who_wait_end_with_the_jobs_code(muster, turn):
    """Some look just before the end is written, and find nobody there any more just after."""
    muster.detach("--name", "job", *FOREVER)
    waiting = [muster.start("wait", "job") for _ in range(40)]
    muster.until_running("job", 1)
    muster("stop", "job", code=0)
    assert {process.wait(timeout=LIMIT) for process in waiting} == {130}


def test_the_status_of_a_replica_has_every_field(muster):
    muster.detach("--name", "job", *FOREVER)
    replica = replicas(muster.until_running("job", 1))[0]
    assert (replica["role"], replica["index"], replica["attempt"], replica["restarts"]) == ("worker", 0, 0, 0)
    assert re.fullmatch(r"127\.0\.0\.1:\d+", replica["address"])
    assert replica["pid"] > 1 and replica["startTime"] and replica["log"].endswith("/worker-0.0.log")
    muster("stop", "--grace", "0", "job", code=0)
    ended = replicas(muster.job("job"))[0]
    assert ended["state"] == "Stopped" and ended["endTime"]


def test_ps_lists_what_goes_on_and_all_with_a(muster):
    muster("run", "--name", "done", "--", "true", code=0)
    muster.detach("--name", "going", "-w", "2", *FOREVER)
    muster.until_running("going", 2)
    heading, line = muster("ps", code=0).stdout.splitlines()
    assert heading.split() == ["NAME", "STATE", "ROLES", "RUNNING", "RESTARTS", "AGE"]
    assert line.split()[:5] == ["going", "Running", "worker=2", "2/2", "0"]
    names = [line.split()[0] for line in muster("ps", "-a", "--no-headers", code=0).stdout.splitlines()]
    assert names == ["done", "going"]
    assert muster("ps", "-a", "-o", "name", code=0).stdout == "local/done\nlocal/going\n"
    wide = muster("ps", "-a", "-o", "wide", code=0).stdout.splitlines()
    assert wide[0].split()[6:] == ["EXIT", "DURATION", "WHERE", "STARTED", "GPUS", "COMMAND", "MESSAGE"]


def test_ps_shows_how_jobs_ended_and_only_some(muster):
    for name, code in (("one", 0), ("two", 3), ("three", 0)):
        muster("run", "--name", name, *sh(f"exit {code}"), code=code)

    def rows(*options):
        return {row[0]: row[6:] for row in map(str.split, muster("ps", "--no-headers", *options, code=0).stdout.splitlines())}

    assert muster("ps", "-a", code=0).stdout.splitlines()[0].split()[6:] == ["EXIT", "DURATION"]
    assert {name: row[0] for name, row in rows("-a").items()} == {"one": "0", "two": "3", "three": "0"}
    assert all(re.fullmatch(r"\d+m?s", row[1]) for row in rows("-a").values())
    assert list(rows("--last", "2")) == ["two", "three"]
    assert list(rows("--last", "9")) == ["one", "two", "three"]
    ended = muster.job("two")["status"]["completionTime"]
    assert list(rows("--since", ended)) == ["two", "three"]
    assert list(rows("--since", "1h", "--last", "1")) == ["three"]
    assert rows("--since", "2200-01-01T00:00:00Z") == {}
    assert "--since 'soon': not a duration (10m) or a time" in muster("ps", "--since", "soon", code=2).stderr


def git(folder, *arguments):
    return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=folder, check=True,
                          capture_output=True, text=True).stdout.strip()


def head_of(muster, name):
    lines = muster("status", name, code=0).stdout.split("\n\n")[0].splitlines()
    return dict(line.split(":", 1) for line in lines)


def test_a_status_begins_with_what_was_started(muster, tmp_path):
    muster("run", "--name", "job", *sh("echo 'a b'; exit 3"), code=3, cwd=tmp_path)
    head = head_of(muster, "job")
    assert head["Command"].strip() == """sh -c 'echo '\\''a b'\\''; exit 3'"""
    assert (head["Directory"].strip(), "Commit" in head) == (str(tmp_path), False)
    assert os.listdir(head["Logs"].strip()) and head["Exit code"].strip() == "3"
    assert re.search(r"ago, after \d+m?s\)", head["Ended"])


def test_a_job_knows_the_commit_of_its_directory(muster, tmp_path):
    main, other = tmp_path / "main", tmp_path / "other"
    (main / "below").mkdir(parents=True)
    git(main, "init", "-q", "-b", "main")

    def commit_seen(folder):
        muster("run", "--name", "job", "--replace", "--", "true", code=0, cwd=folder)
        return head_of(muster, "job").get("Commit", "").strip().removesuffix(" (when it was created)")

    assert commit_seen(main) == ""
    git(main, "commit", "-q", "--allow-empty", "-m", "one")
    assert commit_seen(main / "below") == git(main, "rev-parse", "HEAD")
    git(main, "worktree", "add", "-q", "-b", "other", other)
    git(other, "commit", "-q", "--allow-empty", "-m", "two")
    assert commit_seen(other) == git(other, "rev-parse", "HEAD") != git(main, "rev-parse", "HEAD")
    git(main, "pack-refs", "--all")
    assert commit_seen(main) == git(main, "rev-parse", "HEAD")
    git(main, "checkout", "-q", "--detach", "other")
    assert commit_seen(main) == git(other, "rev-parse", "HEAD")
    (main / ".git/HEAD").unlink()
    os.mkfifo(main / ".git/HEAD")
    assert commit_seen(main) == ""


def test_a_command_is_run_at_the_end(muster, tmp_path):
    told = 'echo "$MUSTER_JOB_NAME $MUSTER_STATE $MUSTER_EXIT_CODE ${MUSTER_DURATION:+took} $MUSTER_MESSAGE $MUSTER_ERROR"'
    done = muster("run", "--name", "good", "--notify", told, "--", "true", code=0)
    assert done.stderr.endswith("\ngood Succeeded 0 took  \n") and done.stdout == ""
    done = muster("run", "--name", "bad", "--notify", told, *sh("echo ValueError: no; exit 3"), code=3)
    assert re.search(r"\nbad Failed 3 took worker-0 exited with code 3 .* ValueError: no\n$", done.stderr)
    for command, said in (("exit 3", "exited with code 3"), ("kill -9 $$", "was killed by signal 9"), ("(", "exited with code 2")):
        done = muster("run", "--notify", command, "--", "true", code=0)
        assert f"muster: --notify: sh {said}\n" in done.stderr
    os.mkfifo(tmp_path / "told")
    name = muster.detach("--notify", f"echo $MUSTER_STATE >{tmp_path}/told", *FOREVER)
    muster("stop", "--grace", "0", name, code=0)
    assert (tmp_path / "told").read_text() == "Stopped\n"
    muster("launch", "--nnodes", "1", "--notify", f"touch {tmp_path}/launched", "--no-python", "true", code=0)
    assert (tmp_path / "launched").exists()


def test_a_name_may_be_one_that_no_cluster_takes(muster):
    for name in ("123", "exp_3", "Exp.V2", "a" * 63):
        muster("run", "--name", name, *sh('test "$MUSTER_JOB_NAME" = ' + name), code=0)
        assert muster.job(name)["metadata"]["name"] == name
        muster("delete", name, code=0)
    for name in ("", "-x", "_a", "a/b", "a b", ".", "a" * 64):
        assert "is not a valid job name" in muster("run", f"--name={name}", "--", "true", code=2).stderr
    assert "not a valid job name for a cluster" in muster("render", "--on", "kubernetes", "--image", "i", "--name", "exp_3", "--",
                                                          "true", code=2).stderr


def test_a_job_is_called_after_its_script_whatever_starts_it(muster, tmp_path):
    (tmp_path / "fit.py").write_text("")
    for command, word in (("env A=1 python3 -u ./fit.py --x", "fit"), ("sh -c fit.py", "fit"), ("true fit.pyc", "true")):
        name = muster.detach("--", *command.split(), env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
        assert re.fullmatch(rf"{word}-\w{{5}}", name)


def test_ps_in_json_is_a_list_of_jobs(muster):
    assert json.loads(muster("ps", "-o", "json", code=0).stdout)["items"] == []
    muster("run", "--name", "job", "--", "true", code=0)
    objects = json.loads(muster("ps", "-a", "-o", "json", code=0).stdout)
    assert (objects["kind"], objects["apiVersion"]) == ("TFJobList", "kubeflow.org/v1")
    assert objects["items"] == [muster.job("job")]
    assert conditions(objects["items"][0])[-1] == "Succeeded"


def test_a_status_can_be_read_as_yaml_and_by_a_longer_name(muster):
    muster("run", "--name", "job", "--", "true", code=0)
    text = muster("status", "-o", "yaml", "local/job", code=0).stdout
    assert json.loads(muster("render", "-o", "json", "-f", "-", code=0, input=text).stdout)["kind"] == "TFJob"
    assert muster("status", "-o", "name", "job", code=0).stdout == "local/job\n"
    assert "/worker-0.0.log" in muster("status", "-o", "wide", "job", code=0).stdout


def test_a_status_tells_who_failed_and_who_only_followed(muster):
    muster("run", "--name", "job", "-w", "2", "--", "sh", "-c",
           "echo from $WORKER_NUMBER; [ $WORKER_NUMBER = 0 ] || exit 3; exec sleep 1000", code=3)
    text = muster("status", "job", code=0).stdout
    assert "\nFailure:\nworker-1 exited with code 3" in text
    assert re.search(r"last output +\| from 1\n", text)
    assert re.search(r"consequences +worker-0 was stopped by muster\n", text)


def test_a_status_shows_what_each_replica_uses_while_it_runs(muster):
    """With all that its process has started."""
    busy = "x=bytearray(64 << 20)\nfor i in range(3000000): pass\nprint('done', flush=True)\nimport time; time.sleep(1000)"
    process = muster.start("run", "--name", "job", "-w", 2, "--", "sh", "-c",
                           f'if [ $MUSTER_INDEX = 0 ]; then {sys.executable} -c "$0"; fi; exec sleep 1000', busy)
    read_until(process.stdout, "done")
    heading, first, second = muster("status", "job", code=0).stdout.partition("\nREPLICA ")[2].splitlines()[:3]
    assert re.fullmatch(r".* AGE +LAST OUTPUT +CPU +MEMORY", heading)
    age, last_output, cpu, memory = first.split()[-4:]
    assert re.fullmatch(r"\d+m?s", last_output) and re.fullmatch(r"\d+m?s", cpu) and cpu not in ("0ms", "0s")
    assert int(memory.removesuffix("Mi")) >= 64
    assert second.split()[-3] == "-" and int(second.split()[-1].removesuffix("Mi")) < 64
    muster("stop", "--grace", 0, "job", code=0)
    assert "LAST OUTPUT" not in muster("status", "job", code=0).stdout


def test_lines_of_every_start_are_not_among_the_last_ones(muster):
    """TensorFlow's."""
    noise = "I0000 00:00:1795815815.181702   16722 port.cc:153] oneDNN custom operations are on."
    script = f'echo "no data"; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do echo "{noise}"; done; exit 3'
    done = muster("run", "--", "sh", "-c", script, code=3)
    assert "\n  last output   | no data\n  log file " in done.stderr and noise in done.stdout


def test_a_job_that_nobody_has_is_told_with_the_nearest_one(muster):
    muster("run", "--name", "digits", "--", "true", code=0)
    for command in ("status", "stop", "delete"):
        done = muster(command, "digts", code=1)
        assert done.stderr == "muster: job 'digts' not found; did you mean 'digits'?\n"
    assert "muster ps -a" in muster("wait", "other", code=125).stderr


def test_wait_gives_up_when_its_time_is_over(muster):
    muster.detach("--name", "job", *FOREVER)
    done = muster("wait", "--timeout", "100ms", "job", code=124)
    assert done.stderr == "muster: job 'job' has not ended yet\n"
    assert conditions(muster.job("job"))[-1] == "Running"


def test_stop_ends_several_jobs_and_may_be_repeated(muster):
    for name in ("one", "two"):
        muster.detach("--name", name, *FOREVER)
    for _ in range(2):
        muster("stop", "one", "two", code=0)
    for name in ("one", "two"):
        muster("wait", name, code=130)
        assert muster.job(name)["status"]["failure"]["reason"] == "Stopped"


def test_a_process_that_cannot_handle_the_signal_sees_a_file(muster):
    muster.detach("--name", "job", "--", "sh", "-c",
                  "trap '' TERM; [ -e \"$MUSTER_STOP_FILE\" ] || echo started; until [ -e \"$MUSTER_STOP_FILE\" ]; do sleep 0.05; done; exit 7")
    read_until(muster.start("logs", "-f", "job").stdout, "started")
    muster("stop", "--grace", f"{LIMIT}s", "job", code=0)
    muster("wait", "job", code=130)
    replica, = replicas(muster.job("job"))
    assert (replica["state"], replica["exitCode"]) == ("Stopped", 7)


@pytest.mark.parametrize("path, attempt", [
    ("$MUSTER_STOP_FILE", 0), ("$d/worker-0.1.log", 1), ("$d/worker-0.1.index", 1), ("$d/reserve", 0), ("$d/worker-0.0.stacks", 0),
])
def test_a_fifo_that_a_process_made_in_the_directory_of_its_job_blocks_no_supervisor(muster, path, attempt):
    """Nothing reads it: to open it, or to fill it, would take for ever."""
    muster.detach("--name", "job", "--max-restarts", "1", "--", "sh", "-c",
                  f"d=${{MUSTER_STACKS_FILE%/*}}; trap '' TERM; [ $MUSTER_ATTEMPT = 0 ] && rm -f {path} && mkfifo {path}; [ $MUSTER_ATTEMPT = {attempt} ] || exit 1;"
                  " head -c 200000 /dev/zero; exec sleep 1000")
    wait_until(lambda: replicas(muster.job("job"))[0].get("attempt", 0) == attempt)
    wait_until(lambda: muster("logs", "job").returncode == 0)
    muster("stop", "--grace", "100ms", "job", code=0)
    muster("wait", "job")
    muster("delete", "job", code=0)


@pytest.mark.parametrize("backlog", [0, 9])
def test_a_process_that_replaced_the_socket_of_its_supervisor_does_not_keep_it_from_being_stopped(muster, backlog):
    replacing = ("import os, signal, socket; os.unlink('socket'); s = socket.socket(socket.AF_UNIX); s.bind('socket');"
                 f" s.listen({backlog}); print('listens', flush=True); signal.pause()")
    for verb in ("stop", "delete"):
        muster.detach("--name", verb, "--", "sh", "-c", f'cd "${{MUSTER_STACKS_FILE%/*}}" && exec "$0" -c "$1"', sys.executable, replacing)
        read_until(muster.start("logs", "-f", verb).stdout, "listens")
        muster(verb, verb, code=0)
    assert "Stopped" in muster("ps", "-a", code=0).stdout


def test_a_process_that_ignores_term_is_killed_after_the_grace_time(muster):
    muster.detach("--name", "job", "--", "sh", "-c", "trap '' TERM; echo started; while :; do sleep 0.1; done")
    read_until(muster.start("logs", "-f", "job").stdout, "started")
    muster("stop", "--grace", "100ms", "job", code=0)
    assert replicas(muster.job("job"))[0]["signal"] == 9


def test_stop_says_whom_it_waits_for_and_how_long(muster, tmp_path):
    end = tmp_path / "end"
    muster.detach("--name", "job", "--", "sh", "-c",
                  f"trap '' TERM; echo started; while [ ! -e {end} ]; do sleep 0.1; done")
    read_until(muster.start("logs", "-f", "job").stdout, "started")
    stopping = muster.start("stop", "--grace", "1h", "job")
    read_until(stopping.stderr, "muster: job: waiting for worker-0, up to 60m")
    end.touch()
    output, told = stopping.communicate(timeout=LIMIT)
    assert (output, stopping.returncode) == ("", 0) and "waiting for" not in told


def test_stop_names_many_as_a_range(muster, tmp_path):
    end = tmp_path / "end"
    muster.detach("--name", "job", "-w", "30", "--", "sh", "-c",
                  f"trap '' TERM; while [ ! -e {end} ]; do sleep 0.1; done")
    muster.until_running("job", 30)
    stopping = muster.start("stop", "--grace", "1h", "job")
    assert read_line(stopping.stderr) == "muster: job: waiting for worker-0 to worker-29, up to 60m\n"
    end.touch()
    assert stopping.wait(LIMIT) == 0


def test_who_waits_for_a_job_that_ends_in_turns_is_told_the_time_of_all(muster):
    name = muster.detach("--name", "job", "--ps", 1, "--grace", "60m", "--", "sh", "-c", "trap '' TERM; while :; do sleep 0.1; done")
    muster.until_running(name, 2)
    stopping = muster.start("stop", name)
    read_until(stopping.stderr, "muster: job: waiting for ps-0, worker-0, up to 60m")
    muster("stop", "--now", name, code=0)


def test_who_stops_a_job_while_others_do_succeeds(muster):
    """Each reads the record that another one may change before it writes."""
    name = muster.detach("--name", "job", "--grace", "60m", "--", "sh", "-c", "trap '' TERM; while :; do sleep 0.1; done")
    muster.until_running(name, 1)
    stopping = [muster.start("stop", "--grace", f"{50 - i}m", name) for i in range(12)]
    for one in stopping:
        read_until(one.stderr, "muster: job: waiting for worker-0")
    muster("stop", "--now", name, code=0)
    assert [one.wait(LIMIT) for one in stopping] == [0] * len(stopping)


def test_delete_ends_and_forgets(muster):
    muster.detach("--name", "going", *FOREVER)
    pid = replicas(muster.until_running("going", 1))[0]["pid"]
    folder = muster.job("going")["status"]["replicas"][0]["log"]
    muster("delete", "going", code=0)
    assert wait_until_process_is_gone(pid, limit=0)
    muster("status", "going", code=1)
    assert not list(muster.state.rglob("*.log")), folder


def test_delete_all_finished_leaves_what_goes_on(muster):
    for name in ("a", "b"):
        muster("run", "--name", name, "--", "true", code=0)
    muster.detach("--name", "going", *FOREVER)
    muster("delete", "--all-finished", code=0)
    assert muster("ps", "-a", "-o", "name", code=0).stdout == "local/going\n"
    assert muster("delete", code=2).stderr == "muster: delete: missing job name; name the jobs, or use --all-finished\n"


def test_a_job_that_is_not_to_be_kept_is_deleted_when_it_has_succeeded(muster):
    muster("run", "--rm", "--name", "good", "--", "true", code=0)
    muster("run", "--rm", "--name", "bad", "--", "sh", "-c", "exit 3", code=3)
    assert muster("ps", "-a", "-o", "name", code=0).stdout == "local/bad\n"
    assert muster("run", "--rm", "-d", "--", "true", code=2).stderr == "muster: --rm: cannot be used with --detach\n"


def test_finished_jobs_are_deleted_by_age_and_number(muster):
    for name in ("first", "second", "third"):
        muster("run", "-q", "--name", name, "--", "true", code=0)
    muster.detach("--name", "running", "--", "sleep", "1000")

    def names():
        return {name.removeprefix("local/") for name in muster("ps", "-a", "-o", "name", code=0).stdout.split()}

    muster("delete", "--all-finished", "--older-than", "1h", code=0)
    assert names() == {"first", "second", "third", "running"}
    muster("delete", "--all-finished", "--keep", 2, code=0)
    assert names() == {"second", "third", "running"}
    muster("delete", "--all-finished", "--keep", 1, "--older-than", "0s", code=0)
    assert names() == {"third", "running"}
    done = muster("delete", "--keep", 1, "third", code=2)
    assert done.stderr == "muster: delete: --older-than and --keep need --all-finished\n"


def test_several_musters_share_one_store(muster):
    command = ["--", "sh", "-c", "echo $TF_CONFIG; exec sleep 1000"]
    starting = [muster.start("run", "-d", "--name", f"job-{i}", "-w", "2", *command) for i in range(6)]
    for process in starting:
        _, errors = process.communicate(timeout=LIMIT)
        assert process.returncode == 0, errors
    addresses = [replica["address"] for i in range(6) for replica in replicas(muster.until_running(f"job-{i}", 2))]
    assert len(set(addresses)) == 12
    muster("stop", *[f"job-{i}" for i in range(6)], code=0)
    assert muster("ps", "-o", "name", code=0).stdout == ""


def test_a_suspended_job_ends_its_processes_and_starts_them_again(muster):
    muster.detach("--name", "job", "-w", "2", *FOREVER)
    before = muster.until_running("job", 2)
    done = muster("suspend", "job", code=0)
    assert done.stderr == "muster: job 'job' was suspended; to continue: muster resume job\n"
    assert "Suspended" in conditions(muster.until("job", lambda job: not count_live(job)))
    assert all(wait_until_process_is_gone(replica["pid"], limit=0) for replica in replicas(before))
    done = muster("resume", "job", code=0)
    assert done.stderr == "muster: job 'job' was resumed; to follow it: muster attach job\n"
    after = muster.until_running("job", 2)
    assert [r["address"] for r in replicas(after)] == [r["address"] for r in replicas(before)]
    assert "Suspended" not in conditions(after)


def count_live(job):
    return sum(replica["state"] in ("Starting", "Running", "Stopping") for replica in replicas(job))


def test_a_job_that_has_failed_or_was_stopped_is_resumed(muster, tmp_path):
    """Under its name and uid, in the folder where it was, with its next attempts and all its restarts."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "work.sh").write_text(  # who fails lets the other one say its line first: it would be ended with it
        "echo attempt $MUSTER_ATTEMPT; [ ! -e go ] || exec sleep 1000; : > said-$MUSTER_ATTEMPT-$MUSTER_INDEX;"
        "until [ -e said-$MUSTER_ATTEMPT-0 ] && [ -e said-$MUSTER_ATTEMPT-1 ]; do sleep 0.1; done; exit 3")
    muster("run", "--name", "job", "-w", "2", "--max-restarts", "1", "--", "sh", "work.sh", cwd=folder, code=3)
    failed = muster.job("job")
    assert failed["status"]["restarts"] == 1
    (folder / "go").touch()

    assert muster("resume", "job", code=0).stderr == "muster: job 'job' was resumed in the background; to follow it: muster attach job\n"
    job = muster.until_running("job", 2)
    assert job["metadata"]["uid"] == failed["metadata"]["uid"]
    assert [replica["attempt"] for replica in replicas(job)] == [2, 2]
    assert job["status"].get("restarts", 0) == 0 and "failure" not in job["status"]
    assert muster("resume", "job", code=0).stderr == "muster: job 'job' is already running\n"
    log = ("logs", "job", "--role", "worker", "--index", "1", "--attempt")
    read_until(muster.start(*log, "2", "-f").stdout, "attempt 2")

    muster("stop", "job", code=0)
    muster("wait", "job", code=130)
    muster("resume", "local/job", code=0)
    job = muster.until_running("job", 2)
    assert [replica["attempt"] for replica in replicas(job)] == [3, 3]
    for attempt in range(3):
        assert muster(*log, attempt, code=0).stdout == f"worker-1 | attempt {attempt}\n"
    read_until(muster.start(*log, "3", "-f").stdout, "attempt 3")


def test_a_job_whose_musters_were_killed_is_resumed_and_obeys(muster):
    name = muster.detach("--name", "job", *FOREVER)
    inner = parent_of(replicas(muster.until_running(name, 1))[0]["pid"])
    for pid in (parent_of(inner), inner):
        os.kill(pid, signal.SIGKILL)
    muster("resume", "job", code=0)
    muster.until_running("job", 1)
    muster("stop", "job", code=0)
    muster("wait", "job", code=130)


def test_a_job_whose_terminal_still_reads_its_end_is_resumed_and_obeys(muster):
    """The muster of before goes when the last line is read, and takes nothing of the resumed job with it."""
    before = muster.start("run", "--name", "job", "--", "sh", "-c",
                          "[ $MUSTER_ATTEMPT = 0 ] || exec sleep 1000; yes | head -c 1000000; exit 3")
    read_line(before.stdout)
    muster("wait", "job", code=3)
    assert before.poll() is None
    muster("resume", "job", code=0)
    uid = muster.until_running("job", 1)["metadata"]["uid"]
    before.communicate()
    assert before.returncode == 3
    assert (muster.state / "muster" / "jobs" / uid / "socket").is_socket()
    muster("stop", "job", code=0)
    muster("wait", "job", code=130)


IN_ANOTHER_TIME = ["unshare", "--time", "--boottime", "100000", "--fork"]


@pytest.mark.skipif(subprocess.run([*IN_ANOTHER_TIME, "true"], check=False, stderr=subprocess.DEVNULL).returncode != 0, reason="needs time namespaces")
def test_a_job_is_running_as_well_where_the_machine_seems_to_run_for_longer(muster):
    muster.detach("--name", "here", *FOREVER)
    assert muster.start("run", "-d", "--name", "there", *FOREVER, before=IN_ANOTHER_TIME).wait(LIMIT) == 0
    for before in ([], IN_ANOTHER_TIME):
        for name in ("here", "there"):
            shown, _ = muster.start("status", "-o", "json", name, before=before).communicate(timeout=LIMIT)
            assert "Running" in conditions(json.loads(shown))


def test_of_many_who_resume_a_job_one_does(muster):
    muster("run", "--name", "job", "--", "sh", "-c", "[ $MUSTER_ATTEMPT != 0 ] || exit 3; exec sleep 1000", code=3)
    calls = [muster.start("resume", "job") for _ in range(8)]
    said = [(call.wait(timeout=LIMIT), call.communicate()[1]) for call in calls]
    assert sum("was resumed in the background" in text for _, text in said) == 1, said
    assert all("was resumed in the background" in text or "is already running" in text for _, text in said), said
    assert replicas(muster.until_running("job", 1))[0]["attempt"] == 1
    muster("stop", "job", code=0)
    muster("wait", "job", code=130)


def test_a_job_is_not_resumed_where_it_cannot_be(muster, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    muster("run", "--name", "job", "--", "sh", "-c", "exit 3", cwd=folder, code=3)
    folder.rmdir()
    done = muster("resume", "job", code=1)
    assert done.stderr == f"muster: cannot change to directory '{folder}', where job 'job' was started: No such file or directory\n"
    assert muster.job("job")["status"]["failure"]["exitCode"] == 3


def test_a_job_that_is_being_stopped_is_not_resumed(muster, tmp_path):
    end = tmp_path / "end"
    muster.detach("--name", "job", "--", "sh", "-c",
                  f"trap '' TERM; echo started; while [ ! -e {end} ]; do sleep 0.1; done; exit 1")
    read_until(muster.start("logs", "-f", "job").stdout, "started")
    stopping = muster.start("stop", "--grace", "1h", "job")
    read_until(stopping.stderr, "muster: job: waiting for worker-0")
    assert muster("resume", "job", code=4).stderr == (
        "muster: job 'job' is stopping; resume it after it has ended (muster wait job)\n")
    end.touch()
    assert stopping.wait(timeout=LIMIT) == 0


def test_a_job_whose_workers_need_not_know_of_each_other_is_scaled_up_and_down(muster):
    muster.detach("--name", "job", "-w", "2", "--restart-scope", "replica", *FOREVER)
    muster.until_running("job", 2)
    assert muster("scale", "job", "worker=4", code=0).stderr == ""
    muster.until_running("job", 4)
    muster("scale", "job", "worker=1", code=0)
    first = replicas(muster.until_running("job", 1))[0]
    assert (first["index"], first["attempt"]) == (0, 0)


def test_a_synchronous_job_starts_again_in_its_new_size(muster, tmp_path):
    """Those that run have their time to save, know the new size when they come back, and no restart is counted."""
    script = tmp_path / "work.sh"
    script.write_text("""
        trap "echo saved >> saved.$WORKER_NUMBER; exit 0" TERM
        echo $WORKER_NUMBER of $TOT_WORKERS >> sizes
        while :; do sleep 0.05; done
    """)
    muster.detach("--name", "job", "-w", "2", "--max-restarts", "0", "--", "sh", "-c", f"cd {tmp_path}; . {script}")
    muster.until_running("job", 2)
    until_lines(tmp_path / "sizes", 2)
    said = muster("scale", "job", "worker=3", code=0).stderr
    assert said.startswith("muster: restarting all processes of job 'job': ") and "They have 30s to save" in said
    muster.until_running("job", 3)
    until_lines(tmp_path / "sizes", 5)
    said = muster("scale", "job", "worker=1", code=0).stderr
    assert said.startswith("muster: restarting all processes of job 'job': ")
    job = muster.until_running("job", 1)
    until_lines(tmp_path / "sizes", 6)
    assert (tmp_path / "sizes").read_text().split("\n")[-2] == "0 of 1"
    assert sorted((tmp_path / "sizes").read_text().splitlines()) == sorted(
        ["0 of 2", "1 of 2", "0 of 3", "1 of 3", "2 of 3", "0 of 1"])
    assert [(tmp_path / f"saved.{i}").read_text() for i in range(3)] == ["saved\n" * 2, "saved\n" * 2, "saved\n"]
    assert replicas(job)[0]["attempt"] == 2 and replicas(job)[0]["restarts"] == 0
    assert job["status"].get("restarts", 0) == 0 and "failure" not in job["status"]
    assert muster("scale", "job", "worker=1", code=0).stderr == ""  # nothing changes


def until_lines(path, count):
    """Waits until a file that others write has so many lines."""
    reader = subprocess.Popen(["tail", "-n", "+1", "-F", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for _ in range(count):
        read_line(reader.stdout)
    reader.kill()
    reader.wait()


def test_changes_that_cannot_be_made_have_a_sentence(muster):
    muster("run", "--name", "job", "--", "true", code=0)
    for command in (["suspend", "job"], ["scale", "job", "worker=2"]):
        assert muster(*command, code=4).stderr == "muster: job 'job' has ended\n"
    assert muster("resume", "job", code=4).stderr.startswith("muster: job 'job' has succeeded and cannot be resumed (")
    assert muster("scale", "job", "ps=1", code=2).stderr == "muster: job 'job' has no role 'ps'\n"
    assert muster("scale", "job", "worker", code=2).stderr == "muster: 'worker': write ROLE=N\n"
    assert "'x' is not a whole number" in muster("scale", "job", "worker=x", code=2).stderr


def test_a_running_job_is_deleted_although_its_output_is_not_read(muster):
    """Its supervisor waits for the pager that reads, and has given the job back."""
    process = muster.start("run", "--name", "read-later", "--", "sh", "-c", "yes | head -c 1000000; exec sleep 1000")
    assert read_line(process.stdout) == "worker-0 | y\n"
    muster("delete", "read-later", code=0)
    assert "read-later" not in muster("ps", "-a", code=0).stdout
    assert process.poll() is None
    process.communicate(timeout=LIMIT)
