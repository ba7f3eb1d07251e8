"""`muster operator` beside training-operator 1.9.4: TFJob objects, and how soon what belongs to them is there.

All moments are those of the API server's audit log. Jobs are posted by 8 connections (bare_loop.py); the least that can be
done of them is the same loop posting their Pods and Services too. The old operator is built and started as the take-over
test does it, serves TFJobs alone (`--enable-scheme=tfjob`), with the CRD of its own module; muster with that of deploy/.
"""

import contextlib
import http.client
import json
import signal
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request

import bench_cluster
from bare_loop import login
from making_figures import HERE, MEGABYTE, processor_seconds, run_peer, Maker
from measure import peak_of, state_folder, tree_of
from status_figures import fail

import training_operator

ROOT = HERE.parents[1]
PATIENCE = 600  # the old operator takes more than 200 s by its own limits
POLL = 0.2
RAISED = ["--kube-api-qps=1000", "--kube-api-burst=2000", "--controller-threads=10"]
HEALTH = 8081  # both are asked there whether they are ready
NODES = ("kwok", "bench-kubelet")
WORKERS = "|".join(["bare-loop", *NODES])  # who else takes part
REPLACED = 20
IDLE = 20  # seconds in which an idle one is looked at
LOOK = 2  # seconds, and what part of a processor the control plane takes when it is calm
CALM = 0.4


class MusterOperator:
    name, agent = "muster", "muster/"
    crd = ROOT / "deploy" / "crd.yaml"

    def __init__(self, program, *options):
        self.program, self.options = program, options

    @contextlib.contextmanager
    def running(self):
        """Its process, when it serves."""
        command = [self.program, "operator", "--health-probe-bind-address", f"127.0.0.1:{HEALTH}", *self.options]
        with open(log_of("muster-operator"), "ab") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       env={**bench_cluster.cluster().environment, "XDG_STATE_HOME": state_folder()})
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


class TrainingOperator:
    agent = "training-operator"
    crd = training_operator.folder() / training_operator.CRD

    def __init__(self, name, *options):
        self.name, self.options = name, options

    @contextlib.contextmanager
    def running(self):
        here = bench_cluster.cluster()
        started = training_operator.TrainingOperator(here.environment, here.kubectl, log_of(self.agent), *self.options)
        try:
            yield started.process
        finally:
            started.end()


class BareLoop:
    name, agent = "bare loop", "bare-loop"
    crd = MusterOperator.crd
    maker = Maker(name, agent, [sys.executable, HERE / "bare_loop.py"])

    def __init__(self, objects_of_job):
        self.objects_of_job = objects_of_job  # (job, its uid)


def log_of(name):
    return bench_cluster.cluster().folder / "logs" / name


def operators(muster):
    if not bench_cluster.can_be_here():
        return []
    peers = [TrainingOperator("1.9.4 raised", *RAISED)] if training_operator.folder().is_dir() else []
    return [MusterOperator(muster), *peers]


def operators_of_many(muster):
    return operators(muster) and [*operators(muster), BareLoop(objects_of)]


def operators_of_one_service(muster):
    """Each job has one Service, which the old operator cannot."""
    return operators(muster) and [MusterOperator(muster, "--services", "per-job"), BareLoop(objects_of_one_service)]


def all_operators(muster):
    """With the old one as it is by default, which takes minutes."""
    found = operators_of_many(muster)
    return [*found, TrainingOperator("1.9.4")] if len(found) == 3 else found


# Objects.

def tfjob(namespace, name, workers, policy="OnFailure"):
    container = {"name": "tensorflow", "image": "registry.test/model:1", "command": ["train"]}
    template = {"spec": {"nodeSelector": {"type": "simulated"}, "tolerations": [{"operator": "Exists"}],
                         "containers": [container]}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": name, "namespace": namespace},
            "spec": {"tfReplicaSpecs": {"Worker": {"replicas": workers, "restartPolicy": policy, "template": template}}}}


def event_of(job, uid, kind, name):
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    metadata = job["metadata"]
    return {"apiVersion": "v1", "kind": "Event", "type": "Normal", "count": 1, "reason": f"SuccessfulCreate{kind.title()}",
            "message": f"Created {kind}: {name}", "source": {"component": "tfjob-controller"},
            "firstTimestamp": moment, "lastTimestamp": moment,
            "metadata": {"generateName": f"{metadata['name']}.", "namespace": metadata["namespace"]},
            "involvedObject": {"apiVersion": job["apiVersion"], "kind": job["kind"], "namespace": metadata["namespace"],
                               "name": metadata["name"], "uid": uid}}


def labels_of(job, **of_replica):
    labels = {"operator-name": "tfjob-controller", "job-name": job["metadata"]["name"], **of_replica}
    return {f"training.kubeflow.org/{key.replace('_', '-')}": value for key, value in labels.items()}


def metadata_of(job, uid, name, labels):
    owner = {"apiVersion": job["apiVersion"], "kind": job["kind"], "name": job["metadata"]["name"], "uid": uid,
             "controller": True, "blockOwnerDeletion": True}
    return {"name": name, "namespace": job["metadata"]["namespace"], "labels": labels, "ownerReferences": [owner]}


def service_of(metadata):
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {
        "clusterIP": "None", "selector": metadata["labels"], "ports": [{"name": "tfjob-port", "port": 2222}]}}


def pods_of(job, uid, domain=""):
    name, role = job["metadata"]["name"], job["spec"]["tfReplicaSpecs"]["Worker"]
    names = [f"{name}-worker-{index}" for index in range(role["replicas"])]
    addresses = [f"{pod}{domain}.{job['metadata']['namespace']}.svc:2222" for pod in names]
    for index, pod in enumerate(names):
        config = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}, "environment": "cloud"}
        spec = json.loads(json.dumps(role["template"]["spec"]))
        spec["restartPolicy"] = role["restartPolicy"]
        spec["containers"][0].update(ports=[{"name": "tfjob-port", "containerPort": 2222}], env=[
            {"name": "TF_CONFIG", "value": json.dumps(config, separators=(",", ":"))}])
        labels = labels_of(job, replica_type="worker", replica_index=str(index))
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata_of(job, uid, pod, labels), "spec": spec}


def objects_of(job, uid):
    """The Services and Pods that both operators make of it, and the Events of that."""
    for pod in pods_of(job, uid):
        yield service_of(pod["metadata"])
        yield pod
        yield event_of(job, uid, "service", pod["metadata"]["name"])
        yield event_of(job, uid, "pod", pod["metadata"]["name"])


def objects_of_one_service(job, uid):
    """The same of a job that has one Service."""
    name = job["metadata"]["name"]
    yield service_of(metadata_of(job, uid, name, labels_of(job)))
    yield event_of(job, uid, "service", name)
    for pod in pods_of(job, uid, f".{name}"):
        pod["spec"].update(hostname=pod["metadata"]["name"], subdomain=name)
        yield pod
        yield event_of(job, uid, "pod", pod["metadata"]["name"])


def post(objects):
    """By the bare loop; gives what that cost."""
    made = json.dumps({"items": list(objects)}).encode()
    return run_peer(BareLoop.maker, made, bench_cluster.cluster().environment)


def post_all_by_hand(jobs, objects_of_job):
    here = bench_cluster.cluster()
    listed = json.loads(here.kubectl("-n", jobs[0]["metadata"]["namespace"], "get", "tfjobs", "-o", "json"))["items"]
    uids = {job["metadata"]["name"]: job["metadata"]["uid"] for job in listed}
    return post(made for job in jobs for made in objects_of_job(job, uids[job["metadata"]["name"]]))


# Waiting.

class Audit:
    """The calls of an operator, and of those that it works with, as they come."""

    def __init__(self, agent):
        self.agent, self.calls = agent, []
        self.place = bench_cluster.cluster().end_of_audit()

    def until(self, what, is_enough):
        end = time.monotonic() + PATIENCE
        while True:
            found, self.place = bench_cluster.cluster().read_calls(self.place, f"{self.agent}|{WORKERS}")
            self.calls += found
            if is_enough(self.calls):
                return
            if time.monotonic() > end:
                raise TimeoutError(f"waited {PATIENCE} s until {what}")
            time.sleep(POLL)

    def own(self):
        return [call for call in self.calls if call.agent.startswith(self.agent)]


def until_ready():
    end = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{HEALTH}/readyz", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            pass
        if time.monotonic() > end:
            raise TimeoutError(f"the operator is not ready after {PATIENCE} s")
        time.sleep(0.01)


def until_calm():
    """The control plane has done what the work before has left to it: EndpointSlices, the collection of garbage."""
    pids = tree_of(int((bench_cluster.cluster().folder / "first").read_text()))
    end = time.monotonic() + PATIENCE
    while True:
        before = processor_seconds(pids)
        time.sleep(LOOK)
        if (processor_seconds(pids) - before) / LOOK < CALM:
            return
        if time.monotonic() > end:
            raise TimeoutError(f"the control plane is not calm after {PATIENCE} s")


def delete_all(path):
    """The server ends a call after a minute; what it has deleted by then is gone."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            bench_cluster.cluster().kubectl("delete", "--raw", path)
            return
        except subprocess.CalledProcessError as error:
            if not any(said in error.stderr for said in ("Timeout", "stream error")) or time.monotonic() > end:
                raise RuntimeError(error.stderr) from error


@contextlib.contextmanager
def stage(operator):
    """A namespace, under this operator's CRD, of which nothing is left when it ends."""
    here = bench_cluster.cluster()
    here.kubectl("apply", "--server-side", "--force-conflicts", "-f", operator.crd)
    with here.namespace() as namespace:
        until_calm()
        here.kubectl("-n", namespace, "get", "tfjobs")  # which the server knows by now
        try:
            yield namespace
        finally:
            for path in (f"apis/kubeflow.org/v1/namespaces/{namespace}/tfjobs", f"api/v1/namespaces/{namespace}/services"):
                delete_all("/" + path)
            here.kubectl("-n", namespace, "wait", "--for=delete", "tfjobs", "--all", f"--timeout={PATIENCE}s")


# What calls say.

def made_of(calls, resource):
    """{name: call} of the objects that were made."""
    return {call.name: call for call in calls
            if call.verb == "create" and call.resource == resource and call.code == 201 and not call.subresource}


def made_events(calls):
    """Of TFJobs: nodes send others."""
    return [call for call in calls if call.verb == "create" and call.resource == "events" and call.code == 201
            and not call.agent.startswith(NODES)]


def job_of(pod):
    return pod.rpartition("-worker-")[0]


def first_by_job(pairs):
    """{job: first moment} of (job, moment)."""
    first = {}
    for job, moment in pairs:
        first[job] = min(moment, first.get(job, moment))
    return first


def statuses(calls):
    """Those that were written of TFJobs."""
    return [call for call in calls if call.resource == "tfjobs" and call.subresource == "status" and call.code == 200]


def told(calls, kind):
    """{job: when the status first had this condition}"""
    return first_by_job((call.name, call.end) for call in statuses(calls)
                        if any(condition["type"] == kind and condition["status"] == "True"
                               for condition in call.sent["status"].get("conditions", [])))


def ran_pods(calls):
    """{Pod: when it ran}, by its node's own word for it."""
    return {call.name: call.end for call in reversed(calls)
            if call.agent.startswith("kwok") and call.resource == "pods" and call.subresource == "status"
            and call.verb == "patch"}


def ran(calls):
    """{job: when its first Pod ran}"""
    return first_by_job((job_of(name), moment) for name, moment in ran_pods(calls).items())


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


# Figures.

def is_all_made(calls, pods, services):
    return (len(made_of(calls, "pods")), len(made_of(calls, "services"))) == (pods, services)


def cost_of(process, begin):
    pids = tree_of(process.pid)
    return {"processor (s)": processor_seconds(pids) - begin, "resident at most (MB)": max(map(peak_of, pids)) / MEGABYTE}


def resident(process):
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
        return sum(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS")) / MEGABYTE


def time_to_all(calls):
    jobs, pods, services = (made_of(calls, kind) for kind in ("tfjobs", "pods", "services"))
    begin = min(call.begin for call in jobs.values())
    every = [*pods.values(), *services.values(), *made_events(calls)]
    return {"first job posted to all Pods made (s)": max(call.end for call in pods.values()) - begin,
            "… to all Services too (s)": max(call.end for call in [*pods.values(), *services.values()]) - begin,
            "… to all Events too (s)": max(call.end for call in every) - begin}


def status_delays(calls):
    created, running = told(calls, "Created"), told(calls, "Running")
    first_posts = first_by_job((job_of(name), call.begin) for name, call in made_of(calls, "pods").items())
    begun = ran(calls)
    delays = [(running[job] - begun[job]) * 1000 for job in running]
    return {"jobs that were not Created before their first Pod": sum(created[job] > first_posts[job] for job in first_posts),
            "first Pod runs to Running written, median (ms)": statistics.median(delays),
            "… 99th percentile (ms)": percentile(delays, 0.99),
            "the server answers a write of a status, median (ms)":
                statistics.median((call.end - call.begin) * 1000 for call in statuses(calls))}


def measure_by_hand(loop, jobs, pods, services, events=None):
    audit = Audit(loop.agent)
    post(jobs)
    cost = post_all_by_hand(jobs, loop.objects_of_job)
    events = pods + services if events is None else events
    audit.until("all is made", lambda calls: is_all_made(calls, pods, services) and len(made_events(calls)) == events)
    made = [call for kind in ("pods", "services") for call in made_of(audit.calls, kind).values()]
    posted = made_of(audit.calls, "tfjobs").values()
    pause = min(call.begin for call in made) - max(call.end for call in posted)  # the loop begins anew, and asks for uids
    return {**{what: value - pause for what, value in time_to_all(audit.calls).items()}, **cost}


def measure_jobs(operator, count, workers, services_of_job=None):
    """Jobs posted at once: until all their Pods are made, all jobs are Running, and nothing more is written of them."""
    pods, services = count * workers, count * (services_of_job or workers)
    with stage(operator) as namespace:
        jobs = [tfjob(namespace, f"job-{number}", workers) for number in range(count)]
        if isinstance(operator, BareLoop):
            return measure_by_hand(operator, jobs, pods, services)
        with operator.running() as process:
            until_ready()
            until_calm()
            idle = resident(process)
            audit, begin = Audit(operator.agent), processor_seconds(tree_of(process.pid))
            post(jobs)
            audit.until("all Pods are made and all jobs are Running", lambda calls: is_all_made(calls, pods, services) and
                        len(told(calls, "Running")) == count)
            until_calm()
            audit.until("the end", lambda calls: True)
            own = audit.own()
            return {**time_to_all(audit.calls), **cost_of(process, begin), "idle before (MB)": idle,
                    **status_delays(audit.calls), "requests": len(own),
                    "… of events": sum(call.resource == "events" for call in own),
                    "… writes of statuses": len(statuses(own)),
                    "… reads of a TFJob": sum((call.verb, call.resource) == ("get", "tfjobs") for call in own),
                    "… refused as conflicts": sum(call.code == 409 for call in own)}


def measure_one_job(operator, workers):
    """A job on an idle cluster; then the Pods of another fail, one after the other."""
    with stage(operator) as namespace, operator.running():
        until_ready()
        until_calm()
        first = time_of_one(operator, namespace, "first", workers)
        second = time_of_one(operator, namespace, "second", workers)
        time_of_one(operator, namespace, "many", REPLACED)
        again = [replacement(operator, namespace, f"many-worker-{index}") for index in range(REPLACED)]
        return {"first job posted to all Pods made (ms)": first, "… the second one (ms)": second,
                "a Pod fails to its replacement made, median (ms)": statistics.median(again),
                f"… slowest of {REPLACED} (ms)": max(again)}


def time_of_one(operator, namespace, name, workers):
    audit = Audit(operator.agent)
    post([tfjob(namespace, name, workers)])
    audit.until("the job runs", lambda calls: is_all_made(calls, workers, workers) and len(ran_pods(calls)) == workers and
                told(calls, "Running"))
    time.sleep(1)  # what is written behind it is no part of the next
    [posted] = made_of(audit.calls, "tfjobs").values()
    return (max(call.end for call in made_of(audit.calls, "pods").values()) - posted.begin) * 1000


def replacement(operator, namespace, pod):
    """Milliseconds from the answer to the write of its failure."""
    audit = Audit(operator.agent)
    fail(namespace, pod)
    audit.until("the Pod is made again and runs", lambda calls: made_of(calls, "pods") and ran(calls))
    [failed] = [call for call in audit.calls if call.agent.startswith("bench-kubelet")]
    time.sleep(1)  # what is written behind it is no part of the next
    return (made_of(audit.calls, "pods")[pod].end - failed.end) * 1000


def finish(jobs):
    """Writes the end of each, as both operators write it."""
    server, tls = login(bench_cluster.cluster().environment["KUBECONFIG"])
    connection = http.client.HTTPSConnection(server, context=tls)
    moment = "2026-01-01T00:00:00Z"
    condition = {"status": "True", "lastUpdateTime": moment, "lastTransitionTime": moment}
    for job in jobs:
        name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
        conditions = [{**condition, "type": "Created", "reason": "TFJobCreated", "message": f"TFJob {name} is created."},
                      {**condition, "type": "Running", "status": "False", "reason": "TFJobRunning",
                       "message": f"TFJob {namespace}/{name} is running."},
                      {**condition, "type": "Succeeded", "reason": "TFJobSucceeded",
                       "message": f"TFJob {namespace}/{name} successfully completed."}]
        status = {"conditions": conditions, "replicaStatuses": {"Worker": {"succeeded": 4}}, "startTime": moment,
                  "completionTime": moment}
        connection.request("PATCH", f"/apis/kubeflow.org/v1/namespaces/{namespace}/tfjobs/{name}/status",
                           json.dumps({"status": status}),
                           {"Content-Type": "application/merge-patch+json", "User-Agent": "bench-history"})
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        answer.read()
    connection.close()


def measure_history(operator, count):
    """A start where so many jobs have ended, and one waits to be served."""
    with stage(operator) as namespace:
        jobs = [tfjob(namespace, f"ended-{number}", 4) for number in range(count)]
        post(jobs)
        finish(jobs)
        post([tfjob(namespace, "waiting", 4)])
        until_calm()
        audit = Audit(operator.agent)
        begin = time.time()
        with operator.running() as process:
            until_ready()
            ready = time.time() - begin
            audit.until("the job that waited runs", lambda calls: told(calls, "Running").get("waiting"))
            until_calm()
            cost = cost_of(process, 0)
            before = processor_seconds([process.pid])
            time.sleep(IDLE)
            return {"start to ready (s)": ready,
                    "start to the Pods of a job that waited (s)":
                        max(call.end for call in made_of(audit.own(), "pods").values()) - begin,
                    **cost, "processor when idle (%)": (processor_seconds([process.pid]) - before) / IDLE * 100,
                    "idle (MB)": resident(process)}
