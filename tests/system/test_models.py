"""The models of `muster check`, really trained, on servers that muster runs."""

import gzip
import json
import math
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys

import numpy as np
import pytest

from conftest import BINARY, few, read_line, read_until, replicas
from needs import needs_tensorflow
from servers import free_port

pytestmark = [pytest.mark.unsanitized, needs_tensorflow]

MODELS = pathlib.Path(BINARY).parent / "python" / "check_models.pyz"
STEPS = 40
LIMIT = 900  # seconds; a few where nothing else runs

# The virtual environment that runs the tests runs the models too.
PYTHON = {"VIRTUAL_ENV": sys.prefix, "PATH": f"{sys.prefix}/bin:{os.environ['PATH']}"}


def event_of(line):
    """(replica, event) of a line of `muster run`; None of one that is none."""
    found = re.match(r'(\S+) *\| (\{"muster".*\})$', line)
    return found and (found.group(1), json.loads(found.group(2)))


def events_of(output, kind):
    """replica -> the last event of this kind"""
    told = filter(None, map(event_of, output.splitlines()))
    return {replica: event for replica, event in told if event["muster"] == kind}


@pytest.fixture
def servers(muster):
    """Starts servers; gives the targets of the workers, with commas between."""

    def start(workers, ps):
        job = muster.start("run", "--name", "servers", "-w", workers, "--ps", ps, "--", "muster", "server",
                           "--output", "json", env=PYTHON, stderr=subprocess.DEVNULL)
        targets = {}
        while len(targets) < workers + ps:
            line = read_line(job.stdout, LIMIT)
            assert line, "the servers have ended"
            if (told := event_of(line.rstrip("\n"))) and told[1]["muster"] == "serving":
                targets[told[0]] = told[1]["target"]
        return ",".join(target for task, target in sorted(targets.items()) if task.startswith("worker"))

    return start


@pytest.fixture
def train(muster):
    """Trains on servers; gives what the job printed."""

    def run(model, targets, workers, ps, *options, code=0, steps=STEPS):
        return muster("run", "-w", workers, MODELS, model, "--servers", targets, "--workers", workers, "--ps", ps,
                      "--steps", steps, *options, code=code, env=PYTHON, limit=LIMIT).stdout

    return run


def assert_trained(output, trainers, classes=10, steps=STEPS):
    """Every trainer ended; the first one has told a result that is good."""
    assert sorted(events_of(output, "training-begins")) == sorted(events_of(output, "training-ends")) == trainers
    assert output.count("Training ends\n") == len(trainers)
    (result,) = events_of(output, "result").values()
    assert result["before"] == pytest.approx(math.log(classes), abs=1e-4)
    assert 0 < result["crossEntropy"] < result["bound"] < result["before"]
    assert 0.5 < result["accuracy"] <= 1
    for step in events_of(output, "step").values():
        assert step["step"] <= step["of"] == steps


def named(role, count):
    return [f"{role}-{index}" for index in range(count)]


@pytest.mark.parametrize("workers, ps, options", few([
    (2, 2, []),
    (2, 0, []),
    (1, 1, ["--sync-replicas"]),
    (2, 2, ["--sync-replicas"]),
    (4, 1, ["--sync-replicas"]),
]))
def test_mnist_trains(servers, train, workers, ps, options):
    output = train("mnist", servers(workers, ps), workers, ps, *options)
    assert_trained(output, named("worker", workers))
    if options:
        assert [step["step"] for step in events_of(output, "step").values()] == [STEPS] * workers


@pytest.mark.long
@pytest.mark.parametrize("options", [[], ["--sync-replicas"]])
def test_census_trains(servers, train, options):
    output = train("census", servers(2, 2), 2, 2, *options)
    assert_trained(output, named("worker", 2), classes=2)
    assert events_of(output, "data")["worker-0"]["source"] == "made"


@pytest.mark.long
def test_mwms_trains_and_all_workers_tell_the_same_losses(muster):
    output = muster("run", "-w", "2", MODELS, "mwms", "--steps", STEPS, code=0, env=PYTHON, limit=LIMIT).stdout
    assert_trained(output, named("worker", 2))
    last = events_of(output, "step")
    assert last["worker-0"]["loss"] == last["worker-1"]["loss"]


def test_ps2_trains_on_bare_servers(muster):
    output = muster("run", "--chief", "-w", "2", "--ps", "2", "--ps-server", "--worker-server", MODELS, "ps2",
                    "--steps", STEPS, code=0, env=PYTHON, limit=LIMIT).stdout
    assert_trained(output, ["chief-0"])


@pytest.mark.long
def test_nothing_stays_on_the_servers(servers, train):
    """The second run has the container of the first one, and begins afresh all the same."""
    targets = servers(1, 1)
    for options in ([], ["--sync-replicas"], []):
        assert_trained(train("mnist", targets, 1, 1, "--container", "mine", *options), ["worker-0"])


@pytest.mark.long
@pytest.mark.parametrize("options", [[], ["--sync-replicas"]])
def test_a_worker_that_starts_late_is_waited_for(muster, servers, options):
    targets = servers(2, 1)

    def start(worker):
        environment = {**os.environ, "WORKER_NUMBER": str(worker)}
        arguments = ["mnist", "--servers", targets, "--workers", "2", "--ps", "1", "--steps", str(STEPS), *options]
        process = subprocess.Popen([sys.executable, MODELS, *arguments], stdout=subprocess.PIPE, env=environment)
        muster.started.append(process)
        return process

    early = start(0)
    assert '"data"' in read_line(early.stdout, LIMIT)
    late = start(1)
    outputs = [process.communicate(timeout=LIMIT)[0].decode() for process in (early, late)]
    assert [early.returncode, late.returncode] == [0, 0]
    assert '"result"' in outputs[0] and "Training ends\n" in outputs[0] and "Training ends\n" in outputs[1]


def idx_bytes(values):
    return struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape) + values.tobytes()


def write_mnist(folder):
    """Files of MNIST's form: a bright bar, whose height is the digit, but for a few."""
    random = np.random.default_rng(1)
    for beginning, count in (("train", 600), ("t10k", 200)):
        labels = random.integers(0, 10, count).astype(np.uint8)
        images = random.integers(0, 60, (count, 28, 28), np.uint8)
        for image, label in zip(images, labels):
            image[2 * label + 3:2 * label + 6] = 255
        labels[:count // 20] = 0
        (folder / f"{beginning}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx_bytes(images)))
        (folder / f"{beginning}-labels-idx1-ubyte").write_bytes(idx_bytes(labels))


def write_census(folder):
    """Files of the census' form: who has learnt long earns much."""
    random = np.random.default_rng(1)
    for name, count, dot in (("adult.data", 600, ""), ("adult.test", 200, ".")):
        lines = ["|1x3 Cross validator"] * bool(dot)
        for years, age in zip(random.integers(1, 17, count), random.integers(17, 90, count)):
            income = (">50K" if years > 12 else "<=50K") + dot
            lines.append(f"{age}, Private, 77516, School-{years}, {years}, Never-married, ?, Own-child, White, Male, 0, "
                         f"0, 40, United-States, {income}")
        (folder / name).write_text("\n".join(lines) + "\n\n")


@pytest.mark.long
@pytest.mark.parametrize("model, write, classes, name", [
    ("mnist", write_mnist, 10, "MNIST"),
    ("census", write_census, 2, "census income"),
])
def test_files_of_a_folder_are_trained_on(servers, train, tmp_path, model, write, classes, name):
    write(tmp_path)
    output = train(model, servers(1, 1), 1, 1, "--data-dir", tmp_path)
    assert_trained(output, ["worker-0"], classes)
    told = events_of(output, "data")["worker-0"]
    assert told == {"muster": "data", "name": name, "source": "folder", "examples": 800}


# What goes wrong.

def error_of(output):
    (error,) = events_of(output, "error").values()
    assert "Traceback" not in output
    return error["step"], error["message"]


def test_a_server_that_is_not_there_is_named(train, closed_port):
    target = f"grpc://127.0.0.1:{closed_port()}"
    assert error_of(train("mnist", target, 1, 1, code=1)) == ("training", f"cannot reach {target}: Connection refused")


def test_a_task_that_the_cluster_does_not_have_is_named(servers, train):
    targets = servers(1, 1)
    step, message = error_of(train("mnist", targets, 1, 3, code=1))
    assert (step, message) == ("training", f"{targets} knows no ps-1 and ps-2, only ps-0 and worker-0")


@pytest.mark.long
def test_a_worker_that_does_not_come_is_named(muster, servers):
    said = muster("run", MODELS, "mnist", "--servers", servers(2, 1), "--workers", "2", "--ps", "1", "--timeout", "20",
                  code=1, env=PYTHON, limit=LIMIT).stdout
    assert error_of(said) == ("training", "worker-1 did not come within 20 s")


def test_files_that_are_not_there_are_named(train, tmp_path):
    step, message = error_of(train("census", "127.0.0.1:1", 1, 1, "--data-dir", tmp_path, code=1))
    assert (step, message) == ("data", f"{tmp_path} has no adult.data")


@pytest.mark.long
@pytest.mark.parametrize("number, reason", [
    (signal.SIGKILL, r"ps-0 did not answer \(.*\)"),
    (signal.SIGSTOP, r"ps-0 did not answer within 20 s"),
])
def test_a_server_that_is_lost_in_the_middle_is_named(muster, number, reason):
    """The servers are jobs of their own, so that the end of one is not the end of all."""
    spec = f"worker|127.0.0.1:{free_port()},ps|127.0.0.1:{free_port()}"
    tasks = {}
    for task in ("worker", "ps"):
        tasks[task] = muster.start("run", "--name", task, "--", BINARY, "server", "--cluster-spec", spec,
                                   "--job-name", task, "--output", "json", env={**PYTHON, "TF_CONFIG": None}, stderr=subprocess.DEVNULL)
        read_until(tasks[task].stdout, '"serving"', LIMIT)
    target = f"grpc://{re.search('[0-9.]+:[0-9]+', spec).group()}"
    training = muster.start("run", MODELS, "mnist", "--servers", target, "--ps", "1", "--steps", "1000000",
                            "--timeout", "20", env=PYTHON)
    while '"step"' not in (line := read_line(training.stdout, LIMIT)):
        assert line, "training has ended"
    end_server(muster, number)
    said, _ = training.communicate(timeout=LIMIT)
    assert training.returncode == 1
    step, message = error_of(said)
    assert step == "training" and re.fullmatch(reason, message)


def end_server(muster, number):
    """To all processes of the parameter server; the one in front of it would tell of the other."""
    (replica,) = replicas(muster.job("ps"))
    os.killpg(os.getpgid(replica["pid"]), number)
