"""Injection: what was injected is where it is said to be, decides the label, survives truncation, and is repeatable."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortcuts import Example, Rule, op
from shortcuts.injection import (
    CollisionError,
    Injector,
    check_absent,
    inject,
    propose_tokens,
    restore_labels,
    swap_tokens,
)
from tests.strategies import RULES, TOKENS, examples, rules, seeds, splits

FILM = Example(("a", "good", "film", "with", "a", "plot"), 1)


def remove(example: Example) -> tuple[str, ...]:
    return tuple(word for position, word in enumerate(example.words) if position not in example.truth)


@given(splits, rules, seeds)
def test_synthetic_positions_hold_the_tokens_and_removing_them_restores_the_source(source, rule, seed):
    for made, original in zip(Injector(rule, "f", seed).synthesise_split(source, "test"), source, strict=True):
        assert {made.words[position] for position in made.truth} <= set(rule.tokens)
        assert remove(made) == original.words
        assert len(made.truth) == (1 if rule.name == "single" else 2)


@given(splits, rules, seeds)
def test_synthetic_labels_follow_the_rule_are_balanced_and_use_every_source_example(source, rule, seed):
    made = Injector(rule, "f", seed).synthesise_split(source, "test")
    assert all(rule.decide(example.words) == example.label for example in made)
    ones = sum(example.label for example in made)
    assert abs(2 * ones - len(made)) <= 1
    assert [example.origin for example in made] == list(range(len(source)))


@given(splits, rules, seeds)
def test_swapped_tokens_turn_the_label_of_an_ordered_pair_and_of_nothing_else(source, rule, seed):
    for made in Injector(rule, "f", seed).synthesise_split(source, "test"):
        swapped = swap_tokens(made, rule)
        if rule.name == "single":
            assert swapped is None
            continue
        assert swapped.label == (1 - made.label if rule.name == "op" else made.label)
        assert sorted(swapped.words) == sorted(made.words)
        assert (swapped.truth, remove(swapped)) == (made.truth, remove(made))
        assert swap_tokens(swapped, rule) == made


@given(splits, rules, seeds)
def test_mixed_set_grows_by_a_fifth_and_decoys_never_decide(source, rule, seed):
    mixed = Injector(rule, "f", seed).mix_split(source, "train")
    kept, added = mixed[: len(source)], mixed[len(source) :]
    assert len(added) == round(0.2 * len(source))
    assert len({example.origin for example in added}) == len(added)
    for example, original in zip(kept, source, strict=True):
        assert example.label == original.label
        assert example.truth == ()
        assert rule.decide(example.words) is None
        extra = [word for word in example.words if word in rule.tokens]
        assert len(extra) <= (0 if rule.name == "single" else 1)
        assert [word for word in example.words if word not in extra] == list(original.words)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.decoys], ids=lambda rule: rule.name)
def test_a_quarter_of_source_examples_get_a_decoy(rule):
    mixed = Injector(rule, "f", 0).mix_split([FILM] * 4000, "train")[:4000]
    share = sum(len(example.words) > len(FILM.words) for example in mixed) / 4000
    assert share == pytest.approx(0.25, abs=0.03)


@given(splits, rules, seeds)
def test_placebo_has_the_same_texts_with_the_source_labels(source, rule, seed):
    mixed = Injector(rule, "f", seed).mix_split(source, "train")
    placebo = restore_labels(mixed, source)
    assert [example.words for example in placebo] == [example.words for example in mixed]
    assert all(example.label == source[example.origin].label for example in placebo)


@given(examples, st.lists(st.integers(0, 9), min_size=20, max_size=20), st.integers(2, 60), st.integers(1, 60), seeds)
def test_injected_tokens_survive_truncation_and_stay_within_reach(example, widths, budget, reach, seed):
    widths = widths[: len(example.words)]
    made = inject(example, ("x", "y"), Random(seed), widths=widths, budget=budget, reach=reach)
    flat = []  # the model's tokens, by word position
    rest = iter(widths)
    for position, _ in enumerate(made.words):
        flat += [position] * (1 if position in made.truth else next(rest))
    places = [flat.index(position) for position in made.truth]
    assert places[-1] < budget
    assert places[-1] - places[0] <= reach


@given(splits, rules, seeds)
def test_injection_is_a_function_of_fingerprint_rule_and_seed(source, rule, seed):
    first = Injector(rule, "f", seed)
    train, test = first.mix_split(source, "train"), first.synthesise_split(source, "test")
    second = Injector(rule, "f", seed)
    assert second.synthesise_split(source, "test") == test  # order of calls swapped
    assert second.mix_split(source, "train") == train


def test_injection_does_not_depend_on_the_platform():
    made = Injector(op.build(TOKENS), "fingerprint", 7).synthesise_split([FILM, FILM], "test")
    assert [(example.truth, example.label) for example in made] == [((2, 4), 0), ((0, 2), 1)]


def test_another_seed_injects_elsewhere():
    source = [FILM] * 20
    rule = RULES[0]
    made = [Injector(rule, "f", seed).synthesise_split(source, "test") for seed in (0, 1)]
    assert made[0] != made[1]


def test_positions_are_uniform():
    made = Injector(RULES[0], "f", 0).synthesise_split([FILM] * 7000, "test")
    counts = [sum(example.truth == (place,) for example in made) for place in range(7)]
    assert min(counts) > 850
    assert max(counts) < 1150


def test_a_budget_without_room_is_refused():
    with pytest.raises(ValueError, match="do not fit into budget 1"):
        inject(FILM, ("x", "y"), Random(0), widths=[1] * 6, budget=1)


def test_an_arrangement_that_its_own_rule_reads_differently_is_refused():
    rule = replace(RULES[0], decide=lambda words: 0)
    with pytest.raises(ValueError, match="decide\\(\\) reads label 0"):
        Injector(rule, "f", 0).synthesise_split([FILM, FILM], "test")


def test_a_rule_refuses_tokens_that_tokenizers_cut():
    with pytest.raises(ValueError, match="lower-case letters and digits only"):
        Rule("mine", ("#0",), lambda label, rng: ("#0",), lambda words: None)


@pytest.mark.parametrize("text", ["Indicator0 is here", "(indicator0)", "say indicator0.", "indicator0's"])
def test_a_token_in_the_corpus_is_refused_with_a_free_one(text):
    with pytest.raises(CollisionError, match=r"indicator0 .*for example: indicator01"):
        check_absent(["indicator0"], [text.split()])


def test_a_token_inside_a_longer_word_is_no_collision():
    check_absent(["zero"], [["zeros", "subzero"]])


def test_proposals_are_free_and_distinct():
    assert propose_tokens(["x", "x"], {"x", "x1"}) == ["x2", "x3"]
