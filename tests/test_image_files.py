"""Files of the two image sets in their real layout: only the images asked for, and damage said in one line."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from fixtures.errors import InputError
from fixtures.images import dsprites, find_file, load_images, shapes3d

SPRITES = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"


def write_sprites(path, rows, **changes):
    """A file with the combinations given, in the layout of the real one; `changes` replace or remove (None) keys."""
    latents = np.array([(0, *row) for row in rows])
    factors = dict(zip(dsprites.SIZES, latents[:, 1:].T, strict=True))
    arrays = {
        "metadata": np.array({"author": "somebody"}, dtype=object),
        "imgs": dsprites.render(factors)[..., 0] // 255,
        "latents_classes": latents.astype(np.int64),
        "latents_values": latents.astype(float),
    }
    np.savez_compressed(path, **{key: value for key, value in {**arrays, **changes}.items() if value is not None})


def write_scenes(path, rows, **changes):
    """A file with the combinations given, whose labels are values as in the real one."""
    import h5py

    classes = dict(zip(shapes3d.SIZES, np.array(rows).T, strict=True))
    hues = [classes[name] / 10 for name in ("floor_hue", "wall_hue", "object_hue")]
    values = [*hues, 0.75 + classes["scale"] / 14, classes["shape"], -30 + classes["orientation"] * 30 / 7]
    keys = {"images": shapes3d.render(classes), "labels": np.stack(values, axis=1).astype(float), **changes}
    with h5py.File(path, "w") as file:
        for key, value in keys.items():
            if value is not None:
                file.create_dataset(key, data=value)


def every_class(sizes, number=60):
    """Different combinations in which every class of every factor is there once at least, in the real order."""
    rng = np.random.default_rng(0)
    columns = [rng.permutation(number) % size for size in sizes.values()]
    rows = sorted({tuple(map(int, row)) for row in zip(*columns, strict=True)})
    assert len(rows) == number
    return rows


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder / "3dshapes.h5", every_class(shapes3d.SIZES))
    return folder


@pytest.mark.parametrize("shuffled", [False, True])
def test_images_of_the_sprite_file_come_back_in_any_order(tmp_path, shuffled):
    rows = list(itertools.product(range(3), range(6), range(40), [0, 31], [5]))
    if shuffled:
        rows = [rows[place] for place in np.random.default_rng(1).permutation(len(rows))]
    write_sprites(tmp_path / SPRITES, rows)
    order = np.random.default_rng(0).permutation(len(rows))[:300]
    assert order.max() > 1024 > order.min()  # the file is read by blocks of 1024 images
    wanted = dict(zip(dsprites.SIZES, np.array(rows)[order].T, strict=True))
    assert (dsprites.read(tmp_path / SPRITES, wanted) == dsprites.render(wanted)).all()


def test_the_row_of_a_complete_file_is_the_published_dot_product(tmp_path, monkeypatch):
    sizes = {"shape": 3, "scale": 2, "orientation": 4, "x": 3, "y": 2}
    strides = [math.prod(list(sizes.values())[place + 1 :]) for place in range(5)]
    rows = list(itertools.product(*map(range, sizes.values())))
    numbered = np.zeros((len(rows), 64, 64), np.uint8)
    numbered[np.arange(len(rows)), 0, :8] = np.arange(len(rows))[:, None] >> np.arange(8) & 1
    write_sprites(tmp_path / SPRITES, rows, imgs=numbered)
    monkeypatch.setattr(dsprites, "SIZES", sizes)
    frames = dsprites.read(tmp_path / SPRITES, dict(zip(sizes, np.array(rows[::-1]).T, strict=True)))
    numbers = (frames[:, 0, :8, 0] // 255 << np.arange(8)).sum(1)
    assert numbers.tolist() == [sum(map(int.__mul__, row, strides)) for row in rows[::-1]]


def test_images_of_the_scene_file_come_back_in_any_order(scenes):
    wanted = dict(zip(shapes3d.SIZES, np.array(every_class(shapes3d.SIZES)[::-3]).T, strict=True))
    assert (shapes3d.read(scenes / "3dshapes.h5", wanted) == shapes3d.render(wanted)).all()


@pytest.mark.parametrize("folder", ["dsprites", "."])
def test_a_file_of_the_users_comes_before_drawing(tmp_path, folder):
    (tmp_path / folder).mkdir(exist_ok=True)
    rows = list(itertools.product(range(3), [5], [0, 3], [1, 2], [4]))
    write_sprites(tmp_path / folder / SPRITES, rows)
    factors = {"scale": [5], "orientation": [0, 3], "x": [1, 2], "y": [4]}
    settings = {"source": "fixtures.images.dsprites", "factors": factors, "amount": 7}
    read, drawn = load_images("a", settings, tmp_path, 0), load_images("a", settings, tmp_path / "nowhere", 0)
    assert read.provenance["source"] == f"file {SPRITES}"
    assert drawn.provenance["source"] == "drawn by fixtures.images.dsprites"
    assert "nowhere" in drawn.provenance["tried"]
    assert read.fingerprint == drawn.fingerprint


def test_two_files_for_one_set_are_refused(tmp_path):
    for name in ("dsprites_ndarray_a.npz", "dsprites_ndarray_b.npz"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=r"dsprites_ndarray_a\.npz and dsprites_ndarray_b\.npz are both there"):
        find_file(tmp_path, dsprites.FILES)


BAD_SPRITES = {
    "no classes": ({"latents_classes": None}, "no latents_classes in it"),
    "no metadata": ({"metadata": None}, "no metadata in it"),
    "other factors": ({"latents_classes": np.zeros((3, 5), int)}, r"latents_classes is \[3, 5\]"),
    "other classes": ({"latents_classes": np.full((3, 6), 99)}, "other classes than"),
    "floats": ({"imgs": np.zeros((3, 64, 64))}, r"imgs is float64 \[3, 64, 64\]"),
    "too few": ({"imgs": np.zeros((2, 64, 64), np.uint8)}, r"imgs is uint8 \[2, 64, 64\]"),
    "too small": ({"imgs": np.zeros((3, 32, 32), np.uint8)}, r"imgs is uint8 \[3, 32, 32\]"),
    "grey": ({"imgs": np.full((3, 64, 64), 255, np.uint8)}, "image 2 has values beyond 0 and 1"),
}


@pytest.mark.parametrize("case", BAD_SPRITES)
def test_another_sprite_file_is_refused(tmp_path, case):
    changes, message = BAD_SPRITES[case]
    write_sprites(tmp_path / SPRITES, [(0, 0, 0, 0, 0), (1, 0, 0, 0, 0), (2, 0, 0, 0, 0)], **changes)
    with pytest.raises(InputError, match=message) as caught:
        dsprites.read(tmp_path / SPRITES, {name: np.array([2 * (name == "shape")]) for name in dsprites.SIZES})
    assert str(tmp_path / SPRITES) in str(caught.value)
    assert "\n" not in str(caught.value)


BAD_SCENES = {
    "no labels": ({"labels": None}, "no labels in it"),
    "other factors": ({"labels": np.zeros((60, 5))}, r"labels is \[60, 5\]|images is"),
    "fewer images": ({"images": np.zeros((3, 64, 64, 3), np.uint8)}, r"images is uint8 \[3, 64, 64, 3\]"),
    "floats": ({"images": np.zeros((60, 64, 64, 3))}, "images is float64"),
}


@pytest.mark.parametrize("case", BAD_SCENES)
def test_another_scene_file_is_refused(tmp_path, case):
    changes, message = BAD_SCENES[case]
    path = tmp_path / "3dshapes.h5"
    write_scenes(path, every_class(shapes3d.SIZES), **changes)
    with pytest.raises(InputError, match=message) as caught:
        shapes3d.read(path, {name: np.array([0]) for name in shapes3d.SIZES})
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.97])
def test_a_damaged_file_is_refused(tmp_path, scenes, share):
    wanted = {name: np.array([2 * (name == "shape")]) for name in dsprites.SIZES}
    write_sprites(tmp_path / SPRITES, list(itertools.product(range(3), range(2), [0], range(4), range(4))))
    whole, scene = (tmp_path / SPRITES).read_bytes(), (scenes / "3dshapes.h5").read_bytes()
    (tmp_path / SPRITES).write_bytes(whole[: int(share * len(whole))])
    (tmp_path / "3dshapes.h5").write_bytes(scene[: int(share * len(scene))])
    with pytest.raises(InputError, match=r"not a complete npz file .*copy it again"):
        dsprites.read(tmp_path / SPRITES, wanted)
    with pytest.raises(InputError, match=r"not a complete HDF5 file .*copy it again"):
        shapes3d.read(tmp_path / "3dshapes.h5", {name: np.array([0]) for name in shapes3d.SIZES})


def test_flipped_bytes_are_noticed(tmp_path):
    write_sprites(tmp_path / SPRITES, list(itertools.product(range(3), range(2), [0], range(4), range(4))))
    whole = bytearray((tmp_path / SPRITES).read_bytes())
    start = whole.index(b"imgs.npy") + 60
    whole[start : start + 40] = bytes(40)
    (tmp_path / SPRITES).write_bytes(whole)
    with pytest.raises(InputError, match="copy"):
        dsprites.read(tmp_path / SPRITES, {name: np.array([0]) for name in dsprites.SIZES})


def test_a_combination_that_the_file_lacks_is_named(tmp_path, scenes):
    write_sprites(tmp_path / SPRITES, [(0, 0, 0, 0, 0), (1, 0, 0, 0, 0)])
    with pytest.raises(InputError, match="no image with shape 2, scale 0, orientation 0, x 0, y 0; take the complete"):
        dsprites.read(tmp_path / SPRITES, {name: np.array([2 * (name == "shape")]) for name in dsprites.SIZES})
    with pytest.raises(InputError, match="no image with floor_hue 9, wall_hue 9, object_hue 9"):
        shapes3d.read(scenes / "3dshapes.h5", {name: np.array([size - 1]) for name, size in shapes3d.SIZES.items()})


def test_a_scene_file_without_all_classes_is_refused(tmp_path):
    write_scenes(tmp_path / "3dshapes.h5", [(0, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0)])
    with pytest.raises(InputError, match="floor_hue has 2 values, not 10"):
        shapes3d.read(tmp_path / "3dshapes.h5", {name: np.array([0]) for name in shapes3d.SIZES})
