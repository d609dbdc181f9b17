"""The sweep of anchors on exact tiny models and on trained ones, and the words that stand for others."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import fixtures.evidence.rows
from fixtures.conformance.bench import make_batch as make_texts
from fixtures.conformance.worlds import build_world, find_encoder
from fixtures.evidence import Task, anchors, predict_target
from fixtures.evidence.speech import build_speech, read_speech, tag_tokens
from fixtures.methods import find_method
from fixtures.models.files import ModelError
from fixtures.reducers import mark_anchor
from shortcuts.ranking import precision_at_k
from tests.batches import make_batch

BUDGET = 1000
POLICIES = {"bert": ["unk", "mask", "pos"], "lstm": ["unk", "pos"]}
PAIR_TEXT = "film the not good plot scene actor"


@pytest.fixture(scope="module")
def network(tiny_cell):
    return tiny_cell.network("mixed")


@pytest.fixture
def rows(monkeypatch):
    """Every row of token ids that the model reads for copies, in order."""
    seen = []
    run = fixtures.evidence.rows._predict_rows

    def watch(classifier, ids, lengths, device):
        seen.extend(tuple(row[:length].tolist()) for row, length in zip(ids, lengths, strict=True))
        return run(classifier, ids, lengths, device)

    monkeypatch.setattr(fixtures.evidence.rows, "_predict_rows", watch)
    return seen


def find_anchors(classifier, batch, variant, budget=BUDGET):
    return anchors.sweep(classifier, batch, Task(variant, (budget,)))[budget]


RULES = [
    ("alarm_0", "film alarm plot good the", ["alarm"]),
    ("alarm_1", "film alarm plot good the", ["alarm"]),
    ("pair", PAIR_TEXT, ["not", "good"]),
    ("edge_1", "good film bad plot", ["good"]),
]


@pytest.mark.parametrize(
    ("world", "text", "words", "variant"),
    [(*rule, variant) for rule in RULES for variant in ("unk", "mask", "pos")]
    # With other words in place of some, `alarm` may come to stand there.
    + [("alarm_1", "good film bad plot story", [], variant) for variant in ("unk", "mask")],
)
def test_the_anchor_of_a_model_that_is_a_rule_is_the_rule(world, text, words, variant):
    batch = make_texts([text])
    found = find_anchors(build_world(world), batch, variant)
    [anchor] = found.anchors
    assert [text.split()[place] for place in anchor.places] == words
    assert (anchor.outcome, anchor.precision) == ("found", 1.0)
    assert found.held[0].nonzero().flatten().tolist() == [1 + place for place in anchor.places]
    assert anchor.passes <= 500


def test_an_anchor_ties_on_top_and_an_empty_one_ties_everything(tiny_cell):
    method = find_method(tiny_cell.laboratory.matrix.tables, "anchors.unk")
    batch = make_texts([PAIR_TEXT, "good film"])
    scores = mark_anchor(anchors.sweep(build_world("pair"), batch, Task("unk", (BUDGET,))), method)
    assert scores.shape == batch.ids.shape
    pair, nothing = (row[scored].numpy() for row, scored in zip(scores, batch.scored, strict=True))
    assert pair.tolist() == [0, 0, 1, 1, 0, 0, 0]
    assert precision_at_k(pair, {2}) == 0.5
    assert precision_at_k(pair, {2, 3}) == 1
    assert nothing.tolist() == [0, 0]
    assert precision_at_k(nothing, {1}) == 0.5


def test_copies_keep_special_tokens_and_length_and_none_is_read_twice(tiny_cell, network, rows):
    for variant in POLICIES[tiny_cell.model]:
        batch = make_batch(tiny_cell, [0])
        found = find_anchors(network, batch, variant, 200).anchors[0]
        # The whole text was read for its class.
        assert found.passes == len(rows) + 1 <= 200
        assert len(set(rows)) == len(rows)
        text, scored = batch.ids[0].numpy(), batch.scored[0].numpy()
        assert tuple(text.tolist()) not in rows
        copies = np.array(rows)
        assert (copies[:, ~scored] == text[~scored]).all()
        changed = copies[copies != text]
        if variant != "pos":
            assert set(changed.tolist()) == {batch.special_id(variant)}
        else:
            hidden = {*tiny_cell.encoder.tokenizer.all_special_ids, *tiny_cell.encoder.tokenizer.added_tokens_decoder}
            assert not hidden & set(changed.tolist())
        rows.clear()


def test_neither_company_nor_order_changes_an_anchor(tiny_cell, network):
    for variant in POLICIES[tiny_cell.model]:
        together = find_anchors(network, make_batch(tiny_cell, range(5)), variant, 300).anchors
        for order in ([4, 3, 2, 1, 0], [3]):
            other = find_anchors(network, make_batch(tiny_cell, order), variant, 300).anchors
            assert [together[row] for row in order] == list(other)


def test_a_larger_batch_takes_the_rounds_of_its_longest_search_alone(network, tiny_cell, monkeypatch):
    calls = []
    run = anchors.predict_copies
    monkeypatch.setattr(anchors, "predict_copies", lambda *args: calls.append(len(args[2])) or run(*args))
    alone = []
    for row in range(4):
        find_anchors(network, make_batch(tiny_cell, [row]), "unk", 300)
        alone.append(len(calls))
        calls.clear()
    find_anchors(network, make_batch(tiny_cell, range(4)), "unk", 300)
    assert len(calls) == max(alone)
    assert sum(calls) == sum(alone)


def test_the_precision_is_that_of_fresh_copies(tiny_cell, network):
    batch = make_batch(tiny_cell, [2])
    anchor = find_anchors(network, batch, "unk").anchors[0]
    assert anchor.outcome == "found"
    places = np.flatnonzero(batch.scored[0])
    kept = np.random.default_rng(9).random((2000, len(places))) < 0.5
    kept[:, list(anchor.places)] = True
    copies = batch.ids[0].repeat(2000, 1)
    copies[:, places] = torch.where(torch.from_numpy(kept), copies[:, places], batch.special_id("unk"))
    with torch.no_grad():
        logits = network.classify(network.embed(copies), batch.mask.expand(2000, -1))
    share = float((logits.argmax(1) == predict_target(network, batch)).double().mean())
    assert share > 0.9
    assert anchor.lower - 0.02 <= share <= anchor.upper


def test_every_other_word_of_a_part_of_speech_is_drawn_alike():
    from scipy.stats import chisquare

    table = build_speech({3: "NN", 5: "NN", 7: "NN", 8: "NN", 9: "DT", 11: "piece", 12: "piece"}, hidden={8})
    drawn = table.draw(np.array([5, 8, 9, 11]), 6000, np.random.default_rng(0))
    for column, others in enumerate([[3, 7], [3, 5, 7], [3, 5, 7], [12]]):
        words, counts = np.unique(drawn[:, column], return_counts=True)
        assert words.tolist() == others
        assert len(words) == 1 or chisquare(counts).pvalue > 0.001
    # The determiner is the only one of its kind: any word that is no piece stands for it.
    with pytest.raises(ModelError, match="fewer than two words"):
        build_speech({3: "NN", 4: "piece"}, hidden=set())


def test_the_tiny_vocabulary_is_tagged_as_one_reads_it():
    tokenizer = find_encoder().tokenizer
    table, rng = read_speech(tokenizer), np.random.default_rng(1)

    def others(word):
        drawn = table.draw(np.array([tokenizer.convert_tokens_to_ids(word)]), 400, rng)
        return set(tokenizer.convert_ids_to_tokens(np.unique(drawn).tolist()))

    assert others("film") >= {"plot", "story", "scene", "actor", "alarm"}
    assert others("good") == {"bad", "fine", "dull"}
    assert others("##s") == {"##os", "##ro"}
    assert {"film", "bad"} <= others("[UNK]")
    assert not {"zero", "[UNK]", "[MASK]", "##s", "the"} & others("the")
    assert read_speech(tokenizer) is table


def test_a_byte_level_vocabulary_has_its_words_behind_a_mark():
    assert tag_tokens(["Ġfilm", "Ġquickly", "ing", ",", "Ġ", "Ġthe"]) == ["NN", "RB", "piece", ",", "", "DT"]
