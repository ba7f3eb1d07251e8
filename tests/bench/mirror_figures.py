"""The mirror of a namespace with many Pods: its memory, how long the first list takes, how soon a change is seen.

The mirror is tests/fake_kube/kube_mirror.c around the code that watches the Pods of a job; it prints a line for each
Pod and each change, as its peer does: `kubectl get pods -w`, whose list and watch are client-go's (and to which the
server sends rows of a table, not whole Pods). No scheduler takes the Pods, so nothing moves but what is moved here.
A change counts from the moment when it was asked for, so the time of the server is in it.
"""

import atexit
import base64
import contextlib
import functools
import http.client
import json
import os
import select
import statistics
import subprocess
import sys
import time

import bench_cluster
from bare_loop import login
from making_figures import HERE, MEGABYTE, processor_seconds
from measure import PATIENCE, peak_of

PROGRAM = os.path.abspath(os.path.join("build", "tests", "fake_kube", "kube_mirror"))
CHANGES = 40


class Mirror:
    """`is_whole(output, count)` says whether all Pods came."""

    def __init__(self, name, command, is_whole):
        self.name, self.command, self.is_whole = name, command, is_whole


def mirrors(_):
    if not bench_cluster.can_be_here():
        return []
    return [Mirror("muster", our_command, lambda output, count: b'{"synced":%d' % count in output),
            Mirror("kubectl get pods -w", kubectl_command, lambda output, count: output.count(b"\n") >= count)]


def our_command(namespace):
    here = bench_cluster.cluster()
    config = json.loads((here.folder / "admin.kubeconfig").read_text())
    user = config["users"][0]["user"]
    paths = {"ca": config["clusters"][0]["cluster"]["certificate-authority-data"],
             "crt": user["client-certificate-data"], "key": user["client-key-data"]}
    for name, content in paths.items():
        (here.folder / f"mirror.{name}").write_bytes(base64.b64decode(content))
    return [PROGRAM, config["clusters"][0]["cluster"]["server"], *(here.folder / f"mirror.{name}" for name in paths),
            namespace]


def kubectl_command(namespace):
    return ["kubectl", "-n", namespace, "get", "pods", "-w", "--no-headers"]


def name_of(number):
    return f"pod-{number:05}"


def pod(namespace, number):
    variables = [{"name": f"VARIABLE_{i}", "value": f"what it says, number {i}"} for i in range(24)]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name_of(number), "namespace": namespace},
            "spec": {"schedulerName": "nobody",
                     "containers": [{"name": "tensorflow", "image": "registry.test/model:1", "env": variables}]}}


@functools.cache
def many_pods(count):
    """Their namespace."""
    here = bench_cluster.cluster()
    kept = here.namespace()
    namespace = kept.__enter__()
    atexit.register(kept.__exit__, None, None, None)
    path = here.folder / "many.json"
    path.write_text(json.dumps({"items": [pod(namespace, number) for number in range(count)]}))
    subprocess.run([sys.executable, HERE / "bare_loop.py", path], check=True, env=here.environment)
    return namespace


class Lines:
    """What a program prints."""

    def __init__(self, stream):
        self.stream, self.text = stream, b""

    def until(self, is_enough):
        """Reads until `is_enough(text)`; gives the moment, and forgets the text."""
        end = time.monotonic() + PATIENCE
        while not is_enough(self.text):
            if not select.select([self.stream], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(f"nothing more after {PATIENCE} s")
            piece = os.read(self.stream.fileno(), 1 << 20)
            assert piece, "it ended"
            self.text += piece
        self.text = b""
        return time.monotonic()


@contextlib.contextmanager
def mirroring(mirror, namespace):
    process = subprocess.Popen(list(map(str, mirror.command(namespace))), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, env=bench_cluster.cluster().environment)
    try:
        yield process, Lines(process.stdout)
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def change(connection, namespace, number, value):
    """Asks for a new label of a Pod; the answer is still to be read."""
    body = json.dumps({"metadata": {"labels": {"value": value}}})
    connection.request("PATCH", f"/api/v1/namespaces/{namespace}/pods/{name_of(number)}", body,
                       {"Content-Type": "application/merge-patch+json"})


def measure_changes(lines, namespace, count):
    """The median of the milliseconds from asking for a change until its line is there."""
    server, tls = login(bench_cluster.cluster().environment["KUBECONFIG"])
    connection = http.client.HTTPSConnection(server, context=tls)
    connection.connect()
    delays = []
    for turn in range(CHANGES):
        number = turn * count // CHANGES
        begin = time.monotonic()
        change(connection, namespace, number, f"{begin}")
        delays.append(lines.until(lambda output, name=name_of(number).encode(): name in output) - begin)
        connection.getresponse().read()
    return statistics.median(delays) * 1000


def measure_mirror(mirror, count):
    namespace = many_pods(count)
    begin = time.monotonic()
    with mirroring(mirror, namespace) as (process, lines):
        synced = lines.until(lambda output: mirror.is_whole(output, count)) - begin
        spent = processor_seconds([process.pid])
        delay = measure_changes(lines, namespace, count)
        return {"first list (s)": synced, "processor of it (s)": spent, "change asked for to seen (ms)": delay,
                "resident at most (MB)": peak_of(process.pid) / MEGABYTE}
