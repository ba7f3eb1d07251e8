"""The image that `make image` makes: small, the same every time, and it runs."""

import fcntl
import json
import os
import pathlib
import subprocess
import tarfile

import pytest

from conftest import ROOT, real_pod

BUILD = pathlib.Path(os.environ.get("MUSTER_BINARY", ROOT / "build" / "muster")).parent
NAME = "localhost/muster:test"
MEGABYTE = 1_000_000


def make(path):
    subprocess.run([ROOT / "tools" / "make_image.py", BUILD, path, NAME], check=True)
    return path


@pytest.fixture(scope="session")
def image_file():
    """Made once for a build, by one of all who run tests at the same time."""
    path = BUILD / "muster-test-image.tar"
    programs = [BUILD / "muster", BUILD / "muster-kubernetes", BUILD / "muster-static"]
    with open(BUILD / "muster-test-image.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists() or path.stat().st_mtime < max(program.stat().st_mtime for program in programs):
            make(path)
    return path


@pytest.fixture
def image(cluster, image_file):
    cluster.load(image_file)
    return image_file


def lines_of(namespace, name, *command):
    """A kubelet refuses such a Pod when the image's user is root."""
    namespace.create(real_pod(name, *command, image=NAME, securityContext={"runAsNonRoot": True}))
    namespace.until_phase(name, "Succeeded")
    return namespace.kubectl("logs", name)


@pytest.mark.long
def test_it_is_small_and_the_same_every_time(image, tmp_path):
    assert image.stat().st_size < 15 * MEGABYTE
    assert image.read_bytes() == make(tmp_path / "again.tar").read_bytes()


@pytest.mark.long
def test_both_programs_find_their_libraries(image, namespace):
    local = lines_of(namespace, "local", "muster", "version")
    assert local.startswith("muster ")
    cluster = lines_of(namespace, "cluster", "/usr/local/libexec/muster/muster-kubernetes", "version")
    assert cluster.startswith(local) and "libcurl" in cluster


@pytest.mark.long
def test_a_job_runs_in_it_without_rights(image, namespace):
    """The user may write to its home, where jobs are remembered; muster is the only program there is."""
    said = lines_of(namespace, "job", "muster", "run", "-w", "2", "--", "muster", "version")
    assert said.count("muster ") >= 2


def said_by_containerfile(word):
    lines = (ROOT / "Containerfile").read_text().splitlines()
    return [line.split(maxsplit=1)[1] for line in lines[lines.index("FROM scratch"):] if line.startswith(word)]


@pytest.mark.long
def test_the_containerfile_makes_the_same_image(image, tmp_path):
    """Its last stage is the image unpacked; what it says besides is what the image's configuration has."""
    subprocess.run([ROOT / "tools" / "oci.py", "unpack", image, tmp_path], check=True)
    done = subprocess.run(["chroot", tmp_path, "/usr/local/bin/muster", "version"], stdout=subprocess.PIPE, text=True)
    assert done.stdout.startswith("muster ")
    with tarfile.open(image) as archive:
        manifest = json.load(archive.extractfile("index.json"))["manifests"][0]
        for key in (None, "config"):
            descriptor = manifest[key] if key else manifest
            manifest = json.load(archive.extractfile("blobs/" + descriptor["digest"].replace(":", "/")))
    config = manifest["config"]
    assert said_by_containerfile("USER") == [config["User"]]
    assert said_by_containerfile("WORKDIR") == [config["WorkingDir"]]
    assert said_by_containerfile("ENV") == [" ".join(config["Env"])]
    assert json.loads(said_by_containerfile("ENTRYPOINT")[0]) == config["Entrypoint"]
    assert (tmp_path / "home" / "muster").stat().st_uid == int(config["User"])
