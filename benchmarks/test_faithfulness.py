"""Is the model right when it is fed the words of an explanation only?"""

from __future__ import annotations

from fixtures.rationales.plugin import score_rationales


def test_faithfulness(model, rationales, salience, rationale_cells, benchmark, record, judge, rationale_bounds):
    row = record(*benchmark.pedantic(score_rationales, (rationale_cells, "faithfulness", salience)))
    judge(rationale_bounds(row))
