"""The probe of `muster check` with libraries that are no TensorFlow: what it says, and how it ends."""

import os
import signal
import socket

import pytest

from conftest import LIMIT, read_until
from processes import inner_of
from servers import make_stub


@pytest.fixture
def server():
    """The address of a socket that listens and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def stub(tmp_path):
    return lambda *definitions: make_stub(tmp_path / "stub", *definitions)


def test_it_wants_servers_with_addresses(muster):
    assert "needs --servers grpc://HOST:2222" in muster("probe", code=2).stderr
    said = muster("probe", "--server", "grpc://a:1,grpc://b", code=2).stderr
    assert said == ("muster check: 'grpc://b' is not an address like grpc://host:2222: "
                    "missing port (expected HOST:PORT)\n")
    assert "--timeout" in muster("probe", "--server", "a:1", "--timeout", "0", code=2).stderr


def test_without_tensorflow_it_says_what_to_install(muster, tmp_path):
    env = {"PATH": str(tmp_path), "VIRTUAL_ENV": None, "MUSTER_LIBTENSORFLOW": None}
    said = muster("check", "probe", "--server", "a:1", code=3, env=env).stderr
    assert "install" in said


def test_a_server_that_cannot_be_reached_is_told_without_loading_anything(muster, stub, closed_port):
    port = closed_port()
    done = muster("check", "probe", "--server", f"grpc://127.0.0.1:{port}", "--libtensorflow", stub("STUB_ABORTS_LOADING"), code=3)
    assert done.stderr == f"muster: grpc://127.0.0.1:{port} cannot be reached: connection refused\n"
    assert '"muster":"error"' in done.stdout and '"UNAVAILABLE"' in done.stdout


def test_a_library_without_sessions_is_told(muster, stub, server):
    said = muster("check", "probe", "--server", server, "--libtensorflow", stub(), code=1).stderr
    assert "TensorFlow 2.99.0 in '" in said and "has no TF_NewSessionOptions, " in said
    assert "greets" not in said


def test_a_library_that_ends_the_process_is_explained(muster, stub, server):
    said = muster("check", "probe", "--server", server, "--libtensorflow", stub("STUB_ABORTS_LOADING"), code=1).stderr
    assert "Check failed: the stub does not want to be loaded\n" in said
    assert "TensorFlow aborted while loading TensorFlow (SIGABRT, Aborted)" in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_in_the_middle_without_an_explanation(muster, stub, server, number):
    probe = muster.start("check", "probe", "--server", server, "--verbose", "--libtensorflow", stub("STUB_HANGS_LOADING"))
    read_until(probe.stderr, "the stub hangs")
    probe.send_signal(number)
    assert probe.wait(LIMIT) == 128 + number
    assert probe.stderr.read() == ""


def test_a_call_that_never_comes_back_is_explained(muster, stub, server):
    probe = muster.start("check", "probe", "--server", server, "--verbose", "--libtensorflow", stub("STUB_HANGS_LOADING"))
    read_until(probe.stderr, "the stub hangs")
    os.kill(inner_of(probe), signal.SIGALRM)  # what it has asked for itself, in case
    assert probe.wait(LIMIT) == 1
    assert "the probe hung in TensorFlow while loading TensorFlow" in probe.stderr.read()
