"""The two ways of applying the gradients of several workers to the variables that they share.

Both have: `step`, the operation that a worker runs once for each batch, which gives the global step after it;
`train`, the loop; and `resources`, what they leave on the servers.
"""

from muster_check.cluster import Late
from muster_check.events import Fault
from muster_check.runtime import tf, v1
from muster_check.tasks import listed


def apply(model, pairs, global_step):
    """Applies (gradient, variable) pairs with the model's optimizers; gives the global step after it."""
    with tf.control_dependencies(model.apply(pairs)):
        return global_step.assign_add(1)


class Asynchronous:
    """Each worker applies its own gradients, whatever the others do. It ends at the first step that is the last one or
    behind it, so that all workers end, and each has made a step."""

    def __init__(self, cluster, model, loss, global_step, last_step):
        variables = v1.trainable_variables()
        self.loss = loss
        self.last_step = last_step
        gradients = tf.gradients(loss, variables)
        with tf.control_dependencies([loss]):  # which is of the variables as they were
            self.step = apply(model, list(zip(gradients, variables)), global_step)
        self.resources = []

    def train(self, client, batches, progress):
        step = 0
        while step < self.last_step:
            step, loss = client.run([self.step, self.loss], next(batches))
            progress.tell(min(step, self.last_step), loss)


class Synchronous:
    """Each global step applies the average of one gradient of every worker.

    Every worker makes exactly `last_step` steps: it adds its gradients to accumulators beside the variables, and waits
    at a queue of its own. Worker 0 takes the averages when they are made of as many gradients as there are workers,
    applies them, and puts the new step into each queue. A worker cannot add to a step twice, nor to one that is over,
    and when the last one is made nothing is left over and nobody waits.

    TensorFlow's SyncReplicasOptimizer has one queue for all: a fast worker may take two of its tokens, the average is
    then of fewer workers, and at the end some wait for tokens that nobody makes any more.
    """

    def __init__(self, cluster, model, loss, global_step, last_step):
        self.cluster = cluster
        self.loss = loss
        self.last_step = last_step
        self.number = v1.placeholder(tf.int64, ())
        self.resources = []
        variables = v1.trainable_variables()
        with tf.device(cluster.shared_device):
            # What each worker has added to, so that a time-out can name who has not.
            self.added = v1.get_variable("added", initializer=tf.fill([cluster.n_workers], tf.constant(-1, tf.int64)),
                                         trainable=False, use_resource=True)
        sums = [self.sum_for(variable) for variable in variables]
        gradients = tf.gradients(loss, variables)
        with tf.control_dependencies([loss]):  # which is of the variables as they were
            additions = [self.add(*what) for what in zip(gradients, sums, variables)]
        with tf.control_dependencies(additions):
            noted = v1.scatter_update(self.added, [cluster.worker], [self.number])
        with tf.control_dependencies([noted]):
            queues = [self.queue_of(worker) for worker in range(1, cluster.n_workers)]
            self.step = self.lead(model, sums, variables, global_step, queues) if cluster.worker == 0 \
                else queues[cluster.worker - 1].dequeue()

    def sum_for(self, variable):
        with tf.device(variable.device):
            accumulator = v1.ConditionalAccumulator(variable.dtype, variable.shape,
                                                    shared_name=f"{variable.op.name}/sum")
        self.resources.append(accumulator.accumulator_ref)
        return accumulator

    def add(self, gradient, into, variable):
        """Rows of an embedding become a whole gradient: the tables here are small."""
        with tf.device(variable.device):
            return into.apply_grad(tf.convert_to_tensor(gradient), local_step=self.number)

    def queue_of(self, worker):
        with tf.device(self.cluster.shared_device):
            queue = tf.queue.FIFOQueue(1, tf.int64, shapes=(), shared_name=f"step/{worker}")
        self.resources.append(queue.queue_ref)
        return queue

    def lead(self, model, sums, variables, global_step, queues):
        """Worker 0: makes the step that all have added to, and tells them."""
        averages = []
        for total, variable in zip(sums, variables):
            with tf.device(variable.device):
                averages.append(total.take_grad(self.cluster.n_workers))
        step = apply(model, list(zip(averages, variables)), global_step)
        with tf.device(self.cluster.shared_device), tf.control_dependencies([queue.enqueue(step) for queue in queues]):
            return tf.identity(step)

    def train(self, client, batches, progress):
        for number in range(self.last_step):
            try:
                step, loss = client.run([self.step, self.loss], {**next(batches), self.number: number})
            except Late as late:
                raise Fault("training", f"{self.who_is_late(client, number)} did not add to step {number + 1} "
                                        f"within {self.cluster.limit} s") from late
            assert step == number + 1, f"step {step} came after step {number}"
            progress.tell(step, loss)

    def who_is_late(self, client, number):
        added = client.run(self.added)
        late = [("worker", worker) for worker in range(self.cluster.n_workers) if added[worker] < number]
        return listed(late or [("worker", 0)])
