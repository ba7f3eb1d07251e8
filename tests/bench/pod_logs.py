"""What it costs to follow the logs of many Pods, each of which prints so many lines a second.

    python3 tests/bench/pod_logs.py [PODS [LINES-A-SECOND [SECONDS]]]

This process is the API server; the follower is tests/fake_kube/pod_logs.c, the code that `muster run --on kubernetes`
follows with, beside `kubectl logs -f`. Told are the follower's processor time and memory, and how many logs have each
line once. What kubectl prints is one stream without names, so it counts whole: all logs or none.
"""

import asyncio
import collections
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import bench_cluster
from measure import see_through

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLLOWER = ROOT / "build" / "tests" / "fake_kube" / "pod_logs"
PAUSE = 0.02  # between two batches of lines of one Pod
TEXT = "x" * 92
MEGABYTE = 1e6

# What kubectl asks before it asks for Pods.
DISCOVERY = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [
        {"name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod", "verbs": ["get", "list"]},
        {"name": "pods/log", "singularName": "", "namespaced": True, "kind": "Pod", "verbs": ["get"]}]},
}


def pod(number):
    return {"metadata": {"name": f"worker-{number}", "namespace": "default", "uid": f"uid-{number}"},
            "spec": {"containers": [{"name": "tensorflow"}]}, "status": {"phase": "Running"}}


class Server:
    """All Pods print the same lines, from the same moment on."""

    def __init__(self, n_pods, rate, n_lines):
        self.n_pods, self.rate, self.begin = n_pods, rate, time.time()
        self.times = [self.begin + i / rate for i in range(n_lines)]
        self.lines = [f"{self.stamp(at)} {i:06} {TEXT}\n".encode() for i, at in enumerate(self.times)]

    @staticmethod
    def stamp(at):
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1e9):09}Z"

    async def serve(self, reader, writer):
        """One request a connection."""
        target = urllib.parse.urlsplit((await reader.readuntil(b"\r\n\r\n")).decode().split()[1])
        if target.path.endswith("/log"):
            await self.print_lines(writer, urllib.parse.parse_qs(target.query).get("sinceTime"))
        else:
            items = [pod(number) for number in range(self.n_pods)]
            pods = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}
            body = json.dumps(DISCOVERY.get(target.path, pods)).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                         b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        with contextlib.suppress(ConnectionError):  # who has the end need not wait for us
            await writer.drain()
        writer.close()

    async def print_lines(self, writer, since):
        sent = sum(self.stamp(at) < since[0][:-1] for at in self.times) if since else 0
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        while sent < len(self.lines):
            due = min(len(self.lines), int((time.time() - self.begin) * self.rate))
            data = b"".join(self.lines[sent:due])
            if data:
                writer.write(b"%x\r\n%s\r\n" % (len(data), data))
                await writer.drain()
            sent = max(sent, due)
            await asyncio.sleep(PAUSE)
        writer.write(b"0\r\n\r\n")


class Follower:
    """muster's."""

    name = "muster"

    def follow(self, origin, n_pods, seconds, folder):
        process = subprocess.Popen([FOLLOWER, origin, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write("".join(f"run {i}\n" for i in range(n_pods)).encode())
        process.stdin.flush()
        time.sleep(seconds)
        process.stdin.write("".join(f"end {i}\n" for i in range(n_pods)).encode())
        process.stdin.flush()
        threading.Thread(target=self.end_when_quiet, args=(process,)).start()
        return process

    @staticmethod
    def end_when_quiet(process):
        while b"quiet" not in process.stdout.readline():
            pass
        process.stdin.close()

    def count_whole(self, lines, n_pods, folder):
        wanted = b"".join(line.split(b" ", 1)[1] for line in lines)
        return sum((pathlib.Path(folder) / f"worker-{i}.0.log").read_bytes() == wanted for i in range(n_pods))


class Kubectl:
    name = "kubectl logs -f"

    def follow(self, origin, n_pods, _seconds, folder):
        with open(pathlib.Path(folder) / "lines", "wb") as output:
            command = [bench_cluster.programs.folder() / "kubectl", "--server", origin, "--cache-dir", folder,
                       "logs", "-f", "-l", "job=bench", "--tail=-1", f"--max-log-requests={n_pods}"]
            return subprocess.Popen(command, stdout=output, env={**os.environ, "KUBECONFIG": "/dev/null"})

    def count_whole(self, lines, n_pods, folder):
        with open(pathlib.Path(folder) / "lines", "rb") as output:
            found = collections.Counter(output)
        return n_pods if found == dict.fromkeys(lines, n_pods) else 0


def followers(_):
    return [Follower()] + [Kubectl()] * (bench_cluster.programs.folder() / "kubectl").exists()


def run(follower, origin, n_pods, seconds, folder):
    process = follower.follow(origin, n_pods, seconds, folder)
    used, peak = see_through(process)
    assert process.returncode == 0, f"{follower.name} failed: {process.returncode}"
    return used, peak


async def serve_while_it_runs(follower, server, seconds, folder):
    """What it used: processor time and memory."""
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=1000)
    origin = "http://127.0.0.1:%d" % listener.sockets[0].getsockname()[1]
    return await asyncio.to_thread(run, follower, origin, server.n_pods, seconds, folder)


def measure(follower, n_pods=100, rate=1000, seconds=10):
    server = Server(n_pods, rate, rate * seconds)
    with tempfile.TemporaryDirectory() as folder:
        used, peak = asyncio.run(serve_while_it_runs(follower, server, seconds, folder))
        whole = follower.count_whole(server.lines, n_pods, folder)
    return {"cores": (used.ru_utime + used.ru_stime) / seconds, "resident at most (MB)": peak / MEGABYTE,
            f"logs with each line once, of {n_pods}": whole}


def main():
    shape = [int(text) for text in (sys.argv[1:] + ["100", "1000", "10"][len(sys.argv) - 1:])]
    for follower in followers(None):
        print(follower.name, measure(follower, *shape))


if __name__ == "__main__":
    main()
