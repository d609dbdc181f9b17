"""Ordered pair: both indicators are present and their order decides the label (Bastings et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from shortcuts.rule import Rule, Tokens


def build(tokens: Tokens) -> Rule:
    """The ordered-pair rule: indicator 0 before indicator 1 means class 0, the reverse class 1; k = 2.

    >>> rule = build(Tokens(("zero", "one"), "context"))
    >>> rule.arrange(1, Random(0))
    ('one', 'zero')
    >>> rule.decide(["zero", "film", "one"]), rule.decide(["one", "film"])
    (0, None)
    """
    first, second = tokens.indicators

    def arrange(label: int, rng: Random) -> tuple[str, ...]:
        return (first, second) if label == 0 else (second, first)

    def decide(words: Sequence[str]) -> int | None:
        order = [word for word in words if word in tokens.indicators]
        if sorted(order) != sorted(tokens.indicators):
            return None
        return 0 if order[0] == first else 1

    return Rule("op", tokens.indicators, arrange, decide, decoys=tokens.indicators, decoy_rate=0.25)
