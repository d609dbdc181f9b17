"""The part of the report about rationales: what is shown of which reports, and what is said of the numbers."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from scipy.stats import spearmanr

from fixtures.aggregation import aggregate_runs
from fixtures.errors import InputError
from fixtures.report.__main__ import PUBLISHED, main
from fixtures.report.grids import count_outcomes, group_troubles
from fixtures.report.markdown import render_markdown
from fixtures.report.pages import render_page
from fixtures.report.published_faithfulness import choose_methods, compare_faithfulness, read_faithfulness
from fixtures.report.rationale_part import lay_out_rationales
from fixtures.report.rationale_patterns import read_values
from fixtures.report.reading import collect
from fixtures.reports import ReportError, read_report
from fixtures.schema import FIELDS, LISTS
from tests.conftest import ROOT
from tests.rationale_reports import METHODS, SENTENCES, make_rationale_report
from tests.reports import make_report
from tests.test_report_page import EVIL, Page

RATIONALES = make_rationale_report()
SALIENCE = make_report(only=[name for name in METHODS if name != "random"])


def gather(*reports):
    return collect([(f"{number}.json", report) for number, report in enumerate(reports)])


def show(*reports):
    return render_page(gather(*reports), PUBLISHED)


def card_of(*reports):
    [card] = lay_out_rationales(gather(*reports), read_faithfulness(PUBLISHED))
    return card


def test_a_page_of_rationales_only_asks_about_them_and_has_no_other_part():
    page = Page(show(RATIONALES))
    found = [attributes["id"] for attributes in page.named("section")]
    assert found == ["rationales", "troubles", "provenance"]
    assert page.texts["h1"] == ["Are explanations plausible and faithful?"]
    assert page.texts["h1"] != Page(show(RATIONALES, SALIENCE)).texts["h1"]


def test_a_card_has_every_method_with_both_measures_the_most_plausible_first():
    card = card_of(RATIONALES)
    assert {method.name for method in card.methods} == set(METHODS)
    values = [method.value("average_precision") for method in card.methods]
    assert values == sorted(values, reverse=True)
    assert all(method.rows.keys() == {"plausibility", "faithfulness"} for method in card.methods)
    assert [method.name for method in card.methods if not method.compared] == ["random"]
    assert card.reference["n_sentences"] == SENTENCES


def test_agreement_is_the_rank_correlation_over_methods_that_read_the_model():
    card = card_of(RATIONALES)
    pairs = [
        (method.value("average_precision"), method.value("explanation_accuracy"))
        for method in card.methods
        if method.name != "random"
    ]
    assert card.agreement.rho == pytest.approx(spearmanr(*zip(*pairs, strict=True)).statistic)
    assert card.agreement.pairs == len(METHODS) - 1
    assert card.told.endswith(".")


def test_methods_are_correlated_on_the_sentences_that_all_of_them_have():
    report = copy.deepcopy(RATIONALES)
    for benchmark in report["benchmarks"]:
        row = benchmark["extra_info"]
        if row["salience"] == "lime_erase.1k":
            runs = [{name: keep_first(text, 25) for name, text in run.items()} for run in row["runs"]]
            few = " ".join(row["sentences"].split()[:25])
            benchmark["extra_info"] = aggregate_runs(row | {"sentences": few, "n_sentences": 25}, runs)
    pairs = [
        tuple(float(np.nanmean(read_values(method.rows[name])[:, :25])) for name in ("plausibility", "faithfulness"))
        for method in card_of(report).methods
        if method.name != "random"
    ]
    assert card_of(report).agreement.rho == pytest.approx(spearmanr(*zip(*pairs, strict=True)).statistic)


def keep_first(text, amount):
    """The string of a run with its first sentences only."""
    if not isinstance(text, str) or text == "k":
        return text
    if text.count(";") == SENTENCES - 1:
        return ";".join(text.split(";")[:amount])
    groups = text.split(";")
    return ";".join(" ".join(group.split()[:amount]) if " " in group else group[:amount] for group in groups)


def test_plausibility_is_laid_against_finding_the_shortcut_where_the_reports_hold_both():
    alone, together = card_of(RATIONALES), card_of(RATIONALES, SALIENCE)
    assert (alone.finding, alone.told_found, alone.draw(found=True)) == (None, "", "")
    assert together.finding.pairs == len(METHODS) - 1
    rows = [row["extra_info"] for row in SALIENCE["benchmarks"]]
    own = [row["precision_at_k"] for row in rows if row.get("salience") == "gxi.logit"]
    [method] = [method for method in together.methods if method.name == "gxi.logit"]
    assert method.found == pytest.approx(sum(own) / len(own))
    assert "finding the shortcut?" in show(RATIONALES, SALIENCE)
    other = make_report(models=["lstm"], only=["gxi.logit"])
    assert card_of(RATIONALES, other).told_found == ""


def test_statements_of_the_paper_are_found_in_rows_that_were_made_to_have_them():
    verdicts = {finding.said: finding for finding in card_of(RATIONALES).findings}
    assert verdicts["anchors are the least faithful"].verdict == "yes"
    assert verdicts["the model is more often right on LIME's words than on the whole text"].verdict == "yes"
    assert verdicts["anchors are the most plausible"].total == 2
    assert verdicts["the union of annotators gives anchors more matches"].verdict == "yes"
    turned = METHODS | {"anchors.pos": (0.95, 1.0), "lime_erase.1k": (0.8, 0.3)}
    verdicts = {finding.said: finding for finding in card_of(make_rationale_report(methods=turned)).findings}
    assert verdicts["anchors are the least faithful"].verdict == "no"
    assert verdicts["LIME is the most faithful"].verdict == "no"
    few = {name: METHODS[name] for name in ("random", "gxi.logit")}
    findings = card_of(make_rationale_report(methods=few)).findings
    assert {finding.verdict for finding in findings[:5]} == {"nothing to compare"}


def test_values_of_a_row_are_those_that_its_mean_is_of():
    for benchmark in RATIONALES["benchmarks"]:
        row = benchmark["extra_info"]
        name = "average_precision" if row["measure"] == "plausibility" else "explanation_accuracy"
        values = read_values(row)
        assert values.shape == (1, SENTENCES)
        assert values[values == values].mean() == pytest.approx(row[name], abs=1e-4)


def test_the_papers_accuracies_stand_beside_ours():
    published = read_faithfulness(PUBLISHED)
    judged = gather(RATIONALES).judged
    lines = {line.name: line for line in compare_faithfulness(judged, published)}
    assert len(lines) == 8
    assert lines["BERT"].published[:5] == [0.8986, 0.9260, 0.9265, 0.9244, 0.6728]
    assert lines["BERT"].ours == "bert-toy_marked"
    found = dict(zip(published.columns, lines["BERT"].found, strict=True))
    row = judged[0].rows["lime_erase.1k", "faithfulness"]
    assert found["full", None] == row["full_accuracy"]
    assert found["lime", 0.3] == row["explanation_accuracy"]
    assert found["lime", 0.2] is None
    assert found["anchors", None] == judged[0].rows["anchors.pos", "faithfulness"]["explanation_accuracy"]
    assert lines["XLNet"].ours == ""
    assert choose_methods(judged[0], published)["shap"] == "kernelshap.1k"


def test_sentences_show_what_people_marked_beside_the_weights_of_two_methods():
    card = card_of(RATIONALES)
    text = RATIONALES["exhibits"]["bert-toy_marked"]["texts"][0]
    assert [place for place, word in enumerate(card.shown[0].words) if word[1]] == text["truth"]
    for side in (0, 1):
        assert max(weights[side] for _, _, weights in card.shown[0].words) == 1.0
    html = show(RATIONALES)
    assert html.count('class="marked"') == 2 * 2 * len(card.shown)
    assert f"beside {card.pair[0]} and {card.pair[1]}" in html


def test_a_case_without_numbers_is_shown_with_its_reason():
    report = copy.deepcopy(RATIONALES)
    report["benchmarks"] = report["benchmarks"][2:]
    report["cases"][0] |= {"outcome": "failed", "reason": "the hub is not there"}
    collection = gather(report)
    assert count_outcomes(collection) == f"{2 * len(METHODS)} cases: {2 * len(METHODS) - 1} passed, 1 failed, 0 skipped"
    [trouble] = group_troubles(collection)
    assert trouble.cases == ["bert-toy_marked-random-plausibility"]
    assert "the hub is not there" in show(report)
    report["benchmarks"] = []
    assert "Nothing was scored." in show(report)


def test_text_of_users_is_escaped():
    report = json.loads(
        json.dumps(RATIONALES).replace("word3", EVIL.replace('"', '\\"')).replace("toy_marked", "toy<b>")
    )
    assert EVIL not in show(report)
    assert "toy<b>" not in show(report)


def test_markdown_says_what_the_page_says():
    text = render_markdown(gather(RATIONALES, SALIENCE), PUBLISHED)
    assert "**bert · judged on toy\\_marked**" in text or "**bert · judged on toy_marked**" in text
    assert "Does plausibility predict finding the shortcut?" in text
    assert "- anchors are the least faithful: yes" in text
    assert text.count("| occlusion.unk |") >= 1
    assert "### Plausibility" not in render_markdown(gather(SALIENCE), PUBLISHED)


def test_the_command_writes_both(tmp_path):
    path = tmp_path / "report.json"
    path.write_text(json.dumps(RATIONALES), encoding="utf-8")
    written = [tmp_path / "page.html", tmp_path / "page.md"]
    assert main([str(path), "--html", str(written[0]), "--markdown", str(written[1])]) == 0
    assert all(file.stat().st_size > 1000 for file in written)


@pytest.mark.parametrize(
    ("place", "field", "text"),
    [
        (0, "weights", "1 0 1"),
        (0, "auprcs", "1;1"),
        (1, "full_hits", "01"),
        (1, "sizes", "1 2;x"),
        (1, "random_hits", ""),
    ],
)
def test_a_report_whose_strings_do_not_fit_is_one_line(tmp_path, place, field, text):
    report = copy.deepcopy(RATIONALES)
    report["benchmarks"][place]["extra_info"]["runs"][0][field] = text
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report), encoding="utf-8")
    with pytest.raises(ReportError, match="not as this suite writes it"):
        read_report(path)


def test_a_published_row_with_too_few_numbers_is_one_line(tmp_path):
    path = tmp_path / "published.yaml"
    text = PUBLISHED.read_text(encoding="utf-8").replace("numbers: [0.8955, 0.9315, ", "numbers: [0.8955, ")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="ALBERT has 8 numbers for 9 columns"):
        read_faithfulness(path)


@pytest.mark.parametrize("measure", ["plausibility", "faithfulness"])
def test_the_schema_is_documented_field_by_field(measure):
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    for fields in [*FIELDS[measure], *LISTS[measure].values()]:
        for name, field in fields.items():
            optional = " or null" if field.optional else ""
            assert f"| `{name}` | {field.type.__name__}{optional} | {field.meaning} |" in text
