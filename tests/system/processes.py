"""Looking at processes, and ending them, by /proc. Any of them may end between being seen and being asked."""

import contextlib
import os
import pathlib
import select
import signal
import time

from conftest import LIMIT


def wait_until(is_so):
    """For what tells nobody when it comes: a state of a process, of a terminal, of the kernel's tables."""
    over = time.monotonic() + LIMIT
    while not is_so():
        assert time.monotonic() < over
        time.sleep(0.01)


def interrupt(process):
    """Ctrl-C, until it was delivered, so that the next one is another."""
    process.send_signal(signal.SIGINT)
    wait_until(lambda: not is_pending(process.pid, signal.SIGINT))


def is_pending(pid, number):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    pending = [int(line.split()[1], 16) for line in lines if line.startswith(("SigPnd:", "ShdPnd:"))]
    return any(mask >> (number - 1) & 1 for mask in pending)


def parent_of(pid):
    """The pid of the parent of a process; OSError when there is no such process any more."""
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()[1])


def wait_until_process_is_gone(pid, limit=LIMIT):
    """Waits for the end of any process, not only of a child. True when it is gone."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([fd], [], [], limit)[0])
    finally:
        os.close(fd)


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def is_child(name, pid):
    try:
        return parent_of(name) == pid
    except OSError:
        return False


def children_of(pid):
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and is_child(name, pid)]


def inner_of(process):
    """The only child of a muster of two processes: the one that works."""
    (inner,) = children_of(process.pid)
    return inner


def variables_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def processes_with(entry):
    """The pids of all processes that have this entry in their environment."""
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return {pid for pid in pids if entry.encode() in variables_of(pid)}


def wait_until_none_has(entry):
    while pids := processes_with(entry):
        for pid in pids:
            assert wait_until_process_is_gone(pid), f"process {pid} stays: {variables_of(pid)}"


def kill_all_with(entry):
    for pid in processes_with(entry):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
