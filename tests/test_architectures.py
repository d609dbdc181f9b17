"""Each Hugging Face architecture against the library's own forward pass on its own tokenizer's batch."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from transformers import AutoTokenizer, DistilBertTokenizer

from fixtures.evidence import Task, attention
from fixtures.models import bert
from fixtures.models.encoder import collate
from fixtures.models.files import ModelError
from fixtures.models.rows import StartRows
from shortcuts import Example
from tests.encoders import OWN, WRITERS, write_encoder

TEXTS = [("a", "good", "film"), ("zeros",), ("a", "film", "a", "zero", "good", "film", "bad")]
TOKENS = ("indicator0", "indicator1", "context0", "zero")


@pytest.fixture(scope="module", params=WRITERS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def folder(kind, tmp_path_factory):
    return write_encoder(kind, tmp_path_factory.mktemp(kind))


def build(folder, **settings):
    return bert.build({"checkpoint": {"path": str(folder)}, "max_length": 36, "dropout": 0.0, **settings}, [], None)


@pytest.fixture(scope="module")
def built(folder):
    return build(folder)


@pytest.fixture
def network(built):
    return make(built)


def make(built):
    torch.manual_seed(1)
    classifier = built.make().eval()
    # A fresh head is near zero; a large one shows what reaches it.
    for name, module in classifier.network.named_children():
        if name != classifier.network.base_model_prefix:
            for weight in module.parameters():
                torch.nn.init.normal_(weight)
    return classifier


def make_batch(encoder, texts=TEXTS):
    return collate(encoder.encode([Example(text, 0) for text in texts]), encoder.pad_id)


def read(tokenizer, texts):
    """What the library's tokenizer makes of texts: on its own side of the padding, with its token types."""
    return tokenizer(
        [list(text) for text in texts],
        is_split_into_words=True,
        padding=True,
        return_tensors="pt",
        # transformers 5 leaves them out unless asked, for XLNet too, which was trained with them.
        return_token_type_ids=not isinstance(tokenizer, DistilBertTokenizer),
    )


def ask_library(network, folder, texts=TEXTS):
    return network.network(**read(AutoTokenizer.from_pretrained(folder, add_prefix_space=True), texts)).logits


def test_logits_are_the_librarys_padded_and_alone(network, built, folder):
    batch = make_batch(built.encoder)
    assert not batch.mask.all()
    found = network.classify(network.embed(batch.ids), batch.mask)
    assert (found[0] - found[1:]).abs().min() > 1e-3
    torch.testing.assert_close(found, ask_library(network, folder), rtol=0, atol=1e-5)
    alone = torch.cat([ask_library(network, folder, [text]) for text in TEXTS])
    torch.testing.assert_close(found, alone, rtol=0, atol=1e-5)


def test_xlnet_needs_its_padding_on_the_left_and_its_segments(tmp_path):
    folder = write_encoder("xlnet", tmp_path)
    built = build(folder)
    network = make(built)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert tokenizer.padding_side == "left"
    theirs = read(tokenizer, TEXTS)
    assert theirs["token_type_ids"][:, -1].eq(2).all()
    found = ask_library(network, folder)
    del theirs["token_type_ids"]
    assert ((network.network(**theirs).logits - found).abs().amax(1) > 1e-3).all()
    batch = make_batch(built.encoder)
    right = network.network(input_ids=batch.ids, attention_mask=batch.mask.long(), token_type_ids=0 * batch.ids)
    assert (right.logits - found).abs().max() > 1e-3


def test_attention_is_the_librarys_in_the_order_of_the_text(network, built, folder):
    batch = make_batch(built.encoder)
    layers = network.attend(network.embed(batch.ids), batch.mask)
    assert len(layers) == 2
    tokenizer = AutoTokenizer.from_pretrained(folder, add_prefix_space=True)
    network.network.set_attn_implementation("eager")
    for row, text in enumerate(TEXTS):
        theirs = network.network(**read(tokenizer, [text]), output_attentions=True).attentions
        size = int(batch.mask[row].sum())
        for layer, own in zip(layers, theirs, strict=True):
            torch.testing.assert_close(layer[row, :, :size, :size], own[0], rtol=0, atol=1e-5)
            assert not layer[row, :, :size, size:].any()


def test_attention_is_read_where_the_head_reads(network, built):
    batch = make_batch(built.encoder)
    readout = network.find_readout(batch.mask)
    rows = torch.arange(len(readout))
    assert batch.ids[rows, readout].eq(built.encoder.tokenizer.cls_token_id).all()
    found = attention.sweep(network, batch, Task())
    torch.testing.assert_close(found.last, found.layers[-1][rows, readout])
    assert found.rollout.sum(1).sub(1).abs().max() < 1e-6
    assert not found.rollout[~batch.mask].any()


def test_a_new_token_is_one_id_with_its_own_row_and_splits_no_longer_word(network, built, folder):
    before = built.encoder.encode([Example(("zeros", "subzero", "indicator01"), 0)])
    grown, amount = built.encoder.with_tokens(TOKENS)
    assert grown.encode([Example(("zeros", "subzero", "indicator01"), 0)]) == before
    assert grown.widths(TOKENS) == [1, 1, 1, 1]
    assert amount == 3
    width = network.embedding.weight.shape[1]
    rows = torch.randn(amount, width, generator=torch.Generator().manual_seed(3))
    StartRows(rows, len(built.encoder.tokenizer)).append_to(network)
    texts = [("a", "indicator1", "film"), ("indicator0", "good", "context0", "a", "zeros")]
    batch = make_batch(grown, texts)
    assert torch.equal(network.embed(batch.ids)[batch.ids >= len(built.encoder.tokenizer)], rows[[1, 0, 2]])
    found = network.classify(network.embed(batch.ids), batch.mask)
    torch.testing.assert_close(found, network.network(**read(grown.tokenizer, texts)).logits, rtol=0, atol=1e-5)


def test_the_embedding_of_a_token_may_be_smaller_than_a_state(network, built, kind):
    batch = make_batch(built.encoder)
    assert network.embed(batch.ids).shape[2] == OWN[kind].get("embedding_size", 8)


def test_padding_has_no_gradient_and_tokens_have_one(network, built):
    batch = make_batch(built.encoder)
    embeddings = network.embed(batch.ids).detach().requires_grad_()
    network.classify(embeddings, batch.mask)[:, 1].sum().backward()
    slopes = embeddings.grad.abs().sum(2)
    assert not slopes[~batch.mask].any()
    assert (slopes[batch.mask] > 0).all()


@pytest.mark.parametrize("start", ["rare", "frequent"])
def test_rows_are_copied_from_whole_words(built, network, start, kind):
    encoder = built.encoder
    vocabulary = encoder.tokenizer.get_vocab()
    pieces = () if kind in ("bert", "distilbert") else ("nb",)
    texts = encoder.encode([Example(("film", "good", "zero", *pieces), 0)])
    used = [index for text in texts for index in text.ids]
    rows = StartRows.draw(
        network.embedding.weight, amount=3, first=len(vocabulary), start=start, seed=0, vocabulary=vocabulary, used=used
    ).rows
    words = [index for word in ("film", "good", "zero") for index in encoder.encode([Example((word,), 0)])[0].ids]
    words = [index for index in words if index not in encoder.tokenizer.all_special_ids]
    assert len(words) == 3
    known = network.embedding.weight[words]
    assert all((known == row).all(1).any() for row in rows)


@pytest.mark.parametrize(("stored", "wanted"), [(0.5, 0.0), (0.0, 0.5)])
def test_the_dropout_of_attention_weights_is_what_the_settings_say(kind, folder, tmp_path, stored, wanted):
    if kind == "xlnet":
        pytest.skip("it has no dropout of attention weights apart from its other dropout")
    changed = shutil.copytree(folder, tmp_path / "changed")
    config = json.loads((changed / "config.json").read_text())
    config |= {name: 0.0 for name in config if "dropout" in name}
    config |= {name: stored for name in config if "attention" in name and "dropout" in name}
    (changed / "config.json").write_text(json.dumps(config))
    built = build(changed, attention_dropout=wanted)
    network, batch = make(built), make_batch(built.encoder)
    embeddings = network.embed(batch.ids)
    evaluated = network.classify(embeddings, batch.mask)
    trained = network.train().classify(embeddings, batch.mask)
    assert torch.allclose(trained, evaluated, atol=1e-5) == (wanted == 0)


def test_where_attention_has_no_dropout_of_its_own_setting_it_is_refused(tmp_path):
    built = build(write_encoder("xlnet", tmp_path), attention_dropout=0.0)
    with pytest.raises(ModelError, match=f"{tmp_path}: the architecture 'xlnet' has no dropout of attention weights"):
        built.make()
