"""Cases of Explainer Divergence Scores for text: model x data set x shortcut x contrast x salience. Torch-free."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.matrix import Case, Matrix, Threshold, matches

TEXT_AXES = ("model", "dataset", "shortcut", "contrast", "salience")
"""In the order of a case's id."""


@dataclass(frozen=True)
class TextCase(Case):
    """Can explanations of models that use a shortcut be told from those of models that do not?

    Attributes:
        contrast: the role that mixed models are told from.
    """

    contrast: str = ""

    @property
    def words(self) -> dict[str, str]:
        """Axis -> word."""
        return {axis: getattr(self, axis) for axis in TEXT_AXES}

    @property
    def id(self) -> str:
        """The words joined by hyphens.

        >>> TextCase("lstm", "sst2", "op", "gxi.logit", "placebo").id
        'lstm-sst2-op-placebo-gxi.logit'
        """
        return "-".join(self.words.values())


def find_text_settings(matrix: Matrix) -> dict[str, Any] | None:
    """What the profile says about populations of text classifiers; None where it has none."""
    name = matrix.profile.get("text_populations")
    return None if name is None else dict(matrix.tables["text_populations"][name])


def list_text_cases(matrix: Matrix, extra_datasets: Iterable[str] = ()) -> list[TextCase]:
    """Every case of the profile, ordered so that those of the same populations are neighbours.

    Args:
        matrix: with the profile.
        extra_datasets: data sets beside the profile's.
    """
    settings = find_text_settings(matrix)
    if settings is None:
        return []
    datasets = dict.fromkeys([*matrix.profile["datasets"], *extra_datasets])
    cases = [
        TextCase(model, dataset, shortcut, salience, contrast)
        for model in settings["models"]
        for dataset in datasets
        for shortcut in settings["shortcuts"]
        for salience in list_methods(matrix, settings)
        for contrast in settings["contrasts"]
    ]
    return [case for case in cases if not matrix.excludes(case)]


def list_methods(matrix: Matrix, settings: Mapping[str, Any]) -> list[str]:
    """The salience configurations that populations of these settings are explained by."""
    table = matrix.tables["salience"]
    chosen = matrix.profile.get("salience", [name for name in table if name not in matrix.tables["peers"]])
    return [name for name in chosen if table[name]["budget"] <= settings["budget"] and name not in settings["without"]]


def list_text_thresholds(profile: Mapping[str, Any], case: TextCase) -> Iterator[Threshold]:
    """The bounds that the profile's `thresholds.text_divergence` sets on a case."""
    for row in profile.get("thresholds", {}).get("text_divergence", []):
        wanted = row.get("contrast", case.contrast)
        if matches(case, row) and case.contrast in ([wanted] if isinstance(wanted, str) else wanted):
            yield Threshold(
                row["value"], row.get("at_least", float("-inf")), row.get("at_most", float("inf")), row["why"]
            )
