"""Can explanations of models that follow an artifact or a shortcut be told from those of models that do not?"""

from __future__ import annotations

from fixtures.divergence.plugin import score_explainer
from fixtures.divergence.text_plugin import score_salience


def test_divergence(explainer, populations, benchmark, record, judge, divergence_bounds):
    row = record(*benchmark.pedantic(score_explainer, (populations, explainer)))
    judge(divergence_bounds(row))


def test_text_divergence(text_populations, contrast, salience, benchmark, record, judge, text_divergence_bounds):
    row = record(benchmark.pedantic(score_salience, (text_populations, contrast, salience)))
    judge(text_divergence_bounds(row))
