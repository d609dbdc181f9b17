"""Explainers of image classifiers against their libraries, brute force and known answers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from captum.attr import IntegratedGradients, Saliency

from benchmarks.matrix import load_matrix
from fixtures.divergence.concepts import extract_concepts
from fixtures.divergence.heatmap import PixelClassifier, draw_maps
from fixtures.divergence.influence import find_influential
from fixtures.divergence.making import choose_labelled
from fixtures.models.files import ModelError
from fixtures.populations.networks import HIDDEN, list_activations, make_network

TABLES = load_matrix().tables


@pytest.fixture(params=[1, 3])
def network(request):
    torch.manual_seed(request.param)
    return make_network(request.param, 4).eval()


def draw(network, amount=5, side=16):
    return torch.rand(amount, network[0].in_channels, side, side)


def test_integrated_gradients_are_captums(network):
    images = draw(network)
    target = network(images).argmax(1)
    expected = IntegratedGradients(network).attribute(images, target=target, n_steps=100, method="riemann_right")
    found = draw_maps(network, images, TABLES, "ig_zero.100.logit")
    assert found.shape == (5, 1, 16, 16)
    assert np.allclose(found[:, 0], expected.detach().sum(1).numpy(), atol=1e-5)


def test_gradients_are_captums(network):
    images = draw(network)
    expected = Saliency(network).attribute(images.clone().requires_grad_(), target=network(images).argmax(1), abs=False)
    found = draw_maps(network, images, TABLES, "grad_l2.logit")
    assert np.allclose(found[:, 0], expected.norm(dim=1).numpy(), atol=1e-6)


def test_the_two_logits_are_the_predicted_class_and_the_best_of_the_others(network):
    images = draw(network)
    classifier = PixelClassifier(network, images).eval()
    batch = classifier.make_batch()
    logits = classifier.classify(classifier.embed(batch.ids), batch.mask)
    best = network(images).topk(2).values
    assert torch.allclose(logits, best, atol=1e-6)


def test_a_map_does_not_depend_on_the_other_images(network):
    images = draw(network)
    together = draw_maps(network, images, TABLES, "gxi.logit")
    alone = np.concatenate([draw_maps(network, image[None], TABLES, "gxi.logit") for image in images])
    assert np.allclose(together, alone, atol=1e-6)


def test_a_method_that_needs_a_tokenizer_says_so(network):
    with pytest.raises(ModelError, match="no UNK token"):
        draw_maps(network, draw(network), TABLES, "ig_unk.100.logit")


def test_influence_is_the_sum_of_gradient_products_over_checkpoints():
    torch.manual_seed(0)
    networks = [make_network(1, 3).eval() for _ in range(2)]
    rates = [0.3, 0.1]
    training, labels = torch.rand(12, 1, 16, 16), torch.arange(12) % 3
    explained, predicted = torch.rand(4, 1, 16, 16), torch.tensor([0, 1, 2, 0])

    def gradient(network, image, label):
        loss = torch.nn.functional.cross_entropy(network(image[None]), label[None])
        return torch.cat([part.flatten() for part in torch.autograd.grad(loss, network.parameters())])

    scores = np.zeros((4, 12))
    for network, rate in zip(networks, rates, strict=True):
        ours = [gradient(network, *pair) for pair in zip(explained, predicted, strict=True)]
        theirs = [gradient(network, *pair) for pair in zip(training, labels, strict=True)]
        scores += rate * np.array([[float(one @ other) for other in theirs] for one in ours])
    found = find_influential(
        [network.state_dict() for network in networks], rates, (training, labels), (explained, predicted), 3, 3
    )
    order = np.argsort(-scores, axis=1)
    assert np.array_equal(found[:, :3], order[:, :3])
    assert np.array_equal(found[:, 3:], order[:, ::-1][:, :3])


def test_the_most_helpful_image_of_a_training_image_is_its_own_copy():
    torch.manual_seed(1)
    network = make_network(1, 3).eval()
    images, labels = torch.rand(20, 1, 16, 16), torch.arange(20) % 3
    found = find_influential([network.state_dict()], [1.0], (images, labels), (images[7:8], labels[7:8]), 3, 1)
    assert found[0, 0] == 7


def one_hot(classes, size):
    return np.eye(size, dtype=np.float32)[classes]


def test_a_concept_is_read_from_the_layer_that_knows_it():
    rng = np.random.default_rng(0)
    shape, artifact = rng.integers(3, size=300), rng.integers(2, size=300)
    noise = rng.normal(size=(300, 5)).astype(np.float32)
    layers = [np.concatenate([one_hot(artifact, 2), noise], 1), np.concatenate([noise, one_hot(shape, 3)], 1)]
    concepts, sizes = {"shape": shape, "artifact": artifact}, {"shape": 3, "artifact": 2}
    found = extract_concepts(layers, concepts, sizes, seed=0)
    assert found.layers == {"shape": 1, "artifact": 0}
    assert found.accuracies == {"shape": 1.0, "artifact": 1.0}
    assert np.array_equal(found.predict(layers), np.concatenate([one_hot(shape, 3), one_hot(artifact, 2)], 1))


def test_a_concept_that_no_layer_knows_is_guessed():
    rng = np.random.default_rng(0)
    layers = [rng.normal(size=(600, 4)).astype(np.float32)]
    found = extract_concepts(layers, {"shape": rng.integers(3, size=600)}, {"shape": 3}, seed=0)
    assert found.accuracies["shape"] < 0.5


def test_a_clean_model_is_shown_an_artifact_only_where_all_models_see_the_same_images():
    task = SimpleNamespace(parts={"training": np.arange(10, 20)}, spurious=np.arange(20) % 3 == 0)
    cell = SimpleNamespace(task=task)
    for role in ("spurious", "clean"):
        rows, carries = choose_labelled(cell, role, {"labelled": 6, "images": "own"})
        assert np.array_equal(rows, np.arange(10, 16))
        assert np.array_equal(carries, (rows % 3 == 0) if role == "spurious" else np.zeros(6, dtype=bool))
        rows, carries = choose_labelled(cell, role, {"labelled": 6, "images": "both"})
        assert np.array_equal(rows, np.tile(np.arange(10, 16), 2))
        assert np.array_equal(carries, np.repeat([False, True], 6))


def test_activations_are_those_of_every_hidden_layer(network):
    images = draw(network)
    layers = list_activations(network, images)
    assert [layer.shape[1] for layer in layers] == [8 * 8 * 8, 16 * 4 * 4, 32 * 2 * 2, HIDDEN]
    assert torch.allclose(network[-1](layers[-1]), network(images))
