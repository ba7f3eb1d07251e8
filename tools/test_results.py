#!/usr/bin/env python3
"""What test runners have left of their last run: names of failed tests, and times.

    test_results.py failed-of-meson BUILD      the names of tests that did not pass, a line each
    test_results.py slowest-of-meson BUILD     the 15 that took longest
    test_results.py failed-of-pytest CACHE     the ids of tests that did not pass, a line each
"""

import json
import pathlib
import sys

MOST = 15
GOOD = {"OK", "SKIP", "EXPECTEDFAIL"}


def tests_of_meson(build):
    """Their names as `meson test` takes them, without the suites before."""
    lines = (pathlib.Path(build) / "meson-logs" / "testlog.json").read_text().splitlines()
    return [{**test, "name": test["name"].rpartition(" / ")[2]} for test in map(json.loads, lines)]


def failed_of_meson(build):
    return [test["name"] for test in tests_of_meson(build) if test["result"] not in GOOD]


def slowest_of_meson(build):
    slowest = sorted(tests_of_meson(build), key=lambda test: -test["duration"])[:MOST]
    return [f"{test['duration']:6.2f}s {test['name']}" for test in slowest]


def failed_of_pytest(cache):
    failed = pathlib.Path(cache) / "v" / "cache" / "lastfailed"
    return list(json.loads(failed.read_text())) if failed.exists() else []


ASKED = {"failed-of-meson": failed_of_meson, "slowest-of-meson": slowest_of_meson, "failed-of-pytest": failed_of_pytest}

if len(sys.argv) != 3 or sys.argv[1] not in ASKED:
    sys.exit(__doc__.strip())
for line in ASKED[sys.argv[1]](sys.argv[2]):
    print(line)
