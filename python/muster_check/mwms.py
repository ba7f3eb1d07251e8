"""MultiWorkerMirroredStrategy: every worker keeps the whole network, and collectives average what they have learnt.

The workers start their servers themselves, at the addresses of TF_CONFIG, and go from step to step together.
"""

from muster_check import digits
from muster_check.dataset import LABEL
from muster_check.events import Progress, tell_data, training
from muster_check.network import Network, input_for
from muster_check.result import judge
from muster_check.runtime import context, tf
from muster_check.tasks import faults


def make_step(strategy, network):
    @tf.function
    def step(batches):
        losses = strategy.run(network.learn, args=next(batches))
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)
    return step


def train(strategy, network, dataset, arguments, happened):
    batches = iter(strategy.distribute_datasets_from_function(
        lambda part: input_for(dataset, arguments.batch_size, seed=part.input_pipeline_id)))
    step = make_step(strategy, network)
    progress = Progress(arguments.worker, arguments.steps)
    with training(arguments.worker):
        for number in range(1, arguments.steps + 1):
            progress.tell(number, step(batches))
            happened()


def wait_for_all(limit):
    """Until all workers have all of the last step: who leaves earlier takes away what another is about to fetch."""
    context.context().wait_at_barrier("training-ends", limit * 1000)


def run(arguments, member, happened):
    arguments.worker = member.index
    arguments.steps = arguments.steps or Network.steps
    dataset = digits.load(arguments.data_dir)
    tell_data(dataset)
    with faults():
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            network = Network(dataset)
        before, _ = network.evaluate(dataset.validation)
        train(strategy, network, dataset, arguments, happened)
        wait_for_all(arguments.timeout)
    if arguments.worker != 0:
        return 0
    after, accuracy = network.evaluate(dataset.validation)
    return judge(network, dataset.validation[LABEL], arguments.steps, before, after, accuracy)
