"""How the gradients of several workers are applied: a real server, workers that are threads, and one weight whose gradient
is the worker's example, so that everything that comes of it can be told in the head."""

import concurrent.futures
import itertools
import threading
import types

import numpy as np
import pytest

from muster_check.events import Fault
from needs import needs_tensorflow

pytestmark = needs_tensorflow
STEPS = 7
NUMBERS = itertools.count()
DEVICE = "/job:localhost/task:0"


@pytest.fixture(scope="module")
def target():
    from muster_check.runtime import tf
    server = tf.distribute.Server.create_local_server()
    yield server.target
    del server  # which serves as long as it is there


@pytest.fixture
def worker_of(target):
    """Makes worker `index` of `count`, whose example is index + 1."""
    from muster_check.runtime import tf, v1
    from muster_check.cluster import Late
    from muster_check import updates

    container = f"test-{next(NUMBERS)}"

    class Model:
        optimizer = v1.train.GradientDescentOptimizer(1.0)

        def apply(self, pairs):
            return [self.optimizer.apply_gradients(pairs)]

    class Worker:
        def __init__(self, way, index, count, limit=60):
            self.losses = []
            self.limit = limit
            cluster = types.SimpleNamespace(worker=index, n_workers=count, limit=limit, shared_device=DEVICE)
            self.graph = tf.Graph()
            with self.graph.as_default(), self.graph.container(container), tf.device(DEVICE):
                self.example = v1.placeholder(tf.float32, ())
                self.weight = v1.get_variable("weight", initializer=tf.constant(0.0), use_resource=True)
                self.global_step = v1.get_variable("global_step", initializer=tf.constant(0, tf.int64), trainable=False,
                                                   use_resource=True)
                loss = self.weight * self.example
                self.updates = getattr(updates, way)(cluster, Model(), loss, self.global_step, STEPS)
                self.initialise = v1.global_variables_initializer()
            self.session = v1.Session(target, graph=self.graph)
            self.batches = itertools.repeat({self.example: index + 1})

        def run(self, fetches, feed=None):
            try:
                return self.session.run(fetches, feed, options=v1.RunOptions(timeout_in_ms=int(self.limit * 1000)))
            except tf.errors.DeadlineExceededError as error:
                raise Late("training", "nothing came") from error

        def tell(self, step, loss):
            self.losses.append(float(loss))

        def train(self):
            self.updates.train(self, self.batches, self)

        def result(self):
            return tuple(map(float, self.run([self.weight, self.global_step])))

    return Worker


def train(workers):
    workers[0].run(workers[0].initialise)
    with concurrent.futures.ThreadPoolExecutor(len(workers)) as threads:
        for ended in [threads.submit(worker.train) for worker in workers]:
            ended.result()


def assert_each_step_was_the_average(workers):
    """Each worker has seen the weight that the average of all examples had made at each step."""
    average = np.mean(np.arange(len(workers)) + 1)
    for index, worker in enumerate(workers):
        assert worker.losses == pytest.approx([-(index + 1) * average * step for step in range(STEPS)])
    assert workers[0].result() == pytest.approx((-average * STEPS, STEPS))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_synchronous_step_applies_the_average_of_all_workers(worker_of, count):
    workers = [worker_of("Synchronous", index, count) for index in range(count)]
    train(workers)
    assert_each_step_was_the_average(workers)


@pytest.mark.parametrize("late", [0, 2])
def test_a_synchronous_worker_that_comes_late_is_waited_for(worker_of, late):
    workers = [worker_of("Synchronous", index, 3) for index in range(3)]
    started = threading.Event()

    def waiting(batches):
        started.wait()
        yield from batches

    def telling(batches):
        started.set()
        yield from batches

    workers[late].batches = waiting(workers[late].batches)
    workers[1].batches = telling(workers[1].batches)
    train(workers)
    assert_each_step_was_the_average(workers)


def test_a_worker_that_does_not_add_to_a_step_is_named(worker_of):
    workers = [worker_of("Synchronous", index, 3, limit=5) for index in range(3)]  # the others surely add within that
    workers[2].train = lambda: None
    with pytest.raises(Fault, match="^worker-2 did not add to step 1 within 5 s$"):
        train(workers)


@pytest.mark.parametrize("count", [1, 3])
def test_asynchronous_workers_end_at_the_last_step_and_each_makes_one(worker_of, count):
    workers = [worker_of("Asynchronous", index, count) for index in range(count)]
    train(workers)
    n_losses = sum(len(worker.losses) for worker in workers)
    weight, step = workers[0].result()
    assert step == n_losses and STEPS <= step < STEPS + count
    assert weight == pytest.approx(-sum((index + 1) * len(worker.losses) for index, worker in enumerate(workers)))
    assert all(worker.losses for worker in workers)
