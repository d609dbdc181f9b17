"""One labelled sentence and the positions a faithful explanation of it must rank on top.

Does not tokenise: words are whatever the text is split into before a model sees it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """A text as words, its label, and where the shortcut was injected.

    Attributes:
        words: the text, split at white space.
        label: 0 or 1.
        truth: positions in `words` that hold injected tokens, ascending; empty for source texts.
        origin: index of the source example this one was made from.
    """

    words: tuple[str, ...]
    label: int
    truth: tuple[int, ...] = ()
    origin: int = 0


def fingerprint_examples(examples: Iterable[Example]) -> str:
    """Content hash of examples, in order: equal hashes mean equal training or test data.

    Returns:
        sha256 in hexadecimal over words, labels and truth positions.

    >>> a = Example(("good", "film"), 1)
    >>> fingerprint_examples([a]) == fingerprint_examples([Example(("good", "film"), 1)])
    True
    >>> fingerprint_examples([a]) == fingerprint_examples([Example(("good", "film"), 0)])
    False
    """
    digest = hashlib.sha256()
    for example in examples:
        row = [example.words, example.label, example.truth]
        digest.update(json.dumps(row, ensure_ascii=True).encode() + b"\n")
    return digest.hexdigest()
