"""Every way to log in, at a real API server: it takes us for whom it takes kubectl for."""

import base64
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("MUSTER_BINARY", str(ROOT / "build" / "muster"))
WHO_AM_I = pathlib.Path(BINARY).parent / "tests" / "kube" / "who_am_i"
EXEC = {"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never"}


class Login:
    """A kubeconfig for the cluster, whose user and cluster a test changes."""

    def __init__(self, namespace, folder):
        self.namespace = namespace
        self.folder = folder
        view = namespace.cluster.kubectl("config", "view", "--raw", "--minify", "--flatten", "-o", "json")
        self.config = json.loads(view)
        self.config["contexts"][0]["context"]["namespace"] = namespace.name
        self.environment = namespace.cluster.environment
        self.cluster = self.config["clusters"][0]["cluster"]
        self.admin = self.config["users"][0]["user"]

    def use(self, user, **cluster):
        self.config["users"][0]["user"] = user
        for key, value in cluster.items():
            self.cluster[key.replace("_", "-")] = value
        path = self.folder / "config"
        path.write_text(json.dumps(self.config))
        self.environment = {**self.namespace.cluster.environment, "KUBECONFIG": str(path)}

    def ask(self, times=1, code=0):
        """Whom the server takes us for, a line for each time; or the sentence why it does not."""
        done = subprocess.run([WHO_AM_I, str(times)], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr if code else [json.loads(line) for line in done.stdout.splitlines()]

    def assert_same_as_kubectl(self):
        done = subprocess.run(["kubectl", "auth", "whoami", "-o", "json"], env=self.environment, check=True,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        (ours,) = self.ask()
        assert ours == json.loads(done.stdout)["status"]
        return ours["userInfo"]

    def token(self):
        return self.namespace.kubectl("create", "token", "default").strip()

    def plugin(self, script):
        """A plug-in of the kubeconfig, which notes each of its runs."""
        path = self.folder / "plugin"
        path.write_text(f"#!/bin/sh\ncd {self.folder}\necho run >>runs\n{script}\n")
        path.chmod(0o755)
        return {"exec": {**EXEC, "command": "./plugin"}}

    def n_runs(self):
        return len((self.folder / "runs").read_text().splitlines())


@pytest.fixture
def login(namespace, tmp_path):
    return Login(namespace, tmp_path)


def answer(**status):
    return json.dumps({"kind": "ExecCredential", "apiVersion": EXEC["apiVersion"], "status": status})


def test_a_certificate(login):
    login.use(login.admin)
    assert login.assert_same_as_kubectl()["username"] == "admin"


def test_certificates_in_files(login):
    user, cluster = {}, {}
    for key, fields, into in (("client-certificate", login.admin, user), ("client-key", login.admin, user),
                              ("certificate-authority", login.cluster, cluster)):
        (login.folder / key).write_bytes(base64.b64decode(fields.pop(f"{key}-data")))
        into[key] = key
    login.use(user, **cluster)
    assert login.assert_same_as_kubectl()["username"] == "admin"


def test_a_token(login):
    login.use({"token": login.token()})
    assert login.assert_same_as_kubectl()["username"].endswith(":default")


def test_a_token_in_a_file(login):
    (login.folder / "token").write_text(login.token() + "\n")
    login.use({"tokenFile": "token"})
    assert login.assert_same_as_kubectl()["username"].endswith(":default")


def test_somebody_else(login):
    login.use({**login.admin, "as": "eve", "as-uid": "7", "as-groups": ["a", "b"],
               "as-user-extra": {"k.x/y": ["1", "2"]}})
    assert login.assert_same_as_kubectl()["extra"] == {"k.x/y": ["1", "2"]}


def test_a_plugin_with_a_token_is_asked_once_for_many_calls(login):
    (login.folder / "answer").write_text(answer(token=login.token(), expirationTimestamp="2099-01-01T00:00:00Z"))
    login.use(login.plugin("cat answer"))
    assert len(login.ask(times=5)) == 5
    assert login.n_runs() == 1
    login.assert_same_as_kubectl()


def test_a_plugin_with_a_certificate(login):
    certificate, key = (base64.b64decode(login.admin[f"client-{part}-data"]).decode()
                        for part in ("certificate", "key"))
    (login.folder / "answer").write_text(answer(clientCertificateData=certificate, clientKeyData=key))
    login.use(login.plugin("cat answer"))
    assert login.assert_same_as_kubectl()["username"] == "admin"


def test_a_plugin_is_asked_again_when_the_server_refuses(login):
    (login.folder / "old").write_text(answer(token="old"))
    (login.folder / "new").write_text(answer(token=login.token()))
    login.use(login.plugin("if [ -e asked ]; then cat new; else touch asked; cat old; fi"))
    assert login.ask()[0]["userInfo"]["username"].endswith(":default")
    assert login.n_runs() == 2


def test_a_token_that_is_wrong_is_refused_and_not_shown(login):
    login.use({"token": "hunter2"})
    assert "401" in (sentence := login.ask(code=4))
    assert "hunter2" not in sentence


def test_a_server_that_is_not_there_is_told(login):
    login.use(login.admin, server="https://127.0.0.1:1")
    assert login.ask(code=3) == "cannot reach https://127.0.0.1:1: connection refused\n"


def test_the_name_of_the_server_counts_unless_nothing_is_checked(login):
    login.use(login.admin, tls_server_name="somebody.else")
    assert "somebody.else" in login.ask(code=4)
    del login.cluster["certificate-authority-data"]
    login.use(login.admin, insecure_skip_tls_verify=True)
    login.assert_same_as_kubectl()


# A kubeconfig of no use: `muster run` says one sentence, ends with 2 (it is to be mended) or 3, and makes nothing


@pytest.fixture
def made(namespace):
    """Lists all that is there of what a run could make."""
    def names():
        return sorted(namespace.kubectl("get", "all,configmap,secret,lease", "-o", "name").split())

    return names


@pytest.fixture
def refuse(muster, login, made):
    """Runs with the login's kubeconfig (another, if `kubeconfig` says so); gives the sentence."""
    before = made()

    def run(*options, code, kubeconfig=None):
        env = {"KUBECONFIG": kubeconfig or login.environment["KUBECONFIG"]}
        done = muster("run", "--on", "kubernetes", *options, "--image", "localhost/busybox:test", "--", "true", env=env,
                      code=code)
        assert (done.stdout, done.stderr.count("\n")) == ("", 1), done.stderr
        assert made() == before
        return done.stderr.strip()

    return run


def test_no_kubeconfig_at_all(refuse, tmp_path):
    assert "no kubeconfig" in refuse(code=3, kubeconfig=tmp_path / "nowhere")


def test_a_kubeconfig_that_a_call_names_and_is_not_there(refuse, tmp_path):
    path = tmp_path / "nowhere"
    assert str(path) in refuse("--kubeconfig", path, code=2)


@pytest.mark.parametrize("text", ["{", "clusters: 7\n", "kind: Pod\n", "\0"])
def test_a_kubeconfig_that_is_none(refuse, tmp_path, text):
    path = tmp_path / "broken"
    path.write_text(text)
    assert str(path) in refuse(code=2, kubeconfig=path)


def test_a_context_that_is_not_there(refuse, login):
    login.use(login.admin)
    assert "'elsewhere'" in refuse("--context", "elsewhere", code=2)


def test_a_certificate_that_has_ended(refuse, login, tmp_path):
    ended = ["openssl", "x509", "-req", "-days", "-1", "-CA", "ca.crt", "-CAkey", "ca.key", "-in", tmp_path / "request",
             "-out", tmp_path / "ended"]
    subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", "/CN=late", "-keyout", tmp_path / "key", "-out", tmp_path / "request"],
                   check=True, capture_output=True)
    subprocess.run(ended, cwd=login.namespace.cluster.folder / "keys", check=True, capture_output=True)
    login.use({"client-certificate": str(tmp_path / "ended"), "client-key": str(tmp_path / "key")})
    assert "the client certificate expired at" in refuse(code=3)


def test_a_token_that_has_ended(refuse, login):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    login.use({"token": f"{part({'alg': 'none'})}.{part({'exp': 1000000000})}.hunter2"})
    sentence = refuse(code=3)
    assert "the token expired at" in sentence
    assert "hunter2" not in sentence


def test_a_token_that_is_wrong(refuse, login):
    login.use({"token": "hunter2"})
    sentence = refuse(code=3)
    assert sentence == ("muster: authentication failed (401): "
                        "the token or client certificate is invalid or has expired")
    assert "hunter2" not in sentence


def test_a_plugin_that_is_not_there(refuse, login):
    login.use({"exec": {**EXEC, "command": "./no-such-plugin", "installHint": "get it from there"}})
    assert "get it from there" in refuse(code=3)


def test_nobody_s_rights(refuse, login):
    login.use({"token": login.token()})
    assert refuse(code=3) == (
        f"muster: cannot create configmaps in namespace '{login.namespace.name}': permission denied; "
        'add this rule to a Role there: {apiGroups: ["", "coordination.k8s.io", "networking.k8s.io"], '
        'resources: ["configmaps", "services", "pods", "pods/log", "leases", "networkpolicies"], '
        'verbs: ["create", "get", "list", "watch", "patch", "delete"]}; '
        'or use --no-network-policy, which needs no rights on networkpolicies')


@pytest.mark.parametrize(("server", "why"), [("https://127.0.0.1:1", "connection refused"),
                                             ("https://no-such-host.invalid", "the host name cannot be resolved")])
def test_a_server_that_is_nowhere(refuse, login, server, why):
    login.use(login.admin, server=server)
    assert refuse(code=3) == f"muster: cannot reach {server}: {why}"


def test_a_server_of_another_authority(refuse, login):
    del login.cluster["certificate-authority-data"]
    login.use(login.admin)
    assert "cannot verify the certificate of" in refuse(code=3)


def test_a_server_that_is_no_api_server(refuse, login):
    login.use(login.admin, server="http://127.0.0.1:2379")
    refuse(code=2)


def test_a_namespace_that_is_not_there(refuse, login):
    login.use(login.admin)
    assert "elsewhere" in refuse("--namespace", "elsewhere", code=2)


def test_a_right_to_the_job_but_not_to_its_pods(refuse, login):
    namespace = login.namespace
    namespace.kubectl("create", "role", "half", "--verb=*", 
                      "--resource=configmaps,services,leases.coordination.k8s.io,networkpolicies.networking.k8s.io")
    namespace.kubectl("create", "rolebinding", "half", "--role=half", f"--serviceaccount={namespace.name}:default")
    namespace.until_account_may("create", "configmaps")
    login.use({"token": login.token()})
    assert refuse(code=3).endswith('add this rule to a Role there: {apiGroups: [""], resources: ["pods", "pods/log"], '
                                   'verbs: ["create", "list", "watch", "delete", "get"]}')
