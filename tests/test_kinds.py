"""Convolutions and the multiplicative LSTM against sums by hand; what is frozen or static stays so."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tokenizers import decoders

from fixtures.checkpoints import Checkpoints
from fixtures.models.convolution import Convolutions
from fixtures.models.encoder import Encoded, collate
from fixtures.models.files import ModelError
from fixtures.models.mlstm import VOCABULARY
from fixtures.models.rows import StartRows
from fixtures.training import Labelled, train
from shortcuts import Example
from tests.kinds import build_kind
from tests.tiny import RECIPE

TOKENS = ("indicator0", "indicator1")
TEXTS = [Example(("good", "film", "indicator0"), 1), Example(("bad", "zero", "a", "film", "indicator1"), 0)]


def make_grown(kind: str, folder: Path, **settings):
    """An untrained model with rows for the tokens, and its encoder."""
    built = build_kind(kind, folder, **settings)
    grown, amount = built.encoder.with_tokens(TOKENS)
    torch.manual_seed(0)
    network = built.make()
    rows = torch.randn(amount, network.embedding.weight.shape[1])
    StartRows(rows, len(built.encoder.tokenizer)).append_to(network)
    return network, grown


def train_briefly(network, encoder, folder):
    data = Labelled(encoder.encode(TEXTS), [example.label for example in TEXTS])
    recipe = RECIPE | {"steps": 12, "warmup": 0, "evaluate_every": 12, "batch": 2}
    options = {"pad_id": encoder.pad_id, "seed": 0, "device": torch.device("cpu"), "report": lambda *_: None}
    train(network, data, data, recipe, checkpoints=Checkpoints(folder / "checkpoint.safetensors"), **options)


def test_a_convolution_by_hand():
    layer = Convolutions(size=1, widths=[2], filters=1)
    [convolution] = layer.filters
    with torch.no_grad():
        convolution.weight.copy_(torch.tensor([[[2.0, -1.0]]]))
        convolution.bias.fill_(0.5)
    states = torch.tensor([[[1.0], [3.0], [2.0]]])
    # Windows (0, 1), (1, 3), (3, 2), (2, 0) are worth -1, -1, 4, 4 and the bias.
    assert layer(states, torch.ones(1, 3, dtype=torch.bool)).tolist() == [[4.5]]
    assert layer(states, torch.tensor([[True, True, False]])).tolist() == [[6.5]]


def test_neither_padding_nor_its_bias_is_part_of_a_text():
    torch.manual_seed(0)
    layer = Convolutions(size=3, widths=[2, 5], filters=4)
    with torch.no_grad():
        for convolution in layer.filters:
            # Every window of words is worth less than one of nothing.
            convolution.weight.copy_(-convolution.weight.abs())
            convolution.bias.fill_(9.0)
    states = torch.rand(1, 2, 3) + 1
    alone = layer(states, torch.ones(1, 2, dtype=torch.bool))
    padded = torch.cat([states, torch.full((1, 7, 3), 50.0)], 1)
    torch.testing.assert_close(layer(padded, torch.arange(9)[None] < 2), alone)
    assert (alone < 9.0).all()


def test_a_channel_is_static_and_the_other_is_tuned(tmp_path):
    network, encoder = make_grown("cnn", tmp_path)
    before = network.embedding.weight.detach().clone()
    assert torch.equal(before[:-2, :3], before[:-2, 3:])
    train_briefly(network, encoder, tmp_path)
    static, tuned = (network.embedding.weight.detach() - before).chunk(2, 1)
    assert not static.any()
    used = sorted({index for text in encoder.encode(TEXTS) for index in text.ids})
    assert (tuned[used].abs().sum(1) > 0).all()


def test_a_recipe_that_would_let_the_static_channel_decay_is_refused(tmp_path):
    with pytest.raises(ModelError, match=r"weight_decay 0\.01 would change the static word vectors"):
        build_kind("cnn", tmp_path, recipe={"weight_decay": 0.01})


def test_under_convolutions_the_encoder_stays_as_it_was(tmp_path):
    network, encoder = make_grown("use", tmp_path, dropout=0.5)
    network.body.config.hidden_dropout_prob = 0.9
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    train_briefly(network, encoder, tmp_path)
    changed = {name for name, tensor in network.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed == {name for name in before if not name.startswith("body.")}
    assert not network.train().body.training
    assert network.dropout.training


def test_convolutions_run_over_the_encoders_own_states(tmp_path):
    network, encoder = make_grown("use", tmp_path)
    batch = collate(encoder.encode(TEXTS), encoder.pad_id)
    network.eval()
    states = network.body(input_ids=batch.ids, attention_mask=batch.mask.long()).last_hidden_state
    expected = network.output(network.convolutions(states, batch.mask))
    torch.testing.assert_close(network.classify(network.embed(batch.ids), batch.mask), expected, rtol=0, atol=1e-6)
    embeddings = network.embed(batch.ids).requires_grad_()
    network.classify(embeddings, batch.mask)[:, 1].sum().backward()
    assert (embeddings.grad.abs().sum(2)[batch.mask] > 0).all()


def test_bytes_and_an_added_word_live_in_one_vocabulary(tmp_path):
    encoder = make_grown("mlstm", tmp_path)[1]
    [text] = encoder.encode([Example(("né", "indicator1", "😀"), 0)])
    added = len(VOCABULARY) + 1
    signs = encoder.tokenizer.convert_ids_to_tokens([index for index in text.ids if index != added])
    assert decoders.ByteLevel().decode(signs) == " né 😀"
    assert text.ids[4] == added
    assert text.words == (0, 0, 0, 0, 1, 2, 2, 2, 2, 2)
    assert encoder.widths(["né", "indicator1", "indicator10"]) == [4, 1, 12]
    assert len(VOCABULARY) == 258


def test_the_multiplicative_lstm_by_its_equations(tmp_path):
    network = make_grown("mlstm", tmp_path)[0].eval().double()
    ids = torch.tensor([[70, 71, 259, 72]])
    inputs = network.embed(ids)[0]
    hidden = memory = torch.zeros(7, dtype=torch.double)
    cell, states = network.cell, []
    for vector in inputs:
        product = (network.from_input.weight @ vector) * (network.from_state.weight @ hidden)
        parts = cell.weight_ih @ vector + cell.bias_ih + cell.weight_hh @ product + cell.bias_hh
        enter, forget, change, leave = parts.chunk(4)
        memory = forget.sigmoid() * memory + enter.sigmoid() * change.tanh()
        hidden = leave.sigmoid() * memory.tanh()
        states.append(hidden)
    states = torch.stack(states)
    expected = network.output.weight @ torch.cat([states.mean(0), states.amax(0)]) + network.output.bias
    found = network.classify(network.embed(ids), torch.ones_like(ids, dtype=torch.bool))[0]
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("kind", ["cnn", "mlstm"])
def test_words_are_dropped_in_training_only(kind, tmp_path):
    network, encoder = make_grown(kind, tmp_path, word_dropout=1.0)
    [text] = encoder.encode(TEXTS[:1])
    ids = torch.tensor([text.ids])
    unknown = torch.full_like(ids, encoder.tokenizer.unk_token_id)
    assert torch.equal(network.train().embed(ids), network.embed(unknown))
    assert not torch.equal(network.eval().embed(ids), network.embed(unknown))


@pytest.mark.parametrize("kind", ["cnn", "mlstm", "use"])
def test_a_text_of_one_token_has_logits(kind, tmp_path):
    network, encoder = make_grown(kind, tmp_path)
    batch = collate([Encoded((5,), (0,)), *encoder.encode(TEXTS)], encoder.pad_id)
    logits = network.eval().classify(network.embed(batch.ids), batch.mask)
    assert logits.isfinite().all()
    alone = network.classify(network.embed(batch.ids[:1, :1]), batch.mask[:1, :1])
    torch.testing.assert_close(logits[:1], alone, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["cnn", "mlstm", "use"])
def test_a_kind_without_attention_refuses(kind, tmp_path):
    network = make_grown(kind, tmp_path)[0]
    with pytest.raises(NotImplementedError, match="has no attention weights"):
        network.attend(torch.zeros(1, 2, 8), torch.ones(1, 2, dtype=torch.bool))
