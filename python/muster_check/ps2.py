"""ParameterServerStrategy: the chief hands out steps to workers, which are bare servers, as the parameter servers are.

Only the chief runs this program.
"""

from muster_check import digits
from muster_check.dataset import LABEL
from muster_check.events import Fault, Progress, tell_data, training
from muster_check.network import Network, input_for
from muster_check.result import judge
from muster_check.runtime import tf
from muster_check.tasks import faults

ROUNDS = 20  # the chief waits for all steps of a round, and tells the last loss


def make_step(network):
    @tf.function
    def step(batches):
        return network.learn(*next(batches))
    return step


def rounds_of(steps):
    """How many steps each round has."""
    count = min(ROUNDS, steps)
    return [steps * (index + 1) // count - steps * index // count for index in range(count)]


def train(coordinator, network, dataset, arguments, happened):
    batches = iter(coordinator.create_per_worker_dataset(lambda: input_for(dataset, arguments.batch_size)))
    step = make_step(network)
    progress = Progress(0, arguments.steps)
    done = 0
    with training(0):
        for count in rounds_of(arguments.steps):
            losses = [coordinator.schedule(step, args=(batches,)) for _ in range(count)]
            coordinator.join()
            done += count
            progress.tell(done, losses[-1].fetch())
            happened()


def run(arguments, member, happened):
    if member.role != "chief":
        raise Fault("training", f"{member.role}-{member.index} runs the program of the chief, but has to be a server: "
                                "muster run --chief --ps-server --worker-server")
    arguments.steps = arguments.steps or Network.steps
    dataset = digits.load(arguments.data_dir)
    tell_data(dataset)
    with faults():
        strategy = tf.distribute.ParameterServerStrategy(tf.distribute.cluster_resolver.TFConfigClusterResolver())
        coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
        with strategy.scope():
            network = Network(dataset)
        before, _ = network.evaluate(dataset.validation)
        train(coordinator, network, dataset, arguments, happened)
        after, accuracy = network.evaluate(dataset.validation)
    return judge(network, dataset.validation[LABEL], arguments.steps, before, after, accuracy)
