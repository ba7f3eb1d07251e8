"""The servers as one worker sees them: where things are placed, and which tasks must answer.

The variables live on the parameter servers, in turn; where there are none, all live on worker 0. What else the workers
share (the global step, queues) lives on the first parameter server, or on worker 0.
"""

import concurrent.futures
import contextlib
import socket
import time
import urllib.parse

from muster_check.events import Fault
from muster_check.runtime import tf, v1
from muster_check.tasks import cause_of, fault_of, listed, task_of

CONNECT_LIMIT = 5  # seconds until a server that is there has accepted
NAME_LIMIT = 30  # seconds for which a name server may be too busy to answer
NAME_PAUSE = 1
PROBE_LIMIT = 5  # seconds until a task that lives has listed its devices
UNREACHED = (tf.errors.DeadlineExceededError, tf.errors.UnavailableError, tf.errors.AbortedError)


class Late(Fault):
    """All tasks answer, but what was waited for did not come: who waits knows for whom, and says it better."""


class Cluster:
    def __init__(self, arguments):
        self.worker = arguments.worker
        self.n_workers = arguments.workers
        self.n_ps = arguments.ps
        self.target = arguments.servers[self.worker % len(arguments.servers)]
        self.limit = arguments.timeout
        self.worker_device = f"/job:worker/task:{self.worker}"
        self.shared_device = "/job:ps/task:0" if self.n_ps else "/job:worker/task:0"

    def placement(self):
        """A device function: variables in turn on their tasks, everything else on this worker."""
        return v1.train.replica_device_setter(ps_tasks=self.n_ps or 1, worker_device=self.worker_device,
                                              ps_device="/job:ps" if self.n_ps else "/job:worker")

    def needed_tasks(self):
        """("worker", 0) and its like; the other workers may be absent."""
        storage = [("ps", index) for index in range(self.n_ps)] or [("worker", 0)]
        return sorted({*storage, ("worker", self.worker)})

    def session(self, graph, tasks, limit):
        """A session that needs these tasks alone, and waits for nothing longer than `limit` seconds."""
        config = v1.ConfigProto(device_filters=[f"/job:{job}/task:{index}" for job, index in tasks],
                                operation_timeout_in_ms=int(limit * 1000), allow_soft_placement=True)
        return v1.Session(self.target, graph=graph, config=config)

    def tasks_found(self, tasks, limit):
        """Those of the tasks that the cluster has, and the server's own; an OpError when one does not answer."""
        with self.session(tf.Graph(), tasks, limit) as session:
            return {task_of(device.name) for device in session.list_devices()}

    def is_silent(self, task):
        try:
            self.tasks_found([task], PROBE_LIMIT)
        except tf.errors.OpError:
            return True
        return False

    def check(self):
        """A Fault when the server or a task that this worker needs is not there."""
        connect(self.target)
        with self.faults(self.limit):
            found = self.tasks_found(self.needed_tasks(), self.limit)
        missing = set(self.needed_tasks()) - found
        if missing:
            raise Fault("training", f"{self.target} knows no {listed(missing)}, only {listed(found)}")

    def silent_tasks(self):
        """Those of the needed tasks that do not answer now; what stands behind a silent server cannot be told."""
        own = ("worker", self.worker)
        if self.is_silent(own):
            return [own]
        others = [task for task in self.needed_tasks() if task != own]
        with concurrent.futures.ThreadPoolExecutor(len(others) or 1) as threads:
            return [task for task, silent in zip(others, threads.map(self.is_silent, others)) if silent]

    @contextlib.contextmanager
    def faults(self, limit):
        """Turns an error of TensorFlow into a Fault that names the task."""
        try:
            yield
        except UNREACHED as error:
            is_late = isinstance(error, tf.errors.DeadlineExceededError)
            connect(self.target)
            silent = self.silent_tasks()
            if silent:
                reason = f"within {limit:.0f} s" if is_late else f"({cause_of(error)[1]})"
                raise Fault("training", f"{listed(silent)} did not answer {reason}") from error
            if is_late:
                raise Late("training", f"nothing came of it within {limit:.0f} s") from error
            raise fault_of(error) from error
        except tf.errors.OpError as error:
            raise fault_of(error) from error


def connect(target):
    """A Fault when nothing listens there: TensorFlow itself would try again for as long as it is allowed to."""
    place = urllib.parse.urlsplit(target)
    try:
        connect_to_named(place, time.monotonic() + NAME_LIMIT)
    except (OSError, ValueError, TypeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Fault("training", f"cannot reach {target}: {reason}") from error


def connect_to_named(place, until):
    """A name server that could not tell this time is asked again; one that says "no such name" is believed."""
    while True:
        try:
            return socket.create_connection((place.hostname, place.port), CONNECT_LIMIT).close()
        except socket.gaierror as error:
            if error.errno != socket.EAI_AGAIN or time.monotonic() >= until:
                raise
        time.sleep(NAME_PAUSE)
