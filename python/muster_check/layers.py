"""The one kind of layer that the models of servers are made of."""

import math

from muster_check.runtime import tf, v1


def dense(inputs, size, name, begin_with_zeros=False):
    """inputs * weights + biases; the weights begin random (He et al., arXiv 1502.01852) or as zeros."""
    n_inputs = int(inputs.shape[-1])
    start = v1.zeros_initializer() if begin_with_zeros else v1.random_normal_initializer(stddev=math.sqrt(2 / n_inputs))
    weights = v1.get_variable(f"{name}/weights", (n_inputs, size), initializer=start, use_resource=True)
    biases = v1.get_variable(f"{name}/biases", (size,), initializer=v1.zeros_initializer(), use_resource=True)
    return tf.matmul(inputs, weights) + biases
