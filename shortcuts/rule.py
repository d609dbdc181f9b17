"""The contract of a shortcut: its tokens, what is injected for a label, what label a text then has.

Source: Bastings et al. 2022, section 3 (the three shortcut types are instances of this contract).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random


class RuleError(ValueError):
    """A rule, its tokens or its functions cannot be used; the message says why."""


@dataclass(frozen=True)
class Tokens:
    """The words a rule may inject; set once in the matrix, so that a colliding corpus can change them."""

    indicators: tuple[str, str]
    context: str


@dataclass(frozen=True)
class Rule:
    """A shortcut.

    Attributes:
        name: the axis word of the case ids.
        tokens: every token the rule can inject; none may occur in the corpus.
        arrange: `(label, rng) -> tokens` to inject for that label, in reading order.
        decide: `words -> label`, or None where the rule says nothing about a text.
        decoys: tokens of which one alone is put into some source examples, label unchanged.
        decoy_rate: probability that a source example gets such a decoy, in [0, 1].
    """

    name: str
    tokens: tuple[str, ...]
    arrange: Callable[[int, Random], tuple[str, ...]]
    decide: Callable[[Sequence[str]], int | None]
    decoys: tuple[str, ...] = ()
    decoy_rate: float = 0.0

    def __post_init__(self) -> None:
        if len(set(self.tokens)) != len(self.tokens) or not self.tokens:
            raise RuleError(f"shortcut {self.name!r}: tokens must be distinct and not empty, got {self.tokens}")
        if not set(self.decoys) <= set(self.tokens) or not 0 <= self.decoy_rate <= 1:
            raise RuleError(
                f"shortcut {self.name!r}: decoys must be some of its tokens and decoy_rate a share from 0 to 1, got "
                f"{self.decoys} and {self.decoy_rate}"
            )
        for token in self.tokens:
            if not token.isalnum() or token != token.lower():
                raise RuleError(
                    f"shortcut {self.name!r}: token {token!r} must be lower-case letters and digits only; "
                    "anything else is cut or changed by some tokenizers"
                )
