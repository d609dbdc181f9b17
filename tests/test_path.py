"""Integrated gradients against captum, their own algebra, and everything that must not change a score."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import fixtures.evidence.path
from fixtures.evidence import Task
from fixtures.evidence.path import find_baseline, sweep
from tests.batches import make_batch

BASELINES = {"bert": ["zero", "unk", "pad", "mask"], "lstm": ["zero", "unk", "pad"]}


def baselines(cell):
    return BASELINES[cell.model]


@pytest.fixture(scope="module")
def network(tiny_cell):
    return tiny_cell.network("mixed")


@pytest.mark.parametrize("steps", [100, 1000])
@pytest.mark.parametrize("target", ["logit", "prob"])
def test_integrals_equal_captum(tiny_cell, network, steps, target):
    from captum.attr import IntegratedGradients

    batch = make_batch(tiny_cell, range(4))

    def forward(embeddings, mask):
        logits = network.classify(embeddings, mask).double()
        return logits if target == "logit" else logits.softmax(-1)

    for name in baselines(tiny_cell):
        ours = sweep(network, batch, Task(name, (steps,)))[steps].of(target)
        texts = network.embed(batch.ids).detach()
        theirs = IntegratedGradients(forward).attribute(
            texts,
            baselines=find_baseline(network, batch, name, texts).detach(),
            target=network.classify(texts, batch.mask).argmax(1),
            additional_forward_args=(batch.mask,),
            n_steps=steps,
            method="riemann_right",
            internal_batch_size=256,
        )
        theirs = theirs.sum(-1).double().detach()
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4 * float(theirs.abs().max()))


def test_the_points_of_a_budget_are_those_of_its_multiple(tiny_cell, network):
    batch = make_batch(tiny_cell, range(5))
    together = sweep(network, batch, Task("unk", (10, 50, 100)))
    for budget in (10, 50, 100):
        alone = sweep(network, batch, Task("unk", (budget,)))[budget]
        for target in ("logit", "prob"):
            torch.testing.assert_close(together[budget].of(target), alone.of(target), rtol=1e-5, atol=1e-7)


def test_a_budget_that_is_no_part_of_the_largest_is_refused(tiny_cell, network):
    with pytest.raises(ValueError, match="30 steps are no part of 100"):
        sweep(network, make_batch(tiny_cell, [0]), Task("zero", (30, 100)))


def test_attributions_add_up_to_the_rise_the_better_the_more_steps(tiny_cell, network):
    batch = make_batch(tiny_cell, range(16))
    for name in baselines(tiny_cell):
        integrals = sweep(network, batch, Task(name, (10, 1000)))
        coarse, fine = (integrals[budget].gap("logit") for budget in (10, 1000))
        assert fine.median() < coarse.median()
        assert fine.median() < 0.05


@pytest.mark.parametrize("tokens", [1, 7 * 20, 64 * 20])
def test_neither_chunks_nor_company_nor_order_change_a_score(tiny_cell, network, monkeypatch, tokens):
    rows = list(range(9))
    expected = sweep(network, make_batch(tiny_cell, rows), Task("zero", (10,)))[10]
    monkeypatch.setattr(fixtures.evidence.path, "CHUNK_TOKENS", tokens)
    for order in (rows[::-1], [4]):
        found = sweep(network, make_batch(tiny_cell, order), Task("zero", (10,)))[10]
        for place, row in enumerate(order):
            length = len(tiny_cell.encoded_synthetic_test[row].ids)
            for target in ("logit", "prob"):
                ours, theirs = found.of(target)[place, :length], expected.of(target)[row, :length]
                torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


def test_a_baseline_keeps_special_tokens_and_padding(tiny_cell, network):
    batch = make_batch(tiny_cell, range(6))
    texts = network.embed(batch.ids)
    for name in baselines(tiny_cell):
        found = find_baseline(network, batch, name, texts)
        assert torch.equal(found[~batch.scored], texts[~batch.scored])
        wanted = torch.zeros_like(texts[0, 0]) if name == "zero" else network.embedding.weight[batch.special_id(name)]
        assert (found[batch.scored] == wanted).all()


def test_only_scored_tokens_get_an_attribution(tiny_cell, network):
    batch = make_batch(tiny_cell, range(6))
    for target in ("logit", "prob"):
        assert not sweep(network, batch, Task("unk", (10,)))[10].of(target)[~batch.scored].any()


def test_a_model_with_a_part_in_training_mode_is_refused(tiny_cell, network):
    part = next(module for module in network.modules() if isinstance(module, torch.nn.Dropout))
    part.train()
    try:
        with pytest.raises(RuntimeError, match="in training mode"):
            sweep(network, make_batch(tiny_cell, [0]), Task("zero", (10,)))
    finally:
        network.eval()


def test_an_absent_special_token_is_an_error_that_names_it(tiny_laboratory):
    from fixtures.cells import Cell
    from fixtures.models.files import ModelError

    cell = Cell(tiny_laboratory, "lstm", "toy", "op")
    with pytest.raises(ModelError, match="no MASK token"):
        sweep(cell.network("mixed"), make_batch(cell, [0]), Task("mask", (10,)))


@given(st.integers(1, 5), st.integers(1, 40), st.integers(1, 90))
def test_every_text_meets_every_step_once(texts, steps, size):
    pairs = []
    for rows, points in fixtures.evidence.path._cut(texts, steps, size):
        assert len(rows) <= size
        pairs += zip(rows.tolist(), points.tolist(), strict=True)
    assert pairs == [(text, step) for text in range(texts) for step in range(1, steps + 1)]
