"""What every message about a broken input has to be, and the tables of a matrix that is almost right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.matrix import MatrixError, load_matrix
from fixtures.schema import check_thresholds


def assert_plain(message: str, parts: Sequence[str]) -> None:
    """One line for a person: it holds what happened, where and what to do, and nothing of the harness's inside."""
    assert message
    assert "\n" not in message.strip(), message
    for word in ("Traceback", "INTERNALERROR", "<unicode string>", "During handling"):
        assert word not in message
    for part in parts:
        assert part in message, f"{part!r} is not in {message!r}"


def assert_refused(folder: Path, text: str, parts: Sequence[str]) -> None:
    """An overlay of this text, or a threshold in it, is refused in one line."""
    path = folder / "mine.yaml"
    path.write_text(f"# a line before\n{text}\n")
    with pytest.raises(MatrixError) as caught:
        check_thresholds(load_matrix([path]).profile)
    assert_plain(str(caught.value), parts)


def in_profile(text: str) -> str:
    """An overlay that changes the embedded profile."""
    return f"profiles: {{embedded: {{{text}}}}}\n"


def in_settings(text: str, model: str = "lstm") -> str:
    """An overlay that changes what the embedded profile trains."""
    return f"checkpoints: {{embedded: {{{model}: {{{text}}}}}}}\n"


def in_recipe(text: str) -> str:
    """An overlay that changes the recipe of the embedded lstm."""
    return in_settings(f"recipe: {{{text}}}")
