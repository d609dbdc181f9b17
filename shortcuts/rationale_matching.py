"""Agreement with a rationale as ERASER measures it: token F1, IOU F1 over spans, area under precision and recall.

Sets of positions stand for explanation E and rationale L, as in `rationales`, and 0 / 0 is None there as here. Ties of
scores: words of equal score pass a threshold together. Spans are read off the positions, so that two pieces of evidence
side by side are one span.
Source: DeYoung et al. 2020 (ERASER), section 4.1, and its published scorer for what the section leaves open.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortcuts.rationales import check_positions, divide

IOU = 0.5
"""Two spans match from this intersection over union on."""


@dataclass(frozen=True)
class SpanMatch:
    """Spans of neighbouring words that match.

    Attributes:
        matched: spans of the explanation whose intersection over union with one of people's reaches the threshold.
        explained: spans of the explanation.
        marked: spans of the rationale.
    """

    matched: int
    explained: int
    marked: int

    @property
    def precision(self) -> float | None:
        return divide(self.matched, self.explained)

    @property
    def recall(self) -> float | None:
        return divide(self.matched, self.marked)

    @property
    def f1(self) -> float | None:
        """IOU F1 of the sentence, in [0, 1], higher is better; None where neither has a span."""
        return divide(2 * self.matched, self.explained + self.marked)


def token_f1(explanation: Collection[int], rationale: Collection[int]) -> float | None:
    """F1 over words: 2 |E∩L| / (|E| + |L|), in [0, 1], higher is better; None where both are empty.

    Its mean over sentences is ERASER's macro-averaged token F1.

    >>> token_f1({0, 1}, {1, 2, 3, 4})
    0.3333333333333333
    """
    chosen, marked = frozenset(explanation), frozenset(rationale)
    return divide(2 * len(chosen & marked), len(chosen) + len(marked))


def find_spans(positions: Collection[int]) -> list[range]:
    """The longest runs of neighbouring positions, in order.

    >>> find_spans({7, 2, 3, 4})
    [range(2, 5), range(7, 8)]
    """
    spans: list[range] = []
    for position in sorted(set(positions)):
        if spans and spans[-1].stop == position:
            spans[-1] = range(spans[-1].start, position + 1)
        else:
            spans.append(range(position, position + 1))
    return spans


def match_spans(explanation: Collection[int], rationale: Collection[int], threshold: float = IOU) -> SpanMatch:
    """Spans of the explanation that match a span of the rationale.

    From a threshold of a half on no two spans match the same one: those between which a word is missing cannot both
    cover half of it. So precision and recall count the same pairs.

    Args:
        explanation, rationale: positions; neighbouring ones are one span.
        threshold: in [0.5, 1].

    Raises:
        ValueError: a threshold at which a span could match several.

    >>> match_spans({2, 3, 8}, {1, 2, 3, 5})
    SpanMatch(matched=1, explained=2, marked=2)
    """
    if not 0.5 <= threshold <= 1:
        raise ValueError(f"threshold = {threshold} must lie in [0.5, 1], where a span matches one other at most")
    ours, theirs = find_spans(explanation), find_spans(rationale)
    matched = sum(any(_overlap(span, other) >= threshold for other in theirs) for span in ours)
    return SpanMatch(matched, len(ours), len(theirs))


def _overlap(first: range, second: range) -> float:
    shared = max(0, min(first.stop, second.stop) - max(first.start, second.start))
    return shared / (len(first) + len(second) - shared)


def macro_f1(precision: float | None, recall: float | None) -> float | None:
    """ERASER's macro-averaged IOU F1 of a corpus: the F1 of mean precision and mean recall, not the mean of F1s.

    Args:
        precision, recall: means over the sentences for which `SpanMatch` has one, or None.

    Returns:
        In [0, 1], higher is better; None where either is undefined.

    >>> macro_f1(0.5, 0.5), macro_f1(0.0, 0.0), macro_f1(None, 1.0)
    (0.5, 0.0, None)
    """
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def average_precision(scores: ArrayLike, rationale: Collection[int]) -> float | None:
    """Area under precision over recall, as steps: the sum of precision times the recall gained at each threshold.

    Args:
        scores: [words], higher means more salient; only their order matters.
        rationale: L, positions.

    Returns:
        In (0, 1], higher is better; |L| / |S| for constant scores; None for an empty rationale.

    Raises:
        ValueError: scores that are not one finite number a word, or positions outside.

    >>> round(average_precision([0.9, 0.1, 0.5, 0.2], {0, 3}), 4)
    0.8333
    """
    curve = _trace(scores, rationale)
    return float(curve[0][1:] @ np.diff(curve[1])) if curve else None


def auprc(scores: ArrayLike, rationale: Collection[int]) -> float | None:
    """Area under the straight lines between the points of precision and recall: the AUPRC that ERASER publishes.

    It flatters coarse scores, because a line to (recall 0, precision 1) is drawn: constant scores have
    (1 + |L| / |S|) / 2. Compare methods by `average_precision`; this one is for comparison with ERASER's tables.
    Arguments, result and errors are those of `average_precision`.

    >>> auprc([0.9, 0.1, 0.5, 0.2], {0, 3}), auprc([1.0, 1.0, 1.0, 1.0], {0, 3})
    (0.7916666666666666, 0.75)
    """
    curve = _trace(scores, rationale)
    return float((curve[0][1:] + curve[0][:-1]) @ np.diff(curve[1]) / 2) if curve else None


def _trace(scores: ArrayLike, rationale: Collection[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Precision and recall from the highest threshold to the lowest, after the point (precision 1, recall 0)."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError(f"scores must be one finite number a word, got shape {values.shape}: {values}")
    check_positions(len(values), rationale)
    if not rationale:
        return None
    wanted = np.zeros(len(values), dtype=bool)
    wanted[list(rationale)] = True
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    last_of_ties = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    hits = np.cumsum(wanted[order])[last_of_ties]
    return np.concatenate([[1.0], hits / (last_of_ties + 1)]), np.concatenate([[0.0], hits / wanted.sum()])
