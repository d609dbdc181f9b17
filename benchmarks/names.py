"""Which names of the matrix must be known: a word that is used somewhere stands in the table it is from. Torch-free."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.checking import Keys, MisfitError
from benchmarks.divergence import TABLES as DIVERGENCE_TABLES
from benchmarks.overlays import merge
from benchmarks.rationale_shape import check_rationale_names
from benchmarks.registry import suggest
from benchmarks.shape import settings_of

TABLES = {"model": "models", "dataset": "datasets", "shortcut": "shortcuts", "salience": "salience"}

OF_TOKENS = ("surrogate", "occlusion", "anchors", "attention", "outside")
"""Families of salience configurations that explain text classifiers only."""


def check_names(tables: Mapping[str, Any]) -> None:
    """Every name that a profile, a checkpoint, a row or a salience configuration uses is there.

    Raises:
        MisfitError: with the place, the known names and the nearest.
    """
    for name, row in tables["salience"].items():
        _expect([row["family"]], tables["families"], "family", ("salience", name, "family"))
    for index, row in enumerate(tables["exclusions"]):
        _check_row(row, tables, ("exclusions", index))
    for name, models in tables["checkpoints"].items():
        for model, settings in models.items():
            _check_settings(model, settings, tables, ("checkpoints", name, model))
    for name, settings in tables["explainers"].items():
        if "salience" in settings:
            _check_heatmap(settings["salience"], tables, ("explainers", name, "salience"))
    for name, settings in tables["text_populations"].items():
        _check_text_population(settings, tables, ("text_populations", name))
    for name, profile in tables["profiles"].items():
        _check_profile(profile, tables, ("profiles", name))
    check_rationale_names(tables, _expect)


def _check_heatmap(salience: str, tables: Mapping[str, Any], keys: Keys) -> None:
    """An image classifier has gradients, but no tokens to remove and no attention."""
    _expect([salience], tables["salience"], "salience", keys)
    row = tables["salience"][salience]
    if row["family"] in OF_TOKENS or (row["family"] == "path" and row.get("variant") != "zero"):
        kind = f"{row['family']} {row.get('variant', '')}".strip()
        raise MisfitError(
            keys,
            f"{salience} is of the family {kind}, which needs the tokens or the attention of a text classifier; take "
            "one that reads gradients, as grad_l2.logit, gxi.logit or ig_zero.100.logit",
        )


def _expect(names: Iterable[str], known: Iterable[str], what: str, keys: Keys) -> None:
    for name in names:
        if name not in known:
            there = ", ".join(known) or "none"
            raise MisfitError(keys, f"no {what} named {name!r}; there are: {there}.{suggest(name, known)}")


def _check_settings(model: str, settings: Mapping[str, Any], tables: Mapping[str, Any], keys: Keys) -> None:
    _expect([model], tables["models"], "model", keys)
    check = settings_of(tables["models"][model])
    common = {name: value for name, value in settings.items() if name != "by_dataset"}
    check(common, keys)
    for dataset, own in settings.get("by_dataset", {}).items():
        _expect([dataset], tables["datasets"], "data set", (*keys, "by_dataset", dataset))
        check(merge(common, own), (*keys, "by_dataset", dataset))


def _check_text_population(settings: Mapping[str, Any], tables: Mapping[str, Any], keys: Keys) -> None:
    for axis in ("model", "shortcut"):
        _expect(settings[TABLES[axis]], tables[TABLES[axis]], axis, (*keys, TABLES[axis]))
    _expect(settings["without"], tables["salience"], "salience", (*keys, "without"))
    _expect(settings["texts"], ["others", *tables["families"]], "family", (*keys, "texts"))


def _check_profile(profile: Mapping[str, Any], tables: Mapping[str, Any], keys: Keys) -> None:
    _expect([profile["checkpoints"]], tables["checkpoints"], "checkpoints", (*keys, "checkpoints"))
    for table in ("populations", "text_populations"):
        _expect([profile[table]] if table in profile else (), tables[table], table, (*keys, table))
    for axis, table in [*TABLES.items(), *DIVERGENCE_TABLES.items()]:
        _expect(profile.get(table, ()), tables[table], axis, (*keys, table))
    _expect(profile.get("salience_precision", {}), tables["models"], "model", (*keys, "salience_precision"))
    _check_amounts(profile, tables, keys)
    for dataset, own in profile.get("by_dataset", {}).items():
        _expect([dataset], tables["datasets"], "data set", (*keys, "by_dataset"))
        _check_amounts(own, tables, (*keys, "by_dataset", dataset))
    for kind, rows in profile.get("thresholds", {}).items():
        for index, row in enumerate(rows):
            _check_row(row, tables, (*keys, "thresholds", kind, index))


def check_intensities(profile: Mapping[str, Any], tables: Mapping[str, Any]) -> None:
    """Each artifact of a profile has an intensity on each of its image sets.

    Raises:
        MisfitError: with what to write.
    """
    name = profile.get("populations")
    if name is None:
        return
    given = tables["populations"][name]["intensity"]
    for images in profile.get("images", tables["images"]):
        for artifact in profile.get("artifacts", tables["artifacts"]):
            if artifact not in given.get(images, {}):
                wanted = f"populations: {{{name}: {{intensity: {{{images}: {{{artifact}: 0.5}}}}}}}}"
                keys = ("artifacts", artifact) if images in given else ("images", images)
                raise MisfitError(keys, f"no intensity of {artifact} on {images}; write one, as {wanted}")


def _check_amounts(profile: Mapping[str, Any], tables: Mapping[str, Any], keys: Keys) -> None:
    _expect(profile.get("texts", {}), tables["families"], "family", (*keys, "texts"))
    paces = {name: pace for name, pace in profile.get("pace", {}).items() if name not in ("texts", "tokens")}
    _expect(paces, tables["models"], "model", (*keys, "pace"))
    for model, pace in paces.items():
        known = ["others", *tables["families"]]
        _expect(pace.get("passes_per_second", ()), known, "family", (*keys, "pace", model, "passes_per_second"))


def _check_row(row: Mapping[str, Any], tables: Mapping[str, Any], keys: Keys) -> None:
    # A data set may be a folder of --data-dir, so its word need not stand in a table.
    for axis, table in [*TABLES.items(), *DIVERGENCE_TABLES.items()]:
        if axis in row and axis != "dataset":
            words = [row[axis]] if isinstance(row[axis], str) else row[axis]
            _expect(words, tables[table], axis, (*keys, axis))
    if "rationales" in row:
        words = [row["rationales"]] if isinstance(row["rationales"], str) else row["rationales"]
        _expect(words, tables["rationale_corpora"], "rationale corpus", (*keys, "rationales"))
