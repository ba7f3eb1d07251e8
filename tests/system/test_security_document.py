"""SECURITY.md names where each rule stands and what tries it: those files are there."""

import re

import pytest

from conftest import ROOT

TEXT = (ROOT / "SECURITY.md").read_text()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"(?:src|docs|tests)/[\w./-]+\w", TEXT))))
def test_each_path_that_it_names_is_there(path):
    assert (ROOT / path).exists()


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\b(?:test|fuzz)_\w+\.(?:py|c)", TEXT))))
def test_each_test_that_it_names_is_there(name):
    assert list((ROOT / "tests").rglob(name))
