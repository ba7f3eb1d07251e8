"""Two programs of one tree: muster, which starts quickly, and muster-kubernetes beside it."""

import pathlib
import re
import subprocess

import pytest

from conftest import BINARY, LIMIT

pytestmark = pytest.mark.sanitize

KUBERNETES = pathlib.Path(BINARY).with_name("muster-kubernetes")
# The compiler's own and those of the sanitizers come besides.
LEAN = {"libevent_core-2.1.so.7", "libevent_extra-2.1.so.7", "libjansson.so.4", "libyaml-0.so.2", "libsqlite3.so.0"}
SYSTEM = re.compile(r"(libc|libm|libpthread|libdl|librt|libgcc_s|libasan|libubsan|ld-linux\S*)\.so\.\d+")


def libraries_of(program):
    """The libraries that a program names itself."""
    shown = subprocess.run(["readelf", "-d", program], check=True, capture_output=True, text=True, timeout=LIMIT)
    names = set(re.findall(r"\(NEEDED\)\s+Shared library: \[(.+)\]", shown.stdout))
    return {name for name in names if not SYSTEM.fullmatch(name)}


def test_muster_loads_four_libraries_and_no_more():
    assert libraries_of(BINARY) == LEAN


def test_the_other_program_has_what_clusters_need_besides():
    assert libraries_of(KUBERNETES) == LEAN | {"libcurl.so.4", "libwslay.so.1"}


def test_both_have_the_same_commands_and_the_other_one_names_its_libraries(muster):
    def said_by(program, *arguments):
        return subprocess.run([program, *arguments], check=True, capture_output=True, text=True,
                              env=muster.environment, timeout=LIMIT).stdout

    assert said_by(KUBERNETES, "help") == said_by(BINARY, "help")
    version = said_by(BINARY, "version")
    assert said_by(KUBERNETES, "version").startswith(version)
    assert "libcurl/" not in version
    assert re.search(r"libcurl/\d+\.\d+\.\d+ .*SSL", said_by(KUBERNETES, "version"))
