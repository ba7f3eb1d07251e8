"""What the tests of the models of `muster check` share: the package, and files like those that they read."""

import gzip
import pathlib
import struct
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))


def idx_bytes(values):
    """An array of bytes as an idx file has it."""
    return struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape) + values.tobytes()


class MnistFolder:
    """The four files of MNIST, with a few examples."""

    def __init__(self, folder):
        self.folder = folder
        random = np.random.default_rng(1)
        for beginning, count in (("train", 12), ("t10k", 5)):
            self.write(f"{beginning}-images-idx3-ubyte", idx_bytes(random.integers(0, 256, (count, 28, 28), np.uint8)))
            self.write(f"{beginning}-labels-idx1-ubyte", idx_bytes((np.arange(count) % 10).astype(np.uint8)))

    def __str__(self):
        return str(self.folder)

    def read(self, name):
        return (self.folder / name).read_bytes()

    def write(self, name, content):
        (self.folder / name).write_bytes(content)

    def pack(self, name):
        """Instead of the file, name.gz."""
        self.write(f"{name}.gz", gzip.compress(self.read(name)))
        (self.folder / name).unlink()


@pytest.fixture
def mnist(tmp_path):
    return MnistFolder(tmp_path)
