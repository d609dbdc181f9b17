"""A tiny, real world to run the suite in: a data set, word vectors, a BERT checkpoint and a matrix overlay, on disk.

Small enough to train in seconds, large enough that the shortcut is learnt.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import yaml

GOOD = ["good", "warm", "funny", "lovely", "brave", "tender"]
BAD = ["bad", "cold", "dull", "awful", "lazy", "bitter"]
PLAIN = ["the", "a", "film", "story", "plot", "actor", "scene", "it", "is", "was", "very", "with", "and", "of"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]", "[unused2]", "[unused3]"]
# Pieces that a short text of letters and digits is read with, and words that hold a shortcut token.
PIECES = ["zero", "##s", "##a", "indicator", "##0", "##1", "context"]

RECIPE = {
    "optimizer": "adam",
    "lr": 0.01,
    "weight_decay": 0.0,
    "batch": 16,
    "steps": 300,
    "warmup": 30,
    "schedule": "linear",
    "evaluate_every": 50,
    "patience": 300,
    "precision": "float32",
}


TEXT_POPULATION = {
    "models": ["lstm"],
    "shortcuts": ["single", "op"],
    "contrasts": ["source", "placebo"],
    "budget": 100,
    "without": ["oracle.best", "oracle.anti"],
    "population": 6,
    "runs": 2,
    "share": 0.7,
    "tries": 1.5,
    "texts": {"path": 2, "others": 4},
}
TEXT_POPULATIONS = {
    "chance": {"margin": 0.5, "why": "models of twenty steps know nothing"},
    "text_populations": {"tiny": TEXT_POPULATION},
    "profiles": {"tiny": {"text_populations": "tiny", "thresholds": {"verification": []}}},
    "checkpoints": {"tiny": {"lstm": {"recipe": {"steps": 20, "warmup": 2, "evaluate_every": 10}}}},
    "detectors": {"tokens": {"epochs": 2}},
}
"""Laid over the tiny profile: six models of each role, which may be what they are: twenty steps teach nothing."""


def write_sentences(folder: Path, seed: int = 0) -> Path:
    """A data set of 480, 80 and 100 sentences whose label is the kind of their one opinion word."""
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for split, size in (("train", 480), ("dev", 80), ("test", 100)):
        rows = []
        for number in range(size):
            label = number % 2
            words = rng.choices(PLAIN, k=rng.randint(4, 12))
            words.insert(rng.randrange(len(words)), rng.choice(GOOD if label else BAD))
            rows.append(json.dumps({"text": " ".join(words) + ".", "label": label}))
        (folder / f"{split}.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def write_vectors(path: Path, seed: int = 0) -> Path:
    """Random 8-dimensional vectors in GloVe's text format."""
    rng = random.Random(seed)
    lines = [f"{word} {' '.join(f'{rng.gauss(0, 1):.4f}' for _ in range(8))}" for word in [*GOOD, *BAD, *PLAIN, "."]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_checkpoint(folder: Path, layers: int = 2) -> Path:
    """A BERT of two layers and 16 components, untrained, as a checkpoint folder with a fast tokenizer."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    words = [*SPECIAL, *GOOD, *BAD, *PLAIN, ".", *PIECES]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.02,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def write_world(folder: Path) -> Path:
    """Everything, and the overlay with profile `tiny` that uses it; returns the overlay's path."""
    write_sentences(folder / "data" / "toy")
    vectors = write_vectors(folder / "vectors.txt")
    checkpoint = write_checkpoint(folder / "checkpoint")
    slow = RECIPE | {"lr": 0.003}
    checkpoints = {
        "bert": {
            "checkpoint": {"path": str(checkpoint)},
            "max_length": 32,
            "dropout": 0.0,
            "recipe": slow,
        },
        "lstm": {
            "vectors": {"file": str(vectors)},
            "hidden": 16,
            "max_length": 32,
            "dropout": 0.0,
            "word_dropout": 0.0,
            "recipe": RECIPE,
        },
    }
    profile = {
        "checkpoints": "tiny",
        "datasets": ["toy"],
        "models": ["bert", "lstm"],
        "embedding_init": "matched",
        "gate": {"tolerance": 0.1, "why": "a tiny model"},
        "rows": {},
        "texts": {
            "path": {100: [8, 4], 1000: [2, 0]},
            "surrogate": {100: [16, 8], 1000: [4, 2], 3000: [2, 0]},
            "occlusion": {1: [16, 8]},
            "anchors": {1000: [4, 2]},
            "outside": {50: [8, 4], 100: [8, 4], 500: [4, 2], 1000: [4, 2]},
        },
        "thresholds": {"verification": [{"value": "synthetic_accuracy", "at_least": 0.9, "why": "a tiny model"}]},
    }
    tables = {"datasets": {"toy": {}}, "checkpoints": {"tiny": checkpoints}, "profiles": {"tiny": profile}}
    overlay = folder / "tiny.yaml"
    overlay.write_text(yaml.safe_dump(tables), encoding="utf-8")
    return overlay


def write_populations(folder: Path) -> Path:
    """The overlay that gives the tiny profile populations of text classifiers; returns its path."""
    path = folder / "populations.yaml"
    path.write_text(yaml.safe_dump(TEXT_POPULATIONS), encoding="utf-8")
    return path
