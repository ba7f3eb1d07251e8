"""What tests of the real program share: a muster with a state folder of its own, and waiting for things themselves.

Nothing here sleeps for luck: jobs are waited for by `muster status -w`, processes by a pidfd, output by reading it.
LIMIT is only there so that a test that hangs ends; nothing is judged by it.
"""

import contextlib
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "fake_kube"))
BINARY = os.environ.get("MUSTER_BINARY", str(ROOT / "build" / "muster"))
LIMIT = 600
# A shell in the background ignores them for all that it starts, and what ignores Ctrl-C is not ended by it.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup ignores
KILLS = int(os.environ.get("MUSTER_SOAK_KILLS", "50"))  # at random moments, of all that can be killed


def few(values, count=1):
    """Of parameters: those that come first always, and the others in long runs (pytest.mark.long)."""
    values = list(values)
    return values[:count] + [pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.long)
                             for value in values[count:]]


def read_line(stream, limit=LIMIT):
    """One line of a pipe, past Python's buffers, so that nothing behind it is taken."""
    line = b""
    while not line.endswith(b"\n"):
        assert select.select([stream], [], [], limit)[0], f"nothing came behind {line}"
        byte = os.read(stream.fileno(), 1)
        if not byte:
            break
        line += byte
    return line.decode(errors="replace")


def read_until(stream, wanted, limit=LIMIT):
    """Reads lines of a pipe until one contains `wanted`; gives all of them."""
    lines = []
    while not lines or wanted not in lines[-1]:
        lines.append(read_line(stream, limit))
        assert lines[-1], f"ended without {wanted!r}: {lines}"
    return lines


def objects_of(stream):
    """The JSON objects that come one after the other."""
    decoder = json.JSONDecoder()
    text = ""
    for line in stream:
        text += line
        try:
            value, end = decoder.raw_decode(text)
        except json.JSONDecodeError:
            continue
        text = text[end:].lstrip()
        yield value


def print_rest(process, code):
    """What nobody has read of its chatter; others may hold the pipe open."""
    if not process.stderr or process.stderr.closed:
        return
    os.set_blocking(process.stderr.fileno(), False)
    with contextlib.suppress(BlockingIOError):
        rest = os.read(process.stderr.fileno(), 1 << 16).decode(errors="replace")
        print(f"{process.args[1:3]} {'was killed' if code is None else f'ended with {code}'}: {rest}")


class Muster:
    """The program with a state folder of its own."""

    def __init__(self, folder, program=(BINARY,)):
        self.folder = folder
        self.program = program
        self.state = folder / "state"
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("MUSTER_", "TF_CONFIG", "KUBE", "SLURM_"))}
        self.environment.update(XDG_STATE_HOME=str(self.state), XDG_CONFIG_HOME=str(folder / "config"), HOME=str(folder))
        self.started = []

    def _options(self, env, options):
        environment = dict(self.environment)
        for name, value in (env or {}).items():
            if value is None:
                environment.pop(name, None)
            else:
                environment[name] = str(value)
        return {"cwd": self.folder, "env": environment, "text": True, **options}

    def __call__(self, *arguments, code=None, env=None, limit=LIMIT, **options):
        """Runs it to its end; `code` is the exit code that is expected."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        if "input" not in pipes:
            pipes.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run([*self.program, *map(str, arguments)], timeout=limit, **self._options(env, pipes))
        if code is not None:
            assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def start(self, *arguments, env=None, before=(), **options):
        """Starts it, behind the words `before` of another program; it is ended with the test."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        process = subprocess.Popen([*before, *self.program, *map(str, arguments)], **self._options(env, pipes))
        self.started.append(process)
        return process

    def token(self):
        """Of its user; none before a server was started."""
        path = self.folder / "config" / "muster" / "token"
        return path.read_text().strip() if path.exists() else None

    def detach(self, *arguments, env=None):
        """Starts a job in the background; gives its name."""
        return self("run", "-d", *arguments, code=0, env=env).stdout.strip()

    def job(self, name):
        return json.loads(self("status", "-o", "json", name, code=0).stdout)

    def until(self, name, condition, limit=LIMIT):
        """Waits until the job fulfils `condition`; gives the job."""
        with tempfile.TemporaryFile("w+") as said:
            process = self.start("status", "-w", "-o", "json", name, stderr=said)
            timer = threading.Timer(limit, process.kill)
            timer.start()
            job = None
            try:
                for job in objects_of(process.stdout):
                    if condition(job):
                        return job
            finally:
                timer.cancel()
                process.kill()
                process.wait()
            said.seek(0)
            pytest.fail(f"job '{name}' never came to it: {json.dumps(job, indent=1)}\n{said.read()}")

    def until_running(self, name, count):
        """Waits until `count` replicas run; gives the job."""
        return self.until(name, lambda job: sum(r["state"] == "Running" for r in replicas(job)) == count)

    def end(self):
        """Ends what the test left: its own processes, then every job. What these have said is shown when the test failed."""
        for process in self.started:
            code = process.poll()
            if code is None:
                process.send_signal(signal.SIGKILL)
            process.wait()
            print_rest(process, code)
        names = self("ps", "-a", "-o", "name").stdout.split() if self.state.exists() else []
        for name in names:
            self("stop", "--grace", "0", name)
            self("delete", name)


def replicas(job):
    return job.get("status", {}).get("replicas", [])


def conditions(job):
    """The conditions that are true."""
    return [c["type"] for c in job["status"]["conditions"] if c["status"] == "True"]


@pytest.fixture
def closed_port():
    """Gives ports of 127.0.0.1 that nobody listens at before the test has ended: they are taken, and that is all."""
    with contextlib.ExitStack() as held:

        def take():
            taken = held.enter_context(socket.socket())
            taken.bind(("127.0.0.1", 0))
            return taken.getsockname()[1]

        yield take


@pytest.fixture(params=["Origin: http://localhost", "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Accept-Language: de",
                        "referer: http://localhost/", "Upgrade-Insecure-Requests: 1"])
def browser_header(request):
    """One of the headers that only browsers send; here those of a page that may read."""
    return dict([request.param.split(": ")])


@pytest.fixture
def muster(tmp_path):
    program = Muster(tmp_path)
    yield program
    program.end()
