"""The report before it is drawn: what is read and refused, how methods are ranked, what is set beside what."""

from __future__ import annotations

import copy
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.matrix import Case, load_matrix
from fixtures.aggregation import aggregate_runs, join_numbers
from fixtures.report.answers import rank_subject
from fixtures.report.choices import list_effects
from fixtures.report.grids import count_outcomes, group_troubles, lay_out_grid, lay_out_verifications
from fixtures.report.published import compare_published
from fixtures.report.reading import collect
from fixtures.reports import ReportError
from fixtures.schema import CASE_FIELDS, RUN_FIELDS, SALIENCE_FIELDS, SALIENCE_RUN_FIELDS, SCHEMA_VERSION, check_row
from tests.suites import fill

ROOT = Path(__file__).parent.parent
TEXTS = {"gradient": 24, "attention": 24, "chance": 24}
"""Texts of a family's methods; others have 12 at a small budget and 4, without controls, at a large one."""

GRADIENTS = ["grad_l1.logit", "grad_l1.prob", "grad_l2.logit", "grad_l2.prob"]

Draw = Callable[[str, int], list[float]]


def draw_by_family(method: str, texts: int) -> list[float]:
    """Gradients find the tokens, others now and then; random scores seldom."""
    rng = random.Random(f"{method.partition('.')[0]}")
    likely = 0.95 if method.startswith("grad_l") else 0.1 if method == "random" else 0.6
    return [float(rng.random() < likely) for _ in range(texts)]


def make_report(
    datasets: Sequence[str] = ("toy",),
    shortcuts: Sequence[str] = ("single", "op"),
    models: Sequence[str] = ("bert",),
    only: Sequence[str] = (),
    draw: Draw = draw_by_family,
    **top: Any,
) -> dict[str, Any]:
    """A report of made-up numbers for the methods of the matrix, or for some of them; every case passed."""
    matrix, report = load_matrix(), {"cases": [], "benchmarks": [], "exhibits": {}}
    seeds = top.get("seeds", [0])
    for model in models:
        for dataset in datasets:
            for shortcut in shortcuts:
                words = {"model": model, "dataset": dataset, "shortcut": shortcut}
                _add(report, words, seeds, {})
                for method, settings in matrix.tables["salience"].items():
                    wanted = method not in matrix.tables["peers"] and (not only or method in only)
                    if wanted and not matrix.excludes(Case(model, dataset, shortcut, method)):
                        _add(report, words | {"salience": method}, seeds, settings, draw)
    general = {"schema_version": SCHEMA_VERSION, "profile": "embedded", "seeds": seeds, "embedding_init": "matched"}
    others = {"gate_tolerance": 0.1, "matrix_hash": "ab12", "versions": {"torch": "2.13.0"}}
    dated = {"datetime": "2026-11-30T09:08:08+00:00", "commit_info": {"id": "97009b9", "dirty": True}}
    return general | others | dated | {"machine_info": {"system": "Linux"}} | report | top


def _add(report: dict[str, Any], words: dict[str, str], seeds: Sequence[int], settings: Any, draw: Any = None) -> None:
    fields = CASE_FIELDS | (SALIENCE_FIELDS if settings else {})
    constants = fill(fields) | words | {"profile": "embedded", "unverified_seeds": [], "corpus_licence": "CC0"}
    if settings:
        names = ("family", "target", "budget")
        constants |= {name: settings[name] for name in names} | {"variant": settings.get("variant", "")}
        budget = settings["budget"]
        constants |= {"forward_passes": float(budget), "backward_passes": 0.0}
    runs = [_make_run(words, seed, settings, draw) for seed in seeds]
    report["benchmarks"].append({"extra_info": check_row(aggregate_runs(constants, runs))})
    report["cases"].append({"id": "-".join(words.values()), "outcome": "passed", "reason": ""})
    if settings:
        cell = report["exhibits"].setdefault("-".join(list(words.values())[:3]), {"texts": make_texts(), "scores": {}})
        amount = 12 if settings["budget"] < 3000 else 4
        cell["scores"][words["salience"]] = [
            " ".join(str((7 * place) % 199 - 99) for place in range(len(text["tokens"])))
            for text in cell["texts"][:amount]
        ]


def _make_run(words: dict[str, str], seed: int, settings: Any, draw: Any) -> dict[str, Any]:
    if not settings:
        return fill(RUN_FIELDS) | {"seed": seed}
    texts = TEXTS.get(settings["family"], 12 if settings["budget"] < 1000 else 4)
    precisions = draw(words["salience"], texts)
    controls = 0 if texts == 4 else texts // 2
    numbers = {
        "precisions": join_numbers(precisions),
        "placebo_precisions": join_numbers([0.0] * controls),
        "unseen_precisions": join_numbers([0.5] * controls if "grad_l2" in words["salience"] else [0.0] * controls),
        "completeness_gaps": "",
    }
    return fill(RUN_FIELDS | SALIENCE_RUN_FIELDS) | numbers | {"seed": seed, "mean_rank": 2.0}


def make_texts() -> list[dict[str, Any]]:
    """Twelve texts of fifty tokens, as many as an exhibit may have."""
    tokens = [f"word{number}" for number in range(48)]
    return [
        {"tokens": ["context0", *tokens, "indicator1"], "truth": [0, 49], "label": number % 2} for number in range(12)
    ]


def run_report(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fixtures.report", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return make_report()


@pytest.fixture(scope="module")
def subject(report):
    [found] = collect([("a.json", report)]).subjects
    return found


def test_methods_are_ranked_by_specificity_and_the_cheapest_of_equals_comes_first(subject):
    ranking = rank_subject(subject)
    assert [answer.method for answer in ranking.ranked[:4]] == GRADIENTS
    assert {answer.place for answer in ranking.ranked[:4]} == {1}
    places = [(answer.place, answer.cost) for answer in ranking.ranked]
    assert places == sorted(places)


def test_what_has_no_control_and_what_reads_nothing_are_listed_apart(subject):
    ranking = rank_subject(subject)
    assert {answer.method for answer in ranking.bounds} == {"random", "oracle.best", "oracle.anti"}
    assert {answer.specificity for answer in ranking.apart} == {None}
    assert len(ranking.all) == 43


def test_numbers_are_pooled_over_the_cells(subject):
    answer = next(answer for answer in rank_subject(subject).ranked if answer.method == "gxi.logit")
    assert (answer.texts, answer.controls, answer.cells) == (48, 24, 2)
    rows = [cell.rows["gxi.logit"] for cell in subject.cells.values()]
    assert answer.precision.mean == pytest.approx(sum(row["precision_at_k"] for row in rows) / 2)
    assert answer.precision.low <= answer.precision.mean <= answer.precision.high


def test_a_choice_is_judged_on_the_texts_that_both_scored(subject):
    effects = {choice.title: found for choice, found in list_effects(subject).items()}
    assert list(effects) == ["Reduction", "Target", "Baseline", "Steps", "Samples", "Policy"]
    steps = {effect.ours: effect for effect in effects["Steps"]}
    assert steps["ig_zero.1k.logit"].theirs == "ig_zero.100.logit"
    assert steps["ig_zero.1k.logit"].texts == 8
    assert {effect.theirs.partition(".")[0] for effect in effects["Reduction"]} == {"grad_l2"}


def test_a_cell_ranks_its_methods_with_ties(subject):
    grid = lay_out_grid(subject)
    places = {method: squares[0].place for method, _, squares in grid.lines}
    assert places["grad_l2.logit"] == places["grad_l1.prob"] == 1
    assert places["random"] is None


def fail(report: dict[str, Any], name: str, reason: str, *, scored: bool) -> dict[str, Any]:
    """A copy of a report in which a cell's verification failed, and without its scores unless some seed had them."""
    changed = copy.deepcopy(report)
    for case in changed["cases"]:
        if case["id"] == name:
            case |= {"outcome": "failed", "reason": f"{name}: {reason}\nrerun: pytest"}
        elif case["id"].startswith(f"{name}-") and not scored:
            case |= {"outcome": "skipped", "reason": f"not verified: {reason}"}
    if not scored:
        kept = [row for row in changed["benchmarks"] if "salience" not in row["extra_info"] or not _is_of(row, name)]
        changed |= {"benchmarks": kept, "exhibits": {}}
    return changed


def _is_of(row: dict[str, Any], name: str) -> bool:
    return "-".join(row["extra_info"][axis] for axis in ("model", "dataset", "shortcut")) == name


@pytest.mark.parametrize("scored", [True, False])
def test_a_cell_that_is_not_verified_is_named_and_ranked_only_where_some_seed_was(report, scored):
    [subject] = collect([("a.json", fail(report, "bert-toy-op", "synthetic_accuracy = 0.5", scored=scored))]).subjects
    assert [cell.name for cell in subject.doubts()] == ["bert-toy-op"]
    assert rank_subject(subject).ranked[0].cells == (2 if scored else 1)


def test_cases_that_ended_alike_for_one_reason_are_one_line(report):
    collection = collect([("a.json", fail(report, "bert-toy-op", "synthetic_accuracy = 0.5", scored=False))])
    failed, skipped = group_troubles(collection)
    assert (failed.outcome.name, failed.cases) == ("failed", ["bert-toy-op"])
    assert (skipped.outcome.name, len(skipped.cases)) == ("skipped", 43)
    assert count_outcomes(collection) == "88 cases: 44 passed, 1 failed, 43 skipped"


def test_seeds_stand_below_their_cell():
    lines = list(lay_out_verifications(collect([("a.json", make_report(only=["random"], seeds=[1, 2]))])))
    assert [(line.cell.name, line.seed) for line in lines[:3]] == [
        ("bert-toy-single", None),
        ("bert-toy-single", 1),
        ("bert-toy-single", 2),
    ]


def test_reports_of_other_data_sets_and_profiles_are_shown_together():
    one, shard = make_report(only=["random"]), make_report(only=["random"], datasets=["other"])
    paper = make_report(only=["random"], profile="paper")
    collection = collect([("one", one), ("shard", shard), ("paper", paper)])
    assert [(subject.setting.profile, len(subject.cells)) for subject in collection.subjects] == [
        ("embedded", 4),
        ("paper", 2),
    ]
    assert [collection.label(subject.setting) for subject in collection.subjects] == ["embedded", "paper"]


def test_the_same_case_at_the_same_seed_twice_is_refused(report):
    with pytest.raises(
        ReportError, match=r"b: bert-toy-single of profile embedded at seed 0 is in a, too; .*make merge"
    ):
        collect([("a", report), ("b", make_report(seeds=[0, 1], only=["random"]))])


def test_published_numbers_stand_beside_every_row_that_matches(tmp_path):
    entry = {"source": "p", "model": "bert", "dataset": "toy", "why": "smaller"}
    numbers = [
        entry | {"shortcut": "op", "salience": "grad_l2.logit", "value": "precision_at_k", "number": 0.9},
        entry | {"value": "source_accuracy", "number": 1},
        entry | {"dataset": "sst2", "value": "source_accuracy", "number": 1},
    ]
    path = tmp_path / "published.yaml"
    path.write_text(yaml.safe_dump({"sources": {"p": "Somebody"}, "numbers": numbers}), encoding="utf-8")
    reports = [("a", make_report()), ("b", make_report(profile="paper", only=["grad_l2.logit"]))]
    found = compare_published(collect(reports), path)
    assert [(pair.cell.shortcut, pair.method, pair.why) for pair in found.pairs] == [
        ("op", "grad_l2.logit", "smaller"),
        ("op", "grad_l2.logit", ""),
        *(("single", "", "smaller"), ("op", "", "smaller"), ("single", "", ""), ("op", "", "")),
    ]
    assert found.pairs[0].difference == pytest.approx(found.pairs[0].ours - 0.9)
    assert (found.total, found.without) == (3, 1)
