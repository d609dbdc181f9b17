"""A classifier whose right explanation is known: a bag of embeddings with a linear head, in a Hugging Face model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from tokenizers import Tokenizer, models
from transformers import BertConfig, PreTrainedModel, PreTrainedTokenizerFast
from transformers.modeling_outputs import SequenceClassifierOutput

from fixtures.models.bert import Bert
from fixtures.models.encoder import Batch, Encoded, collate

SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
EVIDENCE = {"rule": 1.0, "good": 0.25, "poor": -0.5, "film": 0.03, "plot": -0.02, "a": 0.0}
"""What each word adds to the logit of class 1; it takes as much from the logit of class 0."""


class BagForSequenceClassification(PreTrainedModel):
    """Logits [B, 2]: the sum over the tokens that are no padding of a linear function of their embeddings."""

    config_class = BertConfig
    base_model_prefix = "bag"

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bag = torch.nn.Embedding(config.vocab_size, 4)
        self.head = torch.nn.Linear(4, 2, bias=False)
        self.post_init()

    def get_input_embeddings(self) -> torch.nn.Embedding:
        return self.bag

    def forward(self, input_ids=None, attention_mask=None, inputs_embeds=None) -> SequenceClassifierOutput:
        vectors = self.bag(input_ids) if inputs_embeds is None else inputs_embeds
        return SequenceClassifierOutput(logits=self.head((vectors * attention_mask[:, :, None]).sum(1)))


def make_bag() -> Bert:
    """The bag over the words of `EVIDENCE`; special tokens are worth nothing."""
    evidence = torch.tensor([0.0] * len(SPECIAL) + list(EVIDENCE.values()))
    network = BagForSequenceClassification(BertConfig(vocab_size=len(evidence), pad_token_id=0)).eval()
    with torch.no_grad():
        # Two components carry the evidence, of different sizes; the others are there to be ignored.
        network.bag.weight.copy_(torch.stack([evidence, evidence / 2, evidence.cos(), evidence.sin()], 1))
        network.head.weight.copy_(torch.tensor([[-0.8, -0.4, 0, 0], [0.8, 0.4, 0, 0]]))
    return Bert(network).eval()


def make_texts(*texts: str, seeds: Sequence[int] | None = None, padding: int = 0) -> Batch:
    """A batch of texts, `[CLS] words [SEP]`, with a seed each and `padding` more columns than it needs."""
    vocabulary = {token: index for index, token in enumerate([*SPECIAL.values(), *EVIDENCE])}
    core = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, **SPECIAL)
    encoded = []
    for text in texts:
        words = text.split()
        ids = [vocabulary.get(word, vocabulary["[UNK]"]) for word in ("[CLS]", *words, "[SEP]")]
        encoded.append(Encoded(tuple(ids), (None, *range(len(words)), None)))
    longest = max(encoded, key=lambda text: len(text.ids))
    filler = replace(longest, ids=longest.ids + (0,) * padding, words=longest.words + (None,) * padding)
    whole = collate([*encoded, filler], pad_id=0)
    return Batch(whole.ids[:-1], whole.mask[:-1], whole.scored[:-1], tokenizer, seeds or list(range(len(texts))))


def measure_evidence(batch: Batch, target: torch.Tensor) -> torch.Tensor:
    """What each scored token really adds to the logit of the target, [B, T]; it would add nothing were it PAD."""
    worth = torch.tensor([0.0] * len(SPECIAL) + list(EVIDENCE.values()), dtype=torch.float64)
    return worth[batch.ids] * batch.scored * (2 * target - 1)[:, None]
