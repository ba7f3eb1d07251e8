"""Trains a small model on the CPU with MultiWorkerMirroredStrategy; worker 0 prints how long a step takes."""

import json
import os

import tensorflow as tf
import timed_steps

strategy = tf.distribute.MultiWorkerMirroredStrategy()
features, labels = tf.random.normal((256, 256)), tf.random.uniform((256,), 0, 10, tf.int64)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(512, "relu"), tf.keras.layers.Dense(10)])
    model.build((None, 256))
    optimizer = tf.keras.optimizers.SGD(0.01)
    optimizer.build(model.trainable_variables)


def train():
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(features))
        loss = tf.nn.compute_average_loss(losses, global_batch_size=256 * strategy.num_replicas_in_sync)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))


@tf.function
def step():
    strategy.run(train)


timed_steps.take(step, json.loads(os.environ["TF_CONFIG"])["task"]["index"] == 0)
