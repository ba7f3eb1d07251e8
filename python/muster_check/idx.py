"""Reads the idx files of MNIST (http://yann.lecun.com/exdb/mnist), packed by gzip or not.

An idx file is a magic number (two zero bytes, the type of the values, the number of dimensions), the size of each
dimension as a big-endian number of four bytes, and the values.
"""

import gzip
import os
import struct
import zlib

import numpy as np

from muster_check.events import Fault

BYTES = 0x08  # the type of values of one byte, 0..255
EXAMPLES_LIMIT = 1_000_000  # MNIST has 70,000
IMAGE = (28, 28)
CLASSES = 10
PIECE = 1 << 20


def find(folder, name):
    """The path of the file, as it is or packed; a Fault that names it when there is neither."""
    for ending in ("", ".gz"):
        path = os.path.join(folder, name + ending)
        if os.path.isfile(path):
            return path
    raise Fault("data", f"{folder} has no {name} (or {name}.gz)")


def read_exactly(stream, size, path, part):
    """`size` bytes, taken in pieces: what a header claims is not believed before the bytes are there."""
    content = bytearray()
    while len(content) < size:
        piece = stream.read(min(PIECE, size - len(content)))
        if not piece:
            raise Fault("data", f"{path}: ends after {len(content)} of the {size} bytes of its {part}")
        content += piece
    return bytes(content)


def read_shape(stream, path, item):
    """The number of examples, from a header that must describe examples of the shape `item`."""
    zeros, kind, dimensions = struct.unpack(">HBB", read_exactly(stream, 4, path, "header"))
    if zeros != 0 or kind != BYTES or dimensions != 1 + len(item):
        wanted = (BYTES << 8) + 1 + len(item)
        found = (zeros << 16) + (kind << 8) + dimensions
        raise Fault("data", f"{path}: begins with the magic number 0x{found:08x}, not with 0x{wanted:08x}")
    count, *shape = struct.unpack(f">{dimensions}I", read_exactly(stream, 4 * dimensions, path, "header"))
    if tuple(shape) != item:
        raise Fault("data", f"{path}: holds images of {'x'.join(map(str, shape))}, not of {'x'.join(map(str, item))}")
    if not 0 < count <= EXAMPLES_LIMIT:
        raise Fault("data", f"{path}: says that it holds {count} examples, which is not within 1..{EXAMPLES_LIMIT}")
    return (count, *item)


def read_values(path, item, part):
    try:
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as stream:
            shape = read_shape(stream, path, item)
            values = read_exactly(stream, int(np.prod(shape, dtype=np.int64)), path, part)
            if stream.read(1):
                raise Fault("data", f"{path}: goes on behind the {shape[0]} examples of its header")
    except (OSError, EOFError, zlib.error) as error:
        raise Fault("data", f"{path}: cannot be read: {error}") from error
    return np.frombuffer(values, np.uint8).reshape(shape)


def read_pair(folder, beginning):
    """(images, labels) of "train" or "t10k"."""
    images_path = find(folder, f"{beginning}-images-idx3-ubyte")
    labels_path = find(folder, f"{beginning}-labels-idx1-ubyte")
    images = read_values(images_path, IMAGE, "images")
    labels = read_values(labels_path, (), "labels")
    if len(images) != len(labels):
        raise Fault("data", f"{images_path} holds {len(images)} images, but {labels_path} {len(labels)} labels")
    if labels.max() >= CLASSES:
        raise Fault("data", f"{labels_path}: label {labels.max()} of example {labels.argmax()} is no digit")
    return images, labels
