"""The parts of the report about divergence: what is shown of which reports, and what is said of the numbers."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from scipy.stats import spearmanr

from fixtures.merging import merge_reports
from fixtures.report.__main__ import PUBLISHED, main
from fixtures.report.correlation import correlate_ranks, describe_correlation
from fixtures.report.grids import count_outcomes, group_troubles
from fixtures.report.markdown import render_markdown
from fixtures.report.pages import render_page
from fixtures.report.patterns import find_pattern
from fixtures.report.published_divergence import read_published
from fixtures.report.reading import collect
from fixtures.report.text_part import lay_out_texts
from fixtures.schema import FIELDS
from tests.conftest import ROOT
from tests.divergence_reports import make_image_report, make_text_report
from tests.reports import make_report
from tests.test_report_page import EVIL, Page

IMAGES = make_image_report()
TEXTS = make_text_report()
SALIENCE = make_report(only=["random", "grad_l2.logit"])
ALWAYS = ["troubles", "provenance"]
OF_SALIENCE = ["answer", "heat", "cost", "choices", "verification", "published"]


def show(*reports):
    return render_page(collect([(f"{number}.json", report) for number, report in enumerate(reports)]), PUBLISHED)


class Images(HTMLParser):
    """Alternative texts of the pictures of a page."""

    def __init__(self, text):
        super().__init__()
        self.alternatives = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "img":
            self.alternatives.append(dict(attrs)["alt"])


@pytest.mark.parametrize(
    ("reports", "sections", "question"),
    [
        ([IMAGES], ["divergence"], "Does the explanation give the model away?"),
        ([TEXTS], ["text-divergence"], "Does the explanation give the model away?"),
        ([IMAGES, TEXTS], ["divergence", "text-divergence"], "Does the explanation give the model away?"),
        (
            [SALIENCE, IMAGES, TEXTS],
            [*(name for name in OF_SALIENCE if name != "choices"), "divergence", "text-divergence", "texts"],
            "Which explanation finds the shortcut?",
        ),
    ],
)
def test_a_page_has_the_sections_that_its_reports_fill(reports, sections, question):
    page = Page(show(*reports))
    found = [attributes["id"] for attributes in page.named("section")]
    assert found == [*sections, *ALWAYS]
    linked = [attributes["href"] for attributes in page.named("a")]
    assert linked == [f"#{found[0]}", *(f"#{name}" for name in found)]
    assert page.texts["h1"] == [question]


def test_reports_of_all_kinds_in_one_file_are_shown_together():
    parts = {name: [*IMAGES[name], *TEXTS[name], *SALIENCE[name]] for name in ("cases", "benchmarks")}
    joined = IMAGES | parts | {"exhibits": IMAGES["exhibits"] | SALIENCE["exhibits"]}
    assert len(Page(show(joined)).named("section")) == len(Page(show(SALIENCE, IMAGES, TEXTS)).named("section"))


def test_a_table_holds_the_scores_the_nulls_and_the_older_measures_with_the_papers_below():
    row = next(one["extra_info"] for one in IMAGES["benchmarks"])
    page = Page(show(IMAGES))
    assert f"{row['eds']:.2f}" in page.texts["b"]
    assert f"[{row['permuted_low']:.2f}, {row['permuted_high']:.2f}]" in page.texts["small"]
    heads = [text.strip() for text in page.texts["th"]]
    for name in ("EDS", "S/NA", "NS/NA", "S/A", "NS/A", "bits", "permuted", "clean against clean", "KSSD", "CCM"):
        assert name in heads
    # Published for a heat map of a square on dSprites, and ours minus that.
    published = next(text for text in page.texts["td"] if text.strip().startswith("0.80"))
    assert published.strip() == "0.80"
    assert f"{row['eds'] - 0.799:+.2f}".replace("-", "−") in page.texts["small"]


def test_explanations_of_both_populations_stand_beside_each_other_with_words_for_them():
    shown = Images(show(IMAGES)).alternatives
    assert len(shown) == 18 * 4 * 2
    assert shown[0] == (
        "heatmap explanation by a spurious model of dsprites · square: an image of the spurious class, without the "
        "artifact. spurious on S/NA"
    )
    assert shown[1].startswith("heatmap explanation by a clean model")


def test_what_comes_from_data_is_escaped():
    text = json.dumps(make_image_report(["dsprites"], ["stripe"]))
    text = text.replace("heatmap", json.dumps(EVIL)[1:-1]).replace("spurious on S", json.dumps(EVIL)[1:-1])
    method = json.dumps(make_text_report()).replace("gxi.logit", f"gxi{json.dumps(EVIL)[1:-1]}")
    page = Page(show(json.loads(text), json.loads(method)))
    assert [attributes.get("id") for attributes in page.named("script")] == ["exhibits", None]
    assert all(attributes["src"].startswith("data:image/png;base64,") for attributes in page.named("img"))
    assert any(EVIL in attributes["alt"] for attributes in page.named("img"))
    assert any(EVIL in text for text in page.texts["span"])


def test_tables_charts_and_pictures_have_names():
    page = Page(show(IMAGES, TEXTS))
    assert len(page.named("caption")) == len(page.named("table"))
    assert all(chart["role"] == "img" and chart["aria-label"] for chart in page.named("svg"))
    assert all(area["tabindex"] == "0" and area["aria-label"] for area in page.named("div") if "role" in area)
    assert all(header["scope"] in ("col", "row", "colgroup") for header in page.named("th"))
    identifiers = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert len(identifiers) == len(set(identifiers))


def test_a_case_that_failed_without_numbers_is_known_by_its_id():
    cases = [
        {"id": "shapes3d-noise-mine", "outcome": "failed", "reason": "shapes3d-noise: 18 of 18 are not spurious"},
        {"id": "lstm-my-data-op-placebo-gxi.logit", "outcome": "skipped", "reason": "no"},
    ]
    empty = IMAGES | {"cases": cases, "benchmarks": [], "exhibits": {}}
    collection = collect([("a", empty)])
    assert collection.subjects == []
    assert [one.words for one in collection.populations] == [
        ("shapes3d", "noise"),
        ("lstm", "my-data", "op", "placebo"),
    ]
    assert count_outcomes(collection) == "2 cases: 0 passed, 1 failed, 1 skipped"
    assert group_troubles(collection)[0].outcome.reason == "18 of 18 are not spurious"
    page = Page(show(empty))
    assert page.texts["p"].count("Nothing was scored.") == 2
    assert "Nothing was scored." in render_markdown(collection)


def test_the_patterns_of_the_paper_hold_in_its_own_table_as_far_as_its_intervals_say():
    published = read_published(PUBLISHED)
    rows = [row.values for row in published.rows.values()]
    assert len(rows) == 18
    found = {pattern["said"]: find_pattern(pattern, rows) for pattern in published.patterns}
    assert {name: finding.verdict for name, finding in found.items() if finding.verdict != "within intervals"} == {
        "every score is above 0.5": "yes",
        "even images of other classes without the artifact (NS/NA) tell something": "yes",
        "heat maps are ahead on 3dshapes": "yes",
    }
    assert not any(finding.reversed for finding in found.values())
    lowest = found["NS/NA is the lowest of the four subclasses"]
    assert (lowest.held, lowest.total) == (44, 54)


@pytest.mark.parametrize(
    ("concept", "verdict", "counts"),
    [(0.6, "yes", (2, 2, 0)), (0.8, "within intervals", (1, 0, 0)), (0.99, "no", (0, 0, 2))],
)
def test_a_pattern_is_found_in_the_direction_of_the_scores_and_beyond_their_intervals(concept, verdict, counts):
    rows = [
        {"images": "a", "artifact": "b", "explainer": name, "eds": eds, "eds_low": eds - 0.05, "eds_high": eds + 0.05}
        for name, eds in (("heatmap", 0.82), ("influence", 0.78), ("concept", concept))
    ]
    pattern = {"said": "", "value": "eds", "axis": "explainer", "lowest": "concept"}
    finding = find_pattern(pattern, rows)
    assert (finding.verdict, finding.total) == (verdict, 2)
    assert (finding.held, finding.clear, finding.reversed) == counts
    assert find_pattern(pattern | {"lowest": "nothing"}, rows).told == "no two rows to compare"


def test_patterns_speak_of_the_papers_cases_only():
    collection = collect([("a", make_image_report(["mine"], ["stripe"]))])
    assert "in the paper’s own table" in show(IMAGES)
    assert "in the paper’s own table" not in render_page(collection, PUBLISHED)


def test_the_rank_correlation_is_spearmans_and_leaves_random_scores_out():
    [card, _] = lay_out_texts(collect([("a", TEXTS)]))
    rows = [method.row for method in card.methods if method.name != "random"]
    expected = spearmanr([row["precision_at_k"] for row in rows], [row["eds_na"] for row in rows]).statistic
    assert card.correlation.pairs == len(rows) == 8
    assert card.correlation.rho == pytest.approx(expected)
    assert card.correlation.low <= expected <= card.correlation.high
    assert f"over 8 methods the rank correlation of P@k and EDS without the tokens is {expected:.2f}" in card.told


def test_of_too_few_or_equal_scores_no_correlation_is_given():
    assert correlate_ranks([1.0, 2.0], [1.0, 2.0]) is None
    assert correlate_ranks([1.0] * 6, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) is None
    assert "2 methods have too few different scores" in describe_correlation("P@k and EDS", None, 2)


def test_the_markdown_has_both_kinds_and_stays_short():
    text = render_markdown(collect([("a", IMAGES), ("b", TEXTS)]))
    assert "### Verification" not in text
    assert re.search(r"\| dsprites square \| 0\.\d\d \[0\.\d\d, 0\.\d\d\] / 0\.\d\d / 0\.\d\d \|", text)
    assert text.count("| 10 + 10 (6) |") == 6
    assert "**lstm toy single · against placebo**" in text
    assert text.count("<details><summary>4 more</summary>") == 2
    assert text.endswith("Every case passed.\n")


def test_pictures_that_are_none_are_refused_in_one_line(tmp_path, capsys):
    for wrong in ("data:text/html,<script>", 'data:image/png;base64,"onerror='):
        text = json.dumps(IMAGES)
        picture = IMAGES["exhibits"]["dsprites-square-heatmap"]["examples"][0]["picture"]
        path = tmp_path / "a.json"
        path.write_text(text.replace(json.dumps(picture), json.dumps(wrong)), encoding="utf-8")
        assert main([str(path), "--html", str(tmp_path / "page.html")]) == 1
        [line] = capsys.readouterr().err.splitlines()
        assert "exhibit of dsprites-square-heatmap: its examples are not pictures" in line


@pytest.mark.parametrize("content", ["divergence: [{source: p}]", "patterns: [{source: p, said: a, axis: explainer}]"])
def test_published_rows_that_lack_something_are_one_line(tmp_path, capsys, content):
    report, published = tmp_path / "a.json", tmp_path / "p.yaml"
    report.write_text(json.dumps(TEXTS), encoding="utf-8")
    published.write_text(f"sources: {{p: Somebody}}\nnumbers: []\n{content}\n", encoding="utf-8")
    assert main([str(report), "--html", str(tmp_path / "page.html"), "--published", str(published)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert "an entry of `divergence` or `patterns` lacks" in line


def test_merged_reports_keep_the_pictures_of_the_first():
    first, second = make_image_report(["dsprites"], ["stripe"]), make_image_report(["dsprites"], ["stripe"], seeds=[1])
    merged = merge_reports([first, second], ["first", "second"])
    assert merged["exhibits"] == first["exhibits"]
    assert collect([("merged", merged)]).images[0].exhibits["heatmap"]["seed"] == 0


def test_eighteen_cases_of_large_pictures_are_under_five_megabytes():
    report = make_image_report()
    for shown in report["exhibits"].values():
        for example in shown["examples"]:
            # A picture of twelve noisy images in colour has as many signs; most are far smaller.
            example["picture"] = f"data:image/png;base64,{'A' * 30_000}"
    assert len(show(report)) < 5_000_000


@pytest.mark.parametrize("kind", ["divergence", "text_divergence"])
def test_the_schema_is_documented_field_by_field(kind):
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    for fields in FIELDS[kind]:
        for name, field in fields.items():
            optional = " or null" if field.optional else ""
            assert f"| `{name}` | {field.type.__name__}{optional} | {field.meaning} |" in text
