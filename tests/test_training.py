"""Training: seeded, resumable after kill -9 with the same weights, early-stopped, once for two processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from fixtures.cells import Cell
from fixtures.checkpoints import Checkpoints
from fixtures.training import Labelled, Progress, autocast, bucket_batches, make_optimizer, predict, train
from tests.tiny import RECIPE

ROOT = Path(__file__).parent.parent

TRAIN = """
import sys
from pathlib import Path
from benchmarks.matrix import load_matrix
from fixtures import checkpoints
from fixtures.cells import Cell
from fixtures.laboratory import Laboratory
from fixtures.progress import Terminal
from fixtures.zoo import Zoo

world, zoo, model, pause = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], float(sys.argv[4])
save = checkpoints.Checkpoints.maybe_save

def save_every_step(self, *arguments):
    import time
    self.every = 0
    save(self, *arguments)
    print("saved", arguments[-1].step, flush=True)
    time.sleep(pause)

checkpoints.Checkpoints.maybe_save = save_every_step
matrix = load_matrix([world / "tiny.yaml"], "tiny")
laboratory = Laboratory(matrix, Zoo(zoo), Terminal(), (0,), "matched", world / "data", "cpu")
print("trained", Cell(laboratory, model, "toy", "op").entry("mixed").folder, flush=True)
"""


def start(world, zoo, model, pause=0.0):
    command = [sys.executable, "-c", TRAIN, str(world), str(zoo), model, str(pause)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def weights(process):
    lines = process.communicate(timeout=300)[0].splitlines()
    folder = Path(next(line for line in lines if line.startswith("trained")).split(maxsplit=1)[1])
    return load_file(folder / "weights.safetensors"), [line for line in lines if line.startswith("saved")]


@pytest.mark.parametrize("model", ["bert", "lstm"])
def test_a_killed_training_resumes_and_ends_with_the_same_weights(world, tmp_path, model):
    whole, steps = weights(start(world, tmp_path / "whole", model))
    assert len(steps) == RECIPE["steps"]
    killed = start(world, tmp_path / "killed", model, pause=0.02)
    for line in killed.stdout:
        if line.strip() == "saved 40":
            killed.send_signal(signal.SIGKILL)
            break
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    resumed, rest = weights(start(world, tmp_path / "killed", model))
    assert 0 < len(rest) <= RECIPE["steps"] - 40
    assert whole.keys() == resumed.keys()
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert not list((tmp_path / "killed" / "checkpoints").iterdir())


def test_two_processes_train_a_model_once(world, tmp_path):
    first = start(world, tmp_path, "lstm", pause=0.01)
    time.sleep(0.2)
    second = start(world, tmp_path, "lstm", pause=0.01)
    (ours, steps), (theirs, more) = weights(first), weights(second)
    assert sorted([len(steps), len(more)]) == [0, RECIPE["steps"]]
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_the_same_seed_gives_the_same_weights_and_another_does_not(make_laboratory, tmp_path):
    def train_once(zoo, seed):
        cell = Cell(make_laboratory(tmp_path / zoo, seeds=(seed,)), "lstm", "toy", "single")
        return load_file(cell.entry("mixed").folder / "weights.safetensors")

    first, again, other = train_once("a", 0), train_once("b", 0), train_once("c", 1)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_a_damaged_checkpoint_starts_again(tiny_laboratory, tmp_path, capsys):
    network = tiny_laboratory.build("lstm", "toy").make()
    path = tmp_path / "checkpoint.safetensors"
    checkpoints = Checkpoints(path, every=0)
    optimizer = make_optimizer(network, RECIPE)
    checkpoints.maybe_save(network, optimizer, Progress(step=3))
    assert Checkpoints(path).resume(network, optimizer).step == 3
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[-5] ^= 1
    for damaged in (whole[:100], bytes(flipped), whole[:-4]):
        path.write_bytes(damaged)
        assert Checkpoints(path).resume(network, optimizer) is None
        assert "damaged checkpoint" in capsys.readouterr().out


def test_training_stops_when_validation_no_longer_gains(tiny_laboratory, tmp_path):
    built = tiny_laboratory.build("lstm", "toy")
    texts = built.encoder.encode(tiny_laboratory.sources("toy")["train"][:64])
    data = Labelled(texts, [number % 2 for number in range(64)])
    # Both labels for one text: accuracy stays at a half, so nothing is ever gained.
    hopeless = Labelled([texts[0]] * 2, [0, 1])
    recipe = RECIPE | {"steps": None, "schedule": "constant", "evaluate_every": 5, "patience": 10}
    stopped = train(
        built.make(),
        data,
        hopeless,
        recipe | {"lr": 0.0},
        pad_id=built.encoder.pad_id,
        seed=0,
        device=torch.device("cpu"),
        checkpoints=Checkpoints(tmp_path / "c.safetensors"),
        report=lambda *_: None,
    )
    assert stopped.gained_step == 5
    assert stopped.step == 15


def test_the_best_weights_are_kept(tiny_laboratory):
    cell = Cell(tiny_laboratory, "lstm", "toy", "op")
    record = cell.entry("mixed").record
    best = max(accuracy for _, accuracy in record["history"])
    assert record["best_accuracy"] == best
    assert [record["best_step"], best] in record["history"]


@given(st.lists(st.integers(1, 99), min_size=1, max_size=300), st.integers(1, 17), st.integers(0, 9), st.integers(1, 9))
def test_batches_hold_every_row_once_and_lengths_stay_together(lengths, size, seed, pool):
    batches = bucket_batches(lengths, size, Random(seed), pool)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert max(map(len, batches)) <= size
    assert all([lengths[row] for row in batch] == sorted(lengths[row] for row in batch) for batch in batches)
    assert batches == bucket_batches(lengths, size, Random(seed), pool)


def test_predictions_keep_the_order_of_the_texts(tiny_cell):
    network, texts = tiny_cell.network("mixed"), tiny_cell.encoded_synthetic_test
    together = predict(network, texts, tiny_cell.encoder.pad_id, torch.device("cpu"))
    alone = torch.cat([predict(network, [text], tiny_cell.encoder.pad_id, torch.device("cpu")) for text in texts[:9]])
    torch.testing.assert_close(together[:9], alone, rtol=1e-5, atol=1e-5)


def test_an_unknown_optimizer_lists_the_known_ones(tiny_laboratory):
    network = tiny_laboratory.build("lstm", "toy").make()
    with pytest.raises(ValueError, match="no optimizer named 'lion'; there are: adamw, adam, sgd"):
        make_optimizer(network, RECIPE | {"optimizer": "lion"})


def test_float32_recipes_are_never_autocast():
    assert not autocast(torch.device("cpu"), "float32")._enabled
