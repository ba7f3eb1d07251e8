"""Who earns more than 50,000? A wide and deep model (arXiv 1606.07792) on the census income columns.

The wide part is linear in the words of each column and in crosses of columns; the deep part embeds the words, puts the
numbers beside them, and has two hidden layers.
"""

from muster_check import census_table, replication
from muster_check.census_table import CROSS_BUCKETS, CROSSES, WORD_BUCKETS, WORDS
from muster_check.layers import dense
from muster_check.runtime import tf, v1

EMBEDDING = 8
HIDDEN = (100, 50)


class Census:
    steps = 500
    classes = census_table.N_CLASSES
    share = 0.85  # 0.47 of the 0.55 of the real table; 500 steps reach less than 0.40

    load = staticmethod(census_table.load)

    def __init__(self):
        self.wide_optimizer = v1.train.FtrlOptimizer(0.1)
        self.deep_optimizer = v1.train.AdagradOptimizer(0.05)

    def logits(self, columns):
        """Of "less" and "more"; both begin alike."""
        more = self.wide(columns) + self.deep(columns)
        return tf.concat([tf.zeros_like(more), more], axis=1)

    def wide(self, columns):
        return sum(linear(columns[name], size, name) for name, size in
                   (("words", len(WORDS) * WORD_BUCKETS), ("crosses", len(CROSSES) * CROSS_BUCKETS)))

    def deep(self, columns):
        table = v1.get_variable("deep/embedding", (len(WORDS) * WORD_BUCKETS, EMBEDDING), use_resource=True,
                                initializer=v1.random_normal_initializer(stddev=EMBEDDING ** -0.5))
        embedded = tf.reshape(tf.gather(table, columns["words"]), (-1, len(WORDS) * EMBEDDING))
        layer = tf.concat([embedded, columns["numbers"]], axis=1)
        for index, size in enumerate(HIDDEN):
            layer = tf.nn.relu(dense(layer, size, f"deep/hidden_{index}"))
        return dense(layer, 1, "deep/income", begin_with_zeros=True)

    def apply(self, pairs):
        wide = [pair for pair in pairs if pair[1].op.name.startswith("wide/")]
        deep = [pair for pair in pairs if not pair[1].op.name.startswith("wide/")]
        return [self.wide_optimizer.apply_gradients(wide), self.deep_optimizer.apply_gradients(deep)]


def linear(indices, size, name):
    """The sum of one weight for each index of a row."""
    weights = v1.get_variable(f"wide/{name}", (size, 1), initializer=v1.zeros_initializer(), use_resource=True)
    return tf.reduce_sum(tf.gather(weights, indices), axis=1)


def run(arguments):
    return replication.run(Census(), arguments)
