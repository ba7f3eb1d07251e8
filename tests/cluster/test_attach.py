"""The muster that watches a job on a cluster: one muster at a time, which holds the job's Lease, from wherever it was started."""

import contextlib
import json
import os
import re
import select
import signal

import pytest

from conftest import LIMIT, few
from test_run import BUSYBOX, left_of, run, run_in_background, simulated_job, wait_for_line

UNTIL_TOLD = ["sh", "-c", "echo up; while [ ! -e /tmp/end ]; do sleep 0.1; done; echo done; exit $(cat /tmp/end)"]


def holder_in(lease):
    """The process that a Lease names; 0: nobody."""
    holder = lease["spec"].get("holderIdentity", "")
    return int(holder.rsplit("_", 5)[1]) if holder else 0


def holder_of(namespace, job):
    """The process that watches a job; 0: nobody."""
    return holder_in(namespace.get("lease", f"{job}.job"))


def detach(muster, namespace, *arguments):
    """A job in the background; gives its name and the process that watches it."""
    name = run(muster, "-d", "-q", *arguments, code=0).stdout.strip()
    return name, holder_of(namespace, name)


def end_pod(namespace, pod, code=0):
    """Lets the program of UNTIL_TOLD end with this code."""
    namespace.until_phase(pod, "Running")
    namespace.end_by(pod, "sh", "-c", f"echo {code} > /tmp/code && mv /tmp/code /tmp/end")


def until_gone(namespace, job):
    namespace.kubectl("wait", "--for=delete", f"--timeout={LIMIT}s", f"configmap/{job}.job")
    namespace.kubectl("wait", "--for=delete", f"--timeout={LIMIT}s", "configmaps,pods,services,networkpolicies,leases",
                      "-l", f"muster/job={job}")


def until_ended(pid):
    """Waits for a process that is not a child."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    with os.fdopen(descriptor) as end:
        assert select.select([end], [], [], LIMIT)[0], f"process {pid} has not ended"


def kill(pid):
    os.kill(pid, signal.SIGKILL)
    until_ended(pid)


@pytest.fixture
def watchers(namespace):
    """Ends every muster that watches a job of the test."""
    yield
    for lease in namespace.list("leases", "app.kubernetes.io/managed-by=muster"):
        pid = holder_in(lease)
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


pytestmark = pytest.mark.usefixtures("watchers")


def test_a_detached_job_is_watched_until_its_end(muster, namespace):
    name, pid = detach(muster, namespace, "--name", "away", "-w", 2, *BUSYBOX, "--", "sh", "-c", "echo $HOSTNAME")
    assert name == "away" and pid
    assert muster("wait", "away", code=0)
    until_ended(pid)
    until_gone(namespace, "away")
    assert sorted(muster("logs", "local/away", code=0).stdout.splitlines()) == [
        "worker-0 | away-worker-0", "worker-1 | away-worker-1"]


def test_errors_before_the_start_reach_who_asked(muster, namespace, tmp_path):
    refused = run(muster, "-d", "--context", "elsewhere", *BUSYBOX, "--", "true", code=2)
    assert "elsewhere" in refused.stderr
    detach(muster, namespace, "-f", simulated_job(tmp_path, workers=1))
    taken = run(muster, "-d", "-f", simulated_job(tmp_path, workers=1), code=2)
    assert "job 'simulated' already exists" in taken.stderr


def test_what_happened_while_nobody_watched_is_settled(muster, namespace):
    name, pid = detach(muster, namespace, "--max-restarts", 1, *BUSYBOX, "--", *UNTIL_TOLD)
    pod = f"{name}-worker-0"
    namespace.until_phase(pod, "Running")
    kill(pid)
    end_pod(namespace, pod, code=3)
    assert namespace.until_phase(pod, "Failed")["metadata"]["labels"]["muster/attempt"] == "0"
    attached = muster.start("attach", name)
    wait_for_line(attached.stderr, "had no active supervisor")
    namespace.kubectl("wait", "--for=create", f"--timeout={LIMIT}s", "pod", "-l", "muster/attempt=1")
    end_pod(namespace, pod)
    lines, told = attached.communicate(timeout=LIMIT)
    assert attached.returncode == 0, told
    assert lines.splitlines() == ["worker-0 | up", "worker-0 | done"] * 2
    assert "1 restart" in told
    until_gone(namespace, name)


@pytest.mark.sanitize
def test_another_machine_takes_a_job_over(muster, namespace, tmp_path):
    """All that is needed is on the cluster: this machine keeps nothing of the one that made the job."""
    name, pid = detach(muster, namespace, *BUSYBOX, "--", *UNTIL_TOLD)
    kill(pid)
    elsewhere = {"XDG_STATE_HOME": tmp_path / "elsewhere"}
    muster("attach", "-d", name, env=elsewhere, code=0)
    assert holder_of(namespace, name) not in (0, pid)
    end_pod(namespace, f"{name}-worker-0", code=7)
    assert muster("wait", name, env=elsewhere, code=7)
    until_gone(namespace, name)


def test_a_job_that_is_watched_is_shown_and_left_running(muster, namespace):
    name, pid = detach(muster, namespace, *BUSYBOX, "--", *UNTIL_TOLD)
    refused = muster("attach", "-d", name, code=4)
    assert f"(process {pid})" in refused.stderr
    looking = muster.start("attach", name)
    wait_for_line(looking.stderr, f"(process {pid})")  # that the Pod is running may be said before it
    assert looking.stdout.readline() == "worker-0 | up\n"
    looking.send_signal(signal.SIGINT)
    assert looking.wait(timeout=LIMIT) == 130
    assert "detached; the job is still running" in looking.stderr.read()
    assert holder_of(namespace, name) == pid
    staying = muster.start("attach", name)
    assert staying.stdout.readline() == "worker-0 | up\n"
    end_pod(namespace, f"{name}-worker-0", code=7)
    lines, told = staying.communicate(timeout=LIMIT)
    assert (staying.returncode, lines) == (7, "worker-0 | done\n"), told


def test_who_looks_on_takes_over_when_the_watching_muster_dies(muster, namespace):
    name, pid = detach(muster, namespace, *BUSYBOX, "--", *UNTIL_TOLD)
    looking = muster.start("attach", name)
    assert f"(process {pid})" in looking.stderr.readline()
    kill(pid)
    wait_for_line(looking.stderr, "this muster now supervises it")
    assert holder_of(namespace, name) == looking.pid
    end_pod(namespace, f"{name}-worker-0")
    lines, told = looking.communicate(timeout=LIMIT)
    assert (looking.returncode, lines) == (0, "worker-0 | up\nworker-0 | done\n"), told
    until_gone(namespace, name)


def test_leaving_a_job_that_one_attached_to_leaves_it_unsupervised(muster, namespace):
    name, pid = detach(muster, namespace, *BUSYBOX, "--", *UNTIL_TOLD)
    kill(pid)
    attached = muster.start("attach", name)
    wait_for_line(attached.stderr, "had no active supervisor")
    attached.send_signal(signal.SIGINT)
    assert attached.wait(timeout=LIMIT) == 130
    assert "the job keeps running without a supervisor" in attached.stderr.read()
    assert holder_of(namespace, name) == 0
    muster("attach", "-d", name, code=0)
    end_pod(namespace, f"{name}-worker-0")
    until_gone(namespace, name)


def test_of_two_that_attach_at_once_one_wins(muster, namespace):
    name, pid = detach(muster, namespace, "-w", 2, *BUSYBOX, "--", *UNTIL_TOLD)
    kill(pid)
    both = [muster.start("attach", "-d", name) for _ in range(2)]
    assert sorted(process.wait(timeout=LIMIT) for process in both) == [0, 4]
    for index in range(2):
        namespace.wait(f"pod/{name}-worker-{index}", "create")
    pods = namespace.list("pods", f"muster/job={name}")
    assert sorted(pod["metadata"]["name"] for pod in pods) == [f"{name}-worker-0", f"{name}-worker-1"]


def test_a_muster_that_stood_still_leaves_the_job_to_another(muster, namespace):
    job = run_in_background(muster, "--name", "still", *BUSYBOX, "--", *UNTIL_TOLD)
    assert job.stdout.readline() == "worker-0 | up\n"
    job.send_signal(signal.SIGSTOP)
    muster("attach", "-d", "still", code=0)  # after the time of the Lease
    new = holder_of(namespace, "still")
    assert new not in (0, job.pid)
    job.send_signal(signal.SIGCONT)
    assert job.wait(timeout=LIMIT) == 125
    assert f"(process {new}); this muster leaves it alone" in job.stderr.read()
    assert "still.job" in left_of(namespace) and "still-worker-0" in left_of(namespace)
    end_pod(namespace, "still-worker-0")
    until_gone(namespace, "still")


def test_a_lost_terminal_leaves_the_job_watched(muster, namespace):
    job = run_in_background(muster, "--name", "lost", *BUSYBOX, "--", *UNTIL_TOLD)
    assert job.stdout.readline() == "worker-0 | up\n"
    job.send_signal(signal.SIGHUP)
    assert job.stdout.readline() == ""  # it has let go of the terminal
    assert holder_of(namespace, "lost") == job.pid
    end_pod(namespace, "lost-worker-0", code=7)
    assert job.wait(timeout=LIMIT) == 7
    assert left_of(namespace) == []


def test_a_watching_muster_that_is_asked_to_end_stops_the_job(muster, namespace):
    name, pid = detach(muster, namespace, *BUSYBOX, "--", *UNTIL_TOLD)
    namespace.until_phase(f"{name}-worker-0", "Running")
    os.kill(pid, signal.SIGTERM)
    until_ended(pid)
    until_gone(namespace, name)
    assert "terminated" in json.dumps(muster.job(f"local/{name}")["status"])


@pytest.mark.parametrize("count", few(range(5)))
def test_an_interrupt_while_objects_are_made_leaves_none(muster, namespace, count):
    """At whatever moment it comes, from the first object to the first Pod."""
    job = run_in_background(muster, "--name", "early", "-w", 2, *BUSYBOX, "--", "sleep", 1000)
    seen = ""
    while len(seen.splitlines()) < count and job.poll() is None:
        seen = namespace.kubectl("get", "configmaps,leases,services,pods", "-l", "muster/job=early", "-o", "name")
    job.send_signal(signal.SIGINT)
    assert job.wait(timeout=LIMIT) in (130, -signal.SIGINT)  # that is before it looked at signals at all
    namespace.kubectl("wait", "--for=delete", f"--timeout={LIMIT}s", "configmaps,leases,services,pods", "-l", "muster/job=early")
    assert left_of(namespace) == []


def test_a_job_that_was_never_whole_is_said_to_be_so(muster, namespace):
    """As if the muster that made it was killed between its first object and its Lease."""
    name, pid = detach(muster, namespace, *BUSYBOX, "--", *UNTIL_TOLD)
    kill(pid)
    namespace.kubectl("delete", "lease", f"{name}.job")
    namespace.kubectl("patch", "configmap", f"{name}.job", "--type=json", "-p",
                      '[{"op": "replace", "path": "/data/status", "value": "{}"}]')
    refused = muster("attach", "-d", name, code=125)
    assert re.search("has no Lease.*delete the job", refused.stderr)


def test_a_job_that_is_not_there_is_not_found(muster):
    assert "job 'nothing' not found" in muster("attach", "nothing", code=125).stderr


@pytest.mark.long
def test_who_may_patch_config_maps_alone_gets_no_pods_made(muster, namespace):
    """With the rights of who watches the job."""
    namespace.kubectl("create", "role", "mallory", "--verb=get,patch", "--resource=configmaps")
    namespace.kubectl("create", "rolebinding", "mallory", "--role=mallory", "--user=mallory")
    job = muster.start("run", "--on", "kubernetes", "--name", "pinned", *BUSYBOX, "--", *UNTIL_TOLD)
    namespace.until_phase("pinned-worker-0", "Running")
    document = json.loads(namespace.get("configmap", "pinned.job")["data"]["document"])
    worker = document["spec"]["tfReplicaSpecs"]["Worker"]
    worker["replicas"] = 2
    worker["template"]["spec"].update(hostPID=True, serviceAccountName="admin-sa",
                                      volumes=[{"name": "v", "hostPath": {"path": "/"}}])
    namespace.kubectl("patch", "configmap", "pinned.job", "--as=mallory", "--type=merge", "-p",
                      json.dumps({"data": {"document": json.dumps(document)}}))
    wait_for_line(job.stderr, "job 'pinned' was changed on the cluster")
    spec = namespace.until_phase("pinned-worker-1", "Running")["spec"]
    assert "hostPID" not in spec and spec["serviceAccountName"] == "default"
    assert not [volume for volume in spec.get("volumes", []) if "hostPath" in volume]
    muster("stop", "pinned", code=0)
    job.wait(timeout=LIMIT)
    until_gone(namespace, "pinned")
