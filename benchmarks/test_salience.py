"""Does a salience configuration put the injected tokens on top, and does it only where they matter?"""

from __future__ import annotations

from fixtures.salience import score_method


def test_salience(salience, verified, sheets, bounds, describe, benchmark, record, judge):
    score = benchmark.pedantic(score_method, (sheets, salience))
    row = record(describe(verified, score.constants, score.runs), score.exhibit)
    judge(bounds(row))
