"""From token scores to word weights, and from an explanation to what a model is fed with."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortcuts.rationale_feeding import draw_positions, keep_words, plan_feeds
from shortcuts.rationale_weights import join_pieces, scale_weights

numbers = st.floats(-1e6, 1e6).map(lambda number: round(number, 6))
scores = st.lists(numbers | st.sampled_from([0.0, 1.0]), min_size=1, max_size=8)


@given(scores, st.floats(1e-3, 1e3))
def test_weights_are_proportions_of_the_largest_positive_score(values, size):
    weights = scale_weights(values)
    top = max(values)
    assert weights.max() == (1 if top > 0 else 0)
    assert weights == pytest.approx([max(value, 0) / top if top > 0 else 0 for value in values])
    assert scale_weights([size * value for value in values]) == pytest.approx(weights)


@given(st.lists(st.tuples(st.none() | st.integers(0, 5), st.floats(-100, 100)), max_size=12))
def test_the_pieces_of_a_word_add_up_and_nothing_is_lost(tokens):
    words = [word for word, _ in tokens]
    values = [value for word, value in tokens if word is not None]
    joined = join_pieces(values, words, 6)
    sums = Counter()
    for word, value in tokens:
        if word is not None:
            sums[word] += value
    assert joined == pytest.approx([sums[word] for word in range(6)])
    assert joined.sum() == pytest.approx(sum(values), abs=1e-9)


@given(st.integers(1, 12), st.data())
def test_feeds_keep_the_order_and_the_random_one_the_size(length, data):
    words = [f"word{position}" for position in range(length)]
    chosen = data.draw(st.sets(st.integers(0, length - 1)))
    marked = data.draw(st.sets(st.integers(0, length - 1)))
    feeds = plan_feeds(words, chosen, marked, seed=3)
    assert feeds["full"] == tuple(words)
    assert feeds["explanation"] == (tuple(word for place, word in enumerate(words) if place in chosen) or None)
    assert feeds["human"] == (tuple(word for place, word in enumerate(words) if place in marked) or None)
    drawn = feeds["random"] or ()
    assert len(drawn) == len(chosen) == len(set(drawn))
    assert [words.index(word) for word in drawn] == sorted(words.index(word) for word in drawn)
    assert plan_feeds(words, chosen, marked, seed=3) == feeds


def test_every_word_is_drawn_as_often_as_another():
    counts = Counter(position for seed in range(3000) for position in draw_positions(6, 2, seed))
    assert all(counts[position] == pytest.approx(1000, abs=4 * np.sqrt(3000 * 1 / 3 * 2 / 3)) for position in range(6))


BAD = {
    "a score a special token": (lambda: join_pieces([1.0, 2.0], [None, 0], 1), "2 scores for 1 tokens"),
    "a word outside": (lambda: join_pieces([1.0], [4], 2), "words 4 to 4, outside a sentence of 2 words"),
    "infinite scores": (lambda: scale_weights([float("inf")]), "one finite number"),
    "a word that is not there": (lambda: keep_words(["a"], {1}), "positions"),
    "more words than there are": (lambda: draw_positions(2, 3, 0), r"size = 3 must lie in 0\.\.2"),
}


@pytest.mark.parametrize("case", BAD)
def test_unusable_input_is_refused(case):
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        call()
