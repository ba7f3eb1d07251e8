"""Faults of an API server, drawn by a seed: each request may meet one, and now and then something happens to all of them.

    kube.trouble = Trouble(kube, seed, tls)

So that every job can end, no single call is lost more than LOSSES times in a row, and there are not more than `amount`
faults. What was drawn stands in `log`.
"""

import json
import random
import threading

import fake_kube
from fake_kube import FakeKube, refuse

LOSSES = 2  # a client tries three times what is lost without a word
SLOW = 0.2  # seconds that a slow answer takes


def fail_when_done(exchange):
    """What was asked is done, and a proxy says that it failed."""
    whole = exchange.answer
    exchange.answer = lambda *_: whole(504, "<html>gateway time-out</html>")
    return False


def half_an_answer(exchange):
    exchange.head(200, "Content-Length: 1000", "Content-Type: application/json")
    exchange.write('{"kind": ')
    exchange.cut()
    return True


def slow(exchange):
    """Done late, but not for a client that is gone: an API server drops what nobody waits for."""
    return exchange.ends_within(SLOW)


def never(exchange):
    """No answer, and no end of the connection."""
    exchange.wait_for_the_end()
    return True


# (fault, whether the client cannot know what was done)
SHORT = [(refuse(429, "Retry-After: 0"), False), (refuse(429), False), (refuse(503, "Retry-After: 1"), True),
         (refuse(500), True), (fail_when_done, True), (fake_kube.cut, True), (fake_kube.cut_after_doing, True),
         (half_an_answer, True), (slow, False), (never, True)]
STREAM = [(refuse(429, "Retry-After: 0"), False), (refuse(410, reason="Expired"), False), (refuse(500), False),
          (fake_kube.cut, False), (fake_kube.fail_in_the_stream(410, "Expired"), False),
          (fake_kube.fail_in_the_stream(500), False), (fake_kube.half_a_line, False), (fake_kube.no_event, False),
          (fake_kube.ends_at_once, False), (fake_kube.silence, False), (fake_kube.byte_by_byte, False),
          (never, False), (slow, False)]
LOG = [(refuse(429, "Retry-After: 0"), False), (refuse(500), False), (fake_kube.cut, False), (slow, False)]
CONFLICT = (refuse(409, reason="Conflict", message="the object has been modified"), False)


def is_change(exchange):
    return exchange.method in ("PATCH", "PUT")


def subject(exchange):
    """What a request is about, the same for a create and for the look whether it was made."""
    if exchange.method != "POST":
        return exchange.path
    body = json.loads(exchange.body)
    metadata = body.get("metadata", {})
    return f"{exchange.path}/{metadata.get('name') or metadata.get('generateName') or body}"


class Trouble:
    def __init__(self, kube, seed, contexts=(None,)):
        self.kube, self.contexts = kube, contexts
        self.dice = random.Random(seed)
        self.often = self.dice.choice([0.1, 0.3, 0.6])
        self.left = self.dice.randrange(3, 30)
        self.events_left = self.dice.randrange(4)
        self.losses = {}
        self.log = []
        self.lock = threading.Lock()

    def __call__(self, exchange):
        with self.lock:
            happens = self._draw_event()
            fault = self._draw_fault(exchange)
        if happens:
            happens()
        return bool(fault and fault(exchange))

    def _draw_event(self):
        """To all at once."""
        if not self.events_left or self.dice.random() > 0.05:
            return None
        self.events_left -= 1
        happens = self.dice.choice([self.kube.cut_watches, self.kube.end_watches, self.kube.forget_history, self._restart])
        self.log.append(happens.__name__)
        return happens

    def _restart(self):
        """Perhaps with another certificate, and what it kept of the past is gone."""
        self.kube.forget_history()
        self.kube.server.restart(self.dice.choice(self.contexts))

    def _draw_fault(self, exchange):
        key = subject(exchange)
        lost = self.losses.get(key, 0)
        self.losses[key] = 0
        if not self.left or self.dice.random() > self.often:
            return None
        fault, is_loss = self.dice.choice(self._faults(exchange))
        if is_loss and lost == LOSSES:
            return None
        self.losses[key] = lost + is_loss
        self.left -= 1
        self.log.append(f"{fault.__name__} for {exchange.method} {key[-80:]}")
        return fault

    @staticmethod
    def _faults(exchange):
        if exchange.query.get("watch") == "true":
            return STREAM
        if exchange.path.endswith("/log"):
            return LOG
        return [*SHORT, CONFLICT] if is_change(exchange) else SHORT
