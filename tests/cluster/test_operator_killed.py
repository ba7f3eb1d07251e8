"""The operator is killed, whenever, or the API server is: every TFJob ends right, and no Pod is made twice.

MUSTER_SOAK_OPERATOR_KILLS kills of the operator (6 if not said) while three times as many jobs live, some of which are
suspended, scaled or deleted between two of them, and MUSTER_SEED to play the moments of a run again.
"""

import json
import os
import random
import signal
import time

import pytest

from conftest import LIMIT, until
from test_killed import Pods
from test_logs import kill_api_server
from test_operator import conditions, crd, tfjob  # noqa: F401 (a fixture)

KILLS = int(os.environ.get("MUSTER_SOAK_OPERATOR_KILLS", "6"))
SEED = int(os.environ.get("MUSTER_SEED", random.SystemRandom().randrange(1000000)))
ATTEMPT = "{.object.metadata.annotations.muster/attempt}"


def simulated(replicas, restart_policy="Never", **simulate):
    annotations = {f"simulate/{key.replace('_', '-')}": str(value) for key, value in simulate.items()}
    container = {"name": "tensorflow", "image": "registry.test/model:1"}
    return {"replicas": replicas, "restartPolicy": restart_policy,
            "template": {"metadata": {"annotations": annotations},
                         "spec": {"nodeSelector": {"type": "simulated"}, "tolerations": [{"operator": "Exists"}],
                                  "containers": [container]}}}


def story(moments, name):
    """(the job, how it ends, how often each of its Pods is made at most, what is done to it in the rounds that follow)."""
    run_for = f"{moments.randrange(100, 2000)}ms"
    return moments.choice([
        (tfjob(name, Worker=simulated(3, run_for=run_for)), "Succeeded", 1, []),
        (tfjob(name, {"cleanPodPolicy": "All"}, PS=simulated(1), Chief=simulated(1, run_for=run_for)), "Succeeded", 1, []),
        (tfjob(name, Worker=simulated(2, run_for=run_for, exit_code=3)), "Failed", 1, []),
        (tfjob(name, {"backoffLimit": 1}, Worker=simulated(1, "ExitCode", run_for=run_for, exit_code=137)), "Failed", 2, []),
        (tfjob(name, Worker=simulated(2, run_for=run_for)), "Succeeded", 2, [suspend, resume]),
        (tfjob(name, {"suspend": True}, Worker=simulated(2, run_for=run_for)), "Succeeded", 1, [resume]),
        (tfjob(name, Worker=simulated(4, run_for=run_for)), "Succeeded", 1, [scale]),
        (tfjob(name, {"cleanPodPolicy": "All"}, Worker=simulated(3)), None, 1, [delete]),
    ])


def edit(namespace, name, spec):
    namespace.kubectl("patch", "tfjob", name, "--type=merge", "-p", json.dumps({"spec": spec}))


def suspend(namespace, name):
    edit(namespace, name, {"runPolicy": {"suspend": True}})


def resume(namespace, name):
    edit(namespace, name, {"runPolicy": {"suspend": False}})


def scale(namespace, name):
    edit(namespace, name, {"tfReplicaSpecs": {"Worker": {"replicas": 2}}})


def delete(namespace, name):
    namespace.kubectl("delete", "tfjob", name, "--wait=false")


def meddle(namespace, rounds):
    """The next thing that is done to each job."""
    for name, left in rounds.items():
        if left:
            left.pop(0)(namespace, name)


def serve(muster, namespace):
    return muster.start("operator", "-n", namespace.name)


@pytest.mark.disturbs
def test_it_goes_on_when_the_api_server_was_away(cluster, muster, crd, namespace):  # noqa: F811
    served = serve(muster, namespace)
    namespace.create(tfjob("before", Worker=simulated(2, run_for="3s")))
    namespace.wait("tfjob/before", "condition=Running")
    kill_api_server(cluster)
    cluster.until_it_answers()
    namespace.create(tfjob("after", Worker=simulated(1, run_for="10ms")))
    for name in ("before", "after"):
        namespace.wait(f"tfjob/{name}", "condition=Succeeded")
    served.send_signal(signal.SIGTERM)
    assert served.wait(LIMIT) == 0


def test_every_job_ends_right_however_often_the_operator_is_killed(muster, crd, namespace):  # noqa: F811
    print(f"MUSTER_SEED={SEED}")
    moments = random.Random(SEED)
    made = Pods(namespace, ATTEMPT)
    stories, rounds = {}, {}
    for number in range(KILLS):
        served = serve(muster, namespace)
        meddle(namespace, rounds)
        for name in (f"job{number}-{index}" for index in range(3)):
            job, end, most, rounds[name] = story(moments, name)
            namespace.create(job)
            stories[name] = end, most
        time.sleep(moments.random() / 2)
        served.kill()
        served.wait(LIMIT)
    while any(rounds.values()):
        meddle(namespace, rounds)
    served = serve(muster, namespace)
    for name, end in ((name, end) for name, (end, _) in stories.items() if end):
        namespace.wait(f"tfjob/{name}", f"condition={end}")
        assert not {"Succeeded", "Failed"} - {end} & {kind for kind, status in conditions(namespace, name).items()
                                                      if status == "True"}, name
    cleaned = [name for name, (end, _) in stories.items() if not end]
    until(lambda: [pod["metadata"]["name"] for pod in namespace.list("pods")],
          lambda names: not any("-ps-" in name or "-chief-" in name or name.startswith(tuple(f"{job}-" for job in cleaned))
                                for name in names))
    pods = made.end()
    assert len(pods) == len(set(pods)), "a Pod was made twice in one attempt"
    for name, (_, most) in stories.items():
        times = [pod for pod, *_ in pods if pod.startswith(f"{name}-")]
        assert all(times.count(pod) <= most for pod in times), (name, times)
    namespace.kubectl("delete", "tfjobs", "--all")
    until(lambda: namespace.list("pods,services"), lambda left: not left)
    served.send_signal(signal.SIGTERM)
    assert served.wait(LIMIT) == 0
