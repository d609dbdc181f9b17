"""Detectors of divergence: what they may see, that a seed repeats them, and intervals of scores that cover."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.divergence.scoring import list_trials
from fixtures.errors import InputError
from fixtures.intervals import bootstrap_mean, bootstrap_ragged
from tests.detecting import judge_runs
from tests.test_divergence_oracle import SETTINGS, draw

ragged = st.lists(
    st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=5), min_size=1, max_size=6),
    min_size=1,
    max_size=4,
)


@given(st.integers(0, 2**31), st.floats(0.1, 0.6))
@settings(max_examples=20)
def test_early_stopping_sees_neither_the_models_nor_the_images_of_the_fit(seed, share):
    from fixtures.divergence.detectors import hold_out

    explanations = draw("concept", "ideal", 0, models=12).of_part("train")
    kept, held = hold_out(explanations, share, np.random.default_rng(seed))
    for name in ("model", "image"):
        values = getattr(explanations, name)
        apart = set(values[kept]) & set(values[held])
        # Both models of a pair explain the same images: without their twins too few rows may be left.
        assert not apart or (name == "image" and share > 0.3)
    assert {*explanations.spurious[kept]} == {*explanations.spurious[held]} == {True, False}


def test_where_all_models_explain_the_same_images_only_models_are_held_out():
    from fixtures.divergence.detectors import hold_out

    explanations = draw("concept", "ideal", 0, models=10).of_part("train")
    same = replace(explanations, image=np.zeros_like(explanations.image))
    kept, held = hold_out(same, 0.2, np.random.default_rng(0))
    assert len(kept) == 4 * len(held)


def test_detectors_learn_from_training_models_and_images_and_are_judged_on_others(monkeypatch):
    from fixtures.divergence import detectors

    seen = []
    real = detectors.train_detector

    def spy(explanations, recipe, seed):
        seen.append(explanations)
        return real(explanations, recipe, seed)

    monkeypatch.setattr(detectors, "train_detector", spy)
    explanations = draw("concept", "ideal", 0, models=20)
    judged = judge_runs(explanations, SETTINGS["concept"] | {"epochs": 1}, runs=3, seed=0)
    assert len(seen) == 3
    for run, learnt in enumerate(seen):
        validation = set(judged.model[judged.run == run])
        assert set(learnt.part) == {"train"}
        assert not set(learnt.model) & validation
        assert len({*learnt.model}) == 28
        assert len(validation) == 12
    assert len({tuple(sorted({*learnt.model})) for learnt in seen}) == 3


def test_inputs_are_standardised_by_what_the_fit_saw():
    from fixtures.divergence.detectors import hold_out, train_detector

    explanations = draw("influence", "ideal", 0, models=6).of_part("train")
    kept, _ = hold_out(explanations, SETTINGS["influence"]["holdout"], np.random.default_rng(3))
    detector = train_detector(explanations, SETTINGS["influence"] | {"epochs": 1}, 3)
    used = explanations.pool[np.unique(explanations.items[kept])]
    assert float(detector.mean) == pytest.approx(used.mean(), rel=1e-4)
    assert float(detector.deviation) == pytest.approx(used.std(), rel=1e-4)
    assert len(used) < len(explanations.pool)


@pytest.mark.parametrize("kind", ["heatmap", "influence", "concept"])
def test_a_seed_gives_one_detector_and_the_process_keeps_its_random_state(kind):
    import torch

    from fixtures.divergence.detectors import train_detector

    explanations = draw(kind, "ideal", 0, models=6)
    recipe = SETTINGS[kind] | {"epochs": 2}
    state = torch.get_rng_state()
    first, again, other = (train_detector(explanations, recipe, seed).predict(explanations) for seed in (1, 1, 2))
    assert torch.equal(state, torch.get_rng_state())
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert ((first >= 0) & (first <= 1)).all()


def test_labels_of_the_set_encoder_may_be_new():
    from fixtures.divergence.detectors import train_detector

    explanations = draw("influence", "ideal", 0, models=6)
    detector = train_detector(explanations, SETTINGS["influence"] | {"epochs": 1}, 0)
    new = replace(explanations, labels=explanations.labels + 7)
    assert np.isfinite(detector.predict(new)).all()


def test_too_few_models_are_said_in_one_line():
    few = draw("concept", "ideal", 0, models=5)
    with pytest.raises(InputError, match=r"at least 3 spurious and 6 clean models are needed.*there are 5 and 5"):
        list_trials(few)
    with pytest.raises(InputError, match="cannot be split: a split needs at least 2 clean models, got 1"):
        judge_runs(few.of_models([0, 1, 2, 5]), SETTINGS["concept"], runs=1, seed=0)
    with pytest.raises(InputError, match="early stopping: a split needs at least 2 spurious models, got 1"):
        judge_runs(few.of_models([0, 1, 5, 6]), SETTINGS["concept"], runs=1, seed=0)
    with pytest.raises(InputError, match="both parts"):
        judge_runs(draw("concept", "ideal", 0, models=8).of_part("train"), SETTINGS["concept"], 1, 0)


@pytest.mark.parametrize("kind", ["heatmap", "influence", "concept"])
def test_a_detector_that_diverged_is_said_and_gives_no_score(kind):
    from fixtures.divergence.detectors import train_detector

    explanations = draw(kind, "noisy", 0, models=6)
    with pytest.raises(InputError, match=f"kind {kind} diverged.*lower `lr` of `detectors.{kind}`, now 1e.09"):
        train_detector(explanations, SETTINGS[kind] | {"lr": 1e9}, 0)


@given(ragged)
@settings(max_examples=30)
def test_a_ragged_interval_holds_its_mean_and_stays_in_bounds(groups):
    mean = np.mean([value for run in groups for model in run for value in model])
    low, high = bootstrap_ragged(groups)
    assert 0 <= low <= mean + 0.02
    assert mean - 0.02 <= high <= 1


def test_models_widen_the_interval_where_images_alone_do_not():
    apart = [[[1.0] * 50] * 10 + [[0.0] * 50] * 10] * 3
    alike = [[[1.0, 0.0] * 25] * 20] * 3
    widths = [high - low for low, high in map(bootstrap_ragged, (apart, alike))]
    assert widths[0] > 3 * widths[1]


def test_a_run_with_few_models_weighs_as_little_as_they_do():
    # The share of the one model in ten runs is at most that of four draws of its run: 4 of 4 + 6 x 9 models.
    low, high = bootstrap_ragged([[[1.0]], *[[[0.0]] * 9] * 9])
    assert low == 0
    assert 1 / 82 < high <= 4 / 58


def test_perfect_scores_have_the_width_of_the_models_of_one_run():
    assert bootstrap_ragged([[[1.0] * 30] * 12] * 5) == bootstrap_mean([1.0] * 12)
    assert bootstrap_ragged([[[0.7] * 30] * 12] * 5) == bootstrap_mean([0.7] * 12)


def test_groups_without_values_are_refused():
    for groups in ([], [[]], [[[1.0], []]]):
        with pytest.raises(ValueError, match="in each of them"):
            bootstrap_ragged(groups)


def test_the_ragged_interval_covers_the_mean_of_a_known_population():
    # Biases of models vary between 0.4 and 1, images are coins of their model's bias, runs have models of their own.
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(60):
        runs = [rng.uniform(0.4, 1.0, rng.integers(8, 13)) for _ in range(4)]
        groups = [[(rng.random(rng.integers(6, 13)) < bias).astype(float).tolist() for bias in run] for run in runs]
        low, high = bootstrap_ragged(groups)
        hits += low <= 0.7 <= high
    assert hits >= 54
