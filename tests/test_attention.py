"""Attention against the model's own weights and a rollout by hand; occlusion against one forward pass per token."""

from __future__ import annotations

import pytest
import torch

from fixtures.cells import Cell
from fixtures.evidence import Task, attention, occlusion
from fixtures.evidence.attention import Weights
from fixtures.models.encoder import Encoded, collate
from fixtures.models.prepared import prepare
from tests.batches import make_batch


@pytest.fixture(scope="module")
def network(tiny_cell):
    return tiny_cell.network("mixed")


def test_a_rollout_by_hand():
    first = torch.tensor([[[0.5, 0.5], [0.2, 0.8]]], dtype=torch.float64)
    second = torch.tensor([[[0.9, 0.1], [0.4, 0.6]]], dtype=torch.float64)
    # Half identity: rows (0.75, 0.25), (0.1, 0.9) and (0.95, 0.05), (0.2, 0.8); the product's first row is
    # 0.95 * (0.75, 0.25) + 0.05 * (0.1, 0.9).
    found = Weights([first, second], torch.tensor([0]))
    torch.testing.assert_close(found.rollout, torch.tensor([[0.7175, 0.2825]], dtype=torch.float64))
    torch.testing.assert_close(found.last, torch.tensor([[0.9, 0.1]], dtype=torch.float64))
    # The second row of the product is 0.2 * (0.75, 0.25) + 0.8 * (0.1, 0.9).
    found = Weights([first, second], torch.tensor([1]))
    torch.testing.assert_close(found.rollout, torch.tensor([[0.23, 0.77]], dtype=torch.float64))


def test_bert_attention_is_that_of_the_model_itself(tiny_laboratory):
    cell = Cell(tiny_laboratory, "bert", "toy", "op")
    network = cell.network("mixed")
    batch = make_batch(cell, range(6))
    chosen = network.network.config._attn_implementation
    found = attention.sweep(network, batch, Task())
    assert network.network.config._attn_implementation == chosen
    network.network.set_attn_implementation("eager")
    try:
        own = network.network(batch.ids, batch.mask.long(), output_attentions=True).attentions
    finally:
        network.network.set_attn_implementation(chosen)
    assert len(own) == len(found.layers) == 2
    torch.testing.assert_close(found.last.float(), own[-1].mean(1)[:, 0], rtol=1e-5, atol=1e-6)
    for scores in (found.last, found.rollout):
        torch.testing.assert_close(scores.sum(1), torch.ones(6, dtype=torch.float64))
        assert not scores[~batch.mask].any()


def test_lstm_attention_is_what_it_sums_its_states_with(tiny_laboratory):
    cell = Cell(tiny_laboratory, "lstm", "toy", "op")
    network, batch = cell.network("mixed"), make_batch(cell, range(6))
    weights = attention.sweep(network, batch, Task()).last.float()
    states = network._read(network.embed(batch.ids), batch.mask)
    summary = (weights[:, :, None] * states).sum(1)
    logits = network.output(torch.relu(network.layer(summary)))
    torch.testing.assert_close(logits, network.classify(network.embed(batch.ids), batch.mask), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="single query"):
        _ = attention.sweep(network, batch, Task()).rollout


@pytest.mark.parametrize("policy", ["unk", "erase"])
def test_occlusion_is_the_loss_without_the_token(tiny_cell, network, policy):
    batch = make_batch(tiny_cell, range(3))
    found = occlusion.sweep(network, batch, Task(policy)).values
    for row in range(3):
        text = tiny_cell.encoded_synthetic_test[row]
        whole = chance(tiny_cell, network, list(text.ids))
        target = int(whole.argmax())
        for place, word in enumerate(text.words):
            ids = list(text.ids)
            if policy == "erase":
                del ids[place]
            else:
                ids[place] = batch.special_id("unk")
            expected = float(whole[target] - chance(tiny_cell, network, ids)[target]) if word is not None else 0.0
            assert float(found[row, place]) == pytest.approx(expected, abs=1e-6)


def chance(cell, network, ids):
    batch = collate([Encoded(tuple(ids), (0,) * len(ids))], cell.encoder.pad_id)
    with torch.no_grad():
        return network.classify(network.embed(batch.ids), batch.mask).double().softmax(-1)[0]


def test_a_prepared_model_is_the_same_function(tiny_cell, network):
    batch = make_batch(tiny_cell, range(16))
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    ready = prepare(network)
    with torch.no_grad():
        ours = ready.classify(ready.embed(batch.ids), batch.mask)
        theirs = network.classify(network.embed(batch.ids), batch.mask)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    assert {id(parameter) for parameter in ready.cheap.parameters()} == {id(own) for own in network.parameters()}
    assert all(torch.equal(before[name], tensor) for name, tensor in network.state_dict().items())


def test_a_model_prepared_in_bf16_gives_nearly_the_same_logits_and_leaves_the_other_alone(tiny_cell, network):
    batch = make_batch(tiny_cell, range(16))
    ready = prepare(network, "bf16")
    with torch.no_grad():
        ours = ready.classify(ready.embed(batch.ids), batch.mask).float()
        theirs = network.classify(network.embed(batch.ids), batch.mask)
    assert ready.embedding.weight.dtype == torch.bfloat16
    assert network.embedding.weight.dtype == torch.float32
    torch.testing.assert_close(ours, theirs, rtol=0.05, atol=0.1)


def test_an_unknown_precision_names_those_there_are(network):
    from fixtures.errors import InputError

    with pytest.raises(InputError, match="there are: float32, bf16"):
        prepare(network, "float8")
