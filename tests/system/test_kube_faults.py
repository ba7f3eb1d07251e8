"""A whole `muster run --on kubernetes` while the API server fails in every way and order that a seed draws: each Pod is made
once in an attempt, the job ends with its own code, nothing is left in the cluster, and no secret is shown."""

import collections
import concurrent.futures
import json
import os
import random
import subprocess

import pytest

from conftest import LIMIT
from http_server import make_certificate, tls_context
from living_kube import LINES, LivingKube
from trouble import Trouble

SEEDS = int(os.environ.get("MUSTER_SOAK_FAULTS", "16"))
AT_ONCE = 8
TOKEN = "hunter2-a-secret"
WORKERS = 3

# How a job goes: its options, the code of worker 1 in each attempt, and the code of the job.
STORIES = {
    "succeeds": ([], [0], 0),
    "fails": (["--max-restarts", "0"], [3], 3),
    "is restarted": (["--max-restarts", "1"], [3, 0], 0),
}


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    """Two of one server: (what clients trust, how the server uses either)."""
    made = [make_certificate(tmp_path_factory.mktemp("certificate")) for _ in range(2)]
    return "".join(certificate.read_text() for certificate, _ in made), [tls_context(*both) for both in made]


def write_kubeconfig(path, origin, authority):
    (path.parent / "ca.pem").write_text(authority)
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": origin, "certificate-authority": "ca.pem"}}],
        "users": [{"name": "u", "user": {"token": TOKEN}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "ada"}}],
    }))
    return path


def wrong_lines(shown, code, attempts):
    """No line comes twice in an attempt or out of order; where all is well in the end, the last attempt's are all there."""
    for index in range(WORKERS):
        before = f"worker-{index} | line "
        numbers = [int(line.removeprefix(before)) for line in shown if line.startswith(before)]
        started = 1 + sum(second <= first for first, second in zip(numbers, numbers[1:]))
        if started > attempts or (code == 0 and numbers[-LINES:] != list(range(LINES))):
            return f"lines of worker {index}: {numbers}"
    return ""


def run_story(muster, folder, certificates, seed):
    """What is wrong about it, as a text; "" when nothing is."""
    name = random.Random(seed).choice(list(STORIES))
    options, codes, expected = STORIES[name]

    def plan(labels):
        return codes[int(labels["muster/attempt"])] if labels["muster/index"] == "1" else 0

    authority, contexts = certificates
    folder.mkdir()
    with LivingKube(plan, contexts[0]) as kube:
        trouble = kube.trouble = Trouble(kube, seed, contexts)
        kubeconfig = write_kubeconfig(folder / "kubeconfig", kube.origin, authority)
        try:
            done = muster("run", "--on", "kubernetes", "--kubeconfig", kubeconfig, "--request-timeout", "5s", "--name",
                          "story", "-w", WORKERS, *options, "--image", "i", "--", "true", "",
                          env={"XDG_STATE_HOME": folder})
        except subprocess.TimeoutExpired as lost:
            return "\n".join([f"seed {seed}, a job that {name}: it never ended; there are {sorted(kube.objects)}",
                              f"{lost.stdout}{lost.stderr}", *trouble.log])
        trouble.left = trouble.events_left = 0
        left = kube.wait_until_empty(LIMIT if done.returncode == expected else 1)
        pods = collections.Counter((labels["muster/role"], labels["muster/index"], labels["muster/attempt"])
                                   for plural, labels in kube.created if plural == "pods")
    said = done.stdout + done.stderr
    if done.returncode == 3 and not pods and not left and TOKEN not in said:
        return ""  # it could not be reached at the very beginning, and that is said; a record was taken back
    faults = [
        f"ended with {done.returncode}" if done.returncode != expected else "",
        f"left behind: {left}" if left else "",
        f"made twice: {pods}" if set(pods.values()) - {1} else "",
        # What fails at once may do so before its last Pod could be made.
        f"made: {pods}" if len(pods) != WORKERS and name == "succeeds" else "",
        "it shows the token" if TOKEN in said else "",
        wrong_lines(done.stdout.splitlines(), expected, len(codes)),
    ]
    wrong = "; ".join(filter(None, faults))
    return f"seed {seed}, a job that {name}: {wrong}\n{said}\n" + "\n".join(trouble.log) if wrong else ""


def test_a_job_ends_as_it_should_whatever_the_server_does(muster, certificates, tmp_path):
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        stories = pool.map(lambda seed: run_story(muster, tmp_path / f"seed-{seed}", certificates, seed), range(SEEDS))
        wrong = list(filter(None, stories))
    assert not wrong, "\n\n".join(wrong[:3])
