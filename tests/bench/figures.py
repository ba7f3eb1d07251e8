"""The figures that need no training framework: each measures one launcher once.

None means that the launcher cannot do what is measured. Moments are noted by the launched programs
themselves, so what this file costs is in no figure.
"""

import atexit
import os
import re
import signal
import subprocess
import time

from measure import (LINES, NANOSECONDS, STAMP, is_alive, launched, memory_of, session, wake_ups_of)

MEGABYTE = 1e6
WORKER = "worker"


def sleeping_worker(stamps):
    return [STAMP, stamps.path, WORKER, "sleep", "1000"]


def measure_start(launcher, count):
    """Milliseconds from the launcher's exec to the last worker's first instruction."""
    with session() as (folder, stamps):
        with launched(launcher.start(count, sleeping_worker(stamps), folder), folder, stamps) as job:
            return (job.wait_for_workers(count) - job.begin) / NANOSECONDS * 1000


def measure_memory(launcher, count):
    """Megabytes of the launcher's processes while the workers run."""
    with session() as (folder, stamps):
        with launched(launcher.start(count, sleeping_worker(stamps), folder), folder, stamps) as job:
            job.wait_for_workers(count)
            time.sleep(1)
            return memory_of(job.own_processes()) / MEGABYTE


def measure_stop(launcher, count):
    """Milliseconds from TERM to the launcher's end; None when it leaves workers behind."""
    with session() as (folder, stamps):
        with launched(launcher.start(count, sleeping_worker(stamps), folder), folder, stamps) as job:
            job.wait_for_workers(count)
            time.sleep(0.2)
            begin = time.monotonic_ns()
            job.signal(signal.SIGTERM)
            ended, _ = job.wait()
            return None if any(map(is_alive, job.workers)) else (ended - begin) / NANOSECONDS * 1000


def measure_left_behind(launcher, count):
    """Workers that live a second after the launcher was killed."""
    with session() as (folder, stamps):
        with launched(launcher.start(count, sleeping_worker(stamps), folder), folder, stamps) as job:
            job.wait_for_workers(count)
            time.sleep(0.2)
            job.signal(signal.SIGKILL)
            job.wait()
            time.sleep(1)
            return sum(map(is_alive, job.workers))


def measure_restart(launcher, count):
    """Milliseconds from the SIGKILL of one worker until all of the new attempt run."""
    if not launcher.restarts:
        return None
    with session() as (folder, stamps):
        argv = launcher.start_restarting(count, sleeping_worker(stamps), folder)
        with launched(argv, folder, stamps) as job:
            job.wait_for_workers(count)
            time.sleep(0.5)
            begin = time.monotonic_ns()
            os.kill(job.workers[0], signal.SIGKILL)
            return (job.wait_for_workers(count) - begin) / NANOSECONDS * 1000


def measure_wake_ups(launcher, count):
    """How often the launcher's processes wake up in a second while nothing happens."""
    seconds = 10
    with session() as (folder, stamps):
        with launched(launcher.start(count, sleeping_worker(stamps), folder), folder, stamps) as job:
            job.wait_for_workers(count)
            time.sleep(2)
            own = job.own_processes()
            before = wake_ups_of(own)
            time.sleep(seconds)
            return (wake_ups_of(own) - before) / seconds


def count_faults(path, workers, lines):
    """Lines lost, torn or out of order in merged output."""
    pattern = re.compile(rb"(\d+) (\d{7}) x+$")
    following, whole, disordered = {}, 0, 0
    with open(path, "rb") as output:
        for line in output:
            match = pattern.search(line.rstrip())
            if not match:
                continue
            pid, number = match.group(1), int(match.group(2))
            whole += 1
            disordered += number != following.get(pid, 0)
            following[pid] = number + 1
    return workers * lines - whole + disordered


def run_lines(launcher, count, lines, rate, watch=None, writers=1):
    """(seconds, own processor seconds, faults) of `count` workers that print as fast as they can, at a `rate`, or each
    line for itself ("each"), with so many writers in each; None: it cannot."""
    if not launcher.merges_lines:
        return None
    with session() as (folder, stamps):
        command = [LINES, stamps.path, str(lines), "100"] + ([str(rate)] if rate else [])
        with launched(launcher.start_logging(count, command, folder), folder, stamps) as job:
            if watch:
                watch(job)
            workers = sum(own for _, own in stamps.take("cpu", count * writers)) / NANOSECONDS
            ended, processor = job.wait()
            return ((ended - job.begin) / NANOSECONDS, processor - workers,
                    count_faults(job.output, count * writers, lines))


def measure_lines(launcher, count, lines, rate=None, writers=1):
    result = run_lines(launcher, count, lines, rate, writers=writers)
    return result and dict(zip(("seconds", "processor seconds", "faults"), result))


def measure_lines_memory(launcher, count, lines):
    """The most megabytes of the launcher's processes while it merges lines."""
    most = 0

    def watch(job):
        nonlocal most
        while not job.stamps.has("cpu", 1, patience=0.05):
            most = max(most, memory_of(pid for pid in job.own_processes() if not is_worker(pid)))

    return most / MEGABYTE if run_lines(launcher, count, lines, None, watch) else None


def is_worker(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe") == LINES
    except OSError:
        return True


def measure_paced_lines(launcher, count, per_second):
    """Share of one core that merging costs, at a steady rate of lines."""
    result = run_lines(launcher, count, 5 * per_second, per_second)
    return result and dict(zip(("cores", "faults"), (result[1] / result[0], result[2])))


class JobList:
    """`ps -a` with a thousand jobs in the store."""

    def __init__(self, jobs):
        self.jobs = jobs
        self.session = None

    def __call__(self, launcher):
        if launcher.name != "muster":
            return None
        if self.session is None:
            self.fill(launcher)
        begin = time.monotonic_ns()
        listed = subprocess.run([launcher.program, "ps", "-a"], env=self.environment, check=True,
                                capture_output=True)
        ended = time.monotonic_ns()
        assert listed.stdout.count(b"\n") == self.jobs + 1, "not every job is listed"
        return (ended - begin) / NANOSECONDS * 1000

    def fill(self, launcher):
        self.session = session()
        folder, _ = self.session.__enter__()
        atexit.register(self.session.__exit__, None, None, None)
        self.environment = {**os.environ, "XDG_STATE_HOME": os.path.join(folder, "state")}
        for number in range(self.jobs):
            subprocess.run([launcher.program, "run", "--name", f"job-{number}", "--", "true"],
                           env=self.environment, check=True, capture_output=True)
