"""Other libraries' methods and a user's own as cases: who selects them, and what is said when they cannot run."""

from __future__ import annotations

import json

import pytest

from benchmarks.matrix import MatrixError, load_matrix

MINE = """
def score(model, batch, target):
    embeddings = model.embed(batch.ids).detach().requires_grad_()
    chances = model.classify(embeddings, batch.mask).softmax(-1)
    chances.gather(1, target[:, None]).sum().backward()
    return (embeddings.grad * embeddings).sum(-1)


def score_texts(model, batch, target):
    return score(model, batch, target).sum(-1)


def score_nothing(model, batch, target):
    return score(model, batch, target) * float("nan")
"""

OVERLAY = """
methods: {mine: "my_module:score", mine_texts: "my_module:score_texts", mine_nothing: "my_module:score_nothing"}
peers: {peer_absent: {target: "fixtures.peers.absent:explain", library: no_such_library}}
"""


@pytest.fixture(scope="module")
def road(world, run_pytest, tmp_path_factory):
    """A run of a user's methods and some peers in the tiny world: the process, and case id -> outcome and row."""
    folder = tmp_path_factory.mktemp("peers")
    (folder / "my_module.py").write_text(MINE)
    (folder / "mine.yaml").write_text(OVERLAY)
    report = folder / "report.json"
    chosen = "verification or mine or peer_lime.100 or peer_captum_saliency or peer_absent"
    done = run_pytest(
        *("benchmarks", "-k", f"lstm and single and ({chosen})", "--profile", "tiny", "--data-dir", world / "data"),
        *("--matrix", world / "tiny.yaml", "--matrix", folder / "mine.yaml", "--zoo", folder / "zoo"),
        *("--benchmark-json", report, "-rs"),
    )
    content = json.loads(report.read_text(encoding="utf-8"))
    cases = {case["id"].removeprefix("lstm-toy-single"): case for case in content["cases"]}
    rows = {row["extra_info"].get("salience", ""): row["extra_info"] for row in content["benchmarks"]}
    return done, cases, rows


def test_a_users_method_is_one_line_of_an_overlay(road):
    _, cases, rows = road
    assert cases["-mine"]["outcome"] == "passed"
    assert rows["mine"]["precision_at_k"] > 0.5
    assert (rows["mine"]["family"], rows["mine"]["variant"]) == ("outside", "my_module:score")


def test_a_users_method_says_how_long_it_took_and_that_its_passes_are_not_known(road):
    done, _, rows = road
    assert rows["mine"]["seconds_alone"] == pytest.approx(rows["mine"]["family_seconds"] / 100)
    assert rows["mine"]["seconds_alone"] > 0
    [line] = [line for line in done.stdout.splitlines() if line.split()[:1] == ["mine"]]
    assert "not known" in line


def test_a_method_that_does_not_score_tokens_is_one_line_that_names_it(road):
    done, cases, _ = road
    for name, wrong in (("texts", "returned shape"), ("nothing", "returned a score that is not finite")):
        case = cases[f"-mine_{name}"]
        assert case["outcome"] == "error"
        assert f"method my_module:score_{name} {wrong}" in case["reason"]
        assert "\n" not in case["reason"]
    assert "Traceback" not in done.stdout + done.stderr


def test_a_peer_is_a_case_like_any_other(road):
    _, cases, rows = road
    for name, amount in (("peer_captum_saliency", 100), ("peer_lime.100", 8)):
        assert cases[f"-{name}"]["outcome"] == "passed"
        assert rows[name]["n_examples"] == amount
        # Chance is 0.1.
        assert rows[name]["precision_at_k"] > 0.3
    assert rows["peer_lime.100"]["forward_passes"] == 100


def test_a_peer_whose_library_is_not_installed_is_skipped_with_the_command_that_installs_it(road):
    done, cases, _ = road
    assert cases["-peer_absent"]["outcome"] == "skipped"
    reason = "peer_absent needs the package no_such_library, which is not installed: `make peers` installs it"
    assert cases["-peer_absent"]["reason"] == reason
    assert reason in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-k", "bert and op"], set()),
        (["-k", "bert and op and peer_lime"], {"peer_lime.100", "peer_lime.1k"}),
        (["-k", "bert and op and PEER_lime.1k"], {"peer_lime.1k"}),
        (["-m", "case(model='bert', shortcut='op', salience='peer_shap.500')"], {"peer_shap.500"}),
        (["-k", "bert and op and peer"], set(load_matrix().tables["peers"])),
        (["-k", "lstm and op and peer_interpreto"], set()),
    ],
)
def test_a_peer_is_selected_by_name_alone(run_pytest, options, expected):
    done = run_pytest("benchmarks/test_salience.py", "--collect-only", "-q", *options)
    found = {line.partition("[")[2].rstrip("]").split("-", 3)[3] for line in done.stdout.splitlines() if "[" in line}
    assert {name for name in found if name.startswith("peer")} == expected


def test_a_peer_is_selected_by_its_id(run_pytest):
    case = "benchmarks/test_salience.py::test_salience[bert-tomatoes-op-peer_lime.1k]"
    assert case in run_pytest(case, "--collect-only", "-q").stdout


@pytest.mark.parametrize("row", ["lime: {target: 'a:b', library: lime}", "peer_lime.2k: {target: 'a:b'}"])
def test_a_peer_that_lacks_its_name_or_library_is_refused(tmp_path, row):
    (tmp_path / "mine.yaml").write_text(f"peers: {{{row}}}")
    with pytest.raises(MatrixError, match="its name starts with `peer_`, and it needs `target` and `library`"):
        load_matrix([tmp_path / "mine.yaml"])
