"""Data that cannot be used: one line with file, place and remedy, for every case of the cell, and the run goes on."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from fixtures.corpora import DataError, check_corpus, folder
from fixtures.zoo import Zoo
from tests.bad_inputs import assert_plain

GOOD = [{"text": f"a good film {number}", "label": number % 2} for number in range(40)]


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def csv(header, *rows):
    return "\n".join([header, *rows]) + "\n"


WRONG = {
    "csv without the column": (
        "train.csv",
        csv("sentence,label", "good,1"),
        ["train.csv, line 2: column 'text'", "overlay"],
    ),
    "csv without a header": (
        "train.csv",
        csv("a good film,1", "a bad film,0"),
        ["there are a good film, 1. Name yours"],
    ),
    "csv header twice": ("train.csv", csv("text,label,label", "good,1,0"), ["line 1: a column name is there twice"]),
    "csv with short rows": ("train.csv", csv("text,label", "good"), ["line 2: column 'label' is missing in this row"]),
    "csv with long rows": (
        "train.csv",
        csv("text,label", "good, really,1"),
        ["more cells than the 2 columns", "in quotes"],
    ),
    "csv of nothing": ("train.csv", "", ["train.csv: no rows", "a header line first"]),
    "labels as words": (
        "train.csv",
        csv("text,label", "good,positive"),
        ["line 2: label 'positive'", "write 0 for one"],
    ),
    "labels from 1": (
        "train.csv",
        csv("text,label", "bad,1", "good,2"),
        ["line 3: label '2' in column 'label' is not 0"],
    ),
    "labels as floats": ("train.jsonl", jsonl([{"text": "good", "label": 1.0}]), ["line 1: label 1.0", "write 0 for"]),
    "labels as nan": ("train.jsonl", '{"text": "good", "label": NaN}\n', ["line 1: label nan in column 'label'"]),
    "a label as list": ("train.jsonl", jsonl([{"text": "good", "label": [1]}]), ["line 1: label [1] in column"]),
    "no label": ("train.jsonl", jsonl([{"text": "good", "label": None}]), ["column 'label' is missing in this row"]),
    "text as nan": (
        "train.jsonl",
        '{"text": NaN, "label": 1}\n',
        ["line 1: the text in column 'text' is empty or no text"],
    ),
    "text as number": ("train.jsonl", jsonl([{"text": 5, "label": 1}]), ["is empty or no text: 5; give it words"]),
    "text of blanks": ("train.tsv", "text\tlabel\n   \t1\n", ["line 2: the text in column 'text' is empty"]),
    "a number without end": (
        "train.jsonl",
        '{"text": "a", "label": ' + "1" * 5000 + "}\n",
        ["line 1: not JSON that can"],
    ),
    "brackets without end": ("train.jsonl", "[" * 100_000 + "\n", ["line 1: not JSON that can be read"]),
    "a list for a file": ("train.jsonl", json.dumps(GOOD, indent=1), ["line 1: not JSON", "write one object a line"]),
    "utf-16": (
        "train.csv",
        csv("text,label", "good,1").encode("utf-16"),
        ["bytes that are not UTF-8", "save it as UTF-8"],
    ),
    "one class": (
        "train.jsonl",
        jsonl(row | {"label": 1} for row in GOOD),
        ["train (train.jsonl): all 40 labels are 1"],
    ),
    "one row": ("train.jsonl", jsonl(GOOD[:1]), ["train (train.jsonl): all 1 labels are 0", "both classes, 0 and 1"]),
    "one class in test": ("test.jsonl", jsonl(GOOD[::2]), ["test (test.jsonl): all 20 labels are 0", "add some"]),
    "one class in dev": ("dev.jsonl", jsonl(GOOD[1::2]), ["validation (dev.jsonl): all 20 labels are 1"]),
    "the test is train": (
        "test.jsonl",
        None,
        ["test (test.jsonl): train holds every text of it", "texts of their own"],
    ),
}


def write(data, name, content):
    """The toy data set with one of its files replaced."""
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        rows = [row | {"text": f"{split} {row['text']}"} for row in GOOD]
        (data / f"{split}.jsonl").write_text(jsonl(rows))
    (data / f"{name.partition('.')[0]}.jsonl").unlink()
    if content is None:
        content = (data / "train.jsonl").read_text()
    (data / name).write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("name", WRONG)
def test_data_that_cannot_be_used_are_refused_in_one_line(tmp_path, name):
    file, content, parts = WRONG[name]
    write(tmp_path / "toy", file, content)
    with pytest.raises(DataError) as caught:
        check_corpus(folder.load("toy", tmp_path / "toy"))
    assert_plain(str(caught.value), [file, *parts])


def test_nested_columns_and_nulls_of_a_parquet_file_are_named_by_row(tmp_path):
    import pyarrow
    import pyarrow.parquet

    for text, message in (({"body": "good"}, "row 1: the text in column 'text' is"), (None, "is missing in this row")):
        path = tmp_path / "train.parquet"
        table = pyarrow.table({"text": [text], "label": [1]})
        pyarrow.parquet.write_table(table, path)
        with pytest.raises(DataError) as caught:
            list(folder.read_rows(path, "text", "label"))
        assert_plain(str(caught.value), [f"{path}, row 1", message])


def test_a_file_that_may_not_be_read_is_one_line(tmp_path, monkeypatch):
    path = tmp_path / "train.csv"
    path.write_text("text,label\n")

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "read_bytes", refuse)
    with pytest.raises(DataError) as caught:
        list(folder.read_rows(path, "text", "label"))
    assert_plain(str(caught.value), [f"{path}: Permission denied", "that you may read"])


def test_a_folder_without_test_and_dev_says_what_to_put_there(tmp_path):
    write(tmp_path / "toy", "train.csv", csv("text,label", "good,1"))
    for split in ("dev", "test"):
        (tmp_path / "toy" / f"{split}.jsonl").unlink()
    with pytest.raises(DataError) as caught:
        folder.load("toy", tmp_path / "toy")
    assert_plain(str(caught.value), ["data set 'toy'", "neither a test nor a dev file", "put test.csv there"])


def test_a_limit_that_leaves_one_class_is_refused_and_not_trained_on(make_laboratory, tmp_path, monkeypatch):
    laboratory = make_laboratory(tmp_path)
    monkeypatch.setitem(laboratory.matrix.profile, "rows", {"validation": 1})
    with pytest.raises(DataError) as caught:
        laboratory.corpus("toy")
    assert_plain(str(caught.value), ["data set 'toy', validation (dev.jsonl): all 1 labels are 0"])


def test_a_byte_order_mark_and_control_characters_are_no_fault(tmp_path, tiny_laboratory):
    rows = ["text,label", *(f"good film {number},{number % 2}" for number in range(40)), "\u200b\u0007,1"]
    write(tmp_path / "toy", "train.csv", "\ufeff".encode() + csv(*rows).encode())
    corpus = check_corpus(folder.load("toy", tmp_path / "toy"))
    assert len(corpus.train) == 41
    assert corpus.train[-1].text == "\u200b\u0007"


def test_bad_data_fail_the_cases_of_their_cell_and_the_others_run(world, run_pytest, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(world / "data", data)
    write(data / "words", "train.csv", csv("text,label", "good,positive", "bad,negative"))
    report = tmp_path / "report.json"
    options = ["--profile", "tiny", "--matrix", world / "tiny.yaml", "--data-dir", data, "--zoo", tmp_path / "zoo"]
    selected = "lstm and single and (toy or words) and (verification or random)"
    done = run_pytest("benchmarks", "-k", selected, *options, "--benchmark-json", report)
    outcomes = {case["id"]: case for case in json.loads(report.read_text())["cases"]}
    assert done.returncode == 1
    assert outcomes["lstm-toy-single-random"]["outcome"] == "passed"
    for name in ("lstm-words-single", "lstm-words-single-random"):
        assert outcomes[name]["outcome"] == "error"
        assert_plain(
            outcomes[name]["reason"], ["lstm-words-single: ", "train.csv, line 2: label 'positive'", "write 0"]
        )
    assert "Traceback" not in done.stdout + done.stderr
    assert not re.search(r"\.py:\d", done.stdout)

    traced = run_pytest("benchmarks", "-k", "lstm-words-single-random", *options, "--tb=short")
    assert "fixtures/corpora/folder.py" in traced.stdout
    assert "label 'positive'" in traced.stdout


def test_a_cache_that_is_damaged_is_read_again_from_the_source(tmp_path):
    lines = []
    zoo = Zoo(tmp_path, lines.append)
    write_rows = lambda path: (path / "rows.json").write_text("[]") and {}  # noqa: E731
    entry = zoo.fetch("corpora", "toy", {}, write_rows)
    (entry.folder / "rows.json").write_text("[1")
    assert zoo.fetch("corpora", "toy", {}, write_rows).record == {}
    assert_plain("\n".join(lines), ["damaged entry", "rows.json is not what was written", "making it again"])
