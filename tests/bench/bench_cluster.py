"""A cluster for figures: tests/cluster's, with an audit log, in whose network this process is from then on.

What a program asks of the API server is read from the audit log: each call, from its arrival to its answer, by the
server's own clock. A SlowLink between the two makes round trips long, so that they can be counted by time.
"""

import asyncio
import atexit
import contextlib
import functools
import json
import os
import pathlib
import re
import secrets
import subprocess
import sys
import threading
import time
from datetime import datetime

from measure import PATIENCE

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "cluster"
sys.path.insert(0, str(FOLDER))

import namespaces  # noqa: E402
import programs  # noqa: E402

SIMULATED = ["--image", "registry.test/model:1", "--node-selector", "type=simulated", "--toleration", "simulated"]
REAL = ["--image", "localhost/busybox:test", "--node-selector", "type=real"]


class SlowLink:
    """Passes on to the API server's port what comes to a port of its own, `delay` seconds later, and back likewise."""

    def __init__(self, delay):
        self.delay, self.port = delay, None
        is_ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._serve(is_ready)), daemon=True).start()
        is_ready.wait()

    async def _serve(self, is_ready):
        listener = await asyncio.start_server(self._join, "127.0.0.1", 0, backlog=1000)
        self.port = listener.sockets[0].getsockname()[1]
        is_ready.set()
        await listener.serve_forever()

    async def _join(self, reader, writer):
        their_reader, their_writer = await asyncio.open_connection("127.0.0.1", 443)
        await asyncio.gather(self._pass_on(reader, their_writer), self._pass_on(their_reader, writer))

    async def _pass_on(self, reader, writer):
        """Each piece after the same time, so that pieces stay in order and may follow each other closely."""
        pieces = asyncio.Queue()
        deliver = asyncio.create_task(self._deliver(pieces, writer))
        with contextlib.suppress(ConnectionError):
            while piece := await reader.read(1 << 16):
                pieces.put_nowait((time.monotonic() + self.delay, piece))
        pieces.put_nowait((time.monotonic() + self.delay, b""))
        await deliver

    @staticmethod
    async def _deliver(pieces, writer):
        with contextlib.suppress(ConnectionError):
            while True:
                due, piece = await pieces.get()
                await asyncio.sleep(due - time.monotonic())
                if not piece:
                    break
                writer.write(piece)
        writer.close()


class Call:
    """One that the API server has answered. Moments are seconds of its clock."""

    def __init__(self, event):
        target = event.get("objectRef", {})
        self.verb, self.uri = event["verb"], event["requestURI"]
        self.resource, self.namespace = target.get("resource"), target.get("namespace")
        self.name, self.subresource = target.get("name"), target.get("subresource")
        self.sent = event.get("requestObject")  # of the status of a TFJob alone
        self.agent, self.code = event.get("userAgent", ""), event.get("responseStatus", {}).get("code")
        self.begin, self.end = (datetime.fromisoformat(event[key].rstrip("Z")).timestamp()
                                for key in ("requestReceivedTimestamp", "stageTimestamp"))


class Cluster:
    def __init__(self):
        command = [FOLDER / "cluster", "up", "--node", "--audit", "--caller", str(os.getpid())]
        started = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        self.folder = pathlib.Path(started.stdout.strip())
        namespaces.join_network(int((self.folder / "first").read_text()))
        self.environment = {**os.environ, "PATH": f"{programs.folder()}:{os.environ['PATH']}",
                            "KUBECONFIG": str(self.folder / "admin.kubeconfig")}
        atexit.register(subprocess.run, [FOLDER / "cluster", "down"],
                        env={**os.environ, "MUSTER_TEST_CLUSTER": str(self.folder)}, check=False)

    def kubectl(self, *arguments, **options):
        return subprocess.run(["kubectl", *map(str, arguments)], env=self.environment, check=True,
                              capture_output=True, text=True, **options).stdout

    @functools.cache
    def kubeconfig_by_slow_link(self, delay):
        """A login whose calls take `delay` seconds there, and as long back."""
        config = json.loads((self.folder / "admin.kubeconfig").read_text())
        config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{SlowLink(delay).port}"
        path = self.folder / f"slow-{delay}.kubeconfig"
        path.write_text(json.dumps(config))
        return str(path)

    def end_of_audit(self):
        return os.path.getsize(self.folder / "audit.log")

    def calls_since(self, place, agent):
        """Those that this program has made since, and that were answered."""
        return self.read_calls(place, agent)[0]

    def read_calls(self, place, agent):
        """(calls of the programs whose names begin as the pattern says, where those begin that come later)."""
        with open(self.folder / "audit.log", "rb") as log:
            log.seek(place)
            whole, end, _ = log.read().rpartition(b"\n")
        lines = [line for line in whole.split(b"\n") if re.search(b'"userAgent":"(?:%s)' % agent.encode(), line)]
        return [Call(json.loads(line)) for line in lines], place + len(whole) + len(end)

    @contextlib.contextmanager
    def namespace(self):
        """One of its own; all Pods of it are gone when it ends, so that nobody pays for those before."""
        name = f"bench-{secrets.token_hex(4)}"
        self.kubectl("create", "namespace", name)
        self.kubectl("-n", name, "wait", "--for=create", "serviceaccount/default", f"--timeout={PATIENCE}s")
        try:
            yield name
        finally:
            self.kubectl("delete", "--raw", f"/api/v1/namespaces/{name}/pods?gracePeriodSeconds=0")
            self.kubectl("-n", name, "wait", "--for=delete", "pods", "--all", f"--timeout={PATIENCE}s")
            self.kubectl("delete", "namespace", name, "--wait=false")


@functools.cache
def cluster():
    """Brought up when it is first asked for."""
    return Cluster()


def can_be_here():
    return programs.folder().is_dir() and namespaces.are_allowed()
