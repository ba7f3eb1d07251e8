"""Ends a process in which nothing has happened for too long.

TensorFlow's strategies wait in silence, some for ever, for a task that does not come or that hangs. The waiting call
cannot be interrupted, swallows SIGTERM, and lets no other thread of Python run. So the work is done in a process of its
own, and the one that was started looks at the time, and names who does not listen.
"""

import ctypes
import multiprocessing
import os
import signal
import socket
import sys

from muster_check.events import tell

CONNECT_LIMIT = 3  # seconds
PR_SET_PDEATHSIG = 1  # of prctl(2)

processes = multiprocessing.get_context("fork")


def listens(address):
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_LIMIT).close()
    except (OSError, ValueError):
        return False
    return True


def begin(work, news, happened, parent):
    """In the new process, which does not outlive the one that looks at the time."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    news.close()
    sys.exit(work(lambda: happened.send_bytes(b".")))


def wait_for_silence(news, limit):
    """True when nothing came for `limit` seconds; False when the process has ended."""
    while news.poll(limit):
        try:
            news.recv_bytes()
        except EOFError:
            return False
    return True


def tell_silence(limit, others):
    silent = [name for name, address in others.items() if not listens(address)]
    tell("error", step="training", message=f"{', '.join(silent)} did not answer within {limit} s" if silent else
         f"nothing happened within {limit} s, although every task accepts connections")


def end(*_):
    """Once, so that the work is not left behind when SIGTERM comes again while it is ended."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + signal.SIGTERM)


def run(limit, others, work):
    """Runs work(happened) in a process of its own, and gives its exit code. It calls happened() whenever it has come a
    step further, within `limit` seconds each time; `others` are the tasks that it may wait for: name -> host:port."""
    news, happened = processes.Pipe(duplex=False)
    process = processes.Process(target=begin, args=(work, news, happened, os.getpid()))
    process.start()
    happened.close()
    try:
        signal.signal(signal.SIGTERM, end)  # before this, SIGTERM ends this process, and the kernel the other one
        if wait_for_silence(news, limit):
            tell_silence(limit, others)
            return 1
        process.join()
        return process.exitcode if process.exitcode >= 0 else 128 - process.exitcode
    finally:
        process.kill()
        process.join()
