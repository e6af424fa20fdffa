# Two commands do everything: `make book` and `make test`. `make help` lists the rest.
# Each says what it does, and does again only what has changed.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Everything that a page is made of.
SOURCES := _config.yml _toc.yml $(wildcard book/*.md book/*.ipynb book/*.bib book/*.yml book/exercises/* assets/* scripts/*.py scripts/deck/*)
PACKAGE := pyproject.toml $(shell find attnlib -name '*.py' -o -name '*.txt' -o -path '*/static/*' -type f 2>/dev/null)
JOBS   ?= 2

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help book slides lab test check lint unit notebooks browser bench mutants execute lock clean chromium

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# --- environments -----------------------------------------------------------------------------------

$(VENV)/.book: requirements.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON) here: install Python 3.11 or newer, or name one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("The book needs Python 3.11 or newer, $(PYTHON) is %d.%d. Name another one: make PYTHON=python3.12" % sys.version_info[:2])'
	@echo "==> environment: $(VENV) from requirements.txt (the first time this takes minutes)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "No virtual environment could be made: on Debian and Ubuntu, install python3-venv."; exit 1; }
	@$(call install,-r requirements.txt)
	@$(call install,--no-deps -e .)
	@touch $(VENV)/.complete $@

$(VENV)/.test: $(VENV)/.book requirements-test.txt
	@echo "==> environment: test tools from requirements-test.txt"
	@$(call install,-r requirements-test.txt)
	@touch $@

# A half-made environment is worse than none: when the first installation fails, it goes.
install = $(BIN)/python -m pip install --quiet --disable-pip-version-check $(1) || { test -e $(VENV)/.complete || rm -rf $(VENV); echo "Installing failed (see pip's message above): is there a network? No environment is left half-installed; run the command again."; exit 1; }

# --- the book ---------------------------------------------------------------------------------------

book: _build/html/.strict ## build the book and say where it is
	@echo "The book: $(CURDIR)/_build/html/index.html"
	@echo "Open:     file://$(CURDIR)/_build/html/index.html"

_build/html/.strict: $(VENV)/.book $(SOURCES) $(PACKAGE)
	@echo "==> book: strict build from the stored outputs (warnings are errors)"
	@rm -rf _build/html _build/.doctrees  # a page that is not read again would not warn again
	@$(BIN)/jupyter-book build . -W -n --keep-going --quiet
	@$(BIN)/python scripts/slides.py
	@touch $@

slides: $(VENV)/.book ## a lecture deck of every chapter, from the stored outputs (one: CHAPTER=03)
	@$(BIN)/python scripts/slides.py $(CHAPTER)

lab: $(VENV)/.book ## open the chapters in JupyterLab
	@$(BIN)/jupyter lab book

execute: $(VENV)/.book ## run the stale chapters (one: CHAPTER=01)
	@$(BIN)/python scripts/notebooks.py execute $(CHAPTER) $(if $(FORCE),--force)
	@$(BIN)/python scripts/launch_links.py write

# --- the tests --------------------------------------------------------------------------------------

test: lint unit notebooks browser ## everything: lint, unit tests, notebooks, strict build, browser
	@echo "All tests passed."

check: test ## the same, by the name that continuous integration uses

lint: $(VENV)/.test ## style, and the pairs of .md and .ipynb
	@echo "==> lint"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check --isolated --select E9,F,E501 --line-length 100 --per-file-ignores "book/exercises/*:F401" book
	@$(BIN)/python scripts/notebooks.py check
	@$(BIN)/python scripts/launch_links.py check
	@$(BIN)/python -m tests.exercises release --check

unit: $(VENV)/.test ## unit tests of attnlib, figures and scripts
	@echo "==> unit tests"
	@$(BIN)/python -m pytest tests -m "not browser" -q -n $(JOBS) --dist loadfile --cov --cov-report=term

notebooks: $(VENV)/.test ## run every chapter again and compare its outputs
	@echo "==> notebooks: every stored output is computed again and compared"
	@$(BIN)/python -m pytest --nbval --nbval-current-env book --ignore=book/exercises -q -n $(JOBS) --dist loadfile -p no:cacheprovider

browser: $(VENV)/.test chromium _build/html/.strict ## the built pages in Chromium
	@echo "==> browser tests on the built pages"
	@$(BIN)/python -m pytest tests -m browser -q

chromium:
	@command -v "$${CHROMIUM:-chromium}" >/dev/null || { test -z "$$CHROMIUM" && command -v google-chrome >/dev/null; } || { echo "The browser tests need Chromium or Chrome: install it (Debian: apt-get install chromium), or name one: CHROMIUM=/path/to/chrome make test"; exit 1; }

mutants: $(VENV)/.test ## seed every bug of tests/bugs: the tests must notice each (an hour and more)
	@$(BIN)/python tests/mutants.py --jobs $(JOBS)

bench: $(VENV)/.test chromium _build/html/.strict ## how fast the live figures are, and how heavy the pages
	@$(BIN)/python -m benchmarks.figures

# --- upkeep -----------------------------------------------------------------------------------------

# Freezes what the ranges of pyproject.toml resolve to today. The "+cpu" of a CPU build of torch is no
# version that a package index knows.
lock: ## resolve pyproject.toml anew into requirements*.txt
	@rm -rf build/lock && $(PYTHON) -m venv build/lock
	@build/lock/bin/pip install --quiet '.[book]'
	@build/lock/bin/pip freeze --exclude attnlib | sed 's/+cpu$$//' > build/lock/book.txt
	@build/lock/bin/pip install --quiet '.[book,test]'
	@build/lock/bin/pip freeze --exclude attnlib | sed 's/+cpu$$//' > build/lock/all.txt
	@{ echo "# The book's environment, exactly. Made by \`make lock\` from pyproject.toml; Binder reads it too."; cat build/lock/book.txt; } > requirements.txt
	@{ echo "# What the tests need on top. Made by \`make lock\`."; echo "-r requirements.txt"; grep -vxFf build/lock/book.txt build/lock/all.txt; } > requirements-test.txt
	@rm -rf build/lock

clean: ## remove what make made, environments included
	@rm -rf $(VENV) _build build *.egg-info
