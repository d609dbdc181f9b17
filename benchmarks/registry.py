"""Names to objects: `"module:object"` strings resolved on first use, and an unknown name that lists the known ones.

Torch-free.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.overlays import MatrixError

OURS = ("shortcuts", "benchmarks", "fixtures")
"""An error whose class is from here is already said for people."""

TARGETS = ("models", "shortcuts", "methods", "families")
"""Tables of `"module:object"` strings."""


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
    raise MatrixError(f"no {what} named {name!r}; there are: {', '.join(table) or 'none'}.{suggest(name, table)}")


def suggest(name: object, known: Iterable[str]) -> str:
    """The nearest of the known names as a question; "" where none is near.

    >>> suggest("lerning_rate", ["lr", "learning_rate"])
    " Did you mean 'learning_rate'?"
    """
    near = difflib.get_close_matches(str(name), list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def fingerprint_target(target: str) -> str:
    """A `"module:object"` string for a cache key: with the hash of its file where the module is not one of ours.

    An adapter of another library has the hash of all adapters and the library's version.

    >>> fingerprint_target("shortcuts.op:build")
    'shortcuts.op:build'
    """
    found = resolve(target)
    # What is no function knows no module of its own; that it cannot be called is said when it is.
    module = inspect.getmodule(found) or sys.modules[target.partition(":")[0]]
    path, ours = Path(getattr(module, "__file__", None) or ""), Path(__file__).parent.parent / "fixtures"
    if path.is_relative_to(ours / "peers"):
        code = b"".join(file.read_bytes() for file in sorted(path.parent.glob("*.py")))
        return f"{target} {hashlib.sha256(code).hexdigest()} {importlib.metadata.version(module.LIBRARY)}"
    if path.is_relative_to(ours) or target.startswith("shortcuts."):
        return target
    if not path.is_file():
        raise MatrixError(f"{target!r}: {module.__name__!r} has no file to hash for the cache; wrap it in yours")
    return f"{target} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def resolve(target: str) -> Any:
    """The object behind a `"module:object"` string, imported on first use.

    Raises:
        MatrixError: no such module or object, no colon, or a module that cannot be imported.

    >>> resolve("shortcuts.op:build").__name__
    'build'
    """
    name, colon, attribute = target.partition(":")
    if not colon:
        raise MatrixError(f"{target!r} is not of the form 'module:object'")
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise MatrixError(f"{target!r}: {_say_absent(error.name)}") from error
        raise MatrixError(f"{target!r}: module {name!r} cannot be imported: {_describe_raise(error)}") from error
    if not hasattr(module, attribute):
        known = [word for word in vars(module) if not word.startswith("_")]
        raise MatrixError(
            f"{target!r}: module {name!r} has no object {attribute!r}; define it there.{suggest(attribute, known)}"
        )
    return getattr(module, attribute)


def _say_absent(module: str) -> str:
    return f"there is no module {module!r} on the path; put {module.partition('.')[0]}.py beside the overlay"


def _describe_raise(error: BaseException) -> str:
    """What was raised and where, in one line: the last place that is not a library's."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "site-packages" not in frame.filename and "<frozen" not in frame.filename]
    place = (own or frames)[-1]
    where = (place.filename, place.lineno)
    if isinstance(error, SyntaxError) and error.filename:
        where = (error.filename, error.lineno)
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message:.200} ({where[0]}, line {where[1]})"


def check_targets(tables: Mapping[str, Any]) -> None:
    """The module of every `"module:object"` string of the matrix is there; nothing is imported but packages around it.

    Raises:
        MatrixError: naming the entry and the module.
    """
    targets = {f"{table}.{name}": target for table in TARGETS for name, target in tables[table].items()}
    targets |= {f"datasets.{name}": row["source"] for name, row in tables["datasets"].items() if "source" in row}
    targets |= {f"salience.{name}": row["reducer"] for name, row in tables["salience"].items()}
    for entry, target in targets.items():
        module = target.partition(":")[0]
        try:
            found = importlib.util.find_spec(module) is not None
        except ModuleNotFoundError:
            found = False
        except (Exception, SystemExit) as error:
            raise MatrixError(f"{entry}: {target!r} cannot be imported: {_describe_raise(error)}") from error
        if not found:
            raise MatrixError(f"{entry}: {target!r}: {_say_absent(module)}")


def call(target: str, *arguments: Any) -> Any:
    """What the function behind a `"module:object"` string returns.

    Raises:
        MatrixError: it cannot be called so, or it is not one of ours and raised; with file and line.
    """
    function = resolve(target)
    try:
        with contextlib.suppress(ValueError):  # built-in functions may have no signature
            inspect.signature(function).bind(*arguments)
    except TypeError as error:
        raise MatrixError(f"{target!r} is called with {len(arguments)} values: {error}; let it take them") from error
    return guard(target, function)(*arguments)


def guard(target: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that came out of a `"module:object"` string; whatever it raises is told with file and line.

    Only what is not ours: what our own code raises is either said for people already, or a fault of it.
    """
    if target.partition(".")[0] in OURS:
        return function

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except (Exception, SystemExit) as error:
            if type(error).__module__.partition(".")[0] in OURS:
                raise
            raise MatrixError(f"{target!r} raised {_describe_raise(error)}; mend it there") from error

    return run


def expect_result(target: str, result: object, kind: type) -> None:
    """A function of the matrix gave what its table asks for.

    Raises:
        MatrixError: it gave something else.
    """
    if not isinstance(result, kind):
        raise MatrixError(f"{target!r} returned {type(result).__name__}; return a {kind.__module__}.{kind.__name__}")
