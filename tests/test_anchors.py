"""The search for anchors without a model: rules whose anchor is known, rules that have none, and random ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.evidence.beam import Limits, search_anchor
from fixtures.evidence.samples import Samples, measure_coverage


def run_search(rule, tokens, seed=0, limits=None):
    """A search on a model that is a function of which tokens are kept, [S, n] -> [S]: the anchor, and the calls."""
    limits = limits or Limits(1000)
    known = {np.ones(tokens, dtype=bool).tobytes(): True}
    search, calls = search_anchor(tokens, seed, limits), 0
    kept = next(search)
    whole = rule(np.ones((1, tokens), dtype=bool))[0]
    while True:
        fresh = {row.tobytes() for row in kept} - known.keys()
        known |= {name: bool(rule(np.frombuffer(name, dtype=bool)[None])[0] == whole) for name in fresh}
        calls += 1
        try:
            kept = search.send((np.array([known[row.tobytes()] for row in kept]), len(fresh)))
        except StopIteration as end:
            anchor = end.value
            break
    assert anchor.passes == len(known) <= limits.passes
    return anchor, calls


RULES = {
    "one word": (lambda kept: kept[:, 3], (3,), 302),
    "two words": (lambda kept: kept[:, 3] & kept[:, 7], (3, 7), 600),
    "three words": (lambda kept: kept[:, 3:6].all(1), (3, 4, 5), 900),
    "a constant": (lambda kept: np.ones(len(kept), dtype=bool), (), 200),
}


@pytest.mark.parametrize("tokens", [10, 25, 60])
@pytest.mark.parametrize("name", RULES)
def test_the_anchor_of_a_rule_is_the_rule(name, tokens):
    rule, places, most = RULES[name]
    for seed in range(5):
        anchor, _ = run_search(rule, tokens, seed)
        assert (anchor.places, anchor.outcome, anchor.precision) == (places, "found", 1.0)
        assert anchor.lower > 0.9
        assert anchor.upper == 1.0
        assert anchor.passes <= most
        # The size alone decides how many copies hold a set.
        assert abs(anchor.coverage - 0.5 ** len(places)) < 0.07


@pytest.mark.parametrize("tokens", [25, 60])
@pytest.mark.parametrize("name", ["parity", "all of them", "most of them"])
def test_without_a_short_rule_the_passes_are_bounded_and_the_outcome_says_so(name, tokens):
    rules = {
        "parity": lambda kept: kept.sum(1) % 2 == tokens % 2,
        "all of them": lambda kept: kept.all(1),
        "most of them": lambda kept: kept.mean(1) > 0.6,
    }
    anchor, calls = run_search(rules[name], tokens)
    assert anchor.outcome == "spent"
    assert 990 <= anchor.passes <= 1000
    assert calls < 80
    assert len(anchor.places) <= 6
    assert anchor.lower <= anchor.precision <= anchor.upper
    assert anchor.coverage > 0


def test_a_text_whose_only_anchor_is_longer_than_allowed_has_none():
    limits = Limits(20000, size=2)
    anchor, _ = run_search(lambda kept: kept[:, :3].all(1), 9, limits=limits)
    assert anchor.outcome == "none"
    assert set(anchor.places) <= {0, 1, 2}
    assert anchor.precision < 0.95
    # Of nine tokens there are 512 copies, and none is read twice.
    assert anchor.passes <= 512 < anchor.drawn
    assert run_search(lambda kept: kept[:, :3].all(1), 9, limits=Limits(20000, size=3))[0].places == (0, 1, 2)


@pytest.mark.parametrize("tokens", range(1, 7))
def test_a_short_text_that_is_wholly_needed_is_its_own_anchor(tokens):
    anchor, _ = run_search(lambda kept: kept.all(1), tokens)
    assert (anchor.places, anchor.outcome) == (tuple(range(tokens)), "found")
    assert anchor.passes <= 2**tokens


def test_what_is_found_is_as_precise_as_it_says():
    weights = np.random.default_rng(0).normal(size=12)
    everything = np.array(np.meshgrid(*[[False, True]] * 12)).reshape(12, -1).T
    right, inside, found = 0, 0, 0
    for seed in range(40):
        rule_weights = weights + np.random.default_rng(seed).normal(size=12)
        threshold = 0.3 * rule_weights.sum()
        whole = rule_weights.sum() > threshold
        anchor, _ = run_search(lambda kept, w=rule_weights, t=threshold: kept @ w > t, 12, seed)
        holds = everything[:, list(anchor.places)].all(1)
        precision = ((everything[holds] @ rule_weights > threshold) == whole).mean()
        inside += anchor.lower <= precision <= anchor.upper
        if anchor.outcome == "found":
            found += 1
            right += precision >= 0.9
    assert found > 20
    assert right >= 0.95 * found
    assert inside >= 0.95 * 40


@settings(max_examples=30)
@given(st.integers(1, 8), st.integers(0, 2**63 - 1), st.data())
def test_any_rule_ends_within_its_passes_and_depends_on_its_seed_alone(tokens, seed, data):
    table = data.draw(st.lists(st.booleans(), min_size=2**tokens, max_size=2**tokens))
    powers = 2 ** np.arange(tokens)
    limits = Limits(data.draw(st.integers(2, 300)))
    results = [run_search(lambda kept: np.array(table)[kept @ powers], tokens, seed, limits)[0] for _ in range(2)]
    assert results[0] == results[1]
    assert results[0].outcome in ("found", "spent", "none")
    assert 0 < results[0].coverage <= 1
    if results[0].outcome == "found":
        assert results[0].precision >= limits.threshold


def test_a_copy_counts_for_every_set_that_it_was_drawn_for_a_part_of():
    samples = Samples(3, 0, 100)
    drawing = samples.draw(np.array([True, False, False]), 40)
    kept = next(drawing)
    same = kept[:, 1]
    with pytest.raises(StopIteration):
        drawing.send((same, 4))
    sets = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0], [0, 0, 0]], dtype=bool)
    hits, trials = samples.count(sets)
    assert kept[:, 0].all()
    # What was drawn keeping the first token says nothing of sets without it.
    assert trials.tolist() == [40, kept[:, 1].sum(), (kept[:, 1] & kept[:, 2]).sum(), 0, 0]
    assert hits.tolist() == [same.sum(), trials[1], trials[2], 0, 0]
    assert (samples.passes, samples.drawn) == (5, 40)


@given(st.integers(1, 8), st.integers(0, 2**32))
def test_coverage_is_a_half_to_the_number_of_tokens_and_never_grows_with_the_set(size, seed):
    held = np.arange(10) < size
    assert abs(measure_coverage(held, seed, 4000) - 0.5**size) < 0.04
    assert measure_coverage(held, seed) <= measure_coverage(np.arange(10) < size - 1, seed)
