"""The README: it names every word, target and option, and its own example of a method is run as it stands there."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from fixtures.reports import read_report
from tests.test_structure import words_by_axis

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def example(tmp_path):
    """The files of the section "Your own method", written to a folder; returns the overlay's path."""
    section = README.partition("## Your own method")[2].partition("\n## ")[0]
    blocks = dict(re.findall(r"```(python|yaml)\n(.*?)```", section, flags=re.DOTALL))
    (tmp_path / "mine.py").write_text(blocks["python"], encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(blocks["yaml"], encoding="utf-8")
    assert len(blocks["python"].strip().splitlines()) <= 10
    return tmp_path / "mine.yaml"


def test_the_readmes_method_is_a_case_that_equals_the_gradient_norm(example, world, run_pytest, tmp_path):
    report = tmp_path / "report.json"
    done = run_pytest(
        *("benchmarks", "-k", "lstm and op and (mine or grad_l2.logit)", "--profile", "tiny"),
        *("--data-dir", world / "data", "--matrix", world / "tiny.yaml", "--matrix", example),
        *("--zoo", tmp_path / "zoo", "--benchmark-json", report),
    )
    assert done.returncode == 0, done.stdout
    rows = [row["extra_info"] for row in json.loads(report.read_text(encoding="utf-8"))["benchmarks"]]
    scores = {row["salience"]: (row["precision_at_k"], row["placebo_precision_at_k"]) for row in rows}
    assert scores["mine"] == scores["grad_l2.logit"]


def test_the_readmes_method_conforms_by_the_readmes_command(example, run_pytest):
    [command] = re.findall(
        r"^\.venv/bin/pytest (benchmarks/test_conformance\.py --matrix mine\.yaml .*)$", README, re.M
    )
    done = run_pytest(*shlex.split(command.replace("mine.yaml", str(example))))
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


def test_the_readme_names_every_word_target_and_option():
    for axis, words in words_by_axis().items():
        for word in words:
            assert f"`{word}`" in README, f"{axis} {word}"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [line.partition(":")[0] for line in makefile.splitlines() if ": " in line and "  ##" in line]
    names = [target if target != "$(VENV)/installed" else "setup" for target in targets]
    for target in names:
        assert f"make {target}" in README, target
    for option in (
        "profile",
        "matrix",
        "seeds",
        "data-dir",
        "zoo",
        "device",
        "embedding-init",
        "gate",
        "benchmark-json",
    ):
        assert f"`--{option}" in README, option


@pytest.mark.parametrize("path", sorted((ROOT / "results").glob("*.json")), ids=lambda path: path.stem)
def test_a_stored_report_is_whole_and_names_no_folder_of_the_machine_it_was_made_on(path):
    read_report(path)
    assert re.findall(r"--[\w-]+ /\S+", path.read_text(encoding="utf-8")) == []
