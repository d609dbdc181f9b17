"""A suite of cases with made-up rows, to see what the plugins make of passes, failures, skips and kills."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fixtures.schema import CASE_FIELDS, RUN_FIELDS, SALIENCE_FIELDS, SALIENCE_RUN_FIELDS, Field

CELL = ("-m", "case(model='lstm', shortcut='op')")
CASES = (*CELL, "-k", "random or grad or gxi")
"""Selects the nine cases of the suite that the tests speak of; by mark, since `op` may be part of a folder's name."""

SUITE = """
import os
import time
from pathlib import Path

import pytest

from tests.suites import row

BODIES = os.environ.get("BODIES", "").split(",")


@pytest.fixture
def body(case, salience):
    index = SALIENCE.index(salience) if salience in SALIENCE else len(BODIES)
    return BODIES[index] if index < len(BODIES) else "plain"


SALIENCE = ["random", "grad_l1.logit", "grad_l1.prob", "grad_l2.logit", "grad_l2.prob", "grad_mean.logit",
            "grad_mean.prob", "gxi.logit", "gxi.prob"]


@pytest.fixture
def numbers(body):
    if body == "skip":
        pytest.skip("not verified: synthetic_accuracy = 0.5")
    if body == "break":
        pytest.fail("the hub is not there", pytrace=False)


def work(body):
    if body == "stop":
        pytest.fail("no sentence is left", pytrace=False)
    if body == "wait":
        Path(os.environ["READY"]).touch()
        time.sleep(60)


def test_made_up(case, model, dataset, shortcut, salience, body, numbers, benchmark, record, judge):
    benchmark.pedantic(work, (body,))
    precision = 0.1 if body == "fail" else float(os.environ.get("PRECISION", "0.9"))
    record(row(model=model, dataset=dataset, shortcut=shortcut, salience=salience, precision_at_k=precision))
    judge([])
    assert body != "fail", "P@k = 0.1"


def test_nothing_special():
    pass
"""


def write_suite(folder: Path) -> list[str | Path]:
    """The suite as a file, and the arguments that run it with the repository's plugins."""
    root = Path(__file__).parent.parent
    path = folder / "test_suite.py"
    path.write_text(SUITE, encoding="utf-8")
    return ["-c", root / "pytest.ini", "--rootdir", root, "-p", "conftest", path]


def row(**changes: Any) -> dict[str, Any]:
    """A salience row that fits the schema."""
    precisions = {"precisions": f"{changes.get('precision_at_k', 0.5)} " * 3}
    controls = dict.fromkeys(("placebo_precisions", "unseen_precisions"), "0.5 0.5 0.5")
    run = fill(RUN_FIELDS | SALIENCE_RUN_FIELDS) | precisions | controls | {"seed": 0}
    own = {"profile": "embedded", "seeds": [0], "unverified_seeds": [], "runs": [run]}
    return fill(CASE_FIELDS | SALIENCE_FIELDS) | own | changes


def fill(fields: Mapping[str, Field]) -> dict[str, Any]:
    """A value of the right type for every field."""
    plain: dict[type, Any] = {str: "word", int: 3, float: 0.5, list: []}
    return {name: plain[field.type] for name, field in fields.items()}
