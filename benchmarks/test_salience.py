"""Does a salience configuration put the injected tokens on top, and does it only where they matter?"""

from __future__ import annotations


def test_salience(cell, salience, verified, sheets, describe, benchmark, record, judge):
    score = benchmark.pedantic(sheets.score, (cell, salience))
    record(describe(verified) | score.row)
    judge(score.check(cell))
