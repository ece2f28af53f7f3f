# One set-up, shared by every target: `make demo` and `make test` need nothing before them.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test lint clean

install: .venv/installed

.venv/installed: pyproject.toml setup.py constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --constraint constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

lint: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python .ci/typecheck.py

test: lint
	$(BIN)/pytest

demo: install
	$(BIN)/rolecast demo

clean:
	rm -rf .venv build dist *.egg-info
