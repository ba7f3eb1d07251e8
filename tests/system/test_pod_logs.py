"""Logs of Pods (cluster/pod_logs) against Pods that are only told of: whatever happens to the streams, each line is
kept once."""

import random

import pytest

from conftest import LIMIT
from fake_pods import SECOND, Break, FakePods, Refuse, ends_properly, garbage, half_a_chunk, reset, silence, with_words
from kube_tool import KubeTool

BREAKS = [reset, ends_properly, half_a_chunk, garbage, silence]


class Follower(KubeTool):
    """The program that follows, and what it said."""

    def __init__(self, pods, folder, silence_ms=300):
        super().__init__("pod_logs", pods.origin, folder, str(silence_ms))
        self.folder, self.said = folder, []

    def until(self, wanted):
        while not (self.said and wanted in self.said[-1]):
            self.said.append(self.line().strip())

    def troubles(self):
        return [line for line in self.said if line.startswith("trouble")]

    def log(self, index):
        return (self.folder / f"worker-{index}.0.log").read_bytes().decode()


@pytest.fixture
def pods():
    with FakePods() as server:
        yield server


@pytest.fixture
def follower(pods, tmp_path):
    made = Follower(pods, tmp_path)
    yield made
    assert made.end() == 0


@pytest.fixture
def patient_follower(pods, tmp_path):
    """For Pods that are gone: a machine without a free core is silent for a while, and what is lost then is a trouble."""
    made = Follower(pods, tmp_path, silence_ms=60_000)
    yield made
    assert made.end() == 0


def write_some(log, random_numbers):
    """Lines of all kinds, with stamps that are equal, or go back a little."""
    for _ in range(12):
        text = random_numbers.choice(["", "a", "a", "epoch 1 of 3", "päda\rgogik 100%", "2026-01-02T03:04:05Z not a stamp"])
        log.write(text, after=random_numbers.choice([0, 0, 1, -250, 40_000, SECOND // 2, 2 * SECOND]))


def follow_to_the_end(pods, follower, indexes):
    """All of them at once: begins, waits until all faults have happened, and ends."""
    logs = [pods.logs[f"worker-{index}"] for index in indexes]
    follower.tell(*(f"run {index}" for index in indexes))
    pods.until(lambda: all(not log.faults for log in logs))
    for log in logs:
        log.write("the last")
        log.end()
    follower.tell(*(f"end {index}" for index in indexes))
    follower.until("quiet")


@pytest.mark.parametrize("how", BREAKS)
def test_a_stream_that_breaks_at_any_byte_loses_nothing_and_gives_nothing_twice(pods, follower, how):
    indexes = range(0, 640, 2)
    for index in indexes:
        write_some(pods.logs[f"worker-{index}"], random.Random(1))
        pods.logs[f"worker-{index}"].faults = [Break(how, index), Break(how, index // 2 + 7)]
    follow_to_the_end(pods, follower, indexes)
    for index in indexes:
        assert follower.log(index) == pods.logs[f"worker-{index}"].text(), index
    assert follower.troubles() == []


@pytest.mark.parametrize("seed", range(3))
def test_faults_of_all_kinds_in_any_order(pods, follower, seed):
    numbers = random.Random(seed)
    indexes = range(100)
    for index in indexes:
        log = pods.logs[f"worker-{index}"]
        write_some(log, numbers)
        for _ in range(numbers.randrange(4)):
            log.faults.append(numbers.choice([
                Break(numbers.choice(BREAKS), numbers.randrange(700)), Refuse(numbers.choice([429, 500, 502, 503])),
                Refuse(400, 'container "tensorflow" in pod "worker" is waiting to start: ContainerCreating')]))
    follow_to_the_end(pods, follower, indexes)
    for index in indexes:
        assert follower.log(index) == pods.logs[f"worker-{index}"].text(), index
    assert follower.troubles() == []


def test_what_a_node_says_of_a_pod_that_was_asked_to_end_is_not_told(pods, follower):
    log = pods.logs["worker-0"]
    log.write("one")
    log.faults = [Break(with_words("unable to retrieve"), 1000)]
    follower.tell("ask 0")
    follow_to_the_end(pods, follower, [0])
    assert follower.log(0) == "one\nthe last\n"
    assert follower.troubles() == []


def test_what_a_node_says_in_the_place_of_lines_is_no_line(pods, follower):
    log = pods.logs["worker-0"]
    log.write("one")
    words = with_words("failed to watch file \"0.log\": no such \x1b[31mfile")
    log.faults = [Break(words, 1000), Break(with_words("unable to retrieve"), 0), Break(words, 1000), Break(words, 1000)]
    follow_to_the_end(pods, follower, [0])
    assert follower.log(0) == "one\nthe last\n"
    says = "trouble: the node of Pod 'worker-0' cannot read its log any further: "
    assert follower.troubles() == [says + 'failed to watch file "0.log": no such ?[31mfile', says + "unable to retrieve",
                                   says + 'failed to watch file "0.log": no such ?[31mfile']


def test_lines_come_while_they_are_written(pods, follower):
    log = pods.logs["worker-0"]
    follower.tell("run 0")
    for i in range(50):
        pods.until(lambda: log.n_streams > i // 10)
        log.write(f"line {i}")
        if i % 10 == 9:
            log.faults.append(Break(reset, 10))
            cut_streams(pods)
    log.end()
    follower.tell("end 0")
    follower.until("quiet")
    assert follower.log(0) == log.text()


def cut_streams(pods):
    """As when the API server dies."""
    for exchange in list(pods.server.exchanges):
        exchange.cut_now()


def test_a_huge_line_is_taken_up_in_its_middle(pods, follower):
    log = pods.logs["worker-0"]
    log.write("x" * 3_000_000 + "end")
    log.faults = [Break(reset, 1_000_000), Break(ends_properly, 2_000_001), Break(half_a_chunk, 2_999_999)]
    follow_to_the_end(pods, follower, [0])
    assert follower.log(0) == log.text()


def test_what_was_rotated_away_while_nobody_looked_is_said(pods, follower):
    log = pods.logs["worker-0"]
    for i in range(5):
        log.write(f"line {i}")

    def rotate(exchange):  # before the next stream
        log.rotate(0)
        log.write("much later", after=60 * SECOND)
        reset(exchange)

    log.faults = [Break(rotate, 80), Refuse(500)]
    follower.tell("run 0")
    pods.until(lambda: not log.faults)
    log.end()
    follower.tell("end 0")
    follower.until("quiet")
    [trouble] = follower.troubles()
    assert "the log of Pod 'worker-0' was interrupted" in trouble and "may be missing" in trouble
    assert follower.log(0).endswith("\nmuch later\n") and follower.log(0).startswith("line 0\nline")


def test_the_log_of_a_container_that_was_started_again_in_its_pod_goes_on(pods, follower):
    log = pods.logs["worker-0"]
    log.write("first, one")
    log.faults = [Break(reset, 40)]
    follower.tell("run 0")
    pods.until(lambda: not log.faults)
    log.write("first, two")
    with pods.changed:
        log.previous, log.lines = log.lines, []
    log.write("second", after=SECOND)
    follower.tell("run 0 1")
    log.end()
    follower.tell("end 0 1")
    follower.until("quiet")
    assert follower.log(0) == "first, one\nfirst, two\nsecond\n"
    assert follower.troubles() == []


def test_a_log_that_nobody_may_read_is_said_once(pods, follower):
    for index in range(3):
        pods.logs[f"worker-{index}"].faults = [Refuse(403, "no, you may not")] * 20
    follower.tell(*(f"end {index}" for index in range(3)))
    follower.until("quiet")
    assert len([line for line in follower.troubles()
                if "no, you may not" in line and "was interrupted" not in line]) == 1


def test_the_log_of_a_pod_that_is_gone_ends(pods, patient_follower):
    log = pods.logs["worker-0"]
    log.write("one")
    log.faults = [Break(ends_properly, 40), Refuse(404)]
    patient_follower.tell("run 0")
    pods.until(lambda: log.n_streams == 1)
    patient_follower.tell("gone 0")
    patient_follower.until("quiet")
    assert patient_follower.log(0) == "one\n"
    assert patient_follower.troubles() == []


def test_that_nothing_was_read_of_a_pod_that_is_gone_is_said(pods, patient_follower):
    patient_follower.tell("run 0", "gone 0")
    patient_follower.until("quiet")
    assert pods.logs["worker-0"].n_streams == 0
    assert patient_follower.troubles() == ["trouble: the log of Pod 'worker-0' was interrupted; lines may be missing"]


def test_who_takes_over_has_each_line_once(pods, tmp_path):
    log = pods.logs["worker-0"]
    log.write("one")
    first = Follower(pods, tmp_path)
    first.tell("end 0")  # it reads what there is, and then asks whether there is more
    log.faults = [Break(silence, 10_000)]
    pods.until(lambda: log.n_streams >= 2)
    first.process.kill()
    first.process.wait(LIMIT)
    assert first.log(0) == "one\n"
    log.write("two")
    log.end()
    second = Follower(pods, tmp_path)
    second.tell("end 0")
    second.until("quiet")
    assert second.log(0) == "one\ntwo\n"
    assert second.end() == 0


def test_the_next_pod_of_the_name_is_not_asked_for_the_lines_of_one_that_is_gone(pods, patient_follower):
    """A restart gives its name to another Pod a moment later, whose container is not there yet, or prints lines of its own."""
    log = pods.logs["worker-0"]
    log.write("of the first")
    patient_follower.tell("run 0")
    pods.until(lambda: log.n_streams == 1)
    waiting = [Refuse(400, 'container "tensorflow" in pod "worker-0" is waiting to start: ContainerCreating') for _ in range(100)]
    log.faults = list(waiting)
    log.end()
    pods.until(lambda: len(log.faults) < len(waiting))  # asked once more, since it was not known to have ended
    patient_follower.tell("ask 0", "gone 0")
    patient_follower.until("quiet")
    assert patient_follower.troubles() == []
    assert patient_follower.log(0) == log.text()
