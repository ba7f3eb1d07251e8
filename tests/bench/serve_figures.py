"""`muster serve`: how soon jobs of ElasticDL's launcher begin, beside `muster run --on kubernetes` and a bare client.

The bare client posts again what `muster serve` has made in the same run, object by object (bare_loop.py): its first turn is
after that of `muster serve`.
"""

import contextlib
import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import bench_cluster
from making_figures import HERE, Maker, processor_seconds
from measure import PATIENCE, state_folder, tree_of
from operator_figures import Audit, BareLoop, cost_of, is_all_made, made_of, measure_by_hand, resident, stage, time_to_all, until_calm

ROOT = HERE.parents[1]
ADDRESS = "127.0.0.1:7897"
CLIENTS = 8
IMAGE = "localhost/muster:bench"
STAMP = "import time\nprint(time.time(), flush=True)\n"
KEPT = ("name", "labels", "annotations", "ownerReferences")
MADE = "pods,services,secrets,events,tfjobs"


class Serve:
    name, agent = "muster", "muster/"
    crd = ROOT / "deploy" / "crd.yaml"

    def __init__(self, program):
        self.program = program

    @contextlib.contextmanager
    def running(self, namespace, template, image):
        """Its process, when it serves."""
        command = [self.program, "serve", "-n", namespace, "--listen", ADDRESS, "--insecure", "--image", image, "--pod-file"]
        with open(bench_cluster.cluster().folder / "logs" / "muster-serve", "ab") as log, tempfile.NamedTemporaryFile("w") as file:
            json.dump(template, file)
            file.flush()
            process = subprocess.Popen([*command, file.name], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       env={**bench_cluster.cluster().environment, "XDG_STATE_HOME": state_folder()})
            try:
                until_ready()
                yield process
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait()


class Run:
    """The same job without a master; `init`: with the init container of muster serve, which the kubelet sees the end of late."""

    def __init__(self, program, init=False):
        self.program, self.init = program, init
        self.name = "run --on kubernetes" + (", with the same init container" if init else "")


def ask(path):
    with urllib.request.urlopen(f"http://{ADDRESS}{path}", timeout=PATIENCE) as answer:
        return answer.read().decode()


def until_ready():
    end = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(OSError):
            ask("/readyz")
            return
        if time.monotonic() > end:
            raise TimeoutError(f"muster serve is not ready after {PATIENCE} s")
        time.sleep(0.01)


# One job on the real node.

def starters(muster):
    return [Serve(muster), Run(muster), Run(muster, init=True)] if bench_cluster.can_be_here() and os.path.exists(static_of(muster)) else []


def static_of(muster):
    return pathlib.Path(muster).with_name("muster-static")


def load_image(muster):
    """The image of muster that brings the server into Pods."""
    path = pathlib.Path(muster).with_name("muster-bench-image.tar")
    if not path.exists() or path.stat().st_mtime < static_of(muster).stat().st_mtime:
        subprocess.run([ROOT / "tools" / "make_image.py", pathlib.Path(muster).parent, path, IMAGE], check=True)
    subprocess.run([bench_cluster.FOLDER / "cluster", "load", path], check=True,
                   env={**os.environ, "MUSTER_TEST_CLUSTER": str(bench_cluster.cluster().folder)})


def python_template(folder):
    """A Pod with this machine's Python, and exec.py of a folder in its working directory."""
    pathlib.Path(folder, "exec.py").write_text(STAMP)
    paths = {"usr": "/usr", "python": str(pathlib.Path(sys.prefix).parent), "task": folder}
    container = {"name": "tensorflow", "image": "localhost/host:test", "workingDir": "/task",
                 "env": [{"name": "PATH", "value": f"{sys.prefix}/bin:/usr/bin:/bin"}],
                 "volumeMounts": [{"name": name, "mountPath": "/task" if name == "task" else path} for name, path in paths.items()]}
    return {"spec": {"nodeSelector": {"type": "real"}, "securityContext": {"runAsUser": 0}, "containers": [container],
                     "volumes": [{"name": name, "hostPath": {"path": path}} for name, path in paths.items()]}}


def last_stamp(text, workers):
    stamps = re.findall(r"worker-\d+ \| (\d+\.\d+)$", text, re.MULTILINE)
    assert len(stamps) == workers, text
    return max(map(float, stamps))


def measure_first_line(starter, workers):
    """Seconds from the request, or the command, to the first line of the script in the last Pod."""
    here = bench_cluster.cluster()
    load_image(starter.program)
    with stage(Serve) as namespace, tempfile.TemporaryDirectory() as folder:
        template = python_template(folder)
        if isinstance(starter, Run) and starter.init:
            template["spec"]["volumes"].append({"name": "program", "emptyDir": {}})
            template["spec"]["initContainers"] = [{
                "name": "program", "image": IMAGE, "volumeMounts": [{"name": "program", "mountPath": "/program"}],
                "command": ["/usr/local/libexec/muster/muster-static", "pod-server", "--install", "/program"]}]
        if isinstance(starter, Run):
            path = pathlib.Path(folder, "pod.yaml")
            path.write_text(json.dumps(template))
            begin = time.time()
            done = subprocess.run([starter.program, "run", "--on", "kubernetes", "-n", namespace, "-w", str(workers), "--image",
                                   "localhost/host:test", "--pod-template", path, "--", "python", "/task/exec.py"], check=True,
                                  capture_output=True, text=True, env={**here.environment, "XDG_STATE_HOME": state_folder()})
            return last_stamp(done.stdout, workers) - begin
        with starter.running(namespace, template, IMAGE):
            begin = time.time()
            ask(f"/create?strategy=AllReduce&n_worker={workers}&img=localhost/host:test&name=first&server=muster")
            return last_stamp(ask("/jobs/first/log?follow=true"), workers) - begin


# Many jobs on simulated nodes.

SIMULATED = {"spec": {"nodeSelector": {"type": "simulated"}, "tolerations": [{"operator": "Exists"}]}}
made_last = {}  # objects of muster serve, by job


def servers(muster):
    return [Serve(muster), BareLoop(again)] if bench_cluster.can_be_here() else []


def create_all(names, workers):
    """By as many clients as the bare loop has connections."""
    waiting = queue.SimpleQueue()
    for name in names:
        waiting.put(name)

    def work():
        with contextlib.suppress(queue.Empty):
            while True:
                ask(f"/create?strategy=AllReduce&n_worker={workers}&img=registry.test/model:1&name={waiting.get_nowait()}&server=muster")

    threads = [threading.Thread(target=work) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def keep(namespace):
    """What was made, as a client would send it."""
    made_last.clear()
    for made in json.loads(bench_cluster.cluster().kubectl("-n", namespace, "get", MADE, "-o", "json"))["items"]:
        made["metadata"] = {key: value for key, value in made["metadata"].items() if key in KEPT}
        made.pop("status", None)
        if made["kind"] == "Pod":
            made["spec"].pop("nodeName", None)
        owner = made.get("involvedObject") or made["metadata"].get("ownerReferences", [made["metadata"]])[0]
        if made["kind"] != "Event" or owner["kind"] == "TFJob":
            made_last.setdefault(owner["name"], []).append(made)


def again(job, uid):
    """The Pods, Services, Secret and Events of a job, for the job of this name that is there now."""
    for made in made_last[job["metadata"]["name"]]:
        if made["kind"] == "TFJob":
            continue
        made["metadata"]["namespace"] = job["metadata"]["namespace"]
        for owner in made["metadata"].get("ownerReferences", []):
            owner["uid"] = uid
        if "involvedObject" in made:
            made["involvedObject"].update(uid=uid, namespace=job["metadata"]["namespace"])
        yield made


def measure_creates(server, count, workers):
    """Jobs that are asked for at once: until all their Pods and Services are made."""
    total = count * workers
    with stage(Serve) as namespace:
        if isinstance(server, BareLoop):
            jobs = [made for all_made in made_last.values() for made in all_made if made["kind"] == "TFJob"]
            for job in jobs:
                job["metadata"]["namespace"] = namespace
            events = sum(made["kind"] == "Event" for all_made in made_last.values() for made in all_made)
            return measure_by_hand(server, jobs, total, total, events)
        with server.running(namespace, SIMULATED, "registry.test/muster:1") as process:
            until_calm()
            idle = resident(process)
            audit, begin = Audit(server.agent), processor_seconds(tree_of(process.pid))
            create_all([f"job-{number}" for number in range(count)], workers)
            audit.until("all is made", lambda calls: is_all_made(calls, total, total) and len(made_of(calls, "secrets")) == count)
            cost = cost_of(process, begin)
            until_calm()
            audit.until("the end", lambda calls: True)
            keep(namespace)
            return {**time_to_all(audit.calls), **cost, "idle before (MB)": idle}


# The server in a Pod.

def pod_servers(muster):
    return [Maker("muster", "", [static_of(muster)]), Maker("dynamic", "", [muster])]


def measure_pod_server(server):
    """exec to the first connection that is accepted, and what it holds then."""
    with tempfile.TemporaryDirectory() as folder:
        secret = pathlib.Path(folder, "secret")
        secret.write_text("s" * 64)
        command = [*server.command, "pod-server", "--listen", "127.0.0.1:0", "--secret-file", secret]
        begin = time.monotonic()
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder)
        line = process.stderr.readline()
        listening = time.monotonic() - begin
        assert "waiting for the master" in line, line
        memory = resident(process)
        process.terminate()
        process.wait()
        return {"to listening (ms)": listening * 1000, "resident (MB)": memory}
