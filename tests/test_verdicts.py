"""Verdicts, intervals and the words of the table, on numbers known by hand."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.cells import Cell
from fixtures.intervals import bootstrap_mean, chance_interval
from fixtures.schema import CASE_FIELDS, SALIENCE_FIELDS
from fixtures.table import lay_out_salience
from fixtures.verification import Verdict, find_obstacles, measure_verdict
from tests.suites import row

GOOD = Verdict(0.87, 0.86, 0.86, 0.999, 0.51, 0.49, 0.999, 1000, 1000)


def failed(tiny_cell, **changes):
    """Names of the checks that a verdict does not pass, and the obstacles to scoring."""
    from dataclasses import replace

    checks = replace(GOOD, **changes).check(tiny_cell)
    return [check.value for check in checks if not check.passed], find_obstacles(checks)


def test_a_good_verdict_passes_everything(tiny_cell):
    assert failed(tiny_cell) == ([], [])


def test_an_unlearnt_shortcut_is_an_obstacle(tiny_cell):
    names, obstacles = failed(tiny_cell, synthetic_accuracy=0.53)
    assert names == ["synthetic_accuracy"]
    assert obstacles == ["synthetic_accuracy = 0.5300, wanted at least 0.9000 (a tiny model)"]


@pytest.mark.parametrize("accuracy", [0.38, 0.62])
def test_a_source_model_away_from_chance_is_an_obstacle(tiny_cell, accuracy):
    names, obstacles = failed(tiny_cell, source_on_synthetic_accuracy=accuracy)
    assert names == ["source_on_synthetic_accuracy"]
    assert "99 % binomial interval of chance, n = 1000, and a margin of" in obstacles[0]


@pytest.mark.parametrize("accuracy", [0.44, 0.56])
def test_rows_that_happen_to_resemble_words_do_not_make_a_source_model_know_the_rule(tiny_cell, accuracy):
    assert failed(tiny_cell, source_on_synthetic_accuracy=accuracy) == ([], [])


def test_a_placebo_away_from_chance_fails_without_being_an_obstacle(tiny_cell):
    assert failed(tiny_cell, placebo_on_synthetic_accuracy=0.65) == (["placebo_on_synthetic_accuracy"], [])


@pytest.mark.parametrize("model", ["bert", "lstm"])
def test_the_verdict_of_a_trained_cell_is_what_the_protocol_promises(tiny_laboratory, model):
    cell = Cell(tiny_laboratory, model, "toy", "single")
    verdict = measure_verdict(cell)
    assert verdict.synthetic_accuracy >= 0.9
    low, high = chance_interval(verdict.n_synthetic, 0.9999)
    assert low <= verdict.source_on_synthetic_accuracy <= high
    assert low <= verdict.placebo_on_synthetic_accuracy <= high
    assert measure_verdict(cell) == verdict


def test_the_chance_interval_is_the_exact_binomial_one():
    low, high = (round(1000 * end) for end in chance_interval(1000))
    probability = [comb(1000, hits) / 2**1000 for hits in range(1001)]
    assert sum(probability[:low]) < 0.005 <= sum(probability[: low + 1])
    assert sum(probability[: high + 1]) >= 0.995 > sum(probability[:high])


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=60))
def test_an_interval_holds_its_mean_and_stays_in_bounds(values):
    low, high = bootstrap_mean(values)
    assert 0 <= low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= high <= 1


def test_the_interval_is_as_wide_as_the_normal_one_on_many_texts():
    values = np.random.default_rng(0).choice([0.0, 0.5, 1.0], 1000)
    low, high = bootstrap_mean(list(values))
    assert high - low == pytest.approx(2 * 1.96 * values.std() / 1000**0.5, rel=0.1)
    assert bootstrap_mean(list(values)) == (low, high)


def test_an_interval_never_has_no_width():
    assert bootstrap_mean([0.0] * 50) == pytest.approx((0.0, 0.0713), abs=1e-3)
    assert bootstrap_mean([-1.0] * 50, bounds=(-1.0, 1.0)) == pytest.approx((-1.0, -0.857), abs=1e-3)
    # Up to 7.1 % of all texts may have another value, wherever it is, and be none of 50.
    assert bootstrap_mean([0.5] * 50) == pytest.approx((0.4644, 0.5356), abs=1e-3)
    assert bootstrap_mean([0.0] * 50, bounds=(-1.0, 1.0)) == pytest.approx((-0.0711, 0.0711), abs=1e-3)


def test_the_table_says_when_a_method_found_nothing():
    outcome = {"outcome": "passed"}
    assert lay_out_salience(row(specificity_low=0.1), outcome)[-1] == "passed"
    nothing = lay_out_salience(row(specificity_low=-0.1, n_controls=20), outcome)[-1]
    assert nothing == "passed, found nothing"
    # P@k 1 and placebo 0 on two texts: they cannot show that it found something, and not that it did not.
    unknown = lay_out_salience(row(specificity=1.0, specificity_low=-0.315, n_controls=2), outcome)[-1]
    assert unknown == "passed, too few controls"
    assert lay_out_salience(row(specificity_low=-0.1, family="chance"), outcome)[-1] == "passed"


def test_every_promised_field_is_in_the_schema():
    wanted = """model dataset shortcut salience profile seeds precision_at_k precision_at_k_low precision_at_k_high
    mean_rank n_examples tied_share family target budget forward_passes backward_passes family_seconds source_accuracy
    mixed_accuracy synthetic_accuracy source_on_synthetic_accuracy placebo_on_synthetic_accuracy placebo_precision_at_k
    placebo_mean_rank unseen_precision_at_k unseen_mean_rank specificity embedding_init runs"""
    assert set(wanted.split()) <= (CASE_FIELDS | SALIENCE_FIELDS).keys()
