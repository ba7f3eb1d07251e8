"""Trains a small convolutional network on handwritten digits, with any number of workers in step.

    muster run -w 2 train.py --epochs 12 --checkpoint-dir /tmp/digits

Works without muster too: without TF_CONFIG there is one worker. Needs tensorflow (or tensorflow-cpu),
tf-keras and scikit-learn, whose package has the 1,797 digits in it.
"""

import argparse
import os
import tempfile

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
    return model


def leads(resolver):
    """Whether this process is the one that keeps files: the chief, or worker 0 without a chief."""
    leader = "chief" if "chief" in resolver.cluster_spec().as_dict() else "worker"
    return (resolver.task_type or leader, resolver.task_id or 0) == (leader, 0)


def main():
    arguments = read_arguments()
    # Reads TF_CONFIG, and waits until the other workers are there.
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    print(f"workers in step: {strategy.num_replicas_in_sync}", flush=True)

    tf.keras.utils.set_random_seed(1)
    train_images, test_images, train_labels, test_labels = load_data()
    train = tf.data.Dataset.from_tensor_slices((train_images, train_labels))
    train = train.shuffle(len(train_labels), seed=1).batch(arguments.batch_size)
    test = tf.data.Dataset.from_tensor_slices((test_images, test_labels)).batch(len(test_labels))
    with strategy.scope():
        model = build_model()

    def tell(epoch, logs):
        print(f"epoch {epoch + 1}/{arguments.epochs}: loss {logs['loss']:.7f}, "
              f"accuracy {logs['accuracy']:.4f}", flush=True)

    callbacks = [tf.keras.callbacks.LambdaCallback(on_epoch_end=tell)]
    if arguments.checkpoint_dir:
        # Writes after each epoch, and takes the last one up again when training begins.
        callbacks.append(tf.keras.callbacks.BackupAndRestore(arguments.checkpoint_dir))
    model.fit(train, epochs=arguments.epochs, callbacks=callbacks, verbose=0)

    loss, accuracy = model.evaluate(test, verbose=0)
    print(f"test loss {loss:.7f}, test accuracy {accuracy:.4f}", flush=True)
    if arguments.model:
        # Every worker has a part in saving, because variables are read together; one keeps the file.
        with tempfile.TemporaryDirectory() as scratch:
            is_kept = leads(strategy.cluster_resolver)
            model.save(arguments.model if is_kept else os.path.join(scratch, "model.keras"))


if __name__ == "__main__":
    main()
