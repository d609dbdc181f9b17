"""ERASER's measures: scikit-learn and string oracles, ties, one-to-one spans, worked examples."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortcuts.rationale_matching import (
    SpanMatch,
    auprc,
    average_precision,
    find_spans,
    match_spans,
    token_f1,
)
from tests.strategies import scored_truths

sets = st.sets(st.integers(0, 11))


def flags(positions, length=12):
    return [int(position in positions) for position in range(length)]


@given(scored_truths(most=12))
def test_areas_equal_scikit_learns(case):
    from sklearn.metrics import auc, average_precision_score, precision_recall_curve

    scores, truth = case
    wanted = flags(truth, len(scores))
    precision, recall, _ = precision_recall_curve(wanted, scores)
    assert average_precision(scores, truth) == pytest.approx(average_precision_score(wanted, scores))
    assert auprc(scores, truth) == pytest.approx(auc(recall, precision))


@given(scored_truths(most=12), st.randoms(use_true_random=False))
def test_areas_depend_on_the_order_of_the_scores_alone(case, rng):
    scores, truth = case
    order = list(range(len(scores)))
    rng.shuffle(order)
    moved, there = [3 * scores[word] + 1 for word in order], {order.index(word) for word in truth}
    assert average_precision(moved, there) == pytest.approx(average_precision(scores, truth))
    assert auprc(moved, there) == pytest.approx(auprc(scores, truth))


@given(st.integers(1, 30), st.data())
def test_constant_scores_have_the_share_of_marked_words(length, data):
    truth = data.draw(st.sets(st.integers(0, length - 1), min_size=1))
    assert average_precision([1.0] * length, truth) == pytest.approx(len(truth) / length)
    assert auprc([1.0] * length, truth) == pytest.approx((1 + len(truth) / length) / 2)


def test_extreme_scores_do_not_overflow_and_an_empty_rationale_is_undefined():
    assert average_precision([1e308, -1e308], {0}) == 1.0
    assert average_precision([], set()) is None
    assert auprc([1.0], set()) is None


@pytest.mark.parametrize("measure", [average_precision, auprc])
@pytest.mark.parametrize(("scores", "truth"), [([float("nan")], {0}), ([[1.0]], {0}), ([1.0], {1}), ([1.0], {-1})])
def test_unusable_scores_are_refused(measure, scores, truth):
    with pytest.raises(ValueError, match=r"one finite number a word|lie outside"):
        measure(scores, truth)


@given(sets, sets)
def test_token_f1_equals_scikit_learns(chosen, marked):
    from sklearn.metrics import f1_score

    if chosen | marked:
        assert token_f1(chosen, marked) == pytest.approx(f1_score(flags(marked), flags(chosen), zero_division=0.0))
    else:
        assert token_f1(chosen, marked) is None


def spans_as_text(positions):
    return [set(range(*found.span())) for found in re.finditer("1+", "".join(map(str, flags(positions))))]


@given(sets, sets, st.floats(0.5, 1) | st.sampled_from([0.5, 2 / 3, 1.0]))
def test_spans_match_as_sets_of_words_do_and_one_to_one(chosen, marked, threshold):
    ours, theirs = spans_as_text(chosen), spans_as_text(marked)
    assert [set(span) for span in find_spans(chosen)] == ours
    alike = np.array([[len(a & b) / len(a | b) >= threshold for b in theirs] for a in ours]).reshape(
        len(ours), len(theirs)
    )
    match = match_spans(chosen, marked, threshold)
    assert (match.matched, match.explained, match.marked) == (alike.sum(), len(ours), len(theirs))
    assert (alike.sum(0) <= 1).all()
    assert (alike.sum(1) <= 1).all()


@given(sets)
def test_an_explanation_equal_to_the_rationale_is_perfect(chosen):
    match = match_spans(chosen, chosen)
    assert [match.precision, match.recall, match.f1, token_f1(chosen, chosen)] == ([1.0] * 4 if chosen else [None] * 4)


def test_worked_example():
    # People marked words 1-3 and 8; an explanation of 2-3 and 6 covers the first span by 2 of 3 words.
    match = match_spans({2, 3, 6}, {1, 2, 3, 8})
    assert match == SpanMatch(matched=1, explained=2, marked=2)
    assert match.f1 == 0.5
    assert match_spans({2, 3, 6}, {1, 2, 3, 8}, threshold=0.7).matched == 0
    assert token_f1({2, 3, 6}, {1, 2, 3, 8}) == pytest.approx(4 / 7)
    with pytest.raises(ValueError, match=r"threshold = 0\.4"):
        match_spans({1}, {1}, threshold=0.4)
