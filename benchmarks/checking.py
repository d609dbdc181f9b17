"""What a value of the matrix may be: small checks that are put together into the shape of a table. Torch-free.

A check is a function `(value, keys) -> None`; `keys` is where the value stands, for the message.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from benchmarks.overlays import MatrixError
from benchmarks.registry import suggest

Keys = tuple[str | int, ...]
Check = Callable[[Any, Keys], None]


class MisfitError(MatrixError):
    """A value of the matrix that does not fit.

    Attributes:
        keys: where it stands, from the table inwards; the index of a row counts from 0.
        message: what is wrong with it and what is expected.
    """

    def __init__(self, keys: Keys, message: str) -> None:
        self.keys, self.message = keys, message
        where = "".join(f", row {key + 1}" if isinstance(key, int) else f".{key}" for key in keys)
        super().__init__(f"{where.removeprefix('.')}: {message}")


def _refuse(value: Any, keys: Keys, expected: str) -> MisfitError:
    hint = ""
    if isinstance(value, str) and _is_number(value):
        hint = " (a text: write it without quotes, and with a point before an exponent, as in 1.0e-4)"
    return MisfitError(keys, f"expected {expected}, got {value!r:.80}{hint}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def anything(value: Any, keys: Keys) -> None:
    """Any value; somebody else checks it."""


def text(value: Any, keys: Keys) -> None:
    """Words, not empty."""
    if not isinstance(value, str) or not value.strip():
        raise _refuse(value, keys, "a text; put it in quotes if it is a number or a word of yaml such as `no`")


def target(value: Any, keys: Keys) -> None:
    """A `"module:object"` string."""
    module, colon, name = value.partition(":") if isinstance(value, str) else ("", "", "")
    parts = [*module.split("."), *name.split(".")]
    if not colon or not all(part.isidentifier() for part in parts):
        raise _refuse(value, keys, "a text of the form 'module:object', as in 'mine:score'")


def flag(value: Any, keys: Keys) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise _refuse(value, keys, "true or false")


def number(low: float = -math.inf, high: float = math.inf, *, whole: bool = False) -> Check:
    """A number in [low, high]; a whole one where the matrix counts."""

    def check(value: Any, keys: Keys) -> None:
        kind = int if whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kind) or abs(value) == math.inf or not low <= value <= high:
            bounds = f" from {low:g}" * (low > -math.inf) + f" to {high:g}" * (high < math.inf)
            raise _refuse(value, keys, f"a {'whole ' * whole}number{bounds}")

    return check


def one_of(*words: Any) -> Check:
    """One of a few words."""

    def check(value: Any, keys: Keys) -> None:
        if value not in words:
            hint = suggest(value, [word for word in words if isinstance(word, str)])
            raise MisfitError(keys, f"expected one of {', '.join(map(str, words))}, got {value!r:.80}.{hint}")

    return check


def optional(inner: Check) -> Check:
    """What fits the inner check, or null."""

    def check(value: Any, keys: Keys) -> None:
        if value is not None:
            inner(value, keys)

    return check


def either(first: Check, second: Check) -> Check:
    """What fits one of two checks; the message is the first one's."""

    def check(value: Any, keys: Keys) -> None:
        try:
            first(value, keys)
        except MisfitError as error:
            try:
                second(value, keys)
            except MisfitError:
                raise error from None

    return check


def rows(inner: Check) -> Check:
    """A list whose items fit the inner check."""

    def check(value: Any, keys: Keys) -> None:
        if not isinstance(value, list):
            raise _refuse(value, keys, "a list, as in [a, b]")
        for index, item in enumerate(value):
            inner(item, (*keys, index))

    return check


def words(value: Any, keys: Keys) -> None:
    """A list of different texts, at least one."""
    rows(text)(value, keys)
    twice = [word for index, word in enumerate(value) if word in value[:index]]
    if twice or not value:
        raise _refuse(value, keys, "different words, at least one")


def each(inner: Check, key: Check = text) -> Check:
    """A mapping from names to what fits the inner check."""

    def check(value: Any, keys: Keys) -> None:
        _check_mapping(value, keys)
        for name, item in value.items():
            try:
                key(name, keys)
            except MisfitError as error:
                raise MisfitError(keys, f"its key {name!r} does not do: {error.message}") from None
            inner(item, (*keys, str(name)))

    return check


def table(fields: Mapping[str, Check], required: Iterable[str] = (), others: Check | None = None) -> Check:
    """A mapping with named fields.

    Args:
        fields: the check of each.
        required: which of them must be there.
        others: the check of any other field; without it there must be none.
    """

    def check(value: Any, keys: Keys) -> None:
        _check_mapping(value, keys)
        for name, item in value.items():
            inner = fields.get(name, others)
            if inner is None:
                there = f"there are: {', '.join(fields)}.{suggest(name, fields)}"
                raise MisfitError((*keys, name), f"there is no such key here; {there}")
            inner(item, (*keys, name))
        missing = [name for name in required if name not in value]
        if missing:
            raise MisfitError(keys, f"`{missing[0]}` is missing; it needs {', '.join(required)}")

    return check


def _check_mapping(value: Any, keys: Keys) -> None:
    if not isinstance(value, Mapping):
        raise _refuse(value, keys, "a mapping, as in {key: value}")
