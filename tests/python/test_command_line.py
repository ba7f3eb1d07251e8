"""The command line of the models, and the zip that they travel in."""

import json
import os
import subprocess
import sys

import pytest

from conftest import ROOT


def run(*arguments, program=("-m", "muster_check"), options=()):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    environment.pop("TF_CONFIG", None)
    return subprocess.run([sys.executable, *options, *program, *arguments], env=environment, capture_output=True, text=True)


def pack(folder, name):
    subprocess.run([sys.executable, ROOT / "tools" / "embed_models.py", folder / f"{name}.pyz", folder / f"{name}.c",
                    *sorted((ROOT / "python" / "muster_check").glob("*.py"), reverse=name == "second")], check=True)
    return folder / f"{name}.pyz"


@pytest.mark.parametrize("arguments, said", [
    (["resnet"], "invalid choice: 'resnet'"),
    (["mnist"], "mnist needs --servers"),
    (["mnist", "--servers", "a"], "'grpc://a' is not like grpc://host:2222"),
    (["mnist", "--servers", ","], "is not like grpc://host:2222"),
    (["mnist", "--servers", "http://a:1"], "'http://a:1' is not like grpc://host:2222"),
    (["mnist", "--servers", "a:1", "--container", "a[1]"], "'a[1]' is no name of a container"),
    (["mnist", "--servers", "a:1", "--steps", "0"], "'0' is not within 1..1000000000"),
    (["mnist", "--servers", "a:1", "--ps", "-1"], "'-1' is not within 0..1000000000"),
])
def test_wrong_use_is_told(arguments, said):
    done = run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_fault_is_one_event(tmp_path):
    done = run("mwms")
    assert done.returncode == 1
    assert done.stdout == '{"muster": "error", "step": "training", "message": "no TF_CONFIG: this model runs as a job of muster"}\n'
    assert done.stderr == ""
    assert "Traceback" in run("mwms", "--verbose").stderr


def test_a_python_without_tensorflow_is_told(tmp_path):
    done = run("mnist", "--servers", "a:1", program=(str(pack(tmp_path, "check")),), options=("-I", "-S"))
    assert done.returncode == 1 and done.stderr == ""
    event = json.loads(done.stdout)
    assert event["muster"] == "error" and event["message"].endswith("cannot use TensorFlow: No module named 'numpy'")


def test_the_same_files_make_the_same_zip(tmp_path):
    assert pack(tmp_path, "first").read_bytes() == pack(tmp_path, "second").read_bytes()


def test_the_zip_runs(tmp_path):
    done = run("--help", program=(str(pack(tmp_path, "check")),))
    assert done.returncode == 0
    assert "{census,mnist,mwms,ps2,torch}" in done.stdout
