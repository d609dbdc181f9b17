"""Speed as ratios measured side by side in one run; collected only with `-m speed` (`make speed`), never a gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.mark.speed
def test_training_throughput(laboratory):
    """Rows a second of our loop and of the Hugging Face Trainer, same model, same rows, rounds in turn."""
    from fixtures.speed import compare_training

    result = compare_training(laboratory, rounds=5, rows=512)
    Path("speed.json").write_text(json.dumps(result, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    for name, numbers in result["ratios"].items():
        print(f"\n{name}: {numbers['median']:.2f} [{numbers['low']:.2f}, {numbers['high']:.2f}]", end="")
