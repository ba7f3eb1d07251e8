"""A server of ill will: any text that it tells may be another one, by a seed. What makes an object that of the job in
question mostly stays, or nothing would be looked at."""

import json
import random

NASTIES = [
    "\x1b]0;title\x07", "\x1b[2J\x1b[H", "\x9b31m", "\u009b2J", "a\nb\r\nc", "\x00", "\x7f", "\u202eevil\u2066", "; rm -rf ~ #", "$(reboot)",
    "`id`", "'", '"', "-rf", "--now", "../../escaped", "/etc/escaped", "..", ".", "", " ", "%s%n", "x" * 5000, "\U0010ffff", "é" * 300,
    "2147483648", "-1", "1e400", "null"]
NUMBERS = [-1, 0, 2**31 - 1, 2**31, 2**63 - 1, -2**63, 1e300]
# Without them nothing is believed of an object, so they are changed less often.
IDENTITY = {"apiVersion", "kind", "type", "name", "namespace", "uid", "resourceVersion", "creationTimestamp", "muster/job",
            "app.kubernetes.io/managed-by", "muster/role", "muster/index", "muster/attempt", "phase"}
DOCUMENTS = {"document", "status", "summary", "supervisor"}  # texts that hold JSON


class Hostile:
    """`with_nasties(value)` gives a copy in which some of its texts and numbers are others."""

    def __init__(self, seed, rate=0.2):
        self.random = random.Random(seed)
        self.rate = rate

    def is_hit(self, key):
        return self.random.random() < (self.rate / 10 if key in IDENTITY else self.rate)

    def with_nasties(self, value, key=None):
        if isinstance(value, dict):
            return {name: self.with_nasties(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.with_nasties(inner, key) for inner in value]
        if isinstance(value, str) and key in DOCUMENTS and value[:1] in "{[" and not self.is_hit("name"):
            return json.dumps(self.with_nasties(json.loads(value)))
        if isinstance(value, bool) or value is None or not self.is_hit(key):
            return value
        if isinstance(value, str):
            nasty = self.random.choice(NASTIES)
            made = nasty if self.random.random() < 0.5 else value + nasty
            # Who watches from a version to come is told of nothing until then, by a server of good will too.
            return value if key == "resourceVersion" and made.isdecimal() else made
        return self.random.choice(NUMBERS)

    def trouble(self, exchange):
        """For LivingKube.trouble: all that is told of objects from here on; the server itself knows better."""
        answer, chunk = exchange.answer, exchange.chunk
        if not exchange.path.endswith(("/log", "/exec")):
            exchange.answer = lambda status, body="", *headers: answer(status, self._told(body), *headers)
            exchange.chunk = lambda line: chunk(self._told(line) + "\n")
        return False

    def _told(self, body):
        return json.dumps(self.with_nasties(json.loads(body) if isinstance(body, str) else body))
