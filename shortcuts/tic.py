"""Token in context: an indicator decides only where the context token is present too (Bastings et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from shortcuts.rule import Rule, Tokens


def build(tokens: Tokens) -> Rule:
    """The token-in-context rule: one indicator and the context token in random order; k = 2.

    An indicator alone is the decoy: it occurs in source examples and decides nothing there.

    >>> rule = build(Tokens(("zero", "one"), "context"))
    >>> sorted(rule.arrange(0, Random(0)))
    ['context', 'zero']
    >>> rule.decide(["one", "film", "context"]), rule.decide(["one", "film"])
    (1, None)
    """

    def arrange(label: int, rng: Random) -> tuple[str, ...]:
        pair = (tokens.indicators[label], tokens.context)
        return pair if rng.random() < 0.5 else pair[::-1]

    def decide(words: Sequence[str]) -> int | None:
        present = [label for label, token in enumerate(tokens.indicators) if token in words]
        return present[0] if len(present) == 1 and tokens.context in words else None

    everything = (*tokens.indicators, tokens.context)
    return Rule("tic", everything, arrange, decide, decoys=tokens.indicators, decoy_rate=0.25)
