"""`muster check --framework torch`. PyTorch is a shell script in these tests; the real one is in test_framework_examples."""

import json

import pytest

from checks import environment_of, jobs_of, says_where, states_of

GOOD = """
say() { echo "{\\"muster\\":$1}"; }
other=$((1 - WORKER_NUMBER))
say '"network","from":"worker-'$WORKER_NUMBER'","to":"worker-'$other'","roundTrip":0.0001,"bandwidth":1e9'
say '"devices","task":"worker-'$WORKER_NUMBER'","devices":["CPU:0"]'
say '"ran","task":"worker-'$WORKER_NUMBER'","backend":"gloo","bandwidth":5e8'
case "$*" in *--no-training*) exit;; esac
say '"training-begins","worker":'$WORKER_NUMBER
say '"step","worker":'$WORKER_NUMBER',"step":200,"of":200,"loss":0.31'
say '"training-ends","worker":'$WORKER_NUMBER',"seconds":0.1'
[ $WORKER_NUMBER != 0 ] || say '"result","crossEntropy":0.21,"before":2.31,"bound":0.8'
"""


@pytest.fixture(name="python")
def python_fixture(tmp_path):
    """The environment of a check whose Python has PyTorch, or not, and is a shell that runs the script."""
    def make(script, has_torch=True):
        packages = tmp_path / "venv" / "lib" / "python3.11" / "site-packages"
        (tmp_path / "venv" / "bin").mkdir(parents=True)
        packages.mkdir(parents=True)
        if has_torch:
            (packages / "torch-2.9.1.dist-info").mkdir()
            (packages / "torch-2.9.1.dist-info" / "METADATA").write_text("Name: torch\nVersion: 2.9.1\n")
        (tmp_path / "model.sh").write_text(script)
        for name in ("python", "python3"):
            (tmp_path / "venv" / "bin" / name).write_text(
                says_where(packages) + f'exec sh {tmp_path}/model.sh "$@"\n')
            (tmp_path / "venv" / "bin" / name).chmod(0o755)
        return {**environment_of(tmp_path, tmp_path / "venv"), "PATH": "/usr/bin:/bin", "PYTHONPATH": None}
    return make


def test_two_processes_pass_every_step_and_leave_no_job(muster, python):
    done = muster("check", "--framework", "torch", "-o", "json", env=python(GOOD), code=0)
    report = json.loads(done.stdout)
    assert report["framework"] == "torch" and len(report["network"]) == 2
    assert states_of(report) == {"library": "passed", "data": "skipped", "servers": "skipped", "network": "passed",
                                 "devices": "passed", "session": "passed", "training": "passed", "result": "passed"}
    assert "PyTorch 2.9.1; Python 3.11" in report["steps"][0]["message"]
    assert jobs_of(muster) == []


def test_where_only_pytorch_is_installed_that_is_checked(muster, python):
    done = muster("check", "--model", "none", env=python(GOOD), code=0)
    assert "has PyTorch and no TensorFlow: --framework torch\n" in done.stderr
    assert "gloo: an all-reduce of 2 processes gave the right sum, 500 MB/s\n" in done.stdout
    assert done.stdout.endswith(": the processes work together\n")


def test_a_process_that_fails_is_named_with_its_words(muster, python):
    script = '[ $WORKER_NUMBER = 0 ] || exec sleep 1000; echo \'{"muster":"error","step":"training","message":"no interface"}\'; exit 1'
    done = muster("check", "--framework", "torch", env=python(script), code=1)
    assert "  network   FAILED" in done.stdout and "worker-0: no interface\n" in done.stdout
    assert "GLOO_SOCKET_IFNAME" in done.stdout


def test_without_pytorch_nothing_is_started(muster, python):
    environment = python(GOOD, has_torch=False)
    done = muster("check", "--framework", "torch", env=environment, code=3)
    assert "python3 has no PyTorch\n  fix       install PyTorch: pip install torch\n" in done.stdout
    assert jobs_of(muster) == []
    assert "TensorFlow" in muster("check", env=environment, code=3).stdout


@pytest.mark.parametrize("words, said", [
    (["remote", "--servers", "grpc://localhost:1"], "--framework torch: not available with 'remote' and --on kubernetes"),
    (["--setup-only"], "--framework torch: cannot be used with --setup-only"),
    (["--ps", 1], "--framework torch: cannot be used with --ps"),
    (["--model", "census"], "--framework torch: needs --model mnist or --model none"),
    (["--sync-replicas"], "--sync-replicas: not needed"),
])
def test_what_only_tensorflow_has_is_refused(muster, words, said):
    assert said in muster("check", "--framework", "torch", *words, code=2).stderr
