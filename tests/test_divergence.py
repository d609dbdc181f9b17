"""Divergence scores: what is counted, who is split from whom, and the older measures by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.divergence.explanations import Explanations
from fixtures.divergence.similarities import compare_maps, measure_similarities
from fixtures.errors import InputError
from shortcuts.divergence import (
    SUBCLASSES,
    bhattacharyya,
    count_examples,
    judge_explanations,
    measure_bits,
    negate_distance,
    pair_populations,
    split_models,
)
from tests.test_divergence_oracle import draw

probabilities = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30)
populations = st.lists(st.integers(1, 5), min_size=4, max_size=40)


@given(probabilities)
def test_turning_populations_round_turns_nothing_about_the_score(pairs):
    given_, truth = np.array([p for p, _ in pairs]), np.array([t for _, t in pairs])
    right = judge_explanations(given_, truth)
    assert right.tolist() == [0.5 if p == 0.5 else float((p > 0.5) == t) for p, t in pairs]
    assert (right + judge_explanations(given_, ~truth)).tolist() == [1.0] * len(pairs)


@given(probabilities)
def test_bits_are_one_minus_the_cross_entropy_of_scikit_learn(pairs):
    from sklearn.metrics import log_loss

    given_ = np.clip([p for p, _ in pairs], 0.01, 0.99)
    truth = [t for _, t in pairs]
    expected = 1 - log_loss(truth, given_, labels=[False, True]) / np.log(2)
    assert measure_bits(given_, truth).mean() == pytest.approx(expected)


def test_a_coin_carries_no_bits_certainty_one_and_a_confident_mistake_stays_finite():
    assert measure_bits([0.5, 1.0, 0.0, 1.0], [True, True, False, False]) == pytest.approx([0, 1, 1, -18.93], abs=0.01)


@pytest.mark.parametrize("bad", [[1.1, 0.5], [float("nan"), 0.5], [0.5]])
def test_unusable_probabilities_are_refused(bad):
    with pytest.raises(ValueError, match="one probability"):
        judge_explanations(bad, [True, False])
    with pytest.raises(ValueError, match="one probability"):
        measure_bits(bad, [True, False])


@given(populations, st.data(), st.floats(0.05, 0.95), st.integers(0, 2**31))
def test_no_model_is_on_both_sides_and_both_populations_are_on_each(counts, data, share, seed):
    ids = data.draw(st.permutations(range(len(counts))))
    cut = data.draw(st.integers(2, len(counts) - 2))
    models = np.repeat(ids, counts)
    spurious = np.repeat(np.arange(len(counts)) < cut, counts)
    train, validation = split_models(models, spurious, np.random.default_rng(seed), share)
    assert set(train) & set(validation) == set()
    assert set(train) | set(validation) == set(ids)
    for population in (set(ids[:cut]), set(ids[cut:])):
        there = len(population & set(train))
        assert 1 <= there <= len(population) - 1
        assert abs(there - share * len(population)) <= 1
    order = np.random.default_rng(seed).permutation(len(models))
    again = split_models(models[order], spurious[order], np.random.default_rng(seed), share)
    assert [side.tolist() for side in again] == [train.tolist(), validation.tolist()]


def test_seventy_of_a_hundred_train_and_another_seed_takes_others():
    models, spurious = np.arange(200), np.arange(200) < 100
    train, validation = split_models(models, spurious, np.random.default_rng(0))
    assert [(train < 100).sum(), (train >= 100).sum(), len(validation)] == [70, 70, 60]
    assert set(train) != set(split_models(models, spurious, np.random.default_rng(1))[0])


def test_a_split_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="at least 2 clean"):
        split_models([0, 1, 2], [True, True, False], np.random.default_rng(0))
    with pytest.raises(ValueError, match="both spurious and clean"):
        split_models([0, 0, 1, 2], [True, False, True, False], np.random.default_rng(0))


shares = st.lists(st.floats(0, 1), min_size=6, max_size=6).filter(lambda values: sum(values) > 0.1)


@given(shares, shares)
def test_the_coefficient_is_one_minus_the_squared_hellinger_distance(first, second):
    one, other = (np.array(values) / sum(values) for values in (first, second))
    hellinger = np.linalg.norm(np.sqrt(one) - np.sqrt(other)) / np.sqrt(2)
    shaped = one.reshape(1, 3, 2), other.reshape(1, 3, 2)
    assert bhattacharyya(*shaped)[0] == pytest.approx(1 - hellinger**2)
    assert bhattacharyya(shaped[0], shaped[0])[0] == pytest.approx(1)


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=12))
def test_examples_are_counted_by_class_and_artifact(examples):
    labels, artifact = ([list(column)] for column in zip(*examples, strict=True))
    counted = count_examples(labels, artifact, 3)[0]
    assert counted == pytest.approx(
        np.array([[examples.count((c, a)) / len(examples) for a in (False, True)] for c in range(3)])
    )


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 3)), max_size=30), st.integers(0, 99))
def test_pairs_are_of_one_image_in_both_populations_and_nobody_is_paired_twice(rows, seed):
    image, spurious, subclass = (np.array([row[place] for row in rows], int) for place in range(3))
    ours, theirs = pair_populations(image, spurious, subclass, ["NS/A"], np.random.default_rng(seed))
    assert len(set(ours)) == len(ours) == len(set(theirs)) == len(theirs)
    assert spurious[ours].all()
    assert not spurious[theirs].any()
    assert image[ours].tolist() == image[theirs].tolist()
    assert (subclass[[*ours, *theirs]] == 3).all()
    counts = [[rows.count((number, side, 3)) for side in (True, False)] for number in range(5)]
    assert len(ours) == sum(map(min, counts))


# By hand: what the paper publishes for its synthetic explainers. Each row is spurious or clean, on a subclass.
WHO = [(True, name) for name in SUBCLASSES] + [(False, name) for name in SUBCLASSES]


def make_by_hand(kind, **content):
    spurious = np.array([flag for flag, _ in WHO])
    subclass = np.array([SUBCLASSES.index(name) for _, name in WHO])
    rows = np.arange(8)
    return Explanations(kind, rows, spurious, rows % 4, subclass, np.full(8, "train"), **content)


def test_ideal_influence_by_hand():
    # Pool: clean oval, clean heart, striped heart; hearts are the spurious class 1.
    items = np.array([[2], [0], [2], [2], [1], [0], [1], [0]])
    harmful = np.zeros_like(items)
    content = {
        "items": np.hstack([items, harmful]),
        "labels": np.hstack([items > 0, harmful]).astype(int),
        "pool": np.zeros((3, 1, 8, 8), np.float32),
        "pool_artifact": np.array([False, False, True]),
        "truth": np.array([[[0, 0], [0, 1]]]),
    }
    measured = measure_similarities(make_by_hand("influence", **content))
    assert measured == {"kssd": 1.0, "ccm": 0.5, "fam": 0.0}


def test_ideal_concepts_by_hand_and_random_ones():
    truth = np.array([[1, 0], [0, 0], [1, 1], [0, 1]] * 2, np.float32)
    seen = truth.copy()
    seen[4:, 1] = 0
    measured = measure_similarities(make_by_hand("concept", vectors=seen, truth=truth))
    assert measured == {"kssd": 0.0, "ccm": 0.0, "fam": -0.5}
    coins = np.random.default_rng(0).integers(2, size=(2, 20000, 2))
    assert negate_distance(coins[0], coins[1]).mean() == pytest.approx(-0.5, abs=0.01)


@pytest.mark.parametrize(
    ("row", "moved"),
    [
        ((True, "S/NA"), {"ccm": -0.5}),
        ((False, "NS/NA"), {"ccm": -0.5}),
        ((True, "S/A"), {"kssd": -0.5}),
        ((True, "NS/A"), {"kssd": -0.5, "fam": -1.0}),
        ((False, "NS/A"), {"fam": -1.0}),
        ((False, "S/A"), {}),
    ],
)
def test_each_measure_looks_at_its_own_subclasses(row, moved):
    vectors = np.zeros((8, 2), np.float32)
    vectors[WHO.index(row)] = 1
    measured = measure_similarities(make_by_hand("concept", vectors=vectors, truth=np.zeros((8, 2))))
    assert measured == {"kssd": 0.0, "ccm": 0.0, "fam": 0.0} | moved


def test_structural_similarity_is_of_weights_without_sign_and_scale():
    maps = np.random.default_rng(0).normal(size=(2, 3, 16, 16)).astype(np.float32)
    assert compare_maps(maps, -5 * maps) == pytest.approx([1, 1])
    assert compare_maps(maps, maps[::-1]) == pytest.approx([0, 0], abs=0.2)
    assert compare_maps(0 * maps, 0 * maps) == pytest.approx([1, 1])


def test_measures_say_what_they_lack():
    rows = make_by_hand("concept", vectors=np.zeros((8, 2), np.float32), truth=np.zeros((8, 2)))
    with pytest.raises(InputError, match="CCM: spurious and clean models must explain common images"):
        measure_similarities(rows.select(rows.spurious))


def test_explanations_are_selected_by_model_and_part_together_with_their_truth():
    explanations = draw("concept", "noisy", 0)
    chosen = explanations.of_models([3, 5]).of_part("validation")
    assert set(chosen.model) == {3, 5}
    assert set(chosen.part) == {"validation"}
    where = np.flatnonzero(np.isin(explanations.model, [3, 5]) & (explanations.part == "validation"))
    assert np.array_equal(chosen.vectors, explanations.vectors[where])
    assert np.array_equal(chosen.truth, explanations.truth[where])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "rule"}, "there are: heatmap, influence, concept"),
        ({"items": None}, "kind influence need items"),
        ({"labels": np.zeros((1, 2), int)}, "labels has 1 rows"),
        ({"items": np.full((8, 2), 9)}, "rows of the pool, 0 to 1"),
        ({"part": np.full(8, "test")}, "no part named 'test'"),
        ({"truth": np.zeros((3, 2, 2))}, "it needs 1 or 8"),
    ],
)
def test_unusable_explanations_are_refused(change, message):
    zeros = np.zeros((8, 2), int)
    pool = np.zeros((2, 1, 8, 8), np.float32)
    content = {"items": zeros, "labels": zeros, "pool": pool, "pool_artifact": np.zeros(2, bool)}
    sound = make_by_hand("influence", truth=np.zeros((1, 2, 2)), **content)
    with pytest.raises(InputError, match=message):
        replace(sound, **change)
