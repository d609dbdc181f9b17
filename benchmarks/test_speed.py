"""Speed as ratios measured side by side in one run; collected only with `-m speed` (`make speed`), never a gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.speed

ROUNDS = [range(0, 4), range(4, 7), range(7, 10), range(10, 13), range(13, 16)]
"""Sixteen texts in five rounds; all contenders of a round explain the same ones."""


@pytest.fixture(scope="module")
def bench(laboratory):
    """The trained embedded bert on the ordered pair."""
    from fixtures.cells import Cell
    from fixtures.speed.salience import Bench

    return Bench(Cell(laboratory, "bert", "tomatoes", "op"))


@pytest.fixture
def note(pytestconfig):
    """`note(name, result)`: put a result into speed.json and its ratios on the terminal."""
    path = Path("speed.json")

    def write(name, result):
        content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        path.write_text(json.dumps(content | {name: result}, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        for pair, numbers in result.get("ratios", {}).items():
            print(f"\n{name}: {pair} {numbers['median']:.2f} [{numbers['low']:.2f}, {numbers['high']:.2f}]", end="")

    return write


def test_training_throughput(laboratory, note):
    """Rows a second of our loop and of the Hugging Face Trainer, same model, same rows, rounds in turn."""
    from fixtures.speed.training import compare_training

    note("training", compare_training(laboratory, rounds=5, rows=512))


def test_many_small_classifiers(laboratory, note):
    """Small image classifiers a second: a plain loop, one vectorised ensemble, a process for every core."""
    from fixtures.speed.populations import compare_populations

    note("populations", compare_populations(laboratory, rounds=5, members=8))


def test_integration(bench, note):
    """Integrated gradients, 4 baselines x 100 steps x logit and prob, beside captum."""
    from fixtures.speed.salience import compare_integration

    note("integrated gradients", compare_integration(bench, ROUNDS))


def test_lime(bench, note):
    """LIME, 3 ways of removing x 1k samples, beside lime and interpreto."""
    from fixtures.speed.salience import compare_lime

    for name, result in compare_lime(bench, ROUNDS).items():
        note(f"LIME beside {name}", result)


def test_whole_matrix(bench, note):
    """All 33 configurations of the paper for bert, beside captum and lime one by one; one short text a round."""
    from fixtures.speed.salience import compare_matrix

    shortest = sorted(range(16), key=lambda row: len(bench.cell.encoded_synthetic_test[row].ids))[:5]
    note("the paper's matrix", compare_matrix(bench, [[row] for row in shortest]))


def test_floor(bench, note):
    """The share of a large matrix product's rate that each sweep reaches."""
    from fixtures.speed.floor import measure_floors

    note("share of the matrix product's rate", {"ratios": measure_floors(bench, range(8), rounds=5)})


def test_growth(bench, laboratory, note):
    """Seconds a text and peak memory for 2, 4 and 8 times the texts."""
    from fixtures.speed.growth import measure_growth

    bench.cell.network("mixed")
    found = measure_growth(laboratory.zoo.root, ("bert", "tomatoes", "op"), (8, 16, 32, 64))
    first = found[0]
    ratios = {}
    for row in found[1:]:
        pace = row["seconds"] / row["texts"] / (first["seconds"] / first["texts"])
        memory = row["peak_bytes"] / first["peak_bytes"]
        for name, value in (("seconds a text", pace), ("peak memory", memory)):
            ratios[f"{row['texts']} / {first['texts']} texts, {name}"] = {"median": value, "low": value, "high": value}
    note("growth", {"measured": found, "ratios": ratios})


def test_bf16(laboratory, note):
    """How far bf16 moves P@k on the trained bert, ordered pair, 200 texts."""
    from fixtures.speed.precision import compare_precisions

    found = compare_precisions(laboratory, ("bert", "tomatoes", "op"), texts=200)
    for name, numbers in found.items():
        print(f"\n{name}: " + ", ".join(f"{key} {value:.4f}" for key, value in numbers.items()), end="")
    note("P@k in bf16", {"measured": found})
