"""Trainings that go wrong and disks that are full: one line, no poisoned or half entry, and a second try that works."""

from __future__ import annotations

import errno
import os
from dataclasses import replace

import pytest

from fixtures.cells import Cell
from fixtures.errors import InputError, MethodError
from fixtures.session import plain_errors
from fixtures.zoo import Zoo, ZooError
from tests.bad_inputs import assert_plain


@pytest.fixture
def make_cell(make_laboratory, tmp_path):
    """`make_cell(**recipe)`: an untrained cell of the tiny world whose recipe is changed, with a cache of its own."""

    def make(**recipe):
        laboratory = make_laboratory(tmp_path / "zoo")
        settings = laboratory.matrix.tables["checkpoints"]["tiny"]["lstm"]
        settings["recipe"] = settings["recipe"] | recipe
        return Cell(laboratory, "lstm", "toy", "single")

    return make


def list_entries(cell):
    return sorted(path.name for path in cell.laboratory.zoo.root.glob("models/*") if path.is_dir())


def fail_plainly(cell, act):
    """The line that the cases of a cell fail with."""
    with pytest.raises(pytest.fail.Exception) as caught, plain_errors(cell):
        act()
    return str(caught.value)


LOSSES = {
    "a rate beyond all bounds": ({"lr": 1e30, "optimizer": "sgd", "momentum": 0.9, "warmup": 0}, "`lr` (1e+30)"),
    "adam with the largest rate": ({"lr": 1e38, "warmup": 0}, "`lr` (1e+38)"),
    "weights that decay beyond all bounds": (
        {"weight_decay": 1e30, "optimizer": "sgd", "momentum": 0.0},
        "`warmup` (30)",
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_that_is_no_number_stops_with_cell_model_step_and_remedy(make_cell, name):
    recipe, remedy = LOSSES[name]
    cell = make_cell(evaluate_every=3, **recipe)
    line = fail_plainly(cell, lambda: cell.entry("mixed"))
    assert_plain(line, ["lstm-toy-single: mixed model: training at step ", "the loss is not finite; lower", remedy])
    assert int(line.partition("at step ")[2].partition(":")[0]) <= 6
    assert list_entries(cell) == []
    assert list(cell.laboratory.zoo.root.glob("checkpoints/*")) == []


def test_the_other_cases_of_the_cell_say_the_same_and_train_nothing(make_cell):
    cell = make_cell(lr=1e38, warmup=0)
    first = fail_plainly(cell, lambda: cell.entry("mixed"))
    assert fail_plainly(cell, lambda: pytest.fail("trained again")) == first


FULL = "full disk"
DISKS = {
    FULL: (errno.ENOSPC, ["No space left on device", "free some space", "--zoo"]),
    "quota": (errno.EDQUOT, ["quota exceeded", "free some space", "--zoo"]),
    "no permission": (errno.EACCES, ["Permission denied", "name a folder that you may write with --zoo"]),
    "read only": (errno.EROFS, ["Read-only file system", "that you may write with --zoo"]),
    "a file in its way": (errno.ENOTDIR, ["Not a directory", "name another folder with --zoo"]),
}


@pytest.mark.parametrize("name", DISKS)
def test_an_entry_that_cannot_be_written_is_one_line_and_leaves_nothing(tmp_path, name):
    number, parts = DISKS[name]
    zoo = Zoo(tmp_path / "zoo")

    def make(folder):
        (folder / "weights.bin").write_bytes(b"half of the weights")
        raise OSError(number, os.strerror(number), str(folder))

    with pytest.raises(ZooError) as caught:
        zoo.fetch("models", "bert", {"seed": 0}, make)
    assert_plain(str(caught.value), [str(zoo.path("models", "bert", {"seed": 0})), *parts])
    assert [path for path in (tmp_path / "zoo" / "models").iterdir() if path.is_dir()] == []
    assert zoo.fetch("models", "bert", {"seed": 0}, lambda folder: {"accuracy": 1.0}).record == {"accuracy": 1.0}


@pytest.mark.parametrize("name", ["mkdir", "replace"])
def test_the_folder_and_the_rename_of_an_entry_can_fail_too(tmp_path, monkeypatch, name):
    zoo = Zoo(tmp_path / "zoo")
    zoo.fetch("models", "other", {}, lambda folder: {})

    def refuse(*_, **__):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    with monkeypatch.context() as context:
        context.setattr(os, name, refuse)
        with pytest.raises(ZooError) as caught:
            zoo.fetch("models", "bert", {"seed": 0}, lambda folder: {})
    assert_plain(str(caught.value), ["cannot write", "Permission denied", "--zoo"])
    assert not zoo.path("models", "bert", {"seed": 0}).exists()


def test_a_zoo_below_a_file_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    for root in (tmp_path / "file", tmp_path / "file" / "zoo", "/dev/null/zoo"):
        with pytest.raises(ZooError) as caught:
            Zoo(tmp_path / root).fetch("models", "bert", {}, lambda folder: {})
        assert_plain(str(caught.value), [str(root), "name another folder with --zoo"])


def test_an_error_that_is_not_the_disks_stays_what_it_is(tmp_path):
    def make(folder):
        raise OSError("something else")

    with pytest.raises(OSError, match="something else"):
        Zoo(tmp_path).fetch("models", "bert", {}, make)


def test_weights_that_do_not_fit_on_the_disk_are_one_line_and_a_second_try_trains(make_cell, monkeypatch):
    import safetensors.torch

    def fill(tensors, path, metadata=None):
        path.write_bytes(b"half")
        # What the library says of a full disk: an error of its own, with the system's number in words.
        raise safetensors.SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    cell = make_cell(steps=10, warmup=0)
    with monkeypatch.context() as context:
        context.setattr(safetensors.torch, "save_file", fill)
        line = fail_plainly(cell, lambda: cell.entry("mixed"))
    assert_plain(line, ["lstm-toy-single: cannot write", "No space left on device; free some space", "--zoo"])
    assert list_entries(cell) == []
    assert len(list_entries(again := make_cell(steps=10, warmup=0))) == 0
    assert again.entry("mixed").record["step"] == 10


def test_a_checkpoint_that_does_not_fit_keeps_the_one_before(tiny_laboratory, tmp_path, monkeypatch):
    import safetensors.torch

    from fixtures.checkpoints import Checkpoints
    from fixtures.training import Progress, make_optimizer
    from tests.tiny import RECIPE

    network = tiny_laboratory.build("lstm", "toy").make()
    optimizer = make_optimizer(network, RECIPE)
    checkpoints = Checkpoints(tmp_path / "c.safetensors", every=0)
    checkpoints.maybe_save(network, optimizer, Progress(step=3))

    def fill(tensors, path, metadata=None):
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(safetensors.torch, "save_file", fill)
    with pytest.raises(OSError, match="No space"):
        checkpoints.maybe_save(network, optimizer, Progress(step=4))
    assert [path.name for path in tmp_path.iterdir()] == ["c.safetensors"]
    assert checkpoints.resume(network, optimizer).step == 3


def test_what_a_killed_run_left_of_an_entry_is_replaced(tmp_path):
    zoo = Zoo(tmp_path)
    folder = zoo.path("models", "bert", {})
    partial = folder.with_name(f"{folder.name}.partial")
    partial.mkdir(parents=True)
    (partial / "weights.bin").write_bytes(b"half")
    assert zoo.fetch("models", "bert", {}, lambda made: {"files": len(list(made.iterdir()))}).record == {"files": 0}
    assert not partial.exists()


def test_a_traceback_stands_beside_the_line_when_it_is_asked_for(make_cell):
    cell = make_cell()

    def refuse():
        raise InputError("two\nlines; mend them")

    assert fail_plainly(cell, refuse) == "lstm-toy-single: two lines; mend them"
    asking = Cell(replace(cell.laboratory, tracebacks=True), "lstm", "toy", "single")
    with pytest.raises(pytest.fail.Exception) as caught, plain_errors(asking):
        refuse()
    assert isinstance(caught.value.__cause__, InputError)
    assert caught.value.pytrace


def test_a_method_that_fails_leaves_the_cell_to_the_others(make_cell):
    cell = make_cell()

    def refuse():
        raise MethodError("mine returned nothing; return scores")

    assert_plain(fail_plainly(cell, refuse), ["lstm-toy-single: mine returned nothing"])
    assert cell.failure is None


def test_a_device_that_is_not_there_says_which_to_use(tiny_laboratory):
    import torch

    if torch.cuda.is_available():
        device, reason = f"cuda:{torch.cuda.device_count()}", "counted from 0"
    else:
        device, reason = "cuda:1", "finds no CUDA device here; use cpu"
    with pytest.raises(InputError) as caught:
        _ = replace(tiny_laboratory, device_name=device).device
    assert_plain(str(caught.value), [f"--device {device}: ", reason])
