"""Detectors on several splits, in this process, and how often they were right."""

from __future__ import annotations

import numpy as np

from fixtures.divergence.scoring import Trial, join_judgements, judge_split
from fixtures.intervals import bootstrap_ragged
from fixtures.report.answers import Estimate
from shortcuts.divergence import SUBCLASSES


def judge_runs(explanations, settings, runs, seed, shuffled=None):
    """What the detectors of all splits said; see `judge_split`."""
    trial = Trial(explanations, shuffled)
    return join_judgements([judge_split(trial, settings, split, seed) for split in range(runs)])


def estimate(judged, subclass=None):
    """Accuracy with its interval over splits, models and images, of one subclass or of all."""
    wanted = judged.subclass == SUBCLASSES.index(subclass) if subclass else np.ones(len(judged.run), dtype=bool)
    values, runs, models = judged.correct[wanted], judged.run[wanted], judged.model[wanted]
    groups = [
        [values[(runs == run) & (models == model)].tolist() for model in np.unique(models[runs == run])]
        for run in np.unique(judged.run)
    ]
    return Estimate(float(values.mean()), *bootstrap_ragged(groups, (0.0, 1.0)))
