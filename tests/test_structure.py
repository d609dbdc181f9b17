"""Promises about the repository itself: words, layers, imports, sizes, versions, README."""

from __future__ import annotations

import ast
import hashlib
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from benchmarks.divergence import CONTRASTS
from benchmarks.divergence import TABLES as DIVERGENCE_TABLES
from benchmarks.matrix import TABLES, load_matrix
from fixtures.conformance import CHECKS

ROOT = Path(__file__).parent.parent
HEAVY = ("torch", "transformers", "captum", "lime", "shap", "datasets", "sklearn", "pandas", "scipy")
LAYERS = [
    "shortcuts",
    "benchmarks.overlays",
    "benchmarks.registry",
    "benchmarks.checking benchmarks.divergence benchmarks.rationale_shape benchmarks.shape benchmarks.names",
    "benchmarks.matrix",
    "benchmarks.text_divergence benchmarks.rationales",
    "fixtures.errors",
    "fixtures.devices",
    "fixtures.corpora fixtures.images",
    "fixtures.rationales",
    "fixtures.checks fixtures.schema fixtures.aggregation fixtures.exhibits fixtures.cases fixtures.recording "
    "fixtures.gate fixtures.table fixtures.summary fixtures.intervals fixtures.progress fixtures.comparison "
    "fixtures.reports fixtures.merging fixtures.report fixtures.tallies fixtures.divergence_table fixtures.fields "
    "fixtures.divergence_fields fixtures.rationale_fields fixtures.rationale_strings fixtures.rationale_tallies "
    "fixtures.rationale_table fixtures.agreement",
    "fixtures.methods fixtures.plan fixtures.divergence_plan fixtures.rationale_plan",
    "fixtures.models",
    "fixtures.training fixtures.checkpoints fixtures.losses",
    "fixtures.zoo",
    "fixtures.laboratory",
    "fixtures.cells",
    "fixtures.session",
    "fixtures.verification",
    "fixtures.evidence",
    "fixtures.peers",
    "fixtures.reducers fixtures.surrogates",
    "fixtures.explaining",
    "fixtures.conformance fixtures.hints",
    "fixtures.sheets",
    "fixtures.rationales.cell fixtures.rationales.feeding fixtures.rationales.joining fixtures.rationales.rows "
    "fixtures.rationales.plugin",
    "fixtures.salience",
    "fixtures.populations",
    "fixtures.divergence",
    "fixtures.speed",
]


def words_by_axis() -> dict[str, list[str]]:
    tables = load_matrix().tables
    axes = {axis: list(tables[table]) for axis, table in [*TABLES.items(), *DIVERGENCE_TABLES.items()]}
    return axes | {"contrast": list(CONTRASTS)}


PARTS = {("bert", "albert"), ("bert", "distilbert"), ("bert", "roberta"), ("lstm", "mlstm"), ("use", "usefixtures")}
"""The exceptions: models' own names. `-k` takes the longer along, so no profile has both, and `-m` tells them apart."""


def test_no_axis_word_is_part_of_another_word_that_k_matches():
    axes = words_by_axis()
    words = [*(word for own in axes.values() for word in own), *CHECKS]
    assert set(load_matrix().tables["peers"]) <= set(words)
    others = {"case", "parametrize", "benchmark", "benchmarks", "speed", "usefixtures", "skipif", "shared"}
    for path in (ROOT / "benchmarks").glob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        others |= {path.name, *(node.name for node in tree.body if isinstance(node, ast.FunctionDef))}
    clashes = {(word, other) for word in words for other in [*words, *others] if word != other and word in other}
    assert clashes == PARTS
    for profile in load_matrix().tables["profiles"].values():
        trained = {*profile["models"]}
        assert not [(word, other) for word, other in PARTS if {word, other} <= trained]


def collect(code: str) -> list[str]:
    """Heavy packages that a collection of the benchmarks imports, after running some code first."""
    script = (
        f"import sys, pytest\n{code}\n"
        "status = pytest.main(['benchmarks', '--collect-only', '-qq'])\n"
        f"print('HEAVY', status, [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    status, _, names = done.stdout.splitlines()[-1].removeprefix("HEAVY ").partition(" ")
    assert status == "0", done.stdout
    return ast.literal_eval(names)


def test_collection_imports_nothing_heavy():
    assert collect("") == []


def test_the_proof_of_that_can_fail():
    assert collect("import scipy") == ["scipy"]


def modules() -> dict[str, Path]:
    found = {}
    for folder in ("shortcuts", "benchmarks", "fixtures"):
        for path in (ROOT / folder).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            found[name] = path
    return found


def layer(name: str) -> int:
    """The layer of a module: the last entry that is the module or a package it lies in."""
    places = [
        index
        for index, entry in enumerate(LAYERS)
        if any(name == known or name.startswith(f"{known}.") for known in entry.split())
    ]
    return max(places, default=len(LAYERS))


def imports(path: Path, *, typing_too: bool) -> set[str]:
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = set()
    for node in ast.walk(tree):
        if not typing_too and isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            skipped |= set(ast.walk(node))
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def test_imports_follow_the_layers():
    known = modules()
    wrong = []
    for name, path in known.items():
        for target in imports(path, typing_too=False) & known.keys() - {"fixtures", "benchmarks"}:
            if layer(target) > layer(name):
                wrong.append(f"{name} imports {target}")
    assert wrong == []


def test_shortcuts_are_pure():
    allowed = {*sys.stdlib_module_names, "numpy", "shortcuts"}
    for path in (ROOT / "shortcuts").glob("*.py"):
        assert {name.partition(".")[0] for name in imports(path, typing_too=True)} <= allowed, path


def test_our_folders_are_the_ones_imported():
    import benchmarks
    import fixtures
    import shortcuts

    for package in (benchmarks, fixtures, shortcuts):
        assert Path(package.__file__).parent.parent == ROOT


@pytest.mark.parametrize("name", ["shortcuts", "benchmarks", "fixtures", "tests"])
def test_a_file_has_one_subject_and_a_function_one_job(name):
    for path in (ROOT / name).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 250, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                documented = ast.get_docstring(node) is not None
                start = node.body[1].lineno if documented and len(node.body) > 1 else node.lineno
                assert node.end_lineno - start < 40, f"{path}: {node.name}"


def hash_code(*patterns: str) -> str:
    """Hash of code without comments, docstrings and layout."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
        digest.update(ast.dump(tree).encode())
    return digest.hexdigest()[:16]


def test_code_that_decides_weights_or_scores_raises_its_version():
    """After a change: raise the version if weights or scores change, then `python -m tests.test_structure`."""
    from fixtures.sheets import EVIDENCE_VERSION
    from fixtures.training import TRAINING_VERSION

    recorded = json.loads((ROOT / "tests" / "versions.json").read_text(encoding="utf-8"))
    assert current_versions() == recorded
    assert recorded["training"]["version"] == TRAINING_VERSION
    assert recorded["evidence"]["version"] == EVIDENCE_VERSION


def current_versions() -> dict[str, dict[str, object]]:
    from fixtures.sheets import EVIDENCE_VERSION
    from fixtures.training import TRAINING_VERSION

    training = hash_code(
        "fixtures/training.py",
        "fixtures/cells.py",
        "fixtures/checkpoints.py",
        "fixtures/models/*.py",
        "shortcuts/[!r]*.py",
        "shortcuts/rule.py",
    )
    evidence = hash_code(
        "fixtures/evidence/*.py",
        "fixtures/reducers.py",
        "fixtures/surrogates.py",
        "fixtures/explaining.py",
        "fixtures/methods.py",
        "fixtures/sheets.py",
        "fixtures/verification.py",
    )
    return {
        "training": {"version": TRAINING_VERSION, "code": training},
        "evidence": {"version": EVIDENCE_VERSION, "code": evidence},
    }


def test_every_requirement_is_pinned():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all("==" in line for line in pins)
    assert "torch==2.13.0" in pins


def test_the_package_lists_its_folders():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = {name.rpartition(".")[0] if path.name != "__init__.py" else name for name, path in modules().items()}
    assert set(project["tool"]["setuptools"]["packages"]) == packages


if __name__ == "__main__":
    path = ROOT / "tests" / "versions.json"
    path.write_text(json.dumps(current_versions(), indent=1) + "\n", encoding="utf-8")
