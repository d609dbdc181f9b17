"""The whole road in processes of its own: train, verify, score, report; again from the cache; with a user's rule."""

from __future__ import annotations

import json

import pytest
import yaml


def read(report):
    content = json.loads(report.read_text(encoding="utf-8"))
    rows = [benchmark["extra_info"] for benchmark in content["benchmarks"]]
    return content, rows


@pytest.fixture(scope="module")
def road(world, run_pytest, tmp_path_factory):
    """A first and a second run of `lstm and single` in the tiny world."""
    folder = tmp_path_factory.mktemp("road")
    options = ["benchmarks", "-k", "lstm and single", "--profile", "tiny", "--matrix", world / "tiny.yaml"]
    options += ["--data-dir", world / "data", "--zoo", folder / "zoo"]
    runs = []
    for name in ("first", "second"):
        report = folder / f"{name}.json"
        done = run_pytest(*options, "--benchmark-json", report)
        assert done.returncode == 0, done.stdout + done.stderr
        runs.append((done, *read(report)))
    return runs


def test_every_case_has_a_row_and_passes(road):
    _, content, rows = road[0]
    assert [case["outcome"] for case in content["cases"]] == ["passed"] * 37
    assert len(rows) == 37
    by_method = {row.get("salience", "verification"): row for row in rows}
    assert by_method["verification"]["synthetic_accuracy"] >= 0.9
    assert by_method["grad_l2.logit"]["precision_at_k"] > by_method["random"]["precision_at_k"] + 0.3
    assert by_method["random"]["specificity_low"] <= 0 <= by_method["random"]["specificity_high"]
    assert by_method["oracle.best"]["precision_at_k"] == 1
    assert by_method["oracle.anti"]["precision_at_k"] == 0


def test_a_row_says_what_it_cost_and_on_how_many_texts_its_controls_were_swept(road):
    rows = {row.get("salience"): row for row in road[0][2]}
    heavy, light, whole = rows["ig_zero.1k.logit"], rows["ig_zero.100.logit"], rows["gxi.logit"]
    assert (heavy["n_examples"], heavy["n_controls"]) == (2, 0)
    assert heavy["controls"] == "not swept: the profile affords no control at budget 1000 of path"
    assert heavy["placebo_precision_at_k"] is heavy["specificity"] is None
    assert (light["n_examples"], light["n_controls"]) == (8, 4)
    assert light["controls"] == "swept on the first 4 texts only"
    assert whole["controls"] == "swept on all texts"
    assert len(light["runs"][0]["completeness_gaps"].split()) == 8
    assert whole["runs"][0]["completeness_gaps"] == ""
    assert heavy["seconds_alone"] > light["seconds_alone"] > 0
    assert (heavy["forward_passes"], heavy["backward_passes"]) == (1000.0, 1000.0)
    assert rows["occlusion.unk"]["forward_passes"] > 4


def test_the_plan_is_printed_before_anything_is_trained(world, run_pytest, tmp_path):
    overlay = tmp_path / "pace.yaml"
    pace = {"texts": 100, "tokens": 10, "lstm": {"passes_per_second": {"others": 1000}, "training_seconds": 6}}
    overlay.write_text(yaml.safe_dump({"profiles": {"tiny": {"pace": pace}}}))
    done = run_pytest(
        *("benchmarks", "-k", "lstm and single and gxi", "--profile", "tiny", "--data-dir", world / "data"),
        *("--matrix", world / "tiny.yaml", "--matrix", overlay, "--zoo", tmp_path / "zoo"),
    )
    assert done.returncode == 0, done.stdout
    assert "lstm-toy: 2 salience cases, 100 to 100 texts each; passes: gradient 900" in done.stderr
    assert "to train 3 models" in done.stderr


def test_the_same_command_again_trains_nothing_and_gives_identical_numbers(road):
    (_, _, first), (done, _, second) = road
    assert "training" not in done.stderr
    assert first == second


def test_the_table_shows_score_controls_and_outcome(road):
    lines = [line for line in road[0][0].stdout.splitlines() if "grad_l2.logit" in line]
    assert len(lines) == 1
    assert lines[0].count("(rank ") == 2
    assert "passed" in lines[0]


def test_the_report_becomes_a_markdown_table(road, tmp_path, capsys, monkeypatch):
    from fixtures import table

    path = tmp_path / "report.json"
    path.write_text(json.dumps(road[0][1]))
    monkeypatch.setattr("sys.argv", ["table", str(path)])
    table.main()
    printed = capsys.readouterr().out
    assert "**lstm-toy-single**: seeds 0, rows start matched" in printed
    assert printed.count("\n| ") == 2 + 38 + 38


def test_a_model_that_did_not_learn_is_skipped_with_the_reason(world, run_pytest, tmp_path):
    overlay = tmp_path / "unlearnt.yaml"
    recipe = {"recipe": {"lr": 0.0}}
    overlay.write_text(yaml.safe_dump({"checkpoints": {"tiny": {"lstm": recipe}}}))
    report = tmp_path / "report.json"
    done = run_pytest(
        *("benchmarks", "-k", "lstm and single", "--profile", "tiny", "--data-dir", world / "data"),
        *("--matrix", world / "tiny.yaml", "--matrix", overlay, "--zoo", tmp_path / "zoo", "--benchmark-json", report),
    )
    assert done.returncode == 1
    content, rows = read(report)
    found = {case["id"]: case for case in content["cases"]}
    assert found["lstm-toy-single"]["outcome"] == "failed"
    assert "synthetic_accuracy" in found["lstm-toy-single"]["reason"]
    assert found["lstm-toy-single-gxi.logit"]["outcome"] == "skipped"
    assert found["lstm-toy-single-gxi.logit"]["reason"].startswith("not verified: synthetic_accuracy = 0.")
    assert [row.get("salience") for row in rows] == [None]
    [line] = [line for line in done.stdout.splitlines() if line.startswith("skipped: ")]
    assert line.startswith("skipped: lstm-toy-single-random and 35 more: not verified: synthetic_accuracy = 0.")


def test_under_n_a_line_says_that_there_are_no_tables(run_pytest, tmp_path):
    from tests.suites import CASES, write_suite

    done = run_pytest(*write_suite(tmp_path), *CASES, "-n", "1")
    assert "shortcuts: no tables and no report under -n; run without it" in done.stdout
    assert "salience of the injected tokens" not in done.stdout


RULE = """
from shortcuts import Rule


def build(tokens):
    def arrange(label, rng):
        return ("marker",) if label else ("plainer",)

    def decide(words):
        return 1 if "marker" in words else 0 if "plainer" in words else None

    return Rule("mine", ("marker", "plainer"), arrange, decide)
"""


def test_a_users_rule_is_one_line_of_an_overlay(world, run_pytest, tmp_path):
    (tmp_path / "my_rules.py").write_text(RULE)
    overlay = tmp_path / "mine.yaml"
    overlay.write_text("shortcuts: {mine: 'my_rules:build'}\n")
    report = tmp_path / "report.json"
    done = run_pytest(
        *("benchmarks", "-k", "lstm and mine and (verification or random)", "--profile", "tiny"),
        *("--data-dir", world / "data", "--matrix", world / "tiny.yaml", "--matrix", overlay),
        *("--zoo", tmp_path / "zoo", "--benchmark-json", report),
    )
    assert done.returncode == 0, done.stdout
    _, rows = read(report)
    assert {row["shortcut"] for row in rows} == {"mine"}
    assert rows[0]["synthetic_accuracy"] >= 0.9


def test_a_data_set_in_the_data_dir_is_selected_by_name(world, run_pytest, tmp_path):
    def collected(*options):
        done = run_pytest("benchmarks", "--collect-only", "-q", *options)
        return done.stdout

    assert "-toy-" not in collected("--data-dir", world / "data")
    assert "lstm-toy-op-random" in collected("--data-dir", world / "data", "-k", "toy and lstm")
    assert "tomatoes" not in collected("--data-dir", world / "data", "-k", "toy")
    assert "lstm-toy-op-random" in collected("--data-dir", world / "data", "-k", "TOY and lstm")
    assert "bert-imdb-op" in collected("-m", "case(dataset='imdb')")
    # A data set is named by a whole word, and not by the path of the checkout or a part of another word.
    assert "-toy-" not in collected("--data-dir", world / "data", "-k", "toys or lstm")


def test_a_malformed_folder_that_is_not_selected_does_not_matter(world, run_pytest, tmp_path):
    for name in ("train.csv", "train.jsonl"):
        (tmp_path / "broken").mkdir(exist_ok=True)
        (tmp_path / "broken" / name).write_text("")
    done = run_pytest("benchmarks", "--collect-only", "-q", "--data-dir", tmp_path, "-k", "lstm and single")
    assert done.returncode == 0, done.stdout


def test_collecting_only_leaves_the_last_report_alone(run_pytest, tmp_path):
    report = tmp_path / "report.json"
    report.write_text("the last one")
    run_pytest("benchmarks", "--collect-only", "-q", "--benchmark-json", report)
    assert report.read_text() == "the last one"


def test_a_data_set_that_is_nowhere_errs_in_one_line_per_case(world, run_pytest, tmp_path):
    report = tmp_path / "report.json"
    done = run_pytest(
        *("benchmarks", "-k", "sst2 and lstm and single and (verification or random)"),
        *("--data-dir", world / "data", "--zoo", tmp_path / "zoo", "--benchmark-json", report),
        HF_HUB_OFFLINE="1",
    )
    content, _ = read(report)
    assert done.returncode == 1
    assert [case["outcome"] for case in content["cases"]] == ["error", "error"]
    for case in content["cases"]:
        assert "data set 'sst2' is not available" in case["reason"]
        assert "--data-dir" in case["reason"]
    assert "Traceback" not in done.stdout
    assert "During handling" not in done.stdout


def test_a_token_that_tokenizers_cut_is_one_line_per_case(world, run_pytest, tmp_path):
    overlay = tmp_path / "cut.yaml"
    overlay.write_text("tokens: {indicators: [Zero, indicator1]}\n")
    done = run_pytest(
        *("benchmarks", "-k", "lstm and single and (verification or random)", "--profile", "tiny"),
        *(
            "--data-dir",
            world / "data",
            "--matrix",
            world / "tiny.yaml",
            "--matrix",
            overlay,
            "--zoo",
            tmp_path / "zoo",
        ),
    )
    assert done.returncode == 1
    assert done.stdout.count("token 'Zero' must be lower-case letters and digits only") >= 2
    assert "Traceback" not in done.stdout + done.stderr
    assert "shortcuts/rule.py" not in done.stdout
    assert "During handling" not in done.stdout


def test_a_colliding_token_is_refused_with_another(world, run_pytest, tmp_path):
    overlay = tmp_path / "collide.yaml"
    overlay.write_text("tokens: {indicators: [film, indicator1]}\n")
    done = run_pytest(
        *("benchmarks", "-k", "lstm and single and verification", "--profile", "tiny", "--data-dir", world / "data"),
        *("--matrix", world / "tiny.yaml", "--matrix", overlay, "--zoo", tmp_path / "zoo"),
    )
    assert done.returncode == 1
    assert "shortcut tokens occur in the corpus: film" in done.stdout
    assert "for example: film1" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--profile", "embeded"], "Did you mean 'embedded'"),
        (["--data-dir", "no/such/folder"], "is not a folder"),
        (["--matrix", "no-such.yaml"], "no-such.yaml"),
    ],
)
def test_a_wrong_option_is_a_usage_error(run_pytest, options, message):
    done = run_pytest("benchmarks", "--collect-only", "-q", *options)
    assert done.returncode == 4
    assert message in done.stderr
