"""Trains with all workers in step (MultiWorkerMirroredStrategy), with a chief or without.

    muster run -w 2 examples/tfjob/train.py --log-dir /tmp/logs

Without TF_CONFIG, one process trains alone. An evaluator tests each checkpoint. With --checkpoint-dir, a restarted job
continues after the last epoch that was saved. Needs only TensorFlow.
"""

import argparse
import json
import os
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # before TensorFlow is imported

import tensorflow as tf

from digits import BATCH_SIZE, Network, batches_of, load_digits

# Marks a scalar for TensorBoard. tf.summary.scalar does this too, but TensorFlow 2.21 does not install what it needs.
SCALAR = tf.compat.v1.SummaryMetadata(plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="scalars"))


def read_arguments():
    parser = argparse.ArgumentParser(description="Trains a network that reads handwritten digits.")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--checkpoint-dir", help="one checkpoint per epoch; the job continues from the latest one")
    parser.add_argument("--export-dir", help="the trained network, as a SavedModel")
    parser.add_argument("--log-dir", help="summaries for TensorBoard")
    return parser.parse_args()


def read_task():
    """The role of this process, and whether it is the leader, which keeps the files."""
    config = json.loads(os.environ.get("TF_CONFIG", "{}"))
    cluster, task = config.get("cluster", {}), config.get("task", {})
    # A TFJob lists the evaluator in the cluster. It is none of the processes that train in step.
    if cluster.pop("evaluator", None):
        os.environ["TF_CONFIG"] = json.dumps(config)
    role = task.get("type", "worker")
    return role, (role, task.get("index", 0)) == ("chief" if "chief" in cluster else "worker", 0)


def summary_writer(log_dir, role):
    return tf.summary.create_file_writer(os.path.join(log_dir, role)) if log_dir else tf.summary.create_noop_writer()


def write_scalars(writer, epoch, **values):
    with writer.as_default(step=epoch):
        for name, value in values.items():
            tf.summary.write(name, value, metadata=SCALAR)
    writer.flush()


def epoch_of(path):
    """Checkpoints are called ckpt-EPOCH."""
    return int(path.rpartition("-")[2])


class Checkpoints:
    """One per epoch. Every process saves, as TensorFlow demands for this strategy, but only the leader's files stay."""

    def __init__(self, network, folder, is_leader):
        self.first_epoch = 1
        self.manager = None
        if folder:
            self.scratch = tempfile.TemporaryDirectory()
            checkpoint = tf.train.Checkpoint(network=network)
            self.manager = tf.train.CheckpointManager(checkpoint, folder if is_leader else self.scratch.name, max_to_keep=None)
            latest = tf.train.latest_checkpoint(folder)
            if latest:
                checkpoint.restore(latest)
                self.first_epoch = epoch_of(latest) + 1
                print(f"continues after epoch {epoch_of(latest)}", flush=True)

    def save(self, epoch):
        if self.manager:
            self.manager.save(checkpoint_number=epoch)


def export(network, folder):
    copy = Network()  # the variables of the network itself belong to the strategy
    for variable, trained in zip(copy.weights, network.weights):
        variable.assign(trained.numpy())
    tf.saved_model.save(copy, folder, signatures=copy.classify)
    print(f"exported {folder}", flush=True)


def train(arguments, role, is_leader):
    strategy = tf.distribute.MultiWorkerMirroredStrategy()  # waits for the other workers
    print(f"replicas in step: {strategy.num_replicas_in_sync}", flush=True)
    training, test = load_digits()
    with strategy.scope():
        network = Network()
    batches = iter(strategy.distribute_datasets_from_function(lambda context: batches_of(
        training, BATCH_SIZE // context.num_replicas_in_sync, seed=context.input_pipeline_id)))

    @tf.function
    def train_step(batches):
        return strategy.reduce("MEAN", strategy.run(network.learn, args=next(batches)), axis=None)

    checkpoints = Checkpoints(network, arguments.checkpoint_dir, is_leader)
    writer = summary_writer(arguments.log_dir if is_leader else None, role)
    for epoch in range(checkpoints.first_epoch, arguments.epochs + 1):
        for _ in range(len(training[1]) // BATCH_SIZE):
            loss = train_step(batches)
        accuracy = network.accuracy(*test)
        print(f"epoch {epoch}/{arguments.epochs}: loss {loss:.4f}, test accuracy {accuracy:.4f}", flush=True)
        write_scalars(writer, epoch, loss=loss, accuracy=accuracy)
        checkpoints.save(epoch)
    if arguments.export_dir and is_leader:
        export(network, arguments.export_dir)


def evaluate(arguments, role):
    if not arguments.checkpoint_dir:
        sys.exit("the evaluator needs --checkpoint-dir")
    _, test = load_digits()
    network = Network()
    checkpoint = tf.train.Checkpoint(network=network)
    writer = summary_writer(arguments.log_dir, role)
    for path in tf.train.checkpoints_iterator(arguments.checkpoint_dir):
        checkpoint.restore(path).expect_partial()
        accuracy = network.accuracy(*test)
        print(f"checkpoint of epoch {epoch_of(path)}: test accuracy {accuracy:.4f}", flush=True)
        write_scalars(writer, epoch_of(path), accuracy=accuracy)
        if epoch_of(path) >= arguments.epochs:
            return


def main():
    arguments = read_arguments()
    role, is_leader = read_task()
    if role == "evaluator":
        evaluate(arguments, role)
    else:
        train(arguments, role, is_leader)


if __name__ == "__main__":
    main()
