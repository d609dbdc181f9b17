"""Untrained checkpoints of other encoder kinds, with tokenizers of their own sort."""

from __future__ import annotations

from pathlib import Path

WORDS = ["a", "film", "zero", "good"]


def write_encoder(kind: str, folder: Path) -> Path:
    """A checkpoint folder of kind `roberta` (byte-level pieces) or `distilbert` (no token types)."""
    return {"roberta": _write_roberta, "distilbert": _write_distilbert}[kind](folder)


def _write_roberta(folder: Path) -> Path:
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizerFast

    trained = ByteLevelBPETokenizer(add_prefix_space=True)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator([" ".join(WORDS)] * 3, vocab_size=300, special_tokens=special)
    trained.save_model(str(folder))
    tokenizer = RobertaTokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt"), add_prefix_space=True)
    tokenizer.save_pretrained(folder)
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=40,
        pad_token_id=tokenizer.pad_token_id,
    )
    RobertaModel(config).save_pretrained(folder)
    return folder


def _write_distilbert(folder: Path) -> Path:
    from transformers import DistilBertConfig, DistilBertModel, DistilBertTokenizerFast

    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]) + "\n", encoding="utf-8")
    DistilBertTokenizerFast(str(vocabulary)).save_pretrained(folder)
    config = DistilBertConfig(vocab_size=9, dim=8, n_layers=1, n_heads=2, hidden_dim=8, max_position_embeddings=40)
    DistilBertModel(config).save_pretrained(folder)
    return folder
