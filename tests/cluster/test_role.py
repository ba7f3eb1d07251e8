"""The Role that docs/kubernetes.md prints suffices for all that the page shows, in a namespace that is not the default one."""

import json
import re

import pytest

from conftest import LIMIT, ROOT
from test_run import BUSYBOX

PAGE = ROOT / "docs" / "kubernetes.md"
UNTIL_STOPPED = ["sh", "-c", "mkdir -p /tmp/models && echo $COLOUR > /tmp/models/one; echo up $COLOUR; exec sleep 1000000"]


@pytest.fixture
def ada(muster, namespace, tmp_path):
    """Logs muster in as a user who has what the page gives her, and nothing else; the current context means another namespace."""
    [role] = [block for block in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL) if "kind: Role" in block]
    namespace.kubectl("apply", "-f", "-", input=role)
    namespace.kubectl("create", "rolebinding", "muster", "--role=muster", "--user=ada")
    config = json.loads(namespace.cluster.kubeconfig.read_text())
    config["users"][0]["user"]["as"] = "ada"
    path = tmp_path / "ada"
    path.write_text(json.dumps(config))
    muster.environment["KUBECONFIG"] = str(path)
    done = namespace.cluster.try_kubectl("auth", "can-i", "list", "pods", "--as=ada", "-n", "default")
    assert done.stdout.split() == ["no"]
    for verb in ("get", "list", "watch"):
        done = namespace.cluster.try_kubectl("auth", "can-i", verb, "secrets", "--as=ada", "-n", namespace.name)
        assert done.stdout.split() == ["no"]
    return muster


def run(ada, namespace, *arguments, program, **options):
    return ada("run", "--on", "kubernetes", "-n", namespace.name, "--grace", "1s", *BUSYBOX, *arguments, "--", *program, **options)


def test_jobs_with_variables_files_folders_and_restarts(ada, namespace, tmp_path):
    namespace.secure_pods("enforce", "restricted")
    script = tmp_path / "train.py"
    script.write_text("print('trained')\n")
    # Only worker 0 fails: were worker 1 the first to fail, worker 0 might be ended before it had made its folder.
    program = 'case $(hostname) in *-1) exec sleep 1000000;; esac; mkdir -p /tmp/models; echo one > /tmp/models/one; exit $CODE'
    done = run(ada, namespace, "--name", "whole", "-w", 2, "--max-restarts", 1, "--env", "CODE=3", "--fetch",
               f"worker-0:/tmp/models:{tmp_path / 'fetched'}", program=["sh", "-c", program], code=3)
    assert "forbidden" not in done.stderr and "(restart 1 of 1)" in done.stderr
    assert (tmp_path / "fetched" / "one").read_text() == "one\n"
    assert "Restarts:   1" in ada("status", "whole", code=0).stdout
    synced = ada("run", "--on", "kubernetes", "-n", namespace.name, "--name", "synced", *BUSYBOX, "--sync", tmp_path, "--",
                 "cat", "train.py", code=0)
    assert synced.stdout == "worker-0 | print('trained')\n"


def test_what_the_page_does_with_a_job_that_goes_on(ada, namespace, tmp_path):
    run(ada, namespace, "-d", "--name", "nightly", "-w", 2, "--env", "COLOUR=red", program=UNTIL_STOPPED, code=0)
    for index in range(2):
        namespace.until_phase(f"nightly-worker-{index}", "Running")
    following = ada.start("logs", "-f", "nightly")
    assert "up red" in following.stdout.readline()
    where = ["-n", namespace.name]
    assert "nightly" in ada("ps", "--on", "kubernetes", *where, code=0).stdout
    assert "Supervised: by muster" in ada("status", "nightly", code=0).stdout
    ada("cp", *where, "nightly:worker-0:/tmp/models", tmp_path / "models", code=0)
    assert (tmp_path / "models" / "one").read_text() == "red\n"
    assert ada("exec", "nightly", "worker-1", "--", "cat", "/tmp/models/one", code=0).stdout == "red\n"
    assert "is supervised by" in ada("attach", "-d", "nightly", code=4).stderr
    ada("stop", "nightly", code=0)
    ada("wait", f"kubernetes/{namespace.name}/nightly", code=None)
    ada("delete", "nightly", code=0)
    namespace.kubectl("wait", "--for=delete", f"--timeout={LIMIT}s", "pods,configmaps,services,networkpolicies,leases", "-l", "muster/job=nightly")


def test_a_job_that_kubectl_applied_can_be_deleted(ada, namespace):
    rendered = ada("render", "--as", "pods", "-n", namespace.name, "--name", "applied", "--env", "A=b", *BUSYBOX, "--",
                   "sleep", "1000000", code=0).stdout
    namespace.kubectl("apply", "-f", "-", input=rendered)
    ada("delete", "-n", namespace.name, "applied", code=0)
    namespace.kubectl("wait", "--for=delete", f"--timeout={LIMIT}s", "pods,configmaps,services,networkpolicies,leases,secrets", "-l",
                      "muster/job=applied")
