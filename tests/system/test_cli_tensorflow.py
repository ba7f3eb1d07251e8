"""TensorFlow's own resolver accepts what `run` gives the processes."""

import importlib.util
import json
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not importlib.util.find_spec("tensorflow"), reason="TensorFlow is not installed here")

# One import of TensorFlow, which takes seconds, for all configurations.
ASK = """
import json, os, sys
import tensorflow
for line in sys.stdin:
    os.environ["TF_CONFIG"] = line
    resolver = tensorflow.distribute.cluster_resolver.TFConfigClusterResolver()
    print(json.dumps([resolver.task_type, resolver.task_id, resolver.cluster_spec().as_dict()]))
"""


def test_every_configuration_is_one_that_the_resolver_accepts(muster):
    said = []
    for flags in (["-w", "2"], ["-w", "2", "--ps", "1", "--chief", "--evaluator"]):
        done = muster("run", *flags, "--", "sh", "-c", "echo $TF_CONFIG", code=0)
        said += re.findall(r"^([a-z]+-\d+) +\| (.*)$", done.stdout, re.MULTILINE)
    names = sorted(name for name, _ in said)
    assert names == sorted(["worker-0", "worker-1", "chief-0", "evaluator-0", "ps-0", "worker-0", "worker-1"])
    asked = subprocess.run([sys.executable, "-c", ASK], input="".join(config + "\n" for _, config in said),
                           stdout=subprocess.PIPE, text=True, check=True)
    answers = [json.loads(line) for line in asked.stdout.splitlines()]
    assert len(answers) == len(said)
    for (name, _), (kind, index, cluster) in zip(said, answers):
        addresses = [address for role in cluster.values() for address in role]
        assert f"{kind}-{index}" == name
        assert "evaluator" not in cluster
        assert len(set(addresses)) == len(addresses) > 1
