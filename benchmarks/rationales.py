"""Cases of plausibility and faithfulness: model x rationale corpus x salience, each once a measure. Torch-free."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.matrix import Case, Matrix, Threshold
from benchmarks.overlays import merge
from benchmarks.rationale_shape import MEASURES, RATIONALE_AXES


@dataclass(frozen=True)
class RationaleCase:
    """One salience configuration on the sentences of a rationale corpus.

    Attributes:
        model, rationales, salience: axis words; `rationales` names the corpus.
        measure: plausibility or faithfulness.
    """

    model: str
    rationales: str
    salience: str
    measure: str

    @property
    def words(self) -> dict[str, str]:
        """Axis -> word, the measure last."""
        return {axis: getattr(self, axis) for axis in (*RATIONALE_AXES, "measure")}

    @property
    def id(self) -> str:
        """The words joined by hyphens; a test's own id goes without the measure, which its name says.

        >>> RationaleCase("bert", "fair_sst", "lime_unk.1k", "plausibility").id
        'bert-fair_sst-lime_unk.1k-plausibility'
        """
        return "-".join(self.words.values())


def find_rationale_settings(matrix: Matrix, corpus: str | None = None) -> dict[str, Any] | None:
    """What the profile says about rationales, or about those of a corpus; None where it has none."""
    name = matrix.profile.get("rationales")
    if name is None:
        return None
    settings = dict(matrix.tables["rationales"][name])
    return merge(settings, settings.pop("by_corpus", {}).get(corpus, {}))


def list_rationale_cases(
    matrix: Matrix, measure: str, extra_corpora: Iterable[str] = (), peers: Iterable[str] = ()
) -> list[RationaleCase]:
    """Every case of the profile, ordered so that those of one model and corpus are neighbours.

    Args:
        matrix: with the profile.
        measure: plausibility or faithfulness.
        extra_corpora: corpora beside the profile's; one that its models are not trained for is no case.
        peers: other libraries' methods to list; none is otherwise, unless the profile names it.
    """
    settings = find_rationale_settings(matrix)
    if settings is None:
        return []
    corpora = dict.fromkeys([*settings["corpora"], *(name for name in extra_corpora if name in settings["trained_on"])])
    return [
        RationaleCase(model, corpus, salience, measure)
        for model in settings["models"]
        for corpus in corpora
        for salience in list_rationale_methods(matrix, corpus, peers)
        if not matrix.excludes(Case(model, settings["trained_on"][corpus], "", salience))
    ]


def list_rationale_ids(matrix: Matrix) -> set[str]:
    """The ids of all cases that a profile could have, named or not."""
    settings = find_rationale_settings(matrix) or {"trained_on": {}}
    peers = list(matrix.tables["peers"])
    return {case.id for name in MEASURES for case in list_rationale_cases(matrix, name, settings["trained_on"], peers)}


def list_rationale_methods(matrix: Matrix, corpus: str, peers: Iterable[str] = ()) -> list[str]:
    """The salience configurations that the settings afford on a corpus."""
    settings, table = find_rationale_settings(matrix, corpus), matrix.tables["salience"]
    if settings is None:
        return []
    chosen = matrix.profile.get("salience", [name for name in table if name not in matrix.tables["peers"]])
    return [
        name
        for name in dict.fromkeys([*chosen, *peers])
        if name not in settings["without"] and count_sentences(settings, table[name]["family"], table[name]["budget"])
    ]


def count_sentences(settings: Mapping[str, Any], family: str, budget: int) -> int:
    """On how many sentences, at most, a family is judged at a budget; 0 is no case.

    >>> count_sentences({"most": 240, "sentences": {"path": {100: 24}}}, "path", 100)
    24
    """
    return int(min(settings["most"], settings["sentences"].get(family, {}).get(budget, settings["most"])))


def list_rationale_thresholds(profile: Mapping[str, Any], case: RationaleCase) -> Iterator[Threshold]:
    """The bounds that the profile's `thresholds` set on a case, in the rows of its measure."""
    for row in profile.get("thresholds", {}).get(case.measure, []):
        wanted = {axis: row[axis] for axis in RATIONALE_AXES if axis in row}
        if all(getattr(case, axis) in ([word] if isinstance(word, str) else word) for axis, word in wanted.items()):
            low, high = row.get("at_least", float("-inf")), row.get("at_most", float("inf"))
            yield Threshold(row["value"], low, high, row["why"])
