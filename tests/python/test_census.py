"""The census: its two files with their peculiarities and faults, and the table that is made up."""

import numpy as np
import pytest

from muster_check import census_made, census_table
from muster_check.dataset import LABEL
from muster_check.events import Fault

# As in the real files.
RICH = "52, Self-emp-not-inc, 209642, HS-grad, 9, Married-civ-spouse, Exec-managerial, Husband, White, Male, 0, 0, 45, " \
       "United-States, >50K"
POOR = "18, ?, 103497, Some-college, 10, Never-married, ?, Own-child, White, Female, 0, 0, 30, United-States, <=50K"


@pytest.fixture
def census(tmp_path):
    """Writes the two files into a folder, which it gives."""

    def write(data=f"{RICH}\n{POOR}\n\n", test=f"|1x3 Cross validator\n{POOR}.\n{RICH}.\n"):
        (tmp_path / "adult.data").write_bytes(data if isinstance(data, bytes) else data.encode())
        (tmp_path / "adult.test").write_text(test)
        return str(tmp_path)

    return write


def fault_of(folder):
    with pytest.raises(Fault) as caught:
        census_table.load(folder)
    assert caught.value.step == "data"
    return str(caught.value)


def test_both_files_are_read_with_their_peculiarities(census):
    data = census_table.load(census())
    assert (data.name, data.source, data.size) == ("census income", "folder", 4)
    assert list(data.training[LABEL]) == [1, 0]
    assert list(data.validation[LABEL]) == [0, 1]
    assert (data.training["words"] == data.validation["words"][::-1]).all()
    assert data.training["numbers"].mean() == pytest.approx(0, abs=1e-6)


def test_what_is_not_known_is_a_word_of_its_own(census):
    words = census_table.load(census()).training["words"]
    assert words[0, 0] != words[1, 0] and words[0, 3] != words[1, 3]  # workclass, occupation


def test_each_group_of_columns_has_places_of_its_own(census):
    training = census_table.load(census()).training
    assert (training["words"] // census_table.WORD_BUCKETS == np.arange(len(census_table.WORDS))).all()
    assert (training["crosses"] // census_table.CROSS_BUCKETS == np.arange(len(census_table.CROSSES))).all()


@pytest.mark.parametrize("line, said", [
    (POOR.rsplit(",", 1)[0], "14 fields instead of 15"),
    (POOR + ", more", "16 fields instead of 15"),
    (POOR.replace("<=50K", "50K"), "'50K' is no income (<=50K or >50K)"),
    (POOR.replace("18,", "-18,"), "'-18' is no age (0..150)"),
    (POOR.replace("18,", "1e2,"), "'1e2' is no age (0..150)"),
    (POOR.replace("18,", "151,"), "'151' is no age (0..150)"),
    (POOR.replace("18,", "\u0661\u0668,"), "'\u0661\u0668' is no age (0..150)"),
    (POOR.replace(" 30,", " ?,"), "'?' is no hours a week (0..168)"),
    (POOR.replace("103497", 50_000 * "1"), "longer than 10000 bytes"),
    (f'"{POOR}', "1 fields instead of 15"),
    ("<html>", "1 fields instead of 15"),
])
def test_a_wrong_line_is_told_with_its_number(census, line, said):
    folder = census(data=f"{RICH}\n\n{line}\n{RICH}\n")
    assert fault_of(folder) == f"{folder}/adult.data line 3: {said}"


def test_what_is_not_utf_8_is_told(census):
    folder = census(data=RICH.encode() + b"\n\xff\xfe\n")
    assert fault_of(folder).startswith(f"{folder}/adult.data line 2: 'utf-8' codec can't decode")


def test_an_empty_file_is_told(census):
    folder = census(test="|1x3 Cross validator\n")
    assert fault_of(folder) == f"{folder}/adult.test: holds no example"


def test_a_folder_or_file_that_is_not_there_is_named(census, tmp_path):
    assert fault_of("/nowhere") == "/nowhere: no such folder"
    folder = census()
    (tmp_path / "adult.test").unlink()
    assert fault_of(folder) == f"{folder} has no adult.test"


def test_the_table_that_is_made_up_is_the_same_each_time():
    assert census_made.make() == census_made.make()


def test_income_depends_on_other_columns_of_the_table_that_is_made_up():
    rows = census_made.make()
    rich, poor = [row for row in rows if row["income"]], [row for row in rows if not row["income"]]
    assert 0.15 < len(rich) / len(rows) < 0.35  # 0.24 in the real one
    assert np.mean([row["education years"] for row in rich]) > np.mean([row["education years"] for row in poor]) + 1
    assert np.mean([row["age"] for row in rich]) > np.mean([row["age"] for row in poor])


def test_without_a_folder_the_table_is_made_up():
    data = census_table.load(None)
    assert (data.source, data.size) == ("made", census_made.N_PEOPLE)
