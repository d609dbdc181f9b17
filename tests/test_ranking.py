"""P@k and rank: closed-form ties against brute force, a plain oracle, and the bounds that any score is read against."""

from __future__ import annotations

from itertools import pairwise, permutations
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortcuts.ranking import is_tied, precision_at_k, truth_rank
from tests.strategies import scored_truths


def orderings(scores):
    """Every ranking that breaks the ties of the scores some way, each as likely as the other."""
    for order in permutations(range(len(scores))):
        if all(scores[a] >= scores[b] for a, b in pairwise(order)):
            yield order


@given(scored_truths())
def test_expected_values_equal_the_mean_over_all_tie_breakings(case):
    scores, truth = case
    k = len(truth)
    ways = list(orderings(scores))
    hits = fmean(len(set(order[:k]) & truth) / k for order in ways)
    ranks = fmean(1 + max(order.index(position) for position in truth) for order in ways)
    assert precision_at_k(scores, truth) == pytest.approx(hits)
    assert truth_rank(scores, truth) == pytest.approx(ranks)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40, unique=True), st.data())
def test_without_ties_both_equal_a_plain_sort(scores, data):
    truth = data.draw(st.sets(st.integers(0, len(scores) - 1), min_size=1))
    order = sorted(range(len(scores)), key=lambda position: -scores[position])
    top = set(order[: len(truth)])
    smallest = next(r for r in range(1, len(scores) + 1) if truth <= set(order[:r]))
    assert precision_at_k(scores, truth) == len(top & truth) / len(truth)
    assert truth_rank(scores, truth) == smallest


@given(scored_truths(most=12), st.randoms(use_true_random=False))
def test_permuting_the_tokens_changes_nothing(case, rng):
    scores, truth = case
    order = list(range(len(scores)))
    rng.shuffle(order)
    moved = [scores[position] for position in order]
    moved_truth = {order.index(position) for position in truth}
    assert precision_at_k(moved, moved_truth) == pytest.approx(precision_at_k(scores, truth))
    assert truth_rank(moved, moved_truth) == truth_rank(scores, truth)


@given(st.integers(1, 50), st.data())
def test_constant_scores_equal_the_random_baseline(n, data):
    truth = data.draw(st.sets(st.integers(0, n - 1), min_size=1))
    k = len(truth)
    assert precision_at_k([0.0] * n, truth) == pytest.approx(k / n)
    assert truth_rank([0.0] * n, truth) == pytest.approx(k * (n + 1) / (k + 1))


@given(st.integers(2, 50), st.data())
def test_oracle_and_anti_oracle_are_the_bounds(n, data):
    truth = data.draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=n // 2))
    scores = np.array([float(position in truth) for position in range(n)])
    assert precision_at_k(scores, truth) == 1.0
    assert truth_rank(scores, truth) == len(truth)
    assert precision_at_k(-scores, truth) == 0.0
    assert truth_rank(-scores, truth) == n


def test_worked_example():
    # "a zero good one film": scores put "one" first and "zero" third.
    scores, truth = [0.1, 0.4, 0.6, 0.9, 0.2], {1, 3}
    assert precision_at_k(scores, truth) == 0.5
    assert truth_rank(scores, truth) == 3


@pytest.mark.parametrize(
    ("scores", "truth"),
    [([1.0, float("nan")], {0}), ([1.0, float("inf")], {0}), ([], {0}), ([1.0], set()), ([1.0], {1}), ([[1.0]], {0})],
)
def test_unusable_input_is_refused(scores, truth):
    with pytest.raises(ValueError, match="must be"):
        precision_at_k(scores, truth)
    with pytest.raises(ValueError, match="must be"):
        truth_rank(scores, truth)


def test_k_outside_the_text_is_refused():
    with pytest.raises(ValueError, match="k = 3"):
        precision_at_k([1.0, 2.0], {0}, k=3)


def test_ties_below_the_top_do_not_count():
    assert not is_tied([3.0, 1.0, 1.0], 1)
    assert is_tied([3.0, 3.0, 1.0], 1)
    assert not is_tied([3.0, 3.0], 2)
