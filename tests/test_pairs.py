"""One choice at a time: differences on common texts and seeds, from the rows of a report."""

from __future__ import annotations

import json

import pytest

from fixtures import pairs, table
from fixtures.aggregation import join_numbers
from fixtures.pairs import compare_pair, group_rows, list_rows
from tests.reports import make_report
from tests.suites import row


def scored(salience, shortcut="op", **seeds):
    """A row of made-up precisions, `seed1=[...]`."""
    runs = [{"seed": int(name[-1]), "precisions": join_numbers(values)} for name, values in seeds.items()]
    return row(salience=salience, shortcut=shortcut, seeds=[run["seed"] for run in runs], runs=runs)


def test_a_pair_is_compared_on_common_texts_and_seeds_of_all_cells():
    cells = [
        {"a": scored("a", seed1=[1, 1, 0], seed2=[0, 0, 0]), "b": scored("b", seed1=[0, 1], seed2=[0, 0])},
        {"a": scored("a", seed1=[1], seed2=[1]), "b": scored("b", seed1=[0], seed2=[0])},
        {"a": scored("a", seed1=[0], seed2=[0])},
    ]
    mean, low, high, texts = compare_pair(cells, "a", "b")
    assert (mean, texts) == ((2 / 3 + 1 / 3) / 2, 3)
    assert -1 <= low <= mean <= high <= 1
    assert compare_pair(cells, "a", "c") is None


def test_a_report_gives_a_table_for_every_model_and_data_set():
    names = ("lime_unk.1k", "lime_unk.100")
    rows = [scored(name, shortcut, seed1=[1.0, 0.5]) for name in names for shortcut in ("op", "tic")]
    groups = group_rows({"benchmarks": [{"extra_info": one} for one in rows]})
    [(name, cells)] = groups.items()
    assert (name, len(cells)) == ("word-word", 2)
    assert list(list_rows(cells)) == [["more samples", "lime_unk.1k - lime_unk.100", "+0.000 [-0.602, +0.602]", "4"]]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """`run(module, *reports)`: what the module's command prints of them."""

    def start(module, *reports):
        paths = [tmp_path / f"{number}.json" for number, _ in enumerate(reports)]
        for path, report in zip(paths, reports, strict=True):
            path.write_text(json.dumps(report), encoding="utf-8")
        monkeypatch.setattr("sys.argv", [module.__name__, *map(str, paths)])
        module.main()
        return capsys.readouterr().out

    return start


@pytest.mark.parametrize(("module", "tables"), [(pairs, 1), (table, 3)])
def test_several_reports_are_printed_one_after_the_other(run, module, tables):
    report = make_report(only=["grad_l2.logit", "grad_l2.prob"], shortcuts=["op"])
    other = make_report(only=["grad_l2.logit", "grad_l2.prob"], shortcuts=["op"], datasets=["other"])
    printed = run(module, report, other)
    assert printed.count("\n| --- ") == 2 * tables
    assert (
        printed.index("0.json") < printed.index("**bert-toy") < printed.index("1.json") < printed.index("**bert-other")
    )
    assert "## " not in run(module, report)


def test_a_report_without_two_configurations_to_compare_says_so(run):
    printed = run(pairs, make_report(only=["random", "gxi.logit"], shortcuts=["op"]))
    assert "0.json: no two configurations to compare: it scored random, gxi.logit; select both of a pair" in printed


def test_without_a_report_the_command_says_how_it_is_called(run, capsys):
    with pytest.raises(SystemExit, match="4"):
        run(pairs)
    assert capsys.readouterr().err == "usage: python -m fixtures.pairs REPORT.json [MORE.json ...]\n"
