"""`muster operator` is killed at each of its writes, its writes are refused, and its watches are disturbed. Each TFJob reaches the
same end as without that, and no Pod is created more often."""

import collections
import functools
import itertools
import json
import signal
import threading
import time
import typing

import pytest

from conftest import LIMIT, few
from tfjobs import NAMESPACE, TFJobs, refuse, write_kubeconfig
from fake_kube import FakeKube, cut_after_doing, status
from trouble import subject

JOB = "job"
LABEL = "training.kubeflow.org/"
LATE = 0.1  # seconds: the longest delay of an event or an answer
QUOTA_WORKERS = 12
QUOTA_SECONDS = 30  # 12 growing pauses take minutes, and one pause takes 2 seconds


def replica_of(labels):
    return f'{labels[LABEL + "replica-type"]}-{labels[LABEL + "replica-index"]}'


def version_of(event):
    """0: of an error."""
    return int(json.loads(event)["object"].get("metadata", {}).get("resourceVersion", 0))


class Cluster(TFJobs):
    """Pods run until the test gives them an exit code."""

    def __init__(self):
        self.codes = {}  # of replicas
        self.status = {}  # the last status of the job, which may be deleted
        self.doubled = []  # replicas that had two living Pods at the same time
        self.noted = {}  # version -> (number of requests before it, time)
        self.newest, self.sent = collections.Counter(), collections.Counter()  # versions by plural: noted, and sent to a watch
        self.pods_end_late = False
        super().__init__()
        self.plan = lambda labels: self.codes.pop(replica_of(labels), None)

    def _note(self, plural, kind, body):
        super()._note(plural, kind, body)
        self.noted[self.version] = len(self.server.exchanges), time.monotonic()
        self.newest[plural] = self.version
        if plural == "tfjobs" and body["metadata"]["name"] == JOB:
            self.status = body.get("status") or {}
        if (plural, kind) == ("pods", "ADDED"):
            labels = [pod["metadata"]["labels"] for (plural_of, _), pod in self.objects.items()
                      if plural_of == "pods" and pod["status"]["phase"] in ("Pending", "Running")]
            count = collections.Counter(replica_of(of_one) for of_one in labels if self._is_of_job(of_one))
            self.doubled += [replica for replica in count if count[replica] > 1]

    def _later(self, step, *arguments):
        if self.pods_end_late and step == self._take_away and arguments[0] == "pods":
            threading.Timer(LATE, super()._later, (step, *arguments)).start()
        else:
            super()._later(step, *arguments)

    @staticmethod
    def _is_of_job(labels):
        return labels[LABEL + "job-name"] == JOB

    # Steps of a scenario

    def begin(self, run_policy=None, is_dynamic=False, restart_policy="Never", **roles):
        with self.lock:
            self.add(JOB, run_policy=run_policy, is_dynamic=is_dynamic, more={"restartPolicy": restart_policy}, **roles)
            self.change("tfjobs", JOB, lambda job: job["spec"].update(successPolicy="AllWorkers"))

    def until_running(self, *replicas, but=()):
        """Waits until these replicas and no others run and have Services. None of their Pods has one of the uids in `but`. Returns the
        uids."""
        def found(objects):
            pods = {name: body for (plural, name), body in objects.items() if plural == "pods"}
            uids = {body["metadata"]["uid"] for body in pods.values()}
            wanted = sorted(f"{JOB}-{replica}" for replica in replicas)
            return (sorted(pods) == wanted == self.names("services") and uids.isdisjoint(but)
                    and all(body["status"]["phase"] == "Running" and "deletionTimestamp" not in body["metadata"]
                            for body in pods.values()) and uids)
        return self.until(found)

    def uid_of(self, replica):
        return self.pod(f"{JOB}-{replica}")["metadata"]["uid"]

    def exit(self, replica, code):
        self.codes[replica] = code
        self._later(self._finish, f"{JOB}-{replica}", self.uid_of(replica))
        self.until(lambda _: not self.codes)

    def succeed(self, *replicas):
        for replica in replicas:
            self.exit(replica, 0)

    def scale(self, count):
        self.change("tfjobs", JOB, lambda job: job["spec"]["tfReplicaSpecs"]["Worker"].update(replicas=count))

    def suspend(self, is_suspended):
        self.change("tfjobs", JOB, lambda job: job["spec"]["runPolicy"].update(suspend=is_suspended))

    # What has become of the job

    def end(self):
        """Restarting stays true when a job ends before the operator has seen it running again: training-operator does the same."""
        with self.lock:
            return {
                "true": [entry["type"] for entry in self.status.get("conditions", [])
                         if entry["status"] == "True" and entry["type"] != "Restarting"],
                "replicaStatuses": self.status.get("replicaStatuses"),
                "restarts": self.status.get("restarts", 0),
                "left": sorted(f"{plural}/{name}" for plural, name in self.objects if plural in ("pods", "services", "tfjobs")),
            }

    def n_pods(self):
        """How many Pods were created of each replica."""
        with self.lock:
            return dict(collections.Counter(replica_of(labels) for plural, labels in self.created
                                            if plural == "pods" and self._is_of_job(labels)))


# Scenarios


def succeeds(kube):
    kube.begin({"cleanPodPolicy": "Running"}, Chief=1, Worker=2, PS=1)
    kube.until_running("chief-0", "ps-0", "worker-0", "worker-1")
    kube.succeed("worker-0", "worker-1", "chief-0")


def restarts(kube):
    kube.begin(restart_policy="ExitCode", Worker=2)
    kube.until_running("worker-0", "worker-1")
    failed = kube.uid_of("worker-1")
    kube.exit("worker-1", 137)
    kube.until_running("worker-0", "worker-1", but={failed})
    kube.succeed("worker-1", "worker-0")


def restarts_whole(kube):
    kube.begin({"restartScope": "job"}, restart_policy="ExitCode", Worker=2, PS=1)
    uids = kube.until_running("ps-0", "worker-0", "worker-1")
    kube.exit("worker-1", 137)
    kube.until_running("ps-0", "worker-0", "worker-1", but=uids)
    kube.succeed("worker-1", "worker-0")


def fails(kube):
    kube.begin({"backoffLimit": 1}, restart_policy="ExitCode", Worker=2)
    kube.until_running("worker-0", "worker-1")
    failed = kube.uid_of("worker-1")
    kube.exit("worker-1", 137)
    kube.until_running("worker-0", "worker-1", but={failed})
    kube.exit("worker-1", 137)


def is_suspended(kube):
    kube.begin(Worker=2)
    uids = kube.until_running("worker-0", "worker-1")
    kube.suspend(True)
    kube.condition(JOB, "Suspended")
    kube.until(lambda _: not kube.names("pods") and not kube.names("services"))
    kube.suspend(False)
    kube.until_running("worker-0", "worker-1", but=uids)
    kube.succeed("worker-1", "worker-0")


def is_scaled(kube):
    kube.begin(is_dynamic=True, Worker=1, PS=1)
    kube.until_running("ps-0", "worker-0")
    kube.scale(3)
    kube.until_running("ps-0", "worker-0", "worker-1", "worker-2")
    kube.scale(2)
    kube.until_running("ps-0", "worker-0", "worker-1")
    kube.succeed("worker-1", "worker-0")


def is_deleted(kube):
    kube.begin({"ttlSecondsAfterFinished": 0, "cleanPodPolicy": "All"}, Worker=2)
    kube.until_running("worker-0", "worker-1")
    kube.succeed("worker-1", "worker-0")


class Scenario(typing.NamedTuple):
    steps: typing.Callable
    statuses: dict  # replicaStatuses
    pods: dict  # how many are created of each replica
    left: tuple = ()  # the replicas whose Pods and Services are left
    end: str = "Succeeded"
    restarts: int = 0
    is_deleted: bool = False

    def wanted(self):
        names = [f"{plural}/{JOB}-{replica}" for plural in ("pods", "services") for replica in self.left]
        return {"true": ["Created", self.end], "replicaStatuses": self.statuses, "restarts": self.restarts,
                "left": sorted(names if self.is_deleted else [*names, f"tfjobs/{JOB}"])}


WORKERS = ("worker-0", "worker-1")
ONE = {"succeeded": 1}
BOTH = {"Worker": {"succeeded": 2}}
SCENARIOS = {scenario.steps.__name__: scenario for scenario in (
    Scenario(succeeds, {"Chief": ONE, "PS": ONE, **BOTH}, {"chief-0": 1, "ps-0": 1, "worker-0": 1, "worker-1": 1}, ("chief-0", *WORKERS)),
    Scenario(restarts, BOTH, {"worker-0": 1, "worker-1": 2}, WORKERS, restarts=1),
    Scenario(restarts_whole, {"PS": ONE, **BOTH}, {"ps-0": 2, "worker-0": 2, "worker-1": 2}, ("ps-0", *WORKERS), restarts=1),
    Scenario(fails, {"Worker": {"active": 1, "failed": 1}}, {"worker-0": 1, "worker-1": 2}, WORKERS, "Failed", 1),
    Scenario(is_suspended, BOTH, {"worker-0": 2, "worker-1": 2}, WORKERS),
    Scenario(is_scaled, {"PS": ONE, **BOTH}, {"ps-0": 1, "worker-0": 1, "worker-1": 1, "worker-2": 1}, ("ps-0", *WORKERS)),
    Scenario(is_deleted, BOTH, {"worker-0": 1, "worker-1": 1}, is_deleted=True),
)}


# Disturbances of writes: what gives True has answered.


def kill_before(trial, exchange):
    trial.kill()
    exchange.cut()
    return True


def kill_after(trial, exchange):
    answer_cut = exchange.cut

    def answer(*_):
        trial.kill()
        answer_cut()
    exchange.answer = answer
    return False


def after_it(happen):
    """This happens after the write was done and before it is answered."""
    def disturb(trial, exchange):
        answer = exchange.answer

        def answer_then(*arguments):
            happen(trial.kube)
            answer(*arguments)
        exchange.answer = answer_then
        return False
    return disturb


def compact_and(end):
    def happen(kube):
        kube.forget_history()
        end(kube)
    return happen


def answer_late(trial, exchange):
    """The watches show what the write did, and then it is answered."""
    kube, (plural, *name) = trial.kube, exchange.path.split("/namespaces/")[1].split("/")[1:]
    answer = exchange.answer

    def is_shown():
        is_left = exchange.method == "DELETE" and (plural, *name) in kube.objects
        return kube.version is None or (kube.sent[plural] >= kube.newest[plural] and not is_left)

    def answer_then(*arguments):
        with kube.lock:
            kube.lock.wait_for(is_shown, LATE)
        answer(*arguments)
    exchange.answer = answer_then
    return False


def refuse_before(code, *headers, **more):
    fault = refuse(code, *headers, **more)
    # An API server answers a DELETE by a uid with 409 only if the object has another uid.
    return lambda _, exchange: (code, exchange.method) != (409, "DELETE") and fault(exchange)


def refuse_after(code, *headers):
    def disturb(_, exchange):
        answer = exchange.answer
        reason = "" if code != 409 else "AlreadyExists" if exchange.method == "POST" else "Conflict"
        exchange.answer = lambda *_: answer(code, status(code, reason, "not now"), *headers)
        return False
    return disturb


def exceed_quota(_, exchange):
    return exchange.method == "POST" and refuse(403, reason="Forbidden", message="exceeded quota: few")(exchange)


# Disturbances of everything, from the beginning. They get each watch.


def do_nothing(_, __):
    pass


def send_twice(_, exchange):
    chunk = exchange.chunk

    def chunk_twice(data):
        chunk(data)
        chunk(data)
    exchange.chunk = chunk_twice


def delay(plural, n_requests):
    """An event of these objects comes when the server has had so many more requests, or has had none for a moment."""
    def disturb(trial, exchange):
        kube, chunk = trial.kube, exchange.chunk

        def chunk_late(data):
            n_before, noted_at = kube.noted.get(version_of(data), (0, 0))
            with kube.lock:
                kube.lock.wait_for(lambda: kube.version is None or len(kube.server.exchanges) >= n_before + n_requests,
                                   max(0, noted_at + LATE - time.monotonic()))
            chunk(data)
        if exchange.path.endswith(f"/{plural}"):
            exchange.chunk = chunk_late
    return disturb


def end_pods_late(trial, _):
    trial.kube.pods_end_late = True


WRITES = {
    "killed-after": kill_after,
    "killed-before": kill_before,
    "watches-cut": after_it(FakeKube.cut_watches),
    "watches-ended": after_it(FakeKube.end_watches),
    "compacted-and-cut": after_it(compact_and(FakeKube.cut_watches)),
    "compacted-and-ended": after_it(compact_and(FakeKube.end_watches)),
    "answered-late": answer_late,
    "lost-answer": lambda _, exchange: cut_after_doing(exchange),
    "500-before": refuse_before(500),
    "500-after": refuse_after(500),
    "409-before": refuse_before(409, reason="Conflict"),
    "409-after": refuse_after(409),
    "429-before": refuse_before(429, "Retry-After: 0"),
    "429-after": refuse_after(429, "Retry-After: 0"),
    "over-quota": exceed_quota,
}
WATCHES = {
    "undisturbed": do_nothing,
    "events-twice": send_twice,
    "pods-end-late": end_pods_late,
    **{f"{plural}-{count}-requests-late": delay(plural, count) for plural in ("pods", "services", "tfjobs") for count in (1, 3, 10)},
}


class Trial:
    """One scenario with a disturbance: of one write (`at` is its number), of every other attempt of each write (0), or of watches
    (None)."""

    def __init__(self, muster, folder, kube, disturb, at):
        folder.mkdir(exist_ok=True)
        self.kube, self.disturb, self.at = kube, disturb, at
        self.n_writes = 0
        self.n_attempts = collections.Counter()
        self.lock = threading.Lock()
        self.said = open(folder / "said", "a")
        config = write_kubeconfig(folder / "kubeconfig", kube.origin)
        self.start = lambda: muster.start("operator", "-n", NAMESPACE, "--kubeconfig", config, stderr=self.said)
        kube.trouble = self.trouble
        self.operator = self.start()

    def kill(self):
        with self.lock:
            self.operator.kill()
            self.operator.wait(LIMIT)
            self.operator = self.start()

    def stop(self):
        self.kube.trouble = lambda exchange: False
        with self.lock:
            self.operator.send_signal(signal.SIGTERM)
            assert self.operator.wait(LIMIT) in (0, -signal.SIGTERM)  # it may have started just now

    def trouble(self, exchange):
        if exchange.query.get("watch") == "true":
            self.see_watch(exchange)
            return False
        if exchange.method == "GET" or exchange.path.endswith("/events") or self.at is None:
            return False
        with self.lock:
            self.n_writes += 1
            key = exchange.method, subject(exchange)
            self.n_attempts[key] += 1
            is_met = self.n_writes == self.at if self.at else self.n_attempts[key] % 2
        if is_met:
            return self.disturb(self, exchange)
        return not self.at and answer_late(self, exchange)

    def see_watch(self, exchange):
        kube, chunk, plural = self.kube, exchange.chunk, exchange.path.rpartition("/")[2]

        def chunk_and_note(data):
            chunk(data)
            with kube.lock:
                kube.sent[plural] = version_of(data)
                kube.lock.notify_all()
        exchange.chunk = chunk_and_note
        if self.at is None:
            self.disturb(self, exchange)

    def check(self, scenario):
        """The end is the wanted one, and an operator that starts after it changes nothing."""
        kube, wanted = self.kube, scenario.wanted()
        with kube.lock:
            kube.lock.wait_for(lambda: kube.end() == wanted, LIMIT)
        assert kube.end() == wanted
        self.stop()
        self.operator = self.start()
        kube.add("next", Worker=1)
        kube.condition("next", "Running")
        self.stop()
        calls = [f"{method} {path}" for method, path, _ in kube.requests()]
        begin = max(number for number, call in enumerate(calls) if "customresourcedefinitions" in call)
        assert [call for call in calls[begin:] if not call.startswith("GET") and f"/{JOB}" in call] == []
        assert (kube.n_pods(), kube.doubled) == (scenario.pods, [])


def play(muster, folder, scenario, disturb, at=None):
    """Returns the number of writes."""
    with Cluster() as kube:
        trial = Trial(muster, folder, kube, disturb, at)
        try:
            scenario.steps(kube)
            trial.check(scenario)
        except BaseException:
            print(f"write {at}, operator {trial.operator.poll()}:", *(f"{method} {path}" for method, path, _ in kube.requests()),
                  json.dumps(kube.status), sep="\n")
            raise
        finally:
            kube.trouble = lambda exchange: False
            trial.operator.kill()
            trial.said.close()
        return trial.n_writes


QUICK = [
    ("succeeds", "killed-after", "one"), ("restarts", "killed-before", "one"), ("is_suspended", "killed-after", "one"),
    ("restarts_whole", "killed-before", "each"), ("is_deleted", "killed-after", "each"), ("fails", "lost-answer", "each"),
    ("is_suspended", "events-twice", "watches"), ("restarts", "pods-10-requests-late", "watches"),
    ("is_scaled", "killed-before", "one"), ("is_scaled", "pods-end-late", "watches"),
]
CASES = [
    *((scenario, disturbance, "watches") for scenario in SCENARIOS for disturbance in WATCHES),
    *((scenario, disturbance, writes) for scenario in SCENARIOS for disturbance in WRITES for writes in ("one", "each")
      # The operator waits longer and longer before it lists again.
      if not (disturbance.startswith("compacted") and writes == "each")),
]


@pytest.mark.parametrize("scenario, disturbance, extent", few(QUICK + [case for case in CASES if case not in QUICK], len(QUICK)))
def test_a_job_reaches_its_end(muster, tmp_path, scenario, disturbance, extent):
    if extent == "watches":
        play(muster, tmp_path, SCENARIOS[scenario], WATCHES[disturbance])
    elif extent == "each":
        play(muster, tmp_path, SCENARIOS[scenario], WRITES[disturbance], 0)
    else:
        assert any(play(muster, tmp_path / str(at), SCENARIOS[scenario], WRITES[disturbance], at) < at for at in itertools.count(1))


class Refusal:
    """Of such calls for Pods, until `end`; what is taken then is shown by the watch before it is answered."""

    def __init__(self, method):
        self.method, self.has_ended = method, False

    def __call__(self, trial, exchange):
        is_met = not self.has_ended and exchange.method == self.method and "/pods" in exchange.path
        return (refuse(403, reason="Forbidden", message="exceeded quota: few") if is_met
                else functools.partial(answer_late, trial))(exchange)

    def end(self):
        self.has_ended = True


def test_pods_that_were_refused_start_together(muster, tmp_path):
    with Cluster() as kube:
        refusal = Refusal("POST")
        trial = Trial(muster, tmp_path, kube, refusal, 0)
        kube.begin(Worker=QUOTA_WORKERS)
        kube.until(lambda _: "FailedCreatePod" in kube.events())
        refusal.end()
        with kube.lock:
            assert kube.lock.wait_for(lambda: len(kube.names("pods")) == QUOTA_WORKERS, QUOTA_SECONDS), kube.names("pods")
        trial.stop()


def test_pods_whose_end_was_refused_end_together(muster, tmp_path):
    with Cluster() as kube:
        refusal = Refusal("DELETE")
        trial = Trial(muster, tmp_path, kube, refusal, 0)
        kube.begin(Worker=QUOTA_WORKERS)
        kube.until_running(*(f"worker-{index}" for index in range(QUOTA_WORKERS)))
        kube.suspend(True)
        kube.until(lambda _: "FailedDeletePod" in kube.events())
        refusal.end()
        with kube.lock:
            assert kube.lock.wait_for(lambda: not kube.names("pods"), QUOTA_SECONDS), kube.names("pods")
        trial.stop()
