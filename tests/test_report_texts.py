"""The texts of the page: what is said to be found is what was recorded, however coarse the scores shown are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fixtures.aggregation import split_numbers
from fixtures.exhibits import round_scores
from fixtures.report.answers import rank_subject
from fixtures.report.reading import collect
from fixtures.report.texts import describe_texts
from fixtures.reports import name_case, read_report
from shortcuts.ranking import precision_at_k
from tests.reports import make_report
from tests.test_structure import ROOT


def describe(report):
    collection = collect([("a", report)])
    return describe_texts(collection, [rank_subject(subject) for subject in collection.subjects])


def test_hits_are_the_recorded_ones_where_rounding_ties_the_scores():
    report = make_report(only=["random", "grad_l2.logit", "gxi.logit"], shortcuts=["op"], draw=lambda *_: [1.0] * 48)
    shown = report["exhibits"]["bert-toy-op"]
    # The second of two injected tokens with less than half a hundredth of the first one's score, in whole numbers.
    shown["scores"]["grad_l2.logit"] = ["99" + " 0" * 49] * 12
    [cell] = describe(report)
    assert cell["hits"]["grad_l2.logit"] == [1.0] * 12
    assert {tuple(text["found"]) for text in cell["texts"]} == {(2, 2)}


def test_hits_are_of_the_seed_whose_texts_are_shown():
    report = make_report(only=["gxi.logit"], shortcuts=["op"], seeds=[1, 2], draw=lambda *_: [1.0] * 48)
    [_, row] = [benchmark["extra_info"] for benchmark in report["benchmarks"]]
    row["runs"][1]["precisions"] = " ".join(["0"] * 48)
    report["exhibits"]["bert-toy-op"]["seed"] = 2
    [cell] = describe(report)
    assert cell["hits"]["gxi.logit"] == [0.0] * 12
    assert [text["found"] for text in cell["texts"]] == [[0, 1]] * 12


def test_the_stored_reports_show_what_they_record():
    report = read_report(ROOT / "results" / "embedded.json")
    [shown] = [cell for cell in describe(report) if cell["label"] == "bert tomatoes tic"]
    rows = {name_case(row): row for row in (benchmark["extra_info"] for benchmark in report["benchmarks"])}
    recorded = split_numbers(rows["bert-tomatoes-tic-occlusion.unk"]["runs"][0]["precisions"])[:12]
    assert shown["hits"]["occlusion.unk"] == recorded == [1.0] * 12


@given(st.lists(st.integers(-10_000, 10_000), min_size=3, max_size=40), st.integers(0, 2))
def test_rounded_scores_keep_their_order_and_so_their_p_at_k(whole, place):
    scores = np.array(whole) / 7
    rounded = split_numbers(round_scores(scores))
    assert np.array_equal(np.argsort(rounded, kind="stable"), np.argsort(scores, kind="stable"))
    assert precision_at_k(rounded, [place]) == precision_at_k(scores, [place])
    assert max(map(abs, rounded)) in (99, 0)
