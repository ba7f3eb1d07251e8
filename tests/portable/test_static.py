"""`make static`: one file that runs where nothing else is."""

import os
import shutil

import pytest

from conftest import ROOT, System, run


@pytest.fixture
def system(tmp_path):
    """A root folder with muster, and what every container has: /proc and /dev/null."""
    for name in ("proc", "dev", "tmp"):
        (tmp_path / name).mkdir()
    os.mknod(tmp_path / "dev/null", 0o666 | 0o020000, os.makedev(1, 3))
    said, _ = run("make", "-s", "static", cwd=ROOT)
    shutil.copy(ROOT / said.splitlines()[-1], tmp_path / "muster")
    return System(tmp_path, "/tmp")


def test_two_workers_run_in_an_empty_root_folder(system):
    said, trouble = system.start("/muster", "run", "--name", "two", "-w", "2", "--", "/muster", "version")
    assert sorted(said.splitlines()) == ["worker-0 | muster 0.1.0", "worker-1 | muster 0.1.0"]
    assert "job two succeeded" in trouble
    said, _ = system.start("/muster", "logs", "two")
    assert said.count("muster 0.1.0") == 2


def test_a_failure_is_explained_there(system):
    _, trouble = system.start("/muster", "run", "-w", "2", "--", "/muster", "nonsense", code=2)
    assert "exited with code 2" in trouble
    assert "unknown command 'nonsense'" in trouble


def test_what_it_lacks_is_told(system):
    _, trouble = system.start("/muster", "run", "--on", "kubernetes", "--", "true", code=125)
    assert "install muster with Kubernetes support" in trouble
