"""A fake API server: objects with versions, lists in pages, watches with bookmarks, and faults on demand.

    with FakeKube() as kube:
        kube.put("pods", "worker-0", {...})
        kube.faults.append(refuse(429, "Retry-After: 0"))
        ... kube.origin ...

A fault is a function that is called with the exchange of the next request in the place of an answer; what gives True has
answered, what gives False leaves the answer to the server. All objects live in one namespace per resource kind and are
what a test needs of Kubernetes, no more.
"""

import json
import secrets
import threading

from http_server import Gone, HttpServer

NAMESPACE = "ada"
VERSIONS = ("v1", "v1beta1", "v1alpha1", "v1alpha2")


def status(code, reason, message):
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
            "message": message}


def refuse(code, *headers, reason="", message="not now"):
    """A fault: this answer."""
    def fault(exchange):
        exchange.answer(code, status(code, reason, message), *headers)
        return True
    fault.__name__ = f"refuse {code}"
    return fault


def cut_after_doing(exchange):
    """A fault: what was asked is done, and the answer is lost."""
    exchange.answer = lambda *_: exchange.cut()
    return False


def cut(exchange):
    """A fault: nothing is done, and the connection is lost."""
    exchange.cut()
    return True


# Faults of watches


def fail_in_the_stream(code, reason=""):
    """The watch begins, and then there is an error in it."""
    def fault(exchange):
        exchange.begin()
        FakeKube.event(exchange, "ERROR", status(code, reason, "an error in the stream"))
        exchange.end()
        return True
    fault.__name__ = f"fail_in_the_stream {code}"
    return fault


def half_a_line(exchange):
    exchange.begin()
    exchange.chunk('{"type":"MODIFIED","object":{"metadata":{"name":"wor')
    exchange.cut()
    return True


def no_event(exchange):
    exchange.begin()
    exchange.chunk("<html>\n")
    exchange.wait_for_the_end()
    return True


def ends_at_once(exchange):
    exchange.begin()
    exchange.end()
    return True


def silence(exchange):
    """The watch begins, and nothing comes any more, not even the end of the connection."""
    exchange.begin()
    exchange.wait_for_the_end()
    return True


def byte_by_byte(exchange):
    """No fault: the server is only slow."""
    whole = exchange.chunk

    def chunk(data):
        for byte in data.encode():
            whole(bytes([byte]))
    exchange.chunk = chunk
    return False


class FakeKube:
    def __init__(self):
        self.lock = threading.Condition()
        self.version = 100
        self.objects = {}  # (plural, name) -> object
        self.history = []  # (version, plural, type, object)
        self.oldest = 0  # versions up to this one are no longer kept
        self.rests = {}  # of lists: token -> (version, objects of the pages to come)
        self.faults = []  # for the next requests, in order
        self.watch_faults = []  # for the next watches
        self.tokens = None  # those that are accepted; None: anybody
        self.supports_watch_list = True
        self.server = HttpServer(self._answer)
        self.origin, self.url = self.server.origin, self.server.url

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        with self.lock:
            self.version = None
            self.lock.notify_all()
        self.server.close()

    def requests(self):
        """(method, path, query) of each request so far."""
        return [(e.method, e.path, e.query) for e in list(self.server.exchanges)]

    # What happens in the cluster

    def _note(self, plural, kind, body):
        if self.version is None:  # the server is being closed
            raise Gone
        self.version += 1
        body.setdefault("metadata", {})["resourceVersion"] = str(self.version)
        self.history.append((self.version, plural, kind, json.loads(json.dumps(body))))
        self.lock.notify_all()

    def put(self, plural, name, body=None):
        with self.lock:
            body = dict(body or {})
            body["metadata"] = {"uid": f"uid-{name}", "namespace": NAMESPACE, **body.get("metadata", {}), "name": name}
            kind = "MODIFIED" if (plural, name) in self.objects else "ADDED"
            self.objects[plural, name] = body
            self._note(plural, kind, body)
            return body

    def remove(self, plural, name):
        with self.lock:
            body = self.objects.pop((plural, name))
            self._note(plural, "DELETED", body)

    def forget_history(self):
        """As etcd's compaction: old versions cannot be watched from any more."""
        with self.lock:
            self.oldest = self.version
            self.history.clear()

    def end_watches(self):
        """As when their time is over: each ends properly."""
        with self.lock:
            for exchange in list(self.server.exchanges):
                exchange.ends = True
            self.lock.notify_all()

    def cut_watches(self):
        """As when the API server dies."""
        for exchange in list(self.server.exchanges):
            if exchange.query.get("watch") == "true":
                exchange.cut_now()

    # Answers

    @staticmethod
    def _is_selected(exchange, body):
        """Label selectors of terms KEY=VALUE and KEY!=VALUE; of field selectors the name."""
        labels = body["metadata"].get("labels", {})
        for term in filter(None, exchange.query.get("labelSelector", "").split(",")):
            key, _, wanted = term.partition("=")
            if (labels.get(key.rstrip("!")) == wanted) == key.endswith("!"):
                return False
        key, _, wanted = exchange.query.get("fieldSelector", "").partition("=")
        return key != "metadata.name" or body["metadata"]["name"] == wanted

    def _answer(self, exchange):
        if self.tokens is not None and exchange.headers.get("authorization") not in [f"Bearer {t}" for t in self.tokens]:
            exchange.answer(401, status(401, "Unauthorized", "Unauthorized"))
            return
        is_watch = exchange.query.get("watch") == "true"
        faults = self.watch_faults if is_watch and self.watch_faults else self.faults
        if faults and faults.pop(0)(exchange):
            return
        steps = exchange.path.strip("/").split("/")
        version = next((step for step in steps[1:4] if step in VERSIONS), None)
        if not version:  # of whoever had this port before
            exchange.answer(404, status(404, "NotFound", "the server could not find the requested resource"))
            return
        is_inside = "namespaces" in steps[:-2]  # not a namespace itself
        rest = steps[steps.index("namespaces") + 2:] if is_inside else steps[steps.index(version) + 1:]
        plural, name = rest[0], rest[1] if len(rest) > 1 else None
        if is_watch:
            self._watch(exchange, plural)
        elif exchange.method == "POST":
            self._create(exchange, plural)
        elif name is None:
            self._list(exchange, plural)
        else:
            self._get_or_delete(exchange, plural, name)

    def _create(self, exchange, plural):
        body = exchange.json()
        name = body["metadata"]["name"]
        with self.lock:
            exists = (plural, name) in self.objects
        if exists:
            exchange.answer(409, status(409, "AlreadyExists", f'{plural} "{name}" already exists'))
        else:
            exchange.answer(201, self.put(plural, name, body))

    def _get_or_delete(self, exchange, plural, name):
        with self.lock:
            body = self.objects.get((plural, name))
        if body is None:
            exchange.answer(404, status(404, "NotFound", f'{plural} "{name}" not found'))
            return
        if exchange.method == "DELETE":
            self.remove(plural, name)
        exchange.answer(200, body)

    def _items(self, exchange, plural):
        return [body for (kind, _), body in sorted(self.objects.items())
                if kind == plural and self._is_selected(exchange, body)]

    def _list(self, exchange, plural):
        """A page; all of one list are of the moment of its first."""
        limit = int(exchange.query.get("limit", 0))
        token = exchange.query.get("continue")
        with self.lock:
            version, items = self.rests.pop(token) if token else (self.version, self._items(exchange, plural))
            metadata = {"resourceVersion": str(version)}
            if 0 < limit < len(items):
                metadata["continue"] = f"{version}.{secrets.token_hex(4)}"
                self.rests[metadata["continue"]] = (version, items[limit:])
        exchange.answer(200, {"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items[:limit or None]})

    @staticmethod
    def event(exchange, kind, body):
        exchange.chunk(json.dumps({"type": kind, "object": body}) + "\n")

    @staticmethod
    def bookmark(exchange, version, ends_list=False):
        metadata = {"resourceVersion": str(version)}
        if ends_list:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        FakeKube.event(exchange, "BOOKMARK", {"kind": "Pod", "metadata": metadata})

    def _watch(self, exchange, plural):
        wants_list = exchange.query.get("sendInitialEvents") == "true"
        if wants_list and not self.supports_watch_list:
            exchange.answer(422, status(422, "Invalid", "sendInitialEvents: Forbidden: not supported"))
            return
        given = exchange.query.get("resourceVersion", "")
        if not wants_list and not given.isdecimal():
            exchange.answer(400, status(400, "BadRequest", f"invalid resource version {given!r}"))
            return
        exchange.begin()
        if wants_list:
            with self.lock:
                items = self._items(exchange, plural)
                seen = self.version
            for body in items:
                self.event(exchange, "ADDED", body)
            self.bookmark(exchange, seen, ends_list=True)
        else:
            seen = int(given)
        self._follow(exchange, plural, seen)

    def _follow(self, exchange, plural, seen):
        """Events from here on, until the watches are ended."""
        def is_over():
            return self.version is None or getattr(exchange, "ends", False)

        while True:
            with self.lock:
                while not is_over() and seen >= self.oldest \
                        and not (news := [h for h in self.history if h[0] > seen]):
                    self.lock.wait()
                if is_over():
                    break
                if seen < self.oldest:  # it had not been told yet what is forgotten now
                    self.event(exchange, "ERROR", status(410, "Expired", "too old resource version"))
                    break
            for version, kind_of, kind, body in news:
                seen = version
                if kind_of == plural and self._is_selected(exchange, body):
                    self.event(exchange, kind, body)
        exchange.end()
