"""What the harness's own tests share: a tiny world on disk, and cells of it in this process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from benchmarks.matrix import load_matrix
from fixtures.cells import Cell
from fixtures.laboratory import Laboratory
from fixtures.progress import Terminal
from fixtures.zoo import Zoo
from tests.screenshots import open_browser
from tests.tiny import write_world

# Processes that a test starts are not workers of the run that tests are distributed over (`-n`).
for name in [name for name in os.environ if name.startswith("PYTEST_XDIST")]:
    del os.environ[name]

# How long an example takes says something about the machine and about the first import, nothing about the code.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the tiny world; its overlay is `tiny.yaml`."""
    folder = tmp_path_factory.mktemp("world")
    write_world(folder)
    return folder


@pytest.fixture(scope="session")
def make_laboratory(world: Path) -> Callable[..., Laboratory]:
    """`make_laboratory(zoo, seeds=(0,), embedding_init="matched")`: a laboratory of the tiny world."""

    def make(zoo: Path, seeds: tuple[int, ...] = (0,), embedding_init: str = "matched") -> Laboratory:
        matrix = load_matrix([world / "tiny.yaml"], "tiny")
        return Laboratory(matrix, Zoo(zoo), Terminal(), seeds, embedding_init, world / "data", "cpu")

    return make


@pytest.fixture(scope="session")
def tiny_laboratory(make_laboratory: Callable[..., Laboratory], tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    return make_laboratory(tmp_path_factory.mktemp("zoo"))


@pytest.fixture(scope="session", params=["bert", "lstm"])
def tiny_cell(request: pytest.FixtureRequest, tiny_laboratory: Laboratory) -> Cell:
    """A cell of the tiny world, `op`, for each kind of model."""
    return Cell(tiny_laboratory, request.param, "toy", "op")


@pytest.fixture(scope="session")
def run_pytest() -> Callable[..., subprocess.CompletedProcess[str]]:
    """`run_pytest(*arguments)`: a pytest process of its own in the repository."""

    def run(*arguments: object, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pytest", *map(str, arguments)],
            cwd=cwd,
            # The processes hold no property test, and importing hypothesis is a third of a short one's time.
            env=os.environ | {"PYTEST_ADDOPTS": "-p no:hypothesispytest"} | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    return run


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The development copies of the paper's data sets, where they are."""
    if not SHARED.is_dir():
        pytest.skip("the development data sets are not beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless browser, for as long as the tests of this process need one."""
    with open_browser() as driver:
        yield driver


LINKED = ("benchmarks", "fixtures", "shortcuts", "tests", "conftest.py", "pytest.ini", "Makefile", "requirements.txt")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that looks like this checkout, in which documented commands can write; trained models are shared."""
    for name in LINKED:
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (ROOT / ".zoo").mkdir(exist_ok=True)
    (tmp_path / ".zoo").symlink_to(ROOT / ".zoo")
    return tmp_path
