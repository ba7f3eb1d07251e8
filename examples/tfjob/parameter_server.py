"""Trains with parameter servers (ParameterServerStrategy): each worker at its own pace.

    muster run --chief -w 4 --ps 2 examples/tfjob/parameter_server.py

The chief creates the variables on the parameter servers and sends the steps to the workers. They serve until the chief has
finished and the job stops them. Needs only TensorFlow.
"""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # before TensorFlow is imported

import tensorflow as tf

import servers
from digits import BATCH_SIZE, Network, batches_of, load_digits


def read_arguments():
    parser = argparse.ArgumentParser(description="Trains a network that reads handwritten digits.")
    parser.add_argument("--epochs", type=int, default=20)
    return parser.parse_args()


def lead(arguments, resolver):
    strategy = tf.distribute.ParameterServerStrategy(resolver)  # waits for the workers and parameter servers
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    training, test = load_digits()
    with strategy.scope():
        network = Network()
    batches = iter(coordinator.create_per_worker_dataset(lambda: batches_of(training, BATCH_SIZE)))

    @tf.function
    def train_step(batches):
        return network.learn(*next(batches))

    for epoch in range(1, arguments.epochs + 1):
        losses = [coordinator.schedule(train_step, args=(batches,)) for _ in range(len(training[1]) // BATCH_SIZE)]
        coordinator.join()  # all of them are done
        print(f"epoch {epoch}/{arguments.epochs}: loss {losses[-1].fetch():.4f}, "
              f"test accuracy {network.accuracy(*test):.4f}", flush=True)


def main():
    arguments = read_arguments()
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type == "chief":
        lead(arguments, resolver)
        return
    server = servers.start(resolver)
    print(f"{resolver.task_type}-{resolver.task_id} serves", flush=True)
    servers.serve(server)


if __name__ == "__main__":
    main()
