"""Jobs so large that what all Pods are told of the others stands in a ConfigMap, not in each of them, and what is remembered
of them has to be small.

MUSTER_SOAK_REPLICAS is how many the largest has (300 if not said).
"""

import json
import os

import pytest
from conftest import LIMIT
from test_attach import holder_of, kill, watchers  # noqa: F401 (a fixture)
from test_run import BUSYBOX, left_of, run, run_in_background, simulated_job, wait_for_line

REPLICAS = 120
MANY = int(os.environ.get("MUSTER_SOAK_REPLICAS", "300"))


def part_of(namespace):
    """The ConfigMap that Pods read."""
    [part] = namespace.list("configmaps", "muster/part=files")
    return part["metadata"]["name"]


def test_a_process_finds_all_others_in_tf_config(muster, namespace, tmp_path):
    """The worker runs on a node with a kubelet; 120 parameter servers are simulated."""
    job = json.loads(simulated_job(tmp_path).read_text())
    specs = job["spec"]["tfReplicaSpecs"]
    specs["PS"] = {**specs["Worker"], "replicas": REPLICAS}
    specs["Worker"] = {"replicas": 1, "restartPolicy": "Never", "template": {"spec": {
        "nodeSelector": {"type": "real"},
        "containers": [{"name": "tensorflow", "image": BUSYBOX[1], "command": ["sh", "-c", 'echo "$TF_CONFIG"']}]}}}
    path = tmp_path / "job.json"
    path.write_text(json.dumps(job))
    done = run(muster, "-f", path, code=0)
    config = json.loads(done.stdout.removeprefix("worker-0 | "))
    assert config["task"] == {"type": "worker", "index": 0}
    address = f"simulated-%s-%d.simulated.{namespace.name}.svc:2222"
    assert config["cluster"] == {"ps": [address % ("ps", index) for index in range(REPLICAS)],
                                 "worker": [address % ("worker", 0)]}
    assert left_of(namespace) == []


@pytest.mark.long
def test_what_they_are_told_by_is_made_again(muster, namespace, tmp_path):
    job = run_in_background(muster, "-f", simulated_job(tmp_path, workers=REPLICAS))
    wait_for_line(job.stderr, f"all {REPLICAS} Pods are running")
    name = part_of(namespace)
    namespace.kubectl("delete", "configmap", name)
    wait_for_line(job.stderr, f"the ConfigMap '{name}' of the job was deleted; creating it again")
    namespace.wait(f"configmap/{name}", "create")
    job.terminate()
    assert job.wait(LIMIT) == 143
    assert left_of(namespace) == []


@pytest.mark.long
def test_a_job_that_has_become_large_has_one_from_then_on(muster, namespace, tmp_path):
    job = run_in_background(muster, "-f", simulated_job(tmp_path, workers=1))
    wait_for_line(job.stderr, "the Pod is running")
    muster("scale", f"kubernetes/{namespace.name}/simulated", f"worker={REPLICAS}", code=0)
    namespace.wait(f"pod/simulated-worker-{REPLICAS - 1}", "create")
    name = part_of(namespace)
    pod = namespace.get("pod", f"simulated-worker-{REPLICAS - 1}")
    variables = pod["spec"]["containers"][0]["env"]
    assert variables[0]["valueFrom"]["configMapKeyRef"]["name"] == name
    job.terminate()
    assert job.wait(LIMIT) == 143
    assert left_of(namespace) == []


def remembered(namespace):
    """What the job's ConfigMap keeps of its status."""
    return json.loads(namespace.get("configmap", "simulated.job")["data"]["status"])


@pytest.mark.long
def test_what_is_remembered_of_many_is_small_and_enough(muster, namespace, tmp_path, watchers):  # noqa: F811
    """Its supervisor is killed, two Pods vanish meanwhile, and whoever attaches finds all as it is."""
    path = simulated_job(tmp_path, workers=MANY, policy="OnFailure")
    job = json.loads(path.read_text())
    job["spec"]["enableDynamicWorker"] = True  # each is told of itself alone
    path.write_text(json.dumps(job))
    watching = run_in_background(muster, "-f", path)
    wait_for_line(watching.stderr, f"all {MANY} Pods are running")
    namespace.kubectl("wait", f"--timeout={LIMIT}s", "configmap/simulated.job", f"--for=jsonpath={{.data.status}}")
    group = {"role": "worker", "indices": f"0-{MANY - 1}", "attempt": 0, "state": "Started", "restarts": 0}
    assert remembered(namespace)["replicas"] == [group]
    kill(holder_of(namespace, "simulated"))
    watching.communicate(timeout=LIMIT)
    namespace.kubectl("delete", "pod", "simulated-worker-3", f"simulated-worker-{MANY - 1}")
    attached = muster.start("attach", f"kubernetes/{namespace.name}/simulated")
    wait_for_line(attached.stderr, "this muster now supervises it")
    for index in (3, MANY - 1):
        namespace.wait(f"pod/simulated-worker-{index}", "create")
        pod = namespace.get("pod", f"simulated-worker-{index}")
        assert pod["metadata"]["labels"]["muster/attempt"] == "1"
    kept, restarted = remembered(namespace)["replicas"]
    assert kept["indices"] == f"0-2,4-{MANY - 2}" and kept["attempt"] == kept["restarts"] == 0
    assert restarted["indices"] == f"3,{MANY - 1}" and restarted["attempt"] == restarted["restarts"] == 1
    status = muster.job(f"kubernetes/{namespace.name}/simulated")["status"]
    assert [replica["attempt"] for replica in status["replicas"]].count(1) == 2
    assert status["restarts"] == 2
    muster("stop", f"kubernetes/{namespace.name}/simulated", code=0)
    attached.communicate(timeout=LIMIT)  # a sentence of each log that breaks off
    assert attached.returncode == 130
    assert left_of(namespace) == []
