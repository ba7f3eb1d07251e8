"""Pictures of digits, and a network with one hidden layer of 100: the model of TensorFlow's own distributed tests."""

from muster_check import digits, replication
from muster_check.layers import dense
from muster_check.runtime import tf, v1

HIDDEN = 100
RATE = 0.01


def rate_for(arguments):
    """Without a common step, a gradient is as many steps old as there are other workers: from three workers on, the
    rate falls with their number (Zhang et al., arXiv 1511.05950)."""
    return RATE if arguments.sync_replicas else RATE * min(1, 2 / arguments.workers)


class Mnist:
    steps = 500
    classes = digits.CLASSES
    share = 1 / 3  # 0.77 of 2.30; 500 steps reach less than 0.4 in either mode

    def __init__(self, arguments):
        self.optimizer = v1.train.AdamOptimizer(rate_for(arguments))

    def load(self, data_dir):
        dataset = digits.load(data_dir)
        self.mean = digits.mean_of(dataset.training)
        return dataset

    def logits(self, columns):
        """The last layer begins with zeros: at first all digits are alike."""
        images = tf.cast(columns[digits.IMAGE], tf.float32) / 255 - self.mean
        hidden = tf.nn.relu(dense(images, HIDDEN, "hidden"))
        return dense(hidden, self.classes, "digits", begin_with_zeros=True)

    def apply(self, pairs):
        return [self.optimizer.apply_gradients(pairs)]


def run(arguments):
    return replication.run(Mnist(arguments), arguments)
