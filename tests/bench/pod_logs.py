"""What it costs to follow the logs of many Pods, each of which prints so many lines a second.

    python3 tests/bench/pod_logs.py [PODS [LINES-A-SECOND [SECONDS]]]

This process is the API server; the follower is tests/fake_kube/pod_logs.c, the code that `muster run --on kubernetes`
follows with. Told are the follower's processor time and memory, and how many logs have each line once.
"""

import asyncio
import contextlib
import pathlib
import resource
import sys
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLLOWER = ROOT / "build" / "tests" / "fake_kube" / "pod_logs"
PAUSE = 0.02  # between two batches of lines of one Pod
TEXT = "x" * 92


class Server:
    """All Pods print the same lines, from the same moment on."""

    def __init__(self, rate, n_lines):
        self.rate, self.begin = rate, time.time()
        self.times = [self.begin + i / rate for i in range(n_lines)]
        self.lines = [f"{self.stamp(at)} {i:06} {TEXT}\n".encode() for i, at in enumerate(self.times)]

    @staticmethod
    def stamp(at):
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1e9):09}Z"

    async def serve(self, reader, writer):
        target = (await reader.readuntil(b"\r\n\r\n")).decode().split()[1]
        since = urllib.parse.parse_qs(urllib.parse.urlsplit(target).query).get("sinceTime")
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
        with contextlib.suppress(ConnectionError):  # who has the end need not wait for us
            await writer.drain()
        writer.close()


async def follow(server, n_pods, seconds, folder):
    """Gives the follower's peak of memory, in kB."""
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=1000)
    origin = "http://127.0.0.1:%d" % listener.sockets[0].getsockname()[1]
    follower = await asyncio.create_subprocess_exec(FOLLOWER, origin, folder, stdin=asyncio.subprocess.PIPE,
                                                    stdout=asyncio.subprocess.PIPE)
    follower.stdin.write("".join(f"run {i}\n" for i in range(n_pods)).encode())
    await asyncio.sleep(seconds)
    follower.stdin.write("".join(f"end {i}\n" for i in range(n_pods)).encode())
    while b"quiet" not in await follower.stdout.readline():
        pass
    status = pathlib.Path(f"/proc/{follower.pid}/status").read_text()
    follower.stdin.close()
    await follower.wait()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


def main():
    n_pods, rate, seconds = (int(text) for text in (sys.argv[1:] + ["100", "1000", "10"][len(sys.argv) - 1:]))
    server = Server(rate, rate * seconds)
    wanted = b"".join(line.split(b" ", 1)[1] for line in server.lines)
    with tempfile.TemporaryDirectory() as folder:
        peak = asyncio.run(follow(server, n_pods, seconds, folder))
        whole = sum((pathlib.Path(folder) / f"worker-{i}.0.log").read_bytes() == wanted for i in range(n_pods))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cores = (used.ru_utime + used.ru_stime) / seconds
    print(f"{n_pods} Pods x {rate} lines/s for {seconds} s: {cores:.2f} cores, {peak / 1000:.1f} MB at most, "
          f"{whole} of {n_pods} logs with each line once")


if __name__ == "__main__":
    main()
