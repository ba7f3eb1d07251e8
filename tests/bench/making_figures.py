"""How long it takes until all Pods of a job are made, and what that costs: muster beside others that make the same.

The peers make what `muster render --as pods` says, muster runs the job. The moments are those of the API server's audit
log: from the first call of the program, whatever it asks, to the answer to the last Pod. A peer is done then; muster
watches besides.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading

import bench_cluster
from measure import peak_of, see_through, state_folder, tree_of

MEGABYTE = 1e6
DELAY = 0.1  # seconds there, and as long back, where round trips are counted
PEERS = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "muster" / "peers"
HERE = pathlib.Path(__file__).resolve().parent


class Maker:
    """`agent` is how its calls begin to call themselves."""

    def __init__(self, name, agent, command):
        self.name, self.agent, self.command = name, agent, command


class Muster:
    name, agent = "muster", "muster/"

    def __init__(self, program):
        self.program = program

    def job(self, namespace, workers):
        return ["--name", "bench", "-n", namespace, "-w", str(workers), *bench_cluster.SIMULATED, "--", "train"]

    def objects(self, namespace, workers):
        return subprocess.run([self.program, "render", "--as", "pods", "-o", "json", *self.job(namespace, workers)],
                              check=True, stdout=subprocess.PIPE).stdout


def makers(muster):
    if not bench_cluster.can_be_here():
        return []
    python = PEERS / "bin" / "python"
    has_client = python.exists() and subprocess.run([python, "-c", "import kubernetes"], check=False,
                                                    capture_output=True).returncode == 0
    found = [Muster(muster), Maker("kubectl apply", "kubectl", ["kubectl", "apply", "-f"])]
    if has_client:
        found.append(Maker("TF-Spawner's order", "OpenAPI-Generator", [python, HERE / "spawner.py"]))
    return found


def makers_of_many(muster):
    return makers(muster) and [Muster(muster), Maker("bare loop", "bare-loop", [sys.executable, HERE / "bare_loop.py"])]


def processor_seconds(pids):
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def run_peer(maker, objects, environment):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(objects)
        file.flush()
        process = subprocess.Popen([*maker.command, file.name], env=environment, stdout=subprocess.DEVNULL)
        used, peak = see_through(process)
    if process.returncode:
        sys.exit(f"{maker.name} failed: {process.returncode}")
    return {"processor (s)": used.ru_utime + used.ru_stime, "resident at most (MB)": peak / MEGABYTE}


def run_muster(muster, namespace, workers, environment):
    """Until it says that all Pods run; then it is killed, because its end is another figure."""
    command = [muster.program, "run", "--on", "kubernetes", *muster.job(namespace, workers)]
    process = subprocess.Popen(command, env={**environment, "XDG_STATE_HOME": state_folder()}, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        for line in process.stderr:
            if f"all {workers} Pods are running" in line:
                break
        else:
            sys.exit("muster ended before all Pods ran")
        pids = tree_of(process.pid)
        return {"processor (s)": processor_seconds(pids), "resident at most (MB)": max(map(peak_of, pids)) / MEGABYTE}
    finally:
        threading.Thread(target=process.stderr.read, daemon=True).start()
        process.send_signal(signal.SIGKILL)
        process.wait()


def make(maker, workers, delay=0):
    """(what it cost, its calls in the order of their beginning up to the answer to the last Pod)."""
    here = bench_cluster.cluster()
    environment = dict(here.environment)
    if delay:
        environment["KUBECONFIG"] = here.kubeconfig_by_slow_link(delay)
    with here.namespace() as namespace:
        place = here.end_of_audit()
        if isinstance(maker, Muster):
            cost = run_muster(maker, namespace, workers, environment)
        else:
            cost = run_peer(maker, Muster("build/muster").objects(namespace, workers), environment)
        calls = sorted(here.calls_since(place, maker.agent), key=lambda call: call.begin)
    made = [call.end for call in calls if call.verb in ("create", "patch") and call.resource == "pods" and
            call.code == 201]
    assert len(made) == workers, f"{maker.name} made {len(made)} Pods"
    return cost, [call for call in calls if call.begin < max(made)], max(made)


def is_making(call):
    return call.verb in ("create", "patch") and call.resource not in ("selfsubjectaccessreviews", None)


def measure_round_trips(maker, workers):
    """Over a link with a delay, round trips are what the time is made of."""
    _, calls, end = make(maker, workers, DELAY)
    first_made = next(call.begin for call in calls if is_making(call))
    # The first call had half a round trip behind it when it came, and the last answer one before it.
    trips = {what: (end - begin) / (2 * DELAY) + 1 for what, begin in
             (("round trips from the first call", calls[0].begin), ("round trips from the first object", first_made))}
    return {**trips, "calls": len(calls)}


def measure_making(maker, workers):
    cost, calls, end = make(maker, workers)
    return {"first call to all Pods made (ms)": (end - calls[0].begin) * 1000, **cost}
