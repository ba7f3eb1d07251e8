"""What tests of the installed program share: the wheels (script/wheel), and systems to install them in (tests/portable/system)."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 300


def run(*words, code=0, **how):
    """What a command said: its output, and its messages."""
    done = subprocess.run(list(map(str, words)), text=True, capture_output=True, check=False, timeout=LIMIT, stdin=subprocess.DEVNULL, **how)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def wheel_of(machine):
    wheels = list((ROOT / "build-portable").glob(f"muster_run-*_{machine}.whl"))
    assert len(wheels) == 1, wheels
    return wheels[0]


@pytest.fixture(scope="session")
def wheel():
    return wheel_of(os.uname().machine)


class Installed:
    """A muster that pip has installed in a virtual environment."""

    def __init__(self, folder, home):
        self.folder = folder
        self.environment = {"HOME": str(home), "PATH": f"{folder}/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}

    def run(self, *words, code=0):
        return run(*words, code=code, env=self.environment, cwd=self.environment["HOME"])


def root_of(suite):
    """The root folder of a small Debian, which is in the cache: to be left as it is."""
    said, _ = run(pathlib.Path(__file__).parent / "system", suite)
    return pathlib.Path(said.strip())


class System:
    """The root folder of a small Debian of its own; a test has a folder in it."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder

    def start(self, *words, code=0):
        enter = ("unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.root}/proc", "chroot", self.root)
        return run(*enter, *words, code=code, env={"HOME": self.folder, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"})

    def run(self, script, code=0):
        return self.start("/bin/sh", "-ec", f"cd {self.folder}; {script}", code=code)
