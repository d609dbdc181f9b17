"""Has the mixed model learnt the shortcut, has it kept the task, and can the other two not know the shortcut?"""

from __future__ import annotations

from fixtures.verification import check_verdicts


def test_verification(verdicts, describe, benchmark, record, judge):
    checks = benchmark.pedantic(check_verdicts, (verdicts,))
    record(describe(verdicts))
    judge(checks)
