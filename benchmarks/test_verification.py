"""Has the mixed model learnt the shortcut, has it kept the task, and can the other two not know the shortcut?"""

from __future__ import annotations


def test_verification(cell, verdict, describe, benchmark, record, judge):
    checks = benchmark.pedantic(verdict.check, (cell,))
    record(describe(verdict))
    judge(checks)
