"""Detectors on several splits, in this process."""

from __future__ import annotations

from fixtures.divergence.scoring import Trial, join_judgements, judge_split


def judge_runs(explanations, settings, runs, seed, shuffled=None):
    """What the detectors of all splits said; see `judge_split`."""
    trial = Trial(explanations, shuffled)
    return join_judgements([judge_split(trial, settings, split, seed) for split in range(runs)])
