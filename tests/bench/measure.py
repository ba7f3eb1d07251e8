"""What the figures are made of: a launched job, its stamps, its processes, its end."""

import atexit
import contextlib
import functools
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAMS = os.path.join("build", "tests", "bench")
STAMP = os.path.abspath(os.path.join(PROGRAMS, "bench_stamp"))
LINES = os.path.abspath(os.path.join(PROGRAMS, "bench_lines"))

NANOSECONDS = 1e9
PATIENCE = 120  # seconds that anything may take before the benchmark gives up
PATIENCE_WITH_TERM = 5  # seconds that a launcher has to end in good order


class Stamps:
    """A FIFO that launchers and workers write "WORD PID NANOSECONDS" into."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "stamps")
        os.mkfifo(self.path)
        # Open for writing too, so that there is no end of file between two workers.
        self.fd = os.open(self.path, os.O_RDWR | os.O_NONBLOCK)
        self.rest = ""
        self.seen = []

    def close(self):
        os.close(self.fd)

    def has(self, word, count, patience):
        """Whether there are `count` stamps of this word; reads on for `patience` seconds."""
        if sum(stamp[0] == word for stamp in self.seen) >= count:
            return True
        if select.select([self.fd], [], [], patience)[0]:
            *lines, self.rest = (self.rest + os.read(self.fd, 65536).decode()).split("\n")
            for line in lines:
                name, pid, moment = line.split()
                self.seen.append((name, int(pid), int(moment)))
        return sum(stamp[0] == word for stamp in self.seen) >= count

    def take(self, word, count):
        """Waits for the next `count` stamps of this word: [(pid, nanoseconds)], oldest first."""
        end = time.monotonic() + PATIENCE
        while not self.has(word, count, max(0, end - time.monotonic())):
            if time.monotonic() > end:
                raise TimeoutError(f"no {count} stamps '{word}' after {PATIENCE} s")
        found = [stamp for stamp in self.seen if stamp[0] == word][:count]
        self.seen = [stamp for stamp in self.seen if stamp not in found]
        return [(pid, moment) for _, pid, moment in found]


class Job:
    """One launcher at work. `begin` is the moment just before the launcher was executed."""

    def __init__(self, argv, folder, stamps, environment):
        self.stamps = stamps
        self.output = os.path.join(folder, "output")
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(
                [STAMP, stamps.path, "begin", *argv], cwd=folder, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, process_group=0,
                env={**os.environ, **environment})
        self.pid = self.process.pid
        self.begin = stamps.take("begin", 1)[0][1]
        self.workers = []

    def wait_for_workers(self, count):
        """Waits for `count` new workers, and gives the moment at which the last one ran."""
        stamps = self.stamps.take("worker", count)
        self.workers = [pid for pid, _ in stamps]
        return max(moment for _, moment in stamps)

    def signal(self, number):
        os.kill(self.pid, number)

    def wait(self):
        """Waits for the launcher's end: (moment, processor seconds of it and all its children)."""
        _, status, usage = os.wait4(self.pid, 0)
        moment = time.monotonic_ns()
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return moment, usage.ru_utime + usage.ru_stime

    def own_processes(self):
        """The launcher and what it started, without the workers."""
        return [pid for pid in tree_of(self.pid) if pid not in self.workers]

    def end(self):
        """Ends the job in good order where it takes that, and whatever is left by its number."""
        if self.process.returncode is None:
            descriptor = os.pidfd_open(self.pid)
            self.signal(signal.SIGTERM)
            select.select([descriptor], [], [], PATIENCE_WITH_TERM)
            os.close(descriptor)
        for pid in tree_of(self.pid) + [pid for pid in self.workers if is_alive(pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.process.returncode is None:
            self.wait()


@contextlib.contextmanager
def session():
    """A folder of its own on the disk of the build, with stamps in it."""
    folder = tempfile.mkdtemp(prefix="bench-", dir=os.path.abspath("build"))
    stamps = Stamps(folder)
    try:
        yield folder, stamps
    finally:
        stamps.close()
        shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def state_folder():
    """Where muster remembers the jobs of all these measurements, as it does for a person's, and the token of that person."""
    folder = tempfile.mkdtemp(prefix="bench-state-", dir=os.path.abspath("build"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@contextlib.contextmanager
def launched(argv, folder, stamps):
    job = Job(argv, folder, stamps, {"XDG_STATE_HOME": state_folder(), "XDG_CONFIG_HOME": state_folder()})
    try:
        yield job
    finally:
        job.end()


def read_stat(pid):
    """(state, parent) of a process; (None, None) when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return fields[0], int(fields[1])
    except OSError:
        return None, None


def is_alive(pid):
    return read_stat(pid)[0] not in (None, "Z", "X")


def tree_of(root):
    """A process and all its descendants that live."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            state, parent = read_stat(int(name))
            if state not in (None, "Z", "X"):
                children.setdefault(parent, []).append(int(name))
    found, waiting = [], [root] if is_alive(root) else []
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += children.get(pid, [])
    return found


def memory_of(pids):
    """Bytes of these processes: what is theirs alone and their share of the rest (Pss)."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as rollup:
                total += sum(int(line.split()[1]) * 1024 for line in rollup
                             if line.startswith("Pss:"))
    return total


def wake_ups_of(pids):
    """How often these processes have been given the processor so far."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/status", encoding="utf-8") as status:
                total += sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)
    return total


def peak_of(pid):
    """Bytes that were resident at the most, pages of libraries included; 0 when it has ended."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        return sum(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def see_through(process):
    """Waits for its end: (what it used, its peak of memory).

    The ru_maxrss of what it used would begin with that of this process.
    """
    peak = 0
    while True:
        peak = max(peak, peak_of(process.pid))
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return used, peak
        time.sleep(0.02)
