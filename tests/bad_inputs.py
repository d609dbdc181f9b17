"""What every message about a broken input has to be, and the tables of a matrix that is almost right."""

from __future__ import annotations

from collections.abc import Sequence


def assert_plain(message: str, parts: Sequence[str]) -> None:
    """One line for a person: it holds what happened, where and what to do, and nothing of the harness's inside."""
    assert message
    assert "\n" not in message.strip(), message
    for word in ("Traceback", "INTERNALERROR", "<unicode string>", "During handling"):
        assert word not in message
    for part in parts:
        assert part in message, f"{part!r} is not in {message!r}"


def in_profile(text: str) -> str:
    """An overlay that changes the embedded profile."""
    return f"profiles: {{embedded: {{{text}}}}}\n"


def in_settings(text: str, model: str = "lstm") -> str:
    """An overlay that changes what the embedded profile trains."""
    return f"checkpoints: {{embedded: {{{model}: {{{text}}}}}}}\n"


def in_recipe(text: str) -> str:
    """An overlay that changes the recipe of the embedded lstm."""
    return in_settings(f"recipe: {{{text}}}")
