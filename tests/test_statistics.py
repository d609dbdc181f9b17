"""Statistics over seeds and texts: intervals that cover what they should, comparisons that find what was planted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.aggregation import aggregate_runs, join_numbers, list_specificities, split_numbers
from fixtures.comparison import FEWEST, compare_methods, measure_p, rank_methods
from fixtures.intervals import bootstrap_mean, bootstrap_nested
from fixtures.schema import CONTROL_FIELDS, RUN_FIELDS, SALIENCE_RUN_FIELDS
from tests.suites import fill

scores = st.sampled_from([0.0, 0.5, 1.0])
groups = st.integers(2, 20).flatmap(
    lambda texts: st.lists(st.lists(scores, min_size=texts, max_size=texts), min_size=1, max_size=4)
)


@given(groups)
def test_a_nested_interval_holds_its_mean_and_stays_in_bounds(values):
    low, high = bootstrap_nested(values)
    assert 0 <= low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= high <= 1


def test_seeds_that_differ_widen_the_interval_and_equal_ones_do_not():
    rng = np.random.default_rng(0)
    texts = rng.choice([0.0, 1.0], 400).tolist()
    alike = bootstrap_nested([texts, texts, texts])
    one = bootstrap_mean(texts)
    apart = bootstrap_nested([[0.9] * 200 + [0.8] * 200, [0.5] * 400, [0.1] * 400])
    assert alike[1] - alike[0] <= one[1] - one[0]
    assert apart[1] - apart[0] > 0.4


def test_one_seed_has_the_interval_of_its_texts():
    values = np.random.default_rng(1).choice([0.0, 0.5, 1.0], 60).tolist()
    assert bootstrap_nested([values]) == bootstrap_mean(values)


def test_seeds_that_all_reach_a_bound_have_the_width_of_one():
    assert bootstrap_nested([[1.0] * 50] * 3) == pytest.approx((0.9287, 1.0), abs=1e-3)


def test_the_nested_interval_covers_the_mean_of_a_known_population():
    # Seeds vary around 0.7 with deviation 0.05, texts are coins of the seed's bias; few seeds make the percentile
    # bootstrap somewhat narrow, so with eight of them nine in ten is what must be reached.
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(100):
        biases = np.clip(rng.normal(0.7, 0.05, 8), 0, 1)
        low, high = bootstrap_nested([(rng.random(100) < bias).astype(float).tolist() for bias in biases])
        hits += low <= 0.7 <= high
    assert hits >= 85


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_numbers_of_texts_survive_their_string(values):
    assert split_numbers(join_numbers(values)) == pytest.approx(values, abs=1e-5)


def run(seed, precisions, placebo):
    values = {"precisions": join_numbers(precisions), "placebo_precisions": join_numbers(placebo)}
    unseen = {"unseen_precisions": join_numbers(placebo)}
    return fill(RUN_FIELDS | SALIENCE_RUN_FIELDS) | {"seed": seed} | values | unseen


METHOD = {"salience": "m", "family": "path", "budget": 100}


def test_a_row_is_the_mean_over_seeds_and_texts_and_specificity_is_paired():
    runs = [run(1, [1.0, 0.0, 1.0], [0.0, 0.0]), run(2, [0.0, 0.0, 0.0], [1.0, 0.0])]
    row = aggregate_runs(METHOD, runs)
    assert row["seeds"] == [1, 2]
    assert row["precision_at_k"] == pytest.approx(1 / 3)
    assert row["precision_at_k_deviation"] == pytest.approx((2 / 3) / 2**0.5)
    assert row["placebo_precision_at_k"] == pytest.approx(0.25)
    assert row["specificity"] == pytest.approx((0.5 - 0.5) / 2)
    assert list_specificities(runs) == [[1.0, 0.0], [-1.0, 0.0]]
    assert row["controls"] == "swept on the first 2 texts only"
    assert row["n_examples"] == 3


def test_a_row_without_controls_says_why():
    row = aggregate_runs(METHOD, [run(1, [1.0, 0.5], [])])
    assert all(row[name] is None for name in CONTROL_FIELDS)
    assert row["controls"] == "not swept: the profile affords no control at budget 100 of path"
    assert row["precision_at_k_deviation"] is None


def noisy(rng, bias, texts=200, seeds=2):
    return {"cell": (rng.random((seeds, texts)) < bias).astype(float).tolist()}


def test_planted_differences_are_found_and_noise_is_not():
    rng = np.random.default_rng(0)
    values = {f"bad {number}": noisy(rng, 0.3) for number in range(8)}
    values |= {"good": noisy(rng, 0.9), "as good": noisy(rng, 0.9)}
    found = compare_methods(values)
    assert {(one.better, one.worse) for one in found} == {
        (good, f"bad {number}") for good in ("good", "as good") for number in range(8)
    }
    ranks = rank_methods(values)
    assert ranks["good"] == ranks["as good"] == 1
    assert {ranks[f"bad {number}"] for number in range(8)} == {3}


def test_among_equal_methods_hardly_anything_is_found():
    rng = np.random.default_rng(0)
    found = sum(bool(compare_methods({str(name): noisy(rng, 0.5, 60) for name in range(12)})) for _ in range(40))
    assert found <= 4


def test_a_difference_that_turns_round_at_another_seed_does_not_count():
    up = {"cell": [[1.0] * 100, [0.0] * 100, [1.0] * 100]}
    down = {"cell": [[0.0] * 100, [0.1] * 100, [0.0] * 100]}
    assert compare_methods({"up": up, "down": down}) == []


def test_methods_are_compared_on_the_texts_that_both_scored():
    few = {"one": [[1.0] * 10], "two": [[1.0] * 10]}
    many = {"one": [[1.0] * 10 + [0.0] * 90], "two": [[1.0] * 100]}
    assert compare_methods({"few": few, "many": many}) == []
    worse = {"one": [[0.0] * 100], "two": [[0.0] * 100]}
    [first, *_] = compare_methods({"few": few, "worse": worse})
    assert (first.better, first.texts) == ("few", 20)


def test_texts_on_which_two_methods_agree_take_no_power_away():
    wins = {"cell": [[1.0] * 300]}, {"cell": [[0.0] * 14 + [1.0] * 286]}
    [found] = compare_methods(dict(zip(("always", "mostly"), wins, strict=True)))
    assert (found.better, found.texts) == ("always", 300)
    assert found.p == pytest.approx(0.0002, abs=5e-5)


@pytest.mark.parametrize(("texts", "differing"), [(300, 0.02), (300, 0.05), (300, 0.3), (24, 0.3), (24, 1.0)])
def test_no_more_than_the_level_is_found_where_signs_are_coins(texts, differing):
    rng = np.random.default_rng(0)
    draws = (rng.choice([-1.0, -0.5, 0.5, 1.0], texts) * (rng.random(texts) < differing) for _ in range(600))
    # Two standard errors of a share of 0.05 over 600 draws are 0.018.
    assert sum(measure_p(draw) <= 0.05 for draw in draws) / 600 <= 0.068


def test_the_exact_p_value_is_scipys():
    from scipy.stats import PermutationMethod, wilcoxon

    rng = np.random.default_rng(0)
    for size in (2, 3, 5, 6):
        values = rng.choice([-1.0, -0.5, 0.25, 0.5, 1.0], size)
        assert measure_p(values) == pytest.approx(wilcoxon(values, method=PermutationMethod()).pvalue)


def test_nineteen_texts_that_all_differ_cannot_survive_the_correction_of_forty_methods_and_twenty_can():
    from scipy.stats import false_discovery_control

    pairs = 40 * 39 // 2
    lowest = {
        n: false_discovery_control([measure_p([1.0] * n)] + [1.0] * (pairs - 1), method="by")[0] for n in (19, 20)
    }
    assert lowest[FEWEST] <= 0.05 < lowest[FEWEST - 1]


def test_a_method_with_too_few_texts_has_no_rank_and_never_the_first():
    worse, better = {"cell": [[0.0] * 100]}, {"cell": [[1.0] * 100]}
    assert rank_methods({"few": {"cell": [[1.0] * 19]}, "better": better, "worse": worse}) == {"better": 1, "worse": 2}
    assert rank_methods({"few": {"cell": [[1.0] * 20]}, "better": better, "worse": worse})["few"] == 1
    assert rank_methods({"alone": {"cell": [[1.0] * 19]}}) == {}
    # Many texts that nobody else has scored do not help to tell it from others.
    assert "apart" not in rank_methods({"apart": {"other": [[1.0] * 100]}, "better": better, "worse": worse})
