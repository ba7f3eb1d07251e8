"""A fake cluster in which jobs run: the API server of fake_kube, and what others do in a cluster. Pods go from Pending to
Running to their end by themselves and have a log; what is deleted goes after a moment; what a deleted object owned goes
with it. Objects are merged, versions and uids are checked, and watches see only what their selectors say.

    with LivingKube(plan) as kube:
        ... muster run --on kubernetes ...
        kube.wait_until_empty()

`plan(labels)` gives the exit code of a Pod by its labels.
"""

import datetime
import functools
import json
import queue
import threading

from fake_kube import FakeKube, status
from http_server import HttpServer

LINES = 20
LOG_BEGIN = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


def merge(target, patch):
    """A merge patch, RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    made = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = merge(made.get(key), value)
    return made


def take_steps(target, steps):
    """A JSON patch, RFC 6902, of members alone; None when a test finds something else."""
    for step in steps:
        *way, last = (word.replace("~1", "/") for word in step["path"].split("/")[1:])
        place = functools.reduce(lambda inner, key: inner.get(key, {}), way, target)
        if step["op"] != "test":
            place[last] = step["value"]
        elif place.get(last) != step["value"]:
            return None
    return target


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def selects(query, body):
    """Whether an object is what a list or a watch is about."""
    metadata = body["metadata"]
    terms = [pair.split("=", 1) for pair in query.get("labelSelector", "").split(",") if "=" in pair]
    labels = [term for term in terms if not term[0].endswith("!")]
    unwanted = [(key.rstrip("!"), value) for key, value in terms if key.endswith("!")]
    fields = [pair.split("=", 1) for pair in query.get("fieldSelector", "").split(",") if "=" in pair]
    return (all(metadata.get("labels", {}).get(key) == value for key, value in labels)
            and not any(metadata.get("labels", {}).get(key) == value for key, value in unwanted)
            and all(metadata["name"] == value for key, value in fields if key == "metadata.name"))


class LivingKube(FakeKube):
    def __init__(self, plan=lambda labels: 0, tls=None):
        self.plan = plan
        self.trouble = lambda exchange: False  # what may happen to a request in the place of its answer
        self.created = []  # (plural, labels) of each object that was made
        self.without_secret = []  # (name, uid) of Pods that wait for one
        self.n_uids = 0
        self.tasks = queue.Queue()
        super().__init__()
        self.server.close()
        self.server = HttpServer(self._answer, tls=tls)
        self.origin, self.url = self.server.origin, self.server.url
        self.worker = threading.Thread(target=self._work, daemon=True)
        self.worker.start()

    def close(self):
        self.tasks.put(None)
        self.worker.join()
        super().close()

    def wait_until_empty(self, limit):
        """Until nothing is left of what was made; gives what is left after `limit` seconds."""
        return self.wait_until_left([], limit)

    def wait_until_left(self, wanted, limit):
        """Until these (plural, name), sorted, are left; gives what is left after `limit` seconds."""
        with self.lock:
            self.lock.wait_for(lambda: sorted(self.objects) == wanted, limit)
            return sorted(self.objects)

    def end_pods(self):
        """Those that run on end, as the plan says by now; each before anything that the end of another leads to."""
        with self.lock:
            running = [(name, body["metadata"]["uid"]) for (plural, name), body in self.objects.items()
                       if plural == "pods"]
        self._later(self._finish_all, running)

    # What others do in a cluster

    def _work(self):
        while task := self.tasks.get():
            task()

    def _later(self, step, *arguments):
        self.tasks.put(lambda: step(*arguments))

    def _change(self, plural, name, uid, change):
        """False when that object is no more."""
        with self.lock:
            body = self.objects.get((plural, name))
            if not body or body["metadata"]["uid"] != uid:
                return False
            change(body)
            self._note(plural, "MODIFIED", body)
            return True

    def _take_away(self, plural, name, uid):
        with self.lock:
            body = self.objects.get((plural, name))
            if not body or body["metadata"]["uid"] != uid:
                return
            self.remove(plural, name)
            for (kind, other), owned in list(self.objects.items()):
                owners = owned["metadata"].get("ownerReferences", [])
                if any(owner["uid"] == uid for owner in owners):
                    self._take_away(kind, other, owned["metadata"]["uid"])

    def _is_orphan(self, body):
        """All its owners are gone: it is garbage from the beginning."""
        owners = {owner["uid"] for owner in body["metadata"].get("ownerReferences", [])}
        with self.lock:
            return bool(owners) and owners.isdisjoint(other["metadata"]["uid"] for other in self.objects.values())

    def _place(self, name, uid):
        def change(pod):
            pod["spec"]["nodeName"] = "node-0"
            pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "True"}]
        if self._change("pods", name, uid, change):
            self._later(self._run, name, uid)

    def put(self, plural, name, body=None):
        made = super().put(plural, name, body)
        if plural == "secrets":
            self._look_for_secrets_again()
        return made

    def _look_for_secrets_again(self):
        with self.lock:
            waiting, self.without_secret = self.without_secret, []
        for name, uid in waiting:
            self._later(self._run, name, uid)

    def _missing_secret(self, pod):
        """The first one whose keys are variables of its container, and which is not there."""
        variables = pod["spec"]["containers"][0].get("env", [])
        names = [variable["valueFrom"]["secretKeyRef"]["name"] for variable in variables
                 if "secretKeyRef" in variable.get("valueFrom", {})]
        return next((name for name in names if ("secrets", name) not in self.objects), None)

    def _run(self, name, uid):
        runs = []

        def change(pod):
            if pod["status"]["phase"] in ("Succeeded", "Failed"):
                return  # it was ended before it ran, and stays so
            missing = self._missing_secret(pod)
            if missing:
                self.without_secret.append((name, uid))
                pod["status"].update(containerStatuses=[self._container(pod, {"waiting": {
                    "reason": "CreateContainerConfigError", "message": f'secret "{missing}" not found'}})])
                return
            runs.append(name)
            pod["status"].update(phase="Running", startTime=now(), containerStatuses=[
                self._container(pod, {"running": {"startedAt": now()}})])
        if self._change("pods", name, uid, change) and runs:
            self._later(self._finish, name, uid)

    def _finish(self, name, uid):
        def change(pod):
            code = self.plan(pod["metadata"]["labels"])
            ended = {"exitCode": code, "startedAt": now(), "finishedAt": now(), "reason": "Error" if code else "Completed"}
            if code is not None:
                pod["status"].update(phase="Failed" if code else "Succeeded",
                                     containerStatuses=[self._container(pod, {"terminated": ended})])
        self._change("pods", name, uid, change)

    def _finish_all(self, pods):
        for name, uid in pods:
            self._finish(name, uid)

    @staticmethod
    def _container(pod, state):
        return {"name": pod["spec"]["containers"][0]["name"], "image": "i", "restartCount": 0, "ready": False,
                "state": state}

    # Answers

    def answer_late(self, exchange, limit):
        """For `trouble`: the call is answered when the program has seen in its watches what the call did."""
        answer = exchange.answer

        def count():
            return sum(path.endswith("/tfjobs") and method == "GET" for method, path, _ in self.requests())

        def answer_then(*arguments):
            for _ in range(2):  # one may have begun before that
                with self.lock:
                    n_before = count()
                    self.end_watches()
                    self.lock.wait_for(lambda n_before=n_before: count() > n_before, limit)
            answer(*arguments)

        exchange.answer = answer_then
        return False

    def _answer(self, exchange):
        with self.lock:  # requests() has one more
            self.lock.notify_all()
        is_answered = self.trouble(exchange)
        with self.lock:  # and so may have what it has noted
            self.lock.notify_all()
        if not is_answered:
            super()._answer(exchange)

    def _create(self, exchange, plural):
        body = exchange.json()
        if plural == "selfsubjectaccessreviews":
            exchange.answer(201, {**body, "status": {"allowed": True}})
            return
        with self.lock:
            metadata = body["metadata"]
            metadata.setdefault("name", f'{metadata.get("generateName")}{self.n_uids:05}')
            key = (plural, metadata["name"])
            if key in self.objects:
                made = None
            else:
                self.n_uids += 1
                metadata.update(uid=f"00000000-0000-4000-8000-{self.n_uids:012}", creationTimestamp=now())
                if plural == "pods":
                    body["status"] = {"phase": "Pending"}
                self.objects[key] = made = body
                self._note(plural, "ADDED", made)
                self.created.append((plural, metadata.get("labels", {})))
                text = json.dumps(made)
                if plural == "secrets":
                    self._look_for_secrets_again()
        if made is None:
            exchange.answer(409, status(409, "AlreadyExists", f'{plural} "{key[1]}" already exists'))
            return
        if self._is_orphan(made):
            self._later(self._take_away, *key, metadata["uid"])
        elif plural == "pods":
            self._later(self._place, key[1], metadata["uid"])
        exchange.answer(201, text, "Content-Type: application/json")

    def _get_or_delete(self, exchange, plural, name):
        if exchange.path.endswith("/log"):
            self._log(exchange, name)
            return
        answer = {"GET": self._get, "DELETE": self._delete, "PATCH": self._patch, "PUT": self._put}[exchange.method]
        with self.lock:
            code, body = (answer(exchange, plural, name) if (plural, name) in self.objects else
                          (404, status(404, "NotFound", f'{plural} "{name}" not found')))
            text = json.dumps(body)
        exchange.answer(code, text, "Content-Type: application/json")

    def _get(self, exchange, plural, name):
        return 200, self.objects[plural, name]

    def _delete(self, exchange, plural, name):
        body = self.objects[plural, name]
        uid = body["metadata"]["uid"]
        wanted = json.loads(exchange.body or "{}").get("preconditions", {}).get("uid")
        if not wanted and plural in ("pods", "services"):  # it may be another's by now
            return 422, status(422, "Invalid", f"{plural} '{name}' may be deleted by uid alone in these tests")
        if wanted not in (None, uid):
            return 409, status(409, "Conflict", "the UID in the precondition does not match the UID in record")
        if "deletionTimestamp" not in body["metadata"]:
            body["metadata"]["deletionTimestamp"] = now()
            self._note(plural, "MODIFIED", body)
            self._later(self._take_away, plural, name, uid)
        return 200, body

    def _keep(self, plural, name, made):
        old = self.objects[plural, name]
        if made["metadata"].get("resourceVersion") not in (None, old["metadata"]["resourceVersion"]):
            return 409, status(409, "Conflict", "the object has been modified")
        made["metadata"] = {**made["metadata"], "uid": old["metadata"]["uid"], "name": name}
        self.objects[plural, name] = made
        self._note(plural, "MODIFIED", made)
        return 200, made

    def _patch(self, exchange, plural, name):
        patch, old = exchange.json(), json.loads(json.dumps(self.objects[plural, name]))
        made = take_steps(old, patch) if isinstance(patch, list) else merge(old, patch)
        return self._keep(plural, name, made) if made else (422, status(422, "Invalid", "a test of the patch failed"))

    def _put(self, exchange, plural, name):
        made = exchange.json()
        if exchange.path.endswith("/status"):  # of a subresource nothing else counts
            old = self.objects[plural, name]
            version = {"resourceVersion": made["metadata"].get("resourceVersion", old["metadata"]["resourceVersion"])}
            made = {**old, "metadata": {**old["metadata"], **version}, "status": made.get("status")}
        return self._keep(plural, name, made)

    def _log(self, exchange, name):
        """Lines of a Pod with the kubelet's stamps; followed until its container has ended."""
        with self.lock:
            pod = self.objects.get(("pods", name))
            uid = pod and pod["metadata"]["uid"]
        if not pod:
            exchange.answer(404, status(404, "NotFound", f'pods "{name}" not found'))
            return
        exchange.begin()
        since = exchange.query.get("sinceTime", "")
        for number in range(LINES):
            stamp = (LOG_BEGIN + datetime.timedelta(milliseconds=number * 250)).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")
            if stamp[:19] < since[:19]:
                continue
            before = f"{stamp} " if exchange.query.get("timestamps") == "true" else ""
            exchange.chunk(f"{before}line {number}\n")
        if exchange.query.get("follow") == "true":
            with self.lock:
                self.lock.wait_for(lambda: self.version is None or getattr(exchange, "ends", False)
                                   or self._has_ended(name, uid))
        exchange.end()

    def _has_ended(self, name, uid):
        pod = self.objects.get(("pods", name))
        containers = pod["status"].get("containerStatuses") if pod else None
        return not pod or pod["metadata"]["uid"] != uid or bool(containers and "terminated" in containers[0]["state"])

    # Lists and watches see what their selectors say

    @staticmethod
    def _is_selected(exchange, body):
        return selects(exchange.query, body)

    def _items(self, exchange, plural):
        """Copies, which nobody changes while they are being sent."""
        return json.loads(json.dumps(super()._items(exchange, plural)))
