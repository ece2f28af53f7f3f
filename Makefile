# One set-up shared by every target: `make demo` and `make test` need nothing before them.
PYTHON ?= python3
BIN := .venv/bin

# Tests and searches start many processes, each of which would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install demo test test-fast lint docs fix coverage build changelog results clean

help:
	@echo "make demo       install, search a team of three predators, show the hunt"
	@echo "make test       install, lint, build the site, run the tests that are not nightly"
	@echo "make test-fast  tests without those on Ray, and files that train or search long"
	@echo "make lint       ruff, and mypy --strict with a proof of how many files it read"
	@echo "make docs       the site of docs/ into build/site, with its links checked"
	@echo "make fix        format, and mend what ruff can mend"
	@echo "make coverage   the tests of test-fast, with branch coverage and its floor"
	@echo "make build      sdist and wheel, installed and tried outside the checkout"
	@echo "make changelog  gather changelog.d into CHANGELOG.md, at a release"
	@echo "make install    create .venv with everything (done by the others where needed)"
	@echo "make results    the result tables of docs/results (hours)"
	@echo "make clean      remove .venv and what builds leave"

install: .venv/installed

# The stamp is newer than what the environment was made from, so a second call does nothing.
# Python compiles a module when it is first imported: compiling all of them here takes a minute.
.venv/installed: pyproject.toml setup.py constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(0 if sys.version_info >= (3, 11) else "rolecast needs Python 3.11 or newer and $(PYTHON) is " + v + "; name another by make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[dev]'
	@touch $@

lint: install
	.ci/lint
	.ci/types

docs: install
	.ci/docs

test: lint docs
	.ci/test

test-fast: install
	.ci/test -m 'not slow'

fix: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

coverage: install
	.ci/coverage

build: install
	.ci/build

changelog: install
	$(BIN)/towncrier build --yes

demo: install
	$(BIN)/rolecast demo

results: install
	$(BIN)/rolecast bench main --page docs/results.md
	$(BIN)/rolecast bench envs

clean:
	rm -rf .venv build dist *.egg-info
