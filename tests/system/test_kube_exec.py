"""Commands in Pods through pods/exec, against a fake API server (tests/fake_kube) that does what a real one cannot be
made to do. What it says in order was seen at kube-apiserver 1.36."""

import json
import os
import pathlib
import subprocess
import urllib.parse

import pytest

from conftest import BINARY, LIMIT
from http_server import HttpServer, make_certificate, tls_context
from websocket_server import accept, close, frame, read_frame

RUN = pathlib.Path(BINARY).parent / "tests" / "kube" / "run_in_pod"
FAILED = 125
V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"
INPUT, OUTPUT, ERROR_OUTPUT, STATUS, END = b"\x00", b"\x01", b"\x02", b"\x03", b"\xff"
SUCCESS = STATUS + b'{"metadata":{},"status":"Success"}'


def failure(code):
    return STATUS + json.dumps({"status": "Failure", "reason": "NonZeroExitCode", "message": "command terminated",
                                "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]}}).encode()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def run(tmp_path, certificate):
    """Runs run_in_pod against an answer; gives what it did, and the requests that the server got."""
    def begin(answer, *arguments, stdin=b"", user=None):
        with HttpServer(answer, tls_context(*certificate)) as server:
            cluster = {"server": server.origin, "certificate-authority": str(certificate[0])}
            config = {"clusters": [{"name": "c", "cluster": cluster}],
                      "users": [{"name": "u", "user": user or {"token": "secret"}}],
                      "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "team"}}],
                      "current-context": "x"}
            (tmp_path / "config").write_text(json.dumps(config))
            done = subprocess.run([RUN, *arguments], input=stdin, capture_output=True, timeout=LIMIT,
                                  env={**os.environ, "KUBECONFIG": str(tmp_path / "config")})
            return done, list(server.exchanges)
    return begin


def say(exchange, *messages, protocol=V5):
    accept(exchange, protocol)
    for message in messages:
        exchange.write(frame(message))


def refuse(exchange, code, reason, message):
    exchange.answer(code, {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message})


def test_a_command_is_asked_for_as_kubectl_does(run):
    def answer(exchange):
        say(exchange, OUTPUT, OUTPUT + b"out\n", ERROR_OUTPUT + b"err\n", failure(3))
        close(exchange)

    done, [exchange] = run(answer, "--container", "main", "worker-0", "sh", "-c", "a b&c=ü")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"out\n", b"err\n")
    assert exchange.path == "/api/v1/namespaces/team/pods/worker-0/exec"
    assert urllib.parse.parse_qsl(urllib.parse.urlsplit(exchange.target).query) == [
        ("command", "sh"), ("command", "-c"), ("command", "a b&c=ü"), ("container", "main"), ("stdout", "true"),
        ("stderr", "true")]
    assert exchange.headers["sec-websocket-protocol"] == f"{V5}, {V4}"
    assert exchange.headers["authorization"] == "Bearer secret"
    assert exchange.headers["user-agent"].startswith("muster/")


def test_a_terminal_has_one_output_and_attach_no_command(run):
    def answer(exchange):
        say(exchange, SUCCESS)
        close(exchange)

    done, [exchange] = run(answer, "--terminal", "--stdin", "worker-0")
    assert done.returncode == 0
    assert exchange.path == "/api/v1/namespaces/team/pods/worker-0/attach"
    assert exchange.query == {"stdin": "true", "stdout": "true", "tty": "true"}


def test_input_goes_to_its_end(run):
    sent = bytes(range(256)) * 4096
    got = []

    def answer(exchange):
        say(exchange)
        while (message := read_frame(exchange)[1])[:1] == INPUT:
            got.append(message[1:])
        assert message == END + INPUT
        exchange.write(frame(OUTPUT + b"%d" % len(b"".join(got))) + frame(SUCCESS))
        close(exchange)

    done, _ = run(answer, "--stdin", "worker-0", "wc", "-c", stdin=sent)
    assert (done.returncode, done.stdout) == (0, b"%d" % len(sent))
    assert b"".join(got) == sent
    assert max(map(len, got)) <= 32 * 1024


def test_an_older_server_cannot_end_the_input_and_that_is_said(run):
    def answer(exchange):
        say(exchange, protocol=V4)
        assert read_frame(exchange)[1] == INPUT + b"hello"
        exchange.write(frame(OUTPUT + b"hello") + frame(SUCCESS))
        close(exchange)

    done, _ = run(answer, "--stdin", "worker-0", "cat", stdin=b"hello")
    assert (done.returncode, done.stdout) == (0, b"hello")
    assert done.stderr == (b"run_in_pod: this server cannot close the standard input of a command; "
                           b"Kubernetes supports it since version 1.30\n")


def test_the_status_counts_however_the_connection_ends_and_outputs_behind_it_too(run):
    def answer(exchange):
        say(exchange, failure(7), OUTPUT + b"late")

    done, _ = run(answer, "worker-0", "true")
    assert (done.returncode, done.stdout) == (7, b"late")


@pytest.mark.parametrize("ending", [b"", frame(b"\x03\xe8", 8), frame(OUTPUT + b"half", length=100)])
def test_without_a_status_nobody_knows_how_it_went_on(run, ending):
    def answer(exchange):
        say(exchange, OUTPUT + b"started")
        exchange.write(ending)

    done, exchanges = run(answer, "worker-0", "true")
    assert (done.returncode, done.stdout) == (FAILED, b"started")
    assert b"lost" in done.stderr and b"secret" not in done.stderr
    assert len(exchanges) == 1, "a command that may have run is not run twice"


@pytest.mark.parametrize("wrong", [b"", END, STATUS + b"<html>"])
def test_what_is_not_to_be_understood_is_an_error(run, wrong):
    def answer(exchange):
        say(exchange, wrong)
        close(exchange)

    done, _ = run(answer, "worker-0", "true")
    assert done.returncode == FAILED and done.stderr


def test_a_sub_protocol_that_nobody_asked_for_is_an_error(run):
    done, _ = run(lambda exchange: say(exchange, protocol="channel.k8s.io"), "worker-0", "true")
    assert done.returncode == FAILED
    assert b"it chose a subprotocol that was not requested" in done.stderr


def test_a_server_that_chooses_none_is_too_old(run):
    def answer(exchange):
        say(exchange, protocol=None)
        close(exchange)

    done, _ = run(answer, "worker-0", "true")
    assert done.returncode == FAILED
    assert done.stderr == b"run_in_pod: the server only supports protocols older than v4.channel.k8s.io for commands\n"


def test_refusals_are_those_of_any_call(run):
    done, exchanges = run(lambda exchange: refuse(exchange, 404, "NotFound", 'pods "worker-0" not found'), "worker-0",
                          "true")
    assert done.returncode == FAILED and b'pods "worker-0" not found' in done.stderr
    done, exchanges = run(lambda exchange: refuse(exchange, 500, "InternalError", "broken"), "worker-0", "true")
    assert done.returncode == FAILED and b"broken" in done.stderr
    assert len(exchanges) == 1, "a command that may have run is not run twice"


def test_a_token_that_was_refused_is_read_again(run, tmp_path):
    (tmp_path / "token").write_text("old")

    def answer(exchange):
        if exchange.headers["authorization"] == "Bearer old":
            (tmp_path / "token").write_text("new")
            refuse(exchange, 401, "Unauthorized", "Unauthorized")
        else:
            say(exchange, SUCCESS)
            close(exchange)

    done, exchanges = run(answer, "worker-0", "true", user={"tokenFile": str(tmp_path / "token")})
    assert done.returncode == 0, done.stderr
    assert [exchange.headers["authorization"] for exchange in exchanges] == ["Bearer old", "Bearer new"]
