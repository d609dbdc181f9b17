"""Kinds of models over folders that are not theirs: one line with the folder and what to do, before any training."""

from __future__ import annotations

import sys

import pytest
import transformers

from benchmarks.matrix import load_matrix
from benchmarks.registry import call
from fixtures.models.files import ModelError
from tests.bad_inputs import assert_plain
from tests.kinds import make_settings
from tests.test_bad_models import drop_tokenizer


def build(kind, settings):
    return call(load_matrix().tables["models"][kind], settings, [], None)


WORDS_ONLY = {"vocab_size": 20, "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
FOREIGN = {
    "GPT2": (
        {"n_embd": 8, "n_layer": 2, "n_head": 2, "initializer_range": 0.4, **WORDS_ONLY},
        "bert",
        ["(gpt2): padding"],
    ),
    "T5": ({"d_model": 8, "d_ff": 8, "num_layers": 1, "num_heads": 2, "d_kv": 4}, "bert", ["(t5) does not run from"]),
    "ViT": (
        {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8},
        "use",
        ["(vit) does not run from embeddings"],
    ),
}
"""Architectures that are no encoder of texts: their sizes, the kind that they are named for, what is said."""


@pytest.mark.parametrize("name", FOREIGN)
def test_a_folder_with_no_encoder_of_texts_is_refused_before_training(name, tmp_path):
    sizes, kind, parts = FOREIGN[name]
    settings = make_settings(kind, tmp_path)
    config = getattr(transformers, f"{name}Config")(**sizes)
    getattr(transformers, f"{name}Model")(config).save_pretrained(tmp_path)
    with pytest.raises(ModelError) as caught:
        build(kind, settings).make()
    assert_plain(str(caught.value), [str(tmp_path), *parts, "name a checkpoint of an encoder, such as a BERT"])


@pytest.mark.parametrize("kind", ["albert", "distilbert", "roberta", "xlnet"])
def test_a_kind_takes_its_own_architecture_only(kind, tmp_path):
    settings = make_settings("bert", tmp_path)
    with pytest.raises(ModelError) as caught:
        build(kind, settings).make()
    assert_plain(
        str(caught.value),
        [str(tmp_path), f"is of the architecture 'bert', not {kind!r}", "name it for the model `bert`"],
    )


ABSENT = {
    "albert": {"path": "nowhere"},
    "use": {"path": "nowhere"},
    "xlnet": {"package": "xlnet_that_nobody_installed"},
}


@pytest.mark.parametrize("kind", ABSENT)
def test_a_kind_without_its_checkpoint_is_one_line(kind, tmp_path):
    place = {key: str(tmp_path / value) if key == "path" else value for key, value in ABSENT[kind].items()}
    settings = make_settings("mlstm", tmp_path) | {"checkpoint": place}
    with pytest.raises(ModelError) as caught:
        build(kind, settings)
    remedy = "is not there or no folder; mend `path`" if "path" in place else "is not installed; run `make setup`"
    assert_plain(str(caught.value), [*place.values(), remedy])


@pytest.mark.parametrize("kind", ["albert", "xlnet"])
def test_a_tokenizer_that_takes_sentencepiece_says_so(kind, tmp_path, monkeypatch):
    settings = make_settings(kind, tmp_path)
    drop_tokenizer(tmp_path)
    (tmp_path / "spiece.model").write_bytes(b"pieces")
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(ModelError) as caught:
        build(kind, settings)
    assert_plain(str(caught.value), [str(tmp_path), "in spiece.model alone", "`pip install sentencepiece protobuf`"])
