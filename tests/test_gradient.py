"""The gradient family against captum, its own algebra, and everything that must not change a score."""

from __future__ import annotations

import pytest
import torch

from fixtures import reducers
from fixtures.evidence import Task
from fixtures.evidence.gradient import Gradients, sweep
from fixtures.methods import Method
from fixtures.models.encoder import collate


@pytest.fixture(scope="module")
def swept(tiny_cell):
    """Network, batch and gradients of sixteen synthetic texts."""
    network = tiny_cell.network("mixed")
    batch = collate(tiny_cell.encoded_synthetic_test[:16], tiny_cell.encoder.pad_id)
    return network, batch, sweep(network, batch, Task())


def aim(target):
    return Method("m", "gradient", target, "", 1, 1, 1)


def explain_with_captum(method, network, batch, target, **options):
    """Captum's attribution of the predicted class's logit or probability to the embeddings."""

    def forward(embeddings, mask):
        logits = network.classify(embeddings, mask)
        return logits if target == "logit" else logits.softmax(-1)

    embeddings = network.embed(batch.ids).detach()
    predicted = network.classify(embeddings, batch.mask).argmax(1)
    explainer = method(forward)
    return explainer.attribute(
        embeddings.requires_grad_(), target=predicted, additional_forward_args=(batch.mask,), **options
    ).detach()


@pytest.mark.parametrize("target", ["logit", "prob"])
def test_gradients_equal_captum_saliency(swept, target):
    from captum.attr import Saliency

    network, batch, evidence = swept
    theirs = explain_with_captum(Saliency, network, batch, target, abs=False)
    torch.testing.assert_close(evidence.of(target).float(), theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("target", ["logit", "prob"])
def test_gradient_x_input_equals_captum(swept, target):
    from captum.attr import InputXGradient

    network, batch, evidence = swept
    theirs = explain_with_captum(InputXGradient, network, batch, target).sum(-1)
    torch.testing.assert_close(reducers.multiply_input(evidence, aim(target)).float(), theirs, rtol=1e-4, atol=1e-6)


def test_reducers_are_the_norms_and_mean_of_the_gradient():
    gradient = torch.tensor([[[3.0, -4.0]]])
    evidence = Gradients(torch.tensor([[[2.0, 1.0]]]), gradient, torch.zeros_like(gradient), torch.tensor([1.0]))
    assert reducers.norm_l1(evidence, aim("logit")).item() == 7
    assert reducers.norm_l2(evidence, aim("logit")).item() == 5
    assert reducers.mean_component(evidence, aim("logit")).item() == -0.5
    assert reducers.multiply_input(evidence, aim("logit")).item() == 2


def test_probability_gradient_is_p_times_not_p_times_the_logit_difference(swept):
    _, _, evidence = swept
    p = evidence.margin.double().sigmoid()
    expected = (p * (1 - p))[:, None, None] * (evidence.predicted - evidence.other).double()
    torch.testing.assert_close(evidence.of("prob"), expected)


@pytest.mark.parametrize("margin", [20.0, 40.0, 300.0])
def test_a_saturated_model_still_ranks_by_probability(margin):
    # In float32 p (1 - p) is exactly 0 from a margin of 17 on, and every score would be a tie.
    gradient = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [0.5, 0.1]]])
    evidence = Gradients(gradient, gradient, -gradient, torch.tensor([margin]))
    scores = reducers.norm_l2(evidence, aim("prob"))[0]
    assert scores.min() > 0
    assert scores.argsort().tolist() == reducers.norm_l2(evidence, aim("logit"))[0].argsort().tolist()


@pytest.mark.parametrize(
    "reduce", [reducers.norm_l1, reducers.norm_l2, reducers.mean_component, reducers.multiply_input]
)
@pytest.mark.parametrize("target", ["logit", "prob"])
def test_padding_and_company_never_change_a_score(tiny_cell, swept, reduce, target):
    network, _batch, evidence = swept
    together = reduce(evidence, aim(target))
    for row, text in enumerate(tiny_cell.encoded_synthetic_test[:16]):
        alone = reduce(sweep(network, collate([text], tiny_cell.encoder.pad_id), Task()), aim(target))[0]
        torch.testing.assert_close(together[row, : len(text.ids)], alone, rtol=1e-5, atol=1e-5)


def test_padding_gets_no_gradient(swept):
    _, batch, evidence = swept
    assert not evidence.predicted[~batch.mask].any()


def test_a_sweep_leaves_the_model_as_it_found_it(swept):
    network, batch, _ = swept
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    sweep(network, batch, Task())
    assert all(torch.equal(before[name], tensor) for name, tensor in network.state_dict().items())
    assert all(parameter.grad is None for parameter in network.parameters())
    assert all(parameter.requires_grad for parameter in network.parameters())
    assert not network.training


def test_two_sweeps_are_bit_equal(swept):
    network, batch, evidence = swept
    assert torch.equal(sweep(network, batch, Task()).predicted, evidence.predicted)


def test_a_model_in_training_mode_is_refused(swept):
    network, batch, _ = swept
    network.train()
    try:
        with pytest.raises(RuntimeError, match="eval mode"):
            sweep(network, batch, Task())
    finally:
        network.eval()


def test_the_forward_pass_is_the_models_own(tiny_laboratory):
    from fixtures.cells import Cell

    cell = Cell(tiny_laboratory, "bert", "toy", "op")
    network = cell.network("mixed")
    texts = [" ".join(example.words) for example in cell.synthetic_test[:8]]
    own = cell.encoder.tokenizer(texts, padding=True, return_tensors="pt")
    batch = collate(cell.encoded_synthetic_test[:8], cell.encoder.pad_id)
    assert torch.equal(own["input_ids"], batch.ids)
    with torch.no_grad():
        theirs = network.network(**own).logits
        ours = network.classify(network.embed(batch.ids), batch.mask)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_gradients_on_cuda_equal_those_on_the_cpu(tiny_cell, swept):
    _, _, evidence = swept
    network = tiny_cell.network("mixed").to("cuda")
    try:
        batch = collate(tiny_cell.encoded_synthetic_test[:16], tiny_cell.encoder.pad_id, "cuda")
        moved = sweep(network, batch, Task())
    finally:
        network.to("cpu")
    torch.testing.assert_close(moved.predicted.cpu(), evidence.predicted, rtol=1e-4, atol=1e-5)
