"""`muster serve`: a request that creates or deletes a job is not a browser's."""

import http.client
import re

import pytest

from conftest import LIMIT, read_until
from http_server import HttpServer
from test_jobs_elsewhere import write_kubeconfig

CREATE = "/create?strategy=AllReduce&n_worker=1&img=localhost/image&name=test&server=muster"


@pytest.fixture
def master(muster, tmp_path):
    """Asks for (method, path, headers), and gives the status; its cluster knows nothing."""
    with HttpServer(lambda exchange: exchange.answer(404, "{}")) as cluster:
        config = write_kubeconfig(tmp_path / "kubeconfig", cluster.origin)
        serve = muster.start("serve", "--kubeconfig", config, "--listen", "127.0.0.1:0", "--image", "localhost/muster")
        port = int(re.search(r":(\d+)/create", read_until(serve.stderr, "are created at")[-1])[1])

        def ask(method, path, **headers):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
            connection.request(method, path, headers={"Authorization": f"Bearer {muster.token()}"} | headers)
            return connection.getresponse().status

        ask.created = lambda: [exchange for exchange in cluster.exchanges if exchange.method != "GET"]
        yield ask


def test_a_browser_creates_and_deletes_nothing(master, browser_header):
    for method, path in (("GET", CREATE), ("DELETE", "/jobs/test")):
        assert master(method, path, **browser_header | {"Host": "localhost"}) == 403
    for host in ("[::ffff:7f00:1]:7897", "0.0.0.0:7897", "[::]"):
        assert master("GET", CREATE, Host=host) == 421
    assert not master.created()
    assert master("GET", CREATE) == 404  # the answer of the cluster
    assert [exchange.method for exchange in master.created()] == ["POST"]


def test_on_an_address_of_other_machines_it_has_the_key_of_the_token(muster, tmp_path):
    with HttpServer(lambda exchange: exchange.answer(404, "{}")) as cluster:
        config = write_kubeconfig(tmp_path / "kubeconfig", cluster.origin)
        (tmp_path / "shared").write_text("0123456789abcdef" * 4)
        (tmp_path / "shared").chmod(0o600)
        for options in ((), ("--token-file", "shared")):
            serve = muster.start("serve", "--kubeconfig", config, "--listen", "0.0.0.0:0", "--image", "localhost/muster", *options)
            line = read_until(serve.stderr, "are created at")[-1]
            call = ("compat", "elasticdl-client", "--master", f"https://127.0.0.1:{re.search(r'https://0.0.0.0:([0-9]+)/create', line)[1]}",
                    "--strategy", "AllReduce", "--image", "a", "--task", "test")
            before = len(cluster.exchanges)
            muster(*call, *options, code=2)  # the cluster's answer
            assert [exchange.method for exchange in cluster.exchanges[before:]].count("POST") == 1
            assert "cannot verify the certificate" in muster(*call, env={"XDG_CONFIG_HOME": tmp_path / "elsewhere"}, code=4).stderr
        assert "its key is not the pinned one; give the token of the master: --token-file" in muster(*call, code=4).stderr


def test_a_browser_may_read(master):
    assert master("GET", "/healthz", **{"Sec-Fetch-Site": "none", "Accept-Language": "de"}) == 200
