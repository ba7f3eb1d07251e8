"""Reads adult.data and adult.test, the census income tables (https://archive.ics.uci.edu/dataset/2/adult).

A line is an example: 15 fields with ", " between them, "?" for what is not known. adult.test begins with a line that is
no example ("|1x3 Cross validator"), and its incomes end with a dot.
"""

import csv
import os

from muster_check.events import Fault

COLUMNS = ("age", "workclass", "weight", "education", "education years", "marital status", "occupation", "relationship",
           "race", "sex", "capital gain", "capital loss", "hours a week", "country", "income")
# A number is within 0 and this.
LARGEST = {"age": 150, "weight": 10**8, "education years": 30, "capital gain": 10**9, "capital loss": 10**9,
           "hours a week": 168}
INCOMES = {"<=50K": 0, ">50K": 1}
EXAMPLES_LIMIT = 1_000_000
LINE_LIMIT = 10_000  # bytes


def number_of(text, column):
    if not text.isascii() or not text.isdecimal() or len(text) > 10 or int(text) > LARGEST[column]:
        raise ValueError(f"'{text}' is no {column} (0..{LARGEST[column]})")
    return int(text)


def row_of(fields):
    """The fields by column, the income as the number of its class. ValueError says what is wrong."""
    if len(fields) != len(COLUMNS):
        raise ValueError(f"{len(fields)} fields instead of {len(COLUMNS)}")
    row = dict(zip(COLUMNS, (field.strip() for field in fields)))
    for column in LARGEST:
        row[column] = number_of(row[column], column)
    income = row["income"].removesuffix(".")
    if income not in INCOMES:
        raise ValueError(f"'{row['income']}' is no income ({' or '.join(INCOMES)})")
    row["income"] = INCOMES[income]
    return row


def lines_of(stream):
    while line := stream.readline(LINE_LIMIT):
        if len(line) == LINE_LIMIT:
            raise ValueError(f"longer than {LINE_LIMIT} bytes")
        yield line.decode()


def rows_of(stream, path):
    reader = csv.reader(lines_of(stream), skipinitialspace=True)
    rows = []
    number = 1  # of the line that comes next
    try:
        for fields in reader:
            if fields and not fields[0].startswith("|"):
                rows.append(row_of(fields))
            if len(rows) > EXAMPLES_LIMIT:
                raise ValueError(f"more than {EXAMPLES_LIMIT} examples")
            number = reader.line_num + 1
    except (ValueError, csv.Error) as error:  # what is not UTF-8 is a ValueError too
        raise Fault("data", f"{path} line {number}: {error}") from error
    if not rows:
        raise Fault("data", f"{path}: holds no example")
    return rows


def read(folder, name):
    """A list of rows; a Fault names the file and the line."""
    path = os.path.join(folder, name)
    try:
        with open(path, "rb") as stream:
            return rows_of(stream, path)
    except FileNotFoundError:
        raise Fault("data", f"{folder} has no {name}") from None
    except OSError as error:
        raise Fault("data", f"{path}: cannot be read: {error.strerror}") from error
