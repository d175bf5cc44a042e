# make            what there is
# make figures    every figure and table, from a fresh clone
# make test       every test, from a fresh clone

.DEFAULT_GOAL := help
SHELL := bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

# The data sets that `dvc repro` makes; each is a target of its own.
DATASETS := $(shell sed -n 's/^datasets: \[\(.*\)\]/\1/p' params.yaml | tr -d ,)

# Where `make smoke` works; nothing under results/ is touched.
SMOKE := data/smoke

help: ## show this list
	@sed 's/^$$(DATASETS)/$(DATASETS)/' Makefile | grep -E '^[a-z][a-z0-9_ -]*:.*## ' | sed -E 's/:[^#]*## /\t/' | \
	  awk -F'\t' '{gsub(/\$$\$$/, "$$", $$2); printf "  make %-36s %s\n", $$1, $$2}'

# Two environments in one folder: enough for figures (no torch), and everything.
$(VENV)/figures.done: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[pipeline]'
	@touch $@

$(VENV)/everything.done: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[pipeline,vision,graph,cluster,docs,dev]'
	@touch $@ $(VENV)/figures.done

setup: $(VENV)/everything.done ## build .venv with all that training and testing need

figures: $(VENV)/figures.done ## draw every figure and table; replay, at paper counts, what has no record (no data, no torch)
	python -m experiments.all 'steps=[replay,figures,tables,claims]'

report: $(VENV)/figures.done ## write results/report.html from the records, one page that needs no network
	python -m experiments.report

verify: $(VENV)/figures.done ## make every record, figure and verdict again and compare it with the one in results/
	python -m experiments.verify

test: $(VENV)/everything.done ## run every test
	python -m pytest -n 2 --dist worksteal

fuzz: $(VENV)/everything.done ## try thousands of damaged files and wrong values, new ones each time
	HYPOTHESIS_PROFILE=nightly python -m pytest -n 2 -k fuzz

soak: $(VENV)/everything.done ## kill runs at random moments, play a million rounds: a quarter of an hour
	CAMS_KILLS=100 python -m pytest tests/soak -m "soak or not soak"

mutants: $(VENV)/everything.done ## change the code in small ways and list what no test notices: hours; ONLY='cams.bounds*' for a part, OUT=docs/mutants.md for the report
	mutmut run $(ONLY)
	python .ci/mutants > mutants/report.tmp
	mv mutants/report.tmp $(or $(OUT),mutants/report.md)
	@echo "mutants: wrote $(or $(OUT),mutants/report.md)"

# Where `make mutants-engine` works, on a copy whose engine is not compiled.
PLAIN := mutants/engine

mutants-engine: $(VENV)/everything.done ## the same for the engine, as plain Python; ONLY='cams.engine.frozen*', OUT=docs/mutants-engine.md
	python .ci/plain_engine $(PLAIN)
	cd $(PLAIN) && NUMBA_DISABLE_JIT=1 mutmut run $(ONLY)
	cd $(PLAIN) && python $(CURDIR)/.ci/mutants engine > $(CURDIR)/mutants/report-engine.tmp
	mv mutants/report-engine.tmp $(or $(OUT),mutants/report-engine.md)
	@echo "mutants-engine: wrote $(or $(OUT),mutants/report-engine.md)"

lint: $(VENV)/everything.done ## check style, types and which package may import which
	ruff check .
	ruff format --check .
	mypy
	lint-imports --no-cache

bench: $(VENV)/everything.done ## measure the replay engine, as ratios in one run, and the whole paper; OUT=results/bench also writes the tables there
	python -m experiments.bench $(if $(OUT),out=$(OUT))

# Exit code 2 of fetching is a data set that cannot be had, which stops no other; of a later stage it is a fault.
smoke: $(VENV)/everything.done ## the tabular pipeline and its experiments at smoke scale, in data/smoke
	for dataset in vertebral drift covtype; do \
	  places="dataset=$$dataset scale=smoke paths.work=$(SMOKE) paths.results=$(SMOKE)/results"; \
	  python -m data_prep.fetch $$places || { [ $$? = 2 ] && continue; exit 1; }; \
	  python -m data_prep.all $$places || exit 1; \
	done
	python -m experiments.all scale=smoke paths.results=$(SMOKE)/results paths.bundles=$(SMOKE)/results/bundles \
	  'datasets=[vertebral,drift,covtype]'

$(DATASETS): $(VENV)/everything.done ## one data set end to end: raw files, training, bundle, figures
	dvc repro bundle@$@
	python -m experiments.all 'datasets=[$@]'

imagenet: $(VENV)/everything.done ## ImageNet from the images under $$CAMS_DATA_MIRROR/imagenet/val
	python -m data_prep.all dataset=imagenet
	python -m experiments.all 'experiments=[imagenet]'

docs: $(VENV)/everything.done ## write the documentation to site/, which opens from disk without a network
	NO_MKDOCS_2_WARNING=1 mkdocs build --quiet
	@echo "docs: wrote site/index.html"

dag: $(VENV)/everything.done ## print the graph of dvc.yaml, data sets folded into one, as mermaid
	@dvc dag --dot | python .ci/dag

repro: $(VENV)/everything.done ## everything from raw data, as dvc.yaml has it; a data set that cannot be had stops no other
	dvc repro --keep-going

clean: ## forget the environment and what can be rebuilt; results stay
	rm -rf $(VENV) data outputs multirun .pytest_cache .mypy_cache .ruff_cache .hypothesis site mutants
	find results -name '.*.part*' -delete

.PHONY: help setup figures report verify docs test soak mutants mutants-engine fuzz lint bench smoke dag repro clean imagenet $(DATASETS)
