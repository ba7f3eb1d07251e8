"""Whether a server is there: names may not be told at once, ports are."""

import socket

import pytest

from muster_check import cluster
from muster_check.events import Fault


@pytest.fixture
def server():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"grpc://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def name_server(monkeypatch):
    """Fails as often as it is told to, with the error that it is told, and counts who asked."""

    class NameServer:
        failures, error, asked = 0, socket.EAI_AGAIN, 0

    connect = socket.create_connection

    def create_connection(address, timeout):
        NameServer.asked += 1
        if NameServer.asked <= NameServer.failures:
            raise socket.gaierror(NameServer.error, "no name")
        return connect(address, timeout)

    monkeypatch.setattr(socket, "create_connection", create_connection)
    monkeypatch.setattr(cluster, "NAME_PAUSE", 0)
    return NameServer


def test_a_name_server_that_was_too_busy_is_asked_again(name_server, server):
    name_server.failures = 3
    cluster.connect(server)
    assert name_server.asked == 4


def test_a_name_server_that_stays_busy_is_told(name_server, server, monkeypatch):
    monkeypatch.setattr(cluster, "NAME_LIMIT", 0)
    name_server.failures = 1000
    with pytest.raises(Fault, match=f"cannot reach {server}: no name"):
        cluster.connect(server)


def test_a_name_that_is_unknown_is_not_asked_for_again(name_server, server):
    name_server.failures, name_server.error = 1, socket.EAI_NONAME
    with pytest.raises(Fault, match="no name"):
        cluster.connect(server)
    assert name_server.asked == 1
