"""Precision at k and rank of the injected tokens in a salience ranking, with one rule for ties.

Ties: the expected value under uniformly random tie-breaking, in closed form; constant scores therefore
get exactly what random scores get on average. Does not aggregate subwords and knows no models.
Source: Bastings et al. 2022, section 4 (P@k and mean rank); the tie rule is ours.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike, NDArray


def _prepare(scores: ArrayLike, truth: Collection[int]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError(f"scores must be one finite number per token, got shape {values.shape}: {values}")
    if not truth or not set(truth) <= set(range(len(values))):
        raise ValueError(f"truth positions {sorted(truth)} must be one or more of the {len(values)} tokens")
    wanted = np.zeros(len(values), dtype=bool)
    wanted[list(truth)] = True
    return values, wanted


def precision_at_k(scores: ArrayLike, truth: Collection[int], k: int | None = None) -> float:
    """Share of the k highest-scored tokens that were injected: |top_k ∩ G| / k.

    Args:
        scores: [tokens], higher means more salient.
        truth: positions of the injected tokens, G.
        k: how many tokens to look at; by default the number of injected tokens.

    Returns:
        Expected precision in [0, 1], 1 is best.

    Raises:
        ValueError: scores not finite or not one-dimensional, truth outside the text, k outside 1..tokens.

    >>> precision_at_k([0.1, 0.9, 0.5, 0.2], {1, 3})
    0.5
    >>> precision_at_k([1.0, 1.0, 1.0, 1.0], {1, 3})
    0.5
    """
    values, wanted = _prepare(scores, truth)
    k = len(truth) if k is None else k
    if not 1 <= k <= len(values):
        raise ValueError(f"k = {k} must lie in 1..{len(values)}, the number of tokens")
    boundary = np.sort(values)[-k]
    above, tied = values > boundary, values == boundary
    slots = k - above.sum()
    expected = wanted[above].sum() + wanted[tied].sum() * slots / tied.sum()
    return float(expected / k)


def truth_rank(scores: ArrayLike, truth: Collection[int]) -> float:
    """Smallest r such that the r highest-scored tokens hold every injected one: G ⊆ top_r.

    Args:
        scores: [tokens], higher means more salient.
        truth: positions of the injected tokens, G.

    Returns:
        Expected rank in [|G|, tokens], lower is better. The mean over texts is the paper's mean rank.

    Raises:
        ValueError: as `precision_at_k`.

    >>> truth_rank([0.1, 0.9, 0.5, 0.2], {1, 3})
    3.0
    >>> truth_rank([0.0, 0.0, 0.0], {1})
    2.0
    """
    values, wanted = _prepare(scores, truth)
    lowest = values[wanted].min()
    tied = values == lowest
    group, sought = int(tied.sum()), int((tied & wanted).sum())
    # The last of `sought` items in a random order of `group` stands, on average, at sought (group + 1) / (sought + 1).
    return float((values > lowest).sum() + sought * (group + 1) / (sought + 1))


def is_tied(scores: ArrayLike, k: int) -> bool:
    """Whether tie-breaking decides which tokens are the top k: the k-th and the next score are equal.

    >>> is_tied([3.0, 2.0, 2.0, 1.0], 2), is_tied([3.0, 2.0, 2.0, 1.0], 3)
    (True, False)
    """
    ordered = np.sort(np.asarray(scores, dtype=np.float64))[::-1]
    return bool(k < len(ordered) and ordered[k - 1] == ordered[k])
