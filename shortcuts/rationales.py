"""How far an explanation agrees with people: precision, recall and fallout, plain and weighted, against a rationale.

An explanation E and a human rationale L are sets of word positions of a sentence S. One rule for what is undefined: a
measure whose denominator is zero (precision without E, recall without L, fallout where L = S) is None; means over
sentences leave it out, and a report counts it. Source: El Zini et al. 2022; the rule for undefined cases is ours.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from shortcuts.rationale_weights import EPSILONS, check_weights, select_words

JOINS = ("union", "intersection")
"""How the rationales of several annotators become one: a word that anyone marked, a word that everyone marked."""


@dataclass(frozen=True)
class Overlap:
    """Agreement of an explanation with a rationale; None is undefined.

    Attributes:
        precision: share of the explanation that people marked, in [0, 1], higher is more plausible.
        recall: share of what people marked that is in the explanation, in [0, 1], higher is more plausible.
        fallout: share of what people did not mark that is in the explanation, in [0, 1], lower is more plausible.
    """

    precision: float | None
    recall: float | None
    fallout: float | None


def join_annotators(rationales: Sequence[Collection[int]], how: str) -> frozenset[int]:
    """One rationale of several annotators'.

    Args:
        rationales: one set of positions an annotator.
        how: `union` (disjunction) or `intersection` (conjunction).

    Raises:
        ValueError: no annotator, or another word for `how`.

    >>> sorted(join_annotators([{0, 3}, {3, 4}], "union")), sorted(join_annotators([{0, 3}, {3, 4}], "intersection"))
    ([0, 3, 4], [3])
    """
    if how not in JOINS:
        raise ValueError(f"annotators are joined by {' or '.join(JOINS)}, not {how!r}")
    if not rationales:
        raise ValueError("no annotator; a rationale needs one, who may have marked no word")
    sets = [frozenset(positions) for positions in rationales]
    return frozenset.union(*sets) if how == "union" else frozenset.intersection(*sets)


def measure_overlap(
    explanation: Collection[int], rationale: Collection[int], length: int, weights: ArrayLike | None = None
) -> Overlap:
    """Precision |L∩E| / |E|, recall |L∩E| / |L| and fallout |(S-L)∩E| / |S-L|.

    With weights, |·|_W sums them wherever the explanation is counted; |L| and |S-L| stay numbers of words. Weights of 1
    give the plain measures; equal weights give the plain precision.

    Args:
        explanation: E, positions.
        rationale: L, positions.
        length: |S|, words of the sentence.
        weights: [length] in [0, 1], or None for the plain measures.

    Raises:
        ValueError: positions outside the sentence, or weights that are not one number in [0, 1] a word.

    >>> measure_overlap({0, 1}, {1, 2}, 6)
    Overlap(precision=0.5, recall=0.5, fallout=0.25)
    >>> measure_overlap({0, 1}, {1, 2}, 6, [1.0, 0.25, 0, 0, 0, 0])
    Overlap(precision=0.2, recall=0.125, fallout=0.25)
    >>> measure_overlap(set(), {0}, 1)
    Overlap(precision=None, recall=0.0, fallout=None)
    """
    check_positions(length, explanation, rationale)
    values = [1.0] * length if weights is None else check_weights(weights).tolist()
    if len(values) != length:
        raise ValueError(f"{len(values)} weights for {length} words; give one a word")
    chosen, marked = frozenset(explanation), frozenset(rationale)
    # Sums rounded once and one denominator: neither the words' order nor a larger rationale lowers precision by an ulp.
    total = math.fsum(values[position] for position in chosen)
    inside = math.fsum(values[position] for position in chosen & marked)
    outside = math.fsum(values[position] for position in chosen - marked)
    return Overlap(divide(inside, total), divide(inside, len(marked)), divide(outside, length - len(marked)))


def sweep_epsilons(
    weights: ArrayLike, rationale: Collection[int], epsilons: Sequence[float] = EPSILONS
) -> dict[float, tuple[Overlap, Overlap]]:
    """Plain and weighted agreement of the explanation above each epsilon.

    Args:
        weights: [words] in [0, 1].
        rationale: L, positions.
        epsilons: in [0, 1).

    Returns:
        epsilon -> (plain, weighted). Recall and fallout never rise with epsilon.

    Raises:
        ValueError: as `select_words` and `measure_overlap`.

    >>> sweep_epsilons([1.0, 0.25, 0.0], {0}, [0.1])[0.1]
    (Overlap(precision=0.5, recall=1.0, fallout=0.5), Overlap(precision=0.8, recall=1.0, fallout=0.125))
    """
    values = check_weights(weights)
    found = {}
    for epsilon in epsilons:
        chosen = select_words(values, epsilon)
        plain = measure_overlap(chosen, rationale, len(values))
        found[epsilon] = (plain, measure_overlap(chosen, rationale, len(values), values))
    return found


def divide(part: float, whole: float) -> float | None:
    """A share, or None where there is nothing to have a share of: the rule for what is undefined, in one place.

    >>> divide(1, 4), divide(0, 0)
    (0.25, None)
    """
    return part / whole if whole else None


def check_positions(length: int, *sets: Collection[int]) -> None:
    """Nothing, if every position is a word of the sentence.

    Raises:
        ValueError: with the positions that are outside.
    """
    outside = sorted(position for positions in sets for position in positions if not 0 <= position < length)
    if outside:
        raise ValueError(f"positions {outside} lie outside a sentence of {length} words; they count from 0")
