"""What the models tell muster: one JSON object a line, whose key "muster" names the event.

    {"muster": "step", "worker": 0, "step": 120, "of": 500, "loss": 0.31}
"""

import contextlib
import json
import math
import time


class Fault(Exception):
    """Something that is wrong outside this program, in a sentence for people; `step` is where: data or training."""

    def __init__(self, step, message):
        super().__init__(message)
        self.step = step


def plain(value):
    """As JSON has it: no number of numpy or TensorFlow, and null where it is none (JSON knows no NaN)."""
    if value is None or isinstance(value, (str, int, list)):
        return value
    number = float(value)
    return number if math.isfinite(number) else None


def tell(event, **fields):
    """Prints one event."""
    values = {name: plain(value) for name, value in fields.items()}
    print(json.dumps({"muster": event, **values}, ensure_ascii=False), flush=True)


def tell_data(dataset):
    tell("data", name=dataset.name, source=dataset.source, examples=dataset.size)


@contextlib.contextmanager
def training(worker):
    """Around the training of a worker: tells its beginning and its end."""
    tell("training-begins", worker=worker)
    began = time.monotonic()
    yield
    tell("training-ends", worker=worker, seconds=round(time.monotonic() - began, 3))
    print("Training ends", flush=True)


class Progress:
    """Tells the steps of one worker, a few a second at most."""

    INTERVAL = 0.5  # seconds

    def __init__(self, worker, last_step):
        self.worker = worker
        self.last_step = last_step
        self.told_at = 0.0

    def tell(self, step, loss):
        now = time.monotonic()
        if now - self.told_at >= self.INTERVAL or step == self.last_step:
            self.told_at = now
            tell("step", worker=self.worker, step=int(step), of=self.last_step, loss=round(float(loss), 4))
