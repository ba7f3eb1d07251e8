"""Tasks as TensorFlow names them, and what its errors say of them."""

import contextlib
import re

from muster_check.events import Fault
from muster_check.runtime import tf

TASK = re.compile(r"/job:([^/]+)(?:/replica:\d+)?/task:(\d+)")
REMOTE = re.compile(r"([^\n]+)\nAdditional GRPC error information from remote target (/job:\S+)")


def task_of(text):
    """("ps", 0) of a text with "/job:ps/replica:0/task:0" in it, else None."""
    found = TASK.search(text)
    return (found.group(1), int(found.group(2))) if found else None


def name_of(task):
    return f"{task[0]}-{task[1]}"


def listed(tasks):
    """ps-0, ps-1 and worker-3"""
    *most, last = [name_of(task) for task in sorted(tasks)]
    return f"{', '.join(most)} and {last}" if most else last


def cause_of(error):
    """(where, why): the task that an error came from and what the runtime said, in one line."""
    cause = error.__context__  # without the place in the graph that Python adds
    text = (cause if isinstance(cause, tf.errors.OpError) else error).message
    remote = REMOTE.search(text)
    if remote:
        return name_of(task_of(remote.group(2))), remote.group(1)
    lines = [line.strip() for line in text.splitlines() if line.strip("= \t")]
    return type(error).__name__.removesuffix("Error"), lines[0] if lines else "no reason was given"


def fault_of(error):
    where, why = cause_of(error)
    return Fault("training", f"{where}: {why}")


@contextlib.contextmanager
def faults():
    """Turns an error of TensorFlow into a Fault."""
    try:
        yield
    except tf.errors.OpError as error:
        raise fault_of(error) from error
