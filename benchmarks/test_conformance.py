"""Is an explainer implemented correctly, before its faithfulness is measured? One case per method and check."""

from __future__ import annotations


def test_conformance(salience, check, bench):
    from fixtures.conformance.plugin import run_check

    run_check(bench, salience, check)
