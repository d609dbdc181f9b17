"""Cells: three models of one injection, and nothing kept of a cell that was dropped."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch

from fixtures.cells import ROLES, Cell


@pytest.fixture
def cell(tiny_laboratory):
    return Cell(tiny_laboratory, "lstm", "toy", "op")


def test_mixed_and_placebo_see_the_same_texts_and_source_sees_no_token(cell):
    mixed, placebo, source = (cell.training_data(role)[0] for role in ROLES)
    assert [example.words for example in mixed] == [example.words for example in placebo]
    assert [example.label for example in mixed] != [example.label for example in placebo]
    assert not {word for example in source for word in example.words} & set(cell.rule.tokens)
    assert len(mixed) == round(1.2 * len(source))


def test_the_source_only_model_is_one_for_all_shortcuts_and_starts(tiny_laboratory, make_laboratory, cell):
    other = Cell(tiny_laboratory, "lstm", "toy", "tic")
    elsewhere = Cell(make_laboratory(tiny_laboratory.zoo.root, embedding_init="default"), "lstm", "toy", "op")
    assert cell.model_key("source") == other.model_key("source") == elsewhere.model_key("source")
    assert cell.model_key("mixed") != other.model_key("mixed") != elsewhere.model_key("mixed")
    assert cell.model_key("mixed") != elsewhere.model_key("mixed")


def test_new_rows_start_alike_in_every_model(cell):
    ids = cell.encoder.tokenizer.convert_tokens_to_ids(list(cell.rule.tokens))
    untrained, rows = cell._make()
    rows.append_to(untrained)
    assert torch.equal(cell.network("source").embedding.weight[ids], untrained.embedding.weight[ids])


def test_injected_tokens_are_read_as_one_id_each_where_they_were_put(cell):
    ids = cell.encoder.tokenizer.convert_tokens_to_ids(list(cell.rule.tokens))
    for example, text in zip(cell.synthetic_test, cell.encoded_synthetic_test, strict=True):
        scored = [index for index, word in zip(text.ids, text.words, strict=True) if word is not None]
        places = text.locate(example.truth)
        assert sorted(scored[place] for place in places) == sorted(ids)
        assert sum(index in ids for index in scored) == len(places)


def test_a_dropped_cell_takes_its_models_along(tiny_laboratory):
    cell = Cell(tiny_laboratory, "lstm", "toy", "op")
    network = weakref.ref(cell.network("mixed"))
    del cell
    gc.collect()
    assert network() is None


def test_a_device_that_is_not_there_is_one_clear_line(tiny_laboratory):
    from dataclasses import replace

    from fixtures.errors import InputError

    if torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    with pytest.raises(InputError, match=r"--device cuda: torch .* finds no CUDA device here"):
        _ = replace(tiny_laboratory, device_name="cuda").device
