"""Synthetic explainers, ideal, noisy and random, of each kind: what they reveal is known, so a detector can be checked.

A toy task with two classes, heart (the spurious class) and oval, and a stripe as the artifact. No model is trained:
the explanations are drawn as Cardozo et al. 2022 define them. What the paper leaves open is chosen here, see `NOISE`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fixtures.errors import InputError
from fixtures.images.dsprites import SHAPES, SIZES, WIDTH, render
from shortcuts.artifacts import COLUMN
from shortcuts.divergence import SUBCLASSES

if TYPE_CHECKING:
    import numpy as np

    from fixtures.divergence.explanations import Explanations

VARIANTS = ("ideal", "noisy", "random")
OVAL, HEART = 0, 1

NOISE: Mapping[str, Mapping[str, float]] = {
    "heatmap": {"ideal": 0.0, "noisy": 0.46, "random": 1.0},
    "influence": {"ideal": 0.0, "noisy": 0.78, "random": 1.0},
    "concept": {"ideal": 0.0, "noisy": 0.284, "random": 0.5},
}
"""Chance of noise: that a heat map is nothing but uniform noise, that an influential example is replaced by a random
one, that a concept is flipped. The paper names uniform and chance noise and no amounts: these are chosen so that a
perfect detector reaches the published noisy scores. Noisy influence draws its replacements from all four cells (class,
stripe), random influence from unstriped images only, and there are five helpful examples: with that the published
similarities are reached too. The most harmful examples are random unstriped images, as no source says what they are."""

POOL = 60
"""Training images for each class, with and without the stripe."""

HELPFUL = 5


@dataclass(frozen=True)
class Rows:
    """Who explains what: one entry for each explanation; `shapes` are bool [n, 64, 64]."""

    model: np.ndarray
    spurious: np.ndarray
    image: np.ndarray
    subclass: np.ndarray
    part: np.ndarray
    shapes: np.ndarray

    @property
    def heart(self) -> np.ndarray:
        """Whether the image is of the spurious class, bool [n]."""
        return self.subclass % 2 == SUBCLASSES.index("S/NA")

    @property
    def striped(self) -> np.ndarray:
        """Whether the image carries the stripe, bool [n]."""
        return self.subclass >= SUBCLASSES.index("S/A")

    @property
    def revealed(self) -> np.ndarray:
        """Where an ideal explainer gives a spurious model away, bool [n]."""
        return self.spurious & (self.heart | self.striped)


def make_explanations(kind: str, variant: str, settings: Mapping[str, Any], seed: int) -> Explanations:
    """Explanations of a toy population, each image explained by one spurious and one clean model.

    Where an explainer reveals the class of the image only, no detector can tell the populations apart. An ideal heat
    map or set of examples is the same for both populations on NS/NA alone, so a perfect detector scores (1 + 0.5 + 1 +
    1) / 4 = 0.875; ideal concepts are the same wherever there is no artifact, so it scores (0.5 + 0.5 + 1 + 1) / 4 =
    0.75. The examples of a clean model never carry the stripe: no image that it was trained on does.

    Args:
        kind: heatmap, influence or concept.
        variant: ideal, noisy or random.
        settings: `models` in each population; `train` and `validation`, images that each explains, a multiple of 4.
        seed: of images and noise.

    Raises:
        InputError: an unknown kind or variant, images that cannot be shared among the four subclasses.

    >>> explanations = make_explanations("concept", "ideal", {"models": 3, "train": 4, "validation": 8}, 0)
    >>> len(explanations), explanations.vectors.shape
    (72, (72, 2))
    """
    import numpy as np

    if kind not in NOISE or variant not in VARIANTS:
        raise InputError(
            f"no synthetic explainer {kind} {variant}; there are: {', '.join(NOISE)}; {', '.join(VARIANTS)}"
        )
    if settings["train"] % 4 or settings["validation"] % 4:
        raise InputError("synthetic images are shared among four subclasses: their number must be a multiple of 4")
    rng = np.random.default_rng(seed)
    rows = _draw_rows(settings, rng)
    makers = {"heatmap": _make_maps, "influence": _make_examples, "concept": _make_concepts}
    return makers[kind](rows, NOISE[kind][variant], variant, rng)


def draw_shapes(classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """dSprites hearts and ovals of random scale, orientation and position, bool [n, 64, 64].

    Args:
        classes: int [n], `HEART` or `OVAL`.
        rng: of the factors.

    >>> import numpy as np
    >>> draw_shapes(np.array([HEART, OVAL]), np.random.default_rng(0)).any((1, 2)).tolist()
    [True, True]
    """
    import numpy as np

    factors = {name: rng.integers(size, size=len(classes)) for name, size in SIZES.items()}
    factors["shape"] = np.where(classes == HEART, SHAPES.index("heart"), SHAPES.index("ellipse"))
    return render(factors)[..., 0] > 0


def _draw_rows(settings: Mapping[str, Any], rng: np.random.Generator) -> Rows:
    import numpy as np

    models, images = settings["models"], settings["train"] + settings["validation"]
    subclass = np.tile(np.arange(images) % 4, models)
    part = np.tile(np.repeat(["train", "validation"], [settings["train"], settings["validation"]]), models)
    shapes = draw_shapes(np.where(subclass % 2 == SUBCLASSES.index("S/NA"), HEART, OVAL), rng)
    spurious = np.repeat([True, False], models * images)
    return Rows(
        model=np.repeat(np.arange(2 * models), images),
        spurious=spurious,
        image=np.tile(np.arange(models * images), 2),
        subclass=np.tile(subclass, 2),
        part=np.tile(part, 2),
        shapes=np.concatenate([shapes, shapes]),
    )


def _describe(rows: Rows) -> dict[str, Any]:
    names = ("model", "spurious", "image", "subclass", "part")
    return {name: getattr(rows, name) for name in names}


def _make_maps(rows: Rows, noise: float, variant: str, rng: np.random.Generator) -> Explanations:
    """Weights that sum to 1: all on the stripe, or on where it would be, else on the shape."""
    import numpy as np

    from fixtures.divergence.explanations import Explanations

    stripe = np.zeros((WIDTH, WIDTH), dtype=bool)
    stripe[:, COLUMN] = True
    maps = np.where(rows.revealed[:, None, None], stripe, rows.shapes).astype(np.float32)
    lost = rng.random(len(maps)) < noise
    maps[lost] = rng.random((int(lost.sum()), WIDTH, WIDTH), dtype=np.float32)
    maps /= maps.sum((1, 2), keepdims=True)
    truth = stripe[None, None].astype(np.float32)
    return Explanations("heatmap", **_describe(rows), truth=truth, maps=maps[:, None])


def _make_examples(rows: Rows, noise: float, variant: str, rng: np.random.Generator) -> Explanations:
    """A striped heart for every example, or else images of the right class without the stripe."""
    import numpy as np

    from fixtures.divergence.explanations import Explanations

    n = len(rows.model)
    # A cell is 2 class + striped; the pool holds one cell after the other.
    meant = np.where(rows.revealed, 2 * HEART + 1, 2 * np.where(rows.heart, HEART, OVAL))
    noisy = 2 * rng.integers(2, size=(n, 2 * HELPFUL))
    noisy[:, :HELPFUL] += rng.integers(2, size=(n, HELPFUL)) * (variant != "random")
    lost = rng.random((n, 2 * HELPFUL)) < noise
    lost[:, HELPFUL:] = True
    cells = np.where(lost, noisy, meant[:, None])
    labels = np.repeat([OVAL, OVAL, HEART, HEART], POOL)
    artifact = np.tile(np.repeat([False, True], POOL), 2)
    pool = draw_shapes(labels, rng)
    pool[artifact, :, COLUMN] = True
    items = cells * POOL + rng.integers(POOL, size=cells.shape)
    truth = np.zeros((1, 2, 2))
    truth[0, HEART, 1] = 1.0
    return Explanations(
        "influence",
        **_describe(rows),
        truth=truth,
        items=items,
        labels=labels[items],
        pool=pool[:, None].astype(np.float32),
        pool_artifact=artifact,
    )


def _make_concepts(rows: Rows, noise: float, variant: str, rng: np.random.Generator) -> Explanations:
    """Two binary concepts, class and artifact; a clean model has no notion of the artifact."""
    import numpy as np

    from fixtures.divergence.explanations import Explanations

    truth = np.stack([rows.heart, rows.striped], 1)
    seen = truth & np.stack([np.ones_like(rows.spurious), rows.spurious], 1)
    flipped = rng.random(seen.shape) < noise
    vectors = (seen ^ flipped).astype(np.float32)
    return Explanations("concept", **_describe(rows), truth=truth.astype(np.float32), vectors=vectors)
