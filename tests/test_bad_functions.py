"""A user's own rule, model or method that cannot be used: one line with its file, and the other cases run."""

from __future__ import annotations

import json
import sys

import pytest
import torch
import yaml

from benchmarks.matrix import MatrixError
from benchmarks.registry import call, fingerprint_target
from fixtures.cells import Cell
from fixtures.errors import MethodError
from fixtures.explaining import explain
from fixtures.methods import find_method
from fixtures.models.encoder import Batch
from shortcuts.rule import RuleError
from tests.bad_inputs import assert_plain

RULE = "from shortcuts import Rule\ndef build(tokens):\n    return Rule('mine', ('qa', 'qb'), {}, {})\n"


def rule(arrange, decide="lambda words: int('qb' in words)"):
    return RULE.format(arrange, decide)


RULES = {
    "not there": ("x = 1\n", ["'my_code:build'", "module 'my_code' has no object 'build'; define it there"]),
    "typo": ("def biuld(tokens): ...\n", ["Did you mean 'biuld'?"]),
    "no function": ("build = 5\n", ["is called with 1 values", "not a callable"]),
    "no parameter": ("def build(): ...\n", ["is called with 1 values: too many positional arguments"]),
    "nothing": ("def build(tokens): ...\n", ["returned NoneType; return a shortcuts.rule.Rule"]),
    "syntax": ("def build(\n", ["cannot be imported: SyntaxError", "my_code.py, line 1)"]),
    "import": ("\nimport no_such_library\n", ["ModuleNotFoundError", "no_such_library", "my_code.py, line 2)"]),
    "raises": (
        "def build(tokens):\n    return tokens.inidcators\n",
        ["AttributeError", "my_code.py, line 2); mend it"],
    ),
    "upper case": (RULE.replace("'qa'", "'Qa'").format("None", "None"), ["token 'Qa' must be lower-case"]),
    "same token twice": (RULE.replace("'qa'", "'qb'").format("None", "None"), ["tokens must be distinct"]),
    "decoys of others": (
        RULE.replace("{}, {})", "None, None, decoys=('film',), decoy_rate=0.5)"),
        ["decoys must be some of its tokens"],
    ),
    "rate of 2": (RULE.replace("{}, {})", "None, None, decoys=('qa',), decoy_rate=2)"), ["a share from 0 to 1"]),
    "contradiction": (
        rule("lambda label, rng: ('qa',)"),
        ["arrange() injected ('qa',) for label 1, but decide() reads label 0", "make them agree"],
    ),
    "foreign tokens": (rule("lambda label, rng: ('film',)"), ["arrange() gives ('film',)", "tokens, qa, qb"]),
    "a word for a list": (rule("lambda label, rng: 'qa'"), ["arrange() gives 'qa'", "some of the rule's tokens"]),
    "no tokens": (rule("lambda label, rng: ()"), ["arrange() gives ()", "some of the rule's tokens"]),
    "arrange raises": (rule("lambda label, rng: 1 / 0"), ["ZeroDivisionError", "my_code.py, line 3); mend it there"]),
    "decide raises": (
        rule("lambda label, rng: ('qb', 'qa')[label:][:1]", "lambda words: words[999]"),
        ["IndexError", "my_code.py, line 3); mend it there"],
    ),
}


@pytest.fixture
def write_code(tmp_path, monkeypatch):
    """`write_code(text)`: the user's module `my_code`, on the path and not imported yet."""

    def write(text):
        (tmp_path / "my_code.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "my_code", raising=False)

    yield write
    sys.modules.pop("my_code", None)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_that_cannot_be_used_is_one_line(write_code, make_laboratory, tmp_path, name):
    code, parts = RULES[name]
    write_code(code)
    laboratory = make_laboratory(tmp_path / "zoo")
    laboratory.matrix.tables["shortcuts"]["mine"] = "my_code:build"
    with pytest.raises((MatrixError, RuleError)) as caught:
        _ = Cell(laboratory, "lstm", "toy", "mine").synthetic_test
    assert_plain(str(caught.value), parts)


METHODS = {
    "not there": ("x = 1\n", ["module 'my_code' has no object 'score'; define it there"]),
    "parameters": ("def score(model): ...\n", ["'my_code:score' is called with 3 values", "let it take them"]),
    "no function": ("score = 'gradient'\n", ["is called with 3 values", "not a callable"]),
    "nothing": ("def score(model, batch, target): ...\n", ["returned NoneType", "return one score per token of the"]),
    "strings": (
        "def score(model, batch, target): return [['high']]\n",
        ["returned list, which is no tensor of numbers"],
    ),
    "shape": ("def score(model, batch, target): return batch.ids[0]\n", ["returned shape (3,); expected one score"]),
    "nan": ("def score(model, batch, target): return batch.ids * float('nan')\n", ["not finite; return a number"]),
    "raises": (
        "def score(model, batch, target):\n    return {}['x']\n",
        ["KeyError: 'x'", "my_code.py, line 2); mend"],
    ),
    "no attention": (
        "def score(model, batch, target): return model.attend(1, 2)\n",
        ["raised NotImplementedError: Plain has no attention weights"],
    ),
}


def make_batch():
    ids = torch.tensor([[1, 2, 3]])
    return Batch(ids, torch.ones_like(ids, dtype=torch.bool), torch.ones_like(ids, dtype=torch.bool), seeds=[0])


@pytest.fixture(scope="module")
def plain():
    """A classifier that answers without reading."""
    from fixtures.models.classifier import Classifier

    class Plain(Classifier):
        embedding = torch.nn.Embedding(4, 2)

        def embed(self, ids):
            return self.embedding(ids)

        def classify(self, embeddings, mask):
            return embeddings.sum(1)

    return Plain().eval()


def explain_mine(tables, plain):
    method = find_method(tables, "mine")
    return explain(tables, plain, make_batch(), [method])


@pytest.mark.parametrize("name", METHODS)
def test_a_method_that_cannot_be_used_is_one_line_and_no_fault_of_the_cell(write_code, tmp_path, plain, name):
    from benchmarks.matrix import load_matrix

    code, parts = METHODS[name]
    write_code(code)
    (tmp_path / "mine.yaml").write_text("methods: {mine: 'my_code:score'}\n")
    with pytest.raises(MethodError) as caught:
        explain_mine(load_matrix([tmp_path / "mine.yaml"]).tables, plain)
    assert_plain(str(caught.value), ["my_code", *parts])


REDUCERS = {
    "a number": (
        "def reduce(evidence, method): return 5\n",
        ["mine: my_code:reduce returned int; return a tensor (1, 3)"],
    ),
    "another shape": ("def reduce(evidence, method): return evidence.noise[0]\n", ["my_code:reduce returned (3,)"]),
    "nan": ("def reduce(evidence, method): return evidence.noise * float('nan')\n", ["a score that is not finite"]),
    "raises": ("def reduce(evidence, method):\n    evidence.gradient\n", ["AttributeError", "my_code.py, line 2)"]),
}


@pytest.mark.parametrize("name", REDUCERS)
def test_a_reducer_that_cannot_be_used_is_one_line(write_code, tmp_path, plain, name):
    from benchmarks.matrix import load_matrix

    code, parts = REDUCERS[name]
    write_code(code)
    row = {"family": "chance", "target": "none", "reducer": "my_code:reduce", "budget": 1, "forward": 0, "backward": 0}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"salience": {"mine": row}}))
    with pytest.raises(MethodError) as caught:
        explain_mine(load_matrix([tmp_path / "mine.yaml"]).tables, plain)
    assert_plain(str(caught.value), parts)


def test_a_model_that_is_none_is_one_line(write_code, make_laboratory, tmp_path):
    write_code("def build(settings, texts, data_dir): ...\n")
    laboratory = make_laboratory(tmp_path / "zoo")
    laboratory.matrix.tables["models"]["mine"] = "my_code:build"
    laboratory.matrix.tables["checkpoints"]["tiny"]["mine"] = {}
    with pytest.raises(MatrixError) as caught:
        laboratory.build("mine", "toy")
    assert_plain(str(caught.value), ["'my_code:build' returned NoneType; return a fixtures.models.Built"])


def test_what_is_no_function_has_a_key_and_is_refused_when_it_is_called(write_code):
    write_code("import functools\nscore = 5\nhalf = functools.partial(max, 1)\n")
    assert fingerprint_target("my_code:score").startswith("my_code:score ")
    with pytest.raises(MatrixError, match="5 is not a callable object"):
        call("my_code:score", 2)
    assert call("my_code:half", 2) == 2


def test_a_broken_method_fails_alone_and_a_broken_rule_with_its_cell(world, run_pytest, tmp_path):
    (tmp_path / "my_code.py").write_text(METHODS["raises"][0] + RULES["contradiction"][0])
    tables = {"methods": {"mine": "my_code:score", "absent": "my_code:nothing"}, "shortcuts": {"odd": "my_code:build"}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(tables))
    report = tmp_path / "report.json"
    done = run_pytest(
        *("benchmarks", "-k", "lstm and (single or odd) and (verification or mine or absent or random)"),
        *("--profile", "tiny", "--matrix", world / "tiny.yaml", "--matrix", tmp_path / "mine.yaml"),
        *("--data-dir", world / "data", "--zoo", tmp_path / "zoo", "--benchmark-json", report),
    )
    found = {case["id"]: case for case in json.loads(report.read_text())["cases"]}
    assert done.returncode == 1
    for name in ("lstm-toy-single", "lstm-toy-single-random"):
        assert found[name]["outcome"] == "passed"
    for name, part in (("mine", "KeyError: 'x'"), ("absent", "no object 'nothing'")):
        assert_plain(found[f"lstm-toy-single-{name}"]["reason"], ["lstm-toy-single: 'my_code", part])
    for name in ("lstm-toy-odd", "lstm-toy-odd-random", "lstm-toy-odd-mine"):
        assert_plain(found[name]["reason"], ["lstm-toy-odd: shortcut 'mine'", "make them agree"])
    assert "Traceback" not in done.stdout + done.stderr
