"""Reports of made-up divergence cases, aggregated as real ones are."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fixtures.aggregation import aggregate_runs
from fixtures.divergence.pictures import encode_png
from fixtures.schema import FIELDS, check_row
from fixtures.tallies import write_tally, write_values
from shortcuts.divergence import SUBCLASSES
from tests.reports import make_report
from tests.suites import fill

MODELS, SPLITS, JUDGED = 10, 3, 8
METHODS = {"random": (0.1, 0.5), "gxi.logit": (0.3, 0.6), "grad_l2.logit": (0.95, 0.62)} | {
    f"{name}.{target}": (found, found / 2 + 0.3)
    for name, found in (("ig_zero.100", 0.8), ("ig_unk.100", 0.7), ("grad_mean", 0.45))
    for target in ("logit", "prob")
}
"""Salience configuration -> P@k, and how often its explanations of texts without the tokens are judged right."""

Likely = Callable[[str, str, str], float]


def like_the_paper(images: str, artifact: str, explainer: str) -> float:
    """How often an explanation is judged right: heat maps always on 3dshapes."""
    ahead = {"concept": 0.65, "influence": 0.85, "heatmap": 0.999 if images == "shapes3d" else 0.8}
    return ahead[explainer] - (0.05 if artifact == "noise" else 0.0)


def make_image_report(
    images: Sequence[str] = ("dsprites", "shapes3d"),
    artifacts: Sequence[str] = ("square", "stripe", "noise"),
    likely: Likely = like_the_paper,
    **top: Any,
) -> dict[str, Any]:
    """A report of every explainer on these pairs of populations, with pictures; every case passed."""
    report = make_report(models=[], **top)
    for one in images:
        for artifact in artifacts:
            for explainer in ("heatmap", "influence", "concept"):
                words = {"images": one, "artifact": artifact, "explainer": explainer}
                share = likely(one, artifact, explainer)
                numbers = {"kssd": 0.5, "ccm": 0.8, "fam": 0.8, "flips": 0.99, "moves": 0.01}
                constants = words | {"kind": explainer, "spurious_models": MODELS, "clean_models": MODELS}
                _add(report, "divergence", constants, numbers, [share, share - 0.1, share, share])
                report["exhibits"]["-".join(words.values())] = {"seed": report["seeds"][0], "examples": make_examples()}
    return report


def make_text_report(
    shortcuts: Sequence[str] = ("single",),
    contrasts: Sequence[str] = ("source", "placebo"),
    methods: Mapping[str, tuple[float, float]] = METHODS,
    **top: Any,
) -> dict[str, Any]:
    """A report of an lstm on these pairs of populations; every case passed."""
    report = make_report(models=[], **top)
    for shortcut in shortcuts:
        for contrast in contrasts:
            for method, (found, likely) in methods.items():
                words = {"model": "lstm", "dataset": "toy", "shortcut": shortcut, "contrast": contrast}
                numbers = {
                    "precisions": write_values([[found] * 8] * MODELS),
                    "contrast_precisions": write_values([[0.1] * 8] * MODELS),
                }
                shares = [likely, likely, 0.95, 0.95]
                _add(report, "text_divergence", words | {"salience": method, "models": MODELS}, numbers, shares)
    return report


def _add(
    report: dict[str, Any], kind: str, words: Mapping[str, Any], numbers: Mapping[str, Any], shares: Sequence[float]
) -> None:
    fields, run_fields = FIELDS[kind]
    own = {"splits": SPLITS, "n_explanations": SPLITS * MODELS * len(SUBCLASSES) * JUDGED}
    constants = fill(fields) | {"profile": report["profile"]} | own | words
    nothing = [0.5] * len(SUBCLASSES)
    runs = []
    for seed in report["seeds"]:
        rng = random.Random(f"{seed} {sorted(map(str, words.values()))}")
        tallies = {"tally": shares, "permuted_tally": nothing, "clean_against_clean_tally": nothing}
        made = {name: write_tally(_draw(rng, likely)) for name, likely in tallies.items()}
        bits = write_values([[rng.uniform(0.1, 0.3) for _ in range(MODELS)]] * SPLITS)
        runs.append(fill(run_fields) | made | {"seed": seed, "model_bits": bits} | numbers)
    axes = ("images", "artifact", "explainer", "model", "dataset", "shortcut", "contrast", "salience")
    name = "-".join(words[axis] for axis in axes if axis in words)
    report["benchmarks"].append({"extra_info": check_row(aggregate_runs(constants, runs))})
    report["cases"].append({"id": name, "outcome": "passed", "reason": ""})


def _draw(rng: random.Random, shares: Sequence[float]) -> list[list[list[tuple[float, int]]]]:
    return [
        [[(float(sum(rng.random() < share for _ in range(JUDGED))), JUDGED) for share in shares] for _ in range(MODELS)]
        for _ in range(SPLITS)
    ]


def make_examples() -> list[dict[str, str]]:
    """A small picture for each subclass and role."""
    pixels = np.random.default_rng(0).integers(0, 255, (8, 16, 3), dtype=np.uint8)
    return [
        {"subclass": subclass, "role": role, "picture": encode_png(pixels), "caption": f"{role} on {subclass}"}
        for subclass in SUBCLASSES
        for role in ("spurious", "clean")
    ]
