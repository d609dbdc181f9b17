"""Sentences that are judged: overlaps with training data, measures by join and epsilon."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.rationales import RationaleCorpus, Sentence
from fixtures.rationales.judging import judge_words
from fixtures.rationales.overlaps import find_overlaps, normalise_text

DULL = Sentence("8", ("so", "dull"), 0, (frozenset({1}), frozenset({0, 1})))
SNIPPET = "It's a “truly” good film, and (almost) funny &amp; sad. Bring tissues."
FOUND = {
    "equal": ("it's a truly good film , and -lrb- almost -rrb- funny & sad . bring tissues .", True),
    "a part of the text": ("It 's a truly good film , and almost funny", True),
    "around the text": (f"Well... {SNIPPET} Really.", True),
    "a short part": ("a truly good film", False),
    "a word more": ("It's a truly good film, and almost very funny & sad. Bring tissues.", False),
}


@pytest.mark.parametrize("case", FOUND)
def test_a_training_text_is_found_in_another_spelling_and_cut(case):
    text, found = FOUND[case]
    corpus = RationaleCorpus("a", (DULL, Sentence("1", tuple(text.split()), 1, (frozenset(),))), {})
    overlaps = find_overlaps(corpus, ["something else entirely, and long", "?!", SNIPPET, "So dull."])
    assert overlaps == ({"8", "1"} if found else {"8"}, {2, 3} if found else {3})
    assert find_overlaps(corpus, []) == (set(), set())


@given(st.lists(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1), min_size=1), st.data())
def test_case_blanks_and_punctuation_are_no_part_of_a_text(words, data):
    joints = [data.draw(st.sampled_from([" ", "--", " ... ", "'", " -LRB- "])) for _ in words]
    spelled = "".join(word.title() + joint for word, joint in zip(words, joints, strict=True))
    assert normalise_text(spelled) == normalise_text(" ".join(words)) == "".join(words).lower()


def test_each_row_states_its_join_and_epsilon():
    # Weights 0.4, 1, 0, 0.2, 0; one annotator marked words 0 and 1, the other 1 and 3.
    sentence = Sentence("1", tuple("abcde"), 1, (frozenset({0, 1}), frozenset({1, 3})), difficulty=2)
    rows = {(row.join, row.epsilon): row for row in judge_words(sentence, [2.0, 5.0, -1.0, 1.0, 0.0], [0.1, 0.3])}
    assert {key: (row.chosen, row.marked) for key, row in rows.items()} == {
        ("union", 0.1): (3, 3),
        ("union", 0.3): (2, 3),
        ("intersection", 0.1): (3, 1),
        ("intersection", 0.3): (2, 1),
    }
    low, high = rows["union", 0.1].measures, rows["union", 0.3].measures
    assert [low[name] for name in ("precision", "recall", "fallout", "token_f1", "iou_f1")] == [1, 1, 0, 1, 1]
    assert [high[name] for name in ("recall", "token_f1", "iou_precision", "iou_recall")] == [2 / 3, 0.8, 1, 0.5]
    assert high["weighted_recall"] == pytest.approx(1.4 / 3)
    assert rows["intersection", 0.1].measures["average_precision"] == 1
    with pytest.raises(ValueError, match="2 scores for the 5 words of sentence '1'"):
        judge_words(sentence, [1.0, 2.0])
