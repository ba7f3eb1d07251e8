"""`muster operator` while the API server fails in every way and order that a seed draws, and while it is killed itself: each
Pod is made once in an attempt, and each TFJob ends as it should."""

import collections
import concurrent.futures
import os
import random
import signal

from conftest import LIMIT
from fake_kube import NAMESPACE
from living_kube import LivingKube, now
from test_jobs_elsewhere import write_kubeconfig
from trouble import Trouble

SEEDS = int(os.environ.get("MUSTER_SOAK_FAULTS", "16"))
AT_ONCE = 8
INDEX = "training.kubeflow.org/replica-index"

# Of each: run policy, restart policy, codes of worker 1 one after the other, how the job ends, attempts of worker 1.
STORIES = {
    "succeeds": ({}, "Never", [0], "Succeeded", 1),
    "cleans": ({"cleanPodPolicy": "All"}, "Never", [0], "Succeeded", 1),
    "fails": ({}, "Never", [3], "Failed", 1),
    "restarts": ({}, "ExitCode", [137, 137, 0], "Succeeded", 3),
    "gives-up": ({"backoffLimit": 1}, "ExitCode", [137, 137], "Failed", 2),
}


class Cluster(LivingKube):
    """With the jobs of all stories. Worker 0 of each runs on until worker 1 has ended for the last time."""

    def __init__(self):
        self.codes = {name: list(codes) for name, (_, _, codes, _, _) in STORIES.items()}
        self.pods = collections.Counter()  # (name, attempt) of each that was made
        super().__init__(self.code_of)

    def code_of(self, labels):
        codes = self.codes[labels["training.kubeflow.org/job-name"]]
        if labels[INDEX] == "1" and codes:
            return codes.pop(0)
        return 0

    def _note(self, plural, kind, body):
        super()._note(plural, kind, body)
        if (plural, kind) == ("pods", "ADDED"):
            self.pods[body["metadata"]["name"], body["metadata"].get("annotations", {}).get("muster/attempt", "0")] += 1

    def add_jobs(self):
        container = {"name": "tensorflow", "image": "i"}
        for number, (name, (run_policy, restart_policy, *_)) in enumerate(STORIES.items()):
            role = {"replicas": 2, "restartPolicy": restart_policy, "template": {"spec": {"containers": [container]}}}
            self.put("tfjobs", name, {
                "apiVersion": "kubeflow.org/v1", "kind": "TFJob",
                "metadata": {"namespace": NAMESPACE, "uid": f"00000000-0000-4000-9000-{number:012}", "creationTimestamp": now()},
                "spec": {"runPolicy": run_policy, "successPolicy": "AllWorkers", "tfReplicaSpecs": {"Worker": role}}})

    def ends(self):
        """How each job has ended so far."""
        conditions = {name: (self.objects["tfjobs", name].get("status") or {}).get("conditions", []) for name in STORIES}
        return {name: [entry["type"] for entry in listed if entry["type"] in ("Succeeded", "Failed") and entry["status"] == "True"]
                for name, listed in conditions.items()}

    def is_over(self):
        """And what is to be cleaned up is gone."""
        return all(self.ends().values()) and not any(
            plural in ("pods", "services") and name.startswith("cleans-") for plural, name in self.objects)


def play(muster, folder, seed):
    """What is wrong about it, as a text; "" when nothing is."""
    dice = random.Random(seed)
    folder.mkdir()
    with Cluster() as kube:
        trouble = Trouble(kube, seed)
        kube.add_jobs()
        kube.trouble = trouble
        call = ["operator", "-n", NAMESPACE, "--request-timeout", "5s", "--kubeconfig",
                write_kubeconfig(folder / "kubeconfig", kube.origin)]
        said = open(folder / "said", "w")
        served = muster.start(*call, stderr=said)
        if dice.random() < 0.5:
            version = kube.version + dice.randrange(1, 60)
            with kube.lock:
                kube.lock.wait_for(lambda: kube.version > version or kube.is_over(), LIMIT)
            served.kill()
            served.wait(LIMIT)
            served = muster.start(*call, stderr=said)
        with kube.lock:
            is_over = kube.lock.wait_for(kube.is_over, LIMIT)
            ends, pods = kube.ends(), dict(kube.pods)
        served.send_signal(signal.SIGTERM)
        code = served.wait(LIMIT)
        said.close()
    expected = {name: [end] for name, (*_, end, _) in STORIES.items()}
    made = {(f"{name}-worker-{index}", str(attempt)) for name, (*_, attempts) in STORIES.items()
            for index in range(2) for attempt in range(attempts if index else 1)}
    # What fails at once may do so before its other Pod could be made.
    needed = {pod for pod in made if not (pod[0].startswith(("fails-", "gives-up-")) and pod[0].endswith("-0"))}
    faults = [
        "not all is over" if not is_over else "",
        f"ends are {ends}" if ends != expected else "",
        f"made more than once: {pods}" if set(pods.values()) != {1} else "",
        f"Pods that are missing or too many: {needed - set(pods)}, {set(pods) - made}" if not needed <= set(pods) <= made else "",
        f"it ended with {code}" if code != 0 else "",
    ]
    wrong = "; ".join(filter(None, faults))
    return f"seed {seed}: {wrong}\n{(folder / 'said').read_text()}\n" + "\n".join(trouble.log) if wrong else ""


def test_each_job_ends_as_it_should_whatever_the_server_does(muster, tmp_path):
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        wrong = list(filter(None, pool.map(lambda seed: play(muster, tmp_path / f"seed-{seed}", seed), range(SEEDS))))
    assert not wrong, "\n\n".join(wrong[:3])
