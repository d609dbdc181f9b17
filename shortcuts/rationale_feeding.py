"""Faithfulness as the accuracy on an explanation alone: which words are fed to the model instead of the sentence.

Beside the explanation stand its two references: as many words drawn at random, and the words that people marked. An
explanation without words feeds nothing: the model is not asked, the sentence is left out of the accuracy and counted.
Does not run a model. Source: El Zini et al. 2022 (accuracy on the words above epsilon); the references are ours.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from shortcuts.rationales import check_positions

FEEDS = ("full", "explanation", "random", "human")
"""What a model is fed with: the whole sentence, the explanation, as many words at random, the rationale."""


def keep_words(words: Sequence[str], positions: Collection[int]) -> tuple[str, ...]:
    """The words at some positions, in the order of the sentence.

    Raises:
        ValueError: positions outside the sentence.

    >>> keep_words(["a", "very", "good", "film"], {3, 2})
    ('good', 'film')
    """
    check_positions(len(words), positions)
    return tuple(words[position] for position in sorted(set(positions)))


def draw_positions(length: int, size: int, seed: int) -> frozenset[int]:
    """So many positions of a sentence, each set of that size as likely as any other.

    Args:
        length: words of the sentence.
        size: words to draw, in 0..length.
        seed: of this sentence; the draw depends on nothing else.

    Raises:
        ValueError: more words than there are.

    >>> len(draw_positions(10, 3, seed=0)), draw_positions(10, 3, seed=0) == draw_positions(10, 3, seed=0)
    (3, True)
    """
    if not 0 <= size <= length:
        raise ValueError(f"size = {size} must lie in 0..{length}, the number of words")
    return frozenset(np.random.default_rng(seed).choice(length, size, replace=False).tolist())


def plan_feeds(
    words: Sequence[str], explanation: Collection[int], rationale: Collection[int], seed: int
) -> dict[str, tuple[str, ...] | None]:
    """The words that a model is fed with for each of `FEEDS`.

    Args:
        words: the sentence.
        explanation: positions of the words above epsilon (`select_words`).
        rationale: positions that people marked.
        seed: of the random words of this sentence.

    Returns:
        Feed -> words in order, or None where there are none and the model cannot be asked.

    Raises:
        ValueError: positions outside the sentence.

    >>> feeds = plan_feeds(["a", "good", "film"], {1, 2}, set(), seed=0)
    >>> feeds["explanation"], len(feeds["random"]), feeds["human"]
    (('good', 'film'), 2, None)
    """
    drawn = draw_positions(len(words), len(set(explanation)), seed)
    positions = dict(zip(FEEDS, (range(len(words)), explanation, drawn, rationale), strict=True))
    return {feed: keep_words(words, chosen) or None for feed, chosen in positions.items()}
