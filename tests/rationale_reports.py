"""Reports of made-up rationale cases, aggregated as real ones are."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.matrix import load_matrix
from fixtures.aggregation import aggregate_runs
from fixtures.exhibits import round_scores
from fixtures.rationale_strings import write_hits, write_marked, write_numbers
from fixtures.rationales import Sentence
from fixtures.rationales.judging import judge_words
from fixtures.schema import FIELDS, check_row
from tests.reports import make_report
from tests.suites import fill

LENGTH, SENTENCES, EPSILONS = 12, 40, [0.1, 0.3]
METHODS = {
    "random": (0.1, 0.6),
    "gxi.logit": (0.5, 0.75),
    "grad_l2.logit": (0.4, 0.7),
    "occlusion.unk": (0.6, 0.8),
    "attention.last": (0.55, 0.7),
    "lime_erase.1k": (0.8, 0.97),
    "kernelshap.1k": (0.6, 0.8),
    "anchors.pos": (0.95, 0.55),
}
"""Salience configuration -> how often it marks a marked word, and how often the model is right on its words."""


def make_sentences(seed: int = 0) -> list[Sentence]:
    """Sentences with two marked words each, the hard ones last; every tenth has none."""
    rng, sentences = random.Random(seed), []
    for number in range(SENTENCES):
        marked = rng.sample(range(LENGTH), 2) if number % 10 else []
        both = (frozenset(marked), frozenset(marked[:1]))
        words = tuple(f"word{place}" for place in range(LENGTH))
        sentences.append(Sentence(str(number), words, number % 2, both, 1 + 2 * (number % 2)))
    return sentences


def make_rationale_report(
    models: Sequence[str] = ("bert",), methods: Mapping[str, tuple[float, float]] = METHODS, **top: Any
) -> dict[str, Any]:
    """A report of both measures of these models on one corpus; every case passed."""
    report, sentences = make_report(models=[], **top), make_sentences()
    table = load_matrix().tables["salience"]
    for model in models:
        for method, shares in methods.items():
            words = {"model": model, "rationales": "toy_marked", "salience": method}
            settings = {name: table[method][name] for name in ("family", "budget")}
            scores = {seed: _score(method, sentences, shares[0], seed) for seed in report["seeds"]}
            for measure in ("plausibility", "faithfulness"):
                runs = [
                    {"seed": seed, "model_key": "k", **_judge(sentences, own)}
                    if measure == "plausibility"
                    else {"seed": seed, "model_key": "k", **_feed(method, sentences, own, shares[1], seed)}
                    for seed, own in scores.items()
                ]
                constants = fill(FIELDS[measure][0]) | words | settings | {"measure": measure}
                constants |= {"profile": report["profile"], "epsilon": 0.3, "epsilons": EPSILONS}
                constants |= {"n_sentences": SENTENCES, "sentences": write_marked(sentences)}
                row = check_row(aggregate_runs(constants, runs))
                report["benchmarks"].append({"extra_info": row})
                name = "-".join([*words.values(), measure])
                report["cases"].append({"id": name, "outcome": "passed", "reason": ""})
            _show(report, f"{model}-toy_marked", method, sentences, scores[report["seeds"][0]])
    return report


def _score(method: str, sentences: Sequence[Sentence], likely: float, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng([seed, len(method), ord(method[-1])])
    scores = []
    for sentence in sentences:
        values = rng.random(LENGTH) * 0.5
        for place in sentence.join("union"):
            # Hard ones are marked less often.
            values[place] += float(rng.random() < likely / (sentence.difficulty or 1) ** 0.5)
        scores.append(values)
    return scores


def _judge(sentences: Sequence[Sentence], scores: Sequence[np.ndarray]) -> dict[str, str]:
    judged = [judge_words(sentence, own, [0.3]) for sentence, own in zip(sentences, scores, strict=True)]
    areas = {
        f"{name}s": write_numbers([[rows[join].measures[name] for rows in judged] for join in (0, 1)])
        for name in ("average_precision", "auprc")
    }
    return {"weights": write_numbers([(own / own.max()).tolist() for own in scores]), **areas}


def _feed(
    method: str, sentences: Sequence[Sentence], scores: Sequence[np.ndarray], right: float, seed: int
) -> dict[str, str]:
    rng = random.Random(f"{method} {seed}")

    def draw(share: float) -> list[bool | None]:
        return [rng.random() < share for _ in sentences]

    marked = [bool(sentence.join("union")) for sentence in sentences]
    fed = [hit if own else None for hit, own in zip(draw(0.8), marked, strict=True)]
    return {
        "full_hits": write_hits([[number % 5 > 0 for number in range(SENTENCES)]]),
        "union_hits": write_hits([fed]),
        "intersection_hits": write_hits([fed]),
        "explanation_hits": write_hits([draw(right) for _ in EPSILONS]),
        "random_hits": write_hits([draw(0.6) for _ in EPSILONS]),
        "sizes": write_numbers([[int((own / own.max() > epsilon).sum()) for own in scores] for epsilon in EPSILONS]),
    }


def _show(
    report: dict[str, Any], cell: str, method: str, sentences: Sequence[Sentence], scores: Sequence[np.ndarray]
) -> None:
    shown = [index for index, sentence in enumerate(sentences) if sentence.join("union")][:12]
    texts = [
        {
            "tokens": list(sentences[index].tokens),
            "truth": sorted(sentences[index].join("union")),
            "label": sentences[index].label,
        }
        for index in shown
    ]
    own = report["exhibits"].setdefault(cell, {"seed": report["seeds"][0], "texts": texts, "scores": {}})
    own["scores"][method] = [round_scores(scores[index]) for index in shown]
