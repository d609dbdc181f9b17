"""Rationale corpora: files in three formats, bad rows with their place, annotators who gave another label, sizes."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.corpora import DataError
from fixtures.rationales import RationaleCorpus, Sentence, folder, load_rationales
from fixtures.rationales.overlaps import find_overlaps
from fixtures.rationales.reading import read_sentences, write_sentences
from fixtures.zoo import Zoo
from tests.bad_inputs import assert_plain

FILM = Sentence("7", ("a", "truly", "“good”,", "film"), 1, (frozenset({1, 2}), frozenset()), 3, "test", (1, None))
DULL = Sentence("8", ("so", "dull"), 0, (frozenset({1}), frozenset({0, 1})), None, None, (0, 1))
LINE = {"id": 7, "tokens": FILM.tokens, "label": 1, "rationales": [[2, 1], []], "difficulty": 3, "split": "test"}
LINES = [
    LINE | {"annotator_labels": ["positive", "no sentiment"]},
    {"id": "8", "tokens": DULL.tokens, "label": 0, "rationales": [[1], [0, 1]], "annotator_labels": [0, 1]},
]
CSV = (
    "id,tokens,label,rationales,difficulty,split,annotator_labels\n"
    '7,"a truly “good”, film",1,1 2|,3,test,1|no sentiment\n'
    "8,so dull,0,1|0 1,,,negative|positive\n"
)


def jsonl(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


FORMATS = {"all.jsonl": jsonl(*LINES), "all.jsonl.gz": gzip.compress(jsonl(*LINES)), "all.csv": CSV.encode()}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_sentences(tmp_path, name):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / name).write_bytes(FORMATS[name])
    corpus = load_rationales("mine", tmp_path, Zoo(tmp_path / "zoo"))
    assert corpus.sentences == (FILM, DULL)
    assert corpus.fingerprint == RationaleCorpus("other", (FILM, DULL), {}).fingerprint
    assert f"sha256 of {name}" in corpus.provenance


words = st.text(st.characters(exclude_categories=["Cs", "Z", "C"]), min_size=1, max_size=5)


@st.composite
def sentences(draw):
    tokens = draw(st.lists(words, min_size=1, max_size=6))
    marked = st.frozensets(st.integers(0, len(tokens) - 1))
    rationales = draw(st.lists(marked, min_size=1, max_size=4))
    votes = draw(st.just(()) | st.tuples(*[st.sampled_from([0, 1, None])] * len(rationales)))
    difficulty, split = draw(st.sampled_from([None, 1, 4])), draw(st.sampled_from([None, "test"]))
    label = draw(st.sampled_from([0, 1]))
    return Sentence(draw(words), tuple(tokens), label, tuple(rationales), difficulty, split, votes)


@given(st.lists(sentences(), min_size=1, max_size=4, unique_by=lambda row: row.id))
def test_what_is_written_is_read_back(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("rows") / "all.jsonl"
    write_sentences(path, rows)
    assert [row for _, row in read_sentences(path)] == rows


ROW = {"tokens": ["so", "good"], "label": 1, "rationales": [[1]]}
HEADER = "tokens,label,rationales,difficulty\n"
BAD = {
    "no tokens": (jsonl(ROW, {"label": 1, "rationales": [[0]]}), ["line 2: 'tokens' is missing; give"]),
    "no label": (jsonl(ROW | {"label": None}), ["line 1: 'label' is missing"]),
    "no rationales": (jsonl({"tokens": ["a"], "label": 1}), ["line 1: 'rationales' is missing"]),
    "a text for tokens": (jsonl(ROW | {"tokens": "so good"}), ["line 1: tokens 'so good' are no list of words"]),
    "an empty token": (jsonl(ROW | {"tokens": ["so", " "]}), ["line 1: token 1 is empty or no text: ' '"]),
    "half a character": (
        b'{"tokens": ["\\ud800"], "label": 1, "rationales": [[0]]}\n',
        ["line 1: token 0", "surrogate"],
    ),
    "a position behind": (
        jsonl(ROW, ROW | {"rationales": [[0], [2]]}),
        ["line 2: annotator 2 marked position 2", "2 to"],
    ),
    "a position before": (jsonl(ROW | {"rationales": [[-1]]}), ["line 1: annotator 1 marked position -1", "from 0"]),
    "a position true": (jsonl(ROW | {"rationales": [[True]]}), ["line 1: annotator 1 marked position True"]),
    "a position twice": (jsonl(ROW | {"rationales": [[1, 1]]}), ["line 1: annotator 1 marked a position twice"]),
    "one list": (jsonl(ROW | {"rationales": [1]}), ["line 1: rationales [1] are no lists; give one list of positions"]),
    "no annotators": (jsonl(ROW | {"rationales": []}), ["line 1: no annotators; give one list of positions each"]),
    "label 2": (jsonl(ROW | {"label": 2}), ["line 1: label 2 is not 0 or 1; write 0"]),
    "label true": (jsonl(ROW | {"label": True}), ["line 1: label True is not 0 or 1"]),
    "difficulty 5": (jsonl(ROW | {"difficulty": 5}), ["line 1: difficulty 5 is not 1, 2, 3 or 4; leave it out"]),
    "an id twice": (jsonl(ROW | {"id": 3}, ROW, ROW | {"id": "3"}), ["line 3: id '3' is that of line 1 as well; give"]),
    "an id that is none": (jsonl(ROW | {"id": [3]}), ["line 1: id [3] is no name; write"]),
    "a label too few": (
        jsonl(ROW | {"annotator_labels": []}),
        ["line 1: annotator_labels [] are not one label for each"],
    ),
    "a label unknown": (
        jsonl(ROW | {"annotator_labels": ["good"]}),
        ["line 1: annotator label 'good' is unknown; write"],
    ),
    "no object": (jsonl([1]), ["line 1: expected an object with tokens, label and rationales, got [1]"]),
    "no json": (jsonl(ROW) + b"{\n", ["line 2: not JSON"]),
    "bad bytes": (jsonl(ROW) + b'{"tokens": "\xff"}\n', ["line 2: bytes that are not UTF-8", "save it as UTF-8"]),
    "nothing": (b"", ["no rows; a file holds sentences with rationales"]),
    "cut gzip": (gzip.compress(jsonl(*[ROW] * 50))[:-20], ["not a complete gzip file", "copy it again"]),
    "csv of letters": (
        HEADER + "so good,1,0 one,\n",
        ["line 2: rationales '0 one' are no positions; write as in '0 3"],
    ),
    "csv beyond": (HEADER + "so good,1,0|5,\n", ["line 2: annotator 2 marked position 5"]),
    "csv of short rows": (HEADER + "so good,1\n", ["line 2: 'rationales' is missing"]),
    "csv without tokens": (HEADER + ",1,0,\n", ["line 2: 'tokens' is missing"]),
    "csv grades": (HEADER + "so good,1,0,hard\n", ["line 2: difficulty 'hard' is not 1, 2, 3 or 4"]),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_row_stops_with_file_line_and_remedy(tmp_path, case):
    content, parts = BAD[case]
    suffix = "csv" if case.startswith("csv") else "jsonl.gz" if case == "cut gzip" else "jsonl"
    path = tmp_path / f"all.{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        list(read_sentences(path))
    assert_plain(str(caught.value), [str(path), *parts])


def test_an_empty_cell_of_csv_is_an_annotator_who_marked_nothing(tmp_path):
    (tmp_path / "all.csv").write_text(HEADER + "so good,1,,\n", encoding="utf-8")
    [(_, row)] = read_sentences(tmp_path / "all.csv")
    assert row == Sentence("all.1", ("so", "good"), 1, (frozenset(),))


def test_files_of_splits_name_the_split_and_share_no_id(tmp_path):
    (tmp_path / "train.jsonl").write_bytes(jsonl(ROW))
    (tmp_path / "test.jsonl").write_bytes(jsonl(ROW, ROW | {"split": "other"}))
    assert [row.split for row in folder.load("mine", tmp_path).sentences] == ["train", "test", "other"]
    (tmp_path / "test.jsonl").write_bytes(jsonl(ROW | {"id": "train.1"}))
    with pytest.raises(
        DataError, match=r"test\.jsonl, line 1: id 'train\.1' is that of .*train\.jsonl, line 1 as well"
    ):
        folder.load("mine", tmp_path)
    (tmp_path / "test.csv").write_text(HEADER, encoding="utf-8")
    with pytest.raises(DataError, match=r"test\.jsonl and test\.csv are both there; keep one"):
        folder.find_files(tmp_path)


def test_a_corpus_that_is_not_there_is_one_clear_line(tmp_path):
    for data_dir in (None, tmp_path):
        with pytest.raises(DataError) as caught:
            load_rationales("fair_sst", data_dir, Zoo(tmp_path / "zoo"))
        assert_plain(str(caught.value), ["'fair_sst'", "put all, train", "name its parent folder with --data-dir"])


def test_annotators_with_another_label_are_left_out_and_counted():
    lonely = Sentence("9", ("fine",), 1, (frozenset({0}),), votes=(None,))
    kept = RationaleCorpus("a", (FILM, DULL, lonely), {}).keep_agreeing()
    assert [row.rationales for row in kept.sentences] == [(frozenset({1, 2}),), (frozenset({1}),)]
    assert kept.provenance["left out"] == "3 rationales and 1 sentences with another label"
    assert kept.keep_agreeing().sentences == kept.sentences


@pytest.mark.shared
def test_the_public_corpora_have_their_published_sizes(shared_data, tmp_path):
    fair = load_rationales("fair_sst", shared_data, Zoo(tmp_path))
    assert len(fair.sentences) == 263
    assert {len(row.rationales) for row in fair.sentences} == {6}
    assert sum(vote == row.label for row in fair.sentences for vote in row.votes) == 1401
    movies = load_rationales("eraser_movies", shared_data, Zoo(tmp_path))
    assert [sum(row.split == split for row in movies.sentences) for split in ("train", "val", "test")] == [
        1600,
        200,
        199,
    ]
    from fixtures.corpora.folder import load

    sst2 = load("sst2", shared_data / "sst2")
    found = find_overlaps(fair, [row.text for row in sst2.train])
    # One sentence that the source matched with nothing is in train too, cut in two.
    others = {row.split for row in fair.sentences if row.id in found.sentences} - {"train"}
    assert {row.id for row in fair.sentences if row.split == "train"} < found.sentences
    assert (len(found.sentences), len(found.texts), others) == (180, 180, {None})
