"""The bounds of Bernoulli means against scipy and by simulation, and which arms are sampled next."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from fixtures.evidence.bandit import bound_above, bound_below, find_contest, find_level, measure_divergence

counts = st.integers(0, 400).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials)))


@given(st.floats(0, 1), st.floats(0.001, 0.999))
def test_the_divergence_is_scipys(p, q):
    np.testing.assert_allclose(measure_divergence(p, q), entropy([p, 1 - p], [q, 1 - q]), rtol=1e-9, atol=1e-12)


@given(counts, st.floats(0.1, 30), st.integers(2, 9))
def test_bounds_hold_the_mean_end_at_the_level_and_shrink_with_samples(count, level, factor):
    hits, trials = count
    low, high = float(bound_below(hits, trials, level)), float(bound_above(hits, trials, level))
    assert 0 <= low <= hits / max(trials, 1) <= high <= 1
    for bound in (low, high):
        # Nearer to 0 and 1 the divergence changes by more than that within the precision of the bound.
        if 1e-4 < bound < 1 - 1e-4:
            assert math.isclose(trials * measure_divergence(hits / trials, bound), level, rel_tol=1e-5)
    assert bound_above(factor * hits, factor * trials, level) <= high + 1e-9
    assert bound_below(factor * hits, factor * trials, level) >= low - 1e-9
    assert bound_above(hits, trials, 2 * level) >= high - 1e-9


def test_bounds_of_sure_arms_are_known():
    # All of n hits speak against a mean q with probability q^n.
    assert math.isclose(bound_below(40, 40, 3.0), math.exp(-3 / 40), rel_tol=1e-9)
    assert math.isclose(bound_above(0, 40, 3.0), 1 - math.exp(-3 / 40), rel_tol=1e-9)
    assert bound_above(0, 0, 3.0) == 1
    assert bound_below(0, 0, 3.0) == 0


@pytest.mark.parametrize("mean", [0.05, 0.5, 0.95])
def test_all_bounds_up_to_the_horizon_hold_with_their_confidence(mean):
    paths, horizon, delta = 2000, 300, 0.2
    hits = (np.random.default_rng(3).random((paths, horizon)) < mean).cumsum(1)
    trials = np.arange(1, horizon + 1)

    def miss(level):
        # A path fails when any of its bounds, at any number of samples, leaves out the mean.
        return (trials * measure_divergence(hits / trials, mean) > level).any(1).mean()

    assert miss(find_level(1, horizon, delta)) <= delta
    # A level for one number of samples would not do for all of them; so the test can fail.
    assert miss(math.log(2 / delta)) > delta


@given(st.integers(1, 10**6), st.integers(2, 10**5), st.floats(1e-4, 0.5))
def test_the_level_is_the_smallest_that_keeps_delta(arms, horizon, delta):
    def error(level):
        return 2 * arms * math.e * math.ceil(level * math.log(horizon)) * math.exp(-level)

    level = find_level(arms, horizon, delta)
    assert error(level) <= delta * (1 + 1e-9)
    assert error(level * 0.98) > delta
    assert find_level(arms + 1, horizon, delta) >= level


def test_the_contested_arms_lead_to_the_best_ones_within_the_tolerance():
    means, best, tolerance, wrong = np.array([0.9, 0.7, 0.65, 0.3, 0.2]), 2, 0.2, 0
    for seed in range(40):
        rng, trials, hits = np.random.default_rng(seed), np.full(5, 10.0), np.zeros(5)
        hits += rng.binomial(10, means)
        level = find_level(5, 4000, 0.05)
        while (contest := find_contest(hits, trials, best, level)).gap >= tolerance:
            for arm in (contest.leader, contest.rival):
                trials[arm] += 10
                hits[arm] += rng.binomial(10, means[arm])
        chosen = np.argsort(-hits / trials)[:best]
        wrong += means[chosen].min() < np.sort(means)[-best] - tolerance
        # Samples go where the decision is, not to what is clearly out.
        assert trials[[1, 2]].min() > trials[[3, 4]].max()
    assert wrong <= 40 * 0.05
    assert find_contest([3, 2], [4, 4], 2, 1.0) is None
