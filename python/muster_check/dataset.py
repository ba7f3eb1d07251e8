"""Examples to learn from and others to be judged by, as arrays of numpy; and endless batches of them."""

import dataclasses

import numpy as np

LABEL = "label"


@dataclasses.dataclass
class Dataset:
    """Arrays of one length by name of the column; the column LABEL holds the number of the class."""

    name: str  # for people: "MNIST"
    source: str  # "folder": files of --data-dir; "package": ships inside a Python package; "made": on the spot
    training: dict
    validation: dict

    @property
    def size(self):
        return length(self.training) + length(self.validation)


def length(columns):
    return len(columns[LABEL])


def take(columns, chosen):
    """The rows that a slice or an array of indices chooses, of every column."""
    return {name: values[chosen] for name, values in columns.items()}


def split(columns, validation_share, seed):
    """(training, validation): the rows in random order, of which a share is kept for validation."""
    order = np.random.default_rng(seed).permutation(length(columns))
    n_validation = max(1, int(len(order) * validation_share))
    return take(columns, order[n_validation:]), take(columns, order[:n_validation])


def batches(columns, size, seed):
    """Batches without end: all rows in random order, then all in another one. A batch is not larger than the table."""
    random = np.random.default_rng(seed)
    size = min(size, length(columns))
    while True:
        order = random.permutation(length(columns))
        for start in range(0, len(order) - size + 1, size):
            yield take(columns, order[start:start + size])


def pieces(columns, size):
    """Every row once, in order, at most `size` at a time."""
    for start in range(0, length(columns), size):
        yield take(columns, slice(start, start + size))
