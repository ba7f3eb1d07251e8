"""Where the workers meet: worker 0 waits until all others have come, then lets them go on.

Queues exist as soon as anybody uses them, so nobody has to be there first and nothing has to be initialised.
"""

import time

from muster_check.cluster import Late
from muster_check.events import Fault
from muster_check.runtime import tf
from muster_check.tasks import listed

PATIENCE = 10  # seconds that others wait longer than worker 0, which knows who is missing and says it


class Meeting:
    def __init__(self, cluster, name):
        self.cluster = cluster
        self.others = set(range(1, cluster.n_workers))
        with tf.device(cluster.shared_device):
            arrivals = tf.queue.FIFOQueue(cluster.n_workers, tf.int64, shapes=(), shared_name=f"{name}/arrivals")
            leave = tf.queue.FIFOQueue(cluster.n_workers, tf.int64, shapes=(), shared_name=f"{name}/leave")
            self.arrive = arrivals.enqueue(cluster.worker)
            self.next_arrival = arrivals.dequeue()
            self.let_go = leave.enqueue_many([range(cluster.n_workers - 1)]) if self.others else tf.no_op()
            self.wait = leave.dequeue()
        self.resources = [arrivals.queue_ref, leave.queue_ref]

    def gather(self, client):
        """Worker 0: until all others have come."""
        missing = set(self.others)
        end = time.monotonic() + self.cluster.limit
        while missing:
            try:
                missing.discard(client.run(self.next_arrival, limit=max(1, end - time.monotonic())))
            except Late as late:
                who = listed(("worker", index) for index in missing)
                raise Fault("training", f"{who} did not come within {self.cluster.limit} s") from late

    def enter(self, client):
        """Comes back when everybody is there."""
        if self.cluster.worker == 0:
            self.gather(client)
            client.run(self.let_go)
            return
        client.run(self.arrive)
        try:
            client.run(self.wait, limit=self.cluster.limit + PATIENCE)
        except Late as late:
            raise Fault("training", f"worker-0 did not begin within {self.cluster.limit + PATIENCE} s") from late
