"""Requests over HTTP through http/client, against a server that can be made to do anything (tests/fake_kube)."""

import base64
import gzip
import json
import os
import pathlib
import socket
import ssl
import subprocess
import threading
import warnings

import pytest

from conftest import BINARY, LIMIT, read_line
from http_server import HttpServer, tls_context

ASK = pathlib.Path(BINARY).parent / "tests" / "fake_kube" / "ask"
UNREACHABLE, LOST, REFUSED, INVALID, TOO_LARGE = -6, -5, -7, -1, -8


def ask(*arguments, env=None):
    """The lines that `ask` prints, in order."""
    done = subprocess.run([ASK, *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT, env=env)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def hello(exchange):
    exchange.answer(200, "hello")


def test_an_answer_comes_with_its_status_body_and_headers():
    def answer(exchange):
        exchange.answer(404, "nothing here", "Warning: one", "warning: two")

    with HttpServer(answer) as server:
        [got] = ask("--show-header", "Warning", server.url)
    assert (got["status"], got["body"], got["headers"], got["version"]) == (404, "nothing here", ["one", "two"], 1)
    assert got["retryAfter"] == -1


def test_method_headers_and_body_arrive_as_they_were_given():
    with HttpServer(hello) as server:
        ask("--method", "PATCH", "--header", "Content-Type: application/x", "--header", "X-One: 1",
            "--body", '{"a":1}', server.origin + "/p/a?q=1&r=%20")
        [exchange] = server.exchanges
    assert (exchange.method, exchange.target, exchange.body) == ("PATCH", "/p/a?q=1&r=%20", b'{"a":1}')
    assert exchange.headers["content-type"] == "application/x"
    assert exchange.headers["x-one"] == "1"
    assert exchange.headers["user-agent"] == "muster/test (linux)"
    assert "expect" not in exchange.headers


def test_nobody_is_sent_elsewhere_with_what_logs_in():
    with HttpServer(hello) as elsewhere:
        with HttpServer(lambda exchange: exchange.answer(307, "", f"Location: {elsewhere.url}")) as server:
            [got] = ask("--header", "Authorization: Bearer t", server.url)
        assert got["status"] == 307 and not elsewhere.exchanges


def test_a_delete_without_a_body_has_none():
    with HttpServer(hello) as server:
        ask("--method", "DELETE", server.url)
        [exchange] = server.exchanges
    assert exchange.method == "DELETE"
    assert not {"content-length", "content-type"} & set(exchange.headers)


def test_calls_one_after_the_other_share_a_connection():
    with HttpServer(hello) as server:
        assert len(ask("--in-turn", *[server.url] * 20)) == 20
        assert server.n_connections == 1


def test_what_a_kept_connection_lost_is_not_sent_again():
    """It may have been done. libcurl would send it once more by itself."""
    def answer(exchange):
        hello(exchange) if len(server.exchanges) == 1 else exchange.close()

    with HttpServer(answer) as server:
        first, second = ask("--in-turn", "--method", "POST", server.url, server.url)
        assert len(server.exchanges) == 2
    assert first["status"] == 200
    assert (second["code"], second["error"]) == (
        LOST, f"lost {server.origin}: it closed the connection without a response")


def test_more_calls_than_may_be_under_way_all_get_their_answer():
    lock, busy, most = threading.Lock(), 0, 0

    def answer(exchange):
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        exchange.server.all_there.wait(0.01)
        with lock:
            busy -= 1
        exchange.answer(200, exchange.path)

    with HttpServer(answer) as server:
        server.all_there = threading.Event()
        got = ask(*[f"{server.origin}/{i}" for i in range(300)])
    assert sorted(int(line["body"][1:]) for line in got) == list(range(300))
    assert all(line["body"] == f"/{line['index']}" for line in got)
    assert most <= 64


def test_a_compressed_answer_is_unpacked():
    def answer(exchange):
        assert exchange.headers["accept-encoding"] == "gzip"
        exchange.answer(200, gzip.compress(b"hello " * 1000), "Content-Encoding: gzip")

    with HttpServer(answer) as server:
        [got] = ask("--compressed", server.url)
    assert got["body"] == "hello " * 1000


@pytest.mark.parametrize("header, expected", [("Retry-After: 7", 7000), ("Retry-After: 0", 0),
                                              ("Retry-After: 9223372036854775807", 3162240000000),
                                              ("Retry-After: Wed, 21 Oct 2015 07:28:00 GMT", 0)])
def test_how_long_to_wait_is_told(header, expected):
    with HttpServer(lambda exchange: exchange.answer(429, "", header)) as server:
        [got] = ask(server.url)
    assert (got["status"], got["retryAfter"]) == (429, expected)


def test_an_answer_that_is_too_large_is_not_kept():
    def answer(exchange):
        exchange.answer(200, "x" * 100001 if exchange.path == "/large" else "x" * 100000)

    with HttpServer(answer) as server:
        large, fits = ask("--in-turn", "--limit", "100000", server.origin + "/large", server.origin + "/fits")
    assert large["code"] == TOO_LARGE
    assert large["error"] == f"the response of {server.origin} is larger than 100000 bytes"
    assert fits["size"] == 100000


def test_a_stream_comes_as_it_is_sent():
    first_was_seen = threading.Event()

    def answer(exchange):
        exchange.begin()
        exchange.chunk("one")
        assert first_was_seen.wait(LIMIT)
        exchange.chunk("two")
        exchange.end()

    with HttpServer(answer) as server:
        with subprocess.Popen([ASK, "--stream", server.url], stdout=subprocess.PIPE) as process:
            assert json.loads(read_line(process.stdout))["bytes"] == "one"
            first_was_seen.set()
            assert json.loads(read_line(process.stdout))["bytes"] == "two"
            assert json.loads(read_line(process.stdout))["status"] == 200


def test_what_is_no_stream_after_all_is_kept_in_memory():
    with HttpServer(lambda exchange: exchange.answer(410, "gone")) as server:
        [got] = ask("--stream", server.url)
    assert (got["status"], got["body"]) == (410, "gone")


def test_a_stream_can_be_cancelled_from_its_own_callback():
    def answer(exchange):
        exchange.begin()
        exchange.chunk("one")
        exchange.wait_for_the_end()

    with HttpServer(answer) as server:
        got = ask("--stream", "--cancel-after", "1", server.url)
    assert [line.get("bytes") for line in got] == ["one"]


def test_a_silent_stream_counts_as_lost():
    def answer(exchange):
        exchange.begin()
        exchange.chunk("one")
        exchange.wait_for_the_end()

    with HttpServer(answer) as server:
        lost = ask("--stream", "--silence", "300", server.url)[-1]
    assert lost["code"] == LOST
    assert lost["error"] == f"lost {server.origin}: no data for 300ms"


def test_a_call_without_an_answer_ends_in_time():
    with HttpServer(lambda exchange: exchange.wait_for_the_end()) as server:
        [got] = ask("--timeout", "1000", server.url)
    assert got["error"] == f"lost {server.origin}: no response in time"
    assert got["code"] == LOST


def test_a_port_where_nobody_listens_is_told():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    [got] = ask(f"http://127.0.0.1:{port}/secret?token=secret")
    assert got == {"index": 0, "code": UNREACHABLE,
                   "error": f"cannot reach http://127.0.0.1:{port}: connection refused"}


def test_a_name_that_nobody_knows_is_told():
    [got] = ask("https://name.invalid:6443/")
    assert got["error"] == "cannot reach https://name.invalid:6443: the host name cannot be resolved"


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "https://", "https://ada:secret@127.0.0.1/", "no url at all"])
def test_what_is_no_address_of_a_server_is_told_without_showing_it(url):
    [got] = ask(url)
    assert got["code"] == INVALID
    assert "http:// or https://" in got["error"]
    assert "secret" not in got["error"]


def test_a_header_cannot_smuggle_in_another_one():
    with HttpServer(hello) as server:
        [got] = ask("--header", "Authorization: Bearer secret\r\nX-Evil: 1", server.url)
        assert not server.exchanges
    assert got["code"] == INVALID
    assert "'Authorization'" in got["error"]
    assert "secret" not in got["error"]


def closes(exchange):
    exchange.close()


def cuts(exchange):
    exchange.begin()
    exchange.chunk("one")
    exchange.cut()


def half_a_chunk(exchange):
    exchange.begin()
    exchange.write("64\r\nonly a few bytes")
    exchange.close()


def too_few_bytes(exchange):
    exchange.head(200, "Content-Length: 100")
    exchange.write("only a few bytes")
    exchange.close()


@pytest.mark.parametrize("answer", [closes, cuts, half_a_chunk, too_few_bytes])
@pytest.mark.parametrize("kind", [[], ["--stream"]])
def test_a_connection_that_ends_too_early_is_an_error(answer, kind):
    with HttpServer(answer) as server:
        got = ask(*kind, server.url)[-1]
    assert got["code"] == LOST
    assert got["error"].startswith((f"lost {server.origin}: ", f"cannot reach {server.origin}: "))


def test_what_does_not_speak_http_is_told():
    def answer(exchange):
        exchange.write("SSH-2.0-OpenSSH_9.2\r\n")
        exchange.close()

    with HttpServer(answer) as server:
        [got] = ask(server.url)
    assert got["error"] in (f"cannot use {server.origin}: the URL is not http or https",
                            f"cannot understand {server.origin}: it does not speak HTTP")


# Trust


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """An authority, a server's certificate for 127.0.0.1 and api.example, a client's; another authority."""
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*arguments, **options):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=LIMIT, **options)

    def authority(name):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")

    def issue(name, extension):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
                "-keyout", f"{name}.key", "-out", f"{name}.request")
        (folder / f"{name}.extension").write_text(extension)
        openssl("x509", "-req", "-in", f"{name}.request", "-CA", "authority.pem", "-CAkey", "authority.key",
                "-CAcreateserial", "-days", "2", "-extfile", f"{name}.extension", "-out", f"{name}.pem")

    authority("authority")
    authority("another")
    issue("server", "subjectAltName=IP:127.0.0.1,DNS:api.example")
    issue("elsewhere", "subjectAltName=DNS:elsewhere.example")
    issue("client", "extendedKeyUsage=clientAuth")
    return folder


@pytest.fixture
def server_of(certificates):
    """Makes HTTPS servers that are closed with the test."""
    servers = []

    def make(name="server", client_authority=None):
        tls = tls_context(certificates / f"{name}.pem", certificates / f"{name}.key", client_authority)
        servers.append(HttpServer(hello, tls))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


def test_a_server_is_trusted_for_the_authority_that_was_given(certificates, server_of):
    [got] = ask("--authority", certificates / "authority.pem", server_of().url)
    assert got["body"] == "hello"


def test_a_server_of_another_authority_is_not_trusted(certificates, server_of):
    server = server_of()
    for options in (["--authority", certificates / "another.pem"], []):
        [got] = ask(*options, server.url)
        assert got["code"] == REFUSED
        assert got["error"].startswith(f"cannot verify the certificate of {server.origin}: ")
    assert not server.exchanges


def test_without_one_the_authorities_of_the_system_are_trusted(certificates, server_of):
    server = server_of()
    [got] = ask(server.url, env={**os.environ, "SSL_CERT_FILE": str(certificates / "authority.pem")})
    assert got["body"] == "hello"
    [got] = ask("--authority", certificates / "another.pem", server.url,
                env={**os.environ, "SSL_CERT_FILE": str(certificates / "authority.pem")})
    assert got["code"] == REFUSED


def test_a_certificate_for_another_name_is_not_trusted_unless_that_name_was_given(certificates, server_of):
    server = server_of("elsewhere")
    [got] = ask("--authority", certificates / "authority.pem", server.url)
    assert got["code"] == REFUSED
    [got] = ask("--authority", certificates / "authority.pem", "--server-name", "elsewhere.example", server.url)
    assert got["body"] == "hello"
    assert server.exchanges[-1].headers["host"] == f"127.0.0.1:{server.port}"


def test_tls_before_1_2_is_not_spoken_where_the_machine_allows_it(certificates, tmp_path):
    tls = tls_context(certificates / "server.pem", certificates / "server.key")
    tls.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings(action="ignore"):
        tls.minimum_version = tls.maximum_version = ssl.TLSVersion.TLSv1_1
    (tmp_path / "openssl.cnf").write_text("openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = tls\n"
                                          "[tls]\nMinProtocol = TLSv1\nCipherString = ALL:@SECLEVEL=0\n")
    with HttpServer(hello, tls) as server:
        [got] = ask("--authority", certificates / "authority.pem", server.url,
                    env={**os.environ, "OPENSSL_CONF": str(tmp_path / "openssl.cnf")})
        assert not server.exchanges
    assert "body" not in got and "rotocol" in got["error"]


def test_any_certificate_is_taken_when_that_was_said(server_of):
    [got] = ask("--skip-verify", server_of("elsewhere").url)
    assert got["body"] == "hello"


def test_a_client_shows_its_certificate(certificates, server_of):
    server = server_of(client_authority=certificates / "authority.pem")
    [got] = ask("--authority", certificates / "authority.pem", "--certificate", certificates / "client.pem",
                "--key", certificates / "client.key", server.url)
    assert got["body"] == "hello"
    [got] = ask("--authority", certificates / "authority.pem", server.url)
    assert got["code"] == REFUSED
    assert got["error"].startswith(f"rejected by {server.origin}: ")
    assert "certificate required" in got["error"]


def test_a_key_that_does_not_belong_to_the_certificate_is_told(certificates, server_of):
    server = server_of(client_authority=certificates / "authority.pem")
    [got] = ask("--authority", certificates / "authority.pem", "--certificate", certificates / "client.pem",
                "--key", certificates / "server.key", server.url)
    assert got["code"] == INVALID
    assert got["error"].startswith(f"cannot log in at {server.origin}: the client certificate or its key")
    assert "BEGIN" not in got["error"]


def test_a_server_without_tls_is_told():
    with HttpServer(hello) as server:
        [got] = ask(server.url.replace("http:", "https:"))
    assert got["code"] == UNREACHABLE
    assert got["error"].endswith("it does not speak TLS; perhaps its address begins with http://, or it was started with --insecure")


# Proxies


def test_a_proxy_that_is_given_is_asked_whatever_the_environment_says():
    with HttpServer(hello) as proxy:
        [got] = ask("--proxy", proxy.url, "http://name.invalid/path", env={"NO_PROXY": "*"})
        assert got["body"] == "hello"
        assert proxy.exchanges[0].target == "http://name.invalid/path"


def test_the_environments_proxy_is_asked_but_not_for_this_machine():
    with HttpServer(hello) as proxy, HttpServer(lambda exchange: exchange.answer(200, "itself")) as server:
        environment = {"http_proxy": proxy.url, "all_proxy": proxy.url}
        away, here = ask("--in-turn", "http://name.invalid/", server.url, env=environment)
    assert (away["body"], here["body"]) == ("hello", "itself")


def test_a_proxys_password_is_sent_and_never_shown():
    def refuse(exchange):
        exchange.answer(407, "")

    with HttpServer(refuse) as proxy:
        address = proxy.url.replace("http://", "http://ada:secret@")
        [got] = ask("--proxy", address, "https://name.invalid/")
        assert base64.b64decode(proxy.exchanges[0].headers["proxy-authorization"].split()[1]) == b"ada:secret"
    assert got["code"] == UNREACHABLE
    assert "407" in got["error"]
    assert "secret" not in got["error"]
