"""Agreement with rationales: a set oracle, properties, a worked example, undefined cases."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shortcuts.rationale_weights import EPSILONS, scale_weights, select_words
from shortcuts.rationales import (
    Overlap,
    join_annotators,
    measure_overlap,
    sweep_epsilons,
)

numbers = st.floats(-1e6, 1e6).map(lambda number: round(number, 6)) | st.sampled_from([0.0, 1.0, -1.0])
scores = st.lists(numbers, min_size=1, max_size=8)
epsilons = st.floats(0, 1, exclude_max=True) | st.sampled_from(EPSILONS)


@st.composite
def scored_rationales(draw, annotators=1):
    values = draw(scores)
    positions = st.sets(st.integers(0, len(values) - 1))
    return (values, *(draw(positions) for _ in range(annotators)))


def count_overlap(chosen, marked, length, weights):
    """The three shares word by word, in exact arithmetic."""
    inside = outside = Fraction(0)
    for word in range(length):
        if word in chosen:
            inside += Fraction(weights[word]) * (word in marked)
            outside += Fraction(weights[word]) * (word not in marked)
    wholes = (inside + outside, len(marked), length - len(marked))
    return [
        float(part / whole) if whole else None for part, whole in zip((inside, inside, outside), wholes, strict=True)
    ]


def values_of(overlap):
    return [overlap.precision, overlap.recall, overlap.fallout]


@given(scored_rationales(), epsilons)
def test_all_measures_equal_counting_word_by_word(case, epsilon):
    values, marked = case
    weights = scale_weights(values)
    chosen = {word for word in range(len(values)) if weights[word] > epsilon}
    plain, weighted = sweep_epsilons(weights, marked, [epsilon])[epsilon]
    assert values_of(plain) == pytest.approx(count_overlap(chosen, marked, len(values), [1] * len(values)))
    assert values_of(weighted) == pytest.approx(count_overlap(chosen, marked, len(values), weights.tolist()))


@given(scored_rationales(), epsilons)
def test_measures_are_shares_and_weights_only_lower_recall_and_fallout(case, epsilon):
    values, marked = case
    plain, weighted = sweep_epsilons(scale_weights(values), marked, [epsilon])[epsilon]
    assert all(value is None or 0 <= value <= 1 for value in [*values_of(plain), *values_of(weighted)])
    for ours, theirs in zip(values_of(weighted)[1:], values_of(plain)[1:], strict=True):
        assert (ours is None) == (theirs is None)
        assert ours is None or ours <= theirs + 1e-12


@given(scored_rationales(), epsilons)
def test_the_complement_of_a_rationale_swaps_recall_and_fallout(case, epsilon):
    values, marked = case
    rest = set(range(len(values))) - marked
    for here, there in zip(
        sweep_epsilons(scale_weights(values), marked, [epsilon])[epsilon],
        sweep_epsilons(scale_weights(values), rest, [epsilon])[epsilon],
        strict=True,
    ):
        assert (here.recall, here.fallout) == (there.fallout, there.recall)
        assert here.precision is None or here.precision + there.precision == pytest.approx(1)


@given(scored_rationales(), epsilons, epsilons)
def test_recall_and_fallout_never_rise_with_epsilon(case, first, second):
    values, marked = case
    low, high = sorted((first, second))
    weights = scale_weights(values)
    assert select_words(weights, high) <= select_words(weights, low)
    swept = sweep_epsilons(weights, marked, [low, high])
    for below, above in zip(swept[low], swept[high], strict=True):
        assert marked == set() or above.recall <= below.recall
        assert len(marked) == len(values) or above.fallout <= below.fallout


@given(scored_rationales(annotators=3), epsilons)
def test_the_union_of_annotators_never_lowers_precision(case, epsilon):
    values, *annotators = case
    weights = scale_weights(values)

    def precision(rationale):
        return [overlap.precision for overlap in sweep_epsilons(weights, rationale, [epsilon])[epsilon]]

    assume(select_words(weights, epsilon))
    union = precision(join_annotators(annotators, "union"))
    for rationale in [*annotators, join_annotators(annotators, "intersection")]:
        assert all(joint >= alone for joint, alone in zip(union, precision(rationale), strict=True))


@given(scored_rationales(), st.floats(1e-6, 1e6), epsilons)
def test_weighted_equals_plain_where_all_weights_are_equal(case, size, epsilon):
    values, marked = case
    plain, weighted = sweep_epsilons(scale_weights([size * (value > 0) for value in values]), marked, [epsilon])[
        epsilon
    ]
    assert plain == weighted


@given(scored_rationales(), st.floats(0.01, 1))
def test_precision_does_not_depend_on_the_size_of_equal_weights(case, size):
    values, marked = case
    chosen = {word for word, value in enumerate(values) if value > 0}
    weighted = measure_overlap(chosen, marked, len(values), [size] * len(values))
    assert weighted.precision == pytest.approx(measure_overlap(chosen, marked, len(values)).precision)


@given(scored_rationales(), st.randoms(use_true_random=False))
def test_the_order_of_the_words_changes_nothing(case, rng):
    values, marked = case
    order = list(range(len(values)))
    rng.shuffle(order)
    moved = [values[word] for word in order]
    there = {order.index(word) for word in marked}
    assert sweep_epsilons(scale_weights(moved), there) == sweep_epsilons(scale_weights(values), marked)


def test_worked_example():
    # "a truly good but slow film": people marked "truly good"; weights truly 0.4, good 1, slow 0.2, the rest 0.
    weights, marked = [0.0, 0.4, 1.0, 0.0, 0.2, 0.0], {1, 2}
    swept = sweep_epsilons(weights, marked)
    assert swept[0.1][0] == Overlap(2 / 3, 1.0, 1 / 4)
    assert values_of(swept[0.1][1]) == pytest.approx([1.4 / 1.6, 1.4 / 2, 0.2 / 4])
    assert swept[0.5] == (Overlap(1.0, 0.5, 0.0), Overlap(1.0, 0.5, 0.0))


UNDEFINED = {
    "no explanation": (set(), {0}, 3, Overlap(None, 0.0, 0.0)),
    "no rationale": ({0}, set(), 2, Overlap(0.0, None, 0.5)),
    "every word marked": ({0}, {0, 1}, 2, Overlap(1.0, 0.5, None)),
    "neither": (set(), set(), 1, Overlap(None, None, 0.0)),
    "no words": (set(), set(), 0, Overlap(None, None, None)),
}


@pytest.mark.parametrize("case", UNDEFINED)
def test_what_has_no_denominator_is_undefined(case):
    chosen, marked, length, expected = UNDEFINED[case]
    assert measure_overlap(chosen, marked, length) == expected
    assert measure_overlap(chosen, marked, length, [1.0] * length) == expected


BAD = {
    "a position outside": (lambda: measure_overlap({3}, {0}, 3), r"positions \[3\] lie outside a sentence of 3 words"),
    "a negative position": (lambda: measure_overlap(set(), {-1}, 3), r"positions \[-1\] lie outside"),
    "weights of another length": (lambda: measure_overlap({0}, {0}, 3, [1.0]), "1 weights for 3 words"),
    "a weight above 1": (lambda: sweep_epsilons([2.0], {0}), r"must lie in \[0, 1\].*use scale_weights"),
    "a weight that is no number": (lambda: select_words([float("nan")], 0.1), "one finite number"),
    "an epsilon of 1": (lambda: select_words([1.0], 1.0), r"epsilon = 1.0 must lie in \[0, 1\)"),
    "no annotators": (lambda: join_annotators([], "union"), "no annotator"),
    "another join": (lambda: join_annotators([{0}], "majority"), "union or intersection, not 'majority'"),
}


@pytest.mark.parametrize("case", BAD)
def test_unusable_input_is_refused(case):
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        call()
