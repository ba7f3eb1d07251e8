"""docs/trouble-on-a-cluster.md has every word and every sentence that the program has for a trouble of a Pod."""

import re

import pytest

from conftest import ROOT

pytestmark = pytest.mark.unsanitized

PAGE = ROOT / "docs" / "trouble-on-a-cluster.md"
WORDS = ROOT / "src" / "status" / "failure_words.c"
ELSEWHERE = {"FAILURE_REFUSED",  # a section of its own
             "FAILURE_PROCESS_STOPPED", "FAILURE_PROCESS_OOM_KILLED", "FAILURE_STILL_RUNS"}  # of processes on this machine


def words_of_the_program():
    """(word, phrase) of each row of its tables."""
    names = dict(re.findall(r'#define (FAILURE_\w+)[\s\\]+"(\w+)"', WORDS.with_suffix(".h").read_text()))
    rows = re.findall(r'\{"?(\w+)"?, "(.*)"\}', WORDS.read_text())
    return [(names.get(word, word), phrase) for word, phrase in rows if word not in ELSEWHERE]


def words_of_the_page():
    """The sentence of each word."""
    rows = re.findall(r"^\| (`.*?) \| (.*?) \| .* \|$", PAGE.read_text(), re.MULTILINE)
    return {word: sentence for words, sentence in rows for word in re.findall(r"`(\w+)`", words)}


def test_every_word_and_its_sentence_stand_in_a_row():
    page, program = words_of_the_page(), words_of_the_program()
    assert len(program) > 40
    assert [word for word, _ in program if word not in page] == []
    assert [(word, page[word]) for word, phrase in program if phrase.removesuffix(f" ({word})") not in page[word]] == []
