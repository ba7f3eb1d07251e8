"""What makes images, with other programs in the places of meson and skopeo; what is in an image: tests/cluster."""

import os
import signal
import subprocess

import pytest

from conftest import LIMIT, ROOT, read_until

pytestmark = pytest.mark.unsanitized

TELLS_VERSION = """#!/bin/sh
[ $1 != introspect ] || exec echo '{"version": "1"}'
"""
# Two of the files that an installation has; the link leads to a program that this machine has.
INSTALLS = """
mkdir -p $DESTDIR/usr/local/bin
cp /bin/true $DESTDIR/usr/local/bin/muster
ln -s /bin/true $DESTDIR/usr/local/bin/local_test
"""
WORKS_FOR_EVER = """
echo works >&2
exec sleep infinity
"""


@pytest.fixture
def make(tmp_path):
    """Starts one of the tools where meson, after it told the version, and skopeo do what `script` says."""
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "TMPDIR": str(tmp_path / "tmp")}

    def start(script, tool, *arguments):
        for name in ("meson", "skopeo"):
            (tmp_path / name).write_text(TELLS_VERSION + script)
            (tmp_path / name).chmod(0o755)
        return subprocess.Popen([ROOT / "tools" / tool, *arguments], cwd=tmp_path, env=environment,
                                stderr=subprocess.PIPE)

    return start


@pytest.mark.parametrize("call", [["make_image.py", "build", "image.tar"],
                                  ["make_server_image.py", "build", "registry.test/base:1", "image.tar"]])
def test_its_temporary_folder_goes_with_it(make, tmp_path, call):
    making = make(WORKS_FOR_EVER, *call)
    read_until(making.stderr, "works")
    assert list((tmp_path / "tmp").iterdir())
    making.terminate()
    assert making.wait(LIMIT) == 128 + signal.SIGTERM
    assert not list((tmp_path / "tmp").iterdir())


def test_an_installed_muster_makes_the_image_no_larger(make, tmp_path):
    making = make(INSTALLS, "make_image.py", "build", "image.tar")
    assert making.wait(LIMIT) == 0, making.stderr.read()
    unpacking = [ROOT / "tools" / "oci.py", "unpack", "image.tar", "image"]
    subprocess.run(unpacking, cwd=tmp_path, check=True, timeout=LIMIT)
    assert [path.name for path in (tmp_path / "image/usr/local/bin").iterdir()] == ["muster"]
