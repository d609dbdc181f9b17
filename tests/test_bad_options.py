"""Options, baselines, reports and folders that cannot be used: exit code 4 and one line before anything runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.schema import SCHEMA_VERSION
from tests.bad_inputs import assert_plain

ROOT = Path(__file__).parent.parent
BOUNDS = {"precision_at_k": {"accepted": 0.9, "tolerance": 0.1}}
CASE = "lstm-tomatoes-op-random"
BASELINE = {
    "schema_version": SCHEMA_VERSION,
    "profile": "embedded",
    "seeds": [0],
    "embedding_init": "matched",
    "commit": "0" * 40,
    "cases": {CASE: BOUNDS},
}
BASELINES = {
    "whole": BASELINE,
    "list": [1],
    "other schema": BASELINE | {"schema_version": 1},
    "no commit": {key: value for key, value in BASELINE.items() if key != "commit"},
    "commit of nothing": BASELINE | {"commit": None},
    "list of cases": BASELINE | {"cases": [CASE]},
    "no tolerance": BASELINE | {"cases": {CASE: {"precision_at_k": {"accepted": 0.9}}}},
    "words": BASELINE | {"cases": {CASE: {"precision_at_k": {"accepted": "high", "tolerance": 0.1}}}},
    "other number": BASELINE | {"cases": {CASE: {"precison_at_k": BOUNDS["precision_at_k"]}}},
    "other seeds": BASELINE | {"seeds": [1, 2]},
}
"""Files of the folder `{world}/gates`, beside `half.json`."""

OVERLAYS = {
    "module": "models: {mine: 'no_such_module:build'}",
    "loader": "datasets: {mine: {source: 'no_such_loader:load'}}",
    "package": "shortcuts: {mine: 'broken_package.rules:build'}",
    "value": "profiles: {embedded: {thresholds: {salience: [{value: precison, at_least: 0, why: x}]}}}",
    "clash": "datasets: {a-b: {}, a: {}}\nshortcuts: {b-op: 'shortcuts.op:build'}\n"
    "profiles: {embedded: {datasets: [a, a-b]}}",
    "promise": "promises: {no_such_method: {answer: mean}}",
}

ROWS = {
    "seeds: a gap": (["--seeds=1,,2"], ["--seeds 1,,2", "whole numbers with commas between, as in 1,2,3"]),
    "seeds: a letter": (["--seeds=a"], ["--seeds a", "whole numbers"]),
    "seeds: twice": (["--seeds=1,1"], ["--seeds 1,1", "named twice", "write different numbers"]),
    "seeds: below 0": (["--seeds=-1"], ["--seeds -1", "seeds count from 0"]),
    "seeds: nothing": (["--seeds="], ["--seeds", "whole numbers"]),
    "device: tpu": (["--device=tpu"], ["--device tpu", "expected auto, cpu, cuda"]),
    "device: number": (["--device=cuda:x"], ["--device cuda:x", "as in cuda:1"]),
    "device: not here": (["--device=cuda:99"], ["--device cuda:99: "]),
    "profile": (["--profile=papr"], ["no profile named 'papr'; there are: embedded", "Did you mean 'paper'?"]),
    "start": (["--embedding-init=mached"], ["no --embedding-init named 'mached'", "rare, frequent", "'matched'?"]),
    "zoo: a file": (["--zoo={world}/file"], ["--zoo {world}/file", "is not a folder", "another place"]),
    "zoo: below a file": (["--zoo={world}/file/zoo"], ["{world}/file is not a folder"]),
    "zoo: below a device": (["--zoo=/dev/null/zoo"], ["/dev/null is not a folder", "with --zoo"]),
    "data: a file": (["--data-dir={world}/file"], ["--data-dir {world}/file is not a folder", "data sets"]),
    "matrix: nowhere": (["--matrix={world}/no.yaml"], ["{world}/no.yaml: No such file", "expected a yaml file"]),
    "matrix: a folder": (["--matrix={world}"], ["{world}: Is a directory", "expected a yaml file"]),
    "matrix: module": (["--matrix={world}/module.yaml"], ["models.mine", "no module 'no_such_module'", "beside the"]),
    "matrix: loader": (["--matrix={world}/loader.yaml"], ["datasets.mine", "no module 'no_such_loader'"]),
    "matrix: package": (["--matrix={world}/package.yaml"], ["shortcuts.mine", "ZeroDivisionError", "line 2)"]),
    "matrix: value": (
        ["--matrix={world}/value.yaml"],
        ["value of a salience row named 'precison'", "'precision_at_k'?"],
    ),
    "matrix: ids": (["--matrix={world}/clash.yaml"], ["the same id; rename one of their words"]),
    "matrix: promise": (["--matrix={world}/promise.yaml"], ["promise 'no_such_method' speaks of no method"]),
    "gate: nowhere": (["--gate={world}/no.json"], ["--gate {world}/no.json: No such file", "`make baseline`"]),
    "gate: a folder": (["--gate={world}"], ["--gate {world}: Is a directory", "`make baseline`"]),
    "gate: half": (["--gate={world}/gates/half.json"], ["not a whole baseline", "`make baseline`"]),
    "gate: list": (["--gate={world}/gates/list.json"], ["not a baseline: expected a mapping", "`make baseline`"]),
    "gate: schema": (
        ["--gate={world}/gates/other schema.json"],
        [f"schema_version: it is 1, this suite reads {SCHEMA_VERSION}"],
    ),
    "gate: no commit": (["--gate={world}/gates/no commit.json"], ["`commit` is missing"]),
    "gate: commit": (["--gate={world}/gates/commit of nothing.json"], ["commit: expected a text"]),
    "gate: cases": (["--gate={world}/gates/list of cases.json"], ["cases: expected a mapping"]),
    "gate: tolerance": (
        ["--gate={world}/gates/no tolerance.json"],
        [f"cases.{CASE}.precision_at_k: `tolerance` is missing"],
    ),
    "gate: words": (["--gate={world}/gates/words.json"], ["precision_at_k.accepted: expected a number, got 'high'"]),
    "gate: number": (["--gate={world}/gates/other number.json"], ["'precison_at_k'", "Did you mean 'precision_at_k'?"]),
    "gate: seeds": (["--gate={world}/gates/other seeds.json"], ["its seeds is [1, 2], this run's is [0]", "run with"]),
    "report: no folder": (["--benchmark-json={world}/no/report.json"], ["there is no folder {world}/no", "make it"]),
    "report: a folder": (["--benchmark-json={world}"], ["--benchmark-json {world}: this is no file"]),
    "report: a device": (["--benchmark-json=/dev/full"], ["--benchmark-json /dev/full: this is no file"]),
}

SCRIPT = """
import contextlib, io, json, sys, pytest
done = []
for options in json.load(sys.stdin):
    printed, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        status = pytest.main(["benchmarks", "-q", "-k", "no_such_case", *options])
    done.append([int(status), printed.getvalue(), said.getvalue()])
print(json.dumps(done))
"""


def write_world(folder):
    """Files to point the options at."""
    (folder / "file").write_text("not a folder\n")
    (folder / "gates").mkdir()
    for name, content in BASELINES.items():
        (folder / "gates" / f"{name}.json").write_text(json.dumps(content))
    (folder / "gates" / "half.json").write_text(json.dumps(BASELINE)[:-40])
    for name, content in OVERLAYS.items():
        (folder / f"{name}.yaml").write_text(content)
    (folder / "broken_package").mkdir()
    (folder / "broken_package" / "__init__.py").write_text("# a package of the user's\n1 / 0\n")
    (folder / "broken_package" / "rules.py").write_text("")


@pytest.fixture(scope="module")
def refusals(tmp_path_factory):
    """Row -> exit code and both streams of pytest under its options; a real process, one for all rows."""
    world = tmp_path_factory.mktemp("options")
    write_world(world)
    rows = [[option.replace("{world}", str(world)) for option in options] for options, _ in ROWS.values()]
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(
        command, cwd=ROOT, input=json.dumps(rows), capture_output=True, text=True, check=True, timeout=300
    )
    return world, dict(zip(ROWS, json.loads(done.stdout.splitlines()[-1]), strict=True))


@pytest.mark.parametrize("name", ROWS)
def test_wrong_usage_is_exit_code_4_and_one_line(refusals, name):
    world, results = refusals
    status, printed, said = results[name]
    assert status == pytest.ExitCode.USAGE_ERROR, printed + said
    assert said.startswith("ERROR: ")
    assert_plain(said, [part.replace("{world}", str(world)) for part in ROWS[name][1]])
    assert "Traceback" not in printed


def test_the_same_line_and_code_come_out_of_a_process_of_its_own(run_pytest, tmp_path):
    (tmp_path / "mine.yaml").write_text("profiles:\n  embedded:\n    embeding_init: rare\n")
    done = run_pytest("benchmarks", "-k", "lstm and single", "--matrix", tmp_path / "mine.yaml")
    assert done.returncode == 4
    assert_plain(done.stderr, [f"{tmp_path / 'mine.yaml'}, line 3", "Did you mean 'embedding_init'?"])


def test_the_cache_is_the_repositorys_wherever_pytest_is_started(run_pytest, tmp_path):
    done = run_pytest(ROOT / "benchmarks", "--collect-only", "-k", "lstm and single and random", cwd=tmp_path)
    assert f"zoo: {ROOT / '.zoo'}\n" in done.stdout


def test_a_device_that_is_not_here_does_not_keep_from_collecting(run_pytest):
    done = run_pytest("benchmarks", "--collect-only", "-q", "-k", "lstm and single and random", "--device", "cuda:99")
    assert done.returncode == 0, done.stderr


def test_a_folder_without_permission_is_refused(monkeypatch, tmp_path):
    # root may write everywhere, so the answer of the system is made up.
    from fixtures import cases

    monkeypatch.setattr(cases.os, "access", lambda path, mode: Path(path) != tmp_path)
    config = pytest.Config.fromdictargs({"zoo": tmp_path / "zoo", "data_dir": None}, [])
    with pytest.raises(pytest.UsageError) as caught:
        cases._check_folders(config)
    assert_plain(str(caught.value), [f"--zoo {tmp_path / 'zoo'}", f"no permission to write in {tmp_path}", "another"])


REPORT = {"schema_version": SCHEMA_VERSION, "profile": "embedded", "seeds": [0], "embedding_init": "matched"}
REPORT |= {"gate_tolerance": 0.1, "matrix_hash": "0", "versions": {}, "cases": [], "benchmarks": []}
REPORTS = {
    "half": (json.dumps(REPORT)[:-30], ["report.json: not a whole report", "run it again"]),
    "schema": (json.dumps(REPORT | {"schema_version": 1}), ["schema version 1, this suite reads"]),
    "no cases": (json.dumps({key: REPORT[key] for key in REPORT if key != "cases"}), ["it has no cases"]),
    "number of rows": (json.dumps(REPORT | {"benchmarks": 5}), ["benchmarks: expected a list", "run it again"]),
    "outcome": (json.dumps(REPORT | {"cases": [{"id": "a"}]}), ["cases, row 1: `outcome` is missing"]),
    "nothing passed": (json.dumps(REPORT), ["no passed case to accept"]),
}


@pytest.mark.parametrize("name", REPORTS)
def test_a_broken_report_becomes_no_baseline(tmp_path, monkeypatch, capsys, name):
    from fixtures import gate

    content, parts = REPORTS[name]
    (tmp_path / "report.json").write_text(content)
    monkeypatch.setattr("sys.argv", ["gate", str(tmp_path / "report.json"), str(tmp_path / "baseline.json")])
    with pytest.raises(SystemExit) as caught:
        gate.main()
    assert caught.value.code == pytest.ExitCode.USAGE_ERROR
    assert_plain(capsys.readouterr().err, parts)
    assert not (tmp_path / "baseline.json").exists()


def test_a_report_that_cannot_be_written_is_one_line_and_half_of_it_is_removed(run_pytest, tmp_path):
    from tests.suites import CELL, write_suite

    # A limit on the size of files is what a full disk is to a process: a write that the system refuses.
    plugin = tmp_path / "small_files.py"
    plugin.write_text(
        "import resource, signal\n"
        "def pytest_collection_finish(session):\n"
        "    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))\n"
    )
    report = tmp_path / "report.json"
    options = (*CELL, "-k", "random", "-p", "small_files", "--benchmark-json", report)
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = run_pytest(*write_suite(tmp_path), *options, PYTHONPATH=path)
    assert done.returncode == 1
    assert not report.exists()
    lines = [line for line in done.stdout.splitlines() if line.startswith("--benchmark-json")]
    assert_plain(
        "\n".join(lines), [f"{report}: File too large; there is no report", "name another file, and run again"]
    )
    assert "Traceback" not in done.stdout + done.stderr
