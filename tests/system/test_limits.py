"""--memory, --cpu and --nice on this machine. systemd is one that these tests made up: its client writes what it was
asked for, and moves the process into a control group, if this machine lets it."""
import os
import re
import shutil
import subprocess

import pytest

from conftest import BINARY


def shell(script):
    return ["--", "sh", "-c", script]

CLIENT = """#!/bin/sh
echo "$*" > "$CALLS"
for word; do [ "$before" = ssa'(sv)a(sa(sv))' ] && unit=$word; [ "$before" = 1 ] && pid=${pid:-$word}; before=$word; done
[ ! "$REFUSES" ] || { echo 'Call failed: Access denied' >&2; exit 1; }
mkdir "$GROUPS_OF_TEST/$unit" && echo "$pid" > "$GROUPS_OF_TEST/$unit/cgroup.procs"
echo 'o "/org/freedesktop/systemd1/job/17"'
"""
GROUPS = "/sys/fs/cgroup/unified" if os.path.isdir("/sys/fs/cgroup/unified") else "/sys/fs/cgroup"
WITH_SYSTEMD = ["unshare", "--mount", "sh", "-c",
                'mount -t tmpfs none /run && mkdir /run/systemd && touch /run/systemd/private && exec "$0" "$@"']


@pytest.fixture(name="limited")
def limited_fixture(muster, tmp_path):
    """`muster run` where systemd seems to run."""
    probe = [*WITH_SYSTEMD, "true"]
    if os.geteuid() != 0 or not shutil.which("unshare") or subprocess.run(probe, check=False).returncode != 0:
        pytest.skip("needs root and mount namespaces")
    (tmp_path / "busctl").write_text(CLIENT)
    (tmp_path / "busctl").chmod(0o755)
    environment = {**muster.environment, "PATH": f"{tmp_path}:{muster.environment['PATH']}",
                   "CALLS": f"{tmp_path}/calls", "GROUPS_OF_TEST": GROUPS}

    def run(*words, **more):
        done = subprocess.run([*WITH_SYSTEMD, BINARY, "run", *words], env={**environment, **more}, text=True,
                              capture_output=True, check=False, cwd=muster.folder)
        calls = tmp_path / "calls"
        return done, calls.read_text() if calls.exists() else None

    return run


def test_the_limits_of_all_replicas_are_those_of_a_scope(limited):
    try:
        probe = os.path.join(GROUPS, f"muster-test-{os.getpid()}")
        os.mkdir(probe)
        os.rmdir(probe)
    except OSError:
        pytest.skip("no control group can be created")
    done, call = limited("--name", "small", "-w", "2", "--ps", "1", "--memory", "1Gi", "--cpu", "500m", *shell("cat /proc/self/cgroup"))
    unit = re.search(r"muster-small-\d+\.scope", call)[0]
    assert done.returncode == 0 and "ignored" not in done.stderr, done.stderr
    assert done.stdout.count(unit) == 3, done.stdout
    assert "--system call org.freedesktop.systemd1" in call
    assert call.endswith("Delegate b true CollectMode s inactive-or-failed MemoryMax t 3221225472 MemorySwapMax t 0 "
                         "CPUQuotaPerSecUSec t 1500000 0\n")
    assert f"{unit} fail 6 PIDs au 1 " in call
    os.rmdir(os.path.join(GROUPS, unit))


def test_a_limit_that_systemd_refuses_is_ignored_with_its_words(limited):
    done, call = limited("--memory", "1Gi", *shell("true"), REFUSES="1")
    assert done.returncode == 0 and "fail 5 PIDs" in call
    assert "muster: memory limit: ignored on this machine (systemd says: Call failed: Access denied)" in done.stderr


def test_without_a_limit_of_every_role_or_in_a_rehearsal_systemd_is_not_asked(limited, muster):
    limits = "{limits: {memory: 1Gi}}"
    roles = "\n".join(f"    {role}: {{replicas: 1, template: {{spec: {{containers: [{{name: tensorflow, command: ['true'], "
                      f"resources: {resources}}}]}}}}}}" for role, resources in (("Worker", limits), ("PS", "{}")))
    (muster.folder / "job.yaml").write_text(
        f"apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {{name: job}}\nspec:\n  tfReplicaSpecs:\n{roles}\n")
    for words, ignored in (["-f", "job.yaml"], True), (["--dry-run", "--memory", "1Gi", *shell("true")], False):
        done, call = limited(*words)
        assert done.returncode == 0 and call is None, done.stderr
        assert ("ignored on this machine: resources.memory" in done.stderr) == ignored


def test_without_systemd_the_limits_are_ignored_with_a_reason(muster):
    environment = {"XDG_RUNTIME_DIR": "/nonexistent"}
    if os.geteuid() == 0 and os.path.exists("/run/systemd/private"):
        pytest.skip("systemd runs")
    done = muster("run", "--memory", "1Gi", "--cpu", 1, *shell("true"), code=0, env=environment)
    assert "muster: memory limit, CPU limit: ignored on this machine (systemd does not run for this user)" in done.stderr


def test_nice_is_that_of_the_processes_also_after_a_resumption(muster):
    muster("run", "--name", "job", "--nice", 7, *shell("nice; exit 1"), code=1)
    assert muster("logs", "job", code=0).stdout == "worker-0 | 7\n"
    muster("resume", "job", code=0)
    muster("wait", "job", code=1)
    assert muster("logs", "job", code=0).stdout.endswith("worker-0 | 7\n")
    assert "--nice: '20' is not a whole number from 0 to 19" in muster("run", "--nice", 20, "x.py", code=2).stderr
    muster("render", "--name", "job", *shell("true"), code=0)


def test_a_file_with_an_impossible_nice_is_refused(muster):
    text = muster("render", "--name", "job", *shell("true"), code=0).stdout
    (muster.folder / "job.yaml").write_text(text.replace("metadata:\n", "metadata:\n  annotations: {muster/nice: '-5'}\n", 1))
    assert "'-5' is not a whole number from 0 to 19" in muster("run", "-f", "job.yaml", code=2).stderr
