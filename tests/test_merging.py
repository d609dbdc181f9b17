"""Merged reports: seeds of one case become the row that one run writes; shards are joined; mixtures are refused."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.merging import merge_reports
from fixtures.reports import ReportError, read_report

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def runs(world, run_pytest, tmp_path_factory):
    """Reports of `lstm and single` with gradients: seed 1, seed 2, both, and both in two shards."""
    folder = tmp_path_factory.mktemp("merge")
    paths = {}
    for name, seeds, selection in (
        ("one", "1", "grad or gxi or verification"),
        ("two", "2", "grad or gxi or verification"),
        ("both", "1,2", "grad or gxi or verification"),
        ("left", "1,2", "grad or verification"),
        ("right", "1,2", "gxi"),
    ):
        paths[name] = folder / f"{name}.json"
        run_pytest(
            *("benchmarks", "-k", f"lstm and single and ({selection})", "--profile", "tiny", "--seeds", seeds),
            *("--matrix", world / "tiny.yaml", "--data-dir", world / "data", "--zoo", folder / "zoo"),
            *("--benchmark-json", paths[name]),
        )
    return paths


def read(path):
    return read_report(path)


def rows(report):
    """Rows without what the clock decides."""
    kept = {}
    for benchmark in report["benchmarks"]:
        row = copy.deepcopy(benchmark["extra_info"])
        for one in (row, *row["runs"]):
            one.pop("seconds_alone", None)
            one.pop("family_seconds", None)
        kept["-".join(row[axis] for axis in ("model", "shortcut", "salience") if axis in row)] = row
    return kept


def test_two_seeds_merged_are_the_run_of_both(runs):
    merged = merge_reports([read(runs["one"]), read(runs["two"])], ["one", "two"])
    whole = read(runs["both"])
    assert rows(merged) == rows(whole)
    assert merged["seeds"] == whole["seeds"] == [1, 2]
    assert [case["id"] for case in merged["cases"]] == [case["id"] for case in whole["cases"]]


def test_two_shards_merged_are_the_whole_run(runs):
    merged = merge_reports([read(runs["left"]), read(runs["right"])], ["left", "right"])
    whole = read(runs["both"])
    assert rows(merged) == rows(whole)
    assert merged["exhibits"] == whole["exhibits"]
    assert merged["merged_from"][1]["report"] == "right"


def test_a_row_of_two_seeds_says_how_far_they_are_apart(runs):
    row = rows(read(runs["both"]))["lstm-single-gxi.logit"]
    single = [rows(read(runs[name]))["lstm-single-gxi.logit"]["precision_at_k"] for name in ("one", "two")]
    assert row["seeds"] == [1, 2]
    assert row["precision_at_k"] == pytest.approx(sum(single) / 2, abs=1e-5)
    assert row["precision_at_k_deviation"] == pytest.approx(abs(single[0] - single[1]) / 2**0.5, abs=1e-5)
    assert row["precision_at_k_low"] <= row["precision_at_k"] <= row["precision_at_k_high"]
    assert len(row["runs"]) == 2
    assert row["runs"][0]["model_key"] != row["runs"][1]["model_key"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"matrix_hash": "0" * 64}, "b: its matrix_hash is"),
        ({"versions": {"torch": "1.0"}}, "b: its versions is"),
        ({"profile": "paper"}, "b: its profile is 'paper'"),
        ({"embedding_init": "default"}, "b: its embedding_init is 'default'"),
        ({"commit_info": {"id": "another"}}, "b: its commit is 'another'"),
    ],
)
def test_mixtures_are_refused(runs, change, message):
    first = read(runs["one"])
    with pytest.raises(ReportError, match=message) as caught:
        merge_reports([first, read(runs["two"]) | change], ["a", "b"])
    assert "\n" not in str(caught.value)


def test_a_seed_twice_is_refused(runs):
    report = read(runs["one"])
    with pytest.raises(ReportError, match=r"lstm-toy-single.*: two reports hold its seed 1"):
        merge_reports([report, report], ["a", "a"])


def test_a_seed_of_other_data_is_refused(runs):
    other = read(runs["two"])
    for benchmark in other["benchmarks"]:
        benchmark["extra_info"]["corpus_fingerprint"] = "other"
    with pytest.raises(ReportError, match=r"corpus_fingerprint is .* in one report and 'other' in another"):
        merge_reports([read(runs["one"]), other], ["a", "b"])


def merge(*paths):
    command = [sys.executable, "-m", "fixtures.merging", *map(str, paths)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_command_writes_a_report_and_says_what_is_in_it(runs, tmp_path):
    done = merge(tmp_path / "merged.json", runs["one"], runs["two"])
    assert done.returncode == 0, done.stderr
    assert "rows, seeds [1, 2]" in done.stdout
    assert rows(read(tmp_path / "merged.json")) == rows(read(runs["both"]))


def break_report(path, kind):
    report = json.loads(path.read_text())
    match kind:
        case "half":
            return path.read_text()[:1000]
        case "schema":
            return json.dumps(report | {"schema_version": 2})
        case "other":
            return json.dumps({"benchmarks": []})
        case "list":
            return "[]"
        case "row":
            del report["benchmarks"][0]["extra_info"]["runs"]
            return json.dumps(report)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("half", "not a whole report"),
        ("schema", "schema version 2, this suite reads 3; run it again"),
        ("other", "not a report of this suite, it has no schema_version"),
        ("list", "not a report of this suite"),
        ("row", "fields runs are missing or not in the schema"),
    ],
)
def test_a_broken_report_is_one_line(runs, tmp_path, kind, message):
    broken = tmp_path / "broken.json"
    broken.write_text(break_report(runs["one"], kind))
    done = merge(tmp_path / "merged.json", runs["two"], broken)
    assert done.returncode == 4
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "merged.json").exists()


def test_a_missing_report_is_one_line(tmp_path):
    done = merge(tmp_path / "merged.json", tmp_path / "a.json", tmp_path / "b.json")
    assert "a.json: No such file or directory" in done.stderr


def grid(*names_and_seeds):
    """Made-up reports without rows: case ids and seeds of each."""
    same = {"profile": "p", "embedding_init": "m", "matrix_hash": "0", "versions": {}, "gate_tolerance": 0.1}
    return [
        same
        | {"seeds": seeds, "benchmarks": [], "exhibits": {}}
        | {"cases": [{"id": name, "outcome": outcome, "reason": ""} for name, outcome in names.items()]}
        for names, seeds in names_and_seeds
    ]


def test_a_case_that_was_not_run_at_every_seed_is_refused():
    single, both = {"lstm-a-single": "passed"}, {"lstm-a-single": "passed", "lstm-a-op": "passed"}
    for reports, said in (
        (
            grid((single, [0]), ({"lstm-a-op": "passed"}, [1, 2])),
            "lstm-a-single was not run at seeds 1, 2, other cases",
        ),
        (grid((both, [1]), (single, [2])), "lstm-a-op was not run at seed 2, other cases"),
    ):
        with pytest.raises(ReportError, match=said) as caught:
            merge_reports(reports, ["a", "b"])
        assert "\n" not in str(caught.value)


def test_a_full_grid_is_merged_however_its_cases_ended():
    quarters = grid(*(({name: outcome}, [seed]) for name in "ab" for seed, outcome in ((1, "passed"), (2, "skipped"))))
    merged = merge_reports(quarters, list("1234"))
    assert (merged["seeds"], [case["outcome"] for case in merged["cases"]]) == ([1, 2], ["passed", "passed"])
