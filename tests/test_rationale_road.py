"""The road of a rationale case in processes of its own: sentences, model, sweep, feeding, rows, gate, merging."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from copy import deepcopy
from types import SimpleNamespace

import pytest

from benchmarks.matrix import load_matrix
from fixtures.aggregation import aggregate_runs
from fixtures.cases import MATRIX
from fixtures.merging import merge_reports
from fixtures.rationale_strings import read_hits, read_marked, read_numbers
from fixtures.rationales.plugin import is_meant
from fixtures.reports import ReportError
from fixtures.schema import FIELDS, LISTS, check_row
from tests.conftest import ROOT
from tests.tiny_rationales import FRESH, NAME, SEEN, STRANGE, write_overlay, write_rationales

CELL = f"lstm-{NAME}"
METHODS = ("random", "oracle.best", "gxi.logit", "ig_zero.100.logit", "lime_unk.100", "lime_unk.1k")
AMOUNTS = {"ig_zero.100.logit": 4, "lime_unk.100": 8, "lime_unk.1k": 3}
SELECTION = f"{NAME} and ({' or '.join(METHODS)})"


@pytest.fixture(scope="module")
def options(world, tmp_path_factory):
    """Of a run in the tiny world with a corpus of rationales, and its zoo."""
    folder = tmp_path_factory.mktemp("rationales")
    shutil.copytree(world / "data", folder / "data")
    write_rationales(folder / "data", world / "data" / "toy" / "train.jsonl")
    return [
        *("--profile", "tiny", "--matrix", world / "tiny.yaml", "--matrix", write_overlay(folder)),
        *("--data-dir", folder / "data", "--zoo", folder / "zoo", "--device", "cpu"),
    ]


@pytest.fixture(scope="module")
def road(options, run_pytest, tmp_path_factory):
    """A first run, and a second one from the cache behind the gate of the first."""
    folder = tmp_path_factory.mktemp("road")
    words = ("benchmarks", "-k", SELECTION, *options)
    first = run_pytest(*words, "--benchmark-json", folder / "first.json")
    assert first.returncode == 0, first.stdout + first.stderr
    accept = [sys.executable, "-m", "fixtures.gate", folder / "first.json", folder / "base.json"]
    subprocess.run(accept, cwd=ROOT, check=True)
    second = run_pytest(*words, "--benchmark-json", folder / "second.json", "--gate", folder / "base.json")
    assert second.returncode == 0, second.stdout + second.stderr
    return folder, first, second


def read_report(path):
    return json.loads(path.read_text(encoding="utf-8"))


def read_rows(path, measure):
    rows = [benchmark["extra_info"] for benchmark in read_report(path)["benchmarks"]]
    return {row["salience"]: row for row in rows if row["measure"] == measure}


@pytest.mark.parametrize("measure", ["plausibility", "faithfulness"])
def test_every_method_has_a_whole_row_on_sentences_that_the_model_never_saw(road, measure):
    rows = read_rows(road[0] / "first.json", measure)
    assert set(rows) == set(METHODS)
    for name, row in rows.items():
        assert row.keys() == FIELDS[measure][0].keys()
        assert all(entry.keys() == LISTS[measure]["grid"].keys() for entry in row["grid"])
        assert row["n_sentences"] == AMOUNTS.get(name, 20) == len(read_marked(row["sentences"]))
        assert (row["dropped_overlaps"], row["dropped_splits"], row["trained_on"]) == (SEEN, STRANGE, "toy")
        assert [entry["epsilon"] for entry in row["grid"]][:2] == [0.1, 0.5]
        assert {entry["difficulty"] for entry in row["by_difficulty"]} <= {1, 2}
        assert sum(entry["sentences"] for entry in row["by_difficulty"]) == row["n_sentences"]
    whole = read_marked(rows["gxi.logit"]["sentences"])
    assert len(whole) == 20 < FRESH
    assert rows["lime_unk.1k"]["sentences"] == " ".join(rows["gxi.logit"]["sentences"].split()[:3])


def test_what_people_marked_is_the_most_plausible_explanation_and_fed_alike(road):
    best = read_rows(road[0] / "first.json", "plausibility")["oracle.best"]
    assert [best[name] for name in ("precision", "recall", "fallout", "average_precision", "token_f1")] == [
        1.0,
        1.0,
        0.0,
        1.0,
        1.0,
    ]
    unmarked = sum(not row.join("union") for row in read_marked(best["sentences"]))
    assert 0 < unmarked == best["undefined_precision"] == best["undefined_recall"]
    fed = read_rows(road[0] / "first.json", "faithfulness")["oracle.best"]
    assert fed["explanation_accuracy"] == fed["union_accuracy"]
    assert (fed["unfed"], fed["unmarked"]) == (unmarked, unmarked)


def test_the_tiny_model_is_explained_by_the_word_that_decides(road):
    plausible, faithful = (read_rows(road[0] / "first.json", name) for name in ("plausibility", "faithfulness"))
    assert plausible["gxi.logit"]["average_precision"] > plausible["random"]["average_precision"] + 0.1
    assert faithful["gxi.logit"]["full_accuracy"] > 0.8
    hits = read_hits(faithful["gxi.logit"]["runs"][0]["explanation_hits"])
    assert [len(group) for group in hits] == [20, 20]
    sizes = read_numbers(faithful["gxi.logit"]["runs"][0]["sizes"])
    assert all(more >= fewer for more, fewer in zip(*sizes, strict=True))


def test_a_second_run_makes_nothing_and_gives_the_same_numbers(road):
    folder, first, second = road
    for measure in ("plausibility", "faithfulness"):
        assert read_rows(folder / "first.json", measure) == read_rows(folder / "second.json", measure)
    assert "training" not in second.stderr
    assert "12 cases compared with the baseline, 0 vanished" in second.stdout
    assert f"{CELL}: 12 cases, at most 3 to 20 sentences each; 1 model to train on toy" in first.stderr
    assert f"{CELL}: epsilon 0.1, any annotator's words; accuracy on 20 sentences:" in first.stdout
    table = [sys.executable, "-m", "fixtures.table", folder / "first.json"]
    markdown = subprocess.run(table, cwd=ROOT, capture_output=True, text=True, check=True)
    assert all(f"| {name} | {AMOUNTS.get(name, 20)} | " in markdown.stdout for name in METHODS)


def test_what_got_worse_fails_the_gate(road, options, run_pytest):
    folder = road[0]
    baseline = read_report(folder / "base.json")
    name = f"{CELL}-gxi.logit-faithfulness"
    baseline["cases"][name]["explanation_accuracy"] |= {"accepted": 1.5, "tolerance": 0.1}
    (folder / "strict.json").write_text(json.dumps(baseline), encoding="utf-8")
    done = run_pytest("benchmarks", "-k", f"{NAME} and gxi.logit", *options, "--gate", folder / "strict.json")
    assert done.returncode == 1
    assert f"{name}: explanation_accuracy = " in done.stdout
    assert "1 failed, 1 passed" in done.stdout


def test_reports_of_two_seeds_merge_into_the_row_of_one_run(road):
    report = read_report(road[0] / "first.json")
    other = deepcopy(report) | {"seeds": [1]}
    for benchmark in other["benchmarks"]:
        row = benchmark["extra_info"]
        run = row["runs"][0] | {"seed": 1}
        if row["measure"] == "faithfulness":
            run |= {"explanation_hits": run["random_hits"]}
        benchmark["extra_info"] = aggregate_runs(row, [run])
    merged = merge_reports([report, other], ["first", "other"])
    for benchmark, one, two in zip(merged["benchmarks"], report["benchmarks"], other["benchmarks"], strict=True):
        joined, first, second = benchmark["extra_info"], one["extra_info"], two["extra_info"]
        check_row(joined)
        assert joined == aggregate_runs(first, [*first["runs"], *second["runs"]])
        assert joined["seeds"] == [0, 1]
        if joined["measure"] == "faithfulness" and not first["unfed"]:
            mean = (first["explanation_accuracy"] + first["random_accuracy"]) / 2
            assert joined["explanation_accuracy"] == pytest.approx(mean)
    other["benchmarks"][0]["extra_info"]["sentences"] += " 3/1/1/1/-"
    with pytest.raises(ReportError, match="sentences is"):
        merge_reports([report, other], ["first", "other"])


def collect(run_pytest, options, *words):
    lines = run_pytest("--collect-only", "-q", *words, *options).stdout.splitlines()
    return [line for line in lines if "test_plausibility[" in line]


def test_cases_are_the_methods_that_the_sentences_afford(run_pytest, options):
    listed = collect(run_pytest, options, "benchmarks", "-k", "plausibility")
    # random, oracle, gradient 8, integrated gradients 6, LIME and KernelSHAP 5, occlusion 2, attention.
    assert len(listed) == 24
    assert any(f"[lstm-{NAME}-kernelshap.1k]" in line for line in listed)
    assert not any(word in line for line in listed for word in ("anti", "ig_zero.1k", "3k", "mask", "anchors"))


def test_a_corpus_that_is_not_there_is_one_line(run_pytest, options, world):
    own = [world / "data" if str(word).endswith("data") else word for word in options]
    done = run_pytest("benchmarks/test_plausibility.py", "-k", "gxi.logit", *own)
    assert done.returncode == 1
    missing = f"no file in {world / 'data' / NAME}; put all, train, val, dev or test there"
    assert f"{CELL}: rationale corpus '{NAME}': {missing}" in done.stdout


LOST = {
    "seen in training": (lambda rows: rows[:SEEN], f"{SEEN} are training texts of toy; train on another data set"),
    "of other splits": (lambda rows: rows[-STRANGE:], f"{STRANGE} are of splits that are not judged; name theirs in"),
    "beyond the words": (
        lambda rows: [row | {"difficulty": 4} for row in rows[-9:-4]],
        "5 have difficulty 4, which no",
    ),
    "of other labels": (
        lambda rows: [row | {"annotator_labels": [1 - row["label"]] * 2} for row in rows[-9:-4]],
        "Left out before: 10 rationales and 5 sentences with another label",
    ),
    "with the shortcut": (
        lambda rows: [row | {"tokens": [*row["tokens"], "indicator0"]} for row in rows[-9:-4]],
        "shortcut tokens occur in the corpus: indicator0 (5 times)",
    ),
}


@pytest.mark.parametrize("name", LOST)
def test_a_model_that_may_be_judged_on_no_sentence_says_why(run_pytest, options, world, tmp_path, name):
    choose, expected = LOST[name]
    shutil.copytree(world / "data", tmp_path / "data")
    path = write_rationales(tmp_path / "data", world / "data" / "toy" / "train.jsonl") / "all.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("\n".join(map(json.dumps, choose(rows))) + "\n", encoding="utf-8")
    own = [tmp_path / "data" if str(word).endswith("data") else word for word in options]
    done = run_pytest("benchmarks/test_plausibility.py", "-k", "gxi.logit", *own)
    assert done.returncode == 1
    assert f"{CELL}: " in done.stdout
    assert expected in done.stdout


@pytest.mark.parametrize(
    ("words", "keyword", "marks", "expected"),
    [
        (["benchmarks"], "", "", True),
        (["benchmarks"], "bert and tomatoes", "", False),
        (["benchmarks"], "", "case(model='lstm')", False),
        (["benchmarks"], "bert and tomatoes_lexicon", "", True),
        (["benchmarks"], "lstm and plausibility", "", True),
        (["benchmarks"], "not anchors and not use", "", True),
        (["benchmarks"], "bert and not op", "", False),
        (["benchmarks/test_faithfulness.py"], "lstm", "", True),
        (["benchmarks"], "", "case(measure='faithfulness', model='lstm')", True),
    ],
)
def test_a_run_is_about_rationales_where_it_says_so(words, keyword, marks, expected):
    values = {"keyword": keyword, "markexpr": marks}
    assert is_meant(SimpleNamespace(args=words, getoption=values.get, stash={MATRIX: load_matrix()})) is expected
