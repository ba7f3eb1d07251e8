"""muster's own client of the Kubernetes API (kube/api, kube/mirror) against the real thing; kubectl is the oracle."""

import base64
import contextlib
import json
import os
import pathlib
import select
import subprocess

import pytest

from conftest import LIMIT, ROOT, SCRIPT, simulated_pod

PROGRAMS = pathlib.Path(os.environ.get("MUSTER_BINARY", ROOT / "build" / "muster")).parent / "tests" / "fake_kube"
REFUSED = -7


@pytest.fixture
def login(cluster, tmp_path):
    """Where the server is, and the files of the administrator: authority, certificate, key."""
    config = json.loads(cluster.kubeconfig.read_text())
    where, who = config["clusters"][0]["cluster"], config["users"][0]["user"]
    for name, given in [("authority", (where, "certificate-authority")), ("certificate", (who, "client-certificate")),
                        ("key", (who, "client-key"))]:
        section, key = given
        inline = section.get(f"{key}-data")
        data = base64.b64decode(inline) if inline else pathlib.Path(section[key]).read_bytes()
        (tmp_path / name).write_bytes(data)
    return where["server"], *[tmp_path / name for name in ("authority", "certificate", "key")]


@pytest.fixture
def ask(login, namespace):
    """One call as the administrator, or with another credential; gives the lines that it prints."""
    def call(*arguments, body=None, credential=None):
        server, authority, certificate, key = login
        words = [PROGRAMS / "kube_ask", server, "--authority", authority, "--namespace", namespace.name]
        words += credential or ["--certificate", certificate, "--key", key]
        words += ["--body", json.dumps(body)] if body else []
        done = subprocess.run([*words, *arguments], capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]
    return call


@contextlib.contextmanager
def mirroring(login, namespace):
    """A mirror of the namespace's Pods; gives a function that waits until it shows what is expected, and what it told."""
    server, *files = login
    process = subprocess.Popen([PROGRAMS / "kube_mirror", server, *files, namespace.name], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    phases, told, rest = {}, [], b""

    def until(condition):
        nonlocal rest
        while not condition(phases, told):
            assert select.select([process.stdout], [], [], LIMIT)[0], (phases, told)
            rest += os.read(process.stdout.fileno(), 65536)
            *lines, rest = rest.split(b"\n")
            for line in map(json.loads, lines):
                told.append(line)
                if "name" in line:
                    phases[line["name"]] = line["phase"]

    try:
        yield until
    finally:
        process.stdin.close()
        assert process.wait(LIMIT) == 0
        process.stdout.close()


def test_what_is_created_changed_and_deleted_is_what_kubectl_sees(ask, namespace):
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "1"}}
    assert ask("create", "/v1/configmaps", body=settings)[0]["code"] == 201
    assert ask("create", "/v1/configmaps", body=settings)[0]["reason"] == "AlreadyExists"
    assert ask("patch", "/v1/configmaps", "settings", body={"data": {"b": "2"}})[0]["code"] == 200
    assert namespace.get("configmap", "settings")["data"] == {"a": "1", "b": "2"}
    assert ask("delete", "/v1/configmaps", "settings")[0]["code"] == 200
    namespace.kubectl("get", "configmap", "settings", code=1)


def test_who_applies_against_somebody_else_is_told_whom(ask, namespace):
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "1"}}
    namespace.kubectl("apply", "--server-side", "--field-manager=ada", "-f", "-", input=json.dumps(settings))
    settings["data"]["a"] = "2"
    apply = ["apply", "/v1/configmaps", "settings"]
    [refused] = ask("--parameter", "fieldManager=muster", *apply, body=settings)
    assert refused["reason"] == "Conflict" and '"ada"' in refused["error"]
    [done] = ask("--parameter", "fieldManager=muster", "--parameter", "force=true", *apply, body=settings)
    assert done["object"]["data"] == {"a": "2"}


def test_the_rule_that_is_named_is_the_one_that_helps(ask, namespace):
    token = ["--token", namespace.kubectl("create", "token", "default").strip()]
    [refused] = ask("list", "/v1/pods", credential=token)
    assert refused["errorCode"] == REFUSED
    assert refused["error"].endswith('; add this rule to a Role there: {apiGroups: [""], resources: ["pods"], '
                                     'verbs: ["list"]}')
    namespace.kubectl("create", "role", "reader", "--verb=list", "--resource=pods")
    namespace.kubectl("create", "rolebinding", "reader", "--role=reader", f"--serviceaccount={namespace.name}:default")
    namespace.until_account_may("list", "pods")
    [allowed] = ask("list", "/v1/pods", credential=token)
    assert allowed["object"]["kind"] == "PodList"
    [unknown] = ask("list", "/v1/pods", credential=["--token", "no token of theirs"])
    assert unknown["errorCode"] == REFUSED


def test_short_calls_speak_http_2(login):
    server, authority, certificate, key = login
    done = subprocess.run([PROGRAMS / "ask", "--authority", authority, "--certificate", certificate, "--key", key,
                           *[f"{server}/version"] * 200], capture_output=True, text=True, timeout=LIMIT)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(answer["status"], answer["version"]) for answer in answers] == [(200, 2)] * 200


@pytest.mark.disturbs
def test_a_mirror_follows_pods_and_outlives_the_api_server(cluster, login, namespace):
    namespace.create(simulated_pod("first"), simulated_pod("second", run_for="100ms"))
    with mirroring(login, namespace) as until:
        until(lambda phases, told: any("synced" in line for line in told))
        until(lambda phases, _: phases.get("first") == "Running" and phases.get("second") == "Succeeded")
        namespace.kubectl("delete", "pod", "first", "--wait=false")
        until(lambda phases, _: phases["first"] is None)
        subprocess.run([SCRIPT, "kill", "kube-apiserver"], check=True, env=cluster.environment, timeout=LIMIT)
        until(lambda _, told: any("trouble" in line for line in told))
        cluster.until_it_answers()
        namespace.create(simulated_pod("third"))
        until(lambda phases, _: phases.get("third") == "Running")
