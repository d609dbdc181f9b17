"""Cases of Explainer Divergence Scores for images, image set x artifact x explainer, and the shape of all their tables.

Torch-free. The cases for text are in `benchmarks.text_divergence`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.checking import (
    Check,
    Keys,
    MisfitError,
    anything,
    each,
    either,
    number,
    one_of,
    rows,
    table,
    target,
    text,
    words,
)
from benchmarks.overlays import merge

TABLES = {"images": "images", "artifact": "artifacts", "explainer": "explainers"}
"""Axis -> table of its words."""

KINDS = ("heatmap", "influence", "concept")
"""Of explanations of image classifiers."""

CONTRASTS = ("source", "placebo")
"""Roles of part 1 that mixed text classifiers are told from."""


@dataclass(frozen=True)
class DivergenceCase:
    """Can explanations of spurious models be told from those of clean ones?"""

    images: str
    artifact: str
    explainer: str

    @property
    def id(self) -> str:
        """The words joined by hyphens.

        >>> DivergenceCase("dsprites", "stripe", "heatmap").id
        'dsprites-stripe-heatmap'
        """
        return f"{self.images}-{self.artifact}-{self.explainer}"


def list_divergence_cases(tables: Mapping[str, Any], profile: Mapping[str, Any]) -> list[DivergenceCase]:
    """Every case of a profile, ordered so that those of one pair of populations are neighbours."""
    if "populations" not in profile:
        return []
    axes = [profile.get(name, tables[name]) for name in TABLES.values()]
    return [DivergenceCase(*chosen) for chosen in itertools.product(*axes)]


def find_settings(tables: Mapping[str, Any], profile: Mapping[str, Any], images: str, artifact: str) -> dict[str, Any]:
    """What the profile says about the populations of an image set and an artifact: the images' settings in `images`,
    the artifact's `intensity`, and the rest as in the table."""
    settings = dict(tables["populations"][profile["populations"]])
    settings = merge(settings, settings.pop("by_images", {}).get(images, {}))
    settings["images"] = tables["images"][images] | {"amount": settings.pop("amount")}
    settings["intensity"] = settings["intensity"][images][artifact]
    return settings


def list_thresholds(profile: Mapping[str, Any], case: DivergenceCase) -> Iterator[Mapping[str, Any]]:
    """Rows of the profile's `thresholds.divergence` that speak of a case."""
    for row in profile.get("thresholds", {}).get("divergence", []):
        wanted = {axis: row[axis] for axis in TABLES if axis in row}
        if all(getattr(case, axis) in ([word] if isinstance(word, str) else word) for axis, word in wanted.items()):
            yield row


WHOLE = number(1, whole=True)
SHARE = number(0, 1)


def _explainer(value: Any, keys: Keys) -> None:
    kinds = {
        "heatmap": table({"kind": text, "salience": text}, ("kind", "salience")),
        "influence": table({"kind": text, "examples": WHOLE}, ("kind", "examples")),
        "concept": table(
            {"kind": text, "labelled": WHOLE, "images": one_of("own", "both")}, ("kind", "labelled", "images")
        ),
    }
    table({"kind": one_of(*KINDS)}, ("kind",), others=anything)(value, keys)
    kinds[value["kind"]](value, keys)


def _even(value: Any, keys: Keys) -> None:
    WHOLE(value, keys)
    if value % 2:
        raise MisfitError(
            keys, f"half of the texts of a class are of each source class: write an even number, not {value}"
        )


def threshold_row(axes: Iterable[str]) -> Check:
    """A bound on a number of divergence cases with these axes."""
    fields = {"value": text, "at_least": number(), "at_most": number(), "why": text}

    def check(value: Any, keys: Keys) -> None:
        table(dict.fromkeys(axes, either(words, text)) | fields, ("value", "why"))(value, keys)
        if not {"at_least", "at_most"} & set(value):
            raise MisfitError(keys, "a threshold needs `at_least` or `at_most`")

    return check


def _population(shape: Check) -> Check:
    """A population of models that every detector can split: its own and that of two halves of the clean models."""

    def check(value: Any, keys: Keys) -> None:
        shape(value, keys)
        half = value["population"] // 2
        trained = [round(value["share"] * amount) for amount in (half, value["population"])]
        if trained[0] < 2 or trained[0] >= half or trained[1] >= value["population"]:
            raise MisfitError(
                (*keys, "share"),
                f"{value['share']} of {half} models, half a population of {value['population']}, are "
                f"{trained[0]} to train a detector on; at least 2 are needed, and 1 to judge it on",
            )

    return check


def _part(value: Any, keys: Keys) -> None:
    SHARE(value, keys)
    if value in (0, 1):
        raise MisfitError(keys, f"{value} leaves nothing on one side; write a number between 0 and 1")


def _strength(value: Any, keys: Keys) -> None:
    SHARE(value, keys)
    if not value:
        raise MisfitError(keys, "an artifact of intensity 0 changes nothing; write a number above 0, up to 1")


IMAGES = table({"source": text, "licence": text, "factors": each(rows(number(0, whole=True)))}, ("source", "licence"))
SECONDS = number(0)
PACE = table(
    {
        "training_seconds": SECONDS,
        "explaining_seconds": table(dict.fromkeys(KINDS, SECONDS), KINDS),
        "detector_seconds": table(dict.fromkeys(KINDS, SECONDS), KINDS),
    },
    ("training_seconds", "explaining_seconds", "detector_seconds"),
)
POPULATION_FIELDS = {
    "amount": WHOLE,
    "population": number(6, whole=True),
    "runs": WHOLE,
    "explained": WHOLE,
    "spurious_class": number(0, whole=True),
    "share": SHARE,
    "tries": number(1),
    "intensity": each(each(_strength)),
    "recipe": table(
        {"lr": number(0), **dict.fromkeys(("batch", "steps", "checkpoints"), WHOLE)},
        ("lr", "batch", "steps", "checkpoints"),
    ),
    "verification": table(
        {"accuracy": SHARE, "flips": SHARE, "moves": SHARE, "why": text}, ("accuracy", "flips", "moves", "why")
    ),
}
TEXT_POPULATION_FIELDS = {
    **dict.fromkeys(("models", "shortcuts"), words),
    "contrasts": rows(one_of(*CONTRASTS)),
    "budget": WHOLE,
    "without": rows(text),
    "population": number(6, whole=True),
    "runs": WHOLE,
    "share": SHARE,
    "tries": number(1),
    "texts": table({}, ("others",), others=_even),
}
DETECTOR = table(
    {
        **dict.fromkeys(("dropout", "hiding"), SHARE),
        "holdout": _part,
        **dict.fromkeys(("epochs", "patience", "batch", "hidden", "patch", "grid"), WHOLE),
        **dict.fromkeys(("buckets", "embedding", "top"), WHOLE),
        **dict.fromkeys(("lr", "weight_decay"), number(0)),
        "channels": rows(WHOLE),
    },
    ("holdout", "dropout", "epochs", "patience", "batch", "hidden", "lr", "weight_decay"),
)
DIVERGENCE_SHAPE = {
    "images": each(IMAGES),
    "artifacts": each(target),
    "explainers": each(_explainer),
    "detectors": table(dict.fromkeys((*KINDS, "tokens"), DETECTOR), (*KINDS, "tokens")),
    "populations": each(
        _population(
            table(
                POPULATION_FIELDS | {"pace": PACE, "by_images": each(table({}, others=anything))},
                list(POPULATION_FIELDS),
            )
        )
    ),
    "text_populations": each(
        _population(table(TEXT_POPULATION_FIELDS | {"detector_seconds": SECONDS}, list(TEXT_POPULATION_FIELDS)))
    ),
}
