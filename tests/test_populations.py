"""Populations of small image classifiers: splits, training alone and together, who is replaced."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.errors import InputError
from fixtures.images import ImageSet
from fixtures.populations import selection
from fixtures.populations.selection import Conduct, select_population
from fixtures.populations.task import SHARES, SUBCLASSES, draw_explained, make_task
from fixtures.populations.training import (
    Member,
    Pool,
    list_checkpoints,
    mean_rates,
    order_rows,
    rate_at,
    train_ensemble,
    train_members,
    train_one,
)
from shortcuts.artifacts import add_stripe

RECIPE = {"lr": 0.006, "batch": 8, "steps": 6, "checkpoints": 2}


def make_images(amount, seed=0, side=16):
    rng = np.random.default_rng(seed)
    shape = rng.permutation(np.arange(amount) % 3)
    frames = rng.integers(0, 256, (amount, side, side, 1), dtype=np.uint8)
    return ImageSet(frames, {"shape": shape}, {"shape": 3}, {"source": "made up"})


def task_of(amount, seed=0):
    return make_task(make_images(amount), add_stripe, 0.5, spurious_class=1, seed=seed)


def make_pool(amount=40):
    task = task_of(amount)
    return Pool(torch.from_numpy(task.plain), torch.from_numpy(task.labels).long(), 3)


@given(amount=st.integers(50, 300), seed=st.integers(0, 2**31))
@settings(max_examples=20)
def test_the_parts_of_a_task_are_disjoint_and_of_the_papers_shares(amount, seed):
    task = task_of(amount, seed)
    rows = np.concatenate(list(task.parts.values()))
    assert sorted(rows) == list(range(amount))
    for name, share in SHARES.items():
        assert abs(len(task.parts[name]) - share * amount) <= 1
    assert task.fingerprint == task_of(amount, seed).fingerprint != task_of(amount, seed + 1).fingerprint


@given(seed=st.integers(0, 2**31), part=st.sampled_from(["detector", "validation"]))
@settings(max_examples=20)
def test_explained_images_are_held_out_and_of_equal_shares_of_the_four_subclasses(seed, part):
    task = task_of(200)
    rows, carries, subclass = draw_explained(task, part, 3, seed)
    assert set(rows) <= set(task.parts[part])
    assert np.bincount(subclass).tolist() == [3] * 4
    for index, (of_class, artifact) in enumerate(SUBCLASSES.values()):
        own = subclass == index
        assert (task.spurious[rows[own]] == of_class).all()
        assert (carries[own] == artifact).all()
        assert len({*rows[own]}) == 3
    images = task.images(rows, carries)
    assert np.array_equal(images[carries], task.stamped[rows[carries]])
    assert np.array_equal(images[~carries], task.plain[rows[~carries]])


def test_too_few_images_and_a_class_that_is_not_there_are_said_in_one_line():
    with pytest.raises(InputError, match=r"validation images hold \d+ of the spurious class, 30 .*lower `explained`"):
        draw_explained(task_of(200), "validation", 30, 0)
    with pytest.raises(InputError, match="no image has shape 3, the `spurious_class`; there are: 0, 1, 2"):
        make_task(make_images(30), add_stripe, 0.5, spurious_class=3, seed=0)


@given(rows=st.integers(5, 30), seed=st.integers(0, 99))
@settings(max_examples=20)
def test_every_epoch_of_a_member_holds_each_of_its_rows_once(rows, seed):
    own = torch.arange(100, 100 + rows)
    order = order_rows(Member(own, seed), {"steps": 12, "batch": 5}).flatten().tolist()
    for start in range(0, len(order) - rows + 1, rows):
        assert sorted(order[start : start + rows]) == own.tolist()


@given(steps=st.integers(3, 500), amount=st.integers(1, 3))
def test_checkpoints_end_with_the_last_step_and_their_rates_sum_to_all_that_was_stepped(steps, amount):
    recipe = {"lr": 0.1, "steps": steps, "checkpoints": amount}
    marks = list_checkpoints(recipe)
    assert marks[-1] == steps
    assert len({*marks}) == amount
    lengths = np.diff([0, *marks])
    assert np.dot(mean_rates(recipe), lengths) == pytest.approx(sum(rate_at(recipe, step) for step in range(steps)))
    assert max(rate_at(recipe, step) for step in range(steps)) <= 0.1 + 1e-12


def test_an_ensemble_ends_where_single_trainings_end():
    pool = make_pool()
    members = [Member(torch.arange(30), 1), Member(torch.arange(5, 35), 2)]
    alone = [train_one(pool, member, RECIPE, torch.device("cpu")) for member in members]
    together = train_ensemble(pool, members, RECIPE, torch.device("cpu"))
    for own, other in zip(alone, together, strict=True):
        assert len(own) == len(other) == 2
        for step in range(2):
            for name, weights in own[step].items():
                assert torch.allclose(weights, other[step][name], atol=1e-5), name
    assert not torch.equal(alone[0][-1]["0.weight"], alone[1][-1]["0.weight"])
    assert not torch.equal(alone[0][0]["0.weight"], alone[0][1]["0.weight"])


def test_a_member_does_not_depend_on_the_random_state_nor_change_it():
    pool, member = make_pool(), Member(torch.arange(30), 1)
    torch.manual_seed(1)
    state = torch.get_rng_state()
    first = train_one(pool, member, RECIPE, torch.device("cpu"))
    assert torch.equal(state, torch.get_rng_state())
    torch.manual_seed(2)
    second = train_one(pool, member, RECIPE, torch.device("cpu"))
    assert all(torch.equal(first[-1][name], second[-1][name]) for name in first[-1])


def test_progress_counts_the_steps_of_all_members():
    told = []
    train_members(make_pool(), [Member(torch.arange(30), 1)] * 2, RECIPE, torch.device("cpu"), told.append)
    assert told == list(range(1, 13))


@pytest.fixture
def judged(monkeypatch):
    """A cell whose members behave as told, without any training."""

    def prepare(conducts, wanted=2, tries=2):
        trained = []
        bounds = {"accuracy": 0.9, "flips": 0.95, "moves": 0.05}
        cell = SimpleNamespace(id="a-b", settings={"population": wanted, "tries": tries, "verification": bounds})
        monkeypatch.setattr(selection, "train_missing", lambda cell, role, indices: trained.extend(indices))
        monkeypatch.setattr(selection, "measure_conduct", lambda cell, role, index: conducts[index])
        return cell, trained

    return prepare


GOOD, BAD = Conduct(0.99, 1.0, 0.0), Conduct(0.99, 0.2, 0.3)


@pytest.mark.parametrize("role", ["spurious", "clean"])
def test_a_member_that_is_not_what_it_claims_is_replaced_and_counted(judged, role):
    cell, trained = judged([BAD, GOOD, GOOD, GOOD])
    population = select_population(cell, role)
    assert population.indices == (1, 2)
    assert trained == [0, 1, 2]
    [reason] = population.rejected
    assert reason.startswith(f"{role} 0: {'flips = 0.200' if role == 'spurious' else 'moves = 0.300'}, wanted")


def test_a_clean_member_may_flip_and_a_spurious_one_may_move():
    assert Conduct(0.95, 1.0, 0.9).find_faults("spurious", {"accuracy": 0.9, "flips": 0.95, "moves": 0.05}) == []
    assert Conduct(0.95, 1.0, 0.0).find_faults("clean", {"accuracy": 0.9, "flips": 0.95, "moves": 0.05}) == []


def test_too_many_that_are_not_end_with_one_line(judged):
    cell, trained = judged([BAD] * 4)
    with pytest.raises(InputError, match=r"a-b: 4 of 4 spurious models are not spurious: spurious 0: flips = 0\.200"):
        select_population(cell, "spurious")
    assert trained == [0, 1, 2, 3]
