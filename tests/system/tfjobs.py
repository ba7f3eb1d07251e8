"""TFJobs on a fake cluster, and the operator that serves them, for tests that see each answer."""

import signal

import pytest

from conftest import LIMIT
from fake_kube import NAMESPACE, refuse  # noqa: F401
from living_kube import LivingKube, now
from test_jobs_elsewhere import write_kubeconfig


class TFJobs(LivingKube):
    """Pods run until the test ends them."""

    def __init__(self):
        self.code = None
        super().__init__(lambda labels: self.code)

    def add(self, name, annotations=None, run_policy=None, more=None, resources=None, spec=None, is_dynamic=False, **roles):
        """A TFJob with so many replicas of roles."""
        container = {"name": "tensorflow", "image": "i", "resources": resources or {}}
        specs = {title: {"replicas": count, **(more or {}), "template": {"spec": {"containers": [container], **(spec or {})}}}
                 for title, count in roles.items()}
        self.put("tfjobs", name, {
            "apiVersion": "kubeflow.org/v1", "kind": "TFJob",
            "metadata": {"uid": f"00000000-0000-4000-9000-{len(self.history):012}", "creationTimestamp": now(),
                         "annotations": annotations or {}},
            "spec": {"runPolicy": run_policy or {}, "enableDynamicWorker": is_dynamic, "tfReplicaSpecs": specs}})

    def change(self, plural, name, change):
        with self.lock:
            self._change(plural, name, self.objects[plural, name]["metadata"]["uid"], change)

    def until(self, wanted):
        """Until wanted(objects) is true; gives that."""
        with self.lock:
            assert self.lock.wait_for(lambda: wanted(self.objects), LIMIT), sorted(self.objects)
            return wanted(self.objects)

    def condition(self, name, kind):
        """The condition of this type of a TFJob, when it is true."""
        def found(objects):
            status = objects["tfjobs", name].get("status") or {}
            return next((entry for entry in status.get("conditions", [])
                         if entry["type"] == kind and entry["status"] == "True"), None)
        return self.until(found)

    def pod(self, name):
        return self.until(lambda objects: objects.get(("pods", name)))

    def service(self, name):
        """A Pod may run before its Service is there."""
        return self.until(lambda objects: objects.get(("services", name)))

    def another(self, name, uid):
        """The Pod of this name that has another uid."""
        def found(objects):
            pod = objects.get(("pods", name))
            return pod if pod and pod["metadata"]["uid"] != uid else None
        return self.until(found)

    def end_pods_with(self, code):
        self.code = code
        self.end_pods()

    def fail_and_replace(self, name):
        """All Pods end as if they were killed, and another has the name of this one, and runs on."""
        uid = self.pod(name)["metadata"]["uid"]
        self.end_pods_with(137)
        self._later(setattr, self, "code", None)  # before anything that the ends lead to
        return self.another(name, uid)

    def events(self):
        with self.lock:
            return [body["reason"] for (plural, _), body in self.objects.items() if plural == "events"]

    def told(self, name):
        """The Events of a TFJob, sorted: type, reason and message."""
        with self.lock:
            return sorted((body["type"], body["reason"], body["message"]) for (plural, _), body in self.objects.items()
                          if plural == "events" and body["involvedObject"]["name"] == name)

    def names(self, plural):
        with self.lock:
            return sorted(name for kind, name in self.objects if kind == plural)


@pytest.fixture
def kube(muster, tmp_path):
    with TFJobs() as server:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", server.origin))
        yield server


@pytest.fixture
def serve(muster):
    """Starts an operator with these options; gives a function that ends it."""
    started = []

    def start(*options):
        process = muster.start("operator", "-n", NAMESPACE, *options)
        started.append(process)

        def end():
            process.send_signal(signal.SIGTERM)
            assert process.wait(LIMIT) == 0
            started.remove(process)
            return process.stderr.read()
        return end
    yield start
    for process in started:
        process.kill()
