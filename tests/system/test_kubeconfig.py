"""Kubeconfigs as kubectl reads them: muster's reading is compared with `kubectl config view` for many made-up ones."""

import base64
import json
import os
import pathlib
import random
import subprocess

import kubectl
import pytest

from conftest import BINARY

PRINT = pathlib.Path(BINARY).parent / "tests" / "kube" / "print_kubeconfig"
PEM = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"
DATA = base64.b64encode(PEM.encode()).decode()
N_ROUNDS = 60


class Place:
    """A folder to read kubeconfigs in, with nothing around it that the caller's environment says."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("KUBE") and k != "POD_NAMESPACE"}
        self.environment["HOME"] = str(folder)

    def write(self, name, config):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(config if isinstance(config, str) else json.dumps(config))
        return path

    def run(self, *call, env=None):
        return subprocess.run(list(map(str, call)), cwd=self.folder, env={**self.environment, **(env or {})},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def read(self, context="", file="", env=None):
        done = self.run(PRINT, context, file, env=env)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def faults(self, context="", file="", env=None, code=2):
        done = self.run(PRINT, context, file, env=env)
        assert done.returncode == code, done.stdout + done.stderr
        assert done.stdout == ""
        return done.stderr.splitlines()


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def config(server="https://127.0.0.1:6443", cluster=None, user=None, context=None, name="here"):
    return {
        "apiVersion": "v1", "kind": "Config", "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": server, **(cluster or {})}}],
        "users": [{"name": name, "user": user or {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, **(context or {})}}],
    }


# What kubectl reads, and what we read


def some_of(dice, **choices):
    return {key.replace("_", "-"): dice.choice(values) for key, values in choices.items() if dice.random() < 0.4}


def one_file(dice, place, folder, key):
    """A field that names a file, which is made: absolute, or relative to the kubeconfig with detours."""
    path = folder / dice.choice(["pki", "pki/deep", "."]) / f"{key}.pem"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PEM + key)
    relative = os.path.relpath(path, folder)
    return dice.choice([str(path), relative, f"./{relative}", f"nowhere/../{relative}"])


def make_cluster(dice, place, folder):
    cluster = {"server": f"https://{dice.choice(['10.0.0.1', 'api.example', '[::1]'])}:{dice.randrange(1, 65536)}"
                         f"{dice.choice(['', '/k8s/clusters/c-1'])}"}
    cluster |= some_of(dice, tls_server_name=["kubernetes", "a.b"], disable_compression=[True, False],
                       proxy_url=["http://p:3128", "socks5://[::1]:1080", "https://u:w@p:1"])
    trust = dice.choice(["none", "data", "file", "insecure"])
    if trust == "data":
        cluster["certificate-authority-data"] = DATA
    elif trust == "file":
        cluster["certificate-authority"] = one_file(dice, place, folder, "ca")
    elif trust == "insecure":
        cluster["insecure-skip-tls-verify"] = True
    return cluster


def make_plugin(dice):
    version = dice.choice(["v1", "v1beta1"])
    plugin = {"apiVersion": f"client.authentication.k8s.io/{version}", "interactiveMode": dice.choice(
        ["Never", "IfAvailable", "Always"]), "provideClusterInfo": dice.choice([True, False]),
        "command": dice.choice(["aws", "./login", "/bin/login", "bin/login"])}
    if dice.random() < 0.5:
        plugin["args"] = ["eks", "get-token", "ü", ""]
    if dice.random() < 0.5:
        plugin["env"] = [{"name": "A", "value": "b=c"}, {"name": "EMPTY", "value": ""}]
    if dice.random() < 0.3:
        plugin["installHint"] = "get it\nfrom there"
    if version == "v1beta1" and dice.random() < 0.5:
        del plugin["interactiveMode"]
    return plugin


def make_user(dice, place, folder):
    user = {}
    way = dice.choice(["none", "token", "file", "both", "basic", "exec"])
    if way in ("token", "both"):
        user["token"] = dice.choice(["abc.def", "a: b", "007x", " padded "])
    if way in ("file", "both"):
        user["tokenFile"] = dice.choice(["token", "../token", "/run/token"])
    if way == "basic":
        user |= {"username": "ada", "password": "p#w"}
    if way == "exec":
        user["exec"] = make_plugin(dice)
    if dice.random() < 0.4:
        for key in ("client-certificate", "client-key"):
            if dice.random() < 0.5:
                user[f"{key}-data"] = DATA
            else:
                user[key] = one_file(dice, place, folder, key)
    if dice.random() < 0.3:
        user |= {"as": "eve", **some_of(dice, as_uid=["7"], as_groups=[["a", "b"], []],
                                        as_user_extra=[{"k.x/y": ["1", "2"], "z": ["3"]}])}
    return user


def make_file(dice, place, folder):
    """Some of few names, so that files overlap; the names that contexts use are in one file or another."""
    names = ["a", "b", "c.d", "e/f"]
    made = {"apiVersion": "v1", "kind": "Config"}
    if dice.random() < 0.7:
        made["current-context"] = dice.choice(["", *names])
    made["clusters"] = [{"name": name, "cluster": make_cluster(dice, place, folder)}
                        for name in names if dice.random() < 0.7]
    made["users"] = [{"name": name, "user": make_user(dice, place, folder)} for name in names if dice.random() < 0.7]
    made["contexts"] = [{"name": name, "context": {"cluster": dice.choice(names), "user": dice.choice(names),
                                                   **some_of(dice, namespace=["work", "default"])}}
                        for name in names if dice.random() < 0.7]
    for key in ("clusters", "users", "contexts"):
        dice.shuffle(made[key])
    return made


def expected(view, place, files):
    """What print_kubeconfig prints, made of what kubectl prints; it keeps some relative paths, which we complete."""
    context = view["contexts"][0]
    cluster = view["clusters"][0]["cluster"]
    user = (view["users"] or [{"user": {}}])[0]["user"]
    folder = next(path.parent for path, made in files
                  if any(item["name"] == context["context"]["user"] for item in made["users"]))
    cluster = {key: value for key, value in cluster.items() if value is not False}
    if "tokenFile" in user:
        user["tokenFile"] = os.path.normpath(folder / user["tokenFile"])
    plugin = user.get("exec")
    if plugin:
        plugin["args"] = plugin["args"] or []
        plugin["env"] = plugin["env"] or []
        plugin.setdefault("installHint", None)
        if plugin["installHint"] is None:
            del plugin["installHint"]
        if "/" in plugin["command"]:
            plugin["command"] = os.path.normpath(folder / plugin["command"])
    return {"current-context": view["current-context"], "namespace": context["context"].get("namespace", "default"),
            "cluster-name": context["context"]["cluster"], "user-name": context["context"]["user"],
            "cluster": cluster, "user": user}


@kubectl.needed
@pytest.mark.parametrize("seed", range(N_ROUNDS))
def test_made_up_kubeconfigs_are_read_as_kubectl_reads_them(place, seed):
    dice = random.Random(seed)
    files = []
    for number in range(dice.randrange(1, 4)):
        folder = place.folder / f"folder{number}"
        folder.mkdir()
        made = make_file(dice, place, folder)
        files.append((place.write(f"folder{number}/config", made), made))
    context = dice.choice(["", "a", "b", "c.d", "e/f"])
    names = [str(path) for path, _ in files]
    if dice.random() < 0.5:
        names.insert(dice.randrange(len(names) + 1), dice.choice(["/nowhere/config", "", names[0]]))
    env = {"KUBECONFIG": ":".join(names)}
    call = [kubectl.PROGRAM, "config", "view", "--raw", "--minify", "--flatten", "-o", "json"]
    view = place.run(*call, *(["--context", context] if context else []), env=env)
    if view.returncode:
        assert place.faults(context, env=env)  # no context, or one that is not there
        return
    view = json.loads(view.stdout)
    if not view["clusters"] or not view["users"]:
        assert "no kubeconfig defines this" in place.faults(context, env=env)[0]
        return
    assert place.read(context, env=env) == expected(view, place, files)


@kubectl.needed
def test_yaml_is_read_as_kubectl_reads_it(place):
    text = """
x: &anchor {server: "https://10.0.0.1"}
current-context: here
clusters:
- name: here
  cluster: {<<: *anchor, insecure-skip-tls-verify: yes, certificate-authority-data: }
contexts:
- {name: here, context: {cluster: here, user: here, namespace: '0755'}}
users:
- name: here
  user:
    token: |
      abc
"""
    env = {"KUBECONFIG": place.write("config", text)}
    view = json.loads(place.run(kubectl.PROGRAM, "config", "view", "--raw", "--minify", "-o", "json", env=env).stdout)
    ours = place.read(env=env)
    assert ours["cluster"] == view["clusters"][0]["cluster"]
    assert ours["user"] == view["users"][0]["user"] == {"token": "abc\n"}
    assert ours["namespace"] == view["contexts"][0]["context"]["namespace"] == "0755"


# Each of these is refused by kubectl too, before it calls anybody; the text is the beginning of our fault.
WRONG_CLUSTERS = {
    "both forms of authority": (
        {"certificate-authority": "ca.pem", "certificate-authority-data": DATA}, "certificate-authority"),
    "authority and none": (
        {"certificate-authority-data": DATA, "insecure-skip-tls-verify": True}, "insecure-skip-tls-verify"),
    "no PEM": ({"certificate-authority-data": "eA=="}, "certificate-authority-data"),
    "no base64": ({"certificate-authority-data": "?"}, "certificate-authority-data"),
    "another proxy": ({"proxy-url": "ftp://a"}, "proxy-url"),
    "a number": ({"tls-server-name": 5}, "tls-server-name"),
    "another protocol": ({"server": "ftp://10.0.0.1"}, "server"),
}
EXEC = {"command": "x", "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never"}
WRONG_USERS = {
    "both forms of certificate": (
        {"client-certificate": "c.pem", "client-certificate-data": DATA, "client-key-data": DATA},
        "client-certificate"),
    "a certificate without its key": ({"client-certificate-data": DATA}, "client-certificate-data"),
    "two ways": ({"token": "secret", "username": "ada", "password": "secret"}, "username"),
    "groups of nobody": ({"as-groups": ["a"]}, ""),
    "an old way": ({"auth-provider": {"name": "gcp"}}, "auth-provider"),
    "no mode": ({"exec": {key: EXEC[key] for key in ("command", "apiVersion")}}, "exec"),
    "another mode": ({"exec": {**EXEC, "interactiveMode": "Maybe"}}, "exec.interactiveMode"),
    "another version": ({"exec": {**EXEC, "apiVersion": "client.authentication.k8s.io/v1alpha1"}}, "exec.apiVersion"),
    "no command": ({"exec": {**EXEC, "command": ""}}, "exec"),
    "a number": ({"token": 5}, "token"),
}


@pytest.mark.parametrize("what", [*(("cluster", key) for key in WRONG_CLUSTERS),
                                  *(("user", key) for key in WRONG_USERS)], ids=" ".join)
def test_what_kubectl_refuses_is_refused_at_its_place(place, what):
    kind, key = what
    fields, fault = (WRONG_CLUSTERS if kind == "cluster" else WRONG_USERS)[key]
    file = place.write("config", json.dumps(config(**{kind: fields}), indent=1))
    place.write("ca.pem", PEM)
    place.write("c.pem", PEM)
    (line,) = place.faults(file=file)
    where, sentence = line.split(": ", 1)
    assert where.startswith(f"{file}:") and int(where.split(":")[-2]) > 1
    assert sentence.startswith(f"{kind}s[0].{kind}{'.' if fault else ''}{fault}")
    assert "secret" not in line
    if kubectl.PROGRAM.exists():
        done = place.run(kubectl.PROGRAM, "--kubeconfig", file, "get", "--raw", "/")
        assert done.returncode and "connection" not in done.stderr, done.stderr


def test_what_is_no_kubeconfig_is_told_of_all_files_at_once(place):
    place.write("one", "current-context: 5\nclusters: [{name: a, cluster: {server: https://a}}]\n")
    place.write("two", "kind: Pod\nusers: {}\n")
    place.write("three", "users:\n- name: [\n")
    faults = place.faults(env={"KUBECONFIG": "one:two:three"})
    assert [fault.split(":", 3)[:3] for fault in faults[:2]] == [["one", "1", "18"], ["two", "1", "7"]]
    assert faults[2].startswith("two:2:8: users: ")
    assert faults[3].startswith("three: line ")


USED = """
current-context: a
clusters: [{name: a, cluster: {server: https://a}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
"""


def test_no_secret_is_shown_by_a_fault(place):
    for text in (USED + "users: [{name: a, user: {token: *hunter2}}]",
                 '{"users": [{"name": "a", "user": {"token": "hunter2',
                 USED + "users: [{name: a, user: {client-key-data: hunter2}}]", USED + "users: [{name: a, user: hunter2}]",
                 '{"users":[{"name":"a","user":{"token":"\\z hunter2"}}]}',
                 USED + "users: [{name: a, user: {token: {hunter2: 1}}}]",
                 USED + "users:\n- name: a\n  user:\n   token: 'hunter2"):
        (fault,) = place.faults(file=place.write("config", text))
        assert "hunter2" not in fault and "no user" not in fault, text


def test_what_no_context_uses_may_be_wrong(place):
    text = USED + "users: [{name: a, user: {token: t}}, {name: b, user: {token: 5}}, {name: a, user: 7}, 8]"
    assert place.read(file=place.write("config", text))["user"] == {"token": "t"}


def test_what_is_missing_is_told_with_where_it_was_looked_for(place):
    assert place.faults(code=3) == [f"no cluster: no kubeconfig found (looked for: {place.folder}/.kube/config)"]
    assert place.faults(env={"KUBECONFIG": "/a:/b"}, code=3) == [
        "no cluster: no kubeconfig found (looked for: /a, /b)"]
    assert place.faults(file="/a") == ["kubeconfig: file '/a' not found"]
    assert place.faults(env={"KUBECONFIG": str(place.folder)})[0].startswith("kubeconfig: ")
    place.write(".kube/config", "")
    assert place.faults(code=3)[0].startswith("no cluster: the kubeconfig names no current context (")
    place.write(".kube/config", config() | {"current-context": None})
    assert place.faults()[0].startswith("no current context (contexts: here); ")
    assert place.faults()[0].endswith("; choose one: kubectl config use-context NAME")
    assert place.faults("there") == ["context 'there' not found in the kubeconfig (contexts: here)"]


def test_a_password_in_the_address_is_refused_and_not_shown(place):
    (fault,) = place.faults(file=place.write("config", config(server="https://ada:hunter2@10.0.0.1")))
    assert "clusters[0].cluster.server: it must not contain a user name or password" in fault and "hunter2" not in fault


def test_a_file_that_is_named_is_read_alone(place):
    place.write(".kube/config", config(server="https://home"))
    one, two = place.write("one", config(server="https://one")), place.write("two", config(server="https://two"))
    assert place.read()["cluster"]["server"] == "https://home"
    assert place.read(env={"KUBECONFIG": f"{one}:{two}"})["cluster"]["server"] == "https://one"
    assert place.read(file=two, env={"KUBECONFIG": str(one)})["cluster"]["server"] == "https://two"


def test_a_server_without_tls_is_shown_no_credential(place):
    secret = {"token": "secret", "as": "eve"}
    assert place.read(file=place.write("config", config("http://10.0.0.1", user=secret)))["user"] == {"as": "eve"}
    assert place.read(file=place.write("config", config("10.0.0.1:80", user=secret)))["cluster"] == {
        "server": "http://10.0.0.1:80"}
