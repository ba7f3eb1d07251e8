"""kubectl as the oracle of what needs no cluster: how kubeconfigs and objects are read.

It is the one that was built for the tests: another may be a dispatcher, which calls servers to learn their versions.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

import programs  # noqa: E402

PROGRAM = programs.folder() / "kubectl"
needed = pytest.mark.skipif(not PROGRAM.exists(), reason="kubectl is an oracle here, and was not built (script/test builds it)")


def documents_of(text):
    """JSON objects that stand one after the other."""
    decoder = json.JSONDecoder()
    while text.strip():
        value, end = decoder.raw_decode(text.lstrip())
        text = text.lstrip()[end:]
        yield value


def without_empty(value):
    """What kubectl adds when it writes an object is empty: creationTimestamp: null, status: {}."""
    if isinstance(value, dict):
        cleaned = {key: without_empty(member) for key, member in value.items()}
        return {key: member for key, member in cleaned.items() if member not in (None, {}, [])}
    return [without_empty(member) for member in value] if isinstance(value, list) else value


def read(yaml):
    """The objects as kubectl's own types hold them, without what is empty."""
    done = subprocess.run([PROGRAM, "label", "--local", "-f", "-", "-o", "json", "seen=yes"], input=yaml, text=True,
                          capture_output=True, check=False, env={**os.environ, "KUBECONFIG": os.devnull})
    assert done.returncode == 0, done.stderr
    objects = list(documents_of(done.stdout))
    for value in objects:
        del value["metadata"]["labels"]["seen"]
    return [without_empty(value) for value in objects]
