"""The page and the Markdown as files: whole, small, the same each time, safe, readable; wrong input is one line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fixtures.report.__main__ import PUBLISHED, main
from fixtures.report.answers import rank_subject
from fixtures.report.markdown import render_markdown
from fixtures.report.pages import render_page
from fixtures.report.reading import collect
from tests.reports import fail, make_report

ROOT = Path(__file__).parent.parent
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
VOID = {"meta", "link", "input", "br", "img"}


class Page(HTMLParser):
    """Elements of a page with their attributes and texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.texts.setdefault(tag, []).append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1]][-1] += data

    def named(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def make_evil():
    """A report in which everything that comes from a user is an attack."""
    report = make_report(only=["grad_l2.logit", "gxi.logit", "ig_zero.100.logit"])
    text = json.dumps(fail(report, "bert-toy-op", f"bad {EVIL}", scored=True))
    text = text.replace("word1", json.dumps(EVIL)[1:-1]).replace("gxi.logit", f"gxi{json.dumps(EVIL)[1:-1]}")
    return json.loads(text.replace("CC0", json.dumps(EVIL)[1:-1]))


@pytest.fixture(scope="module")
def page():
    return Page(render_page(collect([(EVIL, make_evil())]), PUBLISHED))


def test_what_comes_from_data_is_shown_as_text_and_never_run(page):
    assert [attributes.get("id") for attributes in page.named("script")] == ["exhibits", None]
    assert page.named("img") == []
    shown = json.loads(page.texts["script"][0])
    assert EVIL in shown[0]["texts"][0]["tokens"]
    assert f"gxi{EVIL}" in shown[0]["scores"]
    for tag in ("td", "h3", "p"):
        assert any(EVIL in text for text in page.texts[tag]), tag
    assert any(text.startswith("gxi</script><script>") for text in page.texts["text"])


def test_nothing_is_fetched(page):
    for _, attributes in page.elements:
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), attributes
    assert page.named("iframe") == page.named("base") == []
    assert "@import" not in page.texts["style"][0]
    assert not re.search(r"url\((?!#)", page.texts["style"][0])


def test_the_one_script_is_the_one_that_the_policy_allows(page):
    from fixtures.report.pages import hash_script

    [policy] = [meta["content"] for meta in page.named("meta") if "http-equiv" in meta]
    assert f"script-src '{hash_script(page.texts['script'][1])}'" in policy


def test_tables_charts_and_fields_have_names(page):
    assert page.named("html") == [{"lang": "en"}]
    assert len(page.named("caption")) == len(page.named("table"))
    assert all(header["scope"] in ("col", "row", "colgroup") for header in page.named("th"))
    assert all(chart["role"] == "img" and chart["aria-label"] for chart in page.named("svg"))
    assert all(area["tabindex"] == "0" and area["aria-label"] for area in page.named("div") if "role" in area)
    identifiers = Counter(attributes["id"] for _, attributes in page.elements if attributes.get("id"))
    assert set(identifiers.values()) == {1}
    pointed = [attributes["aria-labelledby"] for _, attributes in page.elements if "aria-labelledby" in attributes]
    assert set(pointed) <= identifiers.keys()


def test_charts_take_their_colours_from_the_page(page):
    drawn = " ".join(
        str(attributes.get("style")) for name, attributes in page.elements if name in ("path", "text", "use")
    )
    assert "var(--series-1)" in drawn
    assert not re.search(r"#[0-9a-f]{6}", drawn)


def test_every_number_is_there_without_a_script():
    report = make_report(only=["grad_l2.logit", "ig_zero.100.logit", "ig_zero.1k.logit"], shortcuts=["op"])
    report["benchmarks"][1]["extra_info"] |= {"precision_at_k": 0.8125, "mean_rank": 3.25}
    page = Page(render_page(collect([("a", report)]), PUBLISHED))
    assert {"0.81", "0.50"} <= set(page.texts["b"])
    assert "3.2 #1" in page.texts["small"]
    for value in ("97009b9, with uncommitted changes", "seed 0", "ab12", "matched", "torch 2.13.0"):
        assert value in page.texts["dd"]


def test_the_full_matrix_on_four_data_sets_is_under_five_megabytes(tmp_path):
    report = make_report(
        datasets=["tomatoes", "sst2", "imdb", "toxicity"], shortcuts=["single", "tic", "op"], models=["bert", "lstm"]
    )
    assert len(report["benchmarks"]) == 4 * 252
    collection = collect([("a", report)])
    assert len(render_page(collection, PUBLISHED).encode()) < 5_000_000
    # GitHub refuses a comment of more.
    assert len(render_markdown(collection)) < 65_536


def test_the_same_reports_give_the_same_bytes(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(make_report()), encoding="utf-8")
    pages = []
    for salt in ("1", "2"):
        arguments = [path, "--html", tmp_path / f"{salt}.html", "--markdown", tmp_path / f"{salt}.md"]
        subprocess.run(
            [sys.executable, "-m", "fixtures.report", *map(str, arguments)],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": salt},
            check=True,
            capture_output=True,
        )
        pages.append([(tmp_path / f"{salt}.{kind}").read_bytes() for kind in ("html", "md")])
    assert pages[0] == pages[1]


def test_the_markdown_has_verdict_verification_ranking_and_failures():
    text = render_markdown(collect([("a", fail(make_report(), "bert-toy-op", "low | <b>", scored=False))]))
    assert text.startswith("**94 cases: 47 passed, 1 failed, 46 skipped**\n\nNot verified: bert-toy-op\n")
    assert "| bert-toy-op | 0.500 |" in text
    assert "| 1 | grad_l1.logit | 1.00 [" in text
    assert "<details><summary>41 more</summary>" in text
    assert "- failed: bert-toy-op: low \\| &lt;b&gt; rerun: pytest" in text
    assert re.search(r"- skipped: bert-toy-op-random and 45 more: not verified", text)


def test_a_report_without_any_score_is_still_a_page():
    report = make_report(only=["random"], shortcuts=["op"])
    empty = report | {"benchmarks": [], "exhibits": {}}
    page = Page(render_page(collect([("a", empty)]), PUBLISHED))
    assert "Nothing was scored." in page.texts["p"]
    assert "Nothing was scored." in render_markdown(collect([("a", empty)]))


SMALL = json.dumps(make_report(only=["random"]))

WRONG = {
    "half-written": ('{"cases": [', "not a whole report"),
    "other schema": ('{"schema_version": 2}', "schema version 2, this suite reads 3; run it again"),
    "no report": ("[1, 2]", "not a report of this suite"),
    "numbers": (
        json.dumps(make_report(only=["random"])).replace('"precisions": "', '"precisions": "x'),
        "run it again",
    ),
    "seeds": (json.dumps(json.loads(SMALL) | {"seeds": ["0"]}), "seeds are"),
    "cases": (json.dumps(json.loads(SMALL) | {"cases": [{}]}), "run it again"),
    "exhibits": (json.dumps(json.loads(SMALL) | {"exhibits": {"a": 1}}), "run it again"),
    "old": (json.dumps(json.loads(SMALL) | {"schema_version": 2}), "schema version 2"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_cannot_be_used_is_one_line(tmp_path, capsys, name):
    content, said = WRONG[name]
    path = tmp_path / "wrong.json"
    path.write_text(content, encoding="utf-8")
    assert main([str(path), "--html", str(tmp_path / "page.html")]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"report: {path}: ")
    assert said in line
    assert not (tmp_path / "page.html").exists()


def test_other_mistakes_are_one_line_too(tmp_path, capsys):
    good, page = tmp_path / "a.json", tmp_path / "page.html"
    good.write_text(json.dumps(make_report(only=["random"], shortcuts=["op"])), encoding="utf-8")
    (tmp_path / "p.yaml").write_text("numbers: [{}]\nsources: {}", encoding="utf-8")
    for arguments, said in (
        ([tmp_path / "none.json", "--html", page], "No such file"),
        (
            [tmp_path, "--html", page],
            "this is a folder; name the report in it, a path with blanks in quotes of its own",
        ),
        ([good, "--html", tmp_path / "no" / "page.html"], "name a file in a folder that exists"),
        ([good, "--html", tmp_path], "cannot be written"),
        ([good, "--html", page, "--published", tmp_path / "p.yaml"], "an entry of `numbers` lacks"),
        ([good, "--html", page, "--published", tmp_path / "none.yaml"], "published numbers: "),
        ([good, good, "--html", page], "too; show one of the two"),
    ):
        assert main(list(map(str, arguments))) == 1
        [line] = capsys.readouterr().err.splitlines()
        assert said in line
    with pytest.raises(SystemExit, match="2"):
        main([str(good)])
    assert list(tmp_path.glob("*.partial")) == []


def test_a_method_whose_cost_is_not_known_comes_last_among_equals():
    report = make_report(only=["random", "grad_l1.logit", "grad_l2.logit"], shortcuts=["op"])
    for row in (benchmark["extra_info"] for benchmark in report["benchmarks"]):
        if row.get("salience") == "grad_l1.logit":
            row |= {"family": "outside", "forward_passes": 0.0}
    collection = collect([("a", report)])
    ranked = rank_subject(collection.subjects[0]).ranked
    assert [(answer.place, answer.method) for answer in ranked] == [(1, "grad_l2.logit"), (1, "grad_l1.logit")]
    assert "not known" in Page(render_page(collection, PUBLISHED)).texts["td"]
    assert "| not known |" in render_markdown(collection)
