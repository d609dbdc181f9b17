"""Reports whose rows do not say what their runs say: refused in one line, whoever reads them."""

from __future__ import annotations

import copy
import json
import subprocess
import sys

import pytest

from fixtures.reports import ReportError, read_report
from tests.conftest import ROOT
from tests.divergence_reports import make_image_report, make_text_report
from tests.rationale_reports import METHODS, make_rationale_report
from tests.reports import make_report

IMAGES = make_image_report(["dsprites"], ["stripe"], seeds=[0, 1])
TEXTS = make_text_report(contrasts=["source"], seeds=[0, 1])
RATIONALES = make_rationale_report(methods={"gxi.logit": METHODS["gxi.logit"]}, seeds=[0, 1])
JUDGED = make_rationale_report(methods={"gxi.logit": METHODS["gxi.logit"]}, seeds=[0, 1])
JUDGED["benchmarks"] = [one for one in JUDGED["benchmarks"] if one["extra_info"]["measure"] == "plausibility"]
SALIENCE = make_report(only=["random", "gxi.logit"], seeds=[0, 1])


def in_row(**changes):
    def damage(report):
        for benchmark in report["benchmarks"]:
            benchmark["extra_info"] |= changes

    return damage


def in_run(**changes):
    def damage(report):
        for benchmark in report["benchmarks"]:
            benchmark["extra_info"]["runs"][1] |= changes

    return damage


def raise_weights(report):
    for run in report["benchmarks"][0]["extra_info"]["runs"]:
        run["weights"] = "7" + run["weights"][run["weights"].index(" ") :]


def blow_up_areas(report):
    for run in report["benchmarks"][0]["extra_info"]["runs"]:
        run["auprcs"] = "inf" + run["auprcs"][run["auprcs"].index(" ") :]


def twice(report):
    report["benchmarks"].append(report["benchmarks"][0])


def without_cases(report):
    report["cases"] = report["cases"][:1]


def show_nobody(report):
    report["exhibits"]["shapes3d-noise-concept"] = {"seed": 0, "examples": []}


def show_a_text_as_picture(report):
    shown = next(iter(report["exhibits"].values()))["examples"][0]
    shown["picture"] = "data:image/png;base64,aGVsbG8="


def cut_a_picture(report):
    shown = next(iter(report["exhibits"].values()))["examples"][0]
    shown["picture"] = shown["picture"][: len(shown["picture"]) // 8 * 4]


WHOLE = [["8/8,8/8,8/8,8/8"] * 10] * 3
TALLY = ";".join(" ".join(split) for split in WHOLE)
WRONG = {
    "a score above one": (IMAGES, in_row(eds=2.5), "eds = 2.5 is not in [0, 1]"),
    "more than half a million bits": (IMAGES, in_row(bits=5e5), "bits = 500000.0 is not in [-inf, 1]"),
    "an interval upside down": (IMAGES, in_row(eds_low=0.9, eds_high=0.1), "eds_low = 0.9 is above eds_high = 0.1"),
    "another score": (IMAGES, in_row(eds=0.123), "eds = 0.123, but its runs give "),
    "another accuracy": (IMAGES, in_run(clean_accuracy=0.75), "clean_accuracy = 0.5, but its runs give 0.625"),
    "another sum": (IMAGES, in_run(rejected_clean=9), "rejected_clean = 6, but its runs give 12"),
    "no kind of explanation": (IMAGES, in_row(kind="foo"), "kind = foo, wanted one of heatmap, influence, concept"),
    "no splits": (IMAGES, in_row(splits=0), "splits = 0 is not in [1, inf]"),
    "no runs": (IMAGES, in_row(runs=[]), "seeds = [0, 1], but its runs are of []"),
    "runs that are none": (IMAGES, in_row(runs=[3]), "3 is no entry of runs"),
    "seeds that are none": (IMAGES, in_row(seeds=["a"]), "seeds = ['a'], but its runs are of [0, 1]"),
    "other seeds": (SALIENCE, in_row(seeds=[0]), "seeds = [0], but its runs are of [0, 1]"),
    "a seed twice": (TEXTS, in_run(seed=0), "seeds = [0, 1], but its runs are of [0, 0]"),
    "a tally that is none": (IMAGES, in_run(tally="abc"), "tally of seed 1 is not right/judged of 4 subclasses"),
    "an empty tally": (TEXTS, in_run(permuted_tally=""), "permuted_tally of seed 1 is not right/judged"),
    "more right than judged": (IMAGES, in_run(tally=TALLY.replace("8/8", "9/8")), "tally of seed 1 is not right/"),
    "nothing judged": (IMAGES, in_run(tally=TALLY.replace("8/8", "0/0")), "tally of seed 1 is not right/judged"),
    "fewer judged": (IMAGES, in_run(tally=TALLY.replace("8/8", "4/4")), "n_explanations = 960, but tally holds 480"),
    "bits that are none": (IMAGES, in_run(model_bits="x y"), "could not convert string to float: 'x'"),
    "bits of other models": (IMAGES, in_run(model_bits="0.1"), "model_bits of seed 1 are not one number a model"),
    "bits without end": (TEXTS, in_run(model_bits=";".join(["nan " * 10] * 3)), "model_bits of seed 1 are not"),
    "P@k above one": (TEXTS, in_run(precisions=";".join(["2"] * 10)), "precisions of seed 1 are not in [0, 1]"),
    "P@k of other models": (TEXTS, in_run(precisions="1;1"), "precisions of seed 1 are not numbers of 10 models"),
    "another P@k": (SALIENCE, in_row(precision_at_k=0.3), "precision_at_k = 0.3, but its runs give"),
    "P@k of fewer texts": (SALIENCE, in_run(precisions="1 1"), "n_examples = 48, but its runs hold [48, 2]"),
    "P@k of no texts": (SALIENCE, in_run(precisions=""), "n_examples = 48, but its runs hold [48, 0]"),
    "controls of fewer texts": (
        SALIENCE,
        in_run(placebo_precisions="1"),
        "placebo_precisions of seed 1 are not so many",
    ),
    "an accuracy above one": (RATIONALES, in_row(random_accuracy=1.5), "random_accuracy = 1.5 is not in [0, 1]"),
    "another accuracy of sentences": (RATIONALES, in_row(full_accuracy=0.5), "full_accuracy = 0.5, but its runs give"),
    "another gated accuracy": (
        RATIONALES,
        in_row(explanation_accuracy=0.01),
        "explanation_accuracy = 0.01, but its ru",
    ),
    "another number of words": (RATIONALES, in_row(share=0.01), "share = 0.01, but its runs give"),
    "another count": (RATIONALES, in_row(unfed=3), "unfed = 3, but its runs give 0"),
    "an interval beside its mean": (
        RATIONALES,
        in_row(random_accuracy_low=0.99, random_accuracy_high=1.0),
        "is not between random_accuracy_low = 0.99 and random_accuracy_high = 1.0",
    ),
    "other sentences": (RATIONALES, in_row(sentences="3/1/1/1/1"), "sizes of seed 0 has not as many values"),
    "a sentence without end": (RATIONALES, in_row(sentences="1000000000000/1/1/1/1"), "sentences are not words/union"),
    "a marked word outside": (RATIONALES, in_row(sentences="3/9/9/1/1"), "sentences are not words/union/intersection"),
    "words that all but nobody marked": (RATIONALES, in_row(sentences="3/1/1,2/1/1"), "sentences are not words/union"),
    "hits that are none": (RATIONALES, in_run(full_hits="x" * 40), "full_hits of seed 1 are not 1, 0 or - each"),
    "more words than there are": (RATIONALES, in_run(sizes="999 " * 40), "sizes of seed 1"),
    "epsilons that are none": (RATIONALES, in_row(epsilons=["a", {}, 0.3]), "epsilons = ['a', {}, 0.3] are not asc"),
    "a grid without entries": (RATIONALES, in_row(grid=[]), "grid has not the "),
    "weights of nobody": (JUDGED, in_run(weights="7"), "weights of seed 1 has not as many values"),
    "weights above one": (JUDGED, raise_weights, "weights of seed 0 are not in [0, 1] with 1 for each"),
    "areas without end": (JUDGED, blow_up_areas, "auprcs of seed 0: inf for a sentence"),
    "an entry of a grid that is none": (RATIONALES, in_row(grid=[3]), "3 is no entry of grid"),
    "an unknown measure": (RATIONALES, in_row(measure="trust"), "measure = 'trust', wanted plausibility or faith"),
    "a row twice": (IMAGES, twice, "dsprites-stripe-heatmap: the row stands there twice"),
    "rows of no case": (IMAGES, without_cases, "dsprites-stripe-influence: a row of no case in `cases`"),
    "an exhibit of nothing": (IMAGES, show_nobody, "exhibit of shapes3d-noise-concept, of which no case was run"),
    "a picture that is none": (IMAGES, show_a_text_as_picture, "exhibit of dsprites-stripe-heatmap: its examples are"),
    "half a picture": (IMAGES, cut_a_picture, "exhibit of dsprites-stripe-heatmap: its examples are not pictures"),
}


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    def write(name):
        report, damage, message = WRONG[name]
        report = copy.deepcopy(report)
        if report is not SALIENCE and damage.__qualname__.startswith(("in_row", "in_run")):
            # One row of the kind in question.
            report["benchmarks"] = report["benchmarks"][-1:]
        damage(report)
        path = tmp_path_factory.mktemp("damaged") / "a.json"
        path.write_text(json.dumps(report), encoding="utf-8")
        return path, message

    return write


@pytest.mark.parametrize("name", WRONG)
def test_a_row_that_does_not_say_what_its_runs_say_is_refused(write, name):
    path, message = write(name)
    with pytest.raises(ReportError) as caught:
        read_report(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
    assert "run it again" in str(caught.value)


@pytest.mark.parametrize("report", [IMAGES, TEXTS, SALIENCE, RATIONALES])
def test_what_was_aggregated_is_read(report, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(report), encoding="utf-8")
    assert len(read_report(path)["benchmarks"]) == len(report["benchmarks"])


@pytest.mark.parametrize(
    "command",
    [("table",), ("report", "--html", "page.html"), ("merging", "merged.json", "a.json"), ("gate", "base.json")],
)
def test_every_command_says_it_in_one_line(write, command, tmp_path):
    path, _ = write("runs that are none")
    module, *others = command
    done = subprocess.run(
        [sys.executable, "-m", f"fixtures.{module}", *(["merged.json"] if module == "merging" else []), path, *others],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    [line] = done.stderr.splitlines()
    assert "3 is no entry of runs" in line
