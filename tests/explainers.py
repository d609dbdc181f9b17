"""Explainers as a user writes them: two that are right, and ones that each make one mistake which somebody once made.

All have the contract of a user's method, `score(model, batch, target) -> [B, T]`.
"""

from __future__ import annotations

import warnings

import torch

STEPS = 50


def occlude(model, batch, target, places=None, mask=None):
    """Leave one token out, UNK in its place; the loss in probability."""
    mask = batch.mask if mask is None else mask
    places = batch.scored if places is None else places
    whole = read(model, batch.ids, mask, target)
    scores = torch.zeros(batch.ids.shape, dtype=torch.float64)
    for place in range(batch.ids.shape[1]):
        ids = batch.ids.clone()
        ids[places[:, place], place] = batch.special_id("unk")
        scores[:, place] = whole - read(model, ids, mask, target)
    return scores


def read(model, ids, mask, target):
    """Probability of the target, [B]."""
    with torch.no_grad():
        return model.classify(model.embed(ids), mask).double().softmax(1)[torch.arange(len(ids)), target]


def integrate(model, batch, target, baseline="zero", steps=STEPS, kept=None):
    """Integrated gradients of the logit by the midpoint rule; the baseline keeps special tokens."""
    moved = batch.scored if kept is None else kept
    whole = model.embed(batch.ids).detach()
    start = (
        torch.zeros_like(whole) if baseline == "zero" else model.embed(torch.full_like(batch.ids, baseline)).detach()
    )
    start = torch.where(moved[:, :, None], start, whole)
    scores = torch.zeros(batch.ids.shape, dtype=torch.float64)
    for step in range(steps):
        point = (start + (step + 0.5) / steps * (whole - start)).requires_grad_()
        value = model.classify(point, batch.mask)[torch.arange(len(target)), target].sum()
        (gradient,) = torch.autograd.grad(value, point)
        scores += (gradient * (whole - start)).sum(-1).double() / steps
    model.classify(whole, batch.mask)
    return scores


def turn_sign(model, batch, target):
    return -occlude(model, batch, target)


def explain_class_1(model, batch, target):
    return occlude(model, batch, torch.ones_like(target))


def lose_sign(model, batch, target):
    return occlude(model, batch, target).abs()


def shift_positions(model, batch, target):
    return occlude(model, batch, target).roll(1, dims=1)


def mistake_baseline(model, batch, target):
    return integrate(model, batch, target, baseline=batch.special_id("unk"))


def claim_a_gap(evidence, method):
    """A `gap` reducer that did not look."""
    return torch.ones(3)


def take_one_step(model, batch, target):
    return integrate(model, batch, target, steps=1)


def give_specials_a_share(model, batch, target):
    return integrate(model, batch, target, kept=batch.mask) * 0.9


def rederive_target(model, batch, target):
    def read_best(ids):
        with torch.no_grad():
            return model.classify(model.embed(ids), batch.mask).double().softmax(1).max(1).values

    scores = torch.zeros(batch.ids.shape, dtype=torch.float64)
    for place in range(batch.ids.shape[1]):
        ids = batch.ids.clone()
        ids[batch.scored[:, place], place] = batch.special_id("unk")
        scores[:, place] = read_best(batch.ids) - read_best(ids)
    return scores


def drop_mask(model, batch, target):
    return occlude(model, batch, target, mask=torch.ones_like(batch.mask))


def scale_by_batch(model, batch, target):
    scores = occlude(model, batch, target)
    return scores / scores.abs().max()


def seed_by_row(model, batch, target):
    noise = [torch.rand(batch.ids.shape[1], generator=torch.Generator().manual_seed(row)) for row in range(len(target))]
    return occlude(model, batch, target) + 0.1 * torch.stack(noise)


def merge_words(model, batch, target):
    scores = occlude(model, batch, target)
    same = (batch.ids[:, :, None] == batch.ids[:, None, :]).double()
    return (same @ scores[:, :, None]).squeeze(-1) / same.sum(-1)


def mask_specials(model, batch, target):
    return occlude(model, batch, target, places=batch.mask)


def replace_strings(model, batch, target):
    scores = torch.zeros(batch.ids.shape, dtype=torch.float64)
    for row, of in enumerate(target):
        text = batch.tokenizer.decode(batch.ids[row][batch.scored[row]])
        for place in batch.scored[row].nonzero().flatten():
            piece = batch.tokenizer.decode(batch.ids[row, place : place + 1]).removeprefix("##").strip()
            both = [
                batch.tokenizer(copy, return_tensors="pt").input_ids for copy in (text, text.replace(piece, "film"))
            ]
            chances = [read(model, ids, torch.ones_like(ids).bool(), of[None]) for ids in both]
            scores[row, place] = chances[0] - chances[1]
    return scores


def type_tokens(model, batch, target):
    with torch.no_grad():
        types = torch.ones_like(batch.ids)
        model.network(inputs_embeds=model.embed(batch.ids), attention_mask=batch.mask.long(), token_type_ids=types)
    return torch.zeros(batch.ids.shape)


def never_look(model, batch, target):
    return torch.zeros(batch.ids.shape)


def draw_globally(model, batch, target):
    return occlude(model, batch, target) + 1e-6 * torch.rand(batch.ids.shape)


def leave_train_mode(model, batch, target):
    scores = occlude(model, batch, target)
    model.network.dropout.train()
    return scores


def leave_hook(model, batch, target):
    model.network.classifier.register_forward_hook(lambda *_: None)
    return occlude(model, batch, target)


def leave_frozen(model, batch, target):
    model.embedding.weight.requires_grad_(not model.embedding.weight.requires_grad)
    return occlude(model, batch, target)


def leave_gradients(model, batch, target):
    model.classify(model.embed(batch.ids), batch.mask).sum().backward()
    return occlude(model, batch, target)


def leave_attention(model, batch, target):
    chosen = model.network.config._attn_implementation
    model.network.set_attn_implementation("sdpa" if chosen == "eager" else "eager")
    return occlude(model, batch, target)


def leave_weights(model, batch, target):
    with torch.no_grad():
        model.embedding.weight[batch.special_id("unk")] += 1
    return occlude(model, batch, target)


def leave_seed(model, batch, target):
    torch.manual_seed(int(torch.initial_seed()) % 1000 + 1)
    return occlude(model, batch, target)


def leave_filters(model, batch, target):
    warnings.simplefilter("ignore", category=BytesWarning)
    return occlude(model, batch, target)


def leave_patch(model, batch, target):
    forward = torch.nn.LayerNorm.forward
    torch.nn.LayerNorm.forward = lambda self, *arguments: forward(self, *arguments)
    return occlude(model, batch, target)


def divide_by_spread(model, batch, target):
    scores = occlude(model, batch, target)
    return torch.stack([row / row[kept].std(correction=0) for row, kept in zip(scores, batch.scored, strict=True)])


def read_the_start(model, batch, target):
    scores = occlude(model, batch, target)
    scores[:, 16:] = 0
    return scores


def add_a_token(model, batch, target):
    ids = torch.nn.functional.pad(batch.ids, (0, 1), value=batch.special_id("sep"))
    read(model, ids, torch.ones_like(ids).bool(), target)
    return occlude(model, batch, target)


def lose_digits(model, batch, target):
    scores = occlude(model, batch, target).to(model.embedding.weight.dtype)
    return (scores + 1000) - 1000
