"""Yaml written wrong: every row is refused when the matrix is read, in one line with file, line, key and a remedy."""

from __future__ import annotations

import pytest

from benchmarks.matrix import Case, MatrixError, load_matrix
from benchmarks.shape import PRECISIONS, STARTS
from tests.bad_inputs import assert_plain, in_profile, in_recipe, in_settings

SYNTAX = {
    "tabs": (b"models:\n\tmine: 'mine:build'\n", ["line 2", "indent with blanks, not with tabs"]),
    "empty": (b"", ["is empty; expected tables, as in `methods:"]),
    "comments only": (b"# nothing yet\n", ["is empty; expected tables"]),
    "a word": (b"methods\n", ["expected a mapping of tables, got str"]),
    "bracket": (b"models: {mine: 'mine:build'\n", ["line 2", "mend the yaml there"]),
    "key twice": (b"datasets:\n  mine: {}\n  mine: {}\n", ["line 3", "key 'mine' is written twice"]),
    "alias": (b"models: *mine\n", ["line 1", "undefined alias 'mine'"]),
    "list as key": (b"{[1, 2]: 3}\n", ["line 1", "unhashable key"]),
    "python object": (b"a: !!python/object/apply:os.system [ls]\n", ["line 1", "could not determine a constructor"]),
    "two documents": (b"models: {}\n---\nmodels: {}\n", ["line 2", "another document"]),
    "picture": (b"\x89PNG\r\n\x1a\n\x00\x00", ["bytes that are not UTF-8", "save it as UTF-8"]),
    "nul": (b"models: \x00\n", ["character 9: special characters are not allowed; remove it"]),
    "bottomless": (b"[" * 5000, ["nested too deeply"]),
}

WRONG = {
    "unknown table": ("datsets: {mine: {}}", ["datsets: there is no such key here", "Did you mean 'datasets'?"]),
    "table of nothing": ("models:", ["models: expected a mapping, as in {key: value}, got None"]),
    "table as list": ("models: [bert]", ["models: expected a mapping", "got ['bert']"]),
    "target without colon": ("models: {mine: my_model}", ["models.mine", "'module:object'", "got 'my_model'"]),
    "target as number": ("methods: {mine: 5}", ["methods.mine", "expected a text of the form 'module:object'"]),
    "method of a known name": ("methods: {random: 'm:s'}", ["methods.random", "take another name"]),
    "word with a blank": ("datasets: {my data: {}}", ["'my data' is no word of a case id"]),
    "word as number": ("datasets: {5: {}}", ["datasets: its key 5", "put it in quotes"]),
    "data set without a table": ("datasets: {mine: }", ["datasets.mine: expected a mapping"]),
    "data set key": ("datasets: {mine: {txt: sentence}}", ["datasets.mine.txt", "Did you mean 'text'?"]),
    "hub without splits": ("datasets: {mine: {hub: {id: a/b}}}", ["datasets.mine.hub: `splits` is missing"]),
    "source without colon": ("datasets: {mine: {source: load}}", ["datasets.mine.source", "'module:object'"]),
    "one indicator": ("tokens: {indicators: [one]}", ["tokens.indicators: expected two words, one for each class"]),
    "indicators as text": ("tokens: {indicators: zero}", ["tokens.indicators: expected a list, as in [a, b]"]),
    "indicators alike": ("tokens: {indicators: [zero, zero]}", ["tokens.indicators: expected different words"]),
    "indicators as numbers": ("tokens: {indicators: [0, 1]}", ["tokens.indicators, row 1", "put it in quotes"]),
    "context as indicator": ("tokens: {context: indicator0}", ["tokens.context: 'indicator0' is an indicator, too"]),
    "token key": ("tokens: {indicator: [a, b]}", ["tokens.indicator", "Did you mean 'indicators'?"]),
    "exclusions as mapping": ("exclusions: {model: lstm, why: x}", ["exclusions: expected a list"]),
    "exclusion as text": ("exclusions: [lstm]", ["exclusions, row 1: expected a mapping", "got 'lstm'"]),
    "exclusion word": ("exclusions: [{model: brt, why: x}]", ["row 1.model: no model named 'brt'", "'bert'?"]),
    "exclusion of nothing": (
        "exclusions: [{model: lstm, dataset: nowhere, why: x}]",
        ["exclusions, row 1", "matches no case of profile 'embedded'; mend or remove it"],
    ),
    "profile of nothing": ("profiles: {embedded: }", ["profiles.embedded: expected a mapping"]),
    "profile without data sets": (
        "profiles: {mine: {checkpoints: embedded}}",
        ["profiles.mine: `datasets` is missing; it needs checkpoints, datasets"],
    ),
    "profile key": (in_profile("embeding_init: default"), ["embedded.embeding_init", "Did you mean 'embedding_init'?"]),
    "start": (in_profile("embedding_init: warm"), ["expected one of matched, default, unused, rare, frequent"]),
    "data sets as text": (in_profile("datasets: tomatoes"), ["embedded.datasets: expected a list, as in [a, b]"]),
    "data set twice": (in_profile("datasets: [imdb, imdb]"), ["embedded.datasets: expected different words"]),
    "unknown data set": (in_profile("datasets: [tomatos]"), ["no dataset named 'tomatos'", "'tomatoes'?"]),
    "unknown checkpoints": (in_profile("checkpoints: tinny"), ["no checkpoints named 'tinny'; there are: embedded"]),
    "checkpoints as list": (in_profile("checkpoints: [embedded]"), ["embedded.checkpoints: expected a text"]),
    "tolerance below 0": (in_profile("gate: {tolerance: -1}"), ["gate.tolerance: expected a number from 0, got -1"]),
    "tolerance as text": (in_profile("gate: {tolerance: much}"), ["gate.tolerance: expected a number from 0"]),
    "split": (in_profile("rows: {trian: 5}"), ["rows.trian", "Did you mean 'train'?"]),
    "no rows": (in_profile("rows: {train: 0}"), ["rows.train: expected a whole number from 1, got 0"]),
    "texts as number": (in_profile("texts: 5"), ["embedded.texts: expected a mapping"]),
    "family of texts": (in_profile("texts: {pth: {100: [1, 1]}}"), ["no family named 'pth'", "'path'?"]),
    "texts as word": (in_profile("texts: {path: {100: many}}"), ["texts.path.100: expected a list"]),
    "budget as word": (in_profile("texts: {path: {hundred: [1, 1]}}"), ["its key 'hundred' does not do"]),
    "texts below 0": (in_profile("texts: {path: {100: [-1, 0]}}"), ["texts.path.100, row 1: expected a whole number"]),
    "controls alone": (in_profile("texts: {path: {100: [0, 4]}}"), ["expected [texts of the mixed model, texts of"]),
    "precision of nobody": (in_profile("salience_precision: {brt: bf16}"), ["no model named 'brt'", "'bert'?"]),
    "fp8": (in_profile("salience_precision: {bert: fp8}"), ["salience_precision.bert: expected one of float32, bf16"]),
    "pace as word": (in_profile("pace: {texts: few}"), ["pace.texts: expected a whole number from 1, got 'few'"]),
    "by no data set": (in_profile("by_dataset: {tomatos: {}}"), ["no data set named 'tomatos'", "'tomatoes'?"]),
    "by data set key": (in_profile("by_dataset: {imdb: {gate: {}}}"), ["by_dataset.imdb.gate", "there are: rows,"]),
    "kind of threshold": (in_profile("thresholds: {verfication: []}"), ["Did you mean 'verification'?"]),
    "threshold without why": (
        in_profile("thresholds: {verification: [{value: mixed_gain, at_least: 0}]}"),
        ["verification, row 1", "every threshold and exclusion says `why`"],
    ),
    "bound as word": (
        in_profile("thresholds: {verification: [{value: mixed_gain, at_least: low, why: x}]}"),
        ["verification, row 1.at_least: expected a number, got 'low'"],
    ),
    "word in a list": (
        in_profile("thresholds: {salience: [{salience: [random, randm], value: specificity, at_most: 1, why: x}]}"),
        ["salience, row 1.salience: no salience named 'randm'", "Did you mean 'random'?"],
    ),
    "setting": (in_settings("max_lenght: 10"), ["embedded.lstm.max_lenght", "Did you mean 'max_length'?"]),
    "length as text": (in_settings("max_length: '500'"), ["lstm.max_length", "got '500'", "without quotes"]),
    "dropout 2": (in_settings("dropout: 2"), ["lstm.dropout: expected a number from 0 to 1, got 2"]),
    "vectors as text": (in_settings("vectors: glove.txt"), ["lstm.vectors: expected a mapping"]),
    "checkpoint of nowhere": (in_settings("checkpoint: {pth: x}", "bert"), ["one of the keys path, hub, package"]),
    "checkpoint of two places": (
        in_settings("checkpoint: {path: x, hub: y, revision: z}", "bert"),
        ["bert.checkpoint: expected one of the keys path, hub, package, got path, hub, revision"],
    ),
    "hub without revision": (in_settings("checkpoint: {hub: a/b}", "bert"), ["checkpoint: `revision` is missing"]),
    "attention dropout 2": (
        in_settings("attention_dropout: 2", "bert"),
        ["bert.attention_dropout: expected a number from 0 to 1, got 2"],
    ),
    "no layers": (in_settings("layers: 0", "bert"), ["bert.layers: expected a whole number from 1, got 0"]),
    "settings of nobody": (in_settings("hidden: 5", "lstmm"), ["no model named 'lstmm'", "'lstm'?"]),
    "settings by no data set": (in_settings("by_dataset: {tomatos: {}}"), ["no data set named 'tomatos'"]),
    "setting by data set": (in_settings("by_dataset: {imdb: {hiden: 5}}"), ["by_dataset.imdb.hiden", "'hidden'?"]),
    "settings without a recipe": (
        "checkpoints: {new: {lstm: {vectors: {file: v.txt}, hidden: 4, word_dropout: 0, max_length: 9, dropout: 0}}}",
        ["checkpoints.new.lstm: `recipe` is missing"],
    ),
    "recipe key": (in_recipe("lerning_rate: 0.1"), ["recipe.lerning_rate: there is no such key here", "there are:"]),
    "fast": (in_recipe("lr: fast"), ["recipe.lr: expected a number from 0, got 'fast'"]),
    "exponent": (in_recipe("lr: 1e-4"), ["got '1e-4'", "with a point before an exponent, as in 1.0e-4"]),
    "steps below 0": (in_recipe("steps: -1"), ["recipe.steps: expected a whole number from 1, got -1"]),
    "no end": (
        in_recipe("steps: null"),
        ["recipe: `schedule` linear ends", "`steps` is null; write a number, or constant"],
    ),
    "batch 0": (in_recipe("batch: 0"), ["recipe.batch: expected a whole number from 1, got 0"]),
    "half a batch": (in_recipe("batch: 8.5"), ["recipe.batch: expected a whole number from 1, got 8.5"]),
    "schedule": (in_recipe("schedule: cosine"), ["recipe.schedule: expected one of constant, linear, got 'cosine'"]),
    "optimizer": (in_recipe("optimizer: adamW"), ["expected one of adamw, adam, sgd", "Did you mean 'adam"]),
    "sgd alone": (in_recipe("optimizer: sgd"), ["recipe: `momentum` is missing, which sgd needs; 0 is none"]),
    "warmup": (in_recipe("warmup: 5000"), ["recipe: `warmup` 5000 is more than the 900 steps there are"]),
    "never evaluated": (in_recipe("evaluate_every: 0"), ["recipe.evaluate_every: expected a whole number from 1"]),
    "recipe as list": (in_settings("recipe: [1]"), ["lstm.recipe: expected a mapping"]),
    "salience without a reducer": (
        "salience: {mine: {family: gradient, target: logit, budget: 1, forward: 1, backward: 1}}",
        ["salience.mine: `reducer` is missing"],
    ),
    "salience family": (
        "salience: {mine: {family: grad, target: prob, reducer: 'a:b', budget: 1, forward: 1, backward: 1}}",
        ["salience.mine.family: no family named 'grad'", "Did you mean 'gradient'?"],
    ),
    "salience target": (
        "salience: {mine: {family: path, target: logits, reducer: 'a:b', budget: 1, forward: 1, backward: 1}}",
        ["salience.mine.target: expected one of logit, prob, none", "Did you mean 'logit'?"],
    ),
    "promise as word": ("promises: {gxi.logit: exact}", ["promises.gxi.logit: expected a mapping"]),
    "promise key": ("promises: {gxi.logit: {anser: mean}}", ["promises.gxi.logit.anser", "Did you mean 'answer'?"]),
}


@pytest.fixture
def refuse(tmp_path):
    """`refuse(content)`: the message with which the matrix refuses a file."""

    def read(content, name="mine.yaml"):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(MatrixError) as caught:
            load_matrix([path])
        assert str(caught.value).startswith(str(path))
        return str(caught.value)

    return read


@pytest.mark.parametrize("name", SYNTAX)
def test_what_is_no_yaml_is_refused_with_its_line(refuse, name):
    content, parts = SYNTAX[name]
    assert_plain(refuse(content), parts)


@pytest.mark.parametrize("name", WRONG)
def test_a_value_that_does_not_fit_is_refused_with_file_line_and_key(refuse, name):
    text, parts = WRONG[name]
    assert_plain(refuse(f"# a line before\n{text}\n".encode()), ["line 2: ", *parts])


def test_the_line_is_that_of_the_last_file_that_says_the_value(tmp_path):
    for name, text in (("first.yaml", "\n\nlr: 0.1"), ("second.yaml", "\nlr: fast"), ("third.yaml", "batch: 8")):
        lines = f"checkpoints:\n  embedded:\n    lstm:\n      recipe:\n{text}\n".replace("lr:", "        lr:")
        (tmp_path / name).write_text(lines.replace("batch:", "        batch:"))
    with pytest.raises(MatrixError) as caught:
        load_matrix([tmp_path / name for name in ("first.yaml", "second.yaml", "third.yaml")])
    assert_plain(str(caught.value), [f"{tmp_path / 'second.yaml'}, line 6: checkpoints.embedded.lstm.recipe.lr"])


def test_a_file_that_is_not_there_or_a_folder_is_refused(tmp_path):
    for path, reason in ((tmp_path / "no.yaml", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(MatrixError) as caught:
            load_matrix([path])
        assert_plain(str(caught.value), [f"{path}: ", reason, "expected a yaml file"])


def test_words_with_hyphens_that_run_into_each_other_are_refused(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "datasets: {a: {}, a-b: {}}\nshortcuts: {b-op: 'shortcuts.op:build'}\n" + in_profile("datasets: [a]")
    )
    matrix = load_matrix([path])
    with pytest.raises(MatrixError) as caught:
        matrix.check_ids(["a-b"])
    assert_plain(
        str(caught.value), [str(Case("bert", "a", "b-op", "random")), "the same id; rename one of their words"]
    )


def test_a_models_own_settings_are_free_and_its_recipe_is_not(tmp_path):
    path = tmp_path / "mine.yaml"
    text = "models: {mine: 'mine:build'}\ncheckpoints: {embedded: {mine: {depth: 3, recipe: {optimizer: adam}}}}\n"
    path.write_text(text)
    with pytest.raises(MatrixError) as caught:
        load_matrix([path])
    assert_plain(str(caught.value), ["line 2: checkpoints.embedded.mine.recipe: `lr` is missing"])


def test_the_words_that_the_yaml_may_hold_are_the_ones_that_the_code_knows():
    from fixtures.models import prepared, rows

    assert set(STARTS) == set(rows.STARTS)
    assert set(PRECISIONS) == set(prepared.PRECISIONS)
