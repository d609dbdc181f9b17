"""Checkpoints, tokenizers and word vectors that cannot be used: one line with the file and what to do."""

from __future__ import annotations

import json
import shutil

import pytest
import torch

from fixtures.models import bert, pretrained
from fixtures.models.encoder import Encoder
from fixtures.models.files import ModelError, locate_package
from fixtures.models.vectors import read_vectors
from tests.bad_inputs import assert_plain
from tests.tiny import write_vectors

KEPT = ("config.json", "model.safetensors")


def change_config(**changes):
    def change(folder):
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


def cut(name, size):
    """Keep the first bytes of a file, or leave out the last ones."""
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:size])


def drop_tokenizer(folder):
    for path in folder.iterdir():
        if path.name not in KEPT:
            path.unlink()


def write(name, text):
    return lambda folder: (folder / name).write_text(text)


CHECKPOINTS = {
    "nowhere": (shutil.rmtree, {}, ["is not there or no folder; mend `path`"]),
    "no weights": (
        lambda folder: (folder / "model.safetensors").unlink(),
        {},
        ["no .safetensors file", "save it with"],
    ),
    "weights of no bytes": (cut("model.safetensors", 0), {}, ["is not available", "header"]),
    "half a header": (cut("model.safetensors", 300), {}, ["is not available", "header", "name a local folder"]),
    "half the weights": (cut("model.safetensors", -64), {}, ["is not available", "not fully covered"]),
    "weights of words": (write("model.safetensors", "weights " * 99), {}, ["is not available", "header"]),
    "no configuration": (lambda folder: (folder / "config.json").unlink(), {}, ["is not available", "model_type"]),
    "no kind": (write("config.json", "{}"), {}, ["is not available", "`model_type` key in its config.json"]),
    "unknown kind": (change_config(model_type="brt"), {}, ["is not available", "brt"]),
    "half a configuration": (write("config.json", '{"model_type": "be'), {}, ["config.json' is not a valid JSON file"]),
    "other sizes": (change_config(intermediate_size=64), {}, ["weights are missing or of another size, first bert."]),
    "too many layers": (lambda _: None, {"layers": 9}, ["weights are missing", "or lower `layers`"]),
    "no tokenizer": (drop_tokenizer, {}, ["its tokenizer knows no word, so its files are missing"]),
    "half a tokenizer": (cut("tokenizer.json", 90), {}, ["is not available", "name a local folder"]),
    "another tokenizer": (write("tokenizer.json", '{"version": "1.0"}'), {}, ["is not available (KeyError"]),
    "too long": (lambda _: None, {"max_length": 500}, ["has 64 positions; lower `max_length` (500) to that"]),
    "too short": (lambda _: None, {"max_length": 2}, ["max_length 2 leaves no token for a text", "raise it"]),
}


@pytest.fixture
def build(world, tmp_path):
    """`build(change, **settings)`: the tiny checkpoint, changed on disk, as an untrained model."""

    def make(change, **settings):
        folder = shutil.copytree(world / "checkpoint", tmp_path / "checkpoint")
        change(folder)
        built = bert.build(
            {"checkpoint": {"path": str(folder)}, "max_length": 32, "dropout": 0.0, **settings}, [], None
        )
        return built, built.make()

    return make


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_a_checkpoint_that_cannot_be_used_is_one_line(build, name, tmp_path):
    change, settings, parts = CHECKPOINTS[name]
    with pytest.raises(ModelError) as caught:
        build(change, **settings)
    where = [] if name == "too short" else [str(tmp_path / "checkpoint")]
    assert_plain(str(caught.value), [*where, *parts])


def test_a_checkpoint_of_three_labels_gets_a_new_head_of_two(build):
    from transformers import BertForSequenceClassification

    def train_three(folder):
        BertForSequenceClassification.from_pretrained(folder, num_labels=3).save_pretrained(folder)

    _, network = build(train_three)
    ids = torch.tensor([[2, 5, 3]])
    assert network.classify(network.embed(ids), torch.ones_like(ids, dtype=torch.bool)).shape == (1, 2)


def test_the_longest_text_of_the_position_table_is_read(build):
    built, network = build(lambda _: None, max_length=64)
    ids = torch.full((1, built.encoder.max_length), 5)
    assert network.classify(network.embed(ids), torch.ones_like(ids, dtype=torch.bool)).isfinite().all()


def test_roberta_counts_its_positions_from_behind_padding(tmp_path):
    from tests.encoders import write_encoder

    folder = write_encoder("roberta", tmp_path)
    most = json.loads((folder / "config.json").read_text())["max_position_embeddings"] - 2
    settings = {"checkpoint": {"path": str(folder)}, "dropout": 0.0}
    bert.build(settings | {"max_length": most}, [], None).make()
    with pytest.raises(ModelError) as caught:
        bert.build(settings | {"max_length": most + 1}, [], None).make()
    assert_plain(str(caught.value), [str(folder), f"has {most} positions; lower `max_length` ({most + 1})"])


def make_tokenizer(normalizer=None, pre_tokenizer=None, **special):
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "good", "film", "indicator", "##0", "##1"]
    tokenizer = Tokenizer(models.WordPiece({word: index for index, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizer or pre_tokenizers.Whitespace()
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", **special)


def test_an_injected_token_that_the_tokenizer_splits_is_refused_with_its_pieces(monkeypatch):
    encoder = Encoder(make_tokenizer(pad_token="[PAD]"), 16)
    # Every fast tokenizer obeys an added token; one that does not is made up.
    monkeypatch.setattr(type(encoder.tokenizer), "add_tokens", lambda self, tokens: 0)
    with pytest.raises(ModelError) as caught:
        encoder.with_tokens(("indicator0", "indicator1"))
    assert_plain(str(caught.value), ["token 'indicator0' is not one id", "['indicator', '##0']", "take another word"])


def test_tokens_that_the_tokenizer_cannot_tell_apart_are_refused():
    from tokenizers import Regex, normalizers

    encoder = Encoder(make_tokenizer(normalizers.Replace(Regex("[0-9]"), ""), pad_token="[PAD]"), 16)
    with pytest.raises(ModelError) as caught:
        encoder.with_tokens(("indicator0", "indicator1"))
    assert_plain(str(caught.value), ["indicator0, indicator1 as the same id", "take other words in the matrix"])


def test_a_tokenizer_that_lower_cases_reads_the_tokens_all_the_same():
    from tokenizers import normalizers

    grown, _ = Encoder(make_tokenizer(normalizers.Lowercase(), pad_token="[PAD]"), 16).with_tokens(("zero", "one"))
    assert grown.widths(["zero", "one", "ZERO"]) == [1, 1, 1]


def test_a_tokenizer_without_padding_is_refused():
    with pytest.raises(ModelError) as caught:
        _ = Encoder(make_tokenizer(), 16).pad_id
    assert_plain(str(caught.value), ["the tokenizer has no PAD token", "name a checkpoint of an encoder"])


def test_a_tokenizer_without_a_fast_version_is_refused(build, monkeypatch):
    class Slow:
        is_fast = False

    monkeypatch.setattr(pretrained.AutoTokenizer, "from_pretrained", lambda *_, **__: Slow())
    with pytest.raises(ModelError) as caught:
        build(lambda _: None)
    assert_plain(str(caught.value), ["its tokenizer has no fast version", "save it with tokenizer.json"])


VECTORS = {
    "nowhere": (None, ["no word vectors at", "--data-dir names the folder", "in an overlay"]),
    "a header": ("2 3\nfilm 1 2 3\n", ["line 1: expected a word and its numbers, got '2 3", "no header line"]),
    "a word for a number": ("good 1 2 3\nfilm 1 two 3\n", ["line 2: not a word and its numbers", "mend the line"]),
    "a short line": ("good 1 2 3\nfilm 1 2\n", ["line 2", "mend the line"]),
    "nan": ("good 1 2 3\nfilm 1 nan 3\n", ["line 2: a number of 'film' is not finite", "mend or remove"]),
    "other words": (
        "bonjour 1 2 3\n",
        ["none of the 2 words of the corpus has a vector in vectors.txt", "expected lines"],
    ),
    "bytes": (b"film \xff\xfe 2 3\n", ["bytes that are not UTF-8", "GloVe's text format"]),
    "nothing": ("", ["none of the 2 words of the corpus has a vector"]),
}


@pytest.mark.parametrize("name", VECTORS)
def test_word_vectors_that_cannot_be_used_are_one_line(tmp_path, name):
    content, parts = VECTORS[name]
    if content is not None:
        (tmp_path / "vectors.txt").write_bytes(content if isinstance(content, bytes) else content.encode())
    wanted = {"film", "film 1"} if name == "a short line" else {"film", "good"}
    with pytest.raises(ModelError) as caught:
        read_vectors({"file": "vectors.txt"}, wanted, tmp_path)
    assert_plain(str(caught.value), ["vectors.txt", *parts])


def test_a_package_without_its_files_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "some_vectors").mkdir()
    (tmp_path / "some_vectors" / "__init__.py").write_text("")
    write_vectors(tmp_path / "some_vectors" / "matrix.npy")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelError) as caught:
        read_vectors({"package": "some_vectors", "matrix": "matrix.npy", "words": "no.parquet"}, {"film"}, None)
    assert_plain(str(caught.value), ["package 'some_vectors': no matrix and its words ("])
    with pytest.raises(ModelError) as caught:
        locate_package({"package": "some_vectors", "sha256": {"gone.npy": "0" * 64}})
    assert_plain(str(caught.value), ["gone.npy is not the pinned file", "run `make setup` again"])
