"""etcd, the API server, the controllers, the scheduler, and nodes that are simulated: all but a node that runs Pods.

Runs inside the cluster's namespaces, so every address and port is free. The first address of the service range is put
on the network's own device, and the API server listens there: what Pods know as KUBERNETES_SERVICE_HOST answers
without a proxy for services.
"""

import base64
import json
import pathlib
import ssl
import urllib.request

from programs import run

STAGES = pathlib.Path(__file__).parent / "stages"
SIMULATED_NODES = 4
SERVICE_RANGE = "10.96.0.0/16"
SERVICE = "10.96.0.1"
NODE = "10.244.0.1"
# Kubernetes' own, which places the Pods of a PodGroup together.
GANG_SCHEDULING = ["--feature-gates", "GenericWorkload=true,GangScheduling=true"]


class ControlPlane:
    """`processes` starts programs and waits for things; `folder` is this cluster's own."""

    def __init__(self, folder, programs, processes, writes_audit=False):
        self.folder = folder
        self.programs = programs
        self.processes = processes
        self.writes_audit = writes_audit
        self.keys = folder / "keys"

    def up(self):
        self.keys.mkdir()
        self._start_etcd()
        self._make_keys()
        self._start_api_server()
        self.processes.until("the API server is ready", self._is_ready)
        self._start_controllers()
        self._start_simulated_nodes()

    def key_path(self, name):
        return str(self.keys / f"{name}.key"), str(self.keys / f"{name}.crt")

    def make_key(self, name, subject, names=""):
        """A key and a certificate of the cluster's own authority."""
        authority = ["-CA", self.keys / "ca.crt", "-CAkey", self.keys / "ca.key"]
        self._openssl(name, subject, *authority, "-addext", "basicConstraints=critical,CA:FALSE",
                      *(["-addext", f"subjectAltName={names}"] if names else []))

    def make_login(self, name, subject):
        """A kubeconfig for who `subject` says; gives its file."""
        self.make_key(name, subject)
        key, certificate = (_encoded(path) for path in self.key_path(name))
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": {
                "server": "https://127.0.0.1:443", "certificate-authority-data": _encoded(self.keys / "ca.crt")}}],
            "users": [{"name": name, "user": {"client-key-data": key, "client-certificate-data": certificate}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": name}}],
            "current-context": "test",
        }
        path = self.folder / f"{name}.kubeconfig"
        path.write_text(json.dumps(config, indent=1))
        return path

    def kubectl(self, *arguments, given=""):
        run([self.programs / "kubectl", "--kubeconfig", self.folder / "admin.kubeconfig", *arguments], given=given)

    def wait_for_nodes(self, others, limit):
        """Until the simulated nodes and those `others` have registered and are ready."""
        nodes = [f"node/{name}" for name in [*map(_name_of_simulated, range(SIMULATED_NODES)), *others]]
        for condition in ("create", "condition=Ready"):
            self.kubectl("wait", f"--for={condition}", f"--timeout={limit}s", *nodes)

    def _openssl(self, name, subject, *options):
        key, certificate = self.key_path(name)
        run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
             "-nodes", "-days", "2", "-subj", subject, "-keyout", key, "-out", certificate, *options])

    def _make_keys(self):
        self._openssl("ca", "/CN=test-authority")
        self._openssl("service-accounts", "/CN=service-accounts")
        self.make_key("api-server", "/CN=kube-apiserver",
                      f"IP:127.0.0.1,IP:{NODE},IP:{SERVICE},DNS:localhost,DNS:kubernetes.default.svc")
        self.make_key("kubelet-client", "/O=system:masters/CN=kube-apiserver-kubelet-client")
        self.make_login("admin", "/O=system:masters/CN=admin")
        self.make_login("controllers", "/CN=system:kube-controller-manager")
        self.make_login("scheduler", "/CN=system:kube-scheduler")

    def _start(self, name, *options):
        self.processes.start(name, [self.programs / name, *options])

    def _start_etcd(self):
        self._start("etcd", "--data-dir", self.folder / "etcd", "--unsafe-no-fsync", "--log-level", "warn",
                    "--listen-client-urls", "http://127.0.0.1:2379", "--advertise-client-urls", "http://127.0.0.1:2379",
                    "--listen-peer-urls", "http://127.0.0.1:2380")

    def _start_api_server(self):
        key, certificate = self.key_path("api-server")
        kubelet_key, kubelet_certificate = self.key_path("kubelet-client")
        accounts_key, accounts_certificate = self.key_path("service-accounts")
        authority = self.keys / "ca.crt"
        self._start("kube-apiserver", "--etcd-servers", "http://127.0.0.1:2379",
                    "--bind-address", "0.0.0.0", "--secure-port", "443",
                    "--advertise-address", SERVICE, "--endpoint-reconciler-type", "none",
                    "--cert-dir", self.keys, "--tls-cert-file", certificate, "--tls-private-key-file", key,
                    "--client-ca-file", authority, "--authorization-mode", "Node,RBAC", "--allow-privileged=true",
                    "--service-cluster-ip-range", SERVICE_RANGE,
                    "--service-account-issuer", "https://kubernetes.default.svc",
                    "--service-account-key-file", accounts_certificate,
                    "--service-account-signing-key-file", accounts_key,
                    "--kubelet-client-key", kubelet_key, "--kubelet-client-certificate", kubelet_certificate,
                    "--kubelet-certificate-authority", authority, "--kubelet-preferred-address-types", "InternalIP",
                    *GANG_SCHEDULING, "--runtime-config", "scheduling.k8s.io/v1alpha2=true",
                    *(self._audit_options() if self.writes_audit else []))

    def _audit_options(self):
        """A line for each call when it was answered (a watch: when it ended), written before the next is; with the status
        where one is written of a TFJob."""
        policy = self.folder / "audit-policy.json"
        statuses = {"level": "Request", "resources": [{"group": "kubeflow.org", "resources": ["tfjobs/status"]}]}
        policy.write_text(json.dumps({"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
                                      "rules": [statuses, {"level": "Metadata"}],
                                      "omitStages": ["RequestReceived", "ResponseStarted"]}))
        # Megabytes: what is read of a log goes on in one file.
        return ["--audit-policy-file", policy, "--audit-log-path", self.folder / "audit.log", "--audit-log-maxsize", "100000"]

    def _is_ready(self):
        trust = ssl.create_default_context(cafile=str(self.keys / "ca.crt"))
        with urllib.request.urlopen("https://127.0.0.1:443/readyz", context=trust, timeout=5) as answer:
            return answer.status == 200

    def _start_controllers(self):
        """One of each, so nobody has to be elected; no limit to their calls, so that a test waits for nothing else."""
        alone = ["--leader-elect=false", "--bind-address", "127.0.0.1", "--secure-port", "0",
                 "--kube-api-qps", "1000", "--kube-api-burst", "2000"]
        accounts_key, _ = self.key_path("service-accounts")
        # A node is taken for silent sooner than the usual 50 seconds; kubelets tell of themselves every 10.
        patience = ["--node-monitor-period", "2s", "--node-monitor-grace-period", "25s"]
        self._start("kube-controller-manager", "--kubeconfig", self.folder / "controllers.kubeconfig", *alone,
                    *patience, *GANG_SCHEDULING, "--service-account-private-key-file", accounts_key, "--root-ca-file", self.keys / "ca.crt",
                    "--use-service-account-credentials")
        self._start("kube-scheduler", "--kubeconfig", self.folder / "scheduler.kubeconfig", *alone, *GANG_SCHEDULING)

    def _start_simulated_nodes(self):
        stages = [option for file in sorted(STAGES.glob("*.yaml")) for option in ("--config", file)]
        self._start("kwok", "--kubeconfig", self.folder / "admin.kubeconfig", *stages,
                    "--manage-nodes-with-label-selector", "type=simulated", "--node-lease-duration-seconds", "40")
        nodes = [_simulated_node(_name_of_simulated(number)) for number in range(SIMULATED_NODES)]
        self.kubectl("create", "-f", "-", given=json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))


def _encoded(path):
    return base64.b64encode(pathlib.Path(path).read_bytes()).decode()


def _name_of_simulated(number):
    return f"simulated-{number}"


def _simulated_node(name):
    room = {"cpu": "1000", "memory": "4Ti", "pods": "4000"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"type": "simulated", "kubernetes.io/hostname": name}},
        "spec": {"taints": [{"key": "simulated", "effect": "NoSchedule"}]},
        "status": {"capacity": room, "allocatable": room},
    }
