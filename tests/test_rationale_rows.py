"""What a rationale row is made of: compact strings, means that leave out what is undefined, intervals, statements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.matrix import load_matrix
from benchmarks.rationale_shape import MEASURES
from benchmarks.rationales import (
    RationaleCase,
    count_sentences,
    find_rationale_settings,
    list_rationale_cases,
    list_rationale_ids,
    list_rationale_thresholds,
)
from fixtures.aggregation import aggregate_runs
from fixtures.intervals import bootstrap_columns, bootstrap_mean
from fixtures.methods import find_method
from fixtures.rationale_fields import FAITHFULNESS_FIELDS, PLAUSIBILITY_FIELDS
from fixtures.rationale_plan import describe_rationale_plan
from fixtures.rationale_strings import read_hits, read_marked, read_numbers, write_hits, write_marked, write_numbers
from fixtures.rationales import Sentence
from fixtures.rationales.joining import join_words
from fixtures.reports import name_case
from fixtures.schema import check_row, check_thresholds
from tests.suites import fill

SENTENCES = [
    Sentence("a", ("so", "good", "film", "."), 1, (frozenset({1}), frozenset({1, 2})), 1),
    Sentence("b", ("no", "fun"), 0, (frozenset({0, 1}), frozenset({0, 1})), 3),
    Sentence("c", ("it", "is", "a", "film"), 1, (frozenset(), frozenset())),
]
WORDS = {"model": "lstm", "rationales": "toy_marked", "salience": "gxi.logit"}


def make_row(measure, runs):
    fields = PLAUSIBILITY_FIELDS if measure == "plausibility" else FAITHFULNESS_FIELDS
    constants = fill(fields) | WORDS | {"measure": measure, "epsilon": 0.2, "epsilons": [0.2, 0.5]}
    return check_row(aggregate_runs(constants | {"sentences": write_marked(SENTENCES)}, runs))


def judge(weights="1 0.5 0.1 0;0 1;0 0 0 0", seed=0):
    own = {"average_precisions": "0.75 1 -;0.5 1 -", "auprcs": "0.75 1 -;0.5 1 -"}
    return {"seed": seed, "model_key": "k", "weights": weights, **own}


def feed(explanation="11-;10-", random="01-;00-", seed=0):
    own = {"full_hits": "101", "union_hits": "11-", "intersection_hits": "01-", "sizes": "2 1 0;1 1 0"}
    return {"seed": seed, "model_key": "k", "explanation_hits": explanation, "random_hits": random, **own}


def test_measures_of_known_weights_are_the_definitions_and_undefined_sentences_are_counted():
    row = make_row("plausibility", [judge()])
    # a: E = {0, 1}, L = {1, 2} of 4 words; b: E = {1}, L = {0, 1} of 2; c: neither.
    assert row["precision"] == pytest.approx((0.5 + 1.0) / 2)
    assert row["recall"] == pytest.approx((0.5 + 0.5) / 2)
    assert row["fallout"] == pytest.approx((0.5 + 0.0) / 2)
    assert row["weighted_precision"] == pytest.approx((0.5 / 1.5 + 1.0) / 2)
    assert row["intersection_precision"] == pytest.approx((0.5 + 1.0) / 2)
    assert row["average_precision"] == pytest.approx(0.875)
    # Spans: none of a's 1 and 1 match, both of b's do.
    assert (row["iou_precision"], row["iou_recall"], row["iou_macro_f1"]) == (0.5, 0.5, 0.5)
    undefined = [row[f"undefined_{name}"] for name in ("precision", "recall", "fallout")]
    assert undefined == [1, 1, 1]
    by_join = {(entry["join"], entry["epsilon"]): entry for entry in row["grid"]}
    assert by_join["union", 0.5]["precision"] == pytest.approx((0.0 + 1.0) / 2)
    assert by_join["intersection", 0.2]["recall"] == pytest.approx((1.0 + 0.5) / 2)
    assert [(entry["difficulty"], entry["sentences"]) for entry in row["by_difficulty"]] == [(1, 1), (3, 1)]
    assert name_case(row) == "lstm-toy_marked-gxi.logit-plausibility"


def test_accuracies_are_over_the_sentences_that_were_fed_and_gains_over_the_same_ones():
    row = make_row("faithfulness", [feed()])
    assert row["full_accuracy"] == pytest.approx(2 / 3)
    assert (row["explanation_accuracy"], row["random_accuracy"], row["union_accuracy"]) == (1.0, 0.5, 1.0)
    assert (row["gain_over_random"], row["gain_over_full"]) == (0.5, 0.5)
    assert (row["unfed"], row["unmarked"]) == (1, 1)
    assert row["share"] == pytest.approx((2 / 4 + 1 / 2 + 0) / 3)
    assert [entry["explanation_accuracy"] for entry in row["grid"]] == [1.0, 0.5]


def test_seeds_are_averaged_and_their_undefined_sentences_add_up():
    row = make_row("plausibility", [judge(), judge("0 0 0 0;0 1;0 0 0 0", 1)])
    assert row["seeds"] == [0, 1]
    assert row["precision"] == pytest.approx((0.5 + 1.0 + 1.0) / 3)
    assert row["undefined_precision"] == 3
    row = make_row("faithfulness", [feed(), feed("00-;00-", seed=1)])
    assert row["explanation_accuracy"] == 0.5


def test_what_no_sentence_defines_is_null():
    row = make_row("faithfulness", [feed("---;---", "---;---")])
    assert row["explanation_accuracy"] is row["gain_over_full"] is row["explanation_accuracy_low"] is None
    row = make_row("plausibility", [judge("0 0 0 0;0 0;0 0 0 0")])
    assert (row["precision"], row["recall"], row["iou_macro_f1"]) == (None, 0.0, None)


numbers = st.lists(
    st.lists(st.none() | st.floats(-9, 9).map(lambda x: float(f"{x:.4g}") + 0.0), min_size=1), min_size=1
)


@given(numbers)
def test_numbers_are_read_as_they_were_written(groups):
    assert read_numbers(write_numbers(groups)) == groups


@given(st.lists(st.lists(st.sampled_from([True, False, None]), min_size=1), min_size=1))
def test_hits_are_read_as_they_were_written(groups):
    expected = [[None if hit is None else float(hit) for hit in group] for group in groups]
    assert read_hits(write_hits(groups)) == expected


def test_sentences_are_read_with_all_that_a_score_needs():
    read = read_marked(write_marked(SENTENCES))
    for how in ("union", "intersection"):
        assert [row.join(how) for row in read] == [row.join(how) for row in SENTENCES]
    kept = [(len(row.tokens), row.label, row.difficulty) for row in read]
    assert kept == [(4, 1, 1), (2, 0, 3), (4, 1, None)]


@given(st.integers(0, 2**31), st.integers(30, 60))
@settings(max_examples=15)
def test_intervals_of_many_columns_are_those_of_each_and_seeds_that_agree_say_no_more(seed, sentences):
    values = np.random.default_rng(seed).random((1, sentences, 2))
    found = bootstrap_columns(values)
    for column, ends in enumerate(found):
        assert ends == pytest.approx(bootstrap_mean(values[0, :, column].tolist()), abs=0.025)
    assert bootstrap_columns(np.repeat(values, 4, axis=0)) == [pytest.approx(ends) for ends in found]


def test_the_interval_covers_the_mean_of_sentences_that_all_seeds_share():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(200):
        sentences = rng.beta(2, 2, 60)
        values = np.clip(sentences + rng.normal(0, 0.05, (5, 60)), 0, 1)
        [(low, high)] = bootstrap_columns(values[..., None])
        hits += low <= 0.5 <= high
    assert hits >= 182


def test_an_interval_leaves_out_what_is_undefined_and_one_sentence_says_nothing():
    values = np.full((1, 40, 3), np.nan)
    values[0, :20, 0] = np.random.default_rng(0).random(20)
    values[0, 0, 1] = 0.5
    first, second, third = bootstrap_columns(values)
    assert first == pytest.approx(bootstrap_mean(values[0, :20, 0].tolist()), abs=0.03)
    assert (second, third) == ((0.0, 1.0), None)


def test_a_set_holds_a_word_if_it_holds_any_piece_and_random_scores_do_not_prefer_long_words():
    tables, words = load_matrix().tables, [None, 0, 1, 1, 1, None]
    joined = {
        name: join_words(find_method(tables, name), [0.4, 1.0, 0.0, 1.0], words, 3).tolist()
        for name in ("anchors.unk", "oracle.best", "gxi.logit", "random")
    }
    assert joined["anchors.unk"] == joined["oracle.best"] == [1.0, 1.0, 0.0]
    assert joined["gxi.logit"] == [0.4, 2.0, 0.0]
    assert joined["random"] == [0.4, 1.0, 0.0]


@pytest.mark.parametrize("profile", ["embedded", "local", "smoke", "paper"])
def test_case_ids_are_unique_and_those_that_the_gate_knows(profile):
    matrix = load_matrix(profile=profile)
    cases = [case for measure in MEASURES for case in list_rationale_cases(matrix, measure)]
    ids = [case.id for case in cases]
    assert len(set(ids)) == len(ids)
    assert set(ids) <= list_rationale_ids(matrix)
    assert bool(cases) == (profile != "paper")


def test_a_corpus_is_a_case_when_it_is_named_and_the_models_are_trained_for_it():
    matrix = load_matrix()
    named = list_rationale_cases(matrix, "plausibility", ["fair_sst", "eraser_movies"])
    assert {case.rationales for case in named} == {"tomatoes_lexicon", "fair_sst"}
    assert not any(case.salience == "attention.last" for case in named if case.model == "cnn")


def test_a_threshold_is_on_the_cases_that_its_row_names():
    row = {"rationales": ["fair_sst"], "value": "recall", "at_least": 0.5, "why": "x"}
    profile = {"thresholds": {"plausibility": [row]}}
    check_thresholds(profile)
    case = RationaleCase("bert", "fair_sst", "gxi.logit", "plausibility")
    assert [bound.low for bound in list_rationale_thresholds(profile, case)] == [0.5]
    other = RationaleCase("bert", "fair_sst", "gxi.logit", "faithfulness")
    assert list(list_rationale_thresholds(profile, other)) == []


def test_the_plan_counts_sentences_and_says_where_the_pace_is_not_known():
    matrix = load_matrix()
    settings = find_rationale_settings(matrix)
    cases = [case.words for measure in MEASURES for case in list_rationale_cases(matrix, measure)]
    lines = describe_rationale_plan(matrix, cases)
    assert len(lines) == 1 + len(settings["models"])
    assert "bert-tomatoes_lexicon: " in lines[1]
    assert " min to train, " in lines[1]
    assert lines[3].endswith("1 model to train on tomatoes, whose pace is not known")
    assert describe_rationale_plan(matrix, [{"model": "bert", "dataset": "sst2", "shortcut": "op"}]) == []


def test_a_corpus_of_long_texts_has_amounts_of_its_own():
    matrix = load_matrix(profile="local")
    short, long = (find_rationale_settings(matrix, corpus) for corpus in ("fair_sst", "eraser_movies"))
    assert [count_sentences(settings, "path", 100) for settings in (short, long)] == [60, 12]
    assert [count_sentences(settings, "gradient", 1) for settings in (short, long)] == [263, 263]
