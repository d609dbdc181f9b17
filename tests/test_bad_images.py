"""Artifacts and image sets of a user's own that give something else than images, or images of another size than
detectors read: one line, before any training."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fixtures import images as image_sets
from fixtures.errors import InputError
from fixtures.images import load_images
from fixtures.populations.task import check_patches, make_task
from tests.test_populations import make_images


def raise_it(images, intensity, seeds):
    raise RuntimeError("no ink")


ARTIFACTS = {
    "raises": (raise_it, "raise_it raised RuntimeError.*no ink.*mend it"),
    "no arguments": (lambda: None, "raised TypeError"),
    "exits": (lambda *_: sys.exit(3), r"raised SystemExit\(3\); mend it"),
    "nothing": (
        lambda images, *_: None,
        r"gave builtins.NoneType \[\]; wanted are images numpy.ndarray \[30, 1, 16, 16\]",
    ),
    "narrow": (lambda images, *_: images[:, :, :8], r"gave numpy.ndarray \[30, 1, 8, 16\] float32"),
    "tensor": (lambda images, *_: torch.from_numpy(images), r"gave torch.Tensor \[30, 1, 16, 16\] torch.float32"),
    "objects": (lambda images, *_: images.astype(object), r"gave numpy.ndarray \[30, 1, 16, 16\] object"),
    "words": (lambda images, *_: images.astype(str), r"gave numpy.ndarray \[30, 1, 16, 16\] <U"),
    "mask": (lambda images, *_: images > 0.5, r"gave numpy.ndarray \[30, 1, 16, 16\] bool"),
    "no change": (lambda images, *_: images, "changes no image at intensity 0.5; nothing could tell"),
    "chance": (lambda images, *_: np.random.default_rng().random(images.shape), "gave other images when it was called"),
    "company": (lambda images, *_: images * images.mean(), "draw from `seeds`, .* let no image depend on the others"),
    "not finite": (lambda images, *_: images * np.nan, "outside .* or not finite; clip"),
    "too bright": (lambda images, *_: images + 0.5, "outside .* or not finite; clip"),
}


@pytest.mark.parametrize("name", ARTIFACTS)
def test_an_artifact_that_gives_no_images_is_said_in_one_line_before_anything_is_trained(name):
    stamp, said = ARTIFACTS[name]
    with pytest.raises(InputError, match=said):
        make_task(make_images(30), stamp, 0.5, spurious_class=1, seed=0)


def test_an_artifact_that_works_in_place_leaves_the_plain_images_as_they_are():
    def blacken(images, intensity, seeds):
        images *= 0
        return images

    task = make_task(make_images(30), blacken, 0.5, spurious_class=1, seed=0)
    assert task.plain.max() > 0 == task.stamped.max()


FRAMES = {
    "raises": (lambda factors: factors["nothing"], "render raised KeyError"),
    "floats": (
        lambda factors: np.zeros((6, 8, 8, 1), np.float32),
        r"gave float32 \[6, 8, 8, 1\]; wanted are uint8 frames \[6",
    ),
    "one too few": (lambda factors: np.zeros((5, 8, 8, 1), np.uint8), r"gave uint8 \[5, 8, 8, 1\]"),
    "no channels": (lambda factors: np.zeros((6, 8, 8), np.uint8), r"gave uint8 \[6, 8, 8\]"),
    "nothing": (lambda factors: None, "gave NoneType"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_source_that_draws_no_frames_is_said_in_one_line(name, monkeypatch):
    render, said = FRAMES[name]
    source = SimpleNamespace(SIZES={"shape": 3, "x": 4}, FILES=(), render=render, read=None, __name__="mine")
    monkeypatch.setattr(image_sets, "_import_source", lambda *_: source)
    with pytest.raises(InputError, match=said):
        load_images("toy", {"source": "mine", "amount": 6}, None, 0)


def test_a_source_that_cannot_be_imported_is_said_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "broken_images.py").write_text("def render(:\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match="source 'broken_images' is no module"):
        load_images("toy", {"source": "broken_images"}, None, 0)


@given(side=st.integers(9, 64), patch=st.integers(1, 9), grid=st.integers(1, 9))
def test_patches_fit_exactly_where_a_detector_reads_every_pixel_and_averages_to_no_more_than_there_is(
    side, patch, grid
):
    first = torch.nn.Conv2d(1, 1, patch, stride=patch)
    second = torch.nn.Conv2d(1, 1, 3, stride=2, padding=1)
    features = second(first(torch.zeros(1, 1, side, side)))
    fits = side % patch == 0 and grid <= features.shape[-1]
    try:
        check_patches("detectors.heatmap", {"patch": patch, "grid": grid}, (side, side))
    except InputError:
        assert not fits
    else:
        assert fits
