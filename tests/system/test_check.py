"""`muster check` with libraries that are no TensorFlow: what is missing, servers that do not come up, and that nothing
stays whatever happens. What it says of real servers is in test_check_tensorflow.py."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import time

import pytest

from checks import GIVEN_UP, GOOD_MODEL, jobs_of, make_python, report_of, states_of, tag_of, wait_for_job
from conftest import KILLS, LIMIT, read_line, read_until
from processes import children_of, kill_all_with, processes_with, wait_until_none_has
from servers import make_stub


@pytest.fixture(scope="session")
def stubs(tmp_path_factory):
    """Makes libraries that are no TensorFlow, each once."""
    made = {}

    def stub(*definitions):
        if definitions not in made:
            made[definitions] = make_stub(tmp_path_factory.mktemp("stub"), *definitions)
        return made[definitions]

    return stub


@pytest.fixture
def python(tmp_path, stubs):
    """The environment of a check with a good model and a library made with these definitions."""
    return lambda *definitions: make_python(tmp_path, stubs(*definitions), GOOD_MODEL)


@pytest.fixture
def tag(tmp_path):
    tag = tag_of(tmp_path)
    yield tag
    kill_all_with(tag)


# What is missing is said before anything is started.

def test_a_library_that_is_missing_is_told_in_every_format(muster, tmp_path):
    arguments = ["check", "--libtensorflow", tmp_path / "none.so"]
    text = muster(*arguments, code=3).stdout
    assert "library   FAILED" in text and "none.so" in text
    done = muster(*arguments, "-o", "json", code=3)
    report = report_of(done)
    assert report["result"] == "failed" and report["fault"]["reason"] == "NoLibrary"
    assert states_of(report)["library"] == "failed" and states_of(report)["servers"] == "waiting"
    assert "library   FAILED" in done.stderr
    assert jobs_of(muster) == []


def test_a_python_without_tensorflow_is_no_use_to_a_model(muster, python, stubs, tmp_path):
    environment = python()
    (tmp_path / "venv/lib/python3.11/site-packages/tensorflow/__init__.py").unlink()
    done = muster("check", "--libtensorflow", stubs(), env=environment, code=3)
    assert "the models need Python with TensorFlow" in done.stdout
    assert "pip install tensorflow-cpu" in done.stdout


@pytest.mark.parametrize("files, said", [
    (None, "does not exist"),
    ([], "train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte"),
    (["train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte"],
     "has no t10k-labels-idx1-ubyte ("),
])
def test_data_that_are_missing_are_told_before_anything_is_started(muster, python, tmp_path, files, said):
    folder = tmp_path / "data"
    if files is not None:
        folder.mkdir()
        for name in files:
            (folder / name).write_bytes(b"")
    done = muster("check", "--data-dir", folder, env=python(), code=3)
    assert said in done.stdout
    assert jobs_of(muster) == []


@pytest.mark.parametrize("arguments, said", [
    (["elsewhere"], "'elsewhere'"),
    (["remote"], "check remote needs --servers"),
    (["remote", "--servers", "db7"], "'db7' is not an address"),
    (["remote", "--servers", "grpc://db7:2222", "--model", "mwms"], "start their own servers"),
    (["remote", "--servers", "grpc://db7:2222", "--model", "ps2"], "start their own servers"),
    (["remote", "--servers", "grpc://db7:2222", "--setup-only"], "--setup-only"),
    (["--servers", "grpc://db7:2222"], "needs 'check remote'"),
    (["--ps", "0"], "--ps 0"),
    (["--model", "mwms", "--sync-replicas"], "--sync-replicas: needs --model mnist or --model census"),
    (["--model", "none", "--data-dir", "/tmp"], "--data-dir"),
    (["-w", "0"], "-w"),
    (["--timeout", "0"], "--timeout"),
    (["--private-network", "--setup-only"], "--setup-only (no client could reach the servers)"),
    (["remote", "--servers", "grpc://db7:2222", "--private-network"], "--private-network: the servers do not run on this"),
    (["--on", "kubernetes", "--image", "i", "--private-network"], "--private-network: the servers do not run on this"),
])
def test_wrong_use_is_told(muster, arguments, said):
    done = muster("check", *arguments, code=2, env={"TF_DIST_GRPC_SERVER_URL": None})
    assert said in done.stderr
    assert done.stdout == ""
    assert jobs_of(muster) == []


# Servers that do not come up.

def test_a_server_that_fails_is_named_with_its_own_reason(muster, python, tag):
    done = muster("check", "-o", "json", env=python('STUB_CODE=7'), code=1)
    report = report_of(done)
    assert (report["fault"]["step"], report["fault"]["reason"]) == ("servers", "ServerFailed")
    assert "the stub says no" in report["fault"]["message"]
    role, index = report["fault"]["task"].split("-")
    assert "the stub says no" in muster("logs", report["fault"]["job"], "--role", role, "--index", index, code=0).stdout
    assert not processes_with(tag)


def test_a_library_that_aborts_is_what_the_report_names(muster, python, tag):
    fault = report_of(muster("check", "-o", "json", env=python("STUB_ABORTS_LOADING")))["fault"]
    assert fault["step"] == "servers"
    assert "TensorFlow aborted while loading" in fault["message"]
    assert not processes_with(tag)


def test_a_file_that_is_no_library_is_named(muster, python, tag, tmp_path):
    wrong = tmp_path / "libtensorflow_cc.so.2"
    wrong.write_text("no library at all\n")
    report = report_of(muster("check", "--libtensorflow", wrong, "-o", "json", env=python(), code=3))
    assert report["fault"]["message"] == f"'{wrong}' is not a library (not an ELF file)"
    assert states_of(report)["library"] == "failed" and states_of(report)["servers"] == "waiting"
    assert jobs_of(muster) == []


def test_servers_that_hang_are_named_when_the_time_is_over(muster, python, tag):
    fault = report_of(muster("check", "-w", "1", "--ps", "1", "--timeout", "2s", "-o", "json",
                             env=python("STUB_HANGS_LOADING"), code=1))["fault"]
    assert fault["message"] == "worker-0 and ps-0 did not serve within 2s"
    assert (fault["step"], fault["reason"], fault["task"]) == ("servers", "SilentServer", "worker-0")
    assert not processes_with(tag)


@pytest.fixture
def hanging(muster, python):
    """A check whose servers are being started, and that waits for them."""
    process = muster.start("check", "-o", "json", env=python("STUB_HANGS_LOADING"))
    job = wait_for_job(muster, "")
    muster.until_running(job, 4)
    return process, job


def test_a_stopped_server_is_named_when_the_time_is_over(muster, python, tag):
    process = muster.start("check", "-o", "json", "--timeout", GIVEN_UP, env=python("STUB_HANGS_LOADING"))
    job = muster.until_running(wait_for_job(muster, ""), 4)
    pid = next(r["pid"] for r in job["status"]["replicas"] if (r["role"], r["index"]) == ("ps", 1))
    os.kill(pid, signal.SIGSTOP)
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 1
    assert '"ps-1 did not answer: its process is stopped (SIGSTOP)"' in output
    assert not processes_with(tag)


# It is ended itself.

@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_check_that_is_interrupted_says_so_and_leaves_nothing(muster, hanging, tag, number, code):
    process, job = hanging
    process.send_signal(number)
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == code
    assert '"result": "interrupted"' in output and '"reason": "Interrupted"' in output
    assert not processes_with(tag)
    assert muster.job(job)["status"]["failure"]["reason"] == "Stopped"


def test_a_check_in_a_private_network_takes_all_that_it_starts_along(muster, python, tag):
    process = muster.start("check", "--private-network", "--timeout", GIVEN_UP, env=python("STUB_HANGS_LOADING"))
    heading = read_line(process.stdout), read_line(process.stdout)
    if process.poll() is not None:
        pytest.skip("no network namespace can be had here")
    assert "model mnist" in heading[0] and heading[1].startswith("  library "), "and no warning of others between"
    job = muster.until_running(wait_for_job(muster, ""), 4)
    networks = {os.readlink(f"/proc/{replica['pid']}/ns/net") for replica in job["status"]["replicas"]}
    assert len(networks) == 1 and networks != {os.readlink("/proc/self/ns/net")}
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert not processes_with(tag)


@pytest.mark.parametrize("whom", ["outer", "inner", "both"])
def test_a_check_that_is_killed_leaves_nothing(muster, hanging, tag, whom):
    process, job = hanging
    (inner,) = children_of(process.pid)
    if whom != "outer":
        os.kill(inner, signal.SIGKILL)
    if whom != "inner":
        process.kill()
    process.wait(LIMIT)
    wait_until_none_has(tag)
    muster("ps", "-a", code=0)
    assert muster.job(job)["status"]["failure"]["reason"] in ("SupervisorLost", "Stopped")


@pytest.mark.parametrize("whom", ["outer", "inner"])
def test_nothing_stays_after_kills_at_random_moments(muster, python, tag, whom):
    moments = random.Random(whom)
    environment = python("STUB_HANGS_LOADING")
    for _ in range(KILLS // 10 + 1):
        process = muster.start("check", "--model", "none", env=environment, stdout=subprocess.DEVNULL)
        time.sleep(moments.uniform(0, 0.2))  # the moment itself is what is tried
        inner = children_of(process.pid)
        for pid in inner if whom == "inner" and inner else [process.pid]:
            os.kill(pid, signal.SIGKILL)
        process.wait(LIMIT)
        wait_until_none_has(tag)
    assert "Running" not in muster("ps", "-a", code=0).stdout


def test_killing_the_run_of_the_servers_is_told(muster, hanging, tag):
    process, job = hanging
    (inner,) = children_of(process.pid)
    (run,) = children_of(inner)
    os.kill(run, signal.SIGKILL)
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 1
    assert '"step": "servers"' in output
    assert not processes_with(tag)


# Servers that stay, and servers that exist.

def test_servers_of_setup_only_stay_until_they_are_stopped(muster, python, tag):
    done = muster("check", "--setup-only", "-w", "1", "--ps", "1", env=python(), code=0)
    name = done.stdout.split("muster stop ")[1].split()[0]
    assert jobs_of(muster) == [name]
    muster.until_running(name, 2)
    assert processes_with(tag)
    muster("stop", name, code=0)
    muster("wait", name)
    wait_until_none_has(tag)


def test_servers_of_setup_only_that_do_not_come_up_do_not_stay(muster, python, tag):
    done = muster("check", "--setup-only", "--timeout", "2s", "-o", "json", env=python("STUB_HANGS_LOADING"), code=1)
    assert report_of(done)["fault"]["reason"] == "SilentServer"
    wait_until_none_has(tag)


def test_an_interrupted_setup_leaves_no_servers(muster, python, tag):
    process = muster.start("check", "--setup-only", env=python("STUB_HANGS_LOADING"))
    muster.until_running(wait_for_job(muster, ""), 4)
    process.terminate()
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 143, output
    wait_until_none_has(tag)


def test_a_port_where_nobody_listens_is_told_with_its_address(muster, python, closed_port):
    port = closed_port()
    done = muster("check", "remote", "--servers", f"grpc://127.0.0.1:{port}", "-o", "json", env=python(), code=3)
    fault = report_of(done)["fault"]
    assert (fault["step"], fault["reason"]) == ("network", "PortClosed")
    assert f"cannot reach 127.0.0.1:{port}: connection refused" in fault["message"]
    assert jobs_of(muster) == []


@pytest.fixture
def full_server():
    """The address of a server that nobody gets through to: it accepts none of those that wait already."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening, contextlib.ExitStack() as waiting:
        for _ in range(4):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listening.getsockname())
        yield f"grpc://127.0.0.1:{listening.getsockname()[1]}"


def test_a_check_that_waits_for_the_network_can_be_interrupted(muster, python, tag, full_server):
    process = muster.start("check", "remote", "--servers", full_server, "-o", "json", env=python())
    read_until(process.stderr, "  library ")
    process.terminate()
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 143, output
    assert '"step": "network"' in output
    assert not processes_with(tag)


def test_a_name_that_nobody_knows_is_told(muster, python):
    environment = {**python(), "TF_DIST_GRPC_SERVER_URL": "grpc://no.such.host.invalid:2222"}
    done = muster("check", "remote", env=environment, code=3)
    assert "cannot find no.such.host.invalid:2222" in done.stdout
