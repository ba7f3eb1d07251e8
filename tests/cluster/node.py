"""The node `real`: containerd, runc and a kubelet that run Pods on this machine, with a network and DNS of their own.

Runs inside the cluster's namespaces. What these programs write to places that cannot be told to them (/run, /var/lib,
/var/log, a few settings of the kernel) is covered there, so that the machine keeps its own.
"""

import json
import pathlib
import socket
import urllib.request

import images
import namespaces
from control_plane import NODE
from programs import run

PODS = "10.244.0.0/24"
BRIDGE = "pods"
BRIDGE_ADDRESS = "fe:00:0a:f4:00:01"  # set by somebody, and no card's
SOCKET = "/run/containerd/containerd.sock"
CGROUPS = pathlib.Path("/sys/fs/cgroup")
# What a kubelet wants of the kernel, and would set for the whole machine (pkg/kubelet/cm, setupKernelTunables).
KERNEL = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1000000,
    "kernel/keys/root_maxbytes": 25000000,
}


class Node:
    """`plane` is the control plane that it belongs to."""

    def __init__(self, plane):
        self.plane = plane
        self.folder = plane.folder / "node"
        self.programs = plane.programs
        self.processes = plane.processes

    def up(self):
        """The API server listens already; all that takes time is started before anything is waited for."""
        self.folder.mkdir()
        self._cover_what_is_written()
        self._start_containerd()
        self._start_dns()
        self.processes.until("containerd is ready", _containerd_answers)
        for image in images.make(self.programs / "busybox", self.folder):
            load(self.programs, image)
        self._start_kubelet()
        self.processes.until("DNS is ready", _dns_answers)

    def _cover_what_is_written(self):
        covered, log = self.folder / "covered", self.folder / "log"
        for path in (covered, log):
            path.mkdir()
        namespaces.mount("tmpfs", "/run")
        namespaces.mount("tmpfs", covered)
        for name in ("upper", "work"):
            (covered / name).mkdir()
        namespaces.mount("overlay", "/var/lib", f"lowerdir=/var/lib,upperdir={covered}/upper,workdir={covered}/work")
        namespaces.bind(log, "/var/log")
        for name, value in KERNEL.items():
            self._cover_setting(pathlib.Path("/proc/sys") / name, covered / name.replace("/", "-"), value)

    @staticmethod
    def _cover_setting(setting, file, value):
        if setting.exists():
            file.write_text(f"{value}\n")
            namespaces.bind(file, setting)

    def _start_containerd(self):
        """restrict_oom_score_adj: root may lack CAP_SYS_RESOURCE (in a container), and runc then cannot lower the score
        of a Pod. The native snapshotter copies, and so works on any file system."""
        network = self.folder / "network"
        network.mkdir()
        (network / "10-pods.conflist").write_text(json.dumps({
            "cniVersion": "1.0.0", "name": "pods", "plugins": [{
                "type": "bridge", "bridge": BRIDGE, "isGateway": True, "hairpinMode": True,
                "ipam": {"type": "host-local", "ranges": [[{"subnet": PODS}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}))
        (self.folder / "containerd.toml").write_text(f"""version = 2
root = "{self.folder}/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
  address = "{SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:test"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{self.programs}"
    conf_dir = "{network}"
""")
        self.processes.start("containerd", [self.programs / "containerd", "--config", self.folder / "containerd.toml"])

    def _start_dns(self):
        self.plane.make_key("dns", "/O=system:masters/CN=dns")
        key, certificate = self.plane.key_path("dns")
        (self.folder / "Corefile").write_text(f""". {{
    bind {NODE}
    ready {NODE}:8181
    kubernetes cluster.local {{
        endpoint https://127.0.0.1:443
        tls {certificate} {key} {self.plane.keys}/ca.crt
        ttl 0
    }}
}}
""")
        self.processes.start("coredns", [self.programs / "coredns", "-conf", self.folder / "Corefile"])

    def _start_kubelet(self):
        login = self.plane.make_login("kubelet", "/O=system:nodes/CN=system:node:real")
        self.plane.make_key("kubelet-server", "/O=system:nodes/CN=system:node:real", f"IP:{NODE},DNS:real")
        key, certificate = self.plane.key_path("kubelet-server")
        (self.folder / "resolv.conf").touch()
        (self.folder / "kubelet.json").write_text(json.dumps({
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": NODE,
            "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                               "x509": {"clientCAFile": str(self.plane.keys / "ca.crt")}},
            "authorization": {"mode": "Webhook"},
            "tlsCertFile": certificate,
            "tlsPrivateKeyFile": key,
            "healthzPort": 0,
            "readOnlyPort": 0,
            "clusterDNS": [NODE],
            "clusterDomain": "cluster.local",
            "resolvConf": str(self.folder / "resolv.conf"),
            "containerRuntimeEndpoint": f"unix://{SOCKET}",
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": make_cgroup(self.plane.folder.name),
            "failCgroupV1": False,
            "failSwapOn": False,
            "enforceNodeAllocatable": [],
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
            "imageGCHighThresholdPercent": 100,
            "serializeImagePulls": False,
        }))
        self.processes.start("kubelet", [
            self.programs / "kubelet", "--kubeconfig", login, "--config", self.folder / "kubelet.json",
            "--hostname-override", "real", "--node-ip", NODE, "--node-labels", "type=real"])


def load(programs, image, root="/"):
    """An OCI image (a tar) becomes known to the real node, whose file system `root` is."""
    ctr = [programs / "ctr", "--address", f"{root.rstrip('/')}{SOCKET}", "--namespace", "k8s.io"]
    run([*ctr, "images", "import", "--snapshotter", "native", image])


def _cgroup_trees():
    """One with cgroup v2, one for each controller with v1."""
    if (CGROUPS / "cgroup.procs").exists():
        return [CGROUPS]
    return [tree for tree in CGROUPS.iterdir() if (tree / "cgroup.procs").exists()]


def make_cgroup(name):
    """Below which all Pods are; a kubelet demands that it is there."""
    for tree in _cgroup_trees():
        (tree / name).mkdir(exist_ok=True)
    return f"/{name}"


def remove_cgroup(name):
    """When nothing runs in it any more."""
    for tree in _cgroup_trees():
        inner = sorted((tree / name).glob("**/"), key=lambda path: len(path.parts), reverse=True)
        for path in inner:
            path.rmdir()


def _containerd_answers():
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(SOCKET)
    return True


def _dns_answers():
    with urllib.request.urlopen(f"http://{NODE}:8181/ready", timeout=5) as answer:
        return answer.status == 200
