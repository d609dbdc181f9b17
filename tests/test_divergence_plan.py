"""The plan of divergence cases: what is shared is counted once, and minutes are those of the measured pace."""

from __future__ import annotations

import pytest

from benchmarks.divergence import TABLES, list_divergence_cases
from benchmarks.matrix import load_matrix
from benchmarks.text_divergence import list_text_cases
from fixtures import divergence_plan
from fixtures.divergence_plan import describe_divergence_plan


def list_words(matrix):
    images = list_divergence_cases(matrix.tables, matrix.profile)
    return [{axis: getattr(case, axis) for axis in TABLES} for case in images], [
        case.words for case in list_text_cases(matrix)
    ]


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(divergence_plan, "count_cores", lambda: 2)


def test_clean_and_source_models_are_trained_once(two_cores):
    matrix = load_matrix()
    images, texts = list_words(matrix)
    models = matrix.tables["populations"]["embedded"]["population"]
    lines = describe_divergence_plan(matrix, images)
    assert f"dsprites-square: {2 * models} models to train, {2 * models} explained by heatmap" in lines[1]
    assert f"dsprites-stripe: {models} models to train, {2 * models} explained" in lines[2]
    models = matrix.tables["text_populations"]["embedded"]["population"]
    lines = describe_divergence_plan(matrix, texts)
    assert f"lstm-tomatoes-single: {3 * models} models to train" in lines[1]
    assert f"lstm-tomatoes-op: {2 * models} models to train" in lines[2]


def test_both_halves_of_the_embedded_plan_take_about_half_an_hour(two_cores):
    matrix = load_matrix()
    for words in list_words(matrix):
        once, thrice = (int(describe_divergence_plan(matrix, words, seeds)[-1].split()[1]) for seeds in (1, 3))
        assert 20 <= once <= 35
        assert thrice == pytest.approx(3 * once, abs=2)


def test_minutes_of_one_cell_are_those_of_its_parts(two_cores):
    matrix = load_matrix()
    settings = matrix.tables["populations"]["embedded"]
    case = [{"images": "dsprites", "artifact": "noise", "explainer": "heatmap"}]
    pace, models = settings["pace"], 2 * settings["population"]
    seconds = models * (pace["training_seconds"] + pace["explaining_seconds"]["heatmap"])
    seconds += 3 * settings["runs"] * pace["detector_seconds"]["heatmap"]
    assert describe_divergence_plan(matrix, case)[-1].startswith(f"  about {seconds / 2 / 60:.0f} min on 2 cores")


def test_what_has_no_measured_pace_is_said(two_cores):
    matrix = load_matrix(profile="paper")
    _, texts = list_words(matrix)
    lines = describe_divergence_plan(matrix, texts)
    assert not any("min on" in line for line in lines)
    assert describe_divergence_plan(matrix, [{"model": "bert", "dataset": "sst2", "shortcut": "op"}]) == []
