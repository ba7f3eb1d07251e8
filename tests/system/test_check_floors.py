"""tools/check_floors.py finds includes that its table does not allow, and tables and folders that are not as it says."""

import shutil
import subprocess
import sys

import pytest

from conftest import ROOT

pytestmark = pytest.mark.unsanitized


@pytest.fixture
def check(tmp_path):
    """Checks a copy of the sources into which a test has put lines."""
    for name in ("src", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name)

    def run(**lines):
        for name, line in lines.items():
            path = tmp_path / "src" / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_text((path.read_text() if path.exists() else "") + line + "\n")
        done = subprocess.run([sys.executable, ROOT / "tools/check_floors.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == bool(done.stdout) and not done.stderr, done
        return [line.split(": ", 1)[1] for line in done.stdout.splitlines()]
    return run


def test_the_sources_are_as_the_table_says(check):
    assert check() == []


@pytest.mark.parametrize("place, line, fault", [
    ("io__log_dot_h", '#include "spec/job.h"', '"spec/job.h": io/ may not know spec/'),
    ("kube__retry_dot_h", '#include "store/store.h"', '"store/store.h": kube/ may not know store/'),
    ("spec__job_dot_c", '#include "job.h"', '"job.h" does not name its folder'),
    ("spec__job_dot_c", '#include "spec/none.h"', '"spec/none.h" does not exist'),
    ("spec__job_dot_c", "#include <unistd.h>", "<unistd.h> has no place in spec/job.c, which does no input or output"),
    ("check__check_dot_c", "#include <unistd.h>", "<unistd.h> has no place in check/check.c, which does no input or output"),
    ("cli__cmd_run_dot_c", "#include <curl/curl.h>",
     "<curl/curl.h> is included by http/pool.h and http/setup.h alone"),
])
def test_an_include_that_the_table_does_not_allow_is_a_fault(check, place, line, fault):
    assert check(**{place: line}) == [fault]


def test_who_uses_the_operating_system_includes_its_header(check):
    calls = '#include "spec/job.h"\n/* close(1) */\nint f(void) { return x.close(1) + puts("close(1)") + close(1); }'
    assert check(cli__calls_dot_c=calls, cli__fine_dot_c=calls.replace("spec/job.h", "io/file.h"),
                 cli__number_dot_c="int g(void) { return STDERR_FILENO; }") == ["close needs <unistd.h>", "STDERR_FILENO needs <unistd.h>"]


def test_a_folder_needs_a_line_and_a_readme(check):
    assert check(attic__old_dot_c="/* nothing */") == ["the folder attic/ has no line in MAY_INCLUDE",
                                                      "3 to 8 lines say what the folder is; there are 0"]


def test_a_walk_that_names_what_is_not_there_is_a_fault(check, tmp_path):
    document = tmp_path / "docs/ARCHITECTURE.md"
    document.write_text(document.read_text().replace("## What is stored", "## Walk 5: nowhere\n\n1. `io/none.c`: `never_defined()`\n\n## What is stored"))
    assert check() == ["'io/none.c' of 'Walk 5: nowhere' does not exist",
                       "the function 'never_defined' of 'Walk 5: nowhere' does not exist"]
