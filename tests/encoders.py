"""Tiny checkpoints of Hugging Face architectures, with tokenizers of their own sort, untrained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORDS = ["a", "film", "zero", "good"]
SIZES = {
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    # Large, so that what an input changes is seen in the logits.
    "initializer_range": 0.4,
}


def write_encoder(kind: str, folder: Path) -> Path:
    """A checkpoint folder of kind `bert`, `albert`, `distilbert`, `roberta` or `xlnet`."""
    import torch
    import transformers

    tokenizer = WRITERS[kind](folder)
    tokenizer.save_pretrained(folder)
    stem = {"distilbert": "DistilBert", "xlnet": "XLNet"}.get(kind, kind.capitalize())
    sizes = SIZES | OWN[kind] | {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    config = getattr(transformers, f"{stem}Config")(**sizes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        getattr(transformers, f"{stem}Model")(config).save_pretrained(folder)
    return folder


POSITIONS = {"max_position_embeddings": 40}
OWN: dict[str, dict[str, int]] = {
    "bert": POSITIONS,
    "roberta": {"type_vocab_size": 1} | POSITIONS,
    # Factorised: a token's embedding is smaller than a state.
    "albert": {"embedding_size": 6} | POSITIONS,
    "distilbert": POSITIONS | {"dim": 8, "n_layers": 2, "n_heads": 2, "hidden_dim": 8},
    # Relative positions only, without an end.
    "xlnet": {"d_model": 8, "n_layer": 2, "n_head": 2, "d_inner": 8},
}


def _read_word_pieces(folder: Path) -> Any:
    from transformers import BertTokenizerFast

    vocabulary = folder / "vocab.txt"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *"nsb", "##s", "##a"]
    vocabulary.write_text("\n".join(pieces) + "\n", encoding="utf-8")
    return BertTokenizerFast(str(vocabulary))


def _read_distilbert(folder: Path) -> Any:
    from transformers import DistilBertTokenizerFast

    _read_word_pieces(folder)
    return DistilBertTokenizerFast(str(folder / "vocab.txt"))


def _read_byte_pieces(folder: Path) -> Any:
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaTokenizerFast

    trained = ByteLevelBPETokenizer(add_prefix_space=True)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator([" ".join(WORDS)] * 3, vocab_size=300, special_tokens=special)
    trained.save_model(str(folder))
    # Saved as the hub has it, where a text's first word has no blank before it.
    return RobertaTokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt"), add_prefix_space=False)


def _list_unigrams(*special: str) -> list[tuple[str, float]]:
    # Whole words are likelier than their letters.
    letters = sorted({letter for word in WORDS for letter in word} | set("▁nsbdictor012345"))
    return [
        *((token, 0.0) for token in special),
        *((f"▁{word}", -1.0) for word in WORDS),
        *((x, -9.0) for x in letters),
    ]


def _read_albert(folder: Path) -> Any:
    from transformers import AlbertTokenizer

    return AlbertTokenizer(_list_unigrams("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"))


def _read_xlnet(folder: Path) -> Any:
    from transformers import XLNetTokenizer

    return XLNetTokenizer(_list_unigrams("<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"))


WRITERS = {
    "bert": _read_word_pieces,
    "albert": _read_albert,
    "distilbert": _read_distilbert,
    "roberta": _read_byte_pieces,
    "xlnet": _read_xlnet,
}
