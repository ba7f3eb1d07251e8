"""Between-graph replication: every worker builds the same graph, and its server runs it on variables that all share.

What all models of servers have in common stands here. A model has `steps` (its full number), `classes`, `share` (see
result), `load(data_dir)`, `logits(columns)` and `apply(gradients and variables)`.
"""

import contextlib

import numpy as np

from muster_check.cluster import Cluster
from muster_check.dataset import LABEL, batches, length, pieces
from muster_check.events import Progress, tell_data, training
from muster_check.meeting import Meeting
from muster_check.result import judge
from muster_check.runtime import tf, v1
from muster_check.updates import Asynchronous, Synchronous

EVALUATION_BATCH = 2000
LAST_WORDS = 2  # seconds for taking the run's variables off the servers


class Client:
    """A session on the worker's server, with columns of numpy to feed it with."""

    def __init__(self, cluster, replica):
        self.cluster = cluster
        self.replica = replica
        self.session = cluster.session(replica.graph, cluster.needed_tasks(), cluster.limit)

    def run(self, fetches, feed=None, limit=None):
        """Names of columns in `feed` stand for their placeholders."""
        limit = limit or self.cluster.limit
        feed = {self.replica.columns.get(key, key): value for key, value in (feed or {}).items()}
        with self.cluster.faults(limit):
            return self.session.run(fetches, feed, options=v1.RunOptions(timeout_in_ms=int(limit * 1000)))


class Replica:
    """The graph of one worker. Everything in it that lives on the servers is kept in the container of this run."""

    def __init__(self, model, dataset, cluster, arguments):
        self.graph = tf.Graph()
        with self.graph.as_default(), self.graph.container(arguments.container), self.graph.device(cluster.placement()):
            v1.set_random_seed(1)
            self.begin = Meeting(cluster, "begin")
            self.end = Meeting(cluster, "end")
            self.columns = {name: v1.placeholder(values.dtype, (None, *values.shape[1:]))
                            for name, values in dataset.training.items()}
            logits, labels = model.logits(self.columns), self.columns[LABEL]
            self.loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
            self.accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1, labels.dtype), labels), tf.float32))
            with tf.device(cluster.shared_device):
                global_step = v1.get_variable("global_step", initializer=tf.constant(0, tf.int64), trainable=False,
                                              use_resource=True)
            way = Synchronous if arguments.sync_replicas else Asynchronous
            self.updates = way(cluster, model, self.loss, global_step, arguments.steps)
            self.initialise = v1.global_variables_initializer()
            self.forget = tf.group(*map(destroy, self.resources()))

    def resources(self):
        variables = [variable.handle for variable in v1.global_variables()]
        return variables + self.begin.resources + self.end.resources + self.updates.resources


def destroy(handle):
    """Where it lives. Resetting the container instead would end everybody's sessions on that server."""
    with tf.device(handle.device):
        return tf.raw_ops.DestroyResourceOp(resource=handle, ignore_lookup_error=True)


def evaluate(client, replica, columns):
    """(cross entropy, accuracy): means over all rows."""
    weights = [length(piece) for piece in pieces(columns, EVALUATION_BATCH)]
    values = [client.run([replica.loss, replica.accuracy], piece) for piece in pieces(columns, EVALUATION_BATCH)]
    return tuple(map(float, np.average(values, axis=0, weights=weights)))


def train(client, replica, dataset, arguments):
    replica.begin.enter(client)
    with training(arguments.worker):
        replica.updates.train(client, batches(dataset.training, arguments.batch_size, seed=arguments.worker),
                              Progress(arguments.worker, arguments.steps))


def lead(client, replica, dataset, model, arguments):
    """What worker 0 does: makes the variables, trains as the others do, and judges the result."""
    client.run(replica.initialise)
    try:
        before, _ = evaluate(client, replica, dataset.validation)
        train(client, replica, dataset, arguments)
        replica.end.gather(client)
        after, accuracy = evaluate(client, replica, dataset.validation)
    finally:
        forget(client, replica)
    return judge(model, dataset.validation[LABEL], arguments.steps, before, after, accuracy)


def forget(client, replica):
    """Takes what this run made off the servers; from servers that are gone it is gone."""
    with contextlib.suppress(tf.errors.OpError):
        client.session.run(replica.forget, options=v1.RunOptions(timeout_in_ms=LAST_WORDS * 1000))


def follow(client, replica, dataset, arguments):
    """What the other workers do."""
    train(client, replica, dataset, arguments)
    client.run(replica.end.arrive)
    return 0


def run(model, arguments):
    """Trains the model; gives the exit code."""
    arguments.steps = arguments.steps or model.steps
    dataset = model.load(arguments.data_dir)
    tell_data(dataset)
    cluster = Cluster(arguments)
    cluster.check()
    replica = Replica(model, dataset, cluster, arguments)
    client = Client(cluster, replica)
    if arguments.worker == 0:
        return lead(client, replica, dataset, model, arguments)
    return follow(client, replica, dataset, arguments)
