"""The digits: MNIST's files as they are and as they should not be, those inside scikit-learn, drawn ones."""

import gzip
import importlib.util
import struct
import sys

import numpy as np
import pytest

from conftest import idx_bytes
from muster_check import digits
from muster_check.dataset import LABEL
from muster_check.events import Fault

IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"


def fault_of(folder):
    with pytest.raises(Fault) as caught:
        digits.load(str(folder))
    assert caught.value.step == "data"
    return str(caught.value)


def test_the_files_of_mnist_are_read(mnist):
    data = digits.load(str(mnist))
    assert (data.name, data.source, data.size) == ("MNIST", "folder", 17)
    images = np.frombuffer(mnist.read(IMAGES)[16:], np.uint8)
    assert (data.training[digits.IMAGE] == images.reshape(12, 784)).all()
    assert list(data.validation[LABEL]) == [0, 1, 2, 3, 4]


def test_packed_files_are_the_same(mnist):
    plain = digits.load(str(mnist))
    for name in (IMAGES, "t10k-labels-idx1-ubyte"):
        mnist.pack(name)
    packed = digits.load(str(mnist))
    assert (packed.training[digits.IMAGE] == plain.training[digits.IMAGE]).all()
    assert (packed.validation[LABEL] == plain.validation[LABEL]).all()


def test_a_folder_or_file_that_is_not_there_is_named(mnist):
    assert fault_of("/nowhere") == "/nowhere: no such folder"
    (mnist.folder / "t10k-labels-idx1-ubyte").unlink()
    assert fault_of(mnist) == f"{mnist} has no t10k-labels-idx1-ubyte (or t10k-labels-idx1-ubyte.gz)"


@pytest.mark.parametrize("length, said", [
    (0, "ends after 0 of the 4 bytes of its header"),
    (3, "ends after 3 of the 4 bytes of its header"),
    (10, "ends after 6 of the 12 bytes of its header"),
    (16, "ends after 0 of the 9408 bytes of its images"),
    (9423, "ends after 9407 of the 9408 bytes of its images"),
])
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_file_that_is_too_short_is_named(mnist, length, said, is_packed):
    mnist.write(IMAGES, mnist.read(IMAGES)[:length])
    if is_packed:
        mnist.pack(IMAGES)
    assert fault_of(mnist) == f"{mnist}/{IMAGES}{'.gz' * is_packed}: {said}"


def test_a_file_that_goes_on_is_named(mnist):
    mnist.write(IMAGES, mnist.read(IMAGES) + b"x")
    assert fault_of(mnist).endswith(f"{IMAGES}: goes on behind the 12 examples of its header")


@pytest.mark.parametrize("header, said", [
    (b"<htm" + 12 * b"l", "begins with the magic number 0x3c68746d, not with 0x00000803"),
    (struct.pack(">4I", 0x801, 12, 28, 28), "begins with the magic number 0x00000801, not with 0x00000803"),
    (struct.pack(">4I", 0xd03, 12, 28, 28), "begins with the magic number 0x00000d03, not with 0x00000803"),
    (struct.pack(">4I", 0x803, 12, 32, 32), "holds images of 32x32, not of 28x28"),
    (struct.pack(">4I", 0x803, 0, 28, 28), "says that it holds 0 examples, which is not within 1..1000000"),
    (struct.pack(">4I", 0x803, 2**32 - 1, 28, 28), "says that it holds 4294967295 examples, which is not within 1..1000000"),
    (struct.pack(">4I", 0x803, 1000000, 28, 28), "ends after 9408 of the 784000000 bytes of its images"),
])
def test_a_header_is_not_believed(mnist, header, said):
    mnist.write(IMAGES, header + mnist.read(IMAGES)[16:])
    assert fault_of(mnist) == f"{mnist}/{IMAGES}: {said}"


def test_images_without_their_labels_are_told(mnist):
    mnist.write(LABELS, idx_bytes(np.zeros(11, np.uint8)))
    assert fault_of(mnist) == f"{mnist}/{IMAGES} holds 12 images, but {mnist}/{LABELS} 11 labels"


def test_a_label_that_is_no_digit_is_told(mnist):
    mnist.write(LABELS, idx_bytes(np.array([0] * 7 + [10] + [0] * 4, np.uint8)))
    assert fault_of(mnist) == f"{mnist}/{LABELS}: label 10 of example 7 is no digit"


@pytest.mark.parametrize("spoil", [
    lambda content: content[:-9],
    lambda content: content[:40] + b"\0\0\0\0" + content[44:],
    lambda content: b"not packed at all",
])
def test_a_damaged_packed_file_is_named(mnist, spoil):
    mnist.pack(IMAGES)
    mnist.write(f"{IMAGES}.gz", spoil(mnist.read(f"{IMAGES}.gz")))
    assert fault_of(mnist).startswith(f"{mnist}/{IMAGES}.gz: ")


def test_what_unpacks_to_far_more_than_its_header_says_is_not_unpacked(mnist):
    mnist.write(f"{IMAGES}.gz", gzip.compress(mnist.read(IMAGES) + bytes(50_000_000)))
    (mnist.folder / IMAGES).unlink()
    assert "goes on behind" in fault_of(mnist)


@pytest.mark.skipif(importlib.util.find_spec("sklearn") is None, reason="the running Python has no scikit-learn")
def test_without_a_folder_the_digits_of_scikit_learn_are_taken():
    data = digits.load(None)
    assert (data.source, data.size) == ("package", 1797)
    images = data.training[digits.IMAGE].reshape(-1, 28, 28)
    assert images.dtype == np.uint8 and images.max() == 255
    assert not images[:, :2].any() and not images[:, :, -2:].any()  # the frame
    assert (images[:, 2:26:3, 2:26:3] == images[:, 4:26:3, 4:26:3]).all()  # dots of 3 x 3
    assert np.bincount(data.training[LABEL], minlength=10).min() > 100
    assert "sklearn" not in sys.modules


def test_without_scikit_learn_digits_are_drawn(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    data = digits.load(None)
    assert (data.source, data.size) == ("made", 4000)
    assert data.training[digits.IMAGE].shape == (3200, 784)
    assert set(data.validation[LABEL]) == set(range(10))


def test_drawn_digits_are_the_same_each_time():
    first, second = digits.drawn(), digits.drawn()
    assert (first.training[digits.IMAGE] == second.training[digits.IMAGE]).all()
    assert (first.validation[LABEL] == second.validation[LABEL]).all()
