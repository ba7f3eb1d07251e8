"""The census income columns as numbers: those of adult.data and adult.test, or of people made up.

Words, and crosses of columns (the words of several together), become numbers by a hash that is the same everywhere.
"""

import bisect
import os
import zlib

import numpy as np

from muster_check import census_file, census_made
from muster_check.dataset import LABEL, Dataset, split
from muster_check.events import Fault

NUMBERS = ("age", "education years", "capital gain", "capital loss", "hours a week")
WORDS = ("workclass", "education", "marital status", "occupation", "relationship", "race", "sex", "country",
         "age group")
CROSSES = (("education", "occupation"), ("country", "occupation"), ("age group", "education", "occupation"))
AGES = (18, 25, 30, 35, 40, 45, 50, 55, 60, 65)
N_CLASSES = len(census_file.INCOMES)
WORD_BUCKETS = 100  # of each column
CROSS_BUCKETS = 1000  # of each cross
VALIDATION_SHARE = 0.2


def bucket(words, count):
    return zlib.crc32("\0".join(words).encode()) % count


def places(rows, columns, buckets):
    """For each row, one place for each group of columns, in one table with `buckets` places for each group."""
    found = [[index * buckets + bucket([row[name] for name in group], buckets) for index, group in enumerate(columns)]
             for row in rows]
    return np.array(found, np.int32)


def columns_of(rows):
    rows = [{**row, "age group": str(bisect.bisect_right(AGES, row["age"]))} for row in rows]
    return {
        "numbers": np.log1p(np.array([[row[name] for name in NUMBERS] for row in rows], np.float32)),
        "words": places(rows, [(name,) for name in WORDS], WORD_BUCKETS),
        "crosses": places(rows, CROSSES, CROSS_BUCKETS),
        LABEL: np.array([row["income"] for row in rows], np.int32),
    }


def scale(training, validation):
    """Brings the numbers to a mean of 0 and a deviation of 1, as the training examples have it."""
    mean, deviation = training["numbers"].mean(axis=0), training["numbers"].std(axis=0)
    for columns in (training, validation):
        columns["numbers"] = (columns["numbers"] - mean) / np.maximum(deviation, 1e-6)
    return training, validation


def load(data_dir):
    if not data_dir:
        return Dataset("a made-up census", "made",
                       *scale(*split(columns_of(census_made.make()), VALIDATION_SHARE, census_made.SEED)))
    if not os.path.isdir(data_dir):
        raise Fault("data", f"{data_dir}: no such folder")
    training, validation = (columns_of(census_file.read(data_dir, name)) for name in ("adult.data", "adult.test"))
    return Dataset("census income", "folder", *scale(training, validation))
