"""Tables of divergence written wrong: refused when the matrix is read, in one line with line, key and a remedy."""

from __future__ import annotations

import pytest

from tests.bad_inputs import assert_refused, in_profile


def in_population(text: str) -> str:
    """An overlay that changes the embedded populations of image classifiers."""
    return f"populations: {{embedded: {{{text}}}}}"


def in_text_population(text: str) -> str:
    return f"text_populations: {{embedded: {{{text}}}}}"


WRONG = {
    "populations of nobody": (in_profile("populations: tiny"), ["no populations named 'tiny'; there are: embedded"]),
    "unknown images": (in_profile("images: [dsprite]"), ["no images named 'dsprite'", "Did you mean 'dsprites'?"]),
    "unknown artifact": (in_profile("artifacts: [strip]"), ["no artifact named 'strip'", "'stripe'?"]),
    "unknown explainer": (in_profile("explainers: [heat]"), ["no explainer named 'heat'"]),
    "images without intensity": (
        "images: {mine: {source: my.images, licence: mine}}",
        ["images.mine: no intensity of square on mine; write one, as populations: {embedded: {intensity: {mine"],
    ),
    "artifact without intensity": (
        "artifacts: {mine: 'my:stamp'}",
        ["mine.yaml, line 2: artifacts.mine: no intensity of mine on dsprites; write one, as populations: {embedded"],
    ),
    "intensity": (
        in_population("intensity: {dsprites: {noise: 2}}"),
        ["dsprites.noise: expected a number from 0 to 1, got 2"],
    ),
    "no intensity": (
        in_population("intensity: {dsprites: {stripe: 0}}"),
        ["dsprites.stripe: an artifact of intensity 0 changes nothing; write a number above 0"],
    ),
    "five models": (in_population("population: 5"), ["population: expected a whole number from 6, got 5"]),
    "share as percent": (in_population("share: 70"), ["share: expected a number from 0 to 1, got 70"]),
    "nothing to judge": (in_population("share: 1"), ["share: 1 of 8 models", "8 to train a detector on", "1 to judge"]),
    "nothing to judge in half a population": (
        in_population("share: 0.95"),
        ["share: 0.95 of 8 models, half a population of 16, are 8 to train"],
    ),
    "nothing to train on": (in_text_population("share: 0.01"), ["share: 0.01 of 4 models", "are 0 to train"]),
    "nothing to stop by": (
        "detectors: {heatmap: {holdout: 0}}",
        ["heatmap.holdout: 0 leaves nothing on one side; write a number between 0 and 1"],
    ),
    "nothing to fit": ("detectors: {tokens: {holdout: 1.0}}", ["tokens.holdout: 1.0 leaves nothing on one side"]),
    "recipe": (in_population("recipe: {step: 5}"), ["recipe.step", "Did you mean 'steps'?"]),
    "verification": (in_population("verification: {flip: 1}"), ["verification.flip", "Did you mean 'flips'?"]),
    "pace": (in_population("pace: {explaining_seconds: {heat: 1}}"), ["explaining_seconds.heat", "there are:"]),
    "kind of explainer": (
        "explainers: {mine: {kind: map}}",
        ["mine.kind: expected one of heatmap, influence, concept"],
    ),
    "heat map by nothing": ("explainers: {mine: {kind: heatmap}}", ["explainers.mine: `salience` is missing"]),
    "heat map by a method that is not there": (
        "explainers: {mine: {kind: heatmap, salience: grad_l3.logit}}",
        ["explainers.mine.salience: no salience named 'grad_l3.logit'", "Did you mean 'grad_l"],
    ),
    "heat map by removing tokens": (
        "explainers: {mine: {kind: heatmap, salience: occlusion.unk}}",
        ["mine.salience: occlusion.unk is of the family occlusion unk", "take one that reads gradients"],
    ),
    "heat map from another token": (
        "explainers: {mine: {kind: heatmap, salience: ig_mask.100.logit}}",
        ["mine.salience: ig_mask.100.logit is of the family path mask, which needs the tokens"],
    ),
    "labelled images": (
        "explainers: {mine: {kind: concept, labelled: 9, images: all}}",
        ["mine.images: expected one of own, both, got 'all'"],
    ),
    "detector": ("detectors: {heatmap: {epoch: 5}}", ["detectors.heatmap.epoch", "Did you mean 'epochs'?"]),
    "detector of no kind": ("detectors: {heat: {epochs: 5}}", ["detectors.heat", "Did you mean 'heatmap'?"]),
    "contrast": (in_text_population("contrasts: [mixed]"), ["expected one of source, placebo, got 'mixed'"]),
    "odd texts": (in_text_population("texts: {others: 5}"), ["write an even number, not 5"]),
    "texts of no family": (in_text_population("texts: {pth: 4}"), ["no family named 'pth'", "Did you mean 'path'?"]),
    "texts of nobody": (in_text_population("models: [lstmm]"), ["no model named 'lstmm'", "Did you mean 'lstm'?"]),
    "bound on nothing": (
        in_profile("thresholds: {divergence: [{value: eds, why: x}]}"),
        ["divergence, row 1: a threshold needs `at_least` or `at_most`"],
    ),
    "bound on an artifact that is not there": (
        in_profile("thresholds: {divergence: [{artifact: [strip], value: eds, at_least: 0.5, why: x}]}"),
        ["divergence, row 1.artifact: no artifact named 'strip'", "Did you mean 'stripe'?"],
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_value_that_does_not_fit_is_refused_in_one_line(tmp_path, name):
    assert_refused(tmp_path, *WRONG[name])


@pytest.mark.parametrize("kind", ["divergence", "text_divergence"])
def test_a_bound_on_a_number_that_no_row_has_is_refused(tmp_path, kind):
    text = in_profile(f"thresholds: {{{kind}: [{{value: edss, at_least: 0.5, why: x}}]}}")
    assert_refused(tmp_path, text, [f"no value of a {kind} row named 'edss'", "Did you mean 'eds"])
