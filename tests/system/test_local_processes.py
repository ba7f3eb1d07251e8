"""Replicas as processes of this machine, through the front door."""

import contextlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess

import pytest
from conftest import BINARY, LIMIT, read_line, read_until, replicas
from disks import SmallDisk, needs_mount

pytestmark = pytest.mark.unsanitized


def configurations(text):
    """Every TF_CONFIG that was printed."""
    return [json.loads(found) for found in re.findall(r"\{.*\}", text)]


def ports_of(configuration):
    return [address for addresses in configuration["cluster"].values() for address in addresses]


def test_jobs_that_start_at_once_have_ports_of_their_own(muster):
    script = "echo $TF_CONFIG; echo MASTER $MASTER_PORT; exec sleep 1000"
    started = [muster.start("run", "--name", f"many-{i}", "-w", 2, "--grace", 0, "--", "sh", "-c", script) for i in range(10)]
    used = []
    for process in started:
        lines = read_until(process.stdout, "MASTER")
        if "{" not in "".join(lines):
            lines += read_until(process.stdout, "{")
        text = "".join(lines)
        used += ports_of(configurations(text)[0])
        used += ["127.0.0.1:" + re.search(r"MASTER (\d+)", text).group(1)]
    assert len(used) == 10 * 3
    assert len(set(used)) == len(used)
    for process in started:
        process.terminate()
    for process in started:
        assert process.wait(LIMIT) == 143


def test_addresses_stay_over_a_restart(muster):
    script = 'echo $TF_CONFIG; [ "$MUSTER_ATTEMPT" != 0 ] || exit 1'
    done = muster("run", "--name", "again", "-w", 2, "--max-restarts", 1, "--", "sh", "-c", script, code=0)
    clusters = [json.dumps(c["cluster"]) for c in configurations(done.stdout)]
    assert len(clusters) >= 3
    assert len(set(clusters)) == 1


def test_ports_lie_outside_the_range_of_the_kernel(muster):
    low, high = (int(word) for word in open("/proc/sys/net/ipv4/ip_local_port_range").read().split())
    done = muster("run", "-w", 2, "--", "sh", "-c", "echo $TF_CONFIG", code=0)
    for address in ports_of(configurations(done.stdout)[0]):
        port = int(address.rsplit(":", 1)[1])
        assert not low <= port <= high


def test_a_worker_that_ignores_term_is_killed_after_the_grace(muster):
    script = "trap '' TERM; echo ready; while :; do sleep 1000; done"
    process = muster.start("run", "--name", "stubborn", "--", "sh", "-c", script)
    read_until(process.stdout, "ready")
    muster("stop", "--grace", "100ms", "stubborn", code=0)
    assert process.wait(LIMIT) == 130
    assert replicas(muster.job("stubborn"))[0]["signal"] == signal.SIGKILL


def test_a_worker_that_closes_its_output_is_seen_through(muster):
    done = muster("run", "--name", "silent", "--", "sh", "-c", "echo last words; exec >&- 2>&-; sleep 0.1; exit 7", code=7)
    assert "last words" in done.stdout


def test_a_worker_that_is_killed_says_by_what(muster):
    done = muster("run", "--name", "victim", "-w", 2, "--", "sh", "-c", "[ $WORKER_NUMBER = 0 ] && kill -9 $$; exec sleep 1000", code=137)
    assert "SIGKILL" in done.stderr
    assert muster.job("victim")["status"]["failure"]["signal"] == signal.SIGKILL


def test_a_worker_that_is_stopped_is_told_and_is_the_likely_cause_of_its_peers_end(muster, tmp_path):
    given_up = tmp_path / "given-up"
    job = muster.start("run", "--name", "stopped", "-w", 2, "--", "sh", "-c",
                       f"echo started; [ $WORKER_NUMBER = 0 ] && exec sleep 1000; while [ ! -e {given_up} ]; do sleep 0.05; done; exit 1")
    read_until(job.stdout, "started")  # before it there may be no record of the job
    first, _ = replicas(muster.until_running("stopped", 2))
    os.kill(first["pid"], signal.SIGSTOP)
    told = "muster: worker-0 is stopped (ProcessStopped): its process is paused by SIGSTOP, and its peers wait for it"
    read_until(job.stderr, told)
    os.kill(first["pid"], signal.SIGCONT)
    muster.until("stopped", lambda seen: "reason" not in replicas(seen)[0])
    os.kill(first["pid"], signal.SIGSTOP)
    said = "".join(read_until(job.stderr, told))
    given_up.touch()
    said += job.communicate(timeout=LIMIT)[1]
    assert said.count(told) == 1  # once each time
    assert job.returncode == 1
    assert "worker-1 exited with code 1" in said
    assert "\n  likely cause  worker-0 was paused (SIGSTOP, Ctrl-Z or a debugger) when worker-1 failed" in said
    assert muster.job("stopped")["status"]["failure"]["cause"].startswith("worker-0 was paused (SIGSTOP, Ctrl-Z or")


PEER = """
import os, sys, time
if os.environ["RANK"] == "1":
    %s
while not os.path.exists("left") or os.path.exists(f"/proc/{open('left').read()}"): time.sleep(0.02)
raise RuntimeError("Timed out waiting for rank 1")
"""


@pytest.mark.parametrize("end, said", [
    ("print('Traceback (most recent call last):\\n  File \"x.py\", line 1\\nValueError: loss is NaN', flush=True); (open('pid', 'w').write('0'), os.rename('pid', 'left')); time.sleep(1000)",
     r"worker-1 failed \d+\w+ earlier: ValueError: loss is NaN"),
    ("open('pid', 'w').write(str(os.getpid())); os.rename('pid', 'left'); sys.exit(0)",
     r"worker-1 exited with code 0 \d+\w+ earlier, and its peers may have waited for it"),
])
def test_a_peer_that_failed_or_left_before_is_the_likely_cause(muster, end, said):
    (muster.folder / "peer.py").write_text(PEER % end)
    done = muster("run", "-w", 2, "peer.py", code=1)
    assert "worker-0 exited with code 1" in done.stderr
    assert re.search(rf"\n  likely cause  {said}\n  error         RuntimeError: Timed out waiting for rank 1\n", done.stderr), done.stderr


def test_the_likely_cause_of_a_restart_is_in_the_logs_of_the_attempt_that_failed(muster):
    (muster.folder / "peer.py").write_text("import os, time\nif os.environ['MUSTER_ATTEMPT'] == '1': time.sleep(1000)\n" + PEER % (
        "print('ValueError: loss is NaN', flush=True); (open('pid', 'w').write('0'), os.rename('pid', 'left')); time.sleep(1000)"))
    muster.detach("--name", "job", "-w", "2", "--max-restarts", "1", "peer.py")
    job = muster.until("job", lambda seen: seen["status"].get("failure", {}).get("exception"))
    assert job["status"]["failure"]["cause"].endswith(" earlier: ValueError: loss is NaN")


def test_what_was_silent_when_its_peer_failed_shows_where_it_was(muster):
    (muster.folder / "peer.py").write_text(PEER % "time.sleep(5.5); (open('pid', 'w').write('0'), os.rename('pid', 'left')); wait = time.sleep; wait(1000)")
    done = muster("run", "--name", "job", "-w", 2, "peer.py", code=1)
    assert re.search(r"\n  consequences  worker-1 was stopped by muster\n  stacks        worker-1: <module> \(peer.py:4\)\n", done.stderr)
    assert "\n  all stacks    muster stacks job\n" in done.stderr and "peer.py" in muster("stacks", "job", code=0).stdout


def test_a_program_that_is_not_there_is_told_before_anything_starts(muster):
    done = muster("run", "--name", "missing", "--", "no-such-program", code=2)
    assert "no-such-program" in done.stderr and "not found in PATH" in done.stderr
    assert "missing" not in muster("ps", "-a", code=0).stdout


def limit_open_files(soft, hard):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_more_workers_than_the_soft_limit_on_open_files_allows_keep_that_limit_themselves(muster):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    script = "echo limits $(ulimit -Sn) $(ulimit -Hn); : < gate"
    os.mkfifo(muster.folder / "gate")
    process = muster.start("run", "-w", 40, "--", "sh", "-c", script, preexec_fn=limit_open_files(64, hard))
    printed = [read_line(process.stdout).split("|")[1].strip() for _ in range(40)]
    gate = os.open(muster.folder / "gate", os.O_RDWR)
    assert process.wait(LIMIT) == 0
    os.close(gate)
    assert printed == [f"limits 64 {hard}"] * 40


def test_a_job_that_needs_more_open_files_than_allowed_is_told_before_anything_starts(muster):
    done = muster("run", "--name", "crowd", "-w", 40, "--", "touch", "started", code=125, preexec_fn=limit_open_files(64, 100))
    assert "job 'crowd' with 40 replicas" in done.stderr and "but the limit is 100 (ulimit -Hn)" in done.stderr
    assert not (muster.folder / "started").exists()
    assert "crowd" not in muster("ps", "-a", code=0).stdout


def test_output_without_a_line_feed_at_its_end_is_shown(muster):
    assert "no end" in muster("run", "--", "sh", "-c", "printf 'no end'", code=0).stdout


def test_binary_noise_and_a_very_long_line_are_kept_byte_for_byte(muster):
    script = "head -c 300000 /dev/urandom | tee noise; head -c 3000000 /dev/zero | tr '\\0' x; echo"
    muster("run", "--name", "noise", "--", "sh", "-c", script, code=0, stdout=subprocess.DEVNULL)
    log = open(replicas(muster.job("noise"))[0]["log"], "rb").read()
    assert log == (muster.folder / "noise").read_bytes() + b"x" * 3000000 + b"\n"


def test_every_line_of_many_workers_comes_whole_and_in_order(muster):
    script = "i=0; while [ $i -lt 3000 ]; do echo line $i of $WORKER_NUMBER; i=$((i+1)); done"
    done = muster("run", "-w", 8, "--", "sh", "-c", script, code=0)
    seen = {str(number): 0 for number in range(8)}
    for line in done.stdout.splitlines():
        found = re.fullmatch(r"worker-(\d+) *\| line (\d+) of (\d+)", line)
        assert found and found[1] == found[3], line
        assert int(found[2]) == seen[found[1]], line
        seen[found[1]] += 1
    assert set(seen.values()) == {3000}


def test_containers_keep_their_environment_folder_and_variables(muster):
    (muster.folder / "place").mkdir()
    (muster.folder / "job.yaml").write_text("""
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: shown}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: 1
      template:
        spec:
          containers:
          - name: tensorflow
            command: [sh, -c]
            args: ['echo "$GREETING" to $(WHOM) from $(basename $PWD)']
            workingDir: place
            env:
            - {name: WHOM, value: world}
            - {name: GREETING, value: hello $(WHOM) and $(NOBODY)}
""")
    done = muster("run", "-f", "job.yaml", code=0)
    assert "hello world and $(NOBODY) to world from place" in done.stdout


def can_read_kernel_log():
    return subprocess.run(["dmesg"], capture_output=True).returncode == 0


@pytest.fixture
def small_group():
    """A memory control group of 64 MB, as cgroups v1 or v2 have it; skips where none can be made."""
    lines = [line.split(":", 2) for line in open("/proc/self/cgroup").read().splitlines()]
    folders = {controllers: path.lstrip("/") for _, controllers, path in lines}
    first = "memory" in folders
    root = pathlib.Path("/sys/fs/cgroup", "memory" if first else "", folders["memory" if first else ""])
    group = root / f"muster-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / ("memory.limit_in_bytes" if first else "memory.max")).write_text("64000000")
        swap = group / ("memory.memsw.limit_in_bytes" if first else "memory.swap.max")
        if swap.exists():
            swap.write_text("64000000" if first else "0")
        subprocess.run(["sh", "-c", 'echo $$ > "$0"', group / "cgroup.procs"], check=True, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as error:
        with contextlib.suppress(OSError):
            group.rmdir()
        pytest.skip(f"no control group of our own: {error}")
    yield group
    group.rmdir()


@pytest.mark.parametrize("words,code,reason", [
    ("exec tail /dev/zero", 137, "OOMKilled"),
    ("tail /dev/zero; exit $?", 137, "OOMKilled"),  # a wrapper around the script
    ("tail /dev/zero || exit 1", 1, "ProcessOOMKilled"),  # a script with a data loader
    ("tail /dev/zero || exit 0", 0, None),
])
def test_a_worker_that_the_kernel_killed_for_want_of_memory_is_told_apart(muster, small_group, words, code, reason):
    call = f"echo $$ > {small_group}/cgroup.procs && exec {BINARY} run --name hungry -- sh -c '{words}'"
    done = subprocess.run(["sh", "-c", call], env=muster.environment, cwd=muster.folder, timeout=LIMIT, capture_output=True, text=True)
    assert done.returncode == code
    assert ("memory" in done.stderr) == ("  advice        use smaller batches" in done.stderr) == bool(reason)
    failure = muster.job("hungry")["status"].get("failure")
    assert (failure["reason"] if failure else None) == reason
    assert not failure or "the control group is limited to 64.0 MB" in failure["message"]
    if failure and can_read_kernel_log():
        assert re.search(r": process [0-9]+ \(tail\) had [0-9.]+ [kM]B, the", failure["message"])


@needs_mount
def test_a_machine_whose_control_groups_cannot_be_seen_runs_jobs_too(muster):
    process = muster.start("run", "--", "sh", "-c", "exit 7",
                           before=["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', "sh"])
    said = process.communicate(timeout=LIMIT)[1]
    assert process.returncode == 7, said


@needs_mount
@pytest.mark.parametrize("command", [["stop"], ["stop", "--now"], ["delete"]], ids=" ".join)
def test_a_job_is_stopped_although_the_disk_of_its_state_is_full(muster, command):
    """The request cannot be recorded, so it is a signal."""
    with SmallDisk(muster.folder / "disk", "3m") as disk:
        env = {"MUSTER_STATE_DIR": disk.folder / "state"}
        process = muster.start("run", "--name", "job", "--", "sh", "-c", "echo ready; sleep 1000", env=env, before=disk.enter)
        read_until(process.stdout, "ready")
        disk.fill()
        done = muster.start(*command, "job", env=env, before=disk.enter)
        assert done.wait(LIMIT) == 0
        assert process.wait(LIMIT) in (130, 137, 143)


@needs_mount
def test_a_log_on_a_disk_that_stays_full_says_what_it_lacks(muster):
    """There is no room for the note either: it takes that of the last lines."""
    go = muster.folder / "go"
    os.mkfifo(go)
    with SmallDisk(muster.folder / "disk", "3m") as disk:
        env = {"MUSTER_STATE_DIR": disk.folder / "state"}
        script = f"seq 100; echo ready; cat {go}; seq 100000; exit 3"
        process = muster.start("run", "-d", "--name", "job", "--", "sh", "-c", script, env=env, before=disk.enter)
        assert process.wait(LIMIT) == 0
        follower = muster.start("logs", "-f", "job", env=env, before=disk.enter)
        read_until(follower.stdout, "ready")
        disk.fill()
        go.write_text("")
        assert muster.start("wait", "job", env=env, before=disk.enter).wait(LIMIT) == 3
        disk.empty()
        said = muster.start("logs", "job", env=env, before=disk.enter).communicate(timeout=LIMIT)[0].splitlines()
    lost = re.fullmatch(r"worker-0 \| muster: ([0-9]+) bytes of output were not saved \(no space left on device\) *", said[-1])
    assert lost, said[-3:]
    kept = sum(len(line.removeprefix("worker-0 | ")) + 1 for line in said[:-1])
    assert kept + int(lost[1]) == len("ready\n") + sum(len(f"{i}\n") for n in (100, 100000) for i in range(1, n + 1))
