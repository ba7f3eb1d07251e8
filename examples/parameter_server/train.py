"""Trains on handwritten digits with a parameter server: workers at their own pace, led by a chief.

    muster run --chief -w 2 --ps 1 train.py --epochs 12 --checkpoint-dir /tmp/digits-ps

Every process runs this file (workers and parameter servers need not: see job-servers.yaml). The
chief hands out the steps and ends; workers and parameter servers serve until they are told to end.
A lost worker may come back at any time, and its steps are done again. Asked to end (TERM, or INT from
Ctrl-C) the chief saves first; started again with the same --checkpoint-dir it goes on at that step.
Needs tensorflow (or tensorflow-cpu), tf-keras and scikit-learn.
"""

import argparse
import os
import queue
import signal
import socket
import tempfile
import threading
import time

# All before TensorFlow is imported. Keras 3 does not train under this strategy; the others make it
# talk less, and count alike on every processor.
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

tf.get_logger().setLevel("ERROR")


def read_arguments():
    parser = argparse.ArgumentParser(description="Trains a network that reads handwritten digits.")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=32, help="of one step of one worker")
    parser.add_argument("--checkpoint-dir", help="goes on from here after a restart")
    parser.add_argument("--log-dir", help="curves for TensorBoard")
    parser.add_argument("--export-dir", help="the trained model becomes a file here, named after the time")
    return parser.parse_args()


def load_data():
    """Training and test images, 8 x 8 with values in 0..1, and their labels."""
    digits = load_digits()
    images = (digits.images / 16.0).astype("float32")
    return train_test_split(images, digits.target, test_size=0.2, random_state=1)


def build_model():
    model = tf.keras.Sequential([
        tf.keras.layers.Flatten(input_shape=(8, 8)),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(10),
    ])
    model.compile(
        optimizer=tf.keras.optimizers.Adam(0.003),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.optimizer.build(model.trainable_variables)  # there is something to restore into
    return model


def serve(resolver):
    """What a worker or a parameter server does: run what the chief sends, until a signal ends it."""
    cluster = resolver.cluster_spec()
    # As many threads as cores, which is the default, may all wait for other tasks where cores are few.
    n_tasks = sum(cluster.num_tasks(job) for job in cluster.jobs)
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=max(len(os.sched_getaffinity(0)), n_tasks + 1))
    server = tf.distribute.Server(cluster, job_name=resolver.task_type, task_index=resolver.task_id,
                                  protocol="grpc", config=config)
    # A container's first process gets no signal that it does not catch, Python catches none within server.join(),
    # and the signal may come to a thread of TensorFlow's: what is written then wakes this one.
    asked, woken = socket.socketpair()
    woken.setblocking(False)
    signal.set_wakeup_fd(woken.fileno())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: None)
    print(f"{resolver.task_type} {resolver.task_id} serves", flush=True)
    number, = asked.recv(1)
    del server  # until here it served
    os._exit(128 + number)


class Checkpoints(tf.keras.callbacks.Callback):
    """Saves after each epoch, and when a signal asks the chief to end, wherever training is."""

    def __init__(self, model, folder):
        super().__init__()
        self.model = model
        self.step = tf.Variable(0, dtype=tf.int64)  # that of the optimizer goes on while it is saved
        self.manager = None
        if folder:
            checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer, step=self.step)
            self.manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
            if self.manager.restore_or_initialize():
                print(f"goes on at step {int(self.step)}", flush=True)
        self.lock = threading.Lock()
        self.signals = queue.SimpleQueue()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, frame: self.signals.put(number))
        # A thread, because the main one may be anywhere within TensorFlow when a signal comes.
        threading.Thread(target=self.end_when_asked, daemon=True).start()

    def save(self):
        with self.lock, self.model.distribute_strategy.scope():
            self.step.assign(self.model.optimizer.iterations)
            if self.manager:
                self.manager.save(checkpoint_number=int(self.step))

    def on_epoch_end(self, epoch, logs=None):
        self.save()

    def end_when_asked(self):
        number = self.signals.get()
        self.save()
        print(f"asked to end at step {int(self.step)}", flush=True)
        # At once, without the steps that were handed out. Not 0: this is no success yet.
        os._exit(128 + number)


def export(model, folder):
    """Its file is there whole or not at all: others look for new ones."""
    copy = build_model()  # the variables of the model itself are on the parameter servers
    copy.set_weights(model.get_weights())
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        copy.save(os.path.join(scratch, "model.keras"))
        path = os.path.join(folder, f"{time.time_ns()}.keras")
        os.rename(os.path.join(scratch, "model.keras"), path)
    print(f"exported {path}", flush=True)


def lead(resolver, arguments):
    """What the chief does: make the model on the parameter server, and train it."""
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    train_images, test_images, train_labels, test_labels = load_data()

    def make_training_data(context):
        """Called on each worker: everything, in an order of its own, again and again."""
        data = tf.data.Dataset.from_tensor_slices((train_images, train_labels))
        return data.shuffle(len(train_labels)).repeat().batch(arguments.batch_size)

    with strategy.scope():
        model = build_model()
    checkpoints = Checkpoints(model, arguments.checkpoint_dir)

    curves = tf.summary.create_file_writer(arguments.log_dir) if arguments.log_dir else tf.summary.create_noop_writer()

    def tell(epoch, logs):
        print(f"epoch {epoch + 1}/{arguments.epochs}: loss {logs['loss']:.7f}, "
              f"accuracy {logs['accuracy']:.4f}", flush=True)
        with curves.as_default(step=epoch + 1):
            for name, value in logs.items():
                tf.summary.scalar(name, value)
        curves.flush()

    steps_per_epoch = len(train_labels) // arguments.batch_size
    first_epoch, n_steps_done = divmod(int(checkpoints.step), steps_per_epoch)
    data = tf.keras.utils.experimental.DatasetCreator(make_training_data)
    for epoch in range(first_epoch, arguments.epochs):
        model.fit(data, steps_per_epoch=steps_per_epoch - n_steps_done, initial_epoch=epoch,
                  epochs=epoch + 1, verbose=0,
                  callbacks=[checkpoints, tf.keras.callbacks.LambdaCallback(on_epoch_end=tell)])
        n_steps_done = 0

    logits = model(test_images)
    accuracy = tf.reduce_mean(tf.cast(tf.argmax(logits, axis=1) == test_labels, tf.float32))
    print(f"test accuracy {accuracy:.4f}", flush=True)
    if arguments.export_dir:
        export(model, arguments.export_dir)


def main():
    arguments = read_arguments()
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("worker", "ps"):
        serve(resolver)
    else:
        lead(resolver, arguments)


if __name__ == "__main__":
    main()
