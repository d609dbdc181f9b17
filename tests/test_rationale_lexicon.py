"""The lexicon proxy: what is marked, its counts on the real archive, and its cache."""

from __future__ import annotations

import json
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.corpora import DataError, tomatoes
from fixtures.rationales import lexicon, load_rationales
from fixtures.zoo import Zoo
from shortcuts.rationales import JOINS

RATINGS = {"good": [2] * 10, "film": [0] * 9 + [1], "awful": [-3] * 8 + [1, 0], "don't": [-1] * 10}


def test_worked_example():
    words = ["A", "GOOD,", "“awful”", "film;", "don't!"]
    marked = lexicon.mark_words(words, 1, RATINGS)
    assert [sorted(positions) for positions in marked] == [[1]] * 8 + [[1, 2], [1, 3]]
    assert [sorted(positions) for positions in lexicon.mark_words(words, 0, RATINGS)] == [[2, 4]] * 8 + [[4], [4]]


@given(st.lists(st.sampled_from([*RATINGS, "other", "--", "Good!"]), max_size=8))
def test_no_rater_marks_a_word_for_both_labels_and_only_rated_words_are_marked(words):
    for rater, (positive, negative) in enumerate(
        zip(lexicon.mark_words(words, 1, RATINGS), lexicon.mark_words(words, 0, RATINGS), strict=True)
    ):
        assert not positive & negative
        signs = {position: RATINGS.get(word.lower().strip("!"), [0] * 10)[rater] for position, word in enumerate(words)}
        assert positive | negative == {position for position, rating in signs.items() if rating}


def test_thirds_of_the_spread_grade_a_sentence():
    spreads = [float(spread) for spread in range(9)]
    cuts = lexicon.cut_thirds(spreads)
    [row] = lexicon.mark_sentences("1\t2.0\tGood.", {"Good.": "test"}, RATINGS)
    assert [lexicon.grade(row, spread, cuts).difficulty for spread in spreads] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert lexicon.grade(row, cuts[0], cuts).difficulty == 1


@pytest.mark.parametrize("line", ["good\t1.9\t[1]", "good\t1.9\t0.9\t[1, 2]", "good\t1\t1\t[1, \t", "good\t1\t1\t7"])
def test_a_line_that_is_no_entry_is_refused_with_its_place(line):
    with pytest.raises(DataError, match=r"vader_lexicon\.txt, line 2: "):
        lexicon.parse_lexicon("bad\t-2\t0.5\t[-2, -2, -2, -2, -2, -2, -2, -2, -2, -2]\n" + line)


@pytest.fixture(scope="module")
def archive():
    return tomatoes.fetch_archive()


@pytest.fixture(scope="module")
def fetched(archive, tmp_path_factory):
    zoo = Zoo(tmp_path_factory.mktemp("zoo"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tomatoes, "fetch_archive", lambda: archive)
        return zoo, load_rationales("tomatoes_lexicon", None, zoo)


def test_sentences_and_splits_are_those_of_tomatoes(fetched):
    zoo, corpus = fetched
    source = tomatoes.load(zoo)
    for split in ("train", "validation", "test"):
        rows = [row for row in corpus.sentences if row.split == split]
        assert [(row.tokens, row.label) for row in rows] == [
            (tuple(row.text.split()), row.label) for row in getattr(source, split)
        ]


def test_counts_are_those_that_the_documentation_states(fetched):
    _, corpus = fetched
    words = {how: [len(row.join(how)) for row in corpus.sentences] for how in JOINS}
    assert {how: (len(counts), counts.count(0)) for how, counts in words.items()} == {
        "union": (10_072, 2585),
        "intersection": (10_072, 4709),
    }
    means = [statistics.fmean(words[how]) for how in JOINS]
    assert means == pytest.approx([1.445, 0.803], abs=0.001)
    assert {len(row.rationales) for row in corpus.sentences} == {10}
    shares = [sum(row.difficulty == grade for row in corpus.sentences) / 10_072 for grade in (1, 2, 3)]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.02)
    assert corpus.provenance["note"].startswith("a context-free proxy")
    assert "cut at 0.712 and 0.939" in corpus.provenance["difficulty"]


def test_ratings_agree_with_the_means_and_deviations_that_the_files_state(archive):
    text = lexicon.read_nested(archive, lexicon.LEXICON)
    stated = {cells[0]: float(cells[1]) for line in text.splitlines() if len(cells := line.split("\t")) == 4}
    means = {word: statistics.fmean(ratings) for word, ratings in lexicon.parse_lexicon(text).items()}
    # One entry of 7,506 states 2.5 and has ratings with the mean 2.4.
    assert {word for word, mean in means.items() if abs(mean - stated[word]) > 0.051} == {"lmfao"}
    rated = lexicon.read_nested(archive, tomatoes.ARCHIVE, lexicon.RATINGS)
    spreads = lexicon.parse_spreads(rated)
    assert len(spreads) == 10_605
    for line in rated.splitlines():
        name, _, deviation, _ = line.split("\t")
        assert spreads[name] == pytest.approx(float(deviation), abs=1e-4)


def test_marks_equal_the_archives_read_another_way(fetched, archive):
    _, corpus = fetched
    lines = lexicon.read_nested(archive, lexicon.LEXICON).split("\n")
    signs = {line.split("\t")[0]: json.loads(line.split("\t")[3]) for line in lines if line}
    for row in corpus.sentences[:300]:
        for rater in range(10):
            for position, token in enumerate(row.tokens):
                core = token.lower()
                while core and not core[0].isalnum():
                    core = core[1:]
                while core and not core[-1].isalnum():
                    core = core[:-1]
                rating = signs.get(core, [0] * 10)[rater]
                assert (position in row.rationales[rater]) == (rating > 0 if row.label else rating < 0)


def test_the_proxy_is_made_once(fetched, monkeypatch):
    zoo, corpus = fetched
    monkeypatch.setattr(tomatoes, "fetch_archive", lambda: pytest.fail("fetched again"))
    assert load_rationales("tomatoes_lexicon", None, zoo).fingerprint == corpus.fingerprint
