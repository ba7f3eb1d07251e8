"""The API server, asked by HTTP: what tests do hundreds of times. kubectl takes a tenth of a second of a processor for
each call, and was a third of all that the tests on a cluster computed."""

import http.client
import json
import re
import ssl
import threading
import time
import urllib.parse

ADDRESS = "127.0.0.1:443"
# One document with all resources of all groups.
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
LIMIT = 300


def holds(made, condition):
    """Whether an object, or None, is as `kubectl wait --for` has it: create, delete, condition=TYPE,
    jsonpath={.path}[=VALUE]."""
    kind, _, rest = condition.partition("=")
    if kind in ("create", "delete"):
        return (made is None) == (kind == "delete")
    if made is None:
        return False
    if kind == "condition":
        return any(entry["type"] == rest and entry["status"] == "True"
                   for entry in made.get("status", {}).get("conditions") or [])
    path, wanted = re.fullmatch(r"jsonpath=\{((?:\.\w+|\[\d+\])+)\}(?:=(.*))?", condition).groups()
    value = made
    for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        try:
            value = value[name] if name else value[int(index)]
        except (KeyError, IndexError):
            return False
    return wanted is None or (value if isinstance(value, str) else json.dumps(value)) == wanted


class Api:
    """As the administrator, whose key is in this folder."""

    def __init__(self, keys):
        self.context = ssl.create_default_context(cafile=keys / "ca.crt")
        self.context.load_cert_chain(keys / "admin.crt", keys / "admin.key")
        self.mine = threading.local()
        self.resources = {}

    def ask(self, method, path, body=None, accept="application/json"):
        """The status of the answer, and its object. A server that goes is asked again when it is back."""
        end = time.monotonic() + LIMIT
        headers = {"Accept": accept, "Content-Type": "application/json"}
        while True:
            try:
                connection = getattr(self.mine, "connection", None)
                if not connection:
                    connection = http.client.HTTPSConnection(ADDRESS, context=self.context, timeout=30)
                    self.mine.connection = connection
                connection.request(method, path, body and json.dumps(body), headers)
                answer = connection.getresponse()
                return answer.status, json.loads(answer.read() or "null")
            except (OSError, http.client.HTTPException):
                self.mine.connection = None
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def path_of(self, word, namespace):
        """Of all objects of a resource, which has any of its names: pod, po, pods, pods.GROUP."""
        if word not in self.resources:  # it may have been made a moment ago
            for root in "/api", "/apis":
                self._learn(root, self.ask("GET", root, accept=DISCOVERY)[1])
        base, name, is_namespaced = self.resources[word]
        return f"{base}/namespaces/{namespace}/{name}" if is_namespaced else f"{base}/{name}"

    def _learn(self, root, found):
        """The first of several of a name counts, as for kubectl; so does the first version of a group."""
        for group, version in [(group["metadata"].get("name"), version) for group in found["items"]
                               for version in group["versions"]]:
            base = "/".join(part for part in (root, group, version["version"]) if part)
            for resource in version["resources"]:
                name = resource["resource"]
                place = base, name, resource["scope"] == "Namespaced"
                for word in filter(None, [name, resource.get("singularResource"), *resource.get("shortNames", [])]):
                    self.resources.setdefault(word, place)
                    self.resources.setdefault(f"{word}.{group}", place)

    def get(self, namespace, word, name):
        """The object; None when it does not exist."""
        status, made = self.ask("GET", f"{self.path_of(word, namespace)}/{name}")
        assert status in (200, 404), made
        return made if status == 200 else None

    def list(self, namespace, word, selector=""):
        """The objects, each of which says its kind."""
        status, found = self.ask("GET", f"{self.path_of(word, namespace)}?labelSelector={urllib.parse.quote(selector)}")
        assert status == 200, found
        kind = {"apiVersion": found["apiVersion"], "kind": found["kind"].removesuffix("List")}
        return [{**kind, **made} for made in found["items"]]
