"""Whatever is killed, and whenever: no process of a job stays, and nobody else's is touched.

Every process that comes from a muster of these tests, muster itself included, carries TAG in its environment: so
all of them are found, wherever they have gone.
"""

import fcntl
import json
import os
import pathlib
import pty
import random
import signal
import subprocess
import termios
import time

import pytest
from conftest import BINARY, KILLS, LIMIT, read_until
from processes import (children_of, inner_of, is_alive, kill_all_with, parent_of, processes_with, wait_until,
                       wait_until_none_has, wait_until_process_is_gone)
from test_store_folder import database, kill_supervisor, supervisor_of

pytestmark = pytest.mark.unsanitized

# Children in the group, in sessions of their own, and orphans of a double fork; all of them ignore what can be ignored.
TREE = """
trap '' TERM HUP INT
setsid sh -c 'trap "" TERM HUP INT; sleep 1000 & (setsid sleep 1000 &); echo deep; wait' &
(setsid sleep 1000 &)
sleep 1000 &
echo ready
wait
"""


def runs_muster(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/exe").resolve(strict=True) == pathlib.Path(BINARY).resolve()
    except OSError:
        return False  # it has ended between being seen and being asked


@pytest.fixture
def tag(tmp_path):
    return f"MUSTER_TEST_TAG={tmp_path}"


@pytest.fixture
def tree(muster, tag, tmp_path):
    """Starts a job whose workers have descendants of all kinds, and waits until those are there."""
    script = tmp_path / "tree.sh"
    script.write_text(TREE)
    name, value = tag.split("=")

    def start(job, *options, workers=2, **popen):
        process = muster.start("run", "--name", job, "-w", workers, *options, "--", "sh", script, env={name: value}, **popen)
        return process

    yield start
    kill_all_with(tag)


def wait_until_grown(process, workers=2):
    """Until both shells of each worker have said that their children are there."""
    wait_until_said(process.stdout, workers)


def wait_until_said(stream, workers):
    said = 0
    while said < 2 * workers:
        line = read_until(stream, "")[-1]
        said += "ready" in line or "deep" in line


@pytest.fixture
def stranger():
    """A process that looks like a worker's, of somebody else."""
    process = subprocess.Popen(["sleep", "1000"], env={"MUSTER_JOB_UID": "of-nobody", **os.environ})
    yield process
    assert process.poll() is None, "a foreign process was ended"
    process.kill()
    process.wait()


def test_killing_the_inner_process_ends_the_job_and_says_so(muster, tree, tag, stranger):
    process = tree("inner")
    wait_until_grown(process)
    os.kill(inner_of(process), signal.SIGKILL)
    assert process.wait(LIMIT) == 125
    assert not processes_with(tag), "the outer process ends when nothing is left"
    assert "so job 'inner' was stopped" in process.stderr.read()
    job = muster.job("inner")
    assert job["status"]["failure"]["reason"] == "SupervisorLost"


def test_killing_the_outer_process_ends_the_job_and_says_so(muster, tree, tag, stranger):
    process = tree("outer")
    wait_until_grown(process)
    process.kill()
    wait_until_none_has(tag)
    assert muster.job("outer")["status"]["failure"]["reason"] == "SupervisorLost"


@pytest.mark.parametrize("further", [(), (signal.SIGHUP, signal.SIGCONT, signal.SIGINT)])
def test_a_stop_goes_on_when_the_outer_process_is_killed(muster, tag, further):
    """subprocess.run does that soon after Ctrl-C, and IPython's `!` sends more before it."""
    saves = "trap 'echo saving; while [ ! -e go ]; do sleep 0.01; done; touch saved; exit 0' INT; echo ready; while :; do sleep 0.01; done"
    process = muster.start("run", "--name", "saver", "-e", tag, "--", "sh", "-c", saves)
    read_until(process.stdout, "ready")
    process.send_signal(signal.SIGINT)
    read_until(process.stdout, "saving")
    for number in further:
        process.send_signal(number)
    process.kill()
    process.wait(LIMIT)
    assert "Stopped" not in muster("ps", "--no-headers", code=0).stdout, "a look does not end it"
    (muster.folder / "go").touch()
    muster("wait", "saver", code=130)
    assert (muster.folder / "saved").exists()
    assert muster.job("saver")["status"]["failure"]["reason"] == "Stopped"
    wait_until_none_has(tag)


SAVER = "trap 'echo saving; while [ ! -e go ]; do sleep 0.01; done; touch saved; exit 0' TERM; echo ready; while :; do sleep 0.01; done"


def test_what_a_shell_or_launcher_has_started_may_save_after_it_has_died(muster, tag):
    (muster.folder / "saver.sh").write_text(SAVER)
    muster("run", "-d", "--name", "job", "-e", tag, "--", "sh", "-c", "sh saver.sh; :", code=0)
    logs = muster.start("logs", "-f", "job")
    read_until(logs.stdout, "ready")
    stop = muster.start("stop", "job")
    read_until(logs.stdout, "saving")
    (muster.folder / "go").touch()
    assert stop.wait(LIMIT) == 0
    assert (muster.folder / "saved").exists()
    wait_until_none_has(tag)


def test_what_they_have_started_is_killed_after_the_grace_period(muster, tag):
    (muster.folder / "deaf.sh").write_text("trap '' TERM; echo ready; while :; do sleep 0.01; done")
    muster("run", "-d", "--name", "job", "-e", tag, "--", "sh", "-c", "sh deaf.sh; :", code=0)
    read_until(muster.start("logs", "-f", "job").stdout, "ready")
    muster("stop", "--grace", "0.3s", "job", code=0)
    wait_until_none_has(tag)
    assert muster.job("job")["status"]["failure"]["reason"] == "Stopped"


def test_after_both_were_killed_at_once_the_next_muster_ends_what_stayed(muster, tree, tag, stranger):
    process = tree("both")
    wait_until_grown(process)
    inner = inner_of(process)
    os.kill(process.pid, signal.SIGSTOP)
    os.kill(inner, signal.SIGSTOP)
    os.kill(inner, signal.SIGKILL)
    os.kill(process.pid, signal.SIGKILL)
    assert wait_until_process_is_gone(inner) and wait_until_process_is_gone(process.pid)
    table = muster("ps", "-a", code=0).stdout
    assert "Failed" in table
    wait_until_none_has(tag)


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


@pytest.mark.parametrize("command", ["pkill", "killall"])
def test_killing_all_that_is_called_muster_leaves_nothing(muster, tree, tag, stranger, command):
    """As pkill and killall choose, among the processes of this test alone."""
    name = pathlib.Path(BINARY).name[:15]
    process = tree("by-name")
    wait_until_grown(process)
    matches = {"pkill": lambda pid: name in name_of(pid), "killall": lambda pid: name_of(pid) == name}[command]
    chosen = [pid for pid in processes_with(tag) if matches(pid)]
    assert len(chosen) == 1, [name_of(pid) for pid in processes_with(tag)]
    for pid in chosen:
        os.kill(pid, signal.SIGKILL)
    assert process.wait(LIMIT) == 125
    wait_until_none_has(tag)
    assert muster.job("by-name")["status"]["failure"]["reason"] == "SupervisorLost"


def test_killing_the_process_group_leaves_nothing(muster, tree, tag, stranger):
    """As `kill -9 %1` in a shell, `timeout -s KILL` and others do it."""
    process = tree("group", start_new_session=True)
    wait_until_grown(process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(LIMIT)
    wait_until_none_has(tag)
    assert muster.job("group")["status"]["failure"]["reason"] == "SupervisorLost"


@pytest.mark.parametrize("key, code", [(b"\x03", 130), (b"\x1c", 130)])
def test_keys_of_the_terminal_reach_the_job_once(muster, tree, tag, stranger, key, code):
    """Ctrl-C and Ctrl-\\, though the process that works is not in the terminal's foreground; it may write there
    even so (stty tostop)."""
    terminal, program_side = pty.openpty()
    flags = termios.tcgetattr(program_side)
    flags[3] |= termios.TOSTOP
    termios.tcsetattr(program_side, termios.TCSANOW, flags)
    ends = {"stdin": program_side, "stdout": program_side, "stderr": program_side}
    process = tree("keys", "--grace", "1s", start_new_session=True, preexec_fn=take_terminal, **ends)
    os.close(program_side)
    with os.fdopen(terminal) as shown:
        wait_until_said(shown, 2)
        os.write(terminal, key)
        assert process.wait(LIMIT) == code
    assert not processes_with(tag)


def victims(process, whom):
    """The processes of muster to kill; the inner one is not there yet at first. Of both it comes first: the pid of
    the outer one, our child, stays its own until we have waited for it."""
    inner = children_of(process.pid)[:1]
    return {"inner": inner or [process.pid], "outer": [process.pid], "both": [*inner, process.pid]}[whom]


@pytest.mark.parametrize("whom", ["inner", "outer", "both"])
def test_nothing_stays_after_kills_at_random_moments(muster, tree, tag, stranger, whom):
    moments = random.Random(whom)
    for number in range(KILLS // 3 + 1):
        process = tree(f"random-{number}", stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        time.sleep(moments.uniform(0, 0.1))  # the moment itself is what is tried
        for pid in victims(process, whom):
            os.kill(pid, signal.SIGKILL)
        process.wait(LIMIT)
        if whom == "both":
            muster("ps", "-a", code=0)
        wait_until_none_has(tag)
    assert "Running" not in muster("ps", "-a", code=0).stdout


def take_terminal():
    """Makes standard input the terminal of this session."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_closing_the_terminal_ends_the_job(muster, tree, tag, stranger):
    terminal, program_side = pty.openpty()
    ends = {"stdin": program_side, "stdout": program_side, "stderr": program_side}
    process = tree("terminal", "--grace", "0", start_new_session=True, preexec_fn=take_terminal, **ends)
    os.close(program_side)
    with os.fdopen(terminal) as shown:
        wait_until_said(shown, 2)
    assert process.wait(LIMIT) == 129
    assert not processes_with(tag)
    assert muster.job("terminal")["status"]["failure"]["reason"] == "Stopped"


def test_a_second_interrupt_ends_what_ignores_the_first(muster, tree, tag, stranger):
    process = tree("impatient", "--grace", "1000s")
    wait_until_grown(process)
    process.send_signal(signal.SIGINT)
    muster.until("impatient", lambda job: any(r["state"] == "Stopping" for r in job["status"]["replicas"]))
    time.sleep(1)  # two less than 200 ms apart count as one press of the keys
    process.send_signal(signal.SIGINT)
    assert process.wait(LIMIT) == 130
    assert not processes_with(tag)


def test_stop_and_continue_reach_muster_as_a_shell_expects(muster, tree, tag):
    process = tree("paused", "--grace", "0")
    wait_until_grown(process)
    process.send_signal(signal.SIGTSTP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)
    os.kill(process.pid, signal.SIGCONT)
    os.waitid(os.P_PID, process.pid, os.WCONTINUED)
    process.terminate()
    assert process.wait(LIMIT) == 143
    assert not processes_with(tag)


def test_a_job_in_the_background_leaves_nothing_either(muster, tree, tag, stranger, tmp_path):
    name, value = tag.split("=")
    job = muster.detach("--name", "behind", "-w", "2", "--", "sh", str(tmp_path / "tree.sh"), env={name: value})
    muster.until_running(job, 2)
    supervisors = [pid for pid in processes_with(tag) if runs_muster(pid)]
    assert len(supervisors) == 2
    inner = next(pid for pid in supervisors if parent_of(pid) in supervisors)
    os.kill(inner, signal.SIGKILL)
    wait_until_none_has(tag)
    assert muster.job(job)["status"]["failure"]["reason"] == "SupervisorLost"


def test_what_left_its_group_and_forgot_its_mark_ends_with_the_job(muster, tag, stranger):
    name, value = tag.split("=")
    done = muster("run", "--name", "forgetful", "--", "sh", "-c",
                  "setsid env -i PATH=$PATH sh -c 'sleep 1000 & echo $! $$; : >there; wait' & "
                  "until [ -e there ]; do sleep 0.1; done; exit 0",
                  env={name: value}, code=0)
    pids = [int(word) for word in done.stdout.split() if word.isdigit()]
    assert len(pids) >= 2
    assert not any(is_alive(pid) for pid in pids)


# No process of a job carries a mark there, and none is a descendant of whoever looks for it.
FORGETFUL = """
setsid env -i PATH=$PATH sh -c 'sleep 1000 & (setsid sleep 1000 & echo $! >>there); echo $! $$ >>there; wait' &
until [ "$(wc -w <there 2>/dev/null || echo 0)" = 3 ]; do sleep 0.1; done
echo grown
sleep 1000
"""


@pytest.fixture
def forgetful(muster):
    """A job in the background whose worker has three descendants without a mark: its name, and their pids."""
    job = muster.detach("--name", "forgetful", "--", "sh", "-c", FORGETFUL)
    following = muster.start("logs", "-f", job)
    read_until(following.stdout, "grown")
    following.kill()
    following.wait()
    pids = [int(word) for word in (muster.folder / "there").read_text().split()]
    yield job, pids
    for pid in filter(is_alive, pids):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def group(muster, forgetful):
    """The control group of that job."""
    folder = supervisor_of(muster, forgetful[0]).get("group")
    if not folder:
        pytest.skip("no control group can be made here")
    made = pathlib.Path(folder)
    assert (made / "cgroup.procs").read_text().split()
    yield made
    if made.exists():
        (made / "cgroup.kill").write_text("1")
        wait_until(lambda: not (made / "cgroup.procs").read_text())
        made.rmdir()


def test_what_forgot_its_mark_is_ended_by_the_next_muster(muster, forgetful, group, stranger):
    job, pids = forgetful
    (group / "below").mkdir()
    (group / "below" / "cgroup.procs").write_text(str(pids[0]))
    kill_supervisor(muster, job)
    assert all(map(is_alive, pids))
    muster("ps", code=0)
    assert not any(map(is_alive, pids))
    assert not group.exists()
    assert muster.job(job)["status"]["failure"]["reason"] == "SupervisorLost"


ASKING = """
setsid env -i PATH=$PATH sh -c 'echo $$ >hidden; mv hidden there; exec sleep 1000' &
setsid sh -c 'until [ -e both-are-gone ]; do sleep 0.1; done; exec "$0" ps -a >seen 2>&1' "$0" &
wait
"""


def test_a_muster_of_the_job_itself_ends_the_rest(muster, stranger):
    """It is in the group that it ends: it goes on, and what was begun beside it does not."""
    job = muster.detach("--name", "asking", "--", "sh", "-c", ASKING, *muster.program)
    there, seen = muster.folder / "there", muster.folder / "seen"
    wait_until(there.exists)
    hidden = int(there.read_text())
    folder = supervisor_of(muster, job).get("group")
    kill_supervisor(muster, job)
    assert is_alive(hidden)
    try:
        (muster.folder / "both-are-gone").touch()
        wait_until(lambda: seen.exists() and "asking" in seen.read_text())
        if folder:
            assert not is_alive(hidden)
            assert not pathlib.Path(folder).exists()
    finally:
        if is_alive(hidden):
            os.kill(hidden, signal.SIGKILL)


def test_a_group_that_a_record_does_not_own_is_left_alone(muster, forgetful, group, stranger):
    """The record is a file, which somebody may have brought from elsewhere."""
    job, _ = forgetful
    kill_supervisor(muster, job)
    other = group.with_name(group.name + "0")
    other.mkdir()
    (other / "cgroup.procs").write_text(str(stranger.pid))
    told = json.dumps({**supervisor_of(muster, job), "group": str(other)})
    with database(muster) as connection:
        connection.execute("UPDATE jobs SET supervisor = ? WHERE name = ?", (told, job))
    muster("ps", code=0)
    assert stranger.poll() is None
    (group.parent / "cgroup.procs").write_text(str(stranger.pid))
    other.rmdir()


@pytest.mark.parametrize("end", ["stop", "outer", "inner"])
def test_no_group_outlives_its_job(muster, forgetful, group, end):
    job, pids = forgetful
    if end == "stop":
        muster("stop", "--now", job, code=0)
    else:
        os.kill(supervisor_of(muster, job)[end]["pid"], signal.SIGKILL)
    for pid in pids:
        assert wait_until_process_is_gone(pid)
    wait_until(lambda: not group.exists())
