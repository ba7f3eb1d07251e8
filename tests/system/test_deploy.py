"""The manifests of deploy/: what they create is confined. The cluster tests apply them."""

import re

import pytest

from conftest import ROOT

pytestmark = pytest.mark.unsanitized

LEVELS = {"operator.yaml": "restricted", "serve/serve.yaml": "baseline"}  # images of serve's clients may run as root


def manifest(name, kind):
    found, = [text for text in (ROOT / "deploy" / name).read_text().split("\n---\n") if re.search(rf"^kind: {kind}$", text, re.MULTILINE)]
    return found


@pytest.mark.parametrize("name", LEVELS)
def test_the_namespace_enforces_a_pod_security_level(name):
    assert re.search(r"pod-security\.kubernetes\.io/enforce: (\w+)", manifest(name, "Namespace"))[1] == LEVELS[name]


@pytest.mark.parametrize("name", LEVELS)
def test_the_deployment_passes_the_level_restricted(name):
    deployment = manifest(name, "Deployment")
    assert "securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}" in deployment
    for word in ("allowPrivilegeEscalation: false", "capabilities: {drop: [ALL]}"):
        assert deployment.count(word) == len(re.findall(r"^ +image:", deployment, re.MULTILINE)) == 1
    assert not re.search(r"host(Path|Port|Network|PID|IPC)", deployment)
