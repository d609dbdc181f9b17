"""Scores of a model's tokens as weights of words in [0, 1], and the explanation that lies above an epsilon.

One rule for every salience method, so that an epsilon means the same for all: a word's score is the sum of its pieces'
scores, its weight the positive part of that divided by the largest of the sentence. A weight of 0.3 reads "at least 0.3
of what the strongest word says for the predicted class". Does not compare with people.
Source: the epsilons are those of El Zini et al. 2022, whose scale is not stated; the scale is ours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

PIECES = "sum"
"""How the scores of a word's pieces are joined, for the record: attributions add up to the output, so parts add up."""

EPSILONS = (0.1, 0.2, 0.3, 0.5)
"""The grid of El Zini et al. 2022: all four for SHAP, the first three for LIME; an anchor is a set and has none."""


def join_pieces(scores: ArrayLike, words: Sequence[int | None], length: int) -> NDArray[np.float64]:
    """Scores of words: the sum of the scores of a word's tokens.

    Args:
        scores: [scored tokens], one number for each token of the text, special tokens left out.
        words: for each token the position of its word, None for special tokens (`Encoded.words`).
        length: words of the sentence.

    Returns:
        [length]. A word of which the model read no token, because the text was truncated or the tokenizer drops it,
        has 0: nothing was said about it, so that it is in no explanation.

    Raises:
        ValueError: not one finite score for each scored token, or a word outside 0..length.

    >>> join_pieces([0.5, 0.25, -1.0], [None, 0, 0, 1, None], 3).tolist()
    [0.75, -1.0, 0.0]
    """
    owners = [word for word in words if word is not None]
    values = _as_scores(scores)
    if len(values) != len(owners):
        raise ValueError(f"{len(values)} scores for {len(owners)} tokens; give one a token, special tokens left out")
    if owners and not 0 <= min(owners) <= max(owners) < length:
        raise ValueError(f"tokens belong to words {min(owners)} to {max(owners)}, outside a sentence of {length} words")
    joined = np.zeros(length)
    np.add.at(joined, owners, values)
    return joined


def scale_weights(scores: ArrayLike) -> NDArray[np.float64]:
    """Weights of words: the positive part of each score, divided by the largest.

    Signed methods score towards the predicted class, so a word that speaks against it has weight 0; scores that are
    never negative (norms, attention) keep their proportions. Multiplying all scores by a positive number changes
    nothing. A set, as an anchor is, becomes weights by scoring its words 1 and the others 0.

    Args:
        scores: [words], higher means more salient.

    Returns:
        [words] in [0, 1]: the largest is 1, or all are 0 where no score is positive.

    Raises:
        ValueError: scores that are not one finite number a word.

    >>> scale_weights([2.0, -3.0, 0.5]).tolist()
    [1.0, 0.0, 0.25]
    >>> scale_weights([-1.0, 0.0]).tolist()
    [0.0, 0.0]
    """
    positive = np.maximum(_as_scores(scores), 0.0)
    peak = positive.max(initial=0.0)
    return positive / peak if peak > 0 else positive


def select_words(weights: ArrayLike, epsilon: float) -> frozenset[int]:
    """The explanation E: positions of the words whose weight lies above epsilon.

    Words of equal weight are in it together or not at all, so that ties need no rule.

    Args:
        weights: [words] in [0, 1], as of `scale_weights`.
        epsilon: in [0, 1); at 0 every word that speaks for the predicted class is in it.

    Returns:
        Positions; a subset of those at any smaller epsilon.

    Raises:
        ValueError: weights outside [0, 1], or an epsilon that no weight or every weight is above.

    >>> sorted(select_words([1.0, 0.0, 0.25], 0.2)), sorted(select_words([1.0, 0.0, 0.25], 0.25))
    ([0, 2], [0])
    """
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon = {epsilon} must lie in [0, 1), the scale of the weights")
    values = check_weights(weights)
    return frozenset(np.flatnonzero(values > epsilon).tolist())


def check_weights(weights: ArrayLike) -> NDArray[np.float64]:
    """The weights as an array.

    Raises:
        ValueError: weights that are not one number in [0, 1] a word.
    """
    values = _as_scores(weights)
    if ((values < 0) | (values > 1)).any():
        raise ValueError(f"weights must lie in [0, 1], got {values.min()} to {values.max()}; use scale_weights first")
    return values


def _as_scores(scores: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError(f"scores must be one finite number each, got shape {values.shape}: {values}")
    return values
