#!/usr/bin/python3
"""training-operator 1.9, whose place `muster operator` takes: for `make soak` and `script/bench --peers`.

    training_operator.py         build it from its Go module into the cache (once; minutes); prints its folder

It runs beside the cluster, not in a Pod. Its manager does nothing until its webhook has certificates: it writes them into
a Secret, and what a kubelet does is done here, it gets them as files, in a mount namespace of its own, because their place
is fixed. The API server never calls that webhook: it is registered for nothing.
"""

import base64
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import namespaces
import programs

PROGRAM = "training-operator"
MODULE = "github.com/kubeflow/training-operator"
VERSION = "v1.9.4"
NAMESPACE = "kubeflow"
SECRET = "training-operator-webhook-cert"
CERTIFICATES = "/tmp/k8s-webhook-server"
ACCOUNT = "/run/secrets/kubernetes.io/serviceaccount"
CRD = "kubeflow.org_tfjobs.yaml"


def folder():
    return programs.cache() / f"{PROGRAM}-{VERSION}"


def build(say):
    made = folder()
    return programs.once(made, lambda: _build_into(made, say))


def _build_into(made, say):
    with programs.workplace(made, say) as work:
        say(f"building {PROGRAM} {VERSION} into {made}: some minutes, once")
        go = programs.Go(work)
        go.build(PROGRAM, f"{MODULE}/cmd/training-operator.v1", VERSION)
        module = json.loads(go("mod", "download", "-json", f"{MODULE}@{VERSION}", folder=work))
        shutil.copy(pathlib.Path(module["Dir"]) / "manifests" / "base" / "crds" / CRD, work / "bin" / CRD)


def objects():
    """What its manifests make, as far as it cannot do without."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET, "namespace": NAMESPACE}}
    webhook = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
               "metadata": {"name": "validator.training-operator.kubeflow.org"}, "webhooks": []}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [namespace, secret, webhook]})


class TrainingOperator:
    """One that serves TFJobs, in whose network this process is; `kubectl` runs one and gives what it prints.

    What it takes for the namespace of its Pod, which has the Lease of --leader-elect, is `namespace`."""

    def __init__(self, environment, kubectl, log, *options, namespace=NAMESPACE):
        self.namespace = namespace
        os.makedirs(CERTIFICATES, exist_ok=True)
        kubectl("apply", "-f", "-", input=objects())
        # Metrics and the webhook have ports of their own, which tests/cluster uses for nothing.
        with open(log, "ab") as output:
            self.process = subprocess.Popen([folder() / PROGRAM, "--enable-scheme=tfjob", *options], env=environment,
                                            stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                            preexec_fn=self._hide_certificates)
        self.pid = self.process.pid
        kubectl("-n", NAMESPACE, "wait", f"secret/{SECRET}", "--for=jsonpath={.data.tls\\.key}", "--timeout=120s")
        secret = json.loads(kubectl("-n", NAMESPACE, "get", "secret", SECRET, "-o", "json"))
        self._mount(secret["data"])

    def _hide_certificates(self):
        namespaces.die_with_parent()
        namespaces.leave(namespaces.NEW_MOUNTS)
        namespaces.keep_mounts_private()
        namespaces.mount("tmpfs", CERTIFICATES)
        namespaces.mount("tmpfs", "/run")
        os.makedirs(ACCOUNT)
        pathlib.Path(ACCOUNT, "namespace").write_text(self.namespace)

    def _mount(self, data):
        """As a whole, because the manager looks for one of the files."""
        place = pathlib.Path(f"/proc/{self.pid}/root{CERTIFICATES}")
        (place / "coming").mkdir()
        for name, value in data.items():
            (place / "coming" / name).write_bytes(base64.b64decode(value))
        (place / "coming").rename(place / "serving-certs")

    def is_ready(self):
        """Its own word for it: the certificates are there, and the webhook listens."""
        assert self.process.poll() is None, f"training-operator ended: {self.process.returncode}"
        try:
            with urllib.request.urlopen("http://127.0.0.1:8081/readyz", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def end(self):
        """As the kubelet ends it."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


if __name__ == "__main__":
    try:
        print(build(lambda said: print(f"training-operator: {said}", file=sys.stderr, flush=True)))
    except programs.Trouble as trouble:
        sys.exit(f"training-operator: {trouble}")
