"""Every conformance check catches an explainer that makes the mistake it is there for, and none that is right."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
import torch

import fixtures.conformance.bench as running
from benchmarks.matrix import OUTSIDE, load_matrix
from benchmarks.overlays import MatrixError
from fixtures.conformance import CHECKS
from fixtures.conformance.bench import Bench
from fixtures.conformance.failures import read_failures
from fixtures.conformance.plugin import run_check
from fixtures.conformance.promises import check_promises
from fixtures.conformance.worlds import forget_worlds
from fixtures.explaining import Explanation

LOSS = {"answer": "loss", "of": "prob", "reference": "unk"}
INTEGRAL = {"answer": "integral", "of": "logit", "reference": "zero", "within": 0.001, "sums": 0.01}
RIGHT = {"occlude": LOSS, "integrate": INTEGRAL}
BROKEN = [
    ("type_tokens", "forward_parity", "Look at ids, token types"),
    ("drop_mask", "forward_parity", "Look at mask and padding"),
    ("never_look", "forward_parity", "never ran the model"),
    ("turn_sign", "known_answer", "Look at the target class, the sign"),
    ("lose_sign", "known_answer", "Look at the target class, the sign"),
    ("explain_class_1", "known_answer", "predicts class 0"),
    ("mistake_baseline", "known_answer", "the reference"),
    ("turn_sign", "canary", "'alarm' (position 1) must be on top"),
    ("explain_class_1", "canary", "predicts class 0"),
    ("shift_positions", "canary", "positions of the scores"),
    ("never_look", "canary", "on top alone"),
    ("take_one_step", "completeness", "number of steps"),
    ("mistake_baseline", "completeness", "Look at the reference"),
    ("give_specials_a_share", "completeness", "special tokens that take a share"),
    ("rederive_target", "fixed_target", "would leave class 0"),
    ("drop_mask", "padding", "Look at the attention mask"),
    ("scale_by_batch", "company", "maxima over a whole batch"),
    ("seed_by_row", "company", "seeds that depend on the batch"),
    ("merge_words", "repeated_words", "merged by their spelling"),
    ("mask_specials", "special_tokens", "[CLS] as it is"),
    ("replace_strings", "added_tokens", "the added token 'zero'"),
    ("draw_globally", "determinism", "a generator with the text's own seed"),
    ("leave_train_mode", "model_state", "training mode of"),
    ("leave_hook", "model_state", "forward_hooks of"),
    ("leave_frozen", "model_state", "requires_grad of"),
    ("leave_gradients", "model_state", "gradient of"),
    ("leave_attention", "model_state", "attention implementation of"),
    ("leave_weights", "model_state", "weight"),
    ("leave_seed", "process_state", "random state of torch"),
    ("leave_filters", "process_state", "warnings filters"),
    ("leave_patch", "process_state", "LayerNorm.forward"),
    ("divide_by_spread", "one_token", "not finite"),
    ("read_the_start", "full_length", "'alarm' (position 29) must be on top"),
    ("lose_digits", "precision", "bfloat16"),
]


@pytest.fixture(autouse=True)
def clean_process(monkeypatch):
    """Put back what broken explainers leave, and give each of them models of its own."""
    monkeypatch.setattr(torch.nn.LayerNorm, "forward", torch.nn.LayerNorm.forward)
    forget_worlds()
    with torch.random.fork_rng(devices=[]):
        yield
    forget_worlds()


def make_bench(name: str, promise: dict) -> Bench:
    """A bench that knows one explainer of `tests.explainers`."""
    tables = dict(load_matrix().tables)
    tables["salience"] = {name: OUTSIDE | {"variant": f"tests.explainers:{name}"}}
    tables["promises"] = {name: promise}
    return Bench(tables)


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_explainer_passes_every_check(name):
    bench = make_bench(name, RIGHT[name])
    skipped = []
    for check in CHECKS:
        try:
            run_check(bench, name, check)
        except pytest.skip.Exception:
            skipped.append(check)
    assert skipped == (["completeness"] if name == "occlude" else [])


@pytest.mark.parametrize(("name", "check", "message"), BROKEN, ids=[f"{name}-{check}" for name, check, _ in BROKEN])
def test_a_check_catches_a_broken_explainer(name, check, message):
    promise = INTEGRAL if check == "completeness" or name == "mistake_baseline" else LOSS
    with pytest.raises(pytest.fail.Exception) as caught:
        run_check(make_bench(name, promise), name, check)
    assert f"{name}, {check}: " in str(caught.value)
    assert message in str(caught.value)


def test_a_reported_gap_is_measured_again():
    bench = make_bench("mine", {"answer": "integral", "sums": 0.05})
    bench.tables["salience"]["mine"] = load_matrix().tables["salience"]["ig_zero.100.logit"]
    run_check(bench, "mine", "completeness")
    bench = make_bench("mine", {"answer": "integral", "sums": 0.05})
    row = load_matrix().tables["salience"]["ig_zero.100.logit"] | {"gap": "tests.explainers:claim_a_gap"}
    bench.tables["salience"]["mine"] = row
    with pytest.raises(pytest.fail.Exception, match="the method says 1"):
        run_check(bench, "mine", "completeness")


def test_a_text_that_is_too_long_is_the_model_s_own_error():
    with pytest.raises(pytest.fail.Exception, match="raised ValueError: 33 tokens are more than 32"):
        run_check(make_bench("add_a_token", LOSS), "add_a_token", "full_length")


@pytest.mark.parametrize("run_first", [False, True])
def test_the_refusal_of_empty_texts_is_checked(monkeypatch, run_first):
    from fixtures.errors import InputError

    def explain(tables, classifier, batch, methods, truths):
        if run_first:
            classifier.classify(classifier.embed(batch.ids), batch.mask)
            raise InputError("there is no token")
        return {method.id: Explanation(torch.zeros(batch.ids.shape), None) for method in methods}

    monkeypatch.setattr(running, "explain", explain)
    with pytest.raises(pytest.fail.Exception, match="the model ran before" if run_first else "was explained"):
        run_check(make_bench("occlude", LOSS), "occlude", "empty_text")


def test_every_check_has_an_explainer_that_it_catches():
    assert {check for _, check, _ in BROKEN} | {"empty_text"} == set(CHECKS)


@pytest.mark.parametrize(
    ("promise", "message"),
    [
        ({"answr": "loss"}, "answr"),
        ({"answer": "los"}, "Did you mean 'loss'"),
        ({"skips": {"canry": "because"}}, "Did you mean 'canary'"),
        ({"sums": 0.1}, "a sum needs"),
    ],
)
def test_a_promise_that_is_not_understood_is_refused(promise, message):
    tables = load_matrix().tables | {"promises": {"random": promise}}
    with pytest.raises(MatrixError, match=message):
        check_promises(tables)


def test_a_promise_of_nobody_is_refused():
    with pytest.raises(MatrixError, match="'nobody' speaks of no method"):
        check_promises(load_matrix().tables | {"promises": {"nobody": {}}})


@pytest.fixture
def write_failures(tmp_path):
    """`write_failures(row, ...)`: a file of known failures."""

    def write(*rows):
        path = tmp_path / "failures.yaml"
        path.write_text(json.dumps({"failures": rows}), encoding="utf-8")
        return path

    return write


ROW = {"method": "peer_lime.1k", "check": ["canary", "padding"], "version": "0.0", "why": "it is known"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "peer_lim.1k"}, "Did you mean 'peer_lime.1k'"),
        ({"check": "canry"}, "Did you mean 'canary'"),
        ({"check": "completeness"}, "does not apply"),
        ({"check": ["canary", "canary"]}, "written twice"),
        ({"why": ""}, "every row has"),
    ],
)
def test_a_known_failure_that_speaks_of_nothing_is_refused(write_failures, change, message):
    with pytest.raises(MatrixError, match=message):
        read_failures(load_matrix().tables, write_failures(ROW | change))


def test_a_known_failure_holds_for_the_version_it_names(write_failures, monkeypatch):
    tables = load_matrix().tables
    monkeypatch.setattr("fixtures.conformance.failures.version", lambda library: "1.0")
    assert read_failures(tables, write_failures(ROW)) == {}
    found = read_failures(tables, write_failures(ROW | {"version": "1.0"}))
    assert found == dict.fromkeys([("peer_lime.1k", "canary"), ("peer_lime.1k", "padding")], "lime 1.0: it is known")


def test_a_known_failure_is_an_outcome_of_its_own():
    from fixtures.recording import _give_reason, _name_outcome

    report = SimpleNamespace(when="call", outcome="skipped", skipped=True, passed=False, failed=False, longrepr="...")
    assert _name_outcome(report) == "skipped"
    report.wasxfail = "lime 1.0: it is known"
    assert (_name_outcome(report), _give_reason(report)) == ("xfailed", "lime 1.0: it is known")


def test_a_user_s_method_is_checked_and_reported(run_pytest, tmp_path):
    overlay, report = tmp_path / "mine.yaml", tmp_path / "report.json"
    overlay.write_text(
        'methods: {mine: "tests.explainers:turn_sign"}\npromises: {mine: {answer: loss, of: prob, reference: unk}}\n',
        encoding="utf-8",
    )
    words = "mine and (canary or completeness or determinism)"
    done = run_pytest("benchmarks", "--matrix", overlay, "-k", words, "--benchmark-json", report)
    assert done.returncode == 1, done.stdout
    outcomes = {case["id"]: case for case in json.loads(report.read_text(encoding="utf-8"))["cases"]}
    assert {name: case["outcome"] for name, case in outcomes.items()} == {
        "mine-canary": "failed",
        "mine-completeness": "skipped",
        "mine-determinism": "passed",
    }
    assert "must be on top alone" in outcomes["mine-canary"]["reason"]
    assert "promises no sum" in outcomes["mine-completeness"]["reason"]


def test_a_cell_of_the_matrix_selects_no_check(run_pytest):
    done = run_pytest("benchmarks", "-k", "bert and op", "--collect-only", "-q")
    assert "test_salience" in done.stdout
    assert "test_conformance" not in done.stdout
