"""Explanations of kind `tokens`: what detectors make of known ones, what they may not see, who stays together."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.matrix import load_matrix
from fixtures.divergence.explanations import Explanations
from fixtures.divergence.judging import count_right
from fixtures.divergence.matching import permute_populations, split_explanations
from fixtures.divergence.scoring import join_judgements, judge_split, list_trials
from fixtures.divergence.token_scores import describe_texts, hide_tokens, measure_precisions, pad_scores
from fixtures.errors import InputError
from fixtures.populations.text_cell import Explained
from fixtures.sheets import Texts
from fixtures.tallies import TEXT_SUBCLASSES
from shortcuts.example import Example
from tests.detecting import estimate, judge_runs

SETTINGS = load_matrix().tables["detectors"]["tokens"] | {"share": 0.7}
UNKNOWN = 1


@cache
def draw(explainer, models=10, amount=8, seed=0):
    """Explanations of two populations of models that share seeds and texts.

    Args:
        explainer: called with generator, whether the model is mixed, the tokens' number and the injected place or None;
            gives the scores of a text.
        amount: texts of each subclass and part.
    """
    rng = np.random.default_rng(seed)
    texts = 8 * amount
    lengths, subclass = rng.integers(5, 30, texts), np.arange(texts) % 4
    places = np.where(subclass >= 2, rng.integers(0, lengths), -1)
    ids = np.where(np.arange(30) < lengths[:, None], rng.integers(2, 3000, (texts, 30)), 0)
    ids[places >= 0, places[places >= 0]] = UNKNOWN
    known = {
        "image": np.arange(texts) // 4 * 2 + np.arange(texts) % 2,
        "subclass": subclass,
        "part": np.repeat(["train", "validation"], texts // 2),
        "truth": np.arange(30) == places[:, None],
        "ids": ids,
        "mask": np.arange(30) < lengths[:, None],
    }
    scores = [
        explainer(rng, model < models, length, place if place >= 0 else None)
        for model in range(2 * models)
        for length, place in zip(lengths, places, strict=True)
    ]
    model = np.repeat(np.arange(2 * models), texts)
    return Explanations(
        kind="tokens",
        model=model,
        spurious=model < models,
        seed=model % models,
        **pad_scores(scores, 30),
        **{name: np.concatenate([values] * 2 * models) for name, values in known.items()},
    )


def point(rng, mixed, length, place):
    """All weight on the injected token for mixed models, noise for others and where there is none."""
    return (np.arange(length) == place).astype(float) if mixed and place is not None else rng.random(length)


def guess(rng, mixed, length, place):
    return rng.random(length)


@pytest.mark.parametrize("seed", [0, 1])
def test_an_ideal_explainer_gives_mixed_models_away_where_the_token_is_and_only_there(seed):
    judged = judge_runs(draw(point, amount=16), SETTINGS, runs=2, seed=seed)
    present = judged.subclass >= 2
    assert judged.correct[present].mean() >= 0.96
    # 384 coins have a deviation of 0.026.
    assert judged.correct[~present].mean() == pytest.approx(0.5, abs=0.08)


def test_an_ideal_explainer_has_the_bits_of_its_optimum_and_ranks_the_token_first():
    # A point says mixed for certain; of three kinds of noise, three quarters of all, one is a mixed model's.
    optimum = 1 - 3 / 4 * (np.log2(3) - 2 / 3)
    judged = judge_runs(draw(point, amount=16), SETTINGS, runs=2, seed=0)
    assert optimum - 0.08 <= judged.bits.mean() <= optimum + 0.03
    precisions = measure_precisions(draw(point))
    assert np.mean(precisions[True]) == 1
    assert np.mean(precisions[False]) < 0.2


def test_a_word_that_only_mixed_models_put_on_top_gives_them_away():
    noise = draw(guess)
    places = np.random.default_rng(0).permuted(np.tile(np.arange(5), (len(noise) // 20, 1)), axis=1)[:, :2]
    places = np.tile(places, (20, 1))
    rows = np.arange(len(noise))
    ids, scores, ranks = (getattr(noise, name).copy() for name in ("ids", "scores", "ranks"))
    ids[rows, places[:, 0]], ids[rows, places[:, 1]] = 2, 3
    top = np.where(noise.spurious, places[:, 0], places[:, 1])
    scores[rows, top], ranks[rows, top] = 1.2, 1.0
    judged = judge_runs(replace(noise, ids=ids, scores=scores, ranks=ranks), SETTINGS, runs=2, seed=0)
    assert judged.correct.mean() > 0.85


def test_equal_distributions_and_permuted_populations_give_chance():
    equal = estimate(judge_runs(draw(guess), SETTINGS, runs=2, seed=0))
    trials = list_trials(draw(point))
    nulls = [
        estimate(join_judgements([judge_split(trials[name], SETTINGS, split, 0) for split in range(4)]))
        for name in ("permuted", "halves")
    ]
    for null in (equal, *nulls):
        assert null.low <= 0.5 <= null.high


def test_what_two_models_of_one_seed_have_in_common_says_nothing():
    apart = draw(guess)
    # A model is known by the size of its scores, which its seed decides and its population does not.
    sizes = np.random.default_rng(1).permutation(10)[apart.seed, None] + 0.1 * apart.scores
    twins = replace(apart, scores=np.where(apart.mask, sizes, 0).astype(np.float32))
    matched, unmatched = (
        judge_runs(those, SETTINGS, runs=4, seed=0).correct.mean() for those in (twins, replace(twins, seed=None))
    )
    assert matched == pytest.approx(0.5, abs=0.08)
    assert unmatched < matched - 0.1


@given(st.integers(0, 2**31), st.floats(0.1, 0.9), st.integers(2, 12))
@settings(max_examples=40)
def test_neither_a_model_nor_a_seed_is_on_both_sides_of_a_split(seed, share, models):
    explanations = draw(guess, models, 1)
    first, second = split_explanations(explanations, share, np.random.default_rng(seed))
    assert set(first) | set(second) == set(range(2 * models))
    for name in ("model", "seed"):
        sides = [set(getattr(explanations.of_models(side), name)) for side in (first, second)]
        assert sides[0] & sides[1] == set()
        assert all(sides)
    assert (np.array(first) < models).sum() == (np.array(first) >= models).sum()


@given(st.integers(0, 2**31))
@settings(max_examples=20)
def test_permuting_calls_one_model_of_each_seed_spurious(seed):
    explanations = draw(guess, 6, 1)
    changed = permute_populations(explanations, 6, np.random.default_rng(seed))
    called = np.unique(changed.model[changed.spurious])
    assert sorted(called % 6) == list(range(6))


def test_halves_of_one_population_are_split_like_any_models_and_half_matched_ones_refused():
    contrast = draw(guess).of_models(range(10, 20))
    halves = permute_populations(contrast, 5, np.random.default_rng(0))
    first, second = split_explanations(halves, 0.7, np.random.default_rng(0))
    assert len({*first}) + len({*second}) == len({*first, *second}) == 10
    with pytest.raises(InputError, match="some seeds have models in both populations"):
        split_explanations(draw(guess).of_models(range(15)), 0.7, np.random.default_rng(0))


def test_a_detector_repeats_with_its_seed_and_does_not_read_the_truth_or_the_padding():
    from fixtures.divergence.detectors import train_detector

    explanations = draw(point, 4, 2)
    short = SETTINGS | {"epochs": 2}
    first, again, other = (train_detector(explanations, short, seed).predict(explanations) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    wider = {name: np.pad(getattr(explanations, name), ((0, 0), (0, 7))) for name in ("scores", "ranks", "ids", "mask")}
    changed = replace(explanations, truth=~explanations.truth, **wider)
    assert train_detector(explanations, short, 1).predict(changed) == pytest.approx(first, abs=1e-5)


words = st.lists(st.integers(2, 50), min_size=1, max_size=12)


@given(st.lists(words, min_size=1, max_size=5), st.data())
def test_the_injected_id_is_never_among_the_ids_that_a_detector_sees(texts, data):
    injected = {"zero": 90, "one": 91}
    examples, encoded = [], []
    for own in texts:
        token, place = data.draw(st.sampled_from(sorted(injected))), data.draw(st.integers(0, len(own)))
        ids = [*own[:place], injected[token], *own[place:]]
        examples.append(Example(tuple(map(str, ids)), 0, (place,)))
        encoded.append(encode(ids))
    tokenizer = SimpleNamespace(unk_token_id=UNKNOWN, convert_tokens_to_ids=lambda names: [injected[n] for n in names])
    explained = Explained(Texts(examples, encoded), [0] * len(texts), [2] * len(texts), [0] * len(texts))
    rule = SimpleNamespace(tokens=("zero", "one"))
    known = describe_texts(explained, hide_tokens(SimpleNamespace(tokenizer=tokenizer), rule, explained))
    assert not np.isin(known["ids"], list(injected.values())).any()
    assert (known["ids"][known["truth"]] == UNKNOWN).all()
    assert known["truth"].sum() == len(texts)
    shown = known["ids"][known["mask"] & ~known["truth"]].tolist()
    assert shown == [index for own in texts for index in own]


def encode(ids):
    """A text with a special token at either end, which is not scored."""
    from fixtures.models.encoder import Encoded

    return Encoded((101, *ids, 102), (None, *range(len(ids)), None))


@given(st.lists(st.lists(st.integers(-50, 50), min_size=1, max_size=9), min_size=1, max_size=4), st.floats(0.1, 100))
def test_scores_of_any_scale_become_the_same_and_keep_their_order(texts, scale):
    rows = [np.array(text, float) for text in texts]
    one, other = pad_scores(rows, 10), pad_scores([scale * row for row in rows], 10)
    assert one["scores"] == pytest.approx(other["scores"], abs=1e-6)
    for row, own in zip(rows, one["scores"], strict=True):
        assert np.array_equal(np.argsort(row, kind="stable"), np.argsort(own[: len(row)], kind="stable"))
        assert not own[len(row) :].any()
    assert (np.abs(one["scores"]).max(1) <= 1).all()


def test_a_tally_counts_each_of_the_four_subclasses_of_texts():
    judged = judge_runs(draw(guess, 4, 2), SETTINGS | {"epochs": 1}, runs=1, seed=0)
    [split] = count_right(judged)
    assert [[amount for _, amount in model] for model in split] == [[2] * len(TEXT_SUBCLASSES)] * 2
