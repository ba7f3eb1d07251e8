"""Pods whose logs can be read, and nothing else of them: as a kubelet behind an API server sends them, with stamps and from
`sinceTime` on, and with faults on demand.

    with FakePods() as pods:
        pods.logs["worker-0"].write("line")
        pods.logs["worker-0"].faults.append(Break(reset, at=17))
        ... pods.origin ...
"""

import calendar
import collections
import dataclasses
import threading
import time

from fake_kube import status
from http_server import HttpServer

SECOND = 1_000_000_000


def stamp(nanoseconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(nanoseconds // SECOND)) + f".{nanoseconds % SECOND:09}Z"


def nanoseconds(text):
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ")) * SECOND


# What happens to a stream behind its last byte.


def reset(exchange):
    exchange.cut()


def ends_properly(exchange):
    """As an API server does when it loses the kubelet: nobody can tell this from the end of the log."""
    exchange.end()


def with_words(sentence):
    """As a kubelet that cannot read on: its own sentence, and the proper end."""
    def end(exchange):
        exchange.chunk(sentence)
        exchange.end()
    return end


def half_a_chunk(exchange):
    exchange.write("400\r\n")
    exchange.cut()


def garbage(exchange):
    """An error in the middle: the server writes what is no chunk."""
    exchange.write("HTTP/1.1 500 Because\r\n\r\n")
    exchange.close()


def silence(exchange):
    exchange.wait_for_the_end()


@dataclasses.dataclass
class Break:
    """Of the next stream: this happens behind so many of its bytes, or where all has been said that there is."""
    how: callable
    at: int


@dataclasses.dataclass
class Refuse:
    """The next stream does not begin."""
    code: int
    message: str = "not now"


class Log:
    """Of one Pod's container, and of the one before it."""

    def __init__(self, pods):
        self.pods = pods
        self.lines = []  # (nanoseconds, text)
        self.previous = None  # the same of the container before this one
        self.has_ended = False
        self.faults = []  # of the next streams, in order
        self.n_streams = 0
        self.now = 1_700_000_000 * SECOND

    def write(self, text, after=1_000_000):
        """One line, so many nanoseconds after the last one."""
        with self.pods.changed:
            self.now += after
            self.lines.append((self.now, text))
            self.pods.changed.notify_all()

    def end(self):
        with self.pods.changed:
            self.has_ended = True
            self.pods.changed.notify_all()

    def rotate(self, n_kept):
        """Only so many of the last lines can be read from here on."""
        with self.pods.changed:
            self.lines = self.lines[-n_kept:] if n_kept else []

    def text(self):
        return "".join(text + "\n" for _, text in self.lines)


class FakePods:
    def __init__(self, tls=None):
        self.changed = threading.Condition()
        self.is_closed = False
        self.logs = collections.defaultdict(lambda: Log(self))
        self.server = HttpServer(self._answer, tls)
        self.origin = self.server.origin

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()
        self.server.close()

    def until(self, condition):
        with self.changed:
            assert self.changed.wait_for(condition, timeout=300)

    def _answer(self, exchange):
        name = exchange.path.split("/")[-2]
        with self.changed:
            log = self.logs[name]
            fault = log.faults.pop(0) if log.faults else None
            lines, previous = log.lines, log.previous
            log.n_streams += 1
            self.changed.notify_all()
        if isinstance(fault, Refuse):
            exchange.answer(fault.code, status(fault.code, "", fault.message))
            return
        if exchange.query.get("previous") == "true":
            if previous is None:
                exchange.answer(400, status(400, "BadRequest", "previous terminated container not found"))
                return
            lines = previous
        exchange.begin()
        self._send(exchange, log, lines, fault)

    def _send(self, exchange, log, lines, fault):
        since = nanoseconds(exchange.query["sinceTime"]) if "sinceTime" in exchange.query else 0
        follows = exchange.query.get("follow") == "true"
        seen, sent = 0, 0
        while True:
            with self.changed:
                while (follows and len(lines) == seen and not (log.has_ended or self.is_closed or fault)):
                    self.changed.wait()
                new, seen = lines[seen:], len(lines)
                is_over = not new
            data = "".join(f"{stamp(at)} {text}\n" for at, text in new if at >= since).encode()
            if fault and (is_over or sent + len(data) >= fault.at):
                data = data[:fault.at - sent]
                if data:
                    exchange.chunk(data)
                fault.how(exchange)
                return
            if data:
                exchange.chunk(data)
            sent += len(data)
            if is_over:
                exchange.end()
                return
