"""The report before it is drawn: what is read and refused, how methods are ranked, what is set beside what."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from fixtures.report.answers import rank_subject
from fixtures.report.choices import list_effects
from fixtures.report.grids import count_outcomes, group_troubles, lay_out_grid, lay_out_verifications
from fixtures.report.markdown import render_markdown
from fixtures.report.published import compare_published
from fixtures.report.reading import collect
from fixtures.report.wording import describe_lead
from fixtures.reports import ReportError
from tests.reports import fail, make_report

GRADIENTS = ["grad_l1.logit", "grad_l1.prob", "grad_l2.logit", "grad_l2.prob"]


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
    assert not ranking.few
    assert len(ranking.all) == 46


def test_a_method_with_few_controls_is_listed_below_the_ranking_and_never_first():
    [subject] = collect([("a.json", make_report(shortcuts=["single"]))]).subjects
    ranking = rank_subject(subject)
    assert {answer.controls for answer in ranking.few} == {12}
    assert {(answer.place, answer.unranked) for answer in ranking.few} == {(None, "too few texts to rank")}
    assert ranking.all.index(ranking.few[0]) == len(ranking.ranked)
    assert describe_lead(ranking).startswith("4 methods cannot be told apart on the texts with controls")
    assert "20 texts, so none is ranked" in describe_lead(ranking._replace(ranked=[]))


@pytest.mark.parametrize(("shortcuts", "said"), [(["op"], "too few controls"), (["op", "tic"], "found nothing")])
def test_what_is_no_better_than_on_the_placebo_found_nothing_only_if_enough_texts_say_so(shortcuts, said):
    report = make_report(shortcuts=shortcuts, only=["occlusion.unk"], draw=lambda _, texts: [0.0] * texts)
    collection = collect([("a.json", report)])
    [answer] = rank_subject(collection.subjects[0]).all
    assert (answer.controls, answer.doubt) == (12 * len(shortcuts), said)
    assert f"occlusion.unk ({said})" in render_markdown(collection)


def test_numbers_are_pooled_over_the_cells(subject):
    answer = next(answer for answer in rank_subject(subject).ranked if answer.method == "gxi.logit")
    assert (answer.texts, answer.controls, answer.cells) == (96, 48, 2)
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
    squares = {method: squares[0] for method, _, squares in grid.lines}
    assert (squares["ig_zero.1k.logit"].place, squares["ig_zero.1k.logit"].few) == (None, True)
    assert [squares[name].fewer for name in ("gxi.logit", "occlusion.unk")] == [False, True]


@pytest.mark.parametrize("scored", [True, False])
def test_a_cell_that_is_not_verified_is_named_and_ranked_only_where_some_seed_was(report, scored):
    [subject] = collect([("a.json", fail(report, "bert-toy-op", "synthetic_accuracy = 0.5", scored=scored))]).subjects
    assert [cell.name for cell in subject.doubts()] == ["bert-toy-op"]
    assert rank_subject(subject).ranked[0].cells == (2 if scored else 1)


def test_cases_that_ended_alike_for_one_reason_are_one_line(report):
    collection = collect([("a.json", fail(report, "bert-toy-op", "synthetic_accuracy = 0.5", scored=False))])
    failed, skipped = group_troubles(collection)
    assert (failed.outcome.name, failed.cases) == ("failed", ["bert-toy-op"])
    assert (skipped.outcome.name, len(skipped.cases)) == ("skipped", 46)
    assert count_outcomes(collection) == "94 cases: 47 passed, 1 failed, 46 skipped"


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
