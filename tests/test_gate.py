"""The gate in real runs: a regression fails its case, a vanished case fails the run, a wrong baseline is refused."""

from __future__ import annotations

import json

import pytest

from fixtures.gate import make_baseline
from tests.suites import CASES, CELL, write_suite

RUN = CASES


@pytest.fixture(scope="module")
def accepted(run_pytest, tmp_path_factory):
    """Suite arguments and the baseline of a run in which every P@k is 0.9."""
    folder = tmp_path_factory.mktemp("gate")
    suite, report = write_suite(folder), folder / "report.json"
    done = run_pytest(*suite, *RUN, "--benchmark-json", report)
    assert done.returncode == 0, done.stdout
    baseline = make_baseline(json.loads(report.read_text()))
    path = folder / "baseline.json"
    path.write_text(json.dumps(baseline))
    return suite, path, baseline


def change(path, baseline, tmp_path, **values):
    changed = tmp_path / "baseline.json"
    changed.write_text(json.dumps(baseline | values))
    return changed


def test_an_equal_run_passes(accepted, run_pytest):
    suite, path, _ = accepted
    done = run_pytest(*suite, *RUN, "--gate", path)
    assert done.returncode == 0, done.stdout
    assert "9 cases compared with the baseline, 0 vanished" in done.stdout


def test_a_case_that_got_worse_fails_by_itself(accepted, run_pytest):
    # The interval of the made-up row starts at 0.5, so 0.4 is its own tolerance.
    suite, path, _ = accepted
    assert run_pytest(*suite, *RUN, "--gate", path, PRECISION="0.55").returncode == 0
    done = run_pytest(*suite, *RUN, "--gate", path, PRECISION="0.45")
    assert done.returncode == 1
    assert "9 failed" in done.stdout
    assert (
        "precision_at_k = 0.4500 [0.5000, 0.5000], wanted at least 0.5000 (accepted 0.9000 [0.5000, 0.5000] at"
        in done.stdout
    )
    assert 'rerun: pytest "' in done.stdout


def test_a_case_that_left_the_matrix_fails_the_run(accepted, run_pytest, tmp_path):
    suite, path, baseline = accepted
    cases = baseline["cases"] | {"lstm-tomatoes-op-old": {"precision_at_k": {"accepted": 0.9, "tolerance": 0.1}}}
    done = run_pytest(*suite, *RUN, "--gate", change(path, baseline, tmp_path, cases=cases))
    assert done.returncode == 1
    assert "9 passed" in done.stdout
    assert "VANISHED lstm-tomatoes-op-old: accepted in the baseline, not in the matrix any more" in done.stdout


def test_a_case_that_is_skipped_now_fails_the_run(accepted, run_pytest):
    suite, path, _ = accepted
    done = run_pytest(*suite, *RUN, "--gate", path, BODIES="plain,skip")
    assert done.returncode == 1
    assert (
        "lstm-tomatoes-op-grad_l1.logit: accepted in the baseline, no numbers now (skipped: not verified" in done.stdout
    )


def test_a_case_that_was_not_selected_has_not_vanished(accepted, run_pytest):
    suite, path, _ = accepted
    assert run_pytest(*suite, *CELL, "-k", "gxi", "--gate", path).returncode == 0


def test_a_new_case_is_named_and_not_gated(accepted, run_pytest, tmp_path):
    suite, path, baseline = accepted
    cases = {name: bound for name, bound in baseline["cases"].items() if not name.endswith("random")}
    done = run_pytest(*suite, *RUN, "--gate", change(path, baseline, tmp_path, cases=cases))
    assert done.returncode == 0
    assert "not in the baseline, not gated (`make baseline` accepts): lstm-tomatoes-op-random" in done.stdout


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"seeds": [7]}, "its seeds is [7], this run's is [0]"),
        ({"profile": "paper"}, "its profile is 'paper'"),
        ({"embedding_init": "default"}, "its embedding_init is 'default'"),
        ({"cases": {}}, "not a baseline"),
    ],
)
def test_a_baseline_of_another_run_is_refused(accepted, run_pytest, tmp_path, values, message):
    suite, path, baseline = accepted
    done = run_pytest(*suite, *RUN, "--gate", change(path, baseline, tmp_path, **values))
    assert done.returncode == 4
    assert message in done.stderr


def test_a_missing_or_broken_baseline_is_refused(accepted, run_pytest, tmp_path):
    suite, _, _ = accepted
    (tmp_path / "broken.json").write_text("[")
    for name in ("missing.json", "broken.json"):
        done = run_pytest(*suite, "--gate", tmp_path / name)
        assert done.returncode == 4
        assert name in done.stderr


def test_the_gate_refuses_xdist(accepted, run_pytest):
    suite, path, _ = accepted
    done = run_pytest(*suite, *RUN, "--gate", path, "-n", "2")
    assert done.returncode == 4
    assert "--gate does not work under xdist" in done.stderr


def test_failed_cases_are_not_accepted(accepted):
    _, _, baseline = accepted
    assert len(baseline["cases"]) == 9
    assert baseline["commit"]
    with pytest.raises(ValueError, match="no passed case"):
        make_baseline({"cases": [], "benchmarks": []})
