"""Reports of made-up numbers, to see what is made of them without a run."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.matrix import Case, load_matrix
from fixtures.aggregation import aggregate_runs, join_numbers, split_numbers
from fixtures.exhibits import round_scores
from fixtures.schema import CASE_FIELDS, RUN_FIELDS, SALIENCE_FIELDS, SALIENCE_RUN_FIELDS, SCHEMA_VERSION, check_row
from tests.suites import fill

TEXTS = {"gradient": 48, "attention": 48, "chance": 48}
"""Texts of a family's methods; others have 24 at a small budget and 4, without controls, at a large one."""

Draw = Callable[[str, int], list[float]]


def draw_by_family(method: str, texts: int) -> list[float]:
    """Gradients find the tokens, others now and then; random scores seldom."""
    rng = random.Random(f"{method.partition('.')[0]}")
    likely = {"grad_l1": 1.0, "grad_l2": 0.95, "random": 0.1}.get(method.partition(".")[0], 0.6)
    return [float(rng.random() < likely) for _ in range(texts)]


def make_report(
    datasets: Sequence[str] = ("toy",),
    shortcuts: Sequence[str] = ("single", "op"),
    models: Sequence[str] = ("bert",),
    only: Sequence[str] = (),
    draw: Draw = draw_by_family,
    **top: Any,
) -> dict[str, Any]:
    """A report of made-up numbers for the methods of the matrix, or for some of them; every case passed."""
    matrix, report = load_matrix(), {"cases": [], "benchmarks": [], "exhibits": {}}
    seeds = top.get("seeds", [0])
    for model in models:
        for dataset in datasets:
            for shortcut in shortcuts:
                words = {"model": model, "dataset": dataset, "shortcut": shortcut}
                _add(report, words, seeds, {})
                for method, settings in matrix.tables["salience"].items():
                    wanted = method not in matrix.tables["peers"] and (not only or method in only)
                    if wanted and not matrix.excludes(Case(model, dataset, shortcut, method)):
                        _add(report, words | {"salience": method}, seeds, settings, draw)
    general = {"schema_version": SCHEMA_VERSION, "profile": "embedded", "seeds": seeds, "embedding_init": "matched"}
    others = {"gate_tolerance": 0.1, "matrix_hash": "ab12", "versions": {"torch": "2.13.0"}}
    dated = {"datetime": "2026-11-30T09:08:08+00:00", "commit_info": {"id": "97009b9", "dirty": True}}
    return general | others | dated | {"machine_info": {"system": "Linux"}} | report | top


def _add(report: dict[str, Any], words: dict[str, str], seeds: Sequence[int], settings: Any, draw: Any = None) -> None:
    fields = CASE_FIELDS | (SALIENCE_FIELDS if settings else {})
    constants = fill(fields) | words | {"profile": "embedded", "unverified_seeds": [], "corpus_licence": "CC0"}
    if settings:
        names = ("family", "target", "budget")
        constants |= {name: settings[name] for name in names} | {"variant": settings.get("variant", "")}
        budget = settings["budget"]
        constants |= {"forward_passes": float(budget), "backward_passes": 0.0}
    runs = [_make_run(words, seed, settings, draw) for seed in seeds]
    report["benchmarks"].append({"extra_info": check_row(aggregate_runs(constants, runs))})
    report["cases"].append({"id": "-".join(words.values()), "outcome": "passed", "reason": ""})
    if settings:
        empty = {"seed": seeds[0], "texts": make_texts(), "scores": {}}
        shown = report["exhibits"].setdefault("-".join(list(words.values())[:3]), empty)
        hits = split_numbers(runs[0]["precisions"])
        shown["scores"][words["salience"]] = [
            draw_scores(text, hit) for text, hit in zip(shown["texts"], hits, strict=False)
        ]


def draw_scores(text: dict[str, Any], hit: float) -> str:
    """Scores of a text that rank all injected tokens first, or last where none was found."""
    scores = np.random.default_rng(0).random(len(text["tokens"]))
    scores[text["truth"]] += 2.0 * hit - 1.0
    return round_scores(scores)


def _make_run(words: dict[str, str], seed: int, settings: Any, draw: Any) -> dict[str, Any]:
    if not settings:
        return fill(RUN_FIELDS) | {"seed": seed}
    texts = TEXTS.get(settings["family"], 24 if settings["budget"] < 1000 else 4)
    precisions = draw(words["salience"], texts)
    controls = 0 if texts == 4 else texts // 2
    numbers = {
        "precisions": join_numbers(precisions),
        "placebo_precisions": join_numbers([0.0] * controls),
        "unseen_precisions": join_numbers([0.5] * controls if "grad_l2" in words["salience"] else [0.0] * controls),
        "completeness_gaps": "",
        **({} if controls else dict.fromkeys(("placebo_mean_rank", "unseen_mean_rank"))),
    }
    return fill(RUN_FIELDS | SALIENCE_RUN_FIELDS) | numbers | {"seed": seed, "mean_rank": 2.0}


def make_texts() -> list[dict[str, Any]]:
    """Twelve texts of fifty tokens, as many as an exhibit may have."""
    tokens = [f"word{number}" for number in range(48)]
    return [
        {"tokens": ["context0", *tokens, "indicator1"], "truth": [0, 49], "label": number % 2} for number in range(12)
    ]


def fail(report: dict[str, Any], name: str, reason: str, *, scored: bool) -> dict[str, Any]:
    """A copy of a report in which a cell's verification failed, and without its scores unless some seed had them."""
    changed = copy.deepcopy(report)
    for case in changed["cases"]:
        if case["id"] == name:
            case |= {"outcome": "failed", "reason": f"{name}: {reason}\nrerun: pytest"}
        elif case["id"].startswith(f"{name}-") and not scored:
            case |= {"outcome": "skipped", "reason": f"not verified: {reason}"}
    if not scored:
        kept = [row for row in changed["benchmarks"] if "salience" not in row["extra_info"] or not _is_of(row, name)]
        changed |= {"benchmarks": kept, "exhibits": {}}
    return changed


def _is_of(row: dict[str, Any], name: str) -> bool:
    return "-".join(row["extra_info"][axis] for axis in ("model", "dataset", "shortcut")) == name
