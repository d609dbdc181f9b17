"""Artifacts: where they are, how strong, and that nothing else of an image changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from shortcuts.artifacts import ARTIFACTS, ArtifactError, add_noise, add_square, add_stripe, derive_seeds

IMAGES = arrays.arrays(
    np.float32,
    st.tuples(st.integers(1, 3), st.sampled_from([1, 3]), st.integers(6, 14), st.integers(10, 14)),
    elements=st.floats(0, 1, width=32),
)
INTENSITIES = st.floats(0.01, 1)


def mark(name, height, width):
    """Which pixels of an image the artifact may touch, in plain Python."""
    inside = {
        "square": lambda row, column: row < 6 and column < 6,
        "stripe": lambda row, column: column == 9,
        "noise": lambda row, column: True,
    }[name]
    return np.array([[inside(row, column) for column in range(width)] for row in range(height)])


@given(IMAGES, INTENSITIES, st.sampled_from(sorted(ARTIFACTS)))
def test_an_artifact_stays_in_range_and_in_place_and_leaves_its_input_alone(images, intensity, name):
    before = images.copy()
    made = ARTIFACTS[name](images, intensity, range(len(images)))
    assert made.dtype == np.float32
    assert made.shape == images.shape
    assert made.min() >= 0
    assert made.max() <= 1
    untouched = ~mark(name, *images.shape[2:])
    assert (made[..., untouched] == before[..., untouched]).all()
    assert (images == before).all()
    assert not np.shares_memory(made, images)


@given(IMAGES, INTENSITIES, st.sampled_from(["square", "stripe"]))
def test_square_and_stripe_go_the_stated_part_of_the_way_to_white(images, intensity, name):
    made = ARTIFACTS[name](images, intensity, ())
    touched = mark(name, *images.shape[2:])
    for old, new in zip(images[..., touched].ravel().tolist(), made[..., touched].ravel().tolist(), strict=True):
        assert new == pytest.approx(old + intensity * (1 - old), abs=1e-6)


def test_worked_example():
    image = np.full((1, 3, 64, 64), 0.2)
    assert add_square(image, 0.5)[0, 2, 5, 5] == pytest.approx(0.6)
    assert add_square(image, 0.5)[0, 2, 6, 5] == pytest.approx(0.2)
    assert add_stripe(image, 0.25)[0, 0, :, 9] == pytest.approx(np.full(64, 0.4))


def test_noise_has_the_stated_deviation_and_is_independent_over_pixels_channels_and_images():
    made = add_noise(np.full((40, 3, 64, 64), 0.5), 0.1, derive_seeds(0, range(40))) - 0.5
    assert made.std() == pytest.approx(0.1, rel=0.01)
    assert made.mean() == pytest.approx(0, abs=0.001)
    flat = made.reshape(120, -1)
    assert abs(np.corrcoef(flat) - np.eye(120)).max() < 0.08
    assert abs(np.corrcoef(made[..., :-1].ravel(), made[..., 1:].ravel())[0, 1]) < 0.01


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(0, 2**32))
def test_noise_depends_on_the_seed_and_the_row_alone(rows, seed):
    images = np.linspace(0, 1, 31 * 60, dtype=np.float32).reshape(31, 1, 6, 10)
    whole = add_noise(images, 0.3, derive_seeds(seed, range(31)))
    assert (add_noise(images[rows], 0.3, derive_seeds(seed, rows)) == whole[rows]).all()
    assert len(set(derive_seeds(seed, range(31)))) == 31
    assert (add_noise(images, 0.3, derive_seeds(seed + 1, range(31))) != whole).any()


BAD = {
    "no channels": (np.zeros((2, 64, 64)), 0.5, "images are"),
    "too narrow": (np.zeros((2, 1, 64, 9)), 0.5, "images are"),
    "bytes": (np.full((1, 1, 64, 64), 255.0), 0.5, "divide bytes by"),
    "negative": (np.full((1, 1, 64, 64), -0.1), 0.5, r"\[0, 1\]"),
    "not a number": (np.full((1, 1, 64, 64), np.nan), 0.5, r"\[0, 1\]"),
    "no intensity": (np.zeros((1, 1, 64, 64)), 0.0, "intensity 0"),
    "too intense": (np.zeros((1, 1, 64, 64)), 1.01, "intensity 1.01"),
    "intensity nan": (np.zeros((1, 1, 64, 64)), float("nan"), "intensity nan"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("name", ARTIFACTS)
def test_unusable_input_is_refused(case, name):
    images, intensity, message = BAD[case]
    with pytest.raises(ArtifactError, match=message):
        ARTIFACTS[name](images, intensity, [0] * len(images))


def test_noise_without_a_seed_for_every_image_is_refused():
    with pytest.raises(ArtifactError, match="1 seeds for 2 images"):
        add_noise(np.zeros((2, 1, 64, 64)), 0.5, [1])
