"""The image that `make image` makes: small, the same every time, and it runs."""

import os
import pathlib
import subprocess

import pytest

from conftest import ROOT, real_pod

BUILD = pathlib.Path(os.environ.get("MUSTER_BINARY", ROOT / "build" / "muster")).parent
NAME = "localhost/muster:test"
MEGABYTE = 1_000_000


def make(path):
    subprocess.run([ROOT / "tools" / "make_image.py", BUILD, path, NAME], check=True)
    return path


@pytest.fixture(scope="module")
def image(cluster, tmp_path_factory):
    made = make(tmp_path_factory.mktemp("image") / "muster.tar")
    cluster.load(made)
    return made


def lines_of(namespace, name, *command):
    """A kubelet refuses such a Pod when the image's user is root."""
    namespace.create(real_pod(name, *command, image=NAME, securityContext={"runAsNonRoot": True}))
    namespace.until_phase(name, "Succeeded")
    return namespace.kubectl("logs", name)


def test_it_is_small_and_the_same_every_time(image, tmp_path):
    assert image.stat().st_size < 15 * MEGABYTE
    assert image.read_bytes() == make(tmp_path / "again.tar").read_bytes()


def test_both_programs_find_their_libraries(image, namespace):
    local = lines_of(namespace, "local", "muster", "version")
    assert local.startswith("muster ")
    cluster = lines_of(namespace, "cluster", "/usr/local/libexec/muster/muster-kubernetes", "version")
    assert cluster.startswith(local) and "libcurl" in cluster


def test_a_job_runs_in_it_without_rights(image, namespace):
    """The user may write to its home, where jobs are remembered; muster is the only program there is."""
    said = lines_of(namespace, "job", "muster", "run", "-w", "2", "--", "muster", "version")
    assert said.count("muster ") >= 2
