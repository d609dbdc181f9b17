"""The road of a text divergence case: texts, populations, rows; in processes of its own from training to the gate."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from copy import deepcopy
from types import SimpleNamespace

import pytest

from fixtures.aggregation import aggregate_runs
from fixtures.divergence.text_plugin import is_meant
from fixtures.merging import merge_reports
from fixtures.report.__main__ import main
from fixtures.schema import FIELDS, check_row
from tests.conftest import ROOT
from tests.tiny import write_populations

CASE = "lstm-toy-single"


@pytest.fixture(scope="module")
def overlay(tmp_path_factory):
    return write_populations(tmp_path_factory.mktemp("overlay"))


@pytest.fixture(scope="module")
def options(world, overlay, tmp_path_factory):
    """Of a run in the tiny world, and its zoo."""
    zoo = tmp_path_factory.mktemp("zoo")
    return [
        *("--profile", "tiny", "--matrix", world / "tiny.yaml", "--matrix", overlay),
        *("--data-dir", world / "data", "--zoo", zoo, "--device", "cpu"),
    ]


def read_rows(report):
    content = json.loads(report.read_text(encoding="utf-8"))
    return {"-".join(row["params"].values()): row["extra_info"] for row in content["benchmarks"]}


@pytest.fixture(scope="module")
def road(options, run_pytest, tmp_path_factory):
    """A first run, and a second one from the cache behind the gate of the first."""
    folder = tmp_path_factory.mktemp("road")
    words = ("benchmarks", "-k", "text_divergence and single and (gxi.logit or random or ig_zero.100.logit)", *options)
    first = run_pytest(*words, "--benchmark-json", folder / "first.json")
    assert first.returncode == 0, first.stdout + first.stderr
    accept = [sys.executable, "-m", "fixtures.gate", folder / "first.json", folder / "base.json"]
    subprocess.run(accept, cwd=ROOT, check=True)
    second = run_pytest(*words, "--benchmark-json", folder / "second.json", "--gate", folder / "base.json")
    assert second.returncode == 0, second.stdout + second.stderr
    return folder, first, second


def test_every_method_and_contrast_has_a_whole_row(road):
    rows = read_rows(road[0] / "first.json")
    methods = ("random", "gxi.logit", "ig_zero.100.logit")
    assert set(rows) == {f"{CASE}-{contrast}-{method}" for contrast in ("source", "placebo") for method in methods}
    for name, row in rows.items():
        assert row.keys() == FIELDS["text_divergence"][0].keys()
        texts = 2 if "ig" in name else 4
        assert row["models"] == 6
        assert row["n_texts"] == 2 * 4 * texts
        # Two splits, two models of six in each validation population, half of the texts.
        assert row["n_explanations"] == 2 * (2 + 2) * 4 * texts
        assert row["eds_low"] <= row["eds"] <= row["eds_high"]
        assert row["eds"] == pytest.approx((row["eds_na"] + row["eds_a"]) / 2)
        assert row["eds_a"] == pytest.approx((row["eds_0_a"] + row["eds_1_a"]) / 2)
        assert len(row["runs"][0]["precisions"].split(";")) == 6
        assert len(row["runs"][0]["precisions"].split(";")[0].split()) == 4 * texts


def test_the_contrasts_share_their_mixed_models(road):
    rows = read_rows(road[0] / "first.json")
    source, placebo = (rows[f"{CASE}-{contrast}-gxi.logit"] for contrast in ("source", "placebo"))
    assert source["precision_at_k"] == placebo["precision_at_k"]
    assert source["contrast_accuracy"] != placebo["contrast_accuracy"]


def test_a_second_run_makes_nothing_and_gives_the_same_numbers(road):
    folder, first, second = road
    assert read_rows(folder / "first.json") == read_rows(folder / "second.json")
    assert "training" not in second.stderr
    assert "6 cases compared with the baseline, 0 vanished" in second.stdout
    assert "contrast halves" in first.stdout
    markdown = subprocess.run(
        [sys.executable, "-m", "fixtures.table", folder / "first.json"], cwd=ROOT, capture_output=True, text=True
    )
    assert markdown.stdout.count(f"| {CASE}-placebo | ") == 3


def test_the_report_of_a_run_is_a_page_that_answers_the_question(road, tmp_path):
    folder, page, comment = road[0], tmp_path / "page.html", tmp_path / "comment.md"
    assert main([str(folder / "first.json"), "--html", str(page), "--markdown", str(comment)]) == 0
    text = page.read_text(encoding="utf-8")
    assert all(f'id="texts-{number}-title"' in text for number in (1, 2))
    # Two methods are too few for a correlation; where neither tells anything, that is the answer.
    assert re.search("Not to be said: 2 methods have too few|No: without the tokens none of 2 methods tells", text)
    assert "**lstm toy single · against placebo**" in comment.read_text(encoding="utf-8")


def test_reports_of_two_seeds_merge_into_the_row_of_one_run(road):
    folder = road[0]
    report = json.loads((folder / "first.json").read_text(encoding="utf-8"))
    rows = [benchmark["extra_info"] for benchmark in report["benchmarks"]]
    other = deepcopy(report) | {"seeds": [1]}
    for benchmark, row in zip(other["benchmarks"], rows, strict=True):
        run = row["runs"][0] | {"seed": 1, "tally": row["runs"][0]["permuted_tally"], "rejected_seeds": 2}
        benchmark["extra_info"] = aggregate_runs(row, [run])
    merged = merge_reports([report, other], ["first", "other"])
    for benchmark, row, changed in zip(merged["benchmarks"], rows, other["benchmarks"], strict=True):
        joined = benchmark["extra_info"]
        assert joined == aggregate_runs(row, [*row["runs"], *changed["extra_info"]["runs"]])
        assert (joined["seeds"], joined["rejected_seeds"]) == ([0, 1], 2)
        assert joined["eds"] == pytest.approx((row["eds"] + row["permuted"]) / 2)
        check_row(joined)


def collect(run_pytest, options, *words):
    lines = run_pytest("--collect-only", "-q", *words, *options).stdout.splitlines()
    return [line for line in lines if "test_text_divergence[" in line]


def test_cases_are_the_methods_that_the_budget_affords(run_pytest, options):
    listed = collect(run_pytest, options, "benchmarks", "-k", "divergence and lstm")
    # random, gradient 8, integrated gradients 6, LIME 2, occlusion 2, attention; two shortcuts, two contrasts.
    assert len(listed) == 20 * 4
    assert any("[lstm-toy-op-placebo-lime_unk.100]" in line for line in listed)
    assert not any(word in line for line in listed for word in ("oracle", ".1k", "mask"))


def test_a_run_about_three_models_does_not_train_dozens(run_pytest, options):
    assert collect(run_pytest, options, "benchmarks", "-k", "lstm and single") == []


@pytest.mark.parametrize(
    ("words", "keyword", "marks", "expected"),
    [
        (["benchmarks"], "", "", True),
        (["benchmarks"], "lstm and single", "", False),
        (["benchmarks"], "", "case(model='lstm')", False),
        (["benchmarks"], "divergence and lstm", "", True),
        (["benchmarks"], "lstm and not text_divergence", "", True),
        (["benchmarks/test_divergence.py"], "lstm", "", True),
        (["benchmarks"], "", "case(contrast='placebo', model='lstm')", True),
    ],
)
def test_a_run_is_about_divergence_where_it_says_so(words, keyword, marks, expected):
    values = {"keyword": keyword, "markexpr": marks}
    assert is_meant(SimpleNamespace(args=words, getoption=values.get)) is expected
