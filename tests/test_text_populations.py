"""Populations of text classifiers: their texts, their seeds, who is replaced, and the scores that a model gives."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from benchmarks.matrix import MatrixError, load_matrix
from fixtures.divergence.token_scores import gather_tokens
from fixtures.errors import InputError
from fixtures.populations import text_selection
from fixtures.populations.text_cell import STRIDE, TextCell
from fixtures.populations.text_selection import select_seeds
from fixtures.tallies import TEXT_SUBCLASSES
from tests.tiny import write_populations


@pytest.fixture(scope="module")
def overlay(tmp_path_factory):
    return write_populations(tmp_path_factory.mktemp("overlay"))


@pytest.fixture(scope="module")
def cell(make_laboratory, overlay, world, tmp_path_factory):
    laboratory = make_laboratory(tmp_path_factory.mktemp("cells"))
    matrix = load_matrix([world / "tiny.yaml", overlay], "tiny")
    return TextCell(replace(laboratory, matrix=matrix), "lstm", "toy", "op", 3)


def test_texts_come_in_equal_shares_and_no_source_text_is_in_both_parts(cell):
    explained = cell.explained("gradient")
    kinds = np.array([explained.part, explained.subclass]).T
    assert {tuple(kind) for kind in kinds} == {(part, subclass) for part in (0, 1) for subclass in range(4)}
    assert (np.unique(kinds, axis=0, return_counts=True)[1] == 4).all()
    sides = [{row for row, part in zip(explained.origin, explained.part, strict=True) if part == own} for own in (0, 1)]
    assert sides[0] & sides[1] == set()
    for example, origin, subclass in zip(explained.texts.examples, explained.origin, explained.subclass, strict=True):
        with_tokens = subclass >= 2
        expected = (cell.base.synthetic_test if with_tokens else cell.base.source_test)[origin]
        assert example == expected
        assert bool(example.truth) == with_tokens
        assert TEXT_SUBCLASSES[subclass] == f"{example.label}/{'A' if with_tokens else 'NA'}"


def test_fewer_texts_are_the_first_ones_and_too_many_are_refused(cell):
    few, many = (set(cell.explained(family).origin) for family in ("path", "gradient"))
    assert few < many
    short = TextCell(cell.laboratory, *cell.words, 3)
    short.settings["texts"] = {"others": 80}
    with pytest.raises(InputError, match="lower `texts` of `text_populations`"):
        short.explained("gradient")


def test_members_are_the_cells_of_seeds_of_their_own(cell):
    assert [cell.member(index).seed for index in (0, 1)] == [3 * STRIDE, 3 * STRIDE + 1]
    assert cell.member(0).is_trained("mixed") is False


def test_seeds_that_are_not_verified_are_replaced_counted_and_at_last_said(cell, monkeypatch):
    failing = {1, 4}
    verdict = SimpleNamespace(check=lambda member: [member.seed % STRIDE in failing])
    trained = []
    monkeypatch.setattr(text_selection, "measure_verdict", lambda member: verdict)
    monkeypatch.setattr(text_selection, "find_obstacles", lambda checks: ["synthetic_accuracy = 0.5"] * sum(checks))
    monkeypatch.setattr(text_selection, "train_missing", lambda cell, indices: trained.extend(indices))
    population = select_seeds(cell)
    assert list(population.verdicts) == [0, 2, 3, 5, 6, 7]
    assert population.rejected == ("1: synthetic_accuracy = 0.5", "4: synthetic_accuracy = 0.5")
    assert trained == list(range(8))
    failing |= set(range(9))
    with pytest.raises(InputError, match="lstm-toy-op: 9 of 9 seeds are not verified: 0: synthetic_accuracy"):
        select_seeds(cell)


def test_the_scores_of_a_text_do_not_depend_on_its_company(cell):
    whole = gather_tokens(cell, "gxi.logit", "source", [0])
    again = TextCell(cell.laboratory, *cell.words, 3)
    again.settings["texts"] = {"others": 2}
    fewer = gather_tokens(again, "gxi.logit", "source", [0])
    assert set(whole.model) == set(fewer.model) == {0, 1}
    width = fewer.scores.shape[1]
    for row in range(len(fewer)):
        same = (whole.model == fewer.model[row]) & (whole.image == fewer.image[row])
        [place] = np.flatnonzero(same & (whole.subclass == fewer.subclass[row]))
        assert whole.scores[place, :width] == pytest.approx(fewer.scores[row], abs=1e-5)


def test_each_model_draws_noise_of_its_own(cell):
    random = gather_tokens(cell, "random", "source", [0])
    assert not np.array_equal(random.scores[random.model == 0], random.scores[random.model == 1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": ["gpt"]}, "no model named 'gpt'"),
        ({"without": ["oracle"]}, "no salience named 'oracle'"),
        ({"contrasts": ["clean"]}, "expected one of source, placebo"),
        ({"texts": {"others": 5}}, "write an even number, not 5"),
        ({"texts": {"others": 4, "paths": 2}}, "no family named 'paths'"),
        ({"population": 5}, "from 6"),
    ],
)
def test_unusable_populations_are_refused(change, message, overlay, world, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(yaml.safe_dump({"text_populations": {"tiny": change}}))
    with pytest.raises(MatrixError, match=message):
        load_matrix([world / "tiny.yaml", overlay, path], "tiny")
