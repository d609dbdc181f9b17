"""The matrix of cases, read from yaml: names, settings of a profile, thresholds.

Torch-free: it is read at collection. Does not run anything; names are looked up on first use.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.checking import Keys, MisfitError
from benchmarks.names import TABLES, check_intensities, check_names
from benchmarks.overlays import MatrixError, find_line, merge, read_yaml
from benchmarks.registry import look_up
from benchmarks.shape import AXES, SHAPE

FILES = ("salience.yaml", "checkpoints.yaml", "divergence.yaml", "rationales.yaml", "matrix.yaml")
PEERS = "peers.yaml"

OUTSIDE = {
    "family": "outside",
    "target": "none",
    "reducer": "fixtures.reducers:read_scores",
    "budget": 1,
    "forward": 0,
    "backward": 0,
}
"""The row of a method that is one function, `methods: {name: "module:function"}`; what it costs is not known."""


NOT_SCORED = [0, 0]
"""The `texts` of a budget that a profile leaves out."""


@dataclass(frozen=True)
class Case:
    """One cell of the matrix; without a salience configuration, the verification of its models."""

    model: str
    dataset: str
    shortcut: str
    salience: str = ""

    @property
    def id(self) -> str:
        """The words joined by hyphens.

        >>> Case("bert", "sst2", "op", "grad_l2.logit").id
        'bert-sst2-op-grad_l2.logit'
        """
        return "-".join(word for word in (self.model, self.dataset, self.shortcut, self.salience) if word)


@dataclass(frozen=True)
class Threshold:
    """A bound on one recorded number, with the reason for it."""

    value: str
    low: float
    high: float
    why: str


class Matrix:
    """The tables of the yaml file(s) under one profile."""

    def __init__(self, tables: Mapping[str, Any], profile: str) -> None:
        self.tables = tables
        self.profile_name = profile
        self.profile = look_up(profile, tables["profiles"], "profile")
        self._check_expectations()

    @property
    def hash(self) -> str:
        """sha256 over all tables but other profiles and checkpoints and the pace: equal hashes mean equal settings."""
        profile = {key: value for key, value in self.profile.items() if key != "pace"}
        checkpoints = self.tables["checkpoints"][self.profile["checkpoints"]]
        content = dict(self.tables) | {"profiles": {self.profile_name: profile}, "checkpoints": checkpoints}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def profile_of(self, dataset: str) -> dict[str, Any]:
        """The profile as it is for a data set."""
        return merge(self.profile, self.profile.get("by_dataset", {}).get(dataset, {}))

    def list_cases(self, extra_datasets: Iterable[str] = (), peers: Iterable[str] = ()) -> list[Case]:
        """Every case of the profile, ordered so that the cases of one trained model are neighbours.

        Args:
            extra_datasets: data sets beside the profile's.
            peers: other libraries' methods to list; none is otherwise, unless the profile names it.
        """
        cases = self._multiply(extra_datasets, peers)
        return [case for case in cases if self._affords(case) and not self.excludes(case)]

    def check_ids(self, extra_datasets: Iterable[str] = ()) -> None:
        """No two cases have the same id.

        Raises:
            MatrixError: naming both; words that hold hyphens can run into each other.
        """
        seen: dict[str, Case] = {}
        for case in self._multiply(extra_datasets, self.tables["peers"]):
            for own in (case, Case(case.model, case.dataset, case.shortcut)):
                other = seen.setdefault(own.id, own)
                if other != own:
                    raise MatrixError(
                        f"{own} and {other} have the same id; rename one of their words, without a hyphen"
                    )

    def excludes(self, case: Case) -> bool:
        """Whether the matrix says that a combination does not exist."""
        return any(matches(case, row) for row in self.tables["exclusions"])

    def _affords(self, case: Case) -> bool:
        row = self.tables["salience"].get(case.salience, {})
        texts = self.profile_of(case.dataset)["texts"].get(row.get("family"), {})
        return texts.get(row.get("budget")) != NOT_SCORED

    def _multiply(
        self, extra_datasets: Iterable[str], peers: Iterable[str], models: Iterable[str] | None = None
    ) -> list[Case]:
        words = {axis: list(self.profile.get(table, self.tables[table])) for axis, table in TABLES.items()}
        words["model"] = words["model"] if models is None else list(models)
        if "salience" not in self.profile:
            words["salience"] = [name for name in words["salience"] if name not in self.tables["peers"]]
        words["dataset"] += [name for name in extra_datasets if name not in words["dataset"]]
        words["salience"] += [name for name in peers if name not in words["salience"]]
        return [
            Case(model, dataset, shortcut, salience)
            for model in words["model"]
            for dataset in words["dataset"]
            for shortcut in words["shortcut"]
            for salience in words["salience"]
        ]

    def model_settings(self, model: str, dataset: str) -> dict[str, Any]:
        """Everything the profile's checkpoints say about a model on a data set."""
        name = self.profile["checkpoints"]
        known = self.tables["checkpoints"][name]
        if model not in known:
            raise MatrixError(
                f"the profile's checkpoints {name!r} have none for model {model!r}; there are: {', '.join(known)}. "
                f"Name one in an overlay: checkpoints: {{{name}: {{{model}: ...}}}}"
            )
        settings = dict(known[model])
        own = settings.pop("by_dataset", {}).get(dataset, {})
        return merge(settings, own)

    def thresholds(self, case: Case) -> list[Threshold]:
        """The bounds that the profile sets on a case; `why` is the reason written beside each."""
        kind = "salience" if case.salience else "verification"
        rows = self.profile.get("thresholds", {}).get(kind, [])
        return [
            Threshold(row["value"], row.get("at_least", float("-inf")), row.get("at_most", float("inf")), row["why"])
            for row in rows
            if matches(case, row)
        ]

    def _check_expectations(self) -> None:
        check_intensities(self.profile, self.tables)
        scored = self._multiply(self.tables["datasets"], self.tables["peers"])
        verified = [Case(case.model, case.dataset, case.shortcut) for case in scored]
        thresholds = self.profile.get("thresholds", {})
        for kind, cases in (("salience", scored), ("verification", verified)):
            for index, row in enumerate(thresholds.get(kind, [])):
                self._check_row(row, cases, ("profiles", self.profile_name, "thresholds", kind, index))
        # What does not exist is said of every model, also of those that the profile does not train.
        possible = self._multiply(self.tables["datasets"], self.tables["peers"], self.tables["models"])
        for index, row in enumerate(self.tables["exclusions"]):
            self._check_row(row, possible, ("exclusions", index))

    def _check_row(self, row: Mapping[str, Any], cases: Iterable[Case], keys: Keys) -> None:
        if not any(matches(case, row) for case in cases):
            words = {axis: row[axis] for axis in AXES if axis in row}
            raise MisfitError(keys, f"{words} matches no case of profile {self.profile_name!r}; mend or remove it")


def matches(case: Case, row: Mapping[str, Any]) -> bool:
    """Whether a row of the matrix speaks of a case: each axis it names holds the case's word, or one of a list.

    >>> matches(Case("bert", "sst2", "op"), {"model": "bert", "shortcut": ["single", "op"]})
    True
    """
    for axis in AXES:
        wanted = row.get(axis)
        if wanted is not None and getattr(case, axis) not in ([wanted] if isinstance(wanted, str) else wanted):
            return False
    return True


def load_matrix(overlays: Sequence[Path] = (), profile: str = "embedded") -> Matrix:
    """The matrix of this repository with the user's files laid over it.

    Raises:
        MatrixError: unreadable yaml, a duplicate key, an unknown name, an expectation that matches no case.
    """
    paths = [*(Path(__file__).with_name(name) for name in (PEERS, *FILES)), *overlays]
    files = [read_yaml(path) for path in paths]
    tables: dict[str, Any] = {"peers": files[0]["methods"], "exclusions": files[0]["exclusions"]}
    for content in files[1:]:
        tables = merge(tables, content)
    try:
        SHAPE(tables, ())
        own = {name: OUTSIDE | {"variant": target} for name, target in tables["methods"].items()}
        others = {name: _expand_peer(name, row) for name, row in tables["peers"].items()}
        _refuse_twice(tables["salience"], own)
        tables = merge(tables, {"salience": own | others})
        check_names(tables)
        return Matrix(tables, profile)
    except MisfitError as error:
        raise MatrixError(_add_place(error, paths, files)) from error


def _refuse_twice(salience: Mapping[str, Any], methods: Mapping[str, Any]) -> None:
    for name in methods:
        if name in salience:
            raise MisfitError(("methods", name), f"{name!r} is a salience configuration, too; take another name")


def _add_place(error: MisfitError, paths: Sequence[Path], files: Sequence[Mapping[str, Any]]) -> str:
    """The message with the file and line that say the value last."""
    best: tuple[int, str, Keys] = (-1, "", error.keys)
    for order in reversed(range(len(paths))):
        own = error.keys
        if own[0] == "exclusions" and len(own) > 1:
            # Exclusions of all files are one list.
            before = sum(len(content.get("exclusions", ())) for content in files[:order])
            own = ("exclusions", int(own[1]) - before, *own[2:])
        depth, line = find_line(paths[order], own)
        if depth > best[0]:
            best = (depth, f"{paths[order]}, line {line}", own)
        if depth == len(own):
            break
    return f"{best[1]}: {MisfitError(best[2], error.message)}"


def _expand_peer(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    if not name.startswith("peer_") or not {"target", "library"} <= set(row):
        raise MatrixError(f"peer {name!r}: its name starts with `peer_`, and it needs `target` and `library`")
    passes = {key: value for key, value in row.items() if key not in ("target", "library")}
    return OUTSIDE | passes | {"variant": row["target"]}
