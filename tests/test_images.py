"""Image sets: drawings against plain oracles and real frames, files in the real layout, reduced sets."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.errors import InputError
from fixtures.images import ImageSet, draw_combinations, dsprites, load_images, shapes3d
from fixtures.images.fitting import SCENES, SPRITES, fit_scenes, fit_sprites, measure_overlap, read_arrays
from fixtures.images.solids import NAMES, Solid, trace

SPRITE = {"shape": 0, "scale": 5, "orientation": 0, "x": 0, "y": 0}
SCENE = {"floor_hue": 0, "wall_hue": 3, "object_hue": 6, "scale": 7, "shape": 0, "orientation": 7}


def render(source, *images):
    """Drawings of factors given one image at a time, over those of a plain image."""
    plain = SPRITE if source is dsprites else SCENE
    return source.render({name: np.array([{**plain, **image}[name] for image in images]) for name in plain})


def combinations(sizes):
    return st.fixed_dictionaries({name: st.integers(0, size - 1) for name, size in sizes.items()})


def is_inside(image, row, column):
    """Whether a pixel's centre lies in a square or ellipse, one pixel at a time, as complex numbers."""
    middle = complex(15.5 + image["x"] * 32 / 31, 15.5 + image["y"] * 32 / 31)
    turned = (complex(column, row) - middle) * complex(
        math.cos(a := 2 * math.pi * image["orientation"] / 39), math.sin(a)
    )
    place = turned / (0.5 + 0.1 * image["scale"])
    if image["shape"] == 0:
        return max(abs(place.real), abs(place.imag)) - 9.6
    return math.hypot(place.real / 12.8, place.imag / 7.2) - 1


@settings(max_examples=15)
@given(combinations({**dsprites.SIZES, "shape": 2}))
def test_squares_and_ellipses_are_the_pixels_whose_centres_lie_inside(image):
    (frame,) = render(dsprites, image)
    for row, column in itertools.product(range(64), range(64)):
        margin = is_inside(image, row, column)
        if abs(margin) > 1e-4:
            assert frame[row, column, 0] == (255 if margin < 0 else 0), (row, column)


def test_areas_are_those_of_the_real_frames():
    squares = render(dsprites, *({"scale": scale} for scale in range(6)))
    assert (squares > 0).sum((1, 2, 3)).tolist() == [100, 144, 196, 256, 324, 400]
    hearts = render(dsprites, *({"shape": 2, "scale": scale} for scale in range(6)))
    assert (hearts > 0).sum((1, 2, 3)).tolist() == pytest.approx([58, 84, 108, 140, 182, 222], abs=2)


def test_a_heart_is_symmetric_points_down_and_turns_counterclockwise():
    upright, turned, last = render(dsprites, *({"shape": 2, "orientation": turn} for turn in (0, 10, 39)))[..., 0] > 0
    assert (upright[:, :32] == upright[:, 31::-1]).all()
    assert upright[:16].sum() > upright[16:32].sum()
    assert turned[:, :16].sum() > turned[:, 16:].sum()
    assert (last == upright).all()


@settings(max_examples=10)
@given(st.lists(combinations(dsprites.SIZES), min_size=1, max_size=5), st.data())
def test_an_image_does_not_depend_on_the_others(images, data):
    chosen = data.draw(st.integers(0, len(images) - 1))
    assert (render(dsprites, *images)[chosen] == render(dsprites, images[chosen])[0]).all()


def contains(name, solid, points):
    """Whether points lie inside a solid, from its definition."""
    x, y, z = np.moveaxis(points, -1, 0)
    across, radius, height = np.hypot(x, y), solid.radius, solid.height
    if name == "cube":
        return (np.maximum(abs(x), abs(y)) <= radius) & (z >= 0) & (z <= height)
    if name == "cylinder":
        return (across <= radius) & (z >= 0) & (z <= height)
    low, high = radius, radius if name == "sphere" else height - radius
    return np.hypot(across, z - np.clip(z, low, high)) <= radius


@settings(max_examples=25)
@given(st.sampled_from(NAMES), st.floats(0.5, 2), st.floats(0, 6), st.floats(-1, 1), st.floats(0, 5), st.floats(-1, 1))
def test_a_ray_meets_a_solid_where_small_steps_first_enter_it(name, radius, around, aside, height, rise):
    solid = Solid(radius, {"cube": 2 * radius, "sphere": 2 * radius}.get(name, 3.3 * radius))
    origin = np.array([8 * math.cos(around), 8 * math.sin(around), height])
    target = np.array(
        [-aside * radius * 1.3 * math.sin(around), aside * radius * 1.3 * math.cos(around), radius + 2 * rise]
    )
    direction = (target - origin) / np.linalg.norm(target - origin)
    distance, normal = trace(name, solid, origin[None, None], direction[None, None])
    steps = np.arange(0, 16, 0.002)
    entered = contains(name, solid, origin + steps[:, None] * direction)
    if entered.sum() > 25:  # a grazing ray may slip between two steps
        assert distance.item() == pytest.approx(steps[entered.argmax()], abs=0.004)
        assert normal[0, 0] @ direction < 0
        assert np.linalg.norm(normal[0, 0]) == pytest.approx(1, abs=1e-6)
    elif not entered.any():
        grown = Solid(radius - 0.01, solid.height - 0.02)
        assert math.isinf(distance.item()) or not contains(name, grown, origin + distance.item() * direction)


def test_a_hue_colours_its_own_part_and_nothing_else():
    plain, floor, wall, thing = render(shapes3d, {}, {"floor_hue": 8}, {"wall_hue": 8}, {"object_hue": 8}).astype(int)
    changed = [abs(other - plain).max(-1) > 0 for other in (floor, wall, thing)]
    assert plain[0, 0].tolist() == [153, 226, 249]
    assert not any(part[:12].any() for part in changed)
    assert changed[0][60].all()
    assert changed[1][25, 3]
    assert changed[2][40, 32]
    assert sum(part.astype(int) for part in changed).max() == 2  # only along edges, where a pixel is part of both
    assert (sum(part.astype(int) for part in changed) == 2).mean() < 0.04


@pytest.mark.parametrize("shape", range(4))
def test_scenes_grow_with_scale_and_mirror_with_orientation(shape):
    images = [{"shape": shape, "scale": scale, "object_hue": 6, "floor_hue": 0, "wall_hue": 0} for scale in range(8)]
    blue = (render(shapes3d, *images)[..., 2] > 100) & (render(shapes3d, *images)[..., 0] < 60)
    areas = blue.sum((1, 2))
    assert (np.diff(areas) > 0).all()
    left, right = render(shapes3d, *({"shape": shape, "orientation": turn} for turn in (2, 12))).astype(int)
    sky = [(abs(frame - [153, 226, 249]).max(-1) == 0) for frame in (left, right)]
    assert (sky[0] == sky[1][:, ::-1]).all()


@pytest.mark.parametrize(("source", "plain"), [(dsprites, SPRITE), (shapes3d, SCENE)])
def test_factors_that_are_not_there_are_refused(source, plain):
    factors = {name: np.array([value, value]) for name, value in plain.items()}
    name, size = list(source.SIZES.items())[-1]
    for wrong in (np.array([0, size]), np.array([-1, 0]), np.array([0.0, 1.0]), np.zeros((2, 1), int)):
        with pytest.raises(InputError, match=f"factor {name} .*0 to {size - 1}"):
            source.render({**factors, name: wrong})
    with pytest.raises(InputError, match="colour missing or unknown"):
        source.render({**factors, "colour": np.array([0, 0])})
    with pytest.raises(InputError, match="differ in length"):
        source.render({**factors, name: np.array([0])})


SETTINGS = {
    "source": "fixtures.images.dsprites",
    "factors": {"scale": [3, 5], "orientation": [0, 7], "x": [2, 9, 30], "y": [4]},
    "amount": 20,
}


@given(
    st.fixed_dictionaries(
        {name: st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True) for name in ("shape", "x", "y")}
    ),
    st.data(),
)
def test_a_reduced_set_is_balanced_and_without_repetition(choices, data):
    everything = set(itertools.product(*choices.values()))
    amount = data.draw(st.integers(1, len(everything)))
    seed = data.draw(st.integers(0, 99))
    made = draw_combinations("toy", choices, amount, np.random.default_rng(seed))
    drawn = list(zip(*(made[name].tolist() for name in choices), strict=True))
    assert len(drawn) == len(set(drawn)) == amount
    assert set(drawn) <= everything
    counts = Counter(dict.fromkeys(choices["shape"], 0)) + Counter(made["shape"].tolist())
    shares = [counts[label] for label in choices["shape"]]
    assert max(shares) - min(shares) <= 1


def test_a_reduced_set_depends_on_seed_name_and_settings_alone():
    first, again = (load_images("dsprites", SETTINGS, None, 3) for _ in range(2))
    assert first.fingerprint == again.fingerprint == first.provenance["sha256"]
    assert first.provenance["source"] == "drawn by fixtures.images.dsprites"
    assert load_images("dsprites", SETTINGS, None, 4).fingerprint != first.fingerprint
    assert load_images("other", SETTINGS, None, 3).fingerprint != first.fingerprint
    assert (first.frames == dsprites.render(first.factors)).all()
    assert first.to_unit().shape == (20, 1, 64, 64)
    whole = load_images("dsprites", {**SETTINGS, "amount": None}, None, 3)
    assert len(whole.frames) == 36


def test_the_fingerprint_follows_images_and_factors():
    made = load_images("dsprites", SETTINGS, None, 0)
    other = ImageSet(made.frames[::-1], made.factors, made.sizes, {})
    swapped = ImageSet(made.frames, {**made.factors, "x": made.factors["y"]}, made.sizes, {})
    assert len({made.fingerprint, other.fingerprint, swapped.fingerprint}) == 3


BAD = {
    "too many": ({"amount": 37}, "amount 37 must be a number from 1 to 36"),
    "none": ({"amount": 0}, "amount 0"),
    "a word": ({"amount": "all"}, "amount 'all'"),
    "unknown factor": ({"factors": {"hue": [1]}}, "no factor 'hue'; there are: shape, scale, orientation, x, y"),
    "unknown class": ({"factors": {"scale": [6]}}, r"factor scale: \[6\] .*0 to 5"),
    "class twice": ({"factors": {"scale": [1, 1]}}, r"factor scale: \[1, 1\] .*0 to 5"),
    "no list": ({"factors": {"scale": 1}}, "factor scale: 1 "),
    "no classes": ({"factors": {"scale": []}}, r"factor scale: \[\] "),
    "no module": ({"source": "fixtures.images.cubes"}, r"no module .*ours are fixtures\.images\.dsprites"),
    "no source": ({"source": "json"}, "source json has no SIZES, FILES, render, read"),
}


@pytest.mark.parametrize("case", BAD)
def test_unusable_settings_are_refused(case):
    wrong, message = BAD[case]
    with pytest.raises(InputError, match=message):
        load_images("dsprites", {**SETTINGS, **wrong}, None, 0)


@pytest.mark.shared
def test_drawn_sprites_are_the_real_ones(shared_data):
    """The animation shows the heart, the ellipse and the square, each through all scales and orientations."""
    fit = fit_sprites(read_arrays(shared_data / SPRITES[0])["imgs"])
    assert fit.shapes.tolist() == [2] * 192 + [1] * 64 + [0] * 64
    assert fit.factors["scale"][256:262].tolist() == [0, 1, 2, 3, 4, 5]
    assert fit.factors["y"][58:90].tolist() == fit.factors["x"][90:122].tolist() == list(range(32))
    turns = fit.factors["orientation"][18:58].tolist()
    assert turns[1:39] == list(range(1, 39))
    for shape, least in ((0, 0.99), (1, 0.99), (2, 0.99)):
        assert np.median(fit.overlap[fit.shapes == shape]) >= least
    assert (fit.overlap == measure_overlap(fit.drawn[..., 0] > 0, fit.real[..., 0] > 0)).all()
    notebook = fit_sprites(read_arrays(shared_data / SPRITES[1])["imgs"])
    assert (notebook.factors["x"][25:34] == 0).all()
    assert (notebook.factors["orientation"][34:] == 5).all()
    assert np.median(notebook.overlap) >= 0.99


@pytest.mark.shared
def test_drawn_scenes_are_near_the_real_ones(shared_data):
    arrays = read_arrays(shared_data / SCENES)
    fit = fit_scenes(arrays)
    for shape in range(4):
        overlaps = fit.overlap[(fit.shapes == shape) & ~np.isnan(fit.overlap)]
        assert len(overlaps) > 5
        assert np.median(overlaps) >= 0.9
    difference = abs(fit.drawn[:, :62].astype(int) - fit.real[:, :62]).mean()
    assert difference < 6
