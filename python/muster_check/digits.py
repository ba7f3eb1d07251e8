"""Pictures of digits, 28 x 28: MNIST from a folder, those inside scikit-learn, or some that are drawn on the spot."""

import gzip
import importlib.util
import os
import pathlib

import numpy as np

from muster_check import idx
from muster_check.dataset import LABEL, Dataset, split
from muster_check.events import Fault

IMAGE = "image"
CLASSES = idx.CLASSES
SEED = 20
VALIDATION_SHARE = 0.2
N_DRAWN = 4000
WRONG_SHARE = 0.02

# Ten digits on 5 x 7 dots, a row after the other.
SHAPES = (
    ".###. #...# #..## #.#.# ##..# #...# .###.",
    "..#.. .##.. ..#.. ..#.. ..#.. ..#.. .###.",
    ".###. #...# ....# ...#. ..#.. .#... #####",
    "##### ...#. ..#.. ...#. ....# #...# .###.",
    "...#. ..##. .#.#. #..#. ##### ...#. ...#.",
    "##### #.... ####. ....# ....# #...# .###.",
    "..##. .#... #.... ####. #...# #...# .###.",
    "##### ....# ...#. ..#.. .#... .#... .#...",
    ".###. #...# #...# .###. #...# #...# .###.",
    ".###. #...# #...# .#### ....# ...#. .##..",
)


def load(data_dir):
    """The digits of the folder; without one the digits of scikit-learn; without it, drawn ones."""
    if data_dir:
        return from_folder(data_dir)
    path = shipped_file()
    return from_package(path) if path else drawn()


def mean_of(columns):
    """The mean picture, with values 0..1. Pictures less the mean differ in every direction; without that, workers that
    learn from variables a few steps old drive each other to extremes."""
    return (columns[IMAGE].mean(axis=0) / 255).astype(np.float32)


def columns_of(images, labels):
    """Pictures as rows of 784 bytes."""
    return {IMAGE: images.reshape(len(images), -1), LABEL: labels.astype(np.int32)}


def from_folder(folder):
    if not os.path.isdir(folder):
        raise Fault("data", f"{folder}: no such folder")
    return Dataset("MNIST", "folder", columns_of(*idx.read_pair(folder, "train")),
                   columns_of(*idx.read_pair(folder, "t10k")))


def shipped_file():
    """The file inside scikit-learn, found without importing it, which takes longer than the training; None without."""
    try:
        package = importlib.util.find_spec("sklearn")
    except (ImportError, ValueError):
        return None
    for folder in (package and package.submodule_search_locations) or ():
        path = pathlib.Path(folder, "datasets", "data", "digits.csv.gz")
        if path.is_file():
            return path
    return None


def from_package(path):
    """Lines of 64 dots with values 0..16 and the label. Each dot becomes 3 x 3, with a frame of 2 around."""
    try:
        with gzip.open(path, "rt", encoding="ascii") as stream:
            table = np.loadtxt(stream, delimiter=",")
        dots, labels = table[:, :-1].reshape(-1, 8, 8), table[:, -1]
    except (OSError, EOFError, ValueError, IndexError) as error:
        raise Fault("data", f"{path}: cannot be read: {error}") from error
    large = np.kron(np.clip(dots * 255 / 16, 0, 255).astype(np.uint8), np.ones((3, 3), np.uint8))
    images = np.pad(large, ((0, 0), (2, 2), (2, 2)))
    return Dataset("handwritten digits of scikit-learn", "package",
                   *split(columns_of(images, labels), VALIDATION_SHARE, SEED))


def drawn():
    """Digits of dots of 3 x 3, each in a place and with noise of its own. A few labels are wrong, as in life: nobody
    can learn them all, so a cross entropy of 0 stays the mistake that it is."""
    random = np.random.default_rng(SEED)
    shapes = np.array([[[dot == "#" for dot in row] for row in shape.split()] for shape in SHAPES])
    stamps = np.kron(shapes.astype(np.float32), np.ones((3, 3), np.float32))
    labels = random.integers(0, len(SHAPES), N_DRAWN)
    images = np.zeros((N_DRAWN, 28, 28), np.float32)
    height, width = stamps.shape[1:]
    for image, label in zip(images, labels):
        top, left = random.integers(0, 28 - height + 1), random.integers(4, 28 - width - 4 + 1)
        image[top:top + height, left:left + width] = stamps[label] * random.uniform(0.5, 1)
    images += random.normal(0, 0.15, images.shape)
    wrong = random.random(N_DRAWN) < WRONG_SHARE
    labels[wrong] = random.integers(0, len(SHAPES), wrong.sum())
    images = (np.clip(images, 0, 1) * 255).astype(np.uint8)
    return Dataset("drawn digits", "made", *split(columns_of(images, labels), VALIDATION_SHARE, SEED))
