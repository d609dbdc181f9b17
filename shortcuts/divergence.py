"""Explainer Divergence Scores: can an explanation give away whether the model behind it is spurious?

A detector is trained to tell explanations of spurious models from explanations of clean ones, and judged on models and
images that it never saw. Here stands what is counted, not how a detector is trained; beside it the arithmetic of three
older measures, which average a similarity of explanations.
Source: Cardozo et al. 2022 (EDS); Adebayo et al. 2022 (KSSD, CCM, FAM).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike, NDArray

SUBCLASSES = ("S/NA", "NS/NA", "S/A", "NS/A")
"""Image of the spurious class or not (S, NS), with the artifact or not (A, NA)."""

WITH_ARTIFACT, WITHOUT_ARTIFACT, FALSE_ALARM = ("S/A", "NS/A"), ("S/NA", "NS/NA"), ("NS/A",)
"""The subclasses that KSSD, CCM and FAM look at."""

FLOOR = 1e-6
"""Smallest probability of the truth that the bits count, so that one confident mistake does not make them infinite."""

Rows = NDArray[np.intp]


def judge_explanations(probabilities: ArrayLike, spurious: ArrayLike) -> NDArray[np.float64]:
    """Whether a detector was right about each explanation: 1 right, 0 wrong, 0.5 undecided.

    The mean is the Explainer Divergence Score, in [0, 1]: 0.5 means no information, 1 that every explanation gives its
    model away; higher means more information. Where one subclass alone is averaged, 0.5 has the same meaning.

    Args:
        probabilities: [n], of the model being spurious, in [0, 1].
        spurious: [n], whether it was.

    Raises:
        ValueError: probabilities outside [0, 1], or not as many as truths.

    >>> judge_explanations([0.9, 0.9, 0.5], [True, False, True])
    array([1. , 0. , 0.5])
    """
    given, truth = _prepare(probabilities, spurious)
    return np.where(given == 0.5, 0.5, (given > 0.5) == truth)


def measure_bits(probabilities: ArrayLike, spurious: ArrayLike) -> NDArray[np.float64]:
    """Information of each explanation about its model: 1 - cross-entropy, in bits.

    The mean over equally many spurious and clean explanations would be the Jensen-Shannon divergence between the two
    populations of explanations if the detector were perfect. A real detector gives a lower bound that is hard to
    estimate: overconfidence alone makes it negative. At most 1; 0 is a coin; higher means more information.

    Args:
        probabilities: [n], of the model being spurious, in [0, 1].
        spurious: [n], whether it was.

    Raises:
        ValueError: as `judge_explanations`.

    >>> measure_bits([0.5, 1.0, 0.25], [True, True, True])
    array([ 0.,  1., -1.])
    """
    given, truth = _prepare(probabilities, spurious)
    return 1 + np.log2(np.maximum(np.where(truth, given, 1 - given), FLOOR))


def split_models(
    models: ArrayLike, spurious: ArrayLike, rng: np.random.Generator, share: float = 0.7
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Split the models of both populations, each in the same share, so that no model is on both sides.

    Args:
        models: [n], the id of the model behind each explanation, in any order and number.
        spurious: [n], whether that model is spurious.
        rng: decides who goes where; the order of the explanations does not.
        share: of each population that goes to training, rounded, but never all of it and never none.

    Returns:
        Ids of the models to train on and of those to validate on, sorted.

    Raises:
        ValueError: a model that is both spurious and clean; fewer than two models in a population.

    >>> split_models([1, 2, 3, 4, 4], [True, True, False, False, False], np.random.default_rng(0), 0.5)
    (array([1, 3]), array([2, 4]))
    """
    ids, truth = np.asarray(models), np.asarray(spurious, dtype=bool)
    populations = np.unique(ids[truth]), np.unique(ids[~truth])
    if both := set(populations[0].tolist()) & set(populations[1].tolist()):
        raise ValueError(f"models {sorted(both)} are said to be both spurious and clean")
    train, validation = [], []
    for population, name in zip(populations, ("spurious", "clean"), strict=True):
        if len(population) < 2:
            raise ValueError(f"a split needs at least 2 {name} models, got {len(population)}")
        count = min(max(1, round(share * len(population))), len(population) - 1)
        order = rng.permutation(population)
        train.append(order[:count])
        validation.append(order[count:])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(validation))


def count_examples(labels: ArrayLike, artifact: ArrayLike, classes: int) -> NDArray[np.float64]:
    """Of the influential examples of each explanation, the share in each (class, artifact absent or present).

    Args:
        labels: [n, k], class of every example, from 0.
        artifact: [n, k], whether it carries the artifact.
        classes: number of classes.

    Returns:
        [n, classes, 2], summing to 1 for each explanation.

    >>> count_examples([[0, 0, 1, 1]], [[True, True, True, False]], 2).tolist()
    [[[0.0, 0.5], [0.25, 0.25]]]
    """
    places = 2 * np.asarray(labels, dtype=np.int64) + np.asarray(artifact, dtype=bool)
    shares = (places[:, :, None] == np.arange(2 * classes)).mean(1)
    return shares.reshape(len(places), classes, 2)


def bhattacharyya(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Bhattacharyya coefficient of distributions, in [0, 1]: 0 nothing in common, 1 the same.

    Args:
        first, second: [n, ...], each summing to 1 over all but the first axis; a first axis of 1 stands for all.

    >>> bhattacharyya([[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]])
    array([0., 1.])
    """
    products = np.sqrt(np.asarray(first, dtype=np.float64) * np.asarray(second, dtype=np.float64))
    return products.reshape(len(products), -1).sum(1)


def negate_distance(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Similarity of concept vectors: the negative mean squared difference, at most 0; 0 means the same.

    Args:
        first, second: [n, concepts].

    >>> negate_distance([[1.0, 0.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]])
    array([-0.5, -0. ])
    """
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    return -(difference**2).mean(1)


def find_known_signal(spurious: ArrayLike, subclass: ArrayLike) -> Rows:
    """The explanations that KSSD compares with the truth: spurious models on images with the artifact.

    Args:
        spurious: [n], whether the model is spurious.
        subclass: [n], index into `SUBCLASSES`.

    >>> find_known_signal([True, True, False], [0, 2, 2])
    array([1])
    """
    return np.flatnonzero(np.asarray(spurious, dtype=bool) & _lies_in(subclass, WITH_ARTIFACT))


def pair_populations(
    images: ArrayLike,
    spurious: ArrayLike,
    subclass: ArrayLike,
    wanted: Collection[str],
    rng: np.random.Generator,
) -> tuple[Rows, Rows]:
    """Pairs of explanations of one image, by a spurious model and by a clean one, as CCM and FAM compare them.

    CCM (cause for concern) averages the similarity over `WITHOUT_ARTIFACT`, FAM (false alarm) over `FALSE_ALARM`; the
    higher, the less of the spurious signal an explainer shows there.

    Args:
        images: [n], id of the image explained.
        spurious: [n], whether the model is spurious.
        subclass: [n], index into `SUBCLASSES`; an image with the artifact and the same without are different ones.
        wanted: the subclasses to pair in.
        rng: who is paired with whom, where several models explained an image; each explanation is used at most once.

    Returns:
        Rows of the spurious explanations and, at the same places, of the clean ones; empty if no image has both.

    >>> pair_populations([7, 7, 8], [True, False, False], [1, 1, 1], ["NS/NA"], np.random.default_rng(0))
    (array([0]), array([1]))
    """
    truth, kinds, ids = np.asarray(spurious, dtype=bool), np.asarray(subclass), np.asarray(images)
    groups: dict[tuple[int, int], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for row in rng.permutation(np.flatnonzero(_lies_in(subclass, wanted))).tolist():
        groups[int(ids[row]), int(kinds[row])][0 if truth[row] else 1].append(row)
    pairs = [pair for ours, theirs in groups.values() for pair in zip(ours, theirs, strict=False)]
    table = np.asarray(pairs, dtype=np.intp).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _lies_in(subclass: ArrayLike, wanted: Collection[str]) -> NDArray[np.bool_]:
    return np.isin(np.asarray(subclass), [SUBCLASSES.index(name) for name in wanted])


def _prepare(probabilities: ArrayLike, spurious: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    given, truth = np.asarray(probabilities, dtype=np.float64), np.asarray(spurious, dtype=bool)
    if given.shape != truth.shape or given.ndim != 1 or not ((given >= 0) & (given <= 1)).all():
        raise ValueError(f"one probability in [0, 1] an explanation is needed, got shapes {given.shape}, {truth.shape}")
    return given, truth
