"""Batches of a cell's synthetic texts, with tokenizer and seeds, as the sheets make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fixtures.cells import Cell
from fixtures.models.encoder import Batch, collate


def make_batch(cell: Cell, rows: Sequence[int]) -> Batch:
    """Texts by their row; the seed of a text is its row, whatever its company."""
    texts = [cell.encoded_synthetic_test[row] for row in rows]
    batch = collate(texts, cell.encoder.pad_id)
    return replace(batch, tokenizer=cell.encoder.tokenizer, seeds=list(rows))
