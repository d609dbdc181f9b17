"""Synthetic, decoy and mixed examples from source examples, with the positions that were injected.

Everything is a function of (corpus fingerprint, rule, seed): each example draws from its own stream, so
neither the order of calls nor the process matters. Does not know a tokenizer: it is told how many model tokens
each word takes. Source: Bastings et al. 2022, section 3 and appendix.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from random import Random

from shortcuts.example import Example
from shortcuts.rule import Rule, RuleError

Widths = Callable[[Sequence[str]], Sequence[int]]
"""Model tokens that each word of a text takes."""


def count_words(words: Sequence[str]) -> list[int]:
    """The widths of a model that reads words: one token each.

    >>> count_words(["a", "film"])
    [1, 1]
    """
    return [1] * len(words)


@dataclass(frozen=True)
class Injector:
    """Injects one rule into the splits of one corpus.

    Attributes:
        rule: the shortcut.
        fingerprint: content hash of the corpus.
        seed: run seed; another seed gives another injection.
        widths: model tokens per word of a text.
        budget: model tokens a text may take before the model truncates it (special tokens not counted).
        reach: largest distance between the first and the last injected token, in model tokens.
        share: synthetic examples added to a training set, as a share of its size.
    """

    rule: Rule
    fingerprint: str
    seed: int
    widths: Widths = count_words
    budget: int = 512
    reach: int = 50
    share: float = 0.2

    def _stream(self, *path: object) -> Random:
        parts = (self.fingerprint, self.rule.name, *self.rule.tokens, self.seed, *path)
        return Random(hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest())

    def synthesise_split(self, source: Sequence[Example], split: str) -> list[Example]:
        """The fully synthetic, balanced version of a split: every source example once, label by the rule.

        Labels do not depend on the source labels. With an odd number of examples one class has one more.

        >>> from shortcuts import op
        >>> from shortcuts.rule import Tokens
        >>> injector = Injector(op.build(Tokens(("zero", "one"), "context")), "corpus", seed=0)
        >>> made = injector.synthesise_split([Example(("good",), 1), Example(("bad",), 0)], "test")
        >>> sorted(example.label for example in made)
        [0, 1]
        """
        labels = [index % 2 for index in range(len(source))]
        self._stream(split, "labels").shuffle(labels)
        return [
            self._synthesise(example, index, label, self._stream(split, "synthetic", index))
            for index, (example, label) in enumerate(zip(source, labels, strict=True))
        ]

    def mix_split(self, source: Sequence[Example], split: str) -> list[Example]:
        """Source examples, some with a decoy, followed by `share` times as many synthetic ones.

        `origin` of each result is the index of its source example, which `restore_labels` needs.
        """
        decoyed = [self._maybe_decoy(example, index, split) for index, example in enumerate(source)]
        rng = self._stream(split, "mix")
        chosen = rng.sample(range(len(source)), round(self.share * len(source)))
        synthetic = [
            self._synthesise(source[index], index, order % 2, self._stream(split, "mixed", index))
            for order, index in enumerate(chosen)
        ]
        return decoyed + synthetic

    def _synthesise(self, example: Example, index: int, label: int, rng: Random) -> Example:
        tokens = self.rule.arrange(label, rng)
        if not tokens or not set(tokens) <= set(self.rule.tokens):
            raise RuleError(
                f"shortcut {self.rule.name!r}: arrange() gives {tokens!r} for label {label}; give some of the rule's "
                f"tokens, {', '.join(self.rule.tokens)}"
            )
        made = inject(
            example,
            tokens,
            rng,
            widths=self.widths(example.words),
            budget=self.budget,
            reach=self.reach,
        )
        decided = self.rule.decide(made.words)
        if decided != label:
            raise RuleError(
                f"shortcut {self.rule.name!r}: arrange() injected {tokens} for label {label}, but decide() reads label "
                f"{decided} off {made.words!s:.200}; make them agree"
            )
        return replace(made, label=label, origin=index)

    def _maybe_decoy(self, example: Example, index: int, split: str) -> Example:
        rng = self._stream(split, "decoy", index)
        if not self.rule.decoys or rng.random() >= self.rule.decoy_rate:
            return replace(example, origin=index)
        token = self.rule.decoys[rng.randrange(len(self.rule.decoys))]
        made = inject(example, (token,), rng, widths=self.widths(example.words), budget=self.budget)
        return replace(made, truth=(), origin=index)


def restore_labels(mixed: Sequence[Example], source: Sequence[Example]) -> list[Example]:
    """The placebo of a mixed set: the same texts, every label that of the source example.

    The tokens are seen as often and in the same places, but say nothing.

    >>> restore_labels([Example(("zero", "good"), 0, (0,), origin=0)], [Example(("good",), 1)])[0].label
    1
    """
    return [replace(example, label=source[example.origin].label) for example in mixed]


def swap_tokens(example: Example, rule: Rule) -> Example | None:
    """The same text with its injected tokens in reverse order, labelled by the rule; None where there is one token.

    A model that uses the order of a pair follows the new label; one that uses a token in its context keeps the old one.

    >>> from shortcuts import op
    >>> from shortcuts.rule import Tokens
    >>> rule = op.build(Tokens(("zero", "one"), "context"))
    >>> swap_tokens(Example(("zero", "good", "one"), 0, (0, 2)), rule)
    Example(words=('one', 'good', 'zero'), label=1, truth=(0, 2), origin=0)
    """
    if len(example.truth) < 2:
        return None
    words = list(example.words)
    for place, other in zip(example.truth, reversed(example.truth), strict=True):
        words[place] = example.words[other]
    label = rule.decide(words)
    if label is None:
        raise RuleError(
            f"shortcut {rule.name!r}: decide() reads no label off {words!s:.200}, "
            "whose tokens were swapped; let it read one"
        )
    return replace(example, words=tuple(words), label=label)


def inject(
    example: Example,
    tokens: Sequence[str],
    rng: Random,
    *,
    widths: Sequence[int],
    budget: int,
    reach: int = 50,
) -> Example:
    """Insert tokens between words, uniformly over all admissible positions, keeping their order.

    Admissible: every token survives truncation to `budget` model tokens, and the last is at most `reach` model
    tokens behind the first. An injected token takes one model token.

    Args:
        example: the source example; its label is kept.
        tokens: what to insert, in reading order.
        rng: source of the positions.
        widths: model tokens per word, same length as the words.
        budget: model tokens that survive truncation.
        reach: largest distance in model tokens, at least len(tokens) - 1.

    Returns:
        The example with the tokens inserted and their positions as `truth`; removing them gives back the source.

    Raises:
        RuleError: the budget or reach cannot hold the tokens.

    >>> made = inject(Example(("good", "film"), 1), ("zero",), Random(1), widths=[1, 1], budget=8)
    >>> made.words[made.truth[0]], len(made.words)
    ('zero', 3)
    """
    if budget < len(tokens) or reach < len(tokens) - 1:
        raise RuleError(f"{len(tokens)} tokens do not fit into budget {budget} with reach {reach}; raise max_length")
    starts = [0, *accumulate(widths)]
    room = sum(1 for start in starts if start + len(tokens) <= budget)
    while True:
        gaps = sorted(rng.randrange(room) for _ in tokens)
        if starts[gaps[-1]] - starts[gaps[0]] + len(gaps) - 1 <= reach:
            break
    words = list(example.words)
    truth = tuple(gap + order for order, gap in enumerate(gaps))
    for position, token in zip(truth, tokens, strict=True):
        words.insert(position, token)
    return replace(example, words=tuple(words), truth=truth)


class CollisionError(RuleError):
    """A shortcut's token occurs in the corpus, so it would be no shortcut."""


def propose_tokens(colliding: Sequence[str], vocabulary: set[str]) -> list[str]:
    """Replacements for tokens that the corpus already contains: the token with the first free number.

    >>> propose_tokens(["one"], {"one", "one1"})
    ['one2']
    """
    free: list[str] = []
    for token in colliding:
        number = 1
        while f"{token}{number}" in vocabulary or f"{token}{number}" in free:
            number += 1
        free.append(f"{token}{number}")
    return free


def check_absent(tokens: Sequence[str], texts: Sequence[Sequence[str]]) -> None:
    """Refuse tokens that occur in a corpus, in any case or next to punctuation.

    Raises:
        CollisionError: naming the tokens found, how often, and free ones to use instead.

    >>> check_absent(["zero"], [["Zero!"]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    shortcuts.injection.CollisionError: shortcut tokens occur in the corpus: zero (1 time). ...for example: zero1
    """
    pieces = [piece for words in texts for word in words for piece in _pieces(word)]
    vocabulary = set(pieces)
    found = [token for token in tokens if token in vocabulary]
    if found:
        times = ", ".join(f"{token} ({(n := pieces.count(token))} time{'s' * (n > 1)})" for token in found)
        raise CollisionError(
            f"shortcut tokens occur in the corpus: {times}. "
            f"Use others in the matrix, for example: {', '.join(propose_tokens(found, vocabulary))}"
        )


def _pieces(word: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in word.lower()).split()
