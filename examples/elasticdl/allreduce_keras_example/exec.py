"""AllReduce with Keras: each worker has the whole model, and all train in step on their share of each batch.

NUM_WORKERS and TF_CONFIG are in the environment, as ElasticDL's launcher sets them.
"""

import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # Keras 3 does not train under this strategy

import numpy as np
import tensorflow as tf

BATCH, EPOCHS = 64, 3


def points(count=4096, seed=7):
    """Points of a plane, and whether each is in the ring between two circles."""
    x = np.random.default_rng(seed).uniform(-1, 1, (count, 2)).astype("float32")
    distance = np.hypot(*x.T)
    return x, ((distance > 0.4) & (distance < 0.8)).astype("float32")


def main():
    num_workers = int(os.environ["NUM_WORKERS"])
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    data = tf.data.Dataset.from_tensor_slices(points()).shuffle(4096, seed=1).repeat().batch(BATCH * num_workers)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    with strategy.scope():
        model = tf.keras.Sequential([
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ])
        model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
    history = model.fit(data.with_options(options), epochs=EPOCHS, steps_per_epoch=60, verbose=2)
    print(f"{num_workers} workers, accuracy {history.history['accuracy'][-1]:.2f}", flush=True)


if __name__ == "__main__":
    main()
