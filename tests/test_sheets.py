"""Sheets: who is scored by what on how many texts, nothing swept twice, nothing lost but the block at hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fixtures.sheets
from benchmarks.matrix import MatrixError
from fixtures.cells import Cell
from fixtures.methods import Allowance, find_method, list_siblings
from fixtures.plan import describe_plan, measure_load
from fixtures.sheets import plan_blocks, sweep_sheet


@pytest.fixture
def cell(tiny_laboratory):
    return Cell(tiny_laboratory, "lstm", "toy", "op")


def method(cell, name):
    return find_method(cell.laboratory.matrix.tables, name)


def test_each_text_is_swept_at_the_largest_budget_that_is_wanted_of_it(cell):
    blocks = plan_blocks(cell, "mixed", method(cell, "lime_unk.100"))
    assert [(block.rows.start, block.rows.stop, block.budget) for block in blocks] == [
        (0, 2, 3000),
        (2, 4, 1000),
        (4, 16, 100),
    ]
    assert [row.id for row in blocks[2].methods] == ["lime_unk.100"]
    controls = plan_blocks(cell, "placebo", method(cell, "lime_unk.100"))
    assert [(block.rows.start, block.rows.stop, block.budget) for block in controls] == [(0, 2, 1000), (2, 8, 100)]


def test_budgets_that_nobody_selected_are_not_spent(cell):
    from dataclasses import replace

    selected = replace(cell.laboratory, selected=frozenset({"lime_unk.100", "grad_l2.logit"}))
    blocks = plan_blocks(Cell(selected, "lstm", "toy", "op"), "mixed", method(cell, "lime_unk.100"))
    assert [(block.rows.start, block.rows.stop, block.budget) for block in blocks] == [(0, 16, 100)]


def test_a_method_has_the_first_texts_that_its_budget_affords(cell):
    sheet = sweep_sheet(cell, "mixed", method(cell, "kernelshap.1k"))
    amounts = {name: len(rows) for name, rows in sheet.scores.items()}
    assert amounts == {"lime_unk.100": 16, "lime_unk.1k": 4, "lime_unk.3k": 2, "kernelshap.1k": 4, "kernelshap.3k": 2}
    lengths = [sum(word is not None for word in text.words) for text in cell.encoded_synthetic_test]
    for rows in sheet.scores.values():
        assert [len(row) for row in rows] == lengths[: len(rows)]
    assert sheet.seconds_alone["lime_unk.3k"] > sheet.seconds_alone["lime_unk.100"]


def test_completeness_gaps_are_kept_text_by_text(cell):
    sheet = sweep_sheet(cell, "mixed", method(cell, "ig_zero.100.logit"))
    assert len(sheet.gaps["ig_zero.100.logit"]) == len(sheet.scores["ig_zero.100.logit"]) == 8
    assert len(sheet.gaps["ig_zero.1k.logit"]) == 2
    assert np.median(sheet.gaps["ig_zero.1k.logit"]) < 0.05


def test_neither_blocks_nor_groups_change_a_score(cell, monkeypatch, make_laboratory, tmp_path):
    expected = sweep_sheet(cell, "mixed", method(cell, "lime_erase.100"))
    monkeypatch.setattr(fixtures.sheets, "BLOCK_PASSES", 500)
    monkeypatch.setattr(fixtures.sheets, "CHUNK_TOKENS", 60)
    elsewhere = borrow(cell, make_laboratory(tmp_path / "zoo"), monkeypatch)
    found = sweep_sheet(elsewhere, "mixed", method(cell, "lime_erase.100"))
    assert len(plan_blocks(elsewhere, "mixed", method(cell, "lime_erase.100"))) > 3
    for name, rows in expected.scores.items():
        for ours, theirs in zip(found.scores[name], rows, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-7)


def test_a_sweep_that_was_cut_off_goes_on_where_it_was(cell, monkeypatch, make_laboratory, tmp_path):
    monkeypatch.setattr(fixtures.sheets, "BLOCK_PASSES", 500)
    laboratory = make_laboratory(tmp_path / "zoo")
    sweep, calls = fixtures.sheets._sweep, []

    def fail_at_the_third(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return sweep(*arguments)

    monkeypatch.setattr(fixtures.sheets, "_sweep", fail_at_the_third)
    chosen = method(cell, "lime_unk.1k")
    blocks = len(plan_blocks(cell, "mixed", chosen))
    assert blocks > 3
    with pytest.raises(KeyboardInterrupt):
        sweep_sheet(borrow(cell, laboratory, monkeypatch), "mixed", chosen)
    sweep_sheet(borrow(cell, laboratory, monkeypatch), "mixed", chosen)
    assert len(calls) == 3 + blocks - 2
    sweep_sheet(borrow(cell, laboratory, monkeypatch), "mixed", chosen)
    assert len(calls) == 3 + blocks - 2


def borrow(cell, laboratory, monkeypatch):
    """A fresh cell in another zoo, with the models of the cell."""
    fresh = Cell(laboratory, cell.model, cell.dataset, cell.shortcut)
    monkeypatch.setattr(fresh, "network", cell.network)
    return fresh


def test_siblings_share_family_and_variant(cell):
    tables = cell.laboratory.matrix.tables
    assert {row.id for row in list_siblings(tables, method(cell, "occlusion.unk"))} == {"occlusion.unk"}
    assert len(list_siblings(tables, method(cell, "grad_l1.prob"))) == 8


def test_a_row_with_a_misspelt_key_is_named(cell):
    tables = {"salience": {"mine": {"family": "path", "bugdet": 3}}}
    with pytest.raises(MatrixError, match=r"salience 'mine': .*bugdet"):
        find_method(tables, "mine")


@pytest.mark.parametrize("pair", [[0, 1], [1], "all", [1.5, 1], [-1, 1], [True, 1]])
def test_an_allowance_that_means_nothing_is_refused(pair):
    with pytest.raises(MatrixError, match="texts of path"):
        Allowance.read({"texts": {"path": {100: pair}}}, "path")


budgets = st.dictionaries(st.sampled_from([1, 100, 1000, 3000]), st.none() | st.integers(0, 40), min_size=1)


@given(budgets, st.integers(0, 50))
def test_runs_cover_the_most_generous_budget_and_spend_no_text_twice(limits, available):
    allowance = Allowance(limits, limits)
    runs = allowance.divide(limits, "mixed", available)
    covered = [row for first, end, _ in runs for row in range(first, end)]
    assert covered == list(range(max(allowance.texts(budget, "mixed", available) for budget in limits)))
    for first, end, budget in runs:
        assert end <= allowance.texts(budget, "mixed", available)
        larger = [other for other in limits if other > budget]
        assert all(allowance.texts(other, "mixed", available) <= first for other in larger)


def test_the_plan_counts_what_the_sweeps_will_run(cell):
    matrix = cell.laboratory.matrix
    cases = [case for case in matrix.list_cases() if case.model == "lstm" and case.shortcut == "op"]
    load = measure_load(matrix, cases, texts=100, tokens=10.0)
    assert load.passes["gradient"] == 3 * 100 * 3
    # Three baselines; 2 texts at 1000 and 6 at 100 steps on mixed, 4 at 100 on each control; three passes a step.
    assert load.passes["path"] == 3 * (2 * 3000 + 6 * 300 + 2 * 4 * 300)
    assert load.passes["occlusion"] == 2 * (16 + 8 + 8) * 10
    assert (min(load.texts), max(load.texts)) == (2, 100)


def test_the_plan_says_minutes_where_the_profile_knows_the_pace():
    from benchmarks.matrix import load_matrix

    matrix = load_matrix()
    lines = describe_plan(matrix, matrix.list_cases())
    assert lines[0].startswith("plan of profile embedded")
    assert "bert-tomatoes: 138 salience cases, 4 to 1021 texts each" in lines[1]
    assert "min to train 7 models" in lines[1]
    assert lines[-1].startswith("  at most about ")
    assert describe_plan(matrix, []) == []


def test_a_data_set_of_unknown_size_has_no_texts_in_its_plan_and_stops_nothing():
    from benchmarks.matrix import load_matrix

    matrix = load_matrix(profile="paper")
    cases = [case for case in matrix.list_cases(["reviews"]) if case.shortcut == "op"]
    lines = [line for line in describe_plan(matrix, cases) if "-reviews" in line]
    assert lines == [
        "  bert-reviews: 46 salience cases; 3 models to train",
        "  lstm-reviews: 36 salience cases; 3 models to train",
    ]


@pytest.mark.parametrize(("profile", "hint"), [("paper", "; `make estimate` counts"), ("smoke", ""), ("local", "")])
def test_a_profile_without_a_measured_pace_promises_no_minutes(profile, hint):
    from benchmarks.matrix import load_matrix

    matrix = load_matrix(profile=profile)
    *lines, last = describe_plan(matrix, [case for case in matrix.list_cases() if case.model == "bert"])
    assert " min" not in " ".join(lines)
    assert last.startswith("  how long is not known: this profile has no measured pace" + hint)
    assert "models to train" in lines[1]
