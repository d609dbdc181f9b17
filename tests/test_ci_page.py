"""docs/ci.md: the job is valid yaml with steps GitHub knows, and its commands are run in their order."""

from __future__ import annotations

import json
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

from fixtures.cases import echo_options

PAGE = (Path(__file__).parent.parent / "docs" / "ci.md").read_text(encoding="utf-8")


def read_steps() -> list[dict[str, object]]:
    [job] = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
    workflow = yaml.safe_load(job)
    [gate] = workflow["jobs"].values()
    return gate["steps"]


def test_the_command_that_runs_a_case_again_is_the_one_that_is_printed():
    given = {"profile": "smoke", "seeds": "0", "device": "auto", "matrix": []}
    config = pytest.Config.fromdictargs(given | dict.fromkeys(("data_dir", "zoo", "embedding_init")), [])
    [printed] = re.findall(r'^rerun: pytest "[^"]+" (.*)$', PAGE, flags=re.MULTILINE)
    assert printed == " ".join(echo_options(config))


def test_every_step_uses_an_action_at_a_version_or_runs_a_command():
    for step in read_steps():
        assert ("uses" in step) != ("run" in step), step
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"])
    kept = next(step for step in read_steps() if "upload" in step.get("uses", ""))
    assert kept["with"]["path"].split() == ["report.html", "report.md", "smoke.json", "junit.xml"]


def test_its_commands_run_gate_report_and_comment(checkout, tmp_path_factory):
    programs = tmp_path_factory.mktemp("programs")
    # GitHub's own client, which needs a pull request, is stood in for by one that notes what it is asked.
    (programs / "gh").write_text('#!/bin/sh\necho "$@" > gh.txt\n', encoding="utf-8")
    (programs / "gh").chmod(0o755)
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"}
    for step in read_steps():
        if "run" in step:
            command = str(step["run"]).replace("${{ github.event.pull_request.number }}", "7")
            done = subprocess.run(
                command,
                shell=True,
                cwd=checkout,
                env=environment,
                capture_output=True,
                text=True,
                timeout=900,
                check=False,
            )
            assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    assert (
        (checkout / "gh.txt").read_text().startswith("pr comment 7 --edit-last --create-if-none --body-file report.md")
    )
    rows = json.loads((checkout / "smoke.json").read_text(encoding="utf-8"))["benchmarks"]
    assert len(rows) == 84
    assert "<html" in (checkout / "report.html").read_text(encoding="utf-8")
    suite = ElementTree.parse(checkout / "junit.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("84", "0", "0")
