"""LIME and KernelSHAP against LimeBase, numpy and exact Shapley values; masks, removal and row sharing."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import fixtures.evidence.rows
from fixtures.evidence import Task, surrogate
from fixtures.evidence.rows import remove
from fixtures.evidence.surrogate import Perturbed, draw_masks, find_fresh
from fixtures.methods import find_method
from fixtures.surrogates import fit_lime, fit_shapley, solve_ridge, solve_shapley, weigh_by_distance
from tests.batches import make_batch

POLICIES = {"bert": ["unk", "mask", "erase"], "lstm": ["unk", "erase"]}


@pytest.fixture(scope="module")
def network(tiny_cell):
    return tiny_cell.network("mixed")


def method(cell, name):
    return find_method(cell.laboratory.matrix.tables, name)


@pytest.mark.parametrize("name", ["lime_unk.100", "lime_unk.1k", "lime_unk.3k"])
def test_lime_equals_limebase_on_the_same_rows(tiny_cell, network, name):
    from lime.lime_base import LimeBase
    from scipy.sparse import csr_matrix
    from sklearn.metrics import pairwise_distances

    chosen = method(tiny_cell, name)
    batch = make_batch(tiny_cell, range(3))
    evidence = surrogate.sweep(network, batch, Task("unk", (chosen.budget,)))
    scores = fit_lime(evidence, chosen)
    base = LimeBase(lambda distance: np.sqrt(np.exp(-(distance**2) / 25**2)))
    for row in range(3):
        scored = batch.scored[row]
        data = evidence.kept[row][:, scored].double().numpy()
        sparse = csr_matrix(data)
        distances = pairwise_distances(sparse, sparse[0], metric="cosine").ravel() * 100
        chances = evidence.probability[row].numpy()
        found = base.explain_instance_with_data(
            data,
            np.stack([1 - chances, chances], 1),
            distances,
            1,
            num_features=data.shape[1],
            feature_selection="none",
        )
        theirs = np.zeros(data.shape[1])
        for feature, weight in found[1]:
            theirs[feature] = weight
        np.testing.assert_allclose(scores[row][scored], theirs, rtol=1e-6, atol=1e-9)


@given(st.integers(1, 6), st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_the_ridge_solves_numpys_normal_equations(tokens, samples, seed):
    rng = np.random.default_rng(seed)
    features, values = rng.integers(0, 2, (samples, tokens)).astype(float), rng.normal(size=samples)
    weights = rng.random(samples) + 0.01
    design = np.column_stack([features, np.ones(samples)])
    penalty = np.diag([1.0] * tokens + [0.0])
    expected = np.linalg.solve(design.T @ (weights[:, None] * design) + penalty, design.T @ (weights * values))
    found = solve_ridge(*(torch.from_numpy(part)[None] for part in (features, values, weights)))[0]
    np.testing.assert_allclose(found, expected[:-1], rtol=1e-7, atol=1e-9)


def every_coalition(tokens):
    """All coalitions, everybody first, the empty one last, with the Shapley kernel of each."""
    kept = np.array(sorted(itertools.product([0.0, 1.0], repeat=tokens), key=sum, reverse=True))
    sizes = kept.sum(1)
    kernel = [
        (tokens - 1) / (math.comb(tokens, int(size)) * size * (tokens - size)) if 0 < size < tokens else 0.0
        for size in sizes
    ]
    return kept, np.array(kernel)


def enumerate_shapley(kept, worth):
    """Shapley values by their definition: the mean gain of a player over all orders of arrival."""
    tokens = kept.shape[1]
    value = {tuple(row): float(of) for row, of in zip(kept.astype(int).tolist(), worth, strict=True)}
    found = np.zeros(tokens)
    for coalition, of in value.items():
        size = sum(coalition)
        for player in range(tokens):
            if not coalition[player]:
                joined = tuple(1 if other == player else here for other, here in enumerate(coalition))
                share = math.factorial(size) * math.factorial(tokens - size - 1) / math.factorial(tokens)
                found[player] += share * (value[joined] - of)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_all_coalitions_of_eight_tokens_give_the_exact_shapley_values(seed):
    kept, kernel = every_coalition(8)
    worth = np.random.default_rng(seed).normal(size=len(kept))
    parts = [torch.from_numpy(part)[None] for part in (kept, worth, kernel)]
    found = solve_shapley(*parts, torch.ones(1, 8, dtype=torch.bool), torch.tensor([worth[-1]]))[0]
    np.testing.assert_allclose(found, enumerate_shapley(kept, worth), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("name", "tolerance"), [("kernelshap.1k", 0.2), ("kernelshap.3k", 0.001)])
def test_sampled_coalitions_come_close_to_the_exact_shapley_values(tiny_cell, name, tolerance):
    kept, _ = every_coalition(8)
    worth = np.random.default_rng(1).normal(size=len(kept))
    value = {tuple(row): of for row, of in zip(kept.tolist(), worth, strict=True)}
    chosen = method(tiny_cell, name)
    masks = ~draw_masks(8, chosen.budget, seed=5)
    evidence = Perturbed(
        torch.from_numpy(masks)[None],
        torch.from_numpy(find_fresh(masks))[None],
        torch.ones(1, 8, dtype=torch.bool),
        torch.tensor([[value[tuple(row)] for row in masks.astype(float).tolist()]]),
        torch.tensor([worth[-1]]),
        0,
    )
    exact = enumerate_shapley(kept, worth)
    found = fit_shapley(evidence, chosen)[0].numpy()
    assert np.abs(found - exact).max() < tolerance * np.abs(exact).max()
    assert np.isclose(found.sum(), worth[0] - worth[-1])


def test_shapley_values_add_up_and_spare_special_tokens(tiny_cell, network):
    batch = make_batch(tiny_cell, range(8))
    evidence = surrogate.sweep(network, batch, Task("unk", (1000,)))
    scores = fit_shapley(evidence, method(tiny_cell, "kernelshap.1k"))
    torch.testing.assert_close(scores.sum(1), evidence.probability[:, 0] - evidence.nothing)
    assert scores[~batch.scored].abs().max() < 1e-9


@given(st.integers(1, 12), st.integers(1, 60), st.integers(1, 60), st.integers(0, 2**63 - 1))
def test_fewer_samples_are_a_prefix_and_the_first_text_is_whole(tokens, few, many, seed):
    few, many = sorted((few, many))
    masks = draw_masks(tokens, many, seed)
    assert (draw_masks(tokens, few, seed) == masks[:few]).all()
    assert not masks[0].any()
    assert (masks[1:].sum(1) >= 1).all()


def test_the_number_of_removed_tokens_is_uniform():
    from scipy.stats import chisquare

    counts = np.bincount(draw_masks(10, 20001, seed=3)[1:].sum(1), minlength=11)[1:]
    assert chisquare(counts).pvalue > 0.001
    places = draw_masks(10, 20001, seed=3)[1:].sum(0)
    assert chisquare(places).pvalue > 0.001


@given(
    st.lists(st.tuples(st.integers(1, 50), st.booleans()), min_size=1, max_size=12), st.sampled_from(["unk", "erase"])
)
def test_a_policy_keeps_the_length_or_closes_up_and_keeps_the_order(tokens, policy):
    ids, gone = (np.array(column) for column in zip(*tokens, strict=True))
    [copy], [length] = remove(ids, gone[None], policy, 0)
    if policy == "erase":
        assert copy[:length].tolist() == ids[~gone].tolist()
        assert not copy[length:].any()
    else:
        assert length == len(ids)
        assert copy.tolist() == [0 if lost else index for index, lost in zip(ids, gone, strict=True)]


def test_special_tokens_are_never_touched(tiny_cell, network, monkeypatch):
    batch = make_batch(tiny_cell, range(4))
    seen = []
    run = fixtures.evidence.rows._predict_rows

    def watch(classifier, rows, lengths, device):
        seen.extend(row[:length].tolist() for row, length in zip(rows, lengths, strict=True))
        return run(classifier, rows, lengths, device)

    monkeypatch.setattr(fixtures.evidence.rows, "_predict_rows", watch)
    for policy in POLICIES[tiny_cell.model]:
        surrogate.sweep(network, batch, Task(policy, (50,)))
    special = set(batch.ids[~batch.scored & batch.mask].tolist())
    for name in special:
        assert all(row.count(name) == 1 for row in seen)
    assert len({tuple(row) for row in seen}) > 100


def test_no_row_is_evaluated_twice(tiny_cell, network):
    batch = make_batch(tiny_cell, [0])
    evidence = surrogate.sweep(network, batch, Task("unk", (3000,)))
    assert evidence.rows == len(np.unique(evidence.kept[0], axis=0)) + (not evidence_has_empty(evidence))


def evidence_has_empty(evidence):
    return bool((~evidence.kept[0].any(1)).any())


@pytest.mark.parametrize("tokens", [1, 7 * 20, 64 * 20])
def test_neither_chunks_nor_company_nor_order_change_a_score(tiny_cell, network, monkeypatch, tokens):
    rows = list(range(7))
    chosen = method(tiny_cell, "lime_unk.100")
    for policy in POLICIES[tiny_cell.model]:
        expected = fit_lime(surrogate.sweep(network, make_batch(tiny_cell, rows), Task(policy, (100,))), chosen)
        with monkeypatch.context() as patch:
            patch.setattr(fixtures.evidence.rows, "CHUNK_TOKENS", tokens)
            for order in (rows[::-1], [3]):
                found = fit_lime(surrogate.sweep(network, make_batch(tiny_cell, order), Task(policy, (100,))), chosen)
                for place, row in enumerate(order):
                    length = len(tiny_cell.encoded_synthetic_test[row].ids)
                    torch.testing.assert_close(found[place, :length], expected[row, :length], rtol=1e-4, atol=1e-6)


def test_the_kernel_looks_at_the_share_of_tokens_left():
    scored = torch.tensor([[True, True, True, True, False]])
    kept = torch.tensor([[[1, 1, 1, 1, 0], [1, 0, 0, 0, 0]]]).double()
    whole, quarter = weigh_by_distance(kept, scored)[0].tolist()
    assert whole == 1
    assert math.isclose(quarter, math.sqrt(math.exp(-((100 * 0.5) ** 2) / 25**2)))


def test_lime_recovers_the_planted_weights_of_a_linear_model():
    rng = np.random.default_rng(0)
    planted = rng.normal(size=12)
    kept = torch.from_numpy(~draw_masks(12, 3000, seed=0))[None]
    worth = (kept.double() @ torch.from_numpy(planted)[:, None]).squeeze(-1)
    found = solve_ridge(kept.double(), worth, weigh_by_distance(kept.double(), torch.ones(1, 12)))[0].numpy()
    assert np.corrcoef(found, planted)[0, 1] > 0.999
    np.testing.assert_allclose(found, planted, atol=0.05 * np.abs(planted).max())
