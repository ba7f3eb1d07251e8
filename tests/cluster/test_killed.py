"""The muster that watches a job is killed, whenever: the next one goes on, nothing is made twice, and all of it goes.

MUSTER_SOAK_CLUSTER_KILLS kills (6 if not said), and MUSTER_SEED to play the moments of a run again.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

from conftest import LIMIT, ROOT
from test_attach import holder_in, kill, watchers  # noqa: F401 (a fixture)
from test_run import left_of, simulated_job

sys.path.append(str(ROOT / "tests" / "system"))  # behind this folder, which has files of the same names

from processes import wait_until_none_has  # noqa: E402

KILLS = int(os.environ.get("MUSTER_SOAK_CLUSTER_KILLS", "6"))
SEED = int(os.environ.get("MUSTER_SEED", random.SystemRandom().randrange(1000000)))
# Of a job that was killed before it was whole, and of one that had ended meanwhile.
NEVER_WHOLE, NOT_FOUND = "has no Lease", "not found"


class Pods:
    """Every Pod of a namespace that there ever was, from now on."""

    def __init__(self, namespace, attempt="{.object.metadata.labels.muster/attempt}"):
        where = f"{{.object.metadata.uid}} {{.object.metadata.name}} {attempt}{{'\\n'}}"
        self.watch = subprocess.Popen(
            ["kubectl", "--namespace", namespace.name, "get", "pods", "--watch", "--output-watch-events",
             "-o", f"jsonpath={where}"],
            stdout=subprocess.PIPE, text=True, env=namespace.cluster.environment)

    def end(self):
        """(name, attempt) of each, once for each Pod."""
        self.watch.terminate()
        seen = {line.strip() for line in self.watch.communicate()[0].splitlines() if line.strip()}
        return sorted(tuple(line.split()[1:]) for line in seen)


def exists(namespace, kind, name):
    return namespace.kubectl("get", kind, name, "--ignore-not-found", "-o", "name").strip() != ""


def kill_watcher(namespace, job):
    """True when somebody watched it."""
    lease = namespace.kubectl("get", "lease", f"{job}.job", "--ignore-not-found", "-o", "json")
    pid = holder_in(json.loads(lease)) if lease else 0
    if not pid:
        return False
    try:
        kill(pid)
    except ProcessLookupError:
        return False
    return True


def take_over(muster, namespace, job):
    """What `attach -d` says; False when there is nothing to take over.

    Code 4: a muster in the background watches it, as only the one that started it was killed.
    """
    done = muster("attach", "-d", f"kubernetes/{namespace.name}/{job}")
    assert done.returncode in (0, 4, 125), done.stderr
    if done.returncode in (0, 4):
        return True
    assert NEVER_WHOLE in done.stderr or NOT_FOUND in done.stderr, done.stderr
    return False


def start(muster, job_file, name, is_detached):
    where = ["--detach"] if is_detached else []
    return muster.start("run", "--on", "kubernetes", "-q", "--name", name, *where, "-f", job_file)


def play(muster, namespace, job_file, name, moments):
    """A job whose watching muster is killed twice, at a random moment each time; gives how often it was there."""
    first = start(muster, job_file, name, moments.random() < 0.5)
    time.sleep(moments.uniform(0, 0.8))
    first.kill()
    kills = (first.wait() == -signal.SIGKILL) + kill_watcher(namespace, name)
    if not exists(namespace, "configmap", f"{name}.job"):
        return kills
    if take_over(muster, namespace, name):
        time.sleep(moments.uniform(0, 1.5))
        if kill_watcher(namespace, name):
            kills += 1
            take_over(muster, namespace, name)
    if exists(namespace, "lease", f"{name}.job"):
        done = muster("wait", f"kubernetes/{namespace.name}/{name}")
        assert done.returncode == 0 or NOT_FOUND in done.stderr, done.stderr
    elif exists(namespace, "configmap", f"{name}.job"):
        muster("delete", f"kubernetes/{namespace.name}/{name}")
    return kills


def test_whenever_the_watching_muster_is_killed_the_next_one_goes_on(muster, namespace, tmp_path, watchers):  # noqa: F811
    moments = random.Random(SEED)
    job_file = simulated_job(tmp_path, run_for="1s")
    pods = Pods(namespace)
    kills = number = 0
    while kills < KILLS:
        kills += play(muster, namespace, job_file, f"killed-{number}", moments)
        number += 1
    # One in the background may outlive the muster that started it, and make what is its own.
    wait_until_none_has(f"XDG_STATE_HOME={muster.state}")
    namespace.kubectl("wait", "--for=delete", f"--timeout={LIMIT}s", "configmaps,services,networkpolicies,pods,leases",
                      "-l", "app.kubernetes.io/managed-by=muster")
    assert left_of(namespace) == [], f"MUSTER_SEED={SEED}"
    made = pods.end()
    assert made and len(made) == len(set(made)), f"made twice: {made} (MUSTER_SEED={SEED})"
