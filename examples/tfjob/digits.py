"""Handwritten digits, and a small network that learns to read them. train.py and parameter_server.py share it.

digits.csv.gz is the file of scikit-learn: 1,797 lines with 64 dots of 0 to 16 and the digit, from "Optical Recognition of
Handwritten Digits" (E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, CC BY 4.0).
The network does not use Keras, because Keras 3 trains neither in step on several workers nor with parameter servers.
"""

import pathlib

import numpy as np
import tensorflow as tf

BATCH_SIZE = 64
RATE = 0.3


def load_digits():
    """(training, test): each is a pair of images, which are rows of 64 numbers around 0, and their labels."""
    table = np.loadtxt(pathlib.Path(__file__).with_name("digits.csv.gz"), delimiter=",", dtype=np.float32)
    images, labels = table[:, :-1] / 16, table[:, -1].astype(np.int32)
    images -= images.mean(axis=0)
    is_test = np.arange(len(labels)) % 5 == 0
    return (images[~is_test], labels[~is_test]), (images[is_test], labels[is_test])


def batches_of(digits, size, seed=None):
    """Endless batches, in random order."""
    return tf.data.Dataset.from_tensor_slices(digits).shuffle(len(digits[1]), seed=seed).repeat().batch(size)


class Network(tf.Module):
    """One hidden layer. What several replicas assign to a variable in the same step is averaged."""

    def __init__(self):
        super().__init__()
        start = [tf.random.stateless_normal((64, 100), seed=(1, 1), stddev=0.18), tf.zeros((100,)),
                 tf.zeros((100, 10)), tf.zeros((10,))]
        self.weights = [tf.Variable(value, aggregation=tf.VariableAggregation.MEAN) for value in start]

    def logits(self, images):
        first, first_bias, last, last_bias = self.weights
        return tf.matmul(tf.nn.relu(tf.matmul(images, first) + first_bias), last) + last_bias

    def learn(self, images, labels):
        """One step of gradient descent; returns the loss."""
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, self.logits(images)))
        for variable, gradient in zip(self.weights, tape.gradient(loss, self.weights)):
            variable.assign_sub(RATE * gradient)
        return loss

    def accuracy(self, images, labels):
        found = tf.argmax(self.logits(images), axis=1, output_type=tf.int32)
        return tf.reduce_mean(tf.cast(found == labels, tf.float32))

    @tf.function(input_signature=[tf.TensorSpec((None, 64), tf.float32)])
    def classify(self, images):
        """The signature of the exported model."""
        return tf.argmax(self.logits(images), axis=1)
