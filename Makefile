# `make help` lists the targets. Everything happens in .venv; only package registries are needed.

PYTHON ?= python3
PROFILE ?= embedded
REPORT ?= report.json
REPORTS ?= $(REPORT)
MERGED ?= merged.json
BASELINE ?= benchmarks/baseline.json
VENV := .venv
RUN := $(VENV)/bin/python -m

# With it every process would compile the harness anew, a third of a short run.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup peers check test bench smoke conformance gate baseline table report merge starts draws pairs intensities estimate speed clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "%-11s %s\n", $$1, $$2}'

setup: $(VENV)/installed  ## create .venv and install the pinned requirements

$(VENV)/installed: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python >= 3.11 is needed; name one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(RUN) pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

peers: setup  ## add the libraries that `peer_` cases compare with; nothing that is installed changes
	$(RUN) pip install --quiet --disable-pip-version-check -c requirements.txt -r requirements-peers.txt

check: setup  ## lint and types
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy

# Not the files with most tests first, as xdist would: the longest have few, and one of them would run alone at the end.
test: setup  ## the harness's own tests
	OMP_NUM_THREADS=1 $(RUN) pytest --doctest-modules -n 2 --dist loadfile --no-loadscope-reorder

bench: setup  ## bert and op in the embedded profile: train, verify, score, print the table
	$(RUN) pytest benchmarks -k "bert and op" --profile $(PROFILE) --benchmark-json=$(REPORT)

smoke: setup  ## the whole road, gated: small models, few rows; the scores mean nothing
	$(RUN) pytest benchmarks -k "single or stripe or plausibility or faithfulness" --profile smoke --benchmark-json=smoke.json --gate benchmarks/smoke.json

conformance: setup  ## is every explainer implemented correctly: tiny exact models, seconds
	$(RUN) pytest benchmarks/test_conformance.py

gate: setup  ## run every case of the profile and fail what got worse than the baseline
	$(RUN) pytest benchmarks --profile $(PROFILE) --benchmark-json=$(REPORT) --gate $(BASELINE)

baseline: setup  ## accept the passed cases of REPORT as BASELINE
	$(RUN) fixtures.gate $(REPORT) $(BASELINE)

table: setup  ## print the tables of REPORTS as Markdown, one report after the other
	@$(RUN) fixtures.table $(REPORTS)

report: setup  ## one page, report.html, and a pull request's comment, report.md, from REPORTS
	$(RUN) fixtures.report $(REPORTS) --html report.html --markdown report.md

merge: setup  ## join REPORTS, shards or seeds of one run, into MERGED
	$(RUN) fixtures.merging $(MERGED) $(REPORTS)

starts: setup  ## unseen control of the source-only models under every start of new rows
	@$(RUN) fixtures.starts

draws: setup  ## how far from chance untrained tokens push the source-only models
	@$(RUN) fixtures.draws

pairs: setup  ## one choice at a time, from REPORTS: two configurations on the same texts
	@$(RUN) fixtures.pairs $(REPORTS)

intensities: setup  ## what spurious and clean image models do under each intensity of an artifact
	@$(RUN) fixtures.populations.intensities

estimate: setup  ## how long the paper profile would take on this machine, and in how much memory
	@$(RUN) fixtures.speed.estimate paper

speed: setup  ## our trainings and sweeps beside the Trainer, captum, lime, interpreto and the hardware, in one run
	rm -f speed.json
	$(RUN) pytest benchmarks/test_speed.py -m speed --benchmark-disable -s

clean:  ## remove .venv and reports; the zoo stays
	rm -rf $(VENV) report.html report.md report.json smoke.json speed.json
