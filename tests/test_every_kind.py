"""Every salience method of the matrix on every kind of model: padding and company change nothing, IG adds up."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

from benchmarks.matrix import Case, load_matrix
from fixtures.cells import Cell
from fixtures.explaining import explain
from fixtures.laboratory import Laboratory
from fixtures.methods import find_method
from fixtures.models.encoder import collate
from fixtures.models.prepared import prepare
from fixtures.models.rows import StartRows
from fixtures.progress import Terminal
from fixtures.training import predict
from fixtures.zoo import Zoo
from shortcuts import Example, Tokens, op
from shortcuts.injection import Injector
from tests.kinds import KINDS, build_kind, make_settings
from tests.tiny import write_world

TOKENS = ("indicator0", "indicator1", "context0")
TEXTS = [("a", "good", "indicator0"), ("indicator1", "film", "context0", "bad", "zero"), ("film",)]


@pytest.fixture(scope="module", params=KINDS)
def world(request, tmp_path_factory):
    """Kind, classifier and encoder, with rows for the tokens."""
    built = build_kind(request.param, tmp_path_factory.mktemp(request.param))
    encoder, amount = built.encoder.with_tokens(TOKENS)
    torch.manual_seed(0)
    network = built.make()
    for name, weight in network.named_parameters():
        if name.startswith(("output", "network.classifier", "network.logits_proj")):
            torch.nn.init.normal_(weight)
    rows = torch.randn(amount, network.embedding.weight.shape[1])
    StartRows(rows, len(built.encoder.tokenizer)).append_to(network)
    return request.param, network.eval(), encoder


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    """Folder of the tiny world's sentences; its overlay is `tiny.yaml`."""
    folder = tmp_path_factory.mktemp("toys")
    write_world(folder)
    return folder


def make_batch(encoder, rows):
    batch = collate(encoder.encode([Example(TEXTS[row], 0) for row in rows]), encoder.pad_id)
    return replace(batch, tokenizer=encoder.tokenizer, seeds=list(rows))


@pytest.fixture(scope="module")
def matrix():
    return load_matrix()


def list_sweeps(matrix, kind, budget):
    """Methods of a kind by the sweep that they share, up to a budget."""
    tables = matrix.tables
    sweeps: dict[tuple[str, str], list] = {}
    for name, row in tables["salience"].items():
        absent = matrix.excludes(Case(kind, "tomatoes", "op", name))
        if not absent and name not in tables["peers"] and row["budget"] <= budget and row["family"] != "chance":
            sweeps.setdefault((row["family"], row.get("variant", "")), []).append(find_method(tables, name))
    return tables, sweeps


def test_padding_and_company_change_no_score(world, matrix):
    kind, network, encoder = world
    tables, sweeps = list_sweeps(matrix, kind, budget=100)
    assert len(sweeps) >= 6
    alone = make_batch(encoder, [0])
    scored = alone.scored[0]
    for methods in sweeps.values():
        together = explain(tables, network, make_batch(encoder, range(3)), methods)
        for name, found in explain(tables, network, alone, methods).items():
            scores = together[name].scores[0, : len(scored)][scored]
            torch.testing.assert_close(found.scores[0][scored], scores, rtol=1e-3, atol=1e-5, msg=name)


def test_integrated_gradients_add_up_to_what_the_logit_rises(world, matrix):
    kind, network, encoder = world
    tables, sweeps = list_sweeps(matrix, kind, budget=100)
    batch = make_batch(encoder, range(3))
    methods = [method for method in sweeps["path", "zero"] if method.target == "logit"]
    [found] = explain(tables, network, batch, methods).values()
    with torch.no_grad():
        texts = network.embed(batch.ids)
        empty = torch.where(batch.scored[:, :, None], 0.0, texts)
        ends, starts = network.classify(texts, batch.mask), network.classify(empty, batch.mask)
    rise = (ends - starts).gather(1, ends.argmax(1, keepdim=True))[:, 0].double()
    sums = (found.scores * batch.scored).sum(1)
    torch.testing.assert_close(sums, rise, rtol=0.02, atol=0.02)


def test_a_search_for_anchors_ends(world, matrix):
    kind, network, encoder = world
    tables, sweeps = list_sweeps(matrix, kind, budget=1000)
    batch = make_batch(encoder, [2])
    for methods in (methods for (family, _), methods in sweeps.items() if family == "anchors"):
        [found] = explain(tables, network, batch, methods).values()
        assert set(found.scores[batch.scored].tolist()) <= {0.0, 1.0}


def test_a_prepared_model_has_the_same_logits_and_attention(world):
    _, network, encoder = world
    batch = make_batch(encoder, range(3))
    cheap = prepare(network)
    with torch.no_grad():
        logits = network.classify(network.embed(batch.ids), batch.mask)
        torch.testing.assert_close(cheap.classify(cheap.embed(batch.ids), batch.mask), logits, rtol=0, atol=1e-5)
        assert torch.equal(cheap.find_readout(batch.mask), network.find_readout(batch.mask))
        rough = prepare(network, "bf16")
        moved = rough.classify(rough.embed(batch.ids), batch.mask).float() - logits
    assert moved.abs().max() < 0.1 * logits.abs().max()


def test_padding_and_company_change_no_logit(world):
    _, network, encoder = world
    with torch.no_grad():
        batch = make_batch(encoder, range(3))
        together = network.classify(network.embed(batch.ids), batch.mask)
        for row in range(3):
            alone = make_batch(encoder, [row])
            logits = network.classify(network.embed(alone.ids), alone.mask)
            torch.testing.assert_close(logits, together[row : row + 1], rtol=0, atol=1e-5)


def test_injected_tokens_have_rows_of_their_own_and_are_never_cut_off(world):
    _, network, encoder = world
    rule = op.build(Tokens(TOKENS[:2], TOKENS[2]))
    injector = Injector(rule, "corpus", 0, widths=encoder.widths, budget=encoder.budget)
    source = [Example(("a", "good", "zero", "film") * 15, number % 2) for number in range(8)]
    examples = injector.synthesise_split(source, "test")
    for made, text in zip(examples, encoder.encode(examples), strict=True):
        assert len(text.ids) == encoder.max_length
        injected = [text.ids[place] for place in text.place(made.truth)]
        assert encoder.tokenizer.convert_ids_to_tokens(injected) == [made.words[place] for place in made.truth]
        first = network.embedding.num_embeddings - len(TOKENS)
        assert set(injected) == {first, first + 1}
    ids = torch.tensor([injected])
    assert torch.equal(network.embed(ids), network.embedding.weight[ids])


def test_weights_that_were_saved_give_the_same_logits(world, tmp_path):
    kind, network, encoder = world
    save_file({name: tensor.contiguous() for name, tensor in network.state_dict().items()}, tmp_path / "weights")
    torch.manual_seed(7)
    again = build_kind(kind, tmp_path).make().eval()
    rows = torch.zeros(len(TOKENS), network.embedding.weight.shape[1])
    StartRows(rows, network.embedding.num_embeddings - len(TOKENS)).append_to(again)
    batch = make_batch(encoder, range(3))
    with torch.no_grad():
        expected = network.classify(network.embed(batch.ids), batch.mask)
        assert not torch.equal(again.classify(again.embed(batch.ids), batch.mask), expected)
        again.load_state_dict(load_file(tmp_path / "weights"))
        assert torch.equal(again.classify(again.embed(batch.ids), batch.mask), expected)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("bert", "lstm")])
def test_a_cell_of_the_kind_is_trained_and_read_back(kind, toys, tmp_path):
    settings = make_settings(kind, tmp_path)
    settings["recipe"] = settings["recipe"] | {"steps": 3, "evaluate_every": 3, "warmup": 0}
    overlay = tmp_path / "kinds.yaml"
    tables = {"checkpoints": {"tiny": {kind: settings}}, "profiles": {"tiny": {"models": [kind]}}}
    overlay.write_text(yaml.safe_dump(tables), encoding="utf-8")
    matrix = load_matrix([toys / "tiny.yaml", overlay], "tiny")
    laboratory = Laboratory(matrix, Zoo(tmp_path), Terminal(), (0,), "matched", toys / "data", "cpu")
    first, second = (Cell(laboratory, kind, "toy", "op") for _ in range(2))
    text = first.encoded_synthetic_test[0]
    assert len(text.locate(first.synthetic_test[0].truth)) == 2
    logits = {}
    for role in ("source", "mixed"):
        logits[role] = predict(first.network(role), [text], first.encoder.pad_id, laboratory.device)
        again = predict(second.network(role), [text], second.encoder.pad_id, laboratory.device)
        assert torch.equal(logits[role], again)
        assert first.network(role).embedding.num_embeddings == len(first.encoder.tokenizer)
    assert not torch.equal(logits["source"], logits["mixed"])
