"""What tests on a real Slurm share: one with eight nodes for all of them (tests/slurm/slurm), a home directory for each.

Nothing sleeps for luck: tests wait for the thing itself. LIMIT is only there so that a test that hangs ends.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))

from waiting import LIMIT, until

SCRIPT = pathlib.Path(__file__).resolve().parent / "slurm"
BINARY = pathlib.Path(os.environ.get("MUSTER_BINARY", ROOT / "build" / "muster")).resolve()
NODES = 8
PROGRAMS = ("slurmctld", "slurmd", "srun", "sbatch", "nsenter", "unshare", "setpriv", "ip")

# A shell in the background ignores them for all that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Slurm:
    """One that is up, for one test: `home` is a directory that all nodes have."""

    def __init__(self, folder, home):
        self.folder, self.home = folder, home
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "MUSTER_", "XDG_", "PET_"))}
        self.environment = {**inherited, "HOME": str(home), "PATH": f"{BINARY.parent}:{os.environ['PATH']}",
                            "SLURM_CONF": str(folder / "slurm.conf")}

    def start(self, *words, **how):
        """A command of Slurm or muster on the head node."""
        return subprocess.Popen([SCRIPT, "in", self.folder, *words], cwd=self.home, env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, **how)

    def run(self, *words, code=0):
        with self.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            said, trouble = process.communicate(timeout=LIMIT)
        assert process.returncode == code, (process.returncode, said, trouble)
        return said, trouble

    def on_node(self, node, *words):
        return subprocess.run([SCRIPT, "node", self.folder, node, *words], cwd=self.home, env=self.environment, text=True,
                              capture_output=True, check=False, timeout=LIMIT)

    def kill(self, node):
        subprocess.run([SCRIPT, "kill", self.folder, node], check=True, env=self.environment)

    def until_down(self, node):
        until(lambda: self.run("sinfo", "-h", "-n", node, "-o", "%T")[0], lambda states: "down" in states)

    def restore(self, node):
        self.until_down(node)
        subprocess.run([SCRIPT, "restore", self.folder, node], check=True, env=self.environment)
        until(lambda: self.run("sinfo", "-h", "-n", node, "-o", "%T")[0], lambda states: "idle" in states)

    def submit(self, script, *options):
        """Gives the id of the job of this text of a script."""
        path = self.home / "job.sbatch"
        path.write_text(script)
        return self.run("sbatch", "--parsable", *options, path.name)[0].strip()

    def job(self, number):
        words = self.run("scontrol", "-o", "show", "job", number)[0].split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def until_state(self, number, *states):
        return until(lambda: self.job(number), lambda job: job["JobState"] in states)

    def output(self, number):
        """What the job has printed so far."""
        path = pathlib.Path(self.job(number)["StdOut"])
        return path.read_text() if path.exists() else ""

    def until_printed(self, number, pattern, count=1):
        return until(lambda: self.output(number), lambda text: len(re.findall(pattern, text)) >= count)

    def is_empty(self):
        """No process of a job is left on any node: what is left has its home directory."""
        return not [path for path in pathlib.Path("/proc").glob("[0-9]*/environ") if _has(path, f"HOME={self.home}\0".encode())]


def _has(path, entry):
    try:
        return entry in path.read_bytes()
    except OSError:
        return False


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing or os.geteuid() != 0:
        pytest.skip(f"needs root, and {' '.join(missing)}")
    folder = tmp_path_factory.mktemp("slurm")
    with open(folder / "said", "w", encoding="utf-8") as said, \
            subprocess.Popen(["setpriv", "--pdeathsig", "KILL", SCRIPT, "run", folder, str(NODES)], stdout=said, stderr=said, start_new_session=True) as process:
        until(lambda: (process.poll(), (folder / "ready").exists()), any)
        assert process.poll() is None, (folder / "said").read_text()
        yield folder
        process.kill()


@pytest.fixture
def slurm(cluster, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    used = Slurm(cluster, home)
    yield used
    used.run("scancel", "--full", "--signal", "KILL", "--user", "root")
    used.run("scancel", "--user", "root")
    until(lambda: used.run("squeue", "-h")[0], lambda jobs: not jobs.strip())
