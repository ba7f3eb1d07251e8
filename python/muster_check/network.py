"""The digits and their network for TensorFlow's strategies: one hidden layer of 100, plain gradient descent.

No Keras: its version 3 trains under none of the strategies.
"""

import math

from muster_check import digits
from muster_check.dataset import LABEL
from muster_check.runtime import tf

HIDDEN = 100
RATE = 0.3
IMAGE_SIZE = 28 * 28


class Network(tf.Module):
    """Its variables average what several replicas assign in one step."""

    steps = 200
    classes = digits.CLASSES
    share = 1 / 3  # see result: 0.77 of 2.30; 200 steps reach less than 0.3 under either strategy

    def __init__(self, dataset):
        super().__init__()
        self.mean = digits.mean_of(dataset.training)
        random = tf.random.stateless_normal((IMAGE_SIZE, HIDDEN), seed=(1, 1), stddev=math.sqrt(2 / IMAGE_SIZE))
        self.variables_in_order = [self.variable(start) for start in (
            random, tf.zeros((HIDDEN,)), tf.zeros((HIDDEN, self.classes)), tf.zeros((self.classes,)))]

    @staticmethod
    def variable(start):
        return tf.Variable(start, aggregation=tf.VariableAggregation.MEAN)

    def logits(self, images):
        weights, biases, last_weights, last_biases = self.variables_in_order
        hidden = tf.nn.relu(tf.matmul(tf.cast(images, tf.float32) / 255 - self.mean, weights) + biases)
        return tf.matmul(hidden, last_weights) + last_biases

    def loss(self, images, labels):
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, self.logits(images)))

    def learn(self, images, labels):
        """One step of gradient descent; gives the loss before it."""
        with tf.GradientTape() as tape:
            loss = self.loss(images, labels)
        for variable, gradient in zip(self.variables_in_order, tape.gradient(loss, self.variables_in_order)):
            variable.assign_sub(RATE * gradient)
        return loss

    def evaluate(self, columns):
        """(cross entropy, accuracy) over all rows."""
        images, labels = columns[digits.IMAGE], columns[LABEL]
        right = tf.equal(tf.argmax(self.logits(images), axis=1, output_type=tf.int32), labels)
        return float(self.loss(images, labels)), float(tf.reduce_mean(tf.cast(right, tf.float32)))


def input_for(dataset, batch_size, seed=None):
    """Batches without end, each worker's in an order of its own, made by TensorFlow alone: servers have no Python."""
    columns = dataset.training[digits.IMAGE], dataset.training[LABEL]
    data = tf.data.Dataset.from_tensor_slices(columns)
    return data.shuffle(len(columns[1]), seed=seed).repeat().batch(batch_size)
