"""Every kind of model, tiny and untrained, over the same few words."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from benchmarks.matrix import load_matrix
from fixtures.models import Built
from tests.encoders import WORDS, WRITERS, write_encoder
from tests.tiny import RECIPE

OWN: dict[str, dict[str, Any]] = {
    "lstm": {"hidden": 6, "word_dropout": 0.0},
    "cnn": {"widths": [2, 3, 4], "filters": 5, "word_dropout": 0.0},
    "mlstm": {"size": 6, "hidden": 7, "word_dropout": 0.0},
    "use": {"widths": [1, 3], "filters": 5},
}
KINDS = tuple({**WRITERS, **OWN})


def make_settings(kind: str, folder: Path) -> dict[str, Any]:
    """Settings of a kind, with a checkpoint or word vectors written to an empty folder."""
    settings = {"max_length": 36, "dropout": 0.0, "recipe": RECIPE} | OWN.get(kind, {})
    if kind in ("lstm", "cnn"):
        lines = [f"{word} {place} {place % 2} {-place / 3}" for place, word in enumerate([*WORDS, "bad"], start=1)]
        (folder / "vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        settings["vectors"] = {"file": str(folder / "vectors.txt")}
    elif kind != "mlstm":
        settings["checkpoint"] = {"path": str(write_encoder("bert" if kind == "use" else kind, folder))}
    return settings


def build_kind(kind: str, folder: Path, **settings: Any) -> Built:
    """A kind of the matrix over the words of `make_settings`."""
    module = load_matrix().tables["models"][kind].partition(":")[0]
    return importlib.import_module(module).build(make_settings(kind, folder) | settings, [(*WORDS, "bad")], folder)
