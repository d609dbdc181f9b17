"""Corpora in folders: real files in five formats, bad rows with their place, splits and limits."""

from __future__ import annotations

import gzip
import json

import pytest

from fixtures.corpora import Corpus, DataError, Row, carve, folder, hash_share, limit_rows, load_corpus
from fixtures.zoo import Zoo

ROWS = [Row("a good film", 1), Row("a “bad”, film", 0), Row("it\tis fine", 1)]


def write(path, rows):
    """The rows in the format of the path's ending."""
    name = path.name
    if name.endswith(".parquet"):
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row._asdict() for row in rows]), path)
    elif ".jsonl" in name:
        raw = "".join(json.dumps(row._asdict()) + "\n" for row in rows).encode()
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    elif name.endswith(".tsv"):
        path.write_text("text\tlabel\n" + "".join(f"{row.text}\t{row.label}\n" for row in rows), encoding="utf-8")
    else:
        lines = [f'"{row.text}",{row.label}\n' for row in rows]
        path.write_text("text,label\n" + "".join(lines), encoding="utf-8")


@pytest.mark.parametrize("suffix", folder.SUFFIXES)
def test_every_format_gives_the_same_rows(tmp_path, suffix):
    rows = ROWS[:2] if suffix == ".tsv" else ROWS
    for split in ("train", "dev", "test"):
        write(tmp_path / f"{split}{suffix}", rows)
    corpus = folder.load("mine", tmp_path)
    assert corpus.train == corpus.validation == corpus.test == tuple(rows)


def test_a_folder_of_the_users_comes_before_the_fetched_sentences(tmp_path):
    (tmp_path / "tomatoes").mkdir()
    for split in ("train", "dev", "test"):
        write(tmp_path / "tomatoes" / f"{split}.csv", ROWS)
    settings = {"source": "fixtures.corpora.tomatoes:load"}
    assert load_corpus("tomatoes", settings, tmp_path, Zoo(tmp_path / "zoo")).test == tuple(ROWS)


def test_columns_can_be_renamed(tmp_path):
    (tmp_path / "train.csv").write_text("comment_text,toxic\nhello,0\n", encoding="utf-8")
    assert list(folder.read_rows(tmp_path / "train.csv", "comment_text", "toxic")) == [Row("hello", 0)]


BAD = {
    "empty text": ("train.jsonl", b'{"text": "a", "label": 1}\n{"text": "  ", "label": 1}\n', "line 2: .*is empty"),
    "label 2": ("train.jsonl", b'{"text": "a", "label": 2}\n', "line 1: label 2 .*not 0 or 1"),
    "label true": ("train.jsonl", b'{"text": "a", "label": true}\n', "line 1: label True .*not 0 or 1"),
    "label 0.5": ("train.csv", b"text,label\na,0.5\n", "line 2: label '0.5'"),
    "no label column": ("train.csv", b"text,stars\na,1\n", "line 2: column 'label' is missing; there are text, stars"),
    "short row": ("train.csv", b"text,label\na\n", "line 2: column 'label' is missing"),
    "long row": ("train.tsv", b"text\tlabel\na\t1\tb\n", "line 2: more cells than the 2 columns"),
    "bad json": ("train.jsonl", b'{"text": "a", "label": 1}\n\n{"text": \n', "line 3: not JSON"),
    "no object": ("train.jsonl", b"[1]\n", "line 1: expected an object"),
    "bad bytes": ("train.jsonl", b'{"text": "a", "label": 1}\n{"text": "\xff"}\n', "line 2: bytes that are not UTF-8"),
    "bad bytes in csv": ("train.csv", b"text,label\na,1\nb\xff,1\n", "line 3: bytes that are not UTF-8"),
    "open quote": ("train.csv", b'text,label\n"a,1\n', "not csv"),
    "half a character": ("train.jsonl", b'{"text": "\\ud800", "label": 1}\n', "line 1: .*surrogate"),
    "no rows": ("train.csv", b"text,label\n", "no rows"),
    "cut gzip": ("train.jsonl.gz", gzip.compress(b'{"text": "a", "label": 1}\n' * 50)[:-20], "not a complete gzip"),
    "no parquet": ("train.parquet", b"text", "not a parquet file"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_row_stops_with_file_line_and_reason(tmp_path, case):
    name, content, message = BAD[case]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        list(folder.read_rows(path, "text", "label"))
    assert str(path) in str(caught.value)


def test_line_separators_inside_a_text_do_not_end_a_line(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps({"text": "one\u2028two", "label": 1}, ensure_ascii=False) + "\n", encoding="utf-8")
    assert list(folder.read_rows(path, "text", "label")) == [Row("one\u2028two", 1)]


def test_two_files_for_one_split_are_refused(tmp_path):
    write(tmp_path / "train.csv", ROWS)
    write(tmp_path / "train.jsonl", ROWS)
    with pytest.raises(DataError, match=r"train\.jsonl and train\.csv are both there"):
        folder.find_splits(tmp_path)


def test_a_missing_dev_file_is_carved_from_train_and_said(tmp_path):
    rows = [Row(f"text {number}", number % 2) for number in range(500)]
    write(tmp_path / "train.csv", [*rows, *rows])
    write(tmp_path / "test.csv", ROWS)
    corpus = folder.load("mine", tmp_path)
    assert 50 < len(corpus.validation) < 150
    assert len(corpus.train) + len(corpus.validation) == 1000
    assert not set(corpus.train) & set(corpus.validation)
    assert "tenth of each class of train" in corpus.provenance["dev"]


def test_without_a_test_file_dev_becomes_the_test(tmp_path):
    write(tmp_path / "train.csv", [Row(f"text {number}", 1) for number in range(50)])
    write(tmp_path / "dev.csv", ROWS)
    corpus = folder.load("mine", tmp_path)
    assert corpus.test == tuple(ROWS)
    assert "no test file" in corpus.provenance["test"]


def test_the_fingerprint_follows_the_rows():
    first = Corpus("a", tuple(ROWS), (), (), {})
    assert first.fingerprint == Corpus("b", tuple(ROWS), (), (), {"source": "x"}).fingerprint
    assert first.fingerprint != Corpus("a", tuple(ROWS[::-1]), (), (), {}).fingerprint


def test_limits_keep_a_stable_choice_in_order():
    rows = tuple(Row(f"text {number}", 0) for number in range(100))
    small = limit_rows(Corpus("a", rows, rows, rows, {}), {"train": 10})
    smaller = limit_rows(Corpus("a", rows, rows, rows, {}), {"train": 5})
    assert len(small.train) == 10
    assert set(smaller.train) < set(small.train)
    assert list(small.train) == [row for row in rows if row in small.train]
    assert small.test == rows


@pytest.mark.shared
def test_the_papers_data_sets_have_their_published_sizes(shared_data):
    sizes = {"sst2": (6920, 872, 1821), "wiki_toxicity": (8591, 1210, 2379)}
    for name, expected in sizes.items():
        corpus = folder.load(name, shared_data / name)
        assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == expected
    imdb = folder.load("imdb", shared_data / "imdb")
    assert len(imdb.train) + len(imdb.validation) == len(imdb.test) == 25_000
    assert not {row.text for row in imdb.train} & {row.text for row in imdb.validation}


def test_a_share_is_uniform():
    shares = [hash_share(str(number)) for number in range(5000)]
    assert sum(shares) / 5000 == pytest.approx(0.5, abs=0.02)
    assert len(carve([Row(str(number), 0) for number in range(5000)], 0.9, 1.0)) == pytest.approx(500, abs=60)
