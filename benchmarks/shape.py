"""The shape of the matrix: its tables, their keys, and what each may hold. Torch-free.

Loading a matrix checks all of it, so that what is written wrong is said before anything runs. Which names must be known
is checked in `benchmarks.names`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from benchmarks.checking import (
    Check,
    Keys,
    MisfitError,
    anything,
    each,
    either,
    flag,
    number,
    one_of,
    optional,
    rows,
    table,
    target,
    text,
    words,
)
from benchmarks.divergence import DIVERGENCE_SHAPE, threshold_row
from benchmarks.divergence import TABLES as DIVERGENCE_TABLES
from benchmarks.rationale_shape import RATIONALE_SHAPE, RATIONALE_THRESHOLDS

AXES = ("model", "dataset", "shortcut", "salience")
STARTS = ("matched", "default", "unused", "rare", "frequent")
PRECISIONS = ("float32", "bf16")


def _word(value: Any, keys: Keys) -> None:
    text(value, keys)
    if not re.fullmatch(r"[\w.-]+", value):
        raise MisfitError(keys, f"{value!r} is no word of a case id; use letters, digits, points and underscores only")


def _tokens(value: Any, keys: Keys) -> None:
    table({"indicators": words, "context": text}, ("indicators", "context"))(value, keys)
    indicators = value["indicators"]
    if len(indicators) != 2:
        raise MisfitError((*keys, "indicators"), f"expected two words, one for each class, got {indicators!r}")
    if value["context"] in indicators:
        raise MisfitError((*keys, "context"), f"{value['context']!r} is an indicator, too; take another word")


def _texts(value: Any, keys: Keys) -> None:
    rows(either(number(0, whole=True), one_of("all")))(value, keys)
    if len(value) != 2 or (value[0] == 0 and value[1] != 0):
        raise MisfitError(keys, f"expected [texts of the mixed model, texts of each control], got {value!r}")


def _place(choices: Mapping[str, Check]) -> Check:
    """Where files come from: one of several tables, told apart by a field of that name."""

    def check(value: Any, keys: Keys) -> None:
        table({}, others=anything)(value, keys)
        found = [name for name in choices if name in value]
        if len(found) != 1:
            raise MisfitError(keys, f"expected one of the keys {', '.join(choices)}, got {', '.join(value) or 'none'}")
        choices[found[0]](value, keys)

    return check


HASHES = each(text)
CHECKPOINT = _place(
    {
        "path": table({"path": text}),
        "hub": table({"hub": text, "revision": text, "tried": flag}, ("revision",)),
        "package": table({"package": text, "folder": text, "sha256": HASHES}),
    }
)
VECTORS = _place(
    {
        "file": table({"file": text}),
        "package": table(
            {"package": text, "folder": text, "matrix": text, "words": text, "sha256": HASHES}, ("matrix", "words")
        ),
    }
)
RECIPE_FIELDS = {
    "optimizer": one_of("adamw", "adam", "sgd"),
    "lr": number(0),
    "weight_decay": number(0),
    "momentum": number(0, 1),
    "batch": number(1, whole=True),
    "steps": optional(number(1, whole=True)),
    "warmup": number(0, whole=True),
    "schedule": one_of("constant", "linear"),
    "evaluate_every": number(1, whole=True),
    "patience": number(1, whole=True),
    "precision": one_of(*PRECISIONS),
}


def _recipe(value: Any, keys: Keys) -> None:
    table(RECIPE_FIELDS, [name for name in RECIPE_FIELDS if name != "momentum"])(value, keys)
    if value["steps"] is None and value["schedule"] == "linear":
        raise MisfitError(
            keys, "`schedule` linear ends at the last step and `steps` is null; write a number, or constant"
        )
    if value["steps"] is not None and value["warmup"] > value["steps"]:
        raise MisfitError(
            keys, f"`warmup` {value['warmup']} is more than the {value['steps']} steps there are; lower it"
        )
    if value["optimizer"] == "sgd" and "momentum" not in value:
        raise MisfitError(keys, "`momentum` is missing, which sgd needs; 0 is none")


COMMON = {"max_length": number(1, whole=True), "dropout": number(0, 1), "recipe": _recipe}
RECURRENT = {"hidden": number(1, whole=True), "word_dropout": number(0, 1), **COMMON}
CONVOLUTIONAL = {"widths": rows(number(1, whole=True)), "filters": number(1, whole=True), **COMMON}
ENCODERS = ("build", "build_albert", "build_distilbert", "build_roberta", "build_xlnet")
BUILDERS = {
    **{f"fixtures.models.bert:{name}": {"checkpoint": CHECKPOINT, **COMMON} for name in ENCODERS},
    "fixtures.models.lstm:build": {"vectors": VECTORS, **RECURRENT},
    "fixtures.models.mlstm:build": {"size": number(1, whole=True), **RECURRENT},
    "fixtures.models.cnn:build": {"vectors": VECTORS, "word_dropout": number(0, 1), **CONVOLUTIONAL},
    "fixtures.models.use:build": {"checkpoint": CHECKPOINT, **CONVOLUTIONAL},
}
"""What each of our kinds of models must be told; a kind of the user's is told what its own `build` reads."""


def settings_of(builder: str) -> Check:
    """The settings of a kind of model, without `by_dataset`."""
    if builder not in BUILDERS:
        return table(COMMON, ("recipe",), others=anything)
    fields = BUILDERS[builder]
    extra = {"layers": number(1, whole=True), "attention_dropout": number(0, 1)} if "checkpoint" in fields else {}
    return table(fields | extra, list(fields))


def _threshold(value: Any, keys: Keys) -> None:
    table(_ROW | {"value": text, "at_least": number(), "at_most": number(), "why": anything})(value, keys)
    if "value" not in value or not {"at_least", "at_most"} & set(value):
        raise MisfitError(keys, "a threshold needs `value` and `at_least` or `at_most`")
    _say_why(value, keys)


def _exclusion(value: Any, keys: Keys) -> None:
    table(_ROW | {"why": anything})(value, keys)
    _say_why(value, keys)


def _say_why(value: Mapping[str, Any], keys: Keys) -> None:
    if not str(value.get("why") or "").strip():
        raise MisfitError(keys, f"{dict(value)!r:.120}: every threshold and exclusion says `why`")


_ROW = dict.fromkeys(AXES, either(words, text))
FAMILY_TEXTS = each(each(_texts, key=number(1, whole=True)))
ROWS = table(dict.fromkeys(("train", "validation", "test"), number(1, whole=True)))
MEASURED = ("passes_per_second", "training_seconds")
ASSUMED = ("weights", "all_weights", "activations", "steps")


def _pace_of_model(value: Any, keys: Keys) -> None:
    speeds = table({}, ("others",), others=number(1))
    fields = {"tokens": number(1), **dict.fromkeys(("training_seconds", *ASSUMED), number(0))}
    table({"passes_per_second": speeds, **fields})(value, keys)
    for group in (MEASURED, ASSUMED):
        if set(group) & set(value):
            table({}, group, others=anything)(value, keys)


PACE = table({"texts": number(1, whole=True), "tokens": number(1)}, others=_pace_of_model)
BY_DATASET = {"rows": ROWS, "texts": FAMILY_TEXTS, "pace": PACE}
PROFILE_FIELDS = {
    "checkpoints": text,
    "datasets": words,
    "embedding_init": one_of(*STARTS),
    "gate": table({"tolerance": number(0), "why": text}, ("tolerance", "why")),
    "rows": ROWS,
    "texts": FAMILY_TEXTS,
}
PROFILE = table(
    {
        **PROFILE_FIELDS,
        **dict.fromkeys(("models", "shortcuts", "salience"), words),
        "salience_precision": each(one_of(*PRECISIONS)),
        "pace": PACE,
        "by_dataset": each(table(BY_DATASET)),
        "thresholds": table(
            {
                **dict.fromkeys(("verification", "salience"), rows(_threshold)),
                "divergence": rows(threshold_row(DIVERGENCE_TABLES)),
                "text_divergence": rows(threshold_row((*AXES, "contrast"))),
                **RATIONALE_THRESHOLDS,
            }
        ),
        **dict.fromkeys(("populations", "text_populations", "rationales"), text),
        **dict.fromkeys(DIVERGENCE_TABLES.values(), words),
    },
    list(PROFILE_FIELDS),
)
SPLITS = table({"train": text, "validation": text, "test": text}, ("train", "test"))
HUB = {"id": text, "revision": optional(text), "tried": flag, "text": text, "label": text, "splits": SPLITS}
DATASET = table(
    {
        **dict.fromkeys(("licence", "folder", "text", "label"), text),
        "source": target,
        "replace": each(anything),
        "hub": table(HUB, ("id", "splits")),
    }
)
PASSES = {"budget": number(1, whole=True), "backward": number(0, whole=True)}
FORWARD = either(number(0, whole=True), one_of("tokens"))
METHOD_FIELDS = {
    "family": text,
    "target": one_of("logit", "prob", "none"),
    "reducer": target,
    "forward": FORWARD,
    **PASSES,
}
METHOD = table(METHOD_FIELDS | {"variant": text, "gap": target}, list(METHOD_FIELDS))
PROMISE = table(
    {
        **dict.fromkeys(("answer", "match", "of", "reference", "world"), text),
        **dict.fromkeys(("within", "sums", "parity"), number(0)),
        "skips": each(text),
    }
)
SHAPE = table(
    {
        "tokens": _tokens,
        "chance": table({"margin": number(0, 0.5), "why": text}, ("margin", "why")),
        **dict.fromkeys(("models", "shortcuts", "methods"), each(target, key=_word)),
        "families": each(target),
        "datasets": each(DATASET, key=_word),
        "exclusions": rows(_exclusion),
        "profiles": each(PROFILE),
        # Settings are checked by the kind of the model, in `benchmarks.names`.
        "checkpoints": each(each(table({"by_dataset": each(table({}, others=anything))}, others=anything))),
        "salience": each(METHOD, key=_word),
        "peers": each(table({"target": target, "library": text, "forward": FORWARD, **PASSES}), key=_word),
        "promises": each(PROMISE),
        **DIVERGENCE_SHAPE,
        **RATIONALE_SHAPE,
        "templates": anything,
    }
)
"""Every table of the matrix."""
