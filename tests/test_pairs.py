"""One choice at a time: differences on common texts and seeds, from the rows of a report."""

from __future__ import annotations

from fixtures.aggregation import join_numbers
from fixtures.pairs import compare_pair, group_rows, list_rows
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
    assert list(list_rows(cells)) == [["more samples", "lime_unk.1k - lime_unk.100", "+0.000 [+0.000, +0.000]", "4"]]
