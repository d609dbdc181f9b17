"""The cache: named by content, whole or absent, checked on every read, made once."""

from __future__ import annotations

import multiprocessing
import time

import pytest

from fixtures.zoo import DamagedEntryError, Zoo, hash_key, read_entry


def write_hello(folder):
    (folder / "weights.bin").write_bytes(b"hello")
    return {"accuracy": 0.5}


@pytest.fixture
def lines():
    return []


@pytest.fixture
def zoo(tmp_path, lines):
    return Zoo(tmp_path, lines.append)


def test_an_entry_is_made_once(zoo):
    first = zoo.fetch("models", "bert", {"seed": 0}, write_hello)
    second = zoo.fetch("models", "bert", {"seed": 0}, lambda folder: pytest.fail("made again"))
    assert first.folder == second.folder
    assert second.record == {"accuracy": 0.5}


def test_another_key_is_another_entry(zoo):
    first = zoo.fetch("models", "bert", {"seed": 0}, write_hello)
    assert zoo.fetch("models", "bert", {"seed": 1}, write_hello).folder != first.folder
    assert hash_key({"a": 1, "b": 2}) == hash_key({"b": 2, "a": 1}) != hash_key({"a": 1, "b": 3})


@pytest.mark.parametrize("name", ["weights.bin", "record.json"])
@pytest.mark.parametrize("position", [0, 3, -1])
def test_a_flipped_byte_is_reported_and_the_entry_made_again(zoo, lines, name, position):
    entry = zoo.fetch("models", "bert", {"seed": 0}, write_hello)
    path = entry.folder / name
    raw = bytearray(path.read_bytes())
    raw[position] ^= 0x01
    path.write_bytes(bytes(raw))
    assert zoo.fetch("models", "bert", {"seed": 0}, write_hello).record == {"accuracy": 0.5}
    [line] = lines
    assert "damaged entry" in line
    assert name in line
    read_entry(entry.folder)


def test_a_missing_or_added_file_is_damage(zoo):
    entry = zoo.fetch("models", "bert", {"seed": 0}, write_hello)
    (entry.folder / "stray").write_text("x")
    with pytest.raises(DamagedEntryError, match="stray is not what was written"):
        read_entry(entry.folder)
    (entry.folder / "stray").unlink()
    (entry.folder / "weights.bin").unlink()
    with pytest.raises(DamagedEntryError, match=r"weights\.bin is not what was written"):
        read_entry(entry.folder)


def test_an_interrupted_write_leaves_no_entry(zoo):
    def fail(folder):
        (folder / "weights.bin").write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        zoo.fetch("models", "bert", {"seed": 0}, fail)
    assert not zoo.path("models", "bert", {"seed": 0}).exists()
    assert zoo.fetch("models", "bert", {"seed": 0}, write_hello).record == {"accuracy": 0.5}


def test_a_record_that_is_not_json_is_refused_before_it_is_an_entry(zoo):
    with pytest.raises(ValueError, match="not JSON compliant"):
        zoo.fetch("models", "bert", {"seed": 0}, lambda folder: {"accuracy": float("nan")})
    assert not zoo.path("models", "bert", {"seed": 0}).exists()


def fetch_slowly(root, log):
    def make(folder):
        with log.open("a") as file:
            file.write("made\n")
        time.sleep(0.5)
        return write_hello(folder)

    Zoo(root).fetch("models", "bert", {"seed": 0}, make)


def test_two_processes_make_an_entry_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    log = tmp_path / "log"
    workers = [context.Process(target=fetch_slowly, args=(tmp_path / "zoo", log)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert log.read_text().splitlines() == ["made"]


def hold(path, ready):
    from filelock import FileLock

    with FileLock(path):
        ready.touch()
        time.sleep(2)


def test_a_process_that_waits_says_so(zoo, lines, tmp_path):
    folder = zoo.path("models", "bert", {"seed": 0})
    folder.parent.mkdir(parents=True)
    holder = multiprocessing.get_context("spawn").Process(target=hold, args=(f"{folder}.lock", tmp_path / "ready"))
    holder.start()
    while not (tmp_path / "ready").exists():
        time.sleep(0.01)
    zoo.fetch("models", "bert", {"seed": 0}, write_hello)
    holder.join(60)
    assert lines == [f"waiting for another process that makes {folder}"]
