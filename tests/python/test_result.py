"""The bound of the result, batches, and events."""

import json
import math
import types

import numpy as np
import pytest

from muster_check import dataset, events, result

MODEL = types.SimpleNamespace(classes=10, share=1 / 3, steps=500)
LABELS = np.arange(1000) % 10


def test_the_bound_of_the_full_number_of_steps_is_a_share_of_the_entropy():
    assert result.bound_of(MODEL, LABELS, 500) == pytest.approx(math.log(10) / 3)
    assert result.bound_of(MODEL, LABELS, 5000) == pytest.approx(math.log(10) / 3)


def test_classes_that_are_rarer_leave_less_to_learn():
    uneven = np.array([0] * 76 + [1] * 24)
    assert result.entropy(uneven) == pytest.approx(0.551, abs=0.001)
    assert result.entropy(np.array([0, 1])) == pytest.approx(math.log(2))


def test_fewer_steps_have_a_higher_bound_which_is_below_the_beginning():
    bounds = [result.bound_of(MODEL, LABELS, steps) for steps in (1, 2, 50, 499, 500)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] < math.log(10)


@pytest.mark.parametrize("after, code", [(0.3, 0), (0.9, 1), (0.0, 1), (-1.0, 1), (math.nan, 1), (math.inf, 1)])
def test_a_result_is_judged_and_told(capsys, after, code):
    assert result.judge(MODEL, LABELS, 500, before=2.3026, after=after, accuracy=0.9) == code
    event = json.loads(capsys.readouterr().out)
    assert event["muster"] == "result" and set(event) == {"muster", "crossEntropy", "before", "bound", "accuracy"}
    if math.isfinite(after):
        assert event["crossEntropy"] == after


@pytest.mark.parametrize("steps, after, is_judged, code", [
    (1, 2.3, False, 0), (1, 2.31, False, 0), (1, 2.13, True, 0), (1, math.nan, True, 1), (1, math.inf, True, 1),
    (500, 2.3, True, 1), (500, 0.3, True, 0),
])
def test_what_so_few_steps_cannot_show_is_not_judged(capsys, steps, after, is_judged, code):
    assert result.judge(MODEL, LABELS, steps, before=2.3026, after=after, accuracy=0.1) == code
    event = json.loads(capsys.readouterr().out)
    assert (event["bound"] is not None) == is_judged


def test_a_number_that_is_none_is_null_in_an_event(capsys):
    events.tell("step", loss=np.float32("nan"), nested=math.inf)
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail) == {"muster": "step", "loss": None, "nested": None}


def columns(count):
    return {"number": np.arange(count), dataset.LABEL: np.zeros(count, np.int32)}


def test_each_round_of_batches_has_each_row_once():
    batches = dataset.batches(columns(12), 4, seed=1)
    for _ in range(3):
        assert sorted(number for _ in range(3) for number in next(batches)["number"]) == list(range(12))


def test_a_batch_is_not_larger_than_the_table():
    assert len(next(dataset.batches(columns(3), 100, seed=1))["number"]) == 3


def test_splitting_loses_no_row():
    training, validation = dataset.split(columns(10), 0.2, seed=1)
    assert (dataset.length(training), dataset.length(validation)) == (8, 2)
    assert sorted([*training["number"], *validation["number"]]) == list(range(10))


def test_progress_is_told_at_the_beginning_and_at_the_end(capsys):
    progress = events.Progress(1, 300)
    for step in range(1, 301):
        progress.tell(step, np.float32(0.5))
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert told[0] == {"muster": "step", "worker": 1, "step": 1, "of": 300, "loss": 0.5}
    assert told[-1]["step"] == 300 and len(told) < 300
