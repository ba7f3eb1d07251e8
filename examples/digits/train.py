"""Trains a small convolutional network on handwritten digits, with any number of workers in step.

    muster run -w 2 train.py --epochs 12 --checkpoint-dir /tmp/digits

For workers, with or without a chief; a job with --ps runs examples/parameter_server/train.py.
Works without muster too: without TF_CONFIG there is one worker. When one of the workers is asked to
end (TERM, or INT from Ctrl-C), all of them save at the same step and end; started again with the same
--checkpoint-dir, they go on at that step. Needs tensorflow (or tensorflow-cpu), tf-keras and
scikit-learn, whose package has the 1,797 digits in it.
"""

import argparse
import atexit
import math
import os
import signal
import sys
import tempfile

if '"ps"' in os.environ.get("TF_CONFIG", ""):
    sys.exit("examples/digits/train.py trains without --ps; examples/parameter_server/train.py is for jobs with it")

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
    parser.add_argument("--batch-size", type=int, default=64, help="of all workers together")
    parser.add_argument("--checkpoint-dir", help="goes on from here after a restart")
    parser.add_argument("--model", help="file for the trained model, like digits.keras")
    return parser.parse_args()


def load_data():
    """Training and test images, 8 x 8 with values in 0..1, and their labels."""
    digits = load_digits()
    images = (digits.images / 16.0).astype("float32")[..., tf.newaxis]
    return train_test_split(images, digits.target, test_size=0.2, random_state=1)


def build_model():
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(32, 3, activation="relu", input_shape=(8, 8, 1)),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(10),
    ])
    model.compile(
        optimizer=tf.keras.optimizers.Adam(0.003),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.optimizer.build(model.trainable_variables)  # there is something to restore into
    return model


def leads(resolver):
    """Whether this process is the one that keeps files: the chief, or worker 0 without a chief."""
    leader = "chief" if "chief" in resolver.cluster_spec().as_dict() else "worker"
    return (resolver.task_type or leader, resolver.task_id or 0) == (leader, 0)


def step_of(model):
    """How many steps it was trained, those before a restart included."""
    return int(model.optimizer.iterations.numpy())


def report(step):
    """Under `muster launch`: failures before this step do not count any more."""
    if "MUSTER_PROGRESS_FILE" in os.environ:
        with open(os.environ["MUSTER_PROGRESS_FILE"], "w") as file:
            file.write(str(step))


class Checkpoints(tf.keras.callbacks.Callback):
    """Saves after each epoch, and ends training where a signal asks one of the workers to end."""

    def __init__(self, model, folder, is_kept):
        super().__init__()
        self.signal = 0
        # After the strategy was made: TensorFlow takes TERM for itself then, and trains on.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.on_signal)
        self.manager = None
        if folder:
            # Every worker has a part in saving; one keeps the files.
            self.scratch = tempfile.TemporaryDirectory()
            checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
            self.manager = tf.train.CheckpointManager(
                checkpoint, folder if is_kept else self.scratch.name, max_to_keep=2)
            checkpoint.restore(tf.train.latest_checkpoint(folder))
            if step_of(model):
                print(f"goes on at step {step_of(model)}", flush=True)

    def on_signal(self, number, frame):
        self.signal = number

    def on_train_batch_end(self, batch, logs=None):
        # A signal comes to each worker at another step. The sum of all is the same for all.
        asked = tf.constant(float(self.signal))
        self.model.stop_training = self.model.distribute_strategy.reduce("SUM", asked, axis=None) > 0

    def on_epoch_end(self, epoch, logs=None):
        if self.manager:
            self.manager.save(checkpoint_number=step_of(self.model))
            report(step_of(self.model))
        if self.model.stop_training:
            print(f"asked to end at step {step_of(self.model)}", flush=True)
            atexit._run_exitfuncs()  # temporary files go; the rest of TensorFlow's end takes seconds on a busy machine
            os._exit(128 + (self.signal or signal.SIGTERM))  # not 0: this is no success yet


def main():
    arguments = read_arguments()
    # Reads TF_CONFIG, and waits until the other workers are there.
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    print(f"workers in step: {strategy.num_replicas_in_sync}", flush=True)

    tf.keras.utils.set_random_seed(1)
    train_images, test_images, train_labels, test_labels = load_data()
    train = tf.data.Dataset.from_tensor_slices((train_images, train_labels))
    test = tf.data.Dataset.from_tensor_slices((test_images, test_labels)).batch(len(test_labels))
    with strategy.scope():
        model = build_model()
    is_kept = leads(strategy.cluster_resolver)
    checkpoints = Checkpoints(model, arguments.checkpoint_dir, is_kept)

    def tell(epoch, logs):
        print(f"epoch {epoch + 1}/{arguments.epochs}: loss {logs['loss']:.7f}, "
              f"accuracy {logs['accuracy']:.4f}", flush=True)

    # An epoch is in an order of its own, which is the same when it is taken up in its middle.
    steps_per_epoch = math.ceil(len(train_labels) / arguments.batch_size)
    first_epoch, n_steps_done = divmod(step_of(model), steps_per_epoch)
    for epoch in range(first_epoch, arguments.epochs):
        batches = train.shuffle(len(train_labels), seed=epoch).batch(arguments.batch_size)
        model.fit(batches.skip(n_steps_done), initial_epoch=epoch, epochs=epoch + 1, verbose=0,
                  callbacks=[checkpoints, tf.keras.callbacks.LambdaCallback(on_epoch_end=tell)])
        n_steps_done = 0

    loss, accuracy = model.evaluate(test, verbose=0)
    print(f"test loss {loss:.7f}, test accuracy {accuracy:.4f}", flush=True)
    if arguments.model:
        with tempfile.TemporaryDirectory() as scratch:
            model.save(arguments.model if is_kept else os.path.join(scratch, "model.keras"))


if __name__ == "__main__":
    main()
