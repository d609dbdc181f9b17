"""The road of a divergence case in processes of its own: from training to the gate; from the cache; after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import yaml

from benchmarks.overlays import merge
from fixtures.divergence_fields import DIVERGENCE_FIELDS
from tests.conftest import ROOT

TINY = {
    "populations": {
        "smoke": {
            "amount": 300,
            "population": 6,
            "runs": 2,
            "explained": 2,
            "recipe": {"steps": 12, "checkpoints": 2},
            "verification": {"accuracy": 0.0, "flips": 0.0, "moves": 1.0},
            "intensity": {"dsprites": {"noise": 0.2}},
        }
    },
    "profiles": {"smoke": {"artifacts": ["stripe", "noise"]}},
    "explainers": {"concept": {"labelled": 60}, "probe": {"labelled": 60}},
    "detectors": {"heatmap": {"epochs": 2}, "influence": {"epochs": 2}, "concept": {"epochs": 2}},
}


@pytest.fixture(scope="module")
def overlay(tmp_path_factory):
    path = tmp_path_factory.mktemp("overlay") / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY), encoding="utf-8")
    return path


def options(overlay, folder):
    selected = ("benchmarks", "-m", "case(images='dsprites', artifact='stripe')", "--profile", "smoke")
    return [*selected, "--matrix", str(overlay), "--zoo", str(folder / "zoo"), "--device", "cpu"]


def read_rows(report):
    content = json.loads(report.read_text(encoding="utf-8"))
    return {row["extra_info"]["explainer"]: row["extra_info"] for row in content["benchmarks"]}


@pytest.fixture(scope="module")
def road(overlay, run_pytest, tmp_path_factory):
    """A first run, and a second one from the cache, behind the gate of the first."""
    folder = tmp_path_factory.mktemp("road")
    first = run_pytest(*options(overlay, folder), "--benchmark-json", folder / "first.json")
    assert first.returncode == 0, first.stdout + first.stderr
    subprocess.run(
        [sys.executable, "-m", "fixtures.gate", folder / "first.json", folder / "base.json"], cwd=ROOT, check=True
    )
    second = run_pytest(
        *options(overlay, folder), "--benchmark-json", folder / "second.json", "--gate", folder / "base.json"
    )
    assert second.returncode == 0, second.stdout + second.stderr
    return folder, first, second


def test_every_explainer_has_a_whole_row(road):
    rows = read_rows(road[0] / "first.json")
    assert set(rows) == {"heatmap", "influence", "concept", "probe"}
    for row in rows.values():
        assert row.keys() == DIVERGENCE_FIELDS.keys()
        assert row["spurious_models"] == row["clean_models"] == 6
        # Two splits, two models of six in each validation population, two images of each of four subclasses.
        assert row["n_explanations"] == 2 * (2 + 2) * 8
        assert row["eds_low"] <= row["eds"] <= row["eds_high"]
        assert row["eds_deviation"] is None


def test_the_table_of_a_run_shows_the_scores(road):
    assert "can explanations give a spurious model away" in road[1].stdout
    assert "dsprites-stripe-influence" in road[1].stdout


def test_a_second_run_makes_nothing_and_gives_the_same_numbers(road):
    folder, _, second = road
    assert read_rows(folder / "first.json") == read_rows(folder / "second.json")
    assert "training" not in second.stderr
    assert "4 cases compared with the baseline, 0 vanished" in second.stdout


def test_clean_models_serve_every_artifact(road, overlay, run_pytest):
    folder = road[0]
    before = {path.name for path in (folder / "zoo" / "members").iterdir() if path.is_dir()}
    words = [*options(overlay, folder), "--benchmark-json", folder / "noise.json"]
    words[2] = "case(images='dsprites', artifact='noise', explainer='concept')"
    done = run_pytest(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    new = {path.name for path in (folder / "zoo" / "members").iterdir() if path.is_dir()} - before
    assert len(new) == 6
    assert all(name.startswith("dsprites-noise-spurious-") for name in new)


def test_seeds_are_populations_of_their_own_and_reports_of_them_merge(road, overlay, run_pytest):
    folder = road[0]
    words = [*options(overlay, folder), "-k", "concept"]
    both = run_pytest(*words, "--seeds", "0,1", "--benchmark-json", folder / "both.json")
    assert both.returncode == 0, both.stdout + both.stderr
    for seed in "01":
        run_pytest(*words, "--seeds", seed, "--benchmark-json", folder / f"seed{seed}.json")
    reports = [folder / "seed0.json", folder / "seed1.json"]
    subprocess.run([sys.executable, "-m", "fixtures.merging", folder / "merged.json", *reports], cwd=ROOT, check=True)
    row, merged = (read_rows(folder / name)["concept"] for name in ("both.json", "merged.json"))
    assert merged == row
    assert row["seeds"] == [0, 1]
    assert row["eds_deviation"] is not None


def test_a_killed_run_goes_on_where_it_stood(overlay, run_pytest, tmp_path):
    command = [sys.executable, "-m", "pytest", *options(overlay, tmp_path), "-k", "concept"]
    parent = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    members = tmp_path / "zoo" / "members"

    def finished():
        return [path for path in members.glob("dsprites-*") if (path / "record.json").is_file()]

    end = time.monotonic() + 120
    while not finished():
        assert time.monotonic() < end
        assert parent.poll() is None
        time.sleep(0.05)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    kept = {path: path.stat().st_mtime_ns for path in finished() if ".partial" not in path.name}
    done = run_pytest(*options(overlay, tmp_path), "-k", "concept")
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(path.stat().st_mtime_ns == moment for path, moment in kept.items())


def test_a_model_that_is_not_what_it_claims_fails_the_case_with_one_line(overlay, run_pytest, tmp_path):
    strict = tmp_path / "strict.yaml"
    change = {"populations": {"smoke": {"verification": {"flips": 1.0, "accuracy": 1.0}, "population": 6}}}
    strict.write_text(yaml.safe_dump(change), encoding="utf-8")
    done = run_pytest(*options(overlay, tmp_path), "--matrix", strict, "-k", "concept")
    assert done.returncode == 1
    assert "dsprites-stripe: 18 of 18 spurious models are not spurious" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"populations": {"smoke": {"explained": 500}}}, "of the spurious class, 500 are to be explained; lower"),
        ({"detectors": {"influence": {"patch": 7}}}, "detectors.influence.patch: 7 does not divide images of 64 x 64"),
        ({"detectors": {"heatmap": {"grid": 100}}}, "detectors.heatmap.grid: 100 cells a side, but patches of"),
    ],
)
def test_what_will_not_fit_later_is_said_before_anything_is_trained(overlay, run_pytest, tmp_path, changes, said):
    path = tmp_path / "more.yaml"
    path.write_text(yaml.safe_dump(merge(TINY, changes)), encoding="utf-8")
    done = run_pytest(*options(path, tmp_path), "-k", "heatmap")
    assert done.returncode == 1
    [line] = [line for line in done.stdout.splitlines() if line.startswith("dsprites-stripe: ")]
    assert said in line
    assert not list((tmp_path / "zoo").rglob("weights.safetensors"))
