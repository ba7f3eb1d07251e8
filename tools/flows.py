#!/usr/bin/python3
"""Counts how many files a flow enters: which .c files really run, by the counters of a coverage build, and which headers those include.

    meson setup build-coverage -Db_coverage=true -Dwerror=false -Dc_link_args=-Wl,-u,__gcov_reset,-u,__gcov_dump && ninja -C build-coverage
    tools/flows.py build-coverage reset      forget what has run so far
    … run the flow with build-coverage/muster; a process that is killed reports nothing …
    tools/flows.py build-coverage NAME       print the counts, and the files by directory; --files lists them

To count a process from an event on, call both functions in it: gdb -p PID -batch -ex 'call (void) __gcov_reset()', and
__gcov_dump() at the end.

Headers of base/ are not counted: every file includes some. docs/ARCHITECTURE.md has the counts of its walks.
"""

import collections
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

AT_ONCE = 60  # files for one call of gcov


def reports(build):
    """What gcov says of each source file that has counters, as it prints it."""
    counters = sorted(str(path) for path in build.rglob("*.gcda"))
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, len(counters), AT_ONCE):
            subprocess.run(["gcov", "--json-format", *counters[start:start + AT_ONCE]], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for path in pathlib.Path(folder).glob("*.json.gz"):
                with gzip.open(path) as text:
                    yield from json.load(text)["files"]
                path.unlink()


def main(build, name, shows_files=False):
    build = pathlib.Path(build).resolve()
    source = build.parent / "src"
    if name == "reset":
        for path in build.rglob("*.gcda"):
            path.unlink()
        return
    functions = collections.Counter()
    for report in reports(build):
        path = pathlib.Path(os.path.normpath(build / report["file"]))
        ran = sum(function["execution_count"] > 0 for function in report["functions"])
        if ran and path.suffix == ".c" and path.is_relative_to(source):
            functions[str(path.relative_to(source))] += ran
    headers = {header for path in functions for header in re.findall(r'^#include "([^"]+)"', (source / path).read_text(), re.MULTILINE)
               if not header.startswith("base/")}
    print(f"{name}: {len(functions)} .c files, {len(headers)} headers, {sum(functions.values())} functions")
    for folder, count in collections.Counter(path.split("/")[0] for path in functions).most_common():
        print(f"  {count:4} {folder}/")
    if shows_files:
        print("\n".join(sorted(functions)))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.strip())
    main(sys.argv[1], sys.argv[2], "--files" in sys.argv)
