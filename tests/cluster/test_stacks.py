"""`muster stacks` of Pods: what the py-spy of their containers sees, and what is said where there is none."""

import json
import sys

import pytest

from conftest import LIMIT, python_pod
from test_real_node import needs_python_of_the_system
from test_run import give_rights, rights, wait_for_line, write_job

WAIT = """
import os, threading, time
def wait_for_peer():
    print("waits", flush=True)
    time.sleep(1000000)
def load_data():
    print("waits", flush=True)
    time.sleep(1000000)
threading.Thread(target=time.sleep, args=(1000000,), daemon=True, name="idle").start()
load_data() if os.environ["MUSTER_INDEX"] == "1" else wait_for_peer()
"""

pytestmark = needs_python_of_the_system


@pytest.fixture
def job(muster, namespace, tmp_path):
    """Makes a job of three workers that wait until the test ends."""
    started = []

    def start(capabilities=None, path=f"{sys.prefix}/bin:/usr/bin:/bin", code=WAIT):
        spec = python_pod("hang", "-c", code, environment={"PATH": path})["spec"]
        spec["securityContext"] = {"runAsUser": 0}  # the Python of the tests may be root's alone
        spec["containers"][0]["securityContext"] = {"capabilities": capabilities or {"drop": ["ALL"], "add": ["SYS_PTRACE"]}}
        running = muster.start("run", "--on", "kubernetes", "-f", write_job(tmp_path, "hang", {"spec": spec}, workers=3))
        started.append(running)
        for _ in range(3):
            wait_for_line(running.stdout, "waits")

    yield start
    for running in started:
        running.terminate()
        running.communicate(timeout=LIMIT)


def test_pods_with_the_same_stack_are_shown_once(job, muster):
    job()
    first, second = muster("stacks", "hang", code=0).stdout.split("\n\n")
    assert first.splitlines() == ["worker-0, worker-2", '  File "<string>", line 5 in wait_for_peer', '  File "<string>", line 10 in <module>']
    assert second.splitlines()[0].startswith("worker-1 (process ")
    assert second.splitlines()[1:] == ['  File "<string>", line 8 in load_data', '  File "<string>", line 10 in <module>']
    threads = json.loads(muster("stacks", "--all-threads", "-o", "json", "hang", "worker-1", code=0).stdout)
    assert {thread["replica"] for thread in threads} == {"worker-1"} and len(threads) == 2
    idle, = (thread for thread in threads if "thread" in thread)
    assert idle["thread"].endswith(" [idle]") and "in Thread.run" in "".join(idle["frames"])
    assert "job 'hang' has no worker-3" in muster("stacks", "hang", "worker-3", code=1).stderr


def test_a_container_without_py_spy_is_told_how_to_get_it(job, muster, namespace):
    job(path="/usr/bin:/bin")
    assert muster("stacks", "hang", code=1).stderr == (
        "muster: job 'hang': py-spy not found in the container; add it to the image, or to a running Pod: "
        f"muster exec kubernetes/{namespace.name}/hang worker-0 -- pip install py-spy\n")


def test_a_container_without_python_is_named(job, muster):
    job(code="import os; print('waits', flush=True); os.execl('/bin/sleep', 'sleep', '1000000')")
    assert muster("stacks", "hang", code=0).stdout == "worker-0 to worker-2: no Python process in the container\n"


# As in muster-stacks(1).
RIGHTS = [rights("", "configmaps", "get", "list", "watch"), rights("", "pods", "get", "list", "watch"),
          rights("", "pods/exec", "get", "create")]


def test_it_takes_no_more_rights_than_its_manual_says(job, muster, namespace, tmp_path):
    job()
    path = namespace.write_account_kubeconfig(tmp_path / "account")
    give_rights(namespace, RIGHTS[:2])
    done = muster("stacks", "--kubeconfig", path, "hang", code=4)
    assert "pods/exec" in done.stderr and len(done.stderr.splitlines()) == 1
    namespace.kubectl("delete", "role,rolebinding", "given")
    give_rights(namespace, RIGHTS)
    assert "in load_data" in muster("stacks", "--kubeconfig", path, "hang", code=0).stdout
