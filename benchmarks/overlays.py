"""The yaml files of the matrix: read strictly, and laid one over another. Torch-free."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

WHOLE = ("checkpoint", "vectors", "hub")


class MatrixError(ValueError):
    """The matrix cannot be used; the message names the file or key and what to do."""


def read_yaml(path: Path) -> dict[str, Any]:
    """A yaml mapping, where a key written twice is an error instead of a silent replacement."""
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_StrictLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise MatrixError(f"{path}: {error}") from error
    if not isinstance(content, dict):
        raise MatrixError(f"{path}: expected a mapping of tables, got {type(content).__name__}")
    return content


class _StrictLoader(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        # As written, before `<<` takes over the keys of a template: those may be written again.
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        twice = [key for key in keys if keys.count(key) > 1]
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"key {twice[0]!r} is written twice", node.start_mark)
        return super().construct_mapping(node, deep=deep)


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`below` with `above` laid over it; mappings are merged, everything else is replaced.

    Where a file comes from (`WHOLE`) is replaced as a whole: half of one place and half of another is neither.
    Exclusions add up.

    >>> merge({"a": {"x": 1, "y": 2}}, {"a": {"y": 3}})
    {'a': {'x': 1, 'y': 3}}
    >>> merge({"checkpoint": {"package": "p"}}, {"checkpoint": {"path": "mine"}})
    {'checkpoint': {'path': 'mine'}}
    """
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping) and key not in WHOLE:
            value = merge(old, value)
        elif key == "exclusions":
            value = [*below.get(key, ()), *value]
        merged[key] = value
    return merged
