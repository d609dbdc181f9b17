"""The report of real pytest runs: every selected case has an outcome, failing cases keep numbers, JSON is strict."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fixtures.schema import CASE_FIELDS, SALIENCE_FIELDS, check_row
from tests.suites import CASES, CELL, row, write_suite

ROOT = Path(__file__).parent.parent


def read_strictly(path: Path):
    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


@pytest.fixture
def suite(tmp_path):
    """A suite of nine cases whose bodies are given by name, run in a process of its own."""
    return write_suite(tmp_path)


def outcomes(report):
    return {case["id"].rsplit("-", 1)[-1]: (case["outcome"], case["reason"]) for case in report["cases"]}


def test_every_selected_case_has_an_outcome_and_a_failing_case_its_numbers(suite, run_pytest, tmp_path):
    report = tmp_path / "report.json"
    done = run_pytest(*suite, *CASES, "--benchmark-json", report, BODIES="fail,skip,break,stop,plain")
    assert done.returncode == 1, done.stdout
    content = read_strictly(report)
    found = outcomes(content)
    assert found["random"][0] == "failed"
    assert "P@k = 0.1" in found["random"][1]
    assert found["grad_l1.logit"] == ("skipped", "not verified: synthetic_accuracy = 0.5")
    assert found["grad_l1.prob"] == ("error", "the hub is not there")
    assert found["grad_l2.logit"] == ("failed", "no sentence is left")
    assert found["grad_l2.prob"] == ("passed", "")
    assert len(found) == 9
    rows = {row["extra_info"]["salience"]: row["extra_info"] for row in content["benchmarks"]}
    assert rows["random"]["precision_at_k"] == 0.1
    assert rows.keys() & {"grad_l1.logit", "grad_l2.logit"} == set()
    assert content["schema_version"] == 3
    assert len(content["matrix_hash"]) == 64
    assert content["versions"]["pytest"] == pytest.__version__
    assert "node" not in content["machine_info"]


def test_rows_hold_the_four_words_as_parameters(suite, run_pytest, tmp_path):
    report = tmp_path / "report.json"
    run_pytest(*suite, *CELL, "-k", "random", "--benchmark-json", report)
    [benchmark] = read_strictly(report)["benchmarks"]
    words = {"model": "lstm", "dataset": "tomatoes", "shortcut": "op", "salience": "random"}
    assert benchmark["params"] == words


def test_a_run_without_rows_still_reports_its_outcomes(suite, run_pytest, tmp_path):
    report = tmp_path / "report.json"
    report.write_text("an old report")
    bodies = ",".join(["break"] * 9)
    done = run_pytest(*suite, *CASES, "--benchmark-json", report, BODIES=bodies)
    assert done.returncode == 1
    assert {outcome for outcome, _ in outcomes(read_strictly(report)).values()} == {"error"}


def test_an_interrupted_run_reports_what_was_not_run(suite, tmp_path):
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "pytest", *map(str, suite), *CASES, "--benchmark-json", str(report)]
    environment = os.environ | {"BODIES": "plain,wait", "READY": str(tmp_path / "ready")}

    def hear_interrupts():
        # A process that a shell started in the background inherits deafness to them.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, preexec_fn=hear_interrupts
    ) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "ready").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=90)
    assert process.returncode == 2
    found = outcomes(read_strictly(report))
    assert found["random"] == ("passed", "")
    assert found["grad_l1.logit"] == ("error", "not run: the session ended during the case")
    assert found["gxi.prob"] == ("error", "not run: the session ended before")


def test_a_plain_test_beside_the_cases_is_left_alone(suite, run_pytest, tmp_path):
    report = tmp_path / "report.json"
    done = run_pytest(*suite, "-k", "nothing_special", "--benchmark-json", report)
    assert done.returncode == 0, done.stdout
    assert read_strictly(report)["cases"] == []


@pytest.mark.parametrize("options", [("-n", "2"), ("--benchmark-disable",)])
def test_a_report_that_would_stay_empty_is_a_usage_error(suite, run_pytest, tmp_path, options):
    done = run_pytest(*suite, "--benchmark-json", tmp_path / "report.json", *options)
    assert done.returncode == 4
    assert "--benchmark-json writes nothing under" in done.stderr
    assert not (tmp_path / "report.json").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"precision_at_k": float("nan")}, "precision_at_k = nan is not finite"),
        ({"n_examples": 3.0}, "n_examples = 3.0 is no plain int"),
        ({"surprise": 1}, "fields surprise are missing or not in the schema"),
    ],
)
def test_a_row_that_breaks_the_schema_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        check_row(row() | change)


def test_numpy_numbers_and_missing_fields_are_refused():
    import numpy as np

    with pytest.raises(ValueError, match="no plain float"):
        check_row(row() | {"precision_at_k": np.float64(0.5)})
    short = row()
    del short["mean_rank"]
    with pytest.raises(ValueError, match="fields mean_rank are missing"):
        check_row(short)


def test_the_schema_is_documented_field_by_field():
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    for name, field in (CASE_FIELDS | SALIENCE_FIELDS).items():
        kind = field.type.__name__ + (" or null" if field.optional else "")
        assert f"| `{name}` | {kind} | {field.meaning} |" in text
