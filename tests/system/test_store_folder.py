"""The folder that remembers jobs: several at once, full, damaged, not to be written, and after a power failure."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile

import pytest

from conftest import BINARY, LIMIT, conditions, read_until
from disks import needs_mount
from processes import wait_until_process_is_gone


def database(muster):
    return sqlite3.connect(muster.state / "muster" / "muster.db", isolation_level=None)


def supervisor_of(muster, name):
    with database(muster) as connection:
        (text,) = connection.execute("SELECT supervisor FROM jobs WHERE name = ?", (name,)).fetchone()
    return json.loads(text)


def kill_supervisor(muster, name):
    """Both processes in one instant, as a power failure would."""
    identity = supervisor_of(muster, name)
    outer, inner = (identity[which]["pid"] for which in ("outer", "inner"))
    os.kill(outer, signal.SIGSTOP)
    os.kill(inner, signal.SIGSTOP)
    os.kill(inner, signal.SIGKILL)
    os.kill(outer, signal.SIGKILL)
    for pid in (inner, outer):
        assert wait_until_process_is_gone(pid)


def test_twenty_musters_at_once_share_a_new_store(muster):
    processes = [muster.start("run", "--name", f"job-{i}", "--", "true") for i in range(20)]
    for process in processes:
        out, err = process.communicate(timeout=LIMIT)
        assert process.returncode == 0, err
    names = muster("ps", "-a", "-o", "name", code=0).stdout.split()
    assert sorted(names) == sorted(f"local/job-{i}" for i in range(20))
    assert sorted(os.listdir(muster.state / "muster")) == ["jobs", "muster.db", "muster.db-shm", "muster.db-wal",
                                                             "programs"]


def test_a_home_that_cannot_be_written_is_told_with_what_to_do(muster):
    done = muster("run", "--", "true", env={"XDG_STATE_HOME": "/proc"})
    assert done.returncode == 125
    assert "'/proc/muster'" in done.stderr and "MUSTER_STATE_DIR" in done.stderr
    assert muster("ps", env={"XDG_STATE_HOME": "/proc"}).returncode == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_rights_is_told_with_what_to_do(muster, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    done = muster("run", "--", "true", env={"XDG_STATE_HOME": folder})
    assert done.returncode == 125
    assert "MUSTER_STATE_DIR" in done.stderr


def newer(file):
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 9")


def foreign(file):
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA application_id = 77")


def with_a_torn_page(file):
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with open(file, "r+b") as torn:
        torn.seek(4096)
        torn.write(b"\xff" * 4096)


@pytest.mark.parametrize("harm, sentence", [
    (lambda file: file.write_bytes(b"no database at all" * 300), "is damaged"),
    (lambda file: file.write_bytes(b""), "is empty, so it was damaged; move it away"),
    (lambda file: os.truncate(file, 5000), "is damaged"),
    (with_a_torn_page, "is damaged"),
    (newer, "was written by a newer muster (format 9, this version reads 1); use that version"),
    (foreign, "was not written by muster; move it away"),
], ids=["garbage", "empty", "truncated", "torn", "newer", "foreign"])
def test_a_store_that_cannot_be_used_is_told_with_what_to_do_and_left_alone(muster, harm, sentence):
    muster("run", "--name", "job", "--", "true", code=0)
    folder = muster.state / "muster"
    file = folder / "muster.db"
    for beside in ("-wal", "-shm"):
        with contextlib.closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pathlib.Path(f"{file}{beside}").unlink(missing_ok=True)
    harm(file)
    for beside in ("-wal", "-shm"):
        pathlib.Path(f"{file}{beside}").unlink(missing_ok=True)
    harmed, listed = file.read_bytes(), sorted(os.listdir(folder))
    rows = {row["name"]: row for row in json.loads(muster("doctor", "-o", "json", code=1).stdout)["rows"]}
    assert rows["state folder"]["state"] == "missing"
    assert f"'{file}' " in rows["state folder"]["found"] and sentence in rows["state folder"]["found"]
    assert (file.read_bytes(), sorted(os.listdir(folder))) == (harmed, listed)
    for arguments, code in ((["ps", "-a"], 1), (["run", "--", "true"], 125)):
        done = muster(*arguments, code=code)
        assert f"'{file}' " in done.stderr and sentence in done.stderr
    assert file.stat().st_size == len(harmed)
    for beside in ("", "-wal", "-shm"):
        pathlib.Path(f"{file}{beside}").unlink(missing_ok=True)
    muster("run", "--", "true", code=0)


def test_the_doctor_finds_nothing_wrong_with_a_store_in_use(muster):
    muster.detach("--", "sleep", "1000")
    report = json.loads(muster("doctor", "-o", "json").stdout)
    (row,) = [row for row in report["rows"] if row["name"] == "state folder"]
    assert "muster.db" not in row["found"]


def test_the_folder_is_for_its_user_alone(muster):
    muster("run", "--", "true", code=0)
    for folder, _, files in os.walk(muster.state / "muster"):
        assert os.stat(folder).st_mode & 0o077 == 0, folder
        for file in files:
            assert os.stat(os.path.join(folder, file)).st_mode & 0o077 == 0, file


def refused_everywhere(muster, folder, sentence):
    listed = sorted(os.listdir(folder))
    rows = {row["name"]: row for row in json.loads(muster("doctor", "-o", "json", code=1).stdout)["rows"]}
    assert rows["state folder"]["state"] == "missing" and sentence in rows["state folder"]["found"]
    for arguments, code in ((["ps", "-a"], 4), (["run", "--", "true"], 125), (["check"], 4)):
        done = muster(*arguments)
        assert sentence in done.stderr and "MUSTER_STATE_DIR" in done.stderr, done.stderr
        assert done.returncode == code and len(done.stderr.splitlines()) == 1
    assert sorted(os.listdir(folder)) == listed


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o2770, 0o1777])
def test_a_state_folder_that_others_may_write_to_is_refused(muster, mode):
    muster("run", "--", "true", code=0)
    folder = muster.state / "muster"
    folder.chmod(mode)
    refused_everywhere(muster, folder, f"'{folder}' is writable by other users (mode {mode & 0o777:03o})")
    folder.chmod(0o2755)
    muster("ps", code=0)


@pytest.mark.skipif(os.getuid() != 0, reason="gives a folder away")
def test_a_state_folder_of_another_user_is_refused(muster):
    """Whoever owns it can put jobs there that a later 'muster resume' runs."""
    muster("run", "--", "true", code=0)
    folder = muster.state / "muster"
    os.chown(folder, 65534, 65534)
    refused_everywhere(muster, folder, f"'{folder}' belongs to user 65534, but muster runs as user 0")
    os.chown(folder, 0, 65534)
    muster("ps", code=0)


def test_a_place_where_others_could_put_another_state_folder_is_refused(muster):
    """Who may write to a directory may rename what is in it. A sticky one, and one of a group, are in use everywhere."""
    muster("run", "--", "true", code=0)
    folder = muster.state / "muster"
    for mode in (0o777, 0o702, 0o2773):
        muster.state.chmod(mode)
        refused_everywhere(muster, folder, f"'{muster.state}' is writable by other users (mode {mode & 0o777:03o}), who could replace what is in it; chmod o-w it, or set MUSTER_STATE_DIR")
    muster("ps", code=0, env={"KUBERNETES_SERVICE_HOST": "10.0.0.1"})
    for mode in (0o1777, 0o2770, 0o755):
        muster.state.chmod(mode)
        muster("ps", code=0)


@pytest.mark.skipif(os.getuid() != 0, reason="gives a folder away")
def test_so_is_one_that_another_user_could_replace(muster, tmp_path):
    muster("run", "--", "true", code=0)
    folder = muster.state / "muster"
    os.chown(muster.state, 65534, 65534)
    refused_everywhere(muster, folder, f"'{muster.state}' belongs to user 65534, but muster runs as user 0, so another user could replace what is in it; set")
    os.chown(muster.state, 0, 0)
    link = tmp_path / "link"
    link.symlink_to(muster.state)
    relative = "link/../" + os.path.relpath(folder, muster.state.parent)
    for env in ({"XDG_STATE_HOME": link}, {"MUSTER_STATE_DIR": relative}):
        assert "Succeeded" in muster("ps", "-a", code=0, cwd=tmp_path, env=env).stdout
    os.chown(link, 65534, 65534, follow_symlinks=False)
    said = muster("ps", "-a", code=4, env={"XDG_STATE_HOME": link}).stderr
    assert said == f"muster: '{link}' is a link of user 65534, who could change where it leads; set MUSTER_STATE_DIR to a directory of your own\n"


WITHOUT_ROOT = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", "unshare", "--map-current-user", "--"]


@pytest.mark.skipif(os.getuid() != 0 or subprocess.run([*WITHOUT_ROOT, "true"], check=False).returncode, reason="needs user namespaces")
def test_in_a_user_namespace_without_root_the_directories_of_root_are_fine(muster):
    """Their owner is shown as 65534 there."""
    with tempfile.TemporaryDirectory(dir="/tmp") as home:
        os.mkdir(f"{home}/bin")
        muster.program = (shutil.copy(BINARY, f"{home}/bin"),)  # other users may not see its own directory
        os.chown(home, 54321, 54321)
        process = muster.start("run", "--", "stat", "-c", "%u", "/", before=WITHOUT_ROOT, cwd="/",
                               env={name: home for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")})
        assert "worker-0 | 65534\n" in process.communicate(timeout=LIMIT)[0]


def ask_supervisor(folder, uid):
    """What it says to a process of that user, which may enter the folder; nothing where it hangs up."""
    with contextlib.chdir(folder), socket.socket(socket.AF_UNIX) as connection:
        os.seteuid(uid)
        try:
            connection.connect("socket")
        finally:
            os.seteuid(0)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(b"watch\n")
            return connection.recv(100)
    return b""


@pytest.mark.skipif(os.getuid() != 0, reason="asks as another user")
def test_a_supervisor_does_not_answer_another_user_though_the_folder_is_open(muster):
    name = muster.detach("--", "sleep", "1000")
    folder = muster.state / "muster" / "jobs" / muster.job(name)["metadata"]["uid"]
    folder.chmod(0o755)
    (folder / "socket").chmod(0o777)
    assert ask_supervisor(folder, 0).startswith(b"changed ")
    assert ask_supervisor(folder, 65534) == b""


def test_triggers_of_a_store_that_somebody_brought_do_not_fire(muster):
    muster("run", "--name", "first", "--", "true", code=0)
    with database(muster) as connection:
        connection.execute("CREATE TRIGGER trap AFTER INSERT ON jobs BEGIN UPDATE jobs SET name = 'stolen' || id; END")
    muster("run", "--name", "second", "--", "true", code=0)
    assert sorted(muster("ps", "-a", "-o", "name", code=0).stdout.split()) == ["local/first", "local/second"]


def test_a_job_that_lost_its_supervisor_is_told_as_it_is(muster):
    name = muster.detach("--", "sleep", "1000")
    job = muster.until_running(name, 1)
    kill_supervisor(muster, name)
    row = muster("ps", "-a", "-o", "json", code=0).stdout
    (job_read,) = json.loads(row)["items"]
    assert "Failed" in conditions(job_read)
    assert job_read["status"]["failure"]["reason"] == "SupervisorLost"
    assert "killed" in job_read["status"]["failure"]["message"]
    assert wait_until_process_is_gone(job["status"]["replicas"][0]["pid"])
    assert muster("wait", name).returncode == 125
    with database(muster) as connection:
        assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)


def test_after_a_power_failure_the_machine_is_blamed(muster):
    name = muster.detach("--", "sleep", "1000")
    muster.until_running(name, 1)
    kill_supervisor(muster, name)
    identity = supervisor_of(muster, name)
    for which in ("inner", "outer"):
        identity[which]["bootId"] = "00000000-0000-4000-8000-000000000000"
    with database(muster) as connection:
        connection.execute("UPDATE jobs SET supervisor = ? WHERE name = ?", (json.dumps(identity), name))
    failure = muster.job(name)["status"]["failure"]
    assert "the machine rebooted while the job was running" in failure["message"]


def test_a_job_of_another_machine_is_not_judged(muster):
    name = muster.detach("--", "sleep", "1000")
    job = muster.until_running(name, 1)
    mine = supervisor_of(muster, name)
    other = json.loads(json.dumps(mine))
    other["host"] = "another-machine"
    for which in ("inner", "outer"):
        other[which]["bootId"] = "00000000-0000-4000-8000-000000000000"
    with database(muster) as connection:
        connection.execute("UPDATE jobs SET supervisor = ? WHERE name = ?", (json.dumps(other), name))
    assert "Running" in conditions(muster.job(name))
    done = muster("stop", name)
    assert done.returncode == 4 and "'another-machine'" in done.stderr
    os.kill(job["status"]["replicas"][0]["pid"], 0)
    with database(muster) as connection:
        connection.execute("UPDATE jobs SET supervisor = ? WHERE name = ?", (json.dumps(mine), name))


def test_a_record_that_is_taken_away_ends_its_job(muster):
    process = muster.start("run", "--name", "taken", "--", "sh", "-c", "echo $$; exec sleep 1000")
    pid = int(read_until(process.stdout, "worker-0")[-1].split()[-1])
    looking = muster.start("attach", "taken")
    read_until(looking.stdout, "worker-0")
    with database(muster) as connection:
        connection.execute("DELETE FROM bodies")
        connection.execute("DELETE FROM jobs")
    process.terminate()
    for told, why in ((process, "its record was deleted, so muster stopped its processes"), (looking, "its record was deleted")):
        _, err = told.communicate(timeout=LIMIT)
        assert told.returncode == 125
        assert re.fullmatch(f"(muster: SIGTERM from .*\n)?muster: job taken ended after [^:]+: {why}\n", err)
    assert wait_until_process_is_gone(pid)


def test_a_finished_job_goes_when_its_time_is_over(muster):
    document = muster("render", "--as", "tfjob", "-o", "json", "--name", "short", "--", "true", code=0).stdout
    job = json.loads(document)
    job["spec"]["runPolicy"]["ttlSecondsAfterFinished"] = 0
    muster("run", "-f", "-", input=json.dumps(job), code=0)
    assert muster("ps", "-a", "-o", "name", code=0).stdout == ""
    assert os.listdir(muster.state / "muster" / "jobs") == []


def test_deleting_follows_no_link_out_of_the_folder(muster, tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "model").write_text("weights")
    muster("run", "--name", "linked", "--", "true", code=0)
    uid = muster.job("linked")["metadata"]["uid"]
    os.symlink(precious, muster.state / "muster" / "jobs" / uid / "link")
    muster("delete", "linked", code=0)
    assert not (muster.state / "muster" / "jobs" / uid).exists()
    assert (precious / "model").read_text() == "weights"


READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


@needs_mount
@pytest.mark.parametrize("beside", ["with its write-ahead log", "alone"])
def test_a_read_only_folder_is_read(muster, beside):
    muster("run", "--name", "done", "--", "sh", "-c", "echo hello; exit 3", code=3)
    muster("run", "--name", "good", "--", "true", code=0)
    name = muster.detach("--name", "lost", "--", "sleep", "1000")
    pid = muster.until_running(name, 1)["status"]["replicas"][0]["pid"]
    kill_supervisor(muster, name)
    file = muster.state / "muster" / "muster.db"
    if beside == "alone":
        with database(muster) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        for ending in ("-wal", "-shm"):
            pathlib.Path(f"{file}{ending}").unlink(missing_ok=True)

    def look(*arguments):
        return subprocess.run(["unshare", "--mount", "sh", "-c", READ_ONLY, str(muster.state), BINARY, *arguments],
                              env=muster.environment, cwd=muster.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT, check=False)

    states = {row["metadata"]["name"]: row for row in json.loads(look("ps", "-a", "-o", "json").stdout)["items"]}
    assert {name: conditions(job)[-1] for name, job in states.items()} == {
        "done": "Failed", "good": "Succeeded", "lost": "Failed"}
    assert look("logs", "done").stdout == "worker-0 | hello\n"
    assert "SupervisorLost" in look("status", "lost").stdout
    assert [look("wait", name).returncode for name in ("done", "good", "lost")] == [3, 0, 125]
    assert wait_until_process_is_gone(pid)
    for arguments in (["run", "--", "true"], ["run", "-d", "--", "true"], ["delete", "done"]):
        done = look(*arguments)
        assert done.returncode != 0 and f"'{muster.state}/muster" in done.stderr
        assert "cannot be written (set MUSTER_STATE_DIR to a writable directory)" in done.stderr
    assert muster("logs", "done", code=0).stdout == "worker-0 | hello\n"


@needs_mount
def test_changes_that_only_the_log_has_are_told_where_it_cannot_be_read(muster):
    muster("run", "--name", "done", "--", "true", code=0)
    (muster.state / "muster" / "muster.db-shm").unlink()
    done = subprocess.run(["unshare", "--mount", "sh", "-c", READ_ONLY, str(muster.state), BINARY, "ps", "-a"],
                          env=muster.environment, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 1 and "muster.db-wal' cannot be read" in done.stderr
    assert "copy the directory" in done.stderr


# A disk of its own that can be full: a small tmpfs in a mount namespace that only the test sees.
FULL_DISK = r"""
set -e
mount -t tmpfs -o size=1m none "$1"
export XDG_STATE_HOME="$1"
{before}
dd if=/dev/zero of="$1/ballast" bs=4096 2>"$1.dd" || true
{during}
"""


def on_full_disk(muster, before, during):
    folder = muster.folder / "disk"
    folder.mkdir()
    script = FULL_DISK.format(before=before, during=during)
    return subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", str(folder)], env=muster.environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)


@needs_mount
def test_a_full_disk_is_told_before_anything_is_started(muster):
    done = on_full_disk(muster, f"{BINARY} ps", f"{BINARY} run -- touch {muster.folder}/started")
    assert done.returncode == 125
    assert "No space left on device" in done.stderr or "no space left on device" in done.stderr
    assert not (muster.folder / "started").exists()


@needs_mount
def test_a_job_goes_on_when_the_disk_gets_full_and_ends_with_its_own_code(muster):
    fifo = muster.folder / "fifo"
    os.mkfifo(fifo)
    started = f"{BINARY} run --name full -- sh -c 'echo started > {fifo}; read go < {fifo}; exit 3' & job=$!; cat {fifo}"
    done = on_full_disk(muster, started, f"echo go > {fifo}; wait $job || code=$?; {BINARY} wait full || test $? = 3; "
                        f"{BINARY} status -o json full; exit $code")
    assert done.returncode == 3, done.stderr
    assert "worker-0 exited with code 3" in done.stderr
    assert "the job keeps running, and muster retries" in done.stderr and "can be saved again" in done.stderr
    failure = json.loads(done.stdout[done.stdout.index("{"):])["status"]["failure"]
    assert (failure["exitCode"], failure["role"]) == (3, "worker")


@needs_mount
def test_a_job_that_the_full_disk_lost_can_be_deleted_and_makes_room(muster):
    started = (f"{BINARY} run -d --name lost -- sh -c 'head -c 500000 /dev/zero; sleep 600'; "
               'until [ "$(cat "$1"/muster/jobs/*/worker-0.0.log | wc -c)" = 500000 ]; do sleep 0.1; done')
    killed = (f"worker=$({BINARY} status lost -o json | sed -n 's/.*\"pid\": \\([0-9]*\\).*/\\1/p'); "
              "inner=$(ps -o ppid= -p $worker); outer=$(ps -o ppid= -p $inner); "
              "kill -KILL $inner; tail --pid=$((outer)) -f /dev/null; ")
    done = on_full_disk(muster, started, killed + f"{BINARY} delete lost && {BINARY} run --name next -- true")
    assert done.returncode == 0, done.stderr


@needs_mount
def test_a_change_that_the_full_disk_does_not_take_is_not_announced(muster):
    done = on_full_disk(muster, f"{BINARY} run -d --name full -w 2 -- sleep 600; "
                        f"until {BINARY} ps | grep -q 2/2; do sleep 0.1; done",
                        f"{BINARY} scale full worker=3 2>&1 || echo $?; {BINARY} stop --now full")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch("full\nmuster: cannot write '[^']*': no space left on device\n1\n", done.stdout)


# Prints numbered lines, in three parts: between them the test fills the disk and empties it again. The third part goes
# on until the log takes lines again, and ends with a few that it has.
TALKER = r"""
import glob, os, sys, time
index = os.environ["RANK"]
folder, log = os.path.join(sys.argv[1], index), f"{sys.argv[2]}/muster/jobs/*/worker-{index}.0.log"
number = 0
def talk(count):
    global number
    for _ in range(count):
        os.write(1, b"line %06d %s\n" % (number, b"x" * 80))
        number += 1
def turn(done, go):
    open(os.path.join(folder, done), "w").close()
    while not os.path.exists(os.path.join(folder, go)):
        time.sleep(0.02)
talk(2000)
turn("first", "fill")
talk(30000)
turn("second", "empty")
while b"were not saved" not in open(glob.glob(log)[0], "rb").read():
    talk(1)
    time.sleep(0.05)
talk(100)
print("last", number, flush=True)
# Who fails first ends the others: all have said their last.
open(os.path.join(folder, "third"), "w").close()
while len(glob.glob(os.path.join(sys.argv[1], "*", "third"))) < int(os.environ["WORLD_SIZE"]):
    time.sleep(0.02)
sys.exit(3)
"""

FULL_IN_THE_MIDDLE = r"""
set -e
mount -t tmpfs -o size=3m none "$1"
export XDG_STATE_HOME="$1"
wait_for() {{ until [ -e "$2/$1" ]; do sleep 0.02; done; }}
{binary} run --name full -w {workers} -- python3 -c "$TALKER" "$2" "$1" >"$3" &
job=$!
for i in {range}; do wait_for first "$2/$i"; done
dd if=/dev/zero of="$1/ballast" bs=4096 2>/dev/null || true
for i in {range}; do touch "$2/$i/fill"; done
for i in {range}; do wait_for second "$2/$i"; done
{binary} ps >&2
rm "$1/ballast"
for i in {range}; do touch "$2/$i/empty"; done
code=0; wait $job || code=$?
{binary} status full >&2
{binary} logs full >"$3.logs"
{binary} wait full || test $? = $code
exit $code
"""


@needs_mount
@pytest.mark.parametrize("workers", [1, 3])
def test_every_line_reaches_the_terminal_while_the_disk_is_full_and_the_log_goes_on_after_it(muster, workers):
    disk, talk, out = muster.folder / "disk", muster.folder / "talk", muster.folder / "out"
    disk.mkdir()
    for index in range(workers):
        (talk / str(index)).mkdir(parents=True)
    script = FULL_IN_THE_MIDDLE.format(binary=BINARY, workers=workers, range=" ".join(map(str, range(workers))))
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", str(disk), str(talk), str(out)],
                          env={**muster.environment, "TALKER": TALKER}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 3, done.stderr
    shown, kept = out.read_text().splitlines(), pathlib.Path(f"{out}.logs").read_text().splitlines()
    for index in range(workers):
        own = f"worker-{index} | "
        lines = [line.removeprefix(own) for line in shown if line.startswith(own)]
        (last,) = [line.split()[1] for line in lines if line.startswith("last ")]
        numbers = [line.split()[1] for line in lines if line.startswith("line ")]
        assert numbers == [f"{number:06}" for number in range(int(last))]
        logged = [line.removeprefix(own) for line in kept if line.startswith(own)]
        assert any("bytes of output were not saved (no space left on device)" in line for line in logged)
        assert f"line {int(last) - 1:06} " in logged[-2] and logged[-1] == f"last {last}"
    assert len(re.findall("cannot save the output of '.*' for now: No space left on device", done.stderr)) == 1
    assert "Running" in done.stderr and "State:      Failed" in done.stderr
