"""Does a salience configuration mark the words that people mark?"""

from __future__ import annotations

from fixtures.rationales.plugin import score_rationales


def test_plausibility(model, rationales, salience, rationale_cells, benchmark, record, judge, rationale_bounds):
    row = record(*benchmark.pedantic(score_rationales, (rationale_cells, "plausibility", salience)))
    judge(rationale_bounds(row))
