"""Makes the objects of a file by 8 connections that stay open, each with one call after the other.

    bare_loop.py OBJECTS.json

Nothing is parsed, waited for or checked but the code of the answer: less than this cannot be done, one call an object.
"""

import base64
import http.client
import json
import os
import queue
import ssl
import sys
import tempfile
import threading
import urllib.parse

CONNECTIONS = 8
COLLECTIONS = {"ConfigMap": "configmaps", "Event": "events", "NetworkPolicy": "networkpolicies", "Pod": "pods", "Secret": "secrets", "Service": "services",
               "TFJob": "tfjobs"}


def login(path):
    """(host and port, TLS settings) of a kubeconfig."""
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    tls = ssl.create_default_context(cadata=authority)
    with tempfile.NamedTemporaryFile() as pair:
        for key in ("client-certificate-data", "client-key-data"):
            pair.write(base64.b64decode(user[key]))
        pair.flush()
        tls.load_cert_chain(pair.name)
    return urllib.parse.urlsplit(cluster["server"]).netloc, tls


def make(waiting, server, tls):
    connection = http.client.HTTPSConnection(server, context=tls)
    headers = {"Content-Type": "application/json", "User-Agent": "bare-loop"}
    while True:
        try:
            target, body = waiting.get_nowait()
        except queue.Empty:
            return
        connection.request("POST", target, body, headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 201:
            sys.exit(f"{target}: {answer.status}")


def main():
    waiting = queue.SimpleQueue()
    with open(sys.argv[1], encoding="utf-8") as file:
        for made in json.load(file)["items"]:
            collection = COLLECTIONS[made["kind"]]
            root = "apis" if "/" in made["apiVersion"] else "api"
            waiting.put((f"/{root}/{made['apiVersion']}/namespaces/{made['metadata']['namespace']}/{collection}", json.dumps(made)))
    server, tls = login(os.environ["KUBECONFIG"])
    threads = [threading.Thread(target=make, args=(waiting, server, tls)) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
