"""Names to objects: `"module:object"` strings resolved on first use, and an unknown name that lists the known ones.

Torch-free.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.metadata
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.overlays import MatrixError


def look_up(name: str, table: Mapping[str, Any], what: str) -> Any:
    """An entry of a table by name.

    Raises:
        MatrixError: listing the valid names and the nearest.

    >>> look_up("brt", {"bert": 1}, "model")
    Traceback (most recent call last):
    ...
    benchmarks.overlays.MatrixError: no model named 'brt'; there are: bert. Did you mean 'bert'?
    """
    if name in table:
        return table[name]
    near = difflib.get_close_matches(name, table, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise MatrixError(f"no {what} named {name!r}; there are: {', '.join(table) or 'none'}.{hint}")


def fingerprint_target(target: str) -> str:
    """A `"module:object"` string for a cache key: with the hash of its file where the module is not one of ours.

    An adapter of another library has the hash of all adapters and the library's version.

    >>> fingerprint_target("shortcuts.op:build")
    'shortcuts.op:build'
    """
    found = resolve(target)
    module = inspect.getmodule(found) or found
    path, ours = Path(inspect.getsourcefile(module) or ""), Path(__file__).parent.parent / "fixtures"
    if path.is_relative_to(ours / "peers"):
        code = b"".join(file.read_bytes() for file in sorted(path.parent.glob("*.py")))
        return f"{target} {hashlib.sha256(code).hexdigest()} {importlib.metadata.version(module.LIBRARY)}"
    if path.is_relative_to(ours) or target.startswith("shortcuts."):
        return target
    return f"{target} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def resolve(target: str) -> Any:
    """The object behind a `"module:object"` string, imported on first use.

    Raises:
        MatrixError: no such module or object, or no colon.

    >>> resolve("shortcuts.op:build").__name__
    'build'
    """
    module, colon, name = target.partition(":")
    if not colon:
        raise MatrixError(f"{target!r} is not of the form 'module:object'")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name and (module == error.name or module.startswith(f"{error.name}.")):
            raise MatrixError(f"{target!r}: there is no module {error.name!r} on the path") from error
        raise
    except AttributeError as error:
        raise MatrixError(f"{target!r}: module {module!r} has no object {name!r}") from error
