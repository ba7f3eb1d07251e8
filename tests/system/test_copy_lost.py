"""`muster cp` against a fake API server that does what a real one cannot be made to do: a connection that is lost in
the middle of a copy leaves nothing half, here or there."""

import contextlib
import io
import json
import os
import pty
import select
import signal
import tarfile
import threading

import pytest

from conftest import LIMIT
from http_server import HttpServer, make_certificate, tls_context
from websocket_server import accept, close, frame, read_frame

V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"
INPUT, OUTPUT, ERROR_OUTPUT, STATUS, END = b"\x00", b"\x01", b"\x02", b"\x03", b"\xff"
SUCCESS = STATUS + b'{"metadata":{},"status":"Success"}'
RUNNING = {"state": {"running": {"startedAt": "2026-01-02T03:04:05Z"}}}
POD = {"apiVersion": "v1", "kind": "Pod",
       "status": {"phase": "Running", "containerStatuses": [{"name": name, **RUNNING} for name in ("side", "tensorflow")]},
       "metadata": {"name": "digits-worker-0",
                    "labels": {"app.kubernetes.io/managed-by": "muster", "muster/job": "digits"}},
       "spec": {"containers": [{"name": "side"}, {"name": "tensorflow"}]}}
PLACE = "digits:worker-0:/models"


@pytest.fixture
def serve_pod(tmp_path):
    """A server with one Pod, whose exec gets `answer`; gives the kubeconfig. The execs are noted in a list."""
    certificate = make_certificate(tmp_path)

    @contextlib.contextmanager
    def begin(answer, pod=POD, execs=None):
        def serve(exchange):
            if exchange.path.endswith("/exec"):
                execs is None or execs.append(exchange)
                answer(exchange)
            else:
                exchange.answer(200, pod)

        with HttpServer(serve, tls_context(*certificate)) as server:
            config = {"clusters": [{"name": "c", "cluster": {"server": server.origin,
                                                             "certificate-authority": str(certificate[0])}}],
                      "users": [{"name": "u", "user": {"token": "secret"}}],
                      "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "team"}}],
                      "current-context": "x"}
            (tmp_path / "config").write_text(json.dumps(config))
            yield tmp_path / "config"
    return begin


@pytest.fixture
def cp(muster, serve_pod):
    """Runs `muster cp` where `answer` is what the exec of the Pod answers; gives what it did, and the execs."""
    def begin(answer, *arguments, pod=POD, **options):
        execs = []
        with serve_pod(answer, pod, execs) as config:
            done = muster("cp", *arguments, env={"KUBECONFIG": config}, **options)
        assert "secret" not in done.stderr
        return done, execs
    return begin


def say(exchange, *messages, protocol=V5):
    accept(exchange, protocol)
    for message in messages:
        exchange.write(frame(message))


def stream(size):
    """A tar stream of a folder with one file."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        root, model = tarfile.TarInfo("."), tarfile.TarInfo("./model")
        root.type, root.mode, model.size = tarfile.DIRTYPE, 0o750, size
        tar.addfile(root)
        tar.addfile(model, io.BytesIO(b"m" * size))
    return made.getvalue()


def left_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "here"
    made.mkdir()
    return made


def test_the_container_that_trains_is_asked(cp, folder):
    def answer(exchange):
        whole = stream(1_000_000)
        say(exchange, OUTPUT + b"fol", OUTPUT + b"der\n" + whole[:5], OUTPUT + whole[5:300_000],
            OUTPUT + whole[300_000:], SUCCESS)
        close(exchange)

    done, [exchange] = cp(answer, PLACE, folder / "models", code=0)
    assert exchange.path == "/api/v1/namespaces/team/pods/digits-worker-0/exec"
    assert exchange.query["container"] == "tensorflow"
    assert left_in(folder) == ["models", "models/model"]
    assert (folder / "models" / "model").stat().st_size == 1_000_000
    assert (folder / "models").stat().st_mode & 0o777 == 0o750


def test_the_umask_counts_for_what_comes(cp, folder):
    def answer(exchange):
        say(exchange, OUTPUT + b"folder\n" + stream(1000), SUCCESS)
        close(exchange)

    cp(answer, PLACE, folder / "models", code=0, umask=0o077)
    assert (folder / "models").stat().st_mode & 0o777 == 0o700
    assert (folder / "models" / "model").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("cut", [0, 5, 700, 500_000])
def test_a_connection_lost_on_the_way_out_leaves_nothing(cp, folder, cut):
    def answer(exchange):
        say(exchange, (OUTPUT + b"folder\n" + stream(1_000_000))[:cut + 1])
        exchange.cut()

    done, execs = cp(answer, PLACE, folder / "models", code=3)
    assert "lost" in done.stderr and len(done.stderr.splitlines()) == 1
    assert left_in(folder) == [] and len(execs) == 1


def test_half_a_stream_is_not_taken_for_a_whole_one(cp, folder):
    def answer(exchange):
        say(exchange, OUTPUT + b"folder\n" + stream(1_000_000)[:500_000], SUCCESS)
        close(exchange)

    done, _ = cp(answer, PLACE, folder / "models")
    assert done.returncode in (1, 2) and left_in(folder) == []


def test_what_is_there_stays_when_the_copy_is_not_whole(cp, folder):
    (folder / "models").mkdir()
    (folder / "models" / "model").write_text("old")

    def answer(exchange):
        say(exchange, OUTPUT + b"folder\n" + stream(1_000_000)[:500_000])
        exchange.cut()

    cp(answer, PLACE, folder, code=3)
    assert left_in(folder) == ["models", "models/model"] and (folder / "models" / "model").read_text() == "old"


def test_what_tar_fails_with_is_told(cp, folder):
    def answer(exchange):
        say(exchange, OUTPUT + b"folder\n" + stream(10), ERROR_OUTPUT + b"tar: can't open 'x'\ntar: \x1b[31mbad\n",
            STATUS + json.dumps({"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": [
                {"reason": "ExitCode", "message": "1"}]}}).encode())
        close(exchange)

    done, _ = cp(answer, PLACE, folder / "models", code=1)
    assert done.stderr == "muster: tar: can't open 'x';tar: ?[31mbad\n"
    assert left_in(folder) == []


def test_what_tar_warns_of_is_told_beside_the_copy(cp, folder):
    def answer(exchange):
        say(exchange, OUTPUT + b"folder\n" + stream(10), ERROR_OUTPUT + b"tar: log: \x1bfile changed as we read it\n",
            SUCCESS)
        close(exchange)

    done, _ = cp(answer, PLACE, folder / "models", code=0)
    assert done.stderr == "muster: tar: log: ?file changed as we read it\n"
    assert left_in(folder) == ["models", "models/model"]


def test_an_answer_without_an_end_is_no_answer(cp, folder):
    def answer(exchange):
        say(exchange, *[OUTPUT + b"x" * 60_000] * 4, SUCCESS)
        close(exchange)

    done, _ = cp(answer, PLACE, folder / "models")
    assert done.returncode != 0 and left_in(folder) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing(muster, serve_pod, folder, number):
    come = threading.Event()

    def answer(exchange):
        say(exchange, OUTPUT + b"folder\n" + stream(1_000_000)[:500_000])
        come.set()
        exchange.wait_for_the_end()

    with serve_pod(answer) as config:
        copying = muster.start("cp", PLACE, folder / "models", env={"KUBECONFIG": config})
        assert come.wait(LIMIT)
        copying.send_signal(number)
        _, said = copying.communicate(timeout=LIMIT)
    assert (copying.returncode, said) == (128 + number, "")
    assert left_in(folder) == []


def test_a_terminal_sees_how_far_a_long_copy_is(muster, serve_pod, folder):
    shown = threading.Event()

    def answer(exchange):
        say(exchange, OUTPUT + b"folder\n" + stream(1_000_000)[:512_000])
        assert shown.wait(LIMIT)
        exchange.write(frame(OUTPUT + stream(1_000_000)[512_000:]) + frame(SUCCESS))
        close(exchange)

    ours, its = pty.openpty()
    with serve_pod(answer) as config:
        copying = muster.start("cp", PLACE, folder / "models", env={"KUBECONFIG": config, "TERM": "xterm"}, stderr=its)
        os.close(its)
        seen = b""
        while b"512.0 kB, " not in seen:
            assert select.select([ours], [], [], LIMIT)[0], f"nothing came behind {seen}"
            seen += os.read(ours, 4096)
        shown.set()
        assert copying.wait(LIMIT) == 0
        with contextlib.suppress(OSError):  # what Linux says at the end of a terminal
            while more := os.read(ours, 4096):
                seen += more
    os.close(ours)
    assert seen.endswith(b"\r\x1b[K"), "the line goes with the end of the copy"


def sent_by(exchange):
    """What comes on standard input, to its end."""
    got = b""
    while (read := read_frame(exchange)) and read[1][:1] == INPUT:
        got += read[1][1:]
    return got, bool(read) and read[1] == END + INPUT


def test_what_goes_in_is_packed_as_the_container_takes_it_and_says_that_it_is_whole(cp, folder):
    (folder / "data").write_bytes(b"d" * 3_000_000)
    got = []

    def answer(exchange):
        say(exchange, OUTPUT + b"gnu\n")
        got.extend(sent_by(exchange))
        exchange.write(frame(SUCCESS))
        close(exchange)

    done, [exchange] = cp(answer, folder / "data", PLACE, code=0)
    with tarfile.open(fileobj=io.BytesIO(got[0])) as tar:
        assert [(member.name, member.size) for member in tar] == [("content", 3_000_000), ("whole", 0)]
    assert got[1], "the end of the input was not told"


def test_what_does_not_go_in_is_named(cp, folder):
    (folder / "data").mkdir()
    os.mkfifo(folder / "data" / "pipe")
    (folder / "data" / "file").write_text("f")
    got = []

    def answer(exchange):
        say(exchange, OUTPUT + b"pax\n")
        got.extend(sent_by(exchange))
        exchange.write(frame(ERROR_OUTPUT + b"tar: a word\n") + frame(SUCCESS))
        close(exchange)

    done, _ = cp(answer, folder / "data", PLACE, code=0)
    assert done.stderr == "muster: left out: 'pipe' (not a file, directory or link); tar: a word\n"
    with tarfile.open(fileobj=io.BytesIO(got[0])) as tar:
        assert [member.name for member in tar] == ["content/file", "content", "whole"]


def test_a_pipe_alone_is_no_copy(cp, folder):
    os.mkfifo(folder / "pipe")
    done, execs = cp(None, folder / "pipe", PLACE, code=2)
    assert "is not a file or directory" in done.stderr and execs == []


def test_a_connection_lost_on_the_way_in_is_an_error(cp, folder):
    (folder / "data").write_bytes(b"d" * 3_000_000)

    def answer(exchange):
        say(exchange, OUTPUT + b"pax\n")
        read_frame(exchange)
        exchange.cut()

    done, execs = cp(answer, folder / "data", PLACE, code=3)
    assert "lost" in done.stderr and len(execs) == 1


def test_a_server_may_be_silent_for_as_long_as_request_timeout_says(cp, folder):
    done, _ = cp(lambda exchange: exchange.wait_for_the_end(), "--request-timeout", "1s", PLACE, folder, code=3)
    assert "no data for 1s" in done.stderr and left_in(folder) == []


def test_a_server_that_cannot_end_an_input_is_too_old_for_the_way_in(cp, folder):
    (folder / "data").write_bytes(b"d")

    def answer(exchange):
        say(exchange, OUTPUT + b"pax\n", protocol=V4)
        exchange.wait_for_the_end()

    done, _ = cp(answer, folder / "data", PLACE, code=1)
    assert "Kubernetes supports it since version 1.30" in done.stderr


def test_a_pod_that_is_no_replica_of_the_job_is_left_alone(cp, folder):
    stranger = {**POD, "metadata": {"name": "digits-worker-0", "labels": {}}}
    done, execs = cp(None, PLACE, folder, pod=stranger, code=1)
    assert "replica worker-0 of job 'digits' not found in namespace 'team'" in done.stderr and execs == []


def test_a_pod_that_another_controls_is_left_alone_whatever_its_labels_say(cp, folder):
    metadata = {**POD["metadata"], "ownerReferences": [{"kind": "ReplicaSet", "name": "eve", "uid": "e", "controller": True}]}
    done, execs = cp(None, PLACE, folder, pod={**POD, "metadata": metadata}, code=1)
    assert "replica worker-0 of job 'digits' not found in namespace 'team'" in done.stderr and execs == []
