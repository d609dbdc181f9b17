"""The speed comparisons on a tiny model: every contender runs, ratios come out, and operations are counted right."""

from __future__ import annotations

import pytest
import torch

from fixtures.cells import Cell
from fixtures.speed import compare
from fixtures.speed.floor import count_operations, measure_floors
from fixtures.speed.precision import compare_precisions
from fixtures.speed.salience import PAPER, Bench, compare_integration, compare_lime


@pytest.fixture(scope="module")
def bench(tiny_laboratory):
    return Bench(Cell(tiny_laboratory, "bert", "toy", "op"))


def test_the_papers_matrix_has_33_configurations():
    names = [name for group in PAPER for name in group]
    assert len(names) == len(set(names)) == 33


def test_contenders_take_turns_and_are_compared_round_by_round(bench):
    result = compare_integration(bench, [[0], [1], [2]])
    assert list(result["seconds"]) == ["float32", "bf16", "captum"]
    assert all(len(values) == 3 for values in result["seconds"].values())
    assert {"float32 / captum", "bf16 / captum"} <= result["ratios"].keys()


def test_lime_is_compared_on_the_same_texts(bench):
    result = compare_lime(bench, [[0]])
    assert result["lime"]["ratios"]["float32 / lime"]["median"] > 0


def test_ratios_are_medians_of_rounds_and_not_ratios_of_medians():
    [ratio] = compare("a", {"a": [1.0, 1.0, 4.0], "b": [1.0, 2.0, 12.0]}).values()
    assert ratio == {"median": 2.0, "low": 1.0, "high": 3.0}


def test_operations_of_a_product_are_two_a_multiplication():
    left, right = torch.ones(3, 5), torch.ones(5, 7)
    assert count_operations(lambda: left @ right) == 2 * 3 * 5 * 7


def test_every_sweep_reaches_a_positive_share_of_the_products_rate(bench, monkeypatch):
    monkeypatch.setattr("fixtures.speed.floor.SIZE", 64)
    shares = measure_floors(bench, [0, 1], rounds=2)
    assert len(shares) == 10
    assert all(0 < numbers["low"] <= numbers["median"] <= numbers["high"] for numbers in shares.values())


def test_scores_in_bf16_are_compared_with_float32_on_the_same_texts(tiny_laboratory):
    found = compare_precisions(tiny_laboratory, ("bert", "toy", "op"), texts=12)
    assert all(abs(numbers["moved"]) <= 1 for numbers in found.values())
    assert found["grad_l2.logit"]["correlation"] > 0.9
