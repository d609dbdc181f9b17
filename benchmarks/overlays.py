"""The yaml files of the matrix: read strictly, laid one over another, and found again by key. Torch-free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

WHOLE = ("checkpoint", "vectors", "hub")


class MatrixError(ValueError):
    """The matrix cannot be used; the message names the file or key and what to do."""


def read_yaml(path: Path) -> dict[str, Any]:
    """A yaml mapping, where a key written twice is an error instead of a silent replacement.

    Raises:
        MatrixError: in one line, with the line of the file.
    """
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_StrictLoader)
    except OSError as error:
        raise MatrixError(f"{path}: {error.strerror}; expected a yaml file of tables to lay over the matrix") from error
    except UnicodeDecodeError as error:
        raise MatrixError(f"{path}: bytes that are not UTF-8 ({error.reason}); save it as UTF-8 text") from error
    except yaml.YAMLError as error:
        raise MatrixError(f"{path}{_describe_syntax(error)}") from error
    except RecursionError as error:
        raise MatrixError(f"{path}: nested too deeply; expected tables of a few levels") from error
    if content is None:
        raise MatrixError(f"{path}: is empty; expected tables, as in `methods: {{mine: 'mine:score'}}`")
    if not isinstance(content, dict):
        raise MatrixError(
            f"{path}: expected a mapping of tables, got {type(content).__name__}; begin with the name of a table, "
            "as in `methods: {mine: 'mine:score'}`"
        )
    return content


def _describe_syntax(error: yaml.YAMLError) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if isinstance(error, yaml.reader.ReaderError):
        return f", character {error.position + 1}: {error.reason}; remove it"
    if mark is None or problem is None:
        return f": not yaml ({' '.join(str(error).split())})"
    hint = "indent with blanks, not with tabs" if "'\\t'" in problem else "mend the yaml there"
    return f", line {mark.line + 1}, column {mark.column + 1}: {problem}; {hint}"


class _StrictLoader(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        # As written, before `<<` takes over the keys of a template: those may be written again.
        keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        names = [key.value for key in keys]
        twice = [key for index, key in enumerate(keys) if key.value in names[:index]]
        if twice:
            problem = f"key {twice[0].value!r} is written twice in one mapping"
            raise yaml.constructor.ConstructorError(None, None, problem, twice[0].start_mark)
        return super().construct_mapping(node, deep=deep)


def find_line(path: Path, keys: Sequence[str | int]) -> tuple[int, int]:
    """How many of the keys a file holds, each inside the one before, and the line of the last of them."""
    node = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    depth, line = 0, 1
    for key in keys:
        if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and 0 <= key < len(node.value):
            node = node.value[key]
            line = node.start_mark.line + 1
        else:
            pairs = node.value if isinstance(node, yaml.MappingNode) else []
            found = [(name, value) for name, value in pairs if name.value == str(key)]
            if not found:
                break
            line, node = found[0][0].start_mark.line + 1, found[0][1]
        depth += 1
    return depth, line


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
        elif key == "exclusions" and isinstance(old, list) and isinstance(value, list):
            value = [*old, *value]
        merged[key] = value
    return merged
