"""Where nothing is selected, or nothing of one's own data: a line that says what may have been meant."""

from __future__ import annotations

import pytest

from fixtures.hints import explain_words


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hints") / "data"
    for name in ("reviews", "wiki_toxicity"):
        (folder / name).mkdir(parents=True)
        (folder / name / "train.csv").write_text("text,label\n")
    (folder / "notes").mkdir()
    (folder / "pictures").mkdir()
    (folder / "pictures" / "dsprites_ndarray_x.npz").write_bytes(b"none")
    return folder


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (
            ["-k", "lstm-single"],
            5,
            "-k: no case has 'lstm-single' in one piece; its words stand apart: -k 'lstm and single'",
        ),
        (
            ["-m", "case(modle='bert')"],
            5,
            "artifact, explainer, rationales, contrast, measure, check. Did you mean 'model'?",
        ),
        (["-m", "case(artifact='stripes')"], 5, "-m: no artifact is named 'stripes'. Did you mean 'stripe'?"),
        (["-k", "stripes"], 5, "-k: no case has the word 'stripes'; near is stripe"),
        (["-m", "case(model='brt')"], 5, "-m: no model is named 'brt'. Did you mean 'bert'?"),
        (["-k", "lstm and ig_mask"], 5, "-k 'lstm and ig_mask': each word has cases, but no case has them together"),
        (["-k", "reviws", "--data-dir", "{data}"], 5, "-k: no case has the word 'reviws'; near is reviews"),
        (
            ["-k", "lstm", "--data-dir", "{data}"],
            0,
            "none of its data sets is selected; name one in -k: reviews, toxicity",
        ),
        (
            ["-k", "lstm", "--data-dir", "{data}/reviews"],
            0,
            "/reviews is itself a data set; name the folder above and the set: --data-dir {data} -k reviews",
        ),
        (["-k", "lstm", "--data-dir", "{data}/notes"], 0, "--data-dir {data}/notes holds no data set: a folder with a"),
    ],
)
def test_a_line_says_what_may_have_been_meant(run_pytest, data, options, code, said):
    options = [option.replace("{data}", str(data)) for option in options]
    done = run_pytest(
        "benchmarks/test_verification.py", "benchmarks/test_salience.py", "--collect-only", "-q", *options
    )
    assert done.returncode == code, done.stdout + done.stderr
    [line] = [line for line in done.stdout.splitlines() if said.replace("{data}", str(data)) in line]
    assert not line.startswith(" ")


def test_what_is_selected_is_not_commented(run_pytest, data):
    done = run_pytest("benchmarks", "--collect-only", "-q", "-k", "lstm and toxicity", "--data-dir", data)
    assert not [line for line in done.stdout.splitlines() if line.startswith("-")]
    assert list(explain_words("bert and not (op or tic)", ["bert-toy-op", "bert-toy-tic"], [])) == []


def test_a_folder_of_image_files_alone_is_not_said_to_be_empty(run_pytest, data):
    done = run_pytest(
        "benchmarks/test_divergence.py", "--collect-only", "-q", "-k", "stripe", "--data-dir", data / "pictures"
    )
    assert not [line for line in done.stdout.splitlines() if line.startswith("-")]
