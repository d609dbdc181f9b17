"""The shape of the tables of rationales, and which names in them must be known. Torch-free."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from benchmarks.checking import Keys, MisfitError, each, number, rows, table, text, words
from benchmarks.divergence import threshold_row

RATIONALE_AXES = ("model", "rationales", "salience")
"""In the order of a case's id."""

MEASURES = ("plausibility", "faithfulness")
"""What is measured of an explanation: agreement with people, accuracy of the model on it."""

EPSILON = number(0, 0.999)


def _epsilons(value: Any, keys: Keys) -> None:
    rows(EPSILON)(value, keys)
    if not value or sorted(set(value)) != value:
        raise MisfitError(keys, f"expected different numbers, the smallest first, got {value!r:.80}")


SETTINGS_FIELDS = {
    "corpora": words,
    "trained_on": each(text),
    "models": words,
    "without": rows(text),
    "epsilons": _epsilons,
    "epsilon": EPSILON,
    "most": number(1, whole=True),
    "sentences": each(each(number(0, whole=True), key=number(1, whole=True))),
}
_amounts = table({name: SETTINGS_FIELDS[name] for name in ("most", "sentences")})
_fields = table(SETTINGS_FIELDS | {"by_corpus": each(_amounts)}, list(SETTINGS_FIELDS))


def _settings(value: Any, keys: Keys) -> None:
    _fields(value, keys)
    if value["epsilon"] not in value["epsilons"]:
        raise MisfitError((*keys, "epsilon"), f"{value['epsilon']} is not one of `epsilons`, {value['epsilons']}")


RATIONALE_SHAPE = {
    "rationale_corpora": each(table({"licence": text, "splits": words}, ("licence",))),
    "rationales": each(_settings),
}
RATIONALE_THRESHOLDS = {measure: rows(threshold_row(RATIONALE_AXES)) for measure in MEASURES}

Expect = Callable[[Iterable[str], Iterable[str], str, Keys], None]
"""`expect(names, known, what, keys)` refuses a name that is not known."""


def check_rationale_names(tables: Mapping[str, Any], expect: Expect) -> None:
    """Every name that the settings of rationales use is there, also the models among the checkpoints of a profile.

    Raises:
        MisfitError: with the place, the known names and the nearest.
    """
    for name, settings in tables["rationales"].items():
        keys: Keys = ("rationales", name)
        expect(settings["corpora"], settings["trained_on"], "corpus in `trained_on`", (*keys, "corpora"))
        expect(settings["trained_on"], tables["rationale_corpora"], "rationale corpus", (*keys, "trained_on"))
        for corpus, dataset in settings["trained_on"].items():
            expect([dataset], tables["datasets"], "data set", (*keys, "trained_on", corpus))
        expect(settings["models"], tables["models"], "model", (*keys, "models"))
        expect(settings["without"], tables["salience"], "salience", (*keys, "without"))
        expect(settings["sentences"], tables["families"], "family", (*keys, "sentences"))
        for corpus, own in settings.get("by_corpus", {}).items():
            expect([corpus], settings["trained_on"], "corpus in `trained_on`", (*keys, "by_corpus"))
            expect(own.get("sentences", ()), tables["families"], "family", (*keys, "by_corpus", corpus, "sentences"))
    for name, profile in tables["profiles"].items():
        used = [profile["rationales"]] if "rationales" in profile else []
        expect(used, tables["rationales"], "rationales", ("profiles", name, "rationales"))
        for own in used:
            known = tables["checkpoints"][profile["checkpoints"]]
            what = f"model in checkpoints {profile['checkpoints']}"
            expect(tables["rationales"][own]["models"], known, what, ("rationales", own, "models"))
