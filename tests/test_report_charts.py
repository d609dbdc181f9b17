"""Names in a chart of quality against cost: beside their points, over nothing else, or not at all."""

from __future__ import annotations

from itertools import combinations

import pytest
from matplotlib.figure import Figure

from fixtures.report.labels import name_points


def draw(named, points):
    """The boxes of the names that were written, and of the points."""
    figure = Figure(figsize=(3.6, 3.1), layout="constrained")
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.set_xlim(0.6, 5000)
    axes.set_ylim(0, 1.05)
    name_points(axes, named, points)
    figure.draw_without_rendering()
    return {text.get_text(): text.get_window_extent() for text in axes.texts}, axes.transData.transform(points)


CROWD = [(2.0, 0.96), (2.0, 0.955), (26.0, 1.0), (26.0, 0.99), (100.0, 0.8), (200.0, 0.85), (1.0, 0.77)]


def test_names_cover_neither_each_other_nor_points():
    names = (
        "grad_l2.logit",
        "grad_l1.prob",
        "occlusion.erase",
        "occlusion.unk",
        "lime_mask.100",
        "ig",
        "attention.last",
    )
    boxes, points = draw([(name, *point) for name, point in zip(names, CROWD, strict=True)], CROWD)
    assert {"grad_l2.logit", "attention.last"} <= set(boxes)
    assert not any(one.overlaps(other) for one, other in combinations(boxes.values(), 2))
    assert not any(box.contains(*point) for box in boxes.values() for point in points)


@pytest.mark.parametrize(("cost", "side"), [(1.0, "x0"), (4000.0, "x1")])
def test_a_name_stays_within_the_axes(cost, side):
    boxes, [point] = draw([("ig_zero.1k.logit", cost, 0.5)], [(cost, 0.5)])
    [box] = boxes.values()
    assert abs(getattr(box, side) - point[0]) < 20


def test_a_name_without_room_is_left_out():
    boxes, _ = draw([(f"name {number}", 30.0, 0.5) for number in range(6)], [(30.0, 0.5)])
    assert list(boxes) == ["name 0", "name 1", "name 2", "name 3"]
