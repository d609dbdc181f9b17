"""Single token: one of two indicators is present and alone decides the label (Bastings et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from shortcuts.rule import Rule, Tokens


def build(tokens: Tokens) -> Rule:
    """The single-token rule over the two indicators; k = 1.

    >>> rule = build(Tokens(("zero", "one"), "context"))
    >>> rule.arrange(1, Random(0)), rule.decide(["a", "one", "film"]), rule.decide(["a", "film"])
    (('one',), 1, None)
    """

    def arrange(label: int, rng: Random) -> tuple[str, ...]:
        return (tokens.indicators[label],)

    def decide(words: Sequence[str]) -> int | None:
        present = [label for label, token in enumerate(tokens.indicators) if token in words]
        return present[0] if len(present) == 1 else None

    return Rule("single", tokens.indicators, arrange, decide)
