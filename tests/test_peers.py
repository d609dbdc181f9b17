"""Other libraries' methods: each as its users call it, in its place, and without a trace in the process."""

from __future__ import annotations

import random
import sys
import warnings

import numpy as np
import pytest
import torch

from benchmarks.matrix import Case, load_matrix
from benchmarks.registry import fingerprint_target, resolve
from fixtures.cases import explain_absence
from fixtures.evidence import predict_target
from fixtures.explaining import explain
from fixtures.methods import find_method
from fixtures.models.prepared import prepare
from fixtures.peers import PeerError, explain_each, find_filler, find_network
from tests.bags import make_bag, make_texts, measure_evidence
from tests.batches import make_batch

MATRIX = load_matrix()
PEERS = MATRIX.tables["peers"]
KNOWN = {
    "peer_captum_ig.100": 1e-5,
    "peer_captum_deeplift": 1e-5,
    "peer_captum_kernel_shap.1k": 1e-3,
    "peer_interpreto_lime.1k": 1e-3,
    # Its Lasso shrinks every weight.
    "peer_captum_lime.1k": 0.1,
}
"""Peers that give a linear model its own weights -> the error that they may make."""
SAMPLED = [
    "peer_captum_lime.1k",
    "peer_captum_kernel_shap.1k",
    "peer_lime.100",
    "peer_lime.1k",
    "peer_interpreto_lime.1k",
]
TEXTS = ["film rule plot a film", "poor a film plot poor good", "good rule a"]


def score(name, batch, target=None, classifier=None):
    """Scores [B, T] of a peer, or a skip with the reason where its library is not installed."""
    absence = explain_absence(MATRIX, name)
    if absence:
        pytest.skip(absence)
    classifier = classifier or make_bag()
    target = predict_target(classifier, batch) if target is None else target
    return resolve(PEERS[name]["target"])(classifier, batch, target)


def read_process():
    """What a library could change for everybody else in the process."""
    name, keys, *rest = np.random.get_state()
    return (
        torch.get_rng_state().tolist(),
        (name, keys.tolist(), *rest),
        random.getstate(),
        list(warnings.filters),
        (torch.Tensor.backward, sys.excepthook, torch.is_grad_enabled(), torch.get_num_threads()),
    )


def read_model(classifier):
    """What a library could change in a model."""
    return (
        [part.training for part in classifier.modules()],
        [len(part._forward_hooks) + len(part._forward_pre_hooks) for part in classifier.modules()],
        [(p.requires_grad, p.grad is None, p.sum().item()) for p in classifier.parameters()],
        [sorted(vars(part)) for part in classifier.modules()],
        classifier.network.config.to_dict(),
    )


@pytest.mark.parametrize("name", PEERS)
def test_the_row_of_a_peer_names_the_library_that_its_adapter_imports(name):
    module = resolve(PEERS[name]["target"].partition(":")[0] + ":LIBRARY")
    assert module == PEERS[name]["library"]


@pytest.mark.parametrize("name", [name for name in PEERS if name != "peer_captum_saliency"])
def test_the_word_that_decides_for_the_class_is_on_top(name):
    batch = make_texts("film rule plot a film", "plot a poor film")
    found = score(name, batch, torch.tensor([1, 0])).argmax(1)
    assert found.tolist() == [2, 3]


@pytest.mark.parametrize(("name", "error"), KNOWN.items())
def test_a_linear_model_gets_its_own_weights_for_either_class(name, error):
    batch, target = make_texts(*TEXTS, TEXTS[0]), torch.tensor([1, 1, 1, 0])
    torch.testing.assert_close(score(name, batch, target), measure_evidence(batch, target), rtol=0, atol=error)


@pytest.mark.parametrize("name", ["peer_lime.100", "peer_lime.1k", "peer_shap.500", "peer_transformers_interpret.50"])
def test_what_explains_the_probability_of_a_linear_model_has_the_right_signs(name):
    batch, target = make_texts(*TEXTS, TEXTS[0]), torch.tensor([1, 1, 1, 0])
    evidence = measure_evidence(batch, target)
    found = score(name, batch, target)
    assert (found.sign() == evidence.sign())[evidence.abs() >= 0.25].all()


def test_the_scores_of_shap_sum_to_the_loss_of_probability():
    batch, classifier = make_texts(*TEXTS), make_bag()
    masked = torch.where(batch.scored, find_filler(batch), batch.ids)
    whole, nothing = (classifier.classify(classifier.embed(ids), batch.mask).softmax(1) for ids in (batch.ids, masked))
    expected = (whole - nothing)[:, 1].double()
    torch.testing.assert_close(score("peer_shap.500", batch, torch.tensor([1, 1, 1])).sum(1), expected)


def test_what_transformers_interpret_gives_a_linear_model_is_its_weights_at_norm_1():
    batch, target = make_texts(*TEXTS), torch.tensor([1, 1, 1])
    expected = torch.nn.functional.normalize(measure_evidence(batch, target), dim=1)
    torch.testing.assert_close(score("peer_transformers_interpret.50", batch, target), expected, rtol=0, atol=1e-5)


def test_methods_without_a_sign_say_what_they_do_say():
    # The gradient of a linear model is the same at every word: Saliency cannot tell them apart.
    batch, target = make_texts("rule poor a"), torch.tensor([1])
    saliency = score("peer_captum_saliency", batch, target)
    torch.testing.assert_close(saliency[batch.scored], torch.full((3,), 1.2, dtype=torch.float64))
    # Absolute values are averaged over 4 components and a path to almost 0: half of |evidence| / 4, for or against.
    integral = score("peer_interpreto_ig.100", batch, target)
    torch.testing.assert_close(integral[0, 1:4], torch.tensor([1.0, 0.5, 0.0]).double() / 8, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", PEERS)
def test_padding_company_order_and_what_was_drawn_before_change_no_bit(name):
    seeds = [11, 12, 13]
    together = score(name, make_texts(*TEXTS, seeds=seeds, padding=7))
    np.random.seed(5)
    torch.manual_seed(5)
    turned = score(name, make_texts(*TEXTS[::-1], seeds=seeds[::-1])).flip(0)
    assert torch.equal(together[:, : turned.shape[1]], turned)
    for row, text in enumerate(TEXTS):
        alone = score(name, make_texts(text, seeds=[seeds[row]]))
        assert torch.equal(together[row, : alone.shape[1]], alone[0])
    outside = ~make_texts(*TEXTS, padding=7).scored
    assert (together[outside] == 0).all()


@pytest.mark.parametrize("name", PEERS)
def test_a_text_has_its_own_seed_where_a_method_draws(name):
    first, second = (score(name, make_texts(TEXTS[1], seeds=[seed])) for seed in (1, 2**40 + 2))
    assert torch.equal(first, second) == (name not in SAMPLED)


@pytest.mark.parametrize("name", PEERS)
def test_process_and_model_are_left_as_they_were_found(name):
    batch, classifier = make_texts(*TEXTS), make_bag()
    process, model, words = read_process(), read_model(classifier), len(batch.tokenizer)
    score(name, batch, classifier=classifier)
    assert read_process() == process
    assert read_model(classifier) == model
    assert len(batch.tokenizer) == words


@pytest.mark.parametrize("name", PEERS)
def test_trained_models_are_explained_as_the_sheets_ask_for_it(name, tiny_cell):
    if explain_absence(MATRIX, name):
        pytest.skip(explain_absence(MATRIX, name))
    method, network = find_method(MATRIX.tables, name), prepare(tiny_cell.network("mixed"))
    batch = make_batch(tiny_cell, [3, 4])
    if MATRIX.excludes(Case(tiny_cell.model, "toy", "op", name)):
        with pytest.raises(PeerError, match=r"Hugging Face models only; exclude its cases for Prepared|has no MASK"):
            explain(MATRIX.tables, network, batch, [method])
        return
    scores = explain(MATRIX.tables, network, batch, [method])[name].scores
    assert scores.shape == batch.ids.shape
    # Some is all that can be asked: the Lasso of captum's Lime sets most coefficients of a real model to 0.
    assert scores[batch.scored].any()
    assert (scores[~batch.scored] == 0).all()


def test_a_word_that_interpreto_never_removes_scores_nothing():
    batch = make_texts("film unheard rule")
    assert batch.ids[0, 2] == batch.tokenizer.unk_token_id
    assert (score("peer_interpreto_lime.1k", batch)[0, 1:4] == 0).tolist() == [False, True, False]


def test_a_text_without_scored_tokens_is_not_explained():
    assert explain_each(make_texts("", "rule"), torch.tensor([1, 1]), lambda text: [2.0]).tolist() == [
        [0, 0, 0],
        [0, 2, 0],
    ]


def test_a_copy_that_lost_a_token_is_refused():
    def lose(text):
        return text.read(["5 6", "5"])

    with pytest.raises(PeerError, match="a perturbed copy has 1 tokens, the text has 2"):
        explain_each(make_texts("rule film"), torch.tensor([1]), lose)


def test_transformers_interpret_refuses_other_special_tokens():
    batch = make_texts("rule film")
    batch.ids[0, 0] = 4
    with pytest.raises(PeerError, match="one special token at either end"):
        score("peer_transformers_interpret.50", batch)


def test_a_model_of_another_kind_is_refused_by_name():
    with pytest.raises(PeerError, match="interpreto explains Hugging Face models only; exclude its cases for Linear"):
        find_network(torch.nn.Linear(1, 1), "interpreto")


def test_scores_in_the_zoo_are_those_of_an_adapter_and_a_version_of_its_library():
    key = fingerprint_target(PEERS["peer_lime.1k"]["target"])
    assert key.startswith("fixtures.peers.lime_text:explain_1k ")
    assert key.endswith(" 0.2.0.1")
