"""`doctor` on machines that lack something: each is this one with one thing taken away, or made up, around it."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from checks import says_where
from conftest import BINARY

WHEEL = ("tensorflow/__init__.py", "tensorflow/libtensorflow_cc.so.2", "tensorflow_cpu-2.21.0.dist-info/METADATA",
         "tf_keras-2.21.0.dist-info/METADATA", "scikit_learn-1.7.2.dist-info/METADATA")


@pytest.fixture
def environment(tmp_path):
    """A virtual environment that looks as if everything was installed into it."""
    folder = tmp_path / "venv"
    packages = folder / "lib" / "python3.11" / "site-packages"
    for name in ("bin/python3", *(packages / name for name in WHEEL)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    (folder / "bin" / "python3").write_text(says_where(packages))
    (folder / "bin" / "python3").chmod(0o755)
    return folder


@pytest.fixture
def doctor(muster, environment):
    """Asks the doctor in that environment; gives the rows by name, and whether all is ready."""
    muster.environment.update(VIRTUAL_ENV=str(environment))
    for name in "PYTHONPATH", "MUSTER_LIBTENSORFLOW", "LD_LIBRARY_PATH", "KUBECONFIG", "KUBERNETES_SERVICE_HOST":
        muster.environment.pop(name, None)

    def ask(*arguments, before=(), env=None):
        call = [*before, BINARY, "doctor", "-o", "json", *map(str, arguments)]
        done = subprocess.run(call, env={**muster.environment, **(env or {})}, capture_output=True, text=True,
                              check=False)
        report = json.loads(done.stdout)
        assert done.returncode == (0 if report["ready"] else 1), done.stderr
        return {row["name"]: row for row in report["rows"]}

    return ask


def limited(limits):
    return ["sh", "-c", f'ulimit {limits} && exec "$0" "$@"']


def test_a_machine_with_everything_is_ready(doctor, muster, environment):
    rows = doctor()
    assert [name for name, row in rows.items() if row["state"] == "missing"] == []
    assert rows["python"]["found"].startswith(f"3.11, {environment}/bin/python3")
    assert rows["tensorflow"]["found"].startswith("2.21.0, tensorflow-cpu in ")
    assert rows["libtensorflow"]["found"].endswith("libtensorflow_cc.so.2 (virtual environment)")
    assert rows["tf-keras"] == {"name": "tf-keras", "state": "ok", "found": "2.21.0"}
    assert rows["scikit-learn"]["state"] == "ok"

    done = muster("doctor", code=0)
    assert len([line for line in done.stdout.splitlines() if "fix: " not in line]) == len(rows)
    assert done.stderr.startswith("muster: training jobs can run on this machine")


def test_no_python_is_told_and_nothing_of_its_packages(doctor, muster, tmp_path):
    env = {"PATH": str(tmp_path / "none"), "VIRTUAL_ENV": ""}
    rows = doctor(env=env)
    assert rows["python"]["state"] == "missing"
    assert "apt-get install python3" in rows["python"]["fix"]
    assert "tensorflow" not in rows and "tf-keras" not in rows

    done = muster("doctor", code=1, env=env)
    assert "missing  python" in done.stdout
    assert "apt-get install python3" in done.stdout
    assert done.stderr.startswith("muster: training jobs cannot run on this machine: 1 requirement is missing")


def test_a_virtual_environment_that_is_gone_is_told(doctor, environment, tmp_path):
    rows = doctor(env={"VIRTUAL_ENV": str(tmp_path / "gone"), "PATH": f"{environment}/bin"})
    assert rows["python"]["state"] == "warning"
    assert f"VIRTUAL_ENV is {tmp_path}/gone, which has no Python" in rows["python"]["found"]


def test_no_wheel_is_told_with_the_command_for_this_python(doctor, environment):
    shutil.rmtree(environment / "lib" / "python3.11" / "site-packages" / "tensorflow")
    rows = doctor(env={"PATH": f"{environment}/bin"})
    assert rows["framework"]["state"] == "missing"
    assert rows["framework"]["found"] == "no TensorFlow, PyTorch or JAX in this Python"
    assert rows["framework"]["fix"].startswith(f"{environment}/bin/python3 -m pip install ")
    assert "tensorflow" not in rows and "libtensorflow" not in rows


def test_a_python_with_pytorch_lacks_nothing_wherever_it_has_it(doctor, environment, tmp_path):
    shutil.rmtree(environment / "lib" / "python3.11" / "site-packages" / "tensorflow")
    (environment / "bin" / "python3").unlink()
    (environment / "bin" / "python3").symlink_to(os.path.realpath(sys.executable))
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    (environment / "pyvenv.cfg").write_text(f"home = {os.path.dirname(os.path.realpath(sys.executable))}\n")
    packages = environment / "lib" / version / "site-packages"
    packages.mkdir(parents=True, exist_ok=True)
    (packages / "elsewhere.pth").write_text(f"{tmp_path}/shared\n")
    (tmp_path / "shared" / "torch-2.9.1.dist-info").mkdir(parents=True)
    rows = doctor()
    assert (rows["pytorch"]["state"], rows["pytorch"]["found"]) == ("ok", "2.9.1")
    assert "framework" not in rows and "libtensorflow" not in rows


def test_a_python_that_does_not_start_is_told(doctor, environment):
    (environment / "bin" / "python3").write_text("#!/bin/sh\nexit 7\n")
    rows = doctor()
    assert rows["python"]["state"] == "missing"
    assert f"{environment}/bin/python3 does not work: " in rows["python"]["found"]


def test_a_wheel_that_is_too_old_for_a_server_still_runs_jobs(doctor, environment):
    packages = environment / "lib" / "python3.11" / "site-packages"
    (packages / "tensorflow" / "libtensorflow_cc.so.2").unlink()
    (packages / "tensorflow_cpu-2.21.0.dist-info").rename(packages / "tensorflow_cpu-2.11.1.dist-info")
    rows = doctor(env={"PATH": f"{environment}/bin"})
    assert rows["tensorflow"]["found"].startswith("2.11.1, ")
    assert (rows["libtensorflow"]["state"], rows["tf-keras"]["state"]) == ("warning", "ok")
    assert "2.12" in rows["libtensorflow"]["found"]


def test_keras_of_another_version_is_told(doctor, environment):
    packages = environment / "lib" / "python3.11" / "site-packages"
    (packages / "tf_keras-2.21.0.dist-info").rename(packages / "tf_keras-2.18.0.dist-info")
    row = doctor()["tf-keras"]
    assert row["state"] == "warning"
    assert row["found"] == "2.18.0 is not compatible with TensorFlow 2.21.0"
    assert "'tf-keras==2.21.*'" in row["fix"]


def test_tight_limits_are_told(doctor):
    rows = doctor(before=limited("-n 256"))
    assert rows["open files"]["state"] == "warning"
    assert rows["open files"]["fix"].startswith("ulimit -n 1024")
    assert doctor(before=limited("-n 40"))["open files"]["state"] == "missing"


def test_a_limit_on_addresses_is_told(doctor):
    if os.environ.get("ASAN_OPTIONS"):
        pytest.skip("the address sanitizer reserves more addresses than this")
    assert doctor(before=limited("-v 4000000"))["address space"]["fix"] == "ulimit -v unlimited"


def test_a_state_folder_that_cannot_be_written_is_told_and_none_is_made(doctor, tmp_path):
    (tmp_path / "file").touch()
    row = doctor("--state-dir", tmp_path / "file" / "state")["state folder"]
    assert row["state"] == "missing"
    assert "Not a directory" in row["found"]
    assert "MUSTER_STATE_DIR" in row["fix"]
    row = doctor("--state-dir", "/proc/muster")["state folder"]  # where nobody can make a file
    assert (row["state"], row["found"].split(":")[0]) == ("missing", "/proc is not writable")

    assert doctor("--state-dir", tmp_path / "new" / "state")["state folder"]["state"] == "ok"
    assert not (tmp_path / "new").exists()


def test_a_machine_without_a_network_is_told(doctor):
    alone = ["unshare", "--net", "--map-root-user"]
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network name space of our own here")
    row = doctor(before=alone)["loopback"]
    assert row["state"] == "missing"
    assert row["fix"] == "ip link set lo up"  # as root, whom --map-root-user makes of us


def test_systemd_is_named_where_rights_are_missing_alone(doctor):
    """A container mounts the control groups for reading only."""
    mount = subprocess.run(["findmnt", "-nfo", "TARGET", "-t", "cgroup2"], capture_output=True, text=True, check=False).stdout.strip()
    read_only = ["unshare", "--mount", "sh", "-c", f'mount -o remount,ro,bind "{mount}" && exec "$0" "$@"']
    if not mount or subprocess.run([*read_only, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no control groups of version 2, or no right to mount them here")
    found = doctor(before=read_only)["control group"]["found"]
    assert "jobs do not get their own control group" in found and "Read-only file system" in found
    assert "systemd" not in found


KUBECONFIG = """\
current-context: dev
contexts: [{name: dev, context: {cluster: lab, user: ada, namespace: work}}]
clusters: [{name: lab, cluster: {server: "https://10.0.0.1:6443"}}]
users: [{name: ada, user: {USER}}]
"""


@pytest.mark.parametrize("user, state, found", [
    ("token: hunter2", "ok", "https://10.0.0.1:6443, context 'dev' as 'ada', namespace 'work'"),
    ("token: e30.eyJleHAiOjE3MDAwMDAwMDB9.hunter2", "warning", "user 'ada': the token expired at 2023-11-14T22:13:20Z"),
    ("tokenFile: nowhere", "warning", "nowhere' not found"),
    ("tokenFile: /proc/self/mem", "warning", "user 'ada': cannot read '/proc/self/mem'"),
    ("token: [hunter2]", "warning", "config:4:35: users[0].user.token: expected text"),
    ("exec: {command: no-such-plugin, apiVersion: client.authentication.k8s.io/v1beta1, installHint: get it}",
     "warning", "user 'ada': its plug-in 'no-such-plugin': program not found; its hint: get it"),
    ("exec: {command: 'false', apiVersion: client.authentication.k8s.io/v1beta1}", "ok", "context 'dev' as 'ada'"),
], ids=["token", "ended", "missing file", "unreadable file", "malformed", "no plug-in", "plug-in"])
def test_the_cluster_of_the_kubeconfig_is_told_and_nobody_asked(doctor, muster, user, state, found):
    (muster.folder / ".kube").mkdir()
    (muster.folder / ".kube" / "config").write_text(KUBECONFIG.replace("USER", user))
    row = doctor()["kubernetes"]
    assert (row["state"], found in row["found"]) == (state, True), row
    assert "hunter2" not in str(row)


def test_no_cluster_is_nothing_that_is_missing(doctor):
    row = doctor()["kubernetes"]
    assert row == {"name": "kubernetes", "state": "ok",
                   "found": "no kubeconfig; jobs can run on this machine only"}
