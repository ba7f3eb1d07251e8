"""Ends this process when nothing has happened for too long.

TensorFlow's strategies wait in silence, some for ever, for a task that does not come or that hangs; the waiting call
cannot be interrupted. So a thread looks at the time, and names who does not listen.
"""

import os
import socket
import threading
import time

from muster_check.events import tell

CONNECT_LIMIT = 3  # seconds


def listens(address):
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_LIMIT).close()
    except (OSError, ValueError):
        return False
    return True


class Watch:
    """`with Watch(limit, others) as watch:` around what may hang; `watch.happened()` begins the limit anew."""

    def __init__(self, limit, others):
        self.limit = limit
        self.others = others  # name -> host:port
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)

    def __enter__(self):
        self.happened()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()

    def happened(self):
        self.deadline = time.monotonic() + self.limit

    def look(self):
        while not self.ended.wait(max(0, self.deadline - time.monotonic())):
            if time.monotonic() >= self.deadline:
                self.expire()

    def expire(self):
        silent = [name for name, address in self.others.items() if not listens(address)]
        message = f"{', '.join(silent)} did not answer within {self.limit} s" if silent else \
            f"nothing happened within {self.limit} s, although every task accepts connections"
        tell("error", step="training", message=message)
        os._exit(1)
