"""Tables of rationales written wrong: refused when the matrix is read, in one line with line, key and a remedy."""

from __future__ import annotations

import pytest

from tests.bad_inputs import assert_refused, in_profile


def in_settings(text: str) -> str:
    """An overlay that changes the embedded settings of rationales."""
    return f"rationales: {{embedded: {{{text}}}}}"


WRONG = {
    "settings of nobody": (in_profile("rationales: tiny"), ["no rationales named 'tiny'; there are: embedded"]),
    "corpus that no model is trained for": (
        in_settings("corpora: [eraser_movies]"),
        ["corpora: no corpus in `trained_on` named 'eraser_movies'; there are: tomatoes_lexicon, fair_sst"],
    ),
    "unknown corpus": (
        in_settings("trained_on: {fair_st: tomatoes}"),
        ["trained_on: no rationale corpus named 'fair_st'", "Did you mean 'fair_sst'?"],
    ),
    "unknown data set": (
        in_settings("trained_on: {fair_sst: tomato}"),
        ["trained_on.fair_sst: no data set named 'tomato'", "Did you mean 'tomatoes'?"],
    ),
    "unknown model": (in_settings("models: [brt]"), ["models: no model named 'brt'", "Did you mean 'bert'?"]),
    "model without checkpoint": (
        in_settings("models: [albert]"),
        ["embedded.models: no model in checkpoints embedded named 'albert'; there are: bert, lstm"],
    ),
    "unknown method": (
        in_settings("without: [oracle.bst]"),
        ["without: no salience named 'oracle.bst'", "'oracle.best'?"],
    ),
    "sentences of no family": (in_settings("sentences: {pth: {100: 4}}"), ["no family named 'pth'", "'path'?"]),
    "half a sentence": (
        in_settings("sentences: {path: {100: 0.5}}"),
        ["sentences.path.100: expected a whole number from 0, got 0.5"],
    ),
    "no sentence at all": (in_settings("most: 0"), ["most: expected a whole number from 1, got 0"]),
    "epsilon that no weight is above": (
        in_settings("epsilons: [0.1, 1]"),
        ["epsilons, row 2: expected a number from 0"],
    ),
    "epsilons in disorder": (
        in_settings("epsilons: [0.3, 0.1]"),
        ["epsilons: expected different numbers, the smallest"],
    ),
    "epsilon beside the grid": (
        in_settings("epsilon: 0.4"),
        ["epsilon: 0.4 is not one of `epsilons`, [0.1, 0.2, 0.3, 0.5]"],
    ),
    "amounts of a corpus that no model is trained for": (
        in_settings("by_corpus: {eraser_movies: {most: 5}}"),
        ["by_corpus: no corpus in `trained_on` named 'eraser_movies'; there are: tomatoes_lexicon, fair_sst"],
    ),
    "corpus without licence": ("rationale_corpora: {mine: {}}", ["rationale_corpora.mine: `licence` is missing"]),
    "bound without a number": (
        in_profile("thresholds: {plausibility: [{value: recall, why: x}]}"),
        ["plausibility, row 1: a threshold needs `at_least` or `at_most`"],
    ),
    "bound on a corpus that is not there": (
        in_profile("thresholds: {faithfulness: [{rationales: fair, value: share, at_least: 0, why: x}]}"),
        ["faithfulness, row 1.rationales: no rationale corpus named 'fair'", "Did you mean 'fair_sst'?"],
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_value_that_does_not_fit_is_refused_in_one_line(tmp_path, name):
    assert_refused(tmp_path, *WRONG[name])


@pytest.mark.parametrize("measure", ["plausibility", "faithfulness"])
def test_a_bound_on_a_number_that_no_row_has_is_refused(tmp_path, measure):
    text = in_profile(f"thresholds: {{{measure}: [{{value: recal, at_least: 0.5, why: x}}]}}")
    assert_refused(tmp_path, text, [f"no value of a {measure} row named 'recal'"])
