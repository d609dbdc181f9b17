"""The matrix: cases, settings, and an error that a person can act on for everything that can be written wrong."""

from __future__ import annotations

import re

import pytest

from benchmarks.matrix import Case, MatrixError, load_matrix
from benchmarks.registry import fingerprint_target, resolve


@pytest.fixture
def overlay(tmp_path):
    def write(text):
        path = tmp_path / "mine.yaml"
        path.write_text(text, encoding="utf-8")
        return [path]

    return write


def test_the_embedded_profile_is_the_product_of_its_axes():
    cases = load_matrix().list_cases()
    assert len(cases) == len({case.id for case in cases}) == 1 * 3 * (46 + 36)
    assert Case("bert", "tomatoes", "op", "grad_l2.logit") in cases


@pytest.mark.parametrize("profile", ["embedded", "paper", "smoke"])
def test_profiles_share_the_words_of_their_ids(profile):
    cases = load_matrix(profile=profile).list_cases()
    assert {case.model for case in cases} == {"bert", "lstm"}
    assert {case.shortcut for case in cases} == {"single", "tic", "op"}


def test_the_paper_profile_has_the_papers_settings():
    matrix = load_matrix(profile="paper")
    expected = {
        ("bert", "sst2"): (100, 16, 2e-5),
        ("bert", "imdb"): (500, 16, 2e-5),
        ("bert", "toxicity"): (500, 16, 1e-5),
        ("lstm", "sst2"): (100, 64, 0.03),
        ("lstm", "toxicity"): (500, 32, 0.03),
    }
    for (model, dataset), numbers in expected.items():
        settings = matrix.model_settings(model, dataset)
        assert (settings["max_length"], settings["recipe"]["batch"], settings["recipe"]["lr"]) == numbers
        assert settings["recipe"]["patience"] == 10_000
        assert settings["recipe"]["weight_decay"] == 5e-6
        assert settings["dropout"] == 0.5


def test_where_a_file_comes_from_is_replaced_as_a_whole(overlay):
    text = "checkpoints: {embedded: {bert: {checkpoint: {path: mine}}, lstm: {vectors: {file: v.txt}}}}"
    matrix = load_matrix(overlay(text))
    assert matrix.model_settings("bert", "tomatoes")["checkpoint"] == {"path": "mine"}
    assert matrix.model_settings("lstm", "tomatoes")["vectors"] == {"file": "v.txt"}
    assert matrix.model_settings("bert", "tomatoes")["max_length"] == 100


def test_a_model_is_a_line_and_a_word_of_the_profile_and_its_missing_settings_are_named(overlay):
    models = "models: {mine: 'my_module:build'}\n"
    assert Case("mine", "tomatoes", "op", "random") not in load_matrix(overlay(models)).list_cases()
    matrix = load_matrix(overlay(f"{models}profiles: {{embedded: {{models: [bert, lstm, mine]}}}}"))
    assert Case("mine", "tomatoes", "op", "random") in matrix.list_cases()
    with pytest.raises(MatrixError, match="'embedded' have none for model 'mine'; there are: bert, lstm, cnn"):
        matrix.model_settings("mine", "tomatoes")


def test_every_checkpoint_of_the_hub_is_pinned_to_a_commit_and_not_said_to_be_tried():
    kinds = load_matrix().tables["checkpoints"]["paper"]
    places = {
        kind: settings["checkpoint"] for kind, settings in kinds.items() if "hub" in settings.get("checkpoint", {})
    }
    assert set(places) == {"bert", "albert", "distilbert", "roberta", "xlnet"}
    for place in places.values():
        assert re.fullmatch("[0-9a-f]{40}", place["revision"])
        assert place["tried"] is False


def test_a_users_code_is_part_of_the_key(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "keyed_reducer.py"
    path.write_text("def score(evidence, target):\n    return 1\n")
    first = fingerprint_target("keyed_reducer:score")
    path.write_text("def score(evidence, target):\n    return 2\n")
    assert fingerprint_target("keyed_reducer:score") != first
    assert fingerprint_target("fixtures.reducers:norm_l2") == "fixtures.reducers:norm_l2"


WRONG = {
    "salience: {mine: {family: gradient}}\nsalience: {}": "key 'salience' is written twice",
    "profiles: {embedded: {models: [brt]}}": "no model named 'brt'; there are: bert, lstm, albert",
    "exclusions: [{model: bert}]": "every threshold and exclusion says `why`",
    "profiles: {embedded: {thresholds: {salience: [{model: brt, value: x, at_least: 1, why: y}]}}}": "named 'brt'",
    "profiles: {embedded: {thresholds: {salience: [{value: x, why: y}]}}}": "needs `value` and `at_least`",
    "exclusions: [{modle: bert, why: typo}]": "Did you mean 'model'?",
    "exclusions: [{model: bert, dataset: mine, why: typo}]": "matches no case",
    "[1, 2]": "expected a mapping of tables, got list",
    "a: [": "mine.yaml",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_in_an_overlay_is_said(overlay, text):
    with pytest.raises(MatrixError) as caught:
        load_matrix(overlay(text))
    assert WRONG[text] in str(caught.value)


def test_a_verification_threshold_on_a_salience_word_never_applies_and_is_refused(overlay):
    row = "{salience: random, value: synthetic_accuracy, at_least: 1, why: y}"
    with pytest.raises(MatrixError, match="matches no case"):
        load_matrix(overlay(f"profiles: {{embedded: {{thresholds: {{verification: [{row}]}}}}}}"))


def test_an_unknown_profile_names_the_nearest():
    with pytest.raises(MatrixError, match=r"no profile named 'embeded'; .*Did you mean 'embedded'"):
        load_matrix(profile="embeded")


def test_an_excluded_combination_does_not_exist(overlay):
    matrix = load_matrix(overlay("exclusions: [{model: lstm, salience: gxi.prob, why: an example}]"))
    assert len(matrix.list_cases()) == len(load_matrix().list_cases()) - 3


def test_one_line_adds_a_word_to_an_axis(overlay):
    matrix = load_matrix(overlay("shortcuts: {mine: 'my_module:build'}"))
    assert Case("bert", "tomatoes", "mine", "random") in matrix.list_cases()


def test_the_hash_follows_every_setting(overlay):
    changed = load_matrix(overlay("checkpoints: {embedded: {lstm: {hidden: 8}}}"))
    assert changed.hash != load_matrix().hash
    assert load_matrix(profile="smoke").hash != load_matrix().hash


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("shortcuts.op", "not of the form"),
        ("shortcuts.no_such:build", "no module 'shortcuts.no_such'"),
        ("shortcuts.op:bild", "has no object 'bild'"),
    ],
)
def test_a_name_that_leads_nowhere_is_an_error(target, message):
    with pytest.raises(MatrixError, match=message):
        resolve(target)


def test_an_import_error_inside_a_users_module_names_its_file_and_line(tmp_path, monkeypatch):
    (tmp_path / "broken_rule.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MatrixError, match=r"ModuleNotFoundError: .*no_such_library.*broken_rule\.py, line 1"):
        resolve("broken_rule:build")
