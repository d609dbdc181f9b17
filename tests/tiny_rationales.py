"""A rationale corpus of the tiny world, where one word of a sentence decides, and the overlay that uses it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import yaml

from tests.tiny import BAD, GOOD, PLAIN, RECIPE

NAME = "toy_marked"
FRESH, SEEN, STRANGE = 24, 4, 2
"""Sentences of its own, sentences of the training split, and sentences of a split that is not judged."""

SETTINGS = {
    "corpora": [NAME],
    "trained_on": {NAME: "toy"},
    "models": ["lstm"],
    "without": ["oracle.anti"],
    "epsilons": [0.1, 0.5],
    "epsilon": 0.1,
    "most": 20,
    "sentences": {
        "path": {100: 4, 1000: 0},
        "surrogate": {100: 8, 1000: 3, 3000: 0},
        "occlusion": {1: 8},
        "anchors": {1000: 0},
        "outside": {50: 4, 100: 4, 500: 0, 1000: 0},
    },
}
TABLES = {
    "rationale_corpora": {NAME: {"licence": "ours", "splits": ["fresh"]}},
    "rationales": {"tiny": SETTINGS},
    "profiles": {"tiny": {"rationales": "tiny"}},
    "checkpoints": {"tiny": {"lstm": {"recipe": RECIPE | {"steps": 120}}}},
}


def write_rationales(folder: Path, training: Path, seed: int = 5) -> Path:
    """The corpus in a folder of its own: the opinion word is marked by one annotator, by another with its neighbour.

    Args:
        folder: of the data sets.
        training: file of the training split of the models.
        seed: of the sentences.
    """
    rng = random.Random(seed)
    path = folder / NAME
    path.mkdir(parents=True)
    texts = [json.loads(line) for line in training.read_text(encoding="utf-8").splitlines()[:SEEN]]
    rows = [make_row(f"seen.{number}", row["text"].split(), row["label"], "fresh") for number, row in enumerate(texts)]
    for number in range(FRESH + STRANGE):
        words = rng.choices(PLAIN, k=rng.randint(16, 22))
        words.insert(rng.randrange(len(words)), rng.choice(GOOD if number % 2 else BAD))
        rows.append(make_row(f"own.{number}", words, number % 2, "fresh" if number < FRESH else "other"))
    (path / "all.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return path


def make_row(name: str, words: list[str], label: int, split: str) -> dict[str, object]:
    """A line of the corpus; every third sentence is one that nobody marked a word of."""
    place = next((at for at, word in enumerate(words) if word.strip(".") in {*GOOD, *BAD}), 0)
    number = int(name.rpartition(".")[2])
    marked = [[], []] if number % 3 == 2 else [[place], sorted({place, max(0, place - 1)})]
    return {
        "id": name,
        "tokens": words,
        "label": label,
        "rationales": marked,
        "split": split,
        "difficulty": 1 + number % 2,
    }


def write_overlay(folder: Path) -> Path:
    """The overlay that gives the tiny profile rationales; returns its path."""
    path = folder / "rationales.yaml"
    path.write_text(yaml.safe_dump(TABLES), encoding="utf-8")
    return path
