"""Trains a small network on handwritten digits with JAX, on the devices of all processes together.

    muster run -w 2 train.py --epochs 12 --checkpoint-dir /tmp/digits
    muster launch --nnodes 1:4 --nproc-per-node 2 train.py --checkpoint-dir /tmp/digits

The same script runs alone. When one of the processes is asked to end (TERM, or INT from Ctrl-C), all of them save at
the same step and end; started again with the same --checkpoint-dir, with any number of processes, they go on at that step. Needs jax
and scikit-learn, whose package has the 1,797 digits in it.
"""

import argparse
import functools
import os
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import NamedSharding, PartitionSpec
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))  # where it is in muster's sources
import muster_elastic

SHAPES = {"hidden": (64, 128), "hidden_bias": (128,), "output": (128, 10), "output_bias": (10,)}


def read_arguments():
    parser = argparse.ArgumentParser(description="Trains a network that reads handwritten digits.")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=60, help="of all processes together")
    parser.add_argument("--checkpoint-dir", type=pathlib.Path, help="goes on from here after a restart")
    return parser.parse_args()


def begin():
    """Meets the other processes. JAX reads the address from the environment, but not the two numbers."""
    if "JAX_COORDINATOR_ADDRESS" in os.environ:
        jax.distributed.initialize(num_processes=int(os.environ["JAX_NUM_PROCESSES"]), process_id=int(os.environ["JAX_PROCESS_ID"]))
    return jax.make_mesh((jax.device_count(),), ("data",))


def load_data():
    """Training and test images, 64 values in 0..1 each, and their labels."""
    digits = load_digits()
    return train_test_split((digits.data / 16.0).astype("float32"), digits.target, test_size=0.2, random_state=1)


def new_state():
    """Weights, and their momenta."""
    random = np.random.default_rng(1)
    weights = {name: random.normal(0, 0.1 * (len(shape) > 1), shape).astype("float32") for name, shape in SHAPES.items()}
    return weights, {name: np.zeros(shape, "float32") for name, shape in SHAPES.items()}


def apply(weights, images):
    hidden = jax.nn.relu(images @ weights["hidden"] + weights["hidden_bias"])
    return hidden @ weights["output"] + weights["output_bias"]


def loss_of(weights, images, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(apply(weights, images)), labels[:, None], axis=1).mean()


@functools.partial(jax.jit, donate_argnums=0)
def train_step(state, images, labels):
    """The batch is spread over all devices, so JAX adds up the gradients of all processes by itself."""
    weights, momenta = state
    loss, gradients = jax.value_and_grad(loss_of)(weights, images, labels)
    momenta = jax.tree.map(lambda momentum, gradient: 0.9 * momentum + gradient, momenta, gradients)
    return (jax.tree.map(lambda weight, momentum: weight - 0.1 * momentum, weights, momenta), momenta), loss


class Checkpoint:
    """The newest one, which process 0 writes. A file is complete when it has its name."""

    def __init__(self, folder):
        self.path = folder / "digits.npz" if folder else None

    def restore(self):
        """The state, and the step at which training goes on."""
        if not self.path or not self.path.exists():
            return new_state(), 0
        with np.load(self.path) as saved:
            return tuple({name: saved[f"{part}/{name}"] for name in SHAPES} for part in ("weights", "momenta")), int(saved["step"])

    def save(self, state, step):
        if self.path and jax.process_index() == 0:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            begun = self.path.with_suffix(".begun")
            parts = zip(("weights", "momenta"), state)
            with open(begun, "wb") as file:
                np.savez(file, step=step, **{f"{part}/{name}": value for part, values in parts for name, value in values.items()})
            begun.rename(self.path)
        if jax.process_count() > 1:
            multihost_utils.sync_global_devices("saved")


def main():
    arguments = read_arguments()
    mesh = begin()
    everywhere, spread = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("data"))
    train_images, test_images, train_labels, test_labels = load_data()
    checkpoint = Checkpoint(arguments.checkpoint_dir)
    state, step = checkpoint.restore()
    state = jax.device_put(state, everywhere)
    training = muster_elastic.Training()
    leads = jax.process_index() == 0
    if leads:
        print(f"processes: {jax.process_count()}" + (f", goes on at step {step}" if step else ""), flush=True)

    batch_size = arguments.batch_size // jax.device_count() * jax.device_count()
    steps_per_epoch = len(train_labels) // batch_size
    for epoch in range(step // steps_per_epoch, arguments.epochs):
        order = np.random.default_rng(epoch).permutation(len(train_labels))[:steps_per_epoch * batch_size]
        for batch in order.reshape(steps_per_epoch, batch_size)[step % steps_per_epoch:]:
            own = np.array_split(batch, jax.process_count())[jax.process_index()]
            images = jax.make_array_from_process_local_data(spread, train_images[own])
            labels = jax.make_array_from_process_local_data(spread, train_labels[own])
            state, loss = train_step(state, images, labels)
            step += 1
            if step % steps_per_epoch == 0 or training.must_end():  # which asks all processes
                checkpoint.save(state, step)
                training.saved(step)  # exits if a process was asked to end
        if leads:
            print(f"epoch {epoch + 1}/{arguments.epochs}: loss {float(loss):.4f}", flush=True)

    weights = jax.tree.map(lambda weight: np.asarray(weight.addressable_data(0)), state[0])
    accuracy = float((apply(weights, test_images).argmax(1) == test_labels).mean())
    if leads:
        print(f"test accuracy {accuracy:.4f}", flush=True)


if __name__ == "__main__":
    main()
