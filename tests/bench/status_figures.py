"""How soon what happened to a Pod of a large job stands in the job's status on the cluster.

One Pod after the other fails, by a write of its status as a kubelet makes it; each is started again, and that is written
first (docs/design/0029-what-a-cluster-keeps-of-a-status.md: what nothing hangs on waits up to 5 s, and is no part of this).
Moments are those of the API server's audit log. The server's own time is left out at the end of each write, not where it
tells its watchers of the Pod, so that is in the figure.
"""

import contextlib
import http.client
import json
import os
import signal
import statistics
import subprocess
import threading
import time

import bench_cluster
from bare_loop import login
from making_figures import Muster
from measure import PATIENCE, state_folder

EVENTS = 20
AGENT = "bench-kubelet"
QUIET = 6  # seconds without a write: what could wait has been written (jobs/reconciler.h)


def status_makers(muster):
    return [Muster(muster)] if bench_cluster.can_be_here() else []


@contextlib.contextmanager
def running(muster, namespace, workers):
    """A job whose Pods all run, each of which is started again when it fails."""
    here = bench_cluster.cluster()
    command = [muster.program, "run", "--on", "kubernetes", "--restart-scope", "replica", "--max-restarts", str(EVENTS),
               *muster.job(namespace, workers)]
    process = subprocess.Popen(command, env={**here.environment, "XDG_STATE_HOME": state_folder()}, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        for line in process.stderr:
            if f"all {workers} Pods are running" in line:
                break
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def fail(namespace, name):
    """What a kubelet writes when the program of a Pod has ended with code 1."""
    server, tls = login(bench_cluster.cluster().environment["KUBECONFIG"])
    ended = {"name": "tensorflow", "image": "i", "imageID": "", "ready": False, "restartCount": 0,
             "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}
    connection = http.client.HTTPSConnection(server, context=tls)
    connection.request("PATCH", f"/api/v1/namespaces/{namespace}/pods/{name}/status",
                       json.dumps({"status": {"phase": "Failed", "containerStatuses": [ended]}}),
                       {"Content-Type": "application/merge-patch+json", "User-Agent": AGENT})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    answer.read()
    connection.close()


def writes_since(place, muster):
    """muster's writes of a job's record."""
    return [call for call in bench_cluster.cluster().calls_since(place, muster.agent)
            if call.verb == "patch" and call.resource == "configmaps"]


def wait_until_quiet(muster):
    """Nothing has been written for QUIET seconds."""
    end = time.monotonic() + PATIENCE
    place = bench_cluster.cluster().end_of_audit()
    while time.sleep(QUIET) or writes_since(place, muster):
        place = bench_cluster.cluster().end_of_audit()
        if time.monotonic() > end:
            raise TimeoutError(f"muster still writes after {PATIENCE} s")


def measure_one(muster, namespace, name):
    """Milliseconds: (from the answer to the Pod's write to the arrival of the job's, from there to its answer)."""
    here = bench_cluster.cluster()
    wait_until_quiet(muster)
    place = here.end_of_audit()
    fail(namespace, name)
    end = time.monotonic() + PATIENCE
    while not (writes := writes_since(place, muster)):
        assert time.monotonic() < end, "no status was written"
        time.sleep(0.1)
    [failed] = here.calls_since(place, AGENT)
    first = min(writes, key=lambda call: call.begin)
    return (first.begin - failed.end) * 1000, (first.end - first.begin) * 1000


def measure_status(muster, workers):
    with bench_cluster.cluster().namespace() as namespace, running(muster, namespace, workers):
        step = workers // EVENTS
        measured = [measure_one(muster, namespace, f"bench-worker-{turn * step}") for turn in range(EVENTS)]
    arrivals, writes = zip(*measured)
    return {"answer to the Pod's write to the arrival of the status (ms)": statistics.median(arrivals),
            f"slowest of {EVENTS} (ms)": max(arrivals),
            "the server's own time of the status's write (ms)": statistics.median(writes)}
