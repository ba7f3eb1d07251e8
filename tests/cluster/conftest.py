"""What tests on a real Kubernetes share: one cluster for all of them, a namespace for each, kubectl as the oracle. Tests that
disturb a cluster (pytest.mark.disturbs) have another one, on which one test runs at a time.

Simulated nodes take Pods in milliseconds and run nothing; what happens to their Pods is said by annotations
(stages/pods.yaml). The real node runs containers of this machine. Here pytest itself enters the cluster's network, so
that muster, kubectl and Python's own sockets all reach the API server, and nothing else of the tests changes.

Nothing sleeps for luck: tests wait for the thing itself. LIMIT is only there so that a test that hangs ends.
"""

import fcntl
import functools
import importlib.util
import json
import os
import pathlib
import secrets
import signal
import subprocess
import sys

import namespaces
import programs
import pytest
from rest import LIMIT, Api, holds

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import waiting

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = pathlib.Path(__file__).resolve().parent / "cluster"


def _system_tests():
    """What they share. A plain import would find this file, of the same name."""
    where = importlib.util.spec_from_file_location("system_conftest", ROOT / "tests" / "system" / "conftest.py")
    module = importlib.util.module_from_spec(where)
    where.loader.exec_module(module)
    return module


system = _system_tests()
BINARY, Muster, few = system.BINARY, system.Muster, system.few


until = functools.partial(waiting.until, limit=LIMIT)


class Cluster:
    """One that is up, in whose network this process is."""

    loaded = set()  # (folder, image), by this process

    def __init__(self, folder):
        self.folder = folder
        self.kubeconfig = folder / "admin.kubeconfig"
        self.api = Api(folder / "keys")
        self.environment = {**os.environ, "KUBECONFIG": str(self.kubeconfig), "MUSTER_TEST_CLUSTER": str(folder),
                            "PATH": f"{programs.folder()}:{os.environ['PATH']}"}

    def try_kubectl(self, *arguments, **options):
        """How it ends."""
        command = [programs.folder() / "kubectl", *map(str, arguments)]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, **options)

    def kubectl(self, *arguments, code=0, **options):
        """What it prints; `code` is the exit code that is expected."""
        done = self.try_kubectl(*arguments, **options)
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def until_established(self, definition):
        """`kubectl wait` fails for a definition that has no conditions yet."""
        until(lambda: self.try_kubectl("get", f"crd/{definition}", "-o", "jsonpath={.status.conditions[?(@.type=='Established')].status}"),
              lambda done: done.stdout == "True")

    def until_it_answers(self):
        """kubectl does not wait for a server that is not there yet."""
        until(lambda: self.try_kubectl("get", "--raw", "/readyz"), lambda done: done.returncode == 0)

    def load(self, image):
        """An OCI image, a tar, for Pods on the real node."""
        if (self.folder, image) in self.loaded:
            return
        self.loaded.add((self.folder, image))
        subprocess.run([SCRIPT, "load", image], check=True, env=self.environment, timeout=LIMIT)


class Namespace:
    """A namespace of the cluster that nothing else uses."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.name = f"test-{secrets.token_hex(4)}"

    def kubectl(self, *arguments, **options):
        return self.cluster.kubectl("--namespace", self.name, *arguments, **options)

    def end_by(self, pod, *command):
        """Runs a command that makes the container end, with which the kernel may end the command itself."""
        done = self.cluster.try_kubectl("--namespace", self.name, "exec", pod, "-c", "tensorflow", "--", *command)
        assert done.returncode in (0, 128 + signal.SIGKILL), f"{command}: {done.returncode}\n{done.stderr}"

    def create(self, *objects):
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        return self.kubectl("create", "-f", "-", input=text)

    def get(self, kind, name):
        """An object, which is there."""
        made = self.cluster.api.get(self.name, kind, name)
        assert made is not None, f"there is no {kind} '{name}'"
        return made

    def list(self, kinds, selector=""):
        """All objects of kinds, with commas between, that a selector of labels means."""
        return [made for kind in kinds.split(",") for made in self.cluster.api.list(self.name, kind, selector)]

    def wait(self, what, condition):
        """Until `condition`, as in `kubectl wait --for`."""
        until(lambda: self.cluster.api.get(self.name, *what.split("/")), lambda made: holds(made, condition))

    def until_phase(self, pod, phase):
        """Waits for a phase of a Pod, which may still have to be made; gives the Pod."""
        self.wait(f"pod/{pod}", f"jsonpath={{.status.phase}}={phase}")
        return self.get("pod", pod)

    def until_account_may(self, verb, resource, *options, answer="yes"):
        """The API server hears of Roles a moment after they are made; the namespace's own account is meant."""
        account = f"system:serviceaccount:{self.name}:default"
        until(lambda: self.cluster.try_kubectl("--namespace", self.name, "auth", "can-i", verb, resource, *options,
                                               "--as", account),
              lambda done: done.stdout.split()[:1] == [answer])

    def secure_pods(self, mode, level):
        """By Pod Security; the API server hears of a namespace's labels a moment after they are given."""
        self.cluster.kubectl("label", "namespace", self.name, f"pod-security.kubernetes.io/{mode}={level}")
        hostile = json.dumps(real_pod("hostile", "true", hostNetwork=True))
        until(lambda: self.cluster.try_kubectl("--namespace", self.name, "create", "--dry-run=server", "-f", "-",
                                               input=hostile),
              lambda done: f'PodSecurity "{level}:' in done.stderr)

    def write_kubeconfig(self, path):
        """The administrator's, with this namespace as the one that is meant when none is named."""
        config = json.loads(self.cluster.kubeconfig.read_text())
        config["contexts"][0]["context"]["namespace"] = self.name
        path.write_text(json.dumps(config))
        return path

    def write_account_kubeconfig(self, path):
        """The same for the namespace's own account, which has no rights of itself."""
        config = json.loads(self.write_kubeconfig(path).read_text())
        config["users"][0]["user"] = {"token": self.kubectl("create", "token", "default").strip()}
        path.write_text(json.dumps(config))
        return path

    def make(self):
        """With what controllers put into each namespace: Pods need the account, and lists show the ConfigMap."""
        status, answer = self.cluster.api.ask("POST", "/api/v1/namespaces", {"metadata": {"name": self.name}})
        assert status == 201, answer
        self.wait("serviceaccount/default", "create")
        self.wait("configmap/kube-root-ca.crt", "create")

    def remove(self):
        """What runs ends at once; the cluster's controllers do the rest."""
        self.cluster.api.ask("DELETE", f"/api/v1/namespaces/{self.name}/pods?gracePeriodSeconds=1")
        self.cluster.api.ask("DELETE", f"/api/v1/namespaces/{self.name}")


def pod(name, *, node, containers, annotations=None, **spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}, "annotations": annotations or {}},
        "spec": {"restartPolicy": "Never", "nodeSelector": {"type": node}, "containers": containers, **spec},
    }


def simulated_pod(name, **simulate):
    """On a simulated node; `run_for="1s"` becomes the annotation simulate/run-for, and so on."""
    annotations = {f"simulate/{key.replace('_', '-')}": str(value) for key, value in simulate.items()}
    container = {"name": "tensorflow", "image": "registry.test/model:1"}
    return pod(name, node="simulated", containers=[container], annotations=annotations,
               tolerations=[{"operator": "Exists"}])


def real_pod(name, *command, image="localhost/busybox:test", **spec):
    """On the real node, where it really runs."""
    container = {"name": "tensorflow", "image": image, "imagePullPolicy": "Never", "command": list(command)}
    return pod(name, node="real", containers=[container], terminationGracePeriodSeconds=1, **spec)


def python_pod(name, *arguments, environment=None, **spec):
    """On the real node, with the Python that runs the tests (TensorFlow is in it) and the checkout, both read-only."""
    made = real_pod(name, f"{sys.prefix}/bin/python", *map(str, arguments), image="localhost/host:test", **spec)
    # The environment's folder may be a link to one beside it.
    folders = {"usr": "/usr", "python": str(pathlib.Path(sys.prefix).parent), "checkout": str(ROOT)}
    made["spec"]["volumes"] = [{"name": key, "hostPath": {"path": path}} for key, path in folders.items()]
    container = made["spec"]["containers"][0]
    container["volumeMounts"] = [{"name": key, "mountPath": path, "readOnly": True} for key, path in folders.items()]
    container["env"] = [{"name": key, "value": value} for key, value in (environment or {}).items()]
    return made


def headless_service(name):
    """Pods of subdomain `name` have DNS names before they are ready."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"subdomain": name}},
    }


def named(made, subdomain):
    """The Pod with a name of its own in DNS: NAME.SUBDOMAIN."""
    made["metadata"]["labels"]["subdomain"] = subdomain
    made["spec"].update(hostname=made["metadata"]["name"], subdomain=subdomain)
    return made


def terminated(finished):
    """How the first container of a Pod ended."""
    return finished["status"]["containerStatuses"][0]["state"]["terminated"]


class Shared:
    """Clusters of all processes of one run of pytest, which end with it, whatever becomes of it."""

    def __init__(self, factory):
        base = factory.getbasetemp()
        self.is_one_of_many = "PYTEST_XDIST_WORKER" in os.environ
        self.folder = base.parent if self.is_one_of_many else base

    def lock(self, name):
        """Held until the file is closed."""
        file = open(self.folder / f"{name}.lock", "w", encoding="ascii")
        fcntl.flock(file, fcntl.LOCK_EX)
        return file

    def up(self, name):
        """The cluster of this name, with a simulated and a real node, which the first process that asks for it starts."""
        place = self.folder / name
        with self.lock(f"up-{name}"):
            if not place.exists():
                caller = os.getppid() if self.is_one_of_many else os.getpid()
                started = subprocess.run([SCRIPT, "up", "--node", "--caller", str(caller)], stdout=subprocess.PIPE, text=True)
                assert started.returncode == 0, "the cluster did not start; what it said is above"
                place.write_text(started.stdout.strip())
        folder = pathlib.Path(place.read_text())
        namespaces.join_network(int((folder / "first").read_text()))
        return cluster_at(folder)


@functools.cache
def cluster_at(folder):
    return Cluster(folder)


@pytest.fixture
def cluster(request, tmp_path_factory):
    if not namespaces.are_allowed():
        pytest.skip(namespaces.NOT_ALLOWED)
    shared = Shared(tmp_path_factory)
    if not request.node.get_closest_marker("disturbs"):
        yield shared.up("shared")
        return
    with shared.lock("disturbed"):
        disturbed = shared.up("disturbed")
        yield disturbed
        disturbed.until_it_answers()


def new_namespace(cluster):
    made = Namespace(cluster)
    made.make()
    yield made
    made.remove()


@pytest.fixture
def namespace(cluster):
    yield from new_namespace(cluster)


@pytest.fixture
def other_namespace(cluster):
    """A second one."""
    yield from new_namespace(cluster)


def pytest_generate_tests(metafunc):
    """Tests marked "sanitize" run once more, with the program under sanitizers where the environment names one."""
    sanitized = os.environ.get("MUSTER_SANITIZED_BINARY")
    if sanitized and "binary" in metafunc.fixturenames and metafunc.definition.get_closest_marker("sanitize"):
        metafunc.parametrize("binary", [BINARY, sanitized], ids=["ordinary", "sanitized"])


@pytest.fixture
def binary():
    return BINARY


@pytest.fixture
def muster(namespace, tmp_path, binary):
    """The real program on this machine, logged in to the cluster, where it means the namespace of the test."""
    program = Muster(tmp_path, (binary,))
    program.environment["KUBECONFIG"] = str(namespace.write_kubeconfig(tmp_path / "kubeconfig"))
    yield program
    program.end()
