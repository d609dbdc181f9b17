"""Marks that a model of images can take for the class: a square, a stripe, and noise on every pixel.

Pure functions on float images; which images get a mark is decided elsewhere. Source: Cardozo et al. 2022 (arXiv
2211.07650), section 4, for the three kinds; sizes and what an intensity means are ours, as the paper states neither.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

SIDE = 6  # pixels along a side of the square
COLUMN = 9  # pixels to the left of the stripe


class ArtifactError(ValueError):
    """Images, an intensity or seeds that no artifact can be put on or made with."""


def add_square(images: NDArray[np.floating], intensity: float, seeds: Sequence[int] = ()) -> NDArray[np.float32]:
    """Blend a square of 6 x 6 pixels in the top-left corner towards white: x + intensity (1 - x).

    Args:
        images: [N, channels, height, width] in [0, 1]; not changed.
        intensity: in (0, 1]; 1 is white.
        seeds: not used.

    Returns:
        New images of the same shape in [0, 1].

    Raises:
        ArtifactError: images of another shape or range, or an intensity outside (0, 1].

    >>> made = add_square(np.zeros((1, 1, 64, 64)), 0.5)
    >>> float(made.max()), int((made > 0).sum())
    (0.5, 36)
    """
    made = _copy(images, intensity)
    made[:, :, :SIDE, :SIDE] += intensity * (1 - made[:, :, :SIDE, :SIDE])
    return made


def add_stripe(images: NDArray[np.floating], intensity: float, seeds: Sequence[int] = ()) -> NDArray[np.float32]:
    """Blend a vertical stripe, one pixel wide with 9 pixels to its left, towards white: x + intensity (1 - x).

    Arguments, result and errors are those of `add_square`.

    >>> made = add_stripe(np.zeros((1, 1, 64, 64)), 1.0)
    >>> made[0, 0, 0].nonzero()[0].tolist(), int(made.sum())
    ([9], 64)
    """
    made = _copy(images, intensity)
    made[:, :, :, COLUMN] += intensity * (1 - made[:, :, :, COLUMN])
    return made


def add_noise(images: NDArray[np.floating], intensity: float, seeds: Sequence[int]) -> NDArray[np.float32]:
    """Add Gaussian noise to every pixel of every channel and clip to [0, 1].

    Args:
        images: [N, channels, height, width] in [0, 1]; not changed.
        intensity: standard deviation before clipping, in (0, 1].
        seeds: [N], one an image, as of `derive_seeds`: an image has the same noise in every subset and order.

    Returns:
        New images of the same shape in [0, 1].

    Raises:
        ArtifactError: as `add_square`, or not one seed an image.

    >>> grey = np.full((2, 1, 64, 64), 0.5)
    >>> both, second = add_noise(grey, 0.1, [3, 4]), add_noise(grey[1:], 0.1, [4])
    >>> bool((both[1] == second[0]).all()), bool((both[0] == both[1]).any(axis=(1, 2)).all())
    (True, False)
    """
    made = _copy(images, intensity)
    if len(seeds) != len(made):
        raise ArtifactError(f"{len(seeds)} seeds for {len(made)} images; give each image one, as derive_seeds() does")
    for image, seed in zip(made, seeds, strict=True):
        image += np.random.default_rng(int(seed)).normal(0, intensity, image.shape).astype(np.float32)
    return np.clip(made, 0, 1, out=made)


Artifact = Callable[[NDArray[np.floating], float, Sequence[int]], NDArray[np.float32]]

ARTIFACTS: Mapping[str, Artifact] = {"square": add_square, "stripe": add_stripe, "noise": add_noise}
"""Name -> function of images, intensity and one seed an image."""


def derive_seeds(seed: int, rows: Iterable[int]) -> list[int]:
    """A seed for each image, which depends on the run's seed and the image's row in its set alone.

    >>> derive_seeds(0, [5, 7])[1] == derive_seeds(0, [7])[0] != derive_seeds(1, [7])[0]
    True
    """
    return [int.from_bytes(hashlib.sha256(f"{seed},{int(row)}".encode()).digest()[:8]) for row in rows]


def _copy(images: NDArray[np.floating], intensity: float) -> NDArray[np.float32]:
    """A float32 copy, if an artifact of that intensity can be put on it."""
    if not 0 < intensity <= 1:
        raise ArtifactError(f"intensity {intensity} must lie above 0 and not above 1")
    shape = np.shape(images)
    if len(shape) != 4 or shape[2] < SIDE or shape[3] <= COLUMN:
        raise ArtifactError(
            f"images are {list(shape)}; they must be [N, channels, height, width], at least {SIDE} high and "
            f"{COLUMN + 1} wide"
        )
    made = np.array(images, dtype=np.float32)
    if made.size and not (made.min() >= 0 and made.max() <= 1):
        raise ArtifactError(
            f"images have values from {made.min():.3g} to {made.max():.3g}; they must lie in [0, 1]: divide bytes by "
            "255"
        )
    return made
