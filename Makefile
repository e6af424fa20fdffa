# Two commands do everything: `make book` and `make test`. `make help` lists the rest.
# Each says what it does, and does again only what has changed.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
UPKEEP := build/upkeep
# Everything that a page is made of.
SOURCES := _config.yml _toc.yml $(wildcard book/*.md book/*.ipynb book/*.bib book/*.yml book/*.json book/exercises/* notebooks/*.ipynb notebooks/solutions/*.ipynb assets/* scripts/*.py website/*.py website/deck/*)
PACKAGE := pyproject.toml $(shell find attnlib -name '*.py' -o -name '*.txt' -o -path '*/static/*' -type f -o -path '*/figures/models/*' -type f 2>/dev/null)
JOBS   ?= 2

.DEFAULT_GOAL := help
ifndef SIDE_BY_SIDE
.NOTPARALLEL:
endif
.PHONY: help book lab long test check ready lint unit notebooks browser bench mutants matrix audit execute lock hashes image clean zip links translator student private myst pdf tex times colab colab-environment slides

# A process without the bytecode of the last one compiles all that it imports, for seconds.
export PYTHONDONTWRITEBYTECODE :=

help: ## show this list
	@awk -F ':.*## ' '/^# --- /{gsub(/^# --- | -+$$/, ""); group = $$0} \
	  /^[a-z-]+:.*## /{if (group != "") {print "\n" group; group = ""} printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# --- environments -----------------------------------------------------------------------------------

$(VENV)/.book: requirements.txt requirements-hashed.txt pyproject.toml attnlib/version.py
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON) here: install Python 3.11 or newer, or name one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("The book needs Python 3.11 or newer, $(PYTHON) is %d.%d. Name another one: make PYTHON=python3.12" % sys.version_info[:2])'
	@echo "==> environment: $(VENV) from requirements.txt (the first time this takes minutes)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "No virtual environment could be made: on Debian and Ubuntu, install python3-venv."; exit 1; }
	@$(call install,--require-hashes --no-deps -r requirements-hashed.txt)
	@$(call install,-r requirements.txt)
	@$(call install,--no-deps -e .)
	@$(compile)
	@touch $(VENV)/.complete $@

$(VENV)/.test: $(VENV)/.book requirements-test.txt
	@echo "==> environment: test tools from requirements-test.txt"
	@$(call install,-r requirements-test.txt)
	@$(compile)
	@touch $@

$(UPKEEP)/.complete: requirements-upkeep.txt
	@echo "==> environment: $(UPKEEP) from requirements-upkeep.txt"
	@rm -rf $(UPKEEP) && $(PYTHON) -m venv $(UPKEEP) && $(UPKEEP)/bin/python -m pip install --quiet --disable-pip-version-check -r $< || { rm -rf $(UPKEEP); echo "The tools of upkeep could not be installed (see pip's message above): is there a network?"; exit 1; }
	@touch $@

# A half-made environment is worse than none: when the first installation fails, it goes.
install = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile $(1) || { test -e $(VENV)/.complete || rm -rf $(VENV); echo "Installing failed (see pip's message above): is there a network? No environment is left half-installed; run the command again."; exit 1; }

# pip would do it on one core. What is no Python for this version, as some packages hold, stays as it is.
compile = $(BIN)/python -m compileall -qq -j $(JOBS) $(VENV)/lib || true

# --- the book ---------------------------------------------------------------------------------------

book: _build/html/.strict ## build the book and say where it is
	@echo "The book: $(CURDIR)/_build/html/index.html"
	@echo "Open:     file://$(CURDIR)/_build/html/index.html"

_build/html/.strict: $(VENV)/.book $(SOURCES) $(PACKAGE)
	@echo "==> book: strict build from the stored outputs (warnings are errors)"
	@rm -rf _build/html _build/.doctrees  # a page that is not read again would not warn again
	@$(BIN)/jupyter-book build . -W -n --keep-going --quiet
	@$(BIN)/python -m website.slides
	@touch $@

zip: _build/html/.strict ## the book in one archive, to read without a network; its notebooks in another
	@echo "==> zip"
	@$(BIN)/python -m website.archive

links: $(VENV)/.book ## ask every web address in the book whether it is still there (needs a network)
	@echo "==> links: every address and what became of it will stand in _build/linkcheck/output.txt"
	@$(BIN)/jupyter-book build . --builder custom --custom-builder linkcheck --keep-going --quiet

NAME := attention-derived-and-executed
FONTS := texgyrepagella-regular.otf texgyrepagella-math.otf texgyreheros-regular.otf DejaVuSansMono.ttf
TEX  := texlive-xetex texlive-latex-extra texlive-fonts-recommended latexmk fonts-texgyre fonts-texgyre-math fonts-dejavu-core
# The date inside the PDF is that of the commit: the same commit is the same file.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)

pdf: _build/pdf/$(NAME).pdf ## the whole book as one PDF (needs XeLaTeX)
	@echo "The PDF: $(CURDIR)/$<"

# Chromium draws what is SVG in the pages.
_build/pdf/$(NAME).pdf: $(VENV)/.test $(SOURCES) $(PACKAGE) assets/printed_book.sty CITATION.cff | needs-pdf tex
	@echo "==> pdf: LaTeX from the stored outputs (warnings are errors)"
	@rm -rf _build/latex _build/pdf _build/.doctrees  # latexmk takes what a failed run has left for up to date
	@$(BIN)/jupyter-book build . --builder latex -W -n --keep-going --quiet
	@echo "==> pdf: typesetting (some minutes)"
	@cd _build/latex && max_print_line=10000 FORCE_SOURCE_DATE=1 SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) \
	  latexmk -xelatex -interaction=nonstopmode -halt-on-error -silent $(NAME).tex >latexmk.out 2>&1 \
	  || { tail -5 latexmk.out; grep -A3 '^!' $(NAME).log; echo "TeX failed: see _build/latex/$(NAME).log"; exit 1; }
	@$(BIN)/python -m website.tex_log _build/latex/$(NAME).log
	@mkdir _build/pdf && mv _build/latex/$(NAME).pdf $@

tex:
	@missing=; for program in xelatex latexmk kpsewhich; do command -v $$program >/dev/null || missing="$$missing $$program"; done; \
	test -n "$$missing" || for font in $(FONTS); do kpsewhich $$font >/dev/null || missing="$$missing $$font"; done; \
	test -z "$$missing" || { echo "The PDF needs TeX, and these are missing:$$missing. Debian and Ubuntu: apt-get install $(TEX). macOS: MacTeX has them all."; exit 1; }

slides: $(VENV)/.book ## a lecture deck of every chapter, from the stored outputs (one: CHAPTER=03)
	@$(BIN)/python -m website.slides $(CHAPTER)

lab: $(VENV)/.book ## open the students' notebooks in JupyterLab
	@$(BIN)/jupyter lab notebooks

execute: $(VENV)/.book ## run the stale chapters (one: CHAPTER=01), and write the students' notebooks
	@$(BIN)/python -m scripts.notebooks execute $(CHAPTER) $(if $(FORCE),--force)
	@$(BIN)/python -m website.student_notebooks write
	@$(BIN)/python -m scripts.launch_links write

times: $(VENV)/.book ## measure on a quiet machine how long pages run (some: CHAPTER="03 10"), and write it into them
	@$(BIN)/python -m scripts.running_times $(CHAPTER)
	@$(BIN)/python -m website.student_notebooks write

long: $(VENV)/.book ## train every comparison 1, 4 and 16 times as long (hours; goes on where it was; some: CHAPTER="07")
	@$(BIN)/python -m scripts.long_runs $(CHAPTER)

translator: $(VENV)/.book ## pack a trained run for the page, and measure what that costs (RUN=runs/es)
	@test -n "$(RUN)" || { echo "Name the folder of a run that \`python -m attnlib.training.translate train\` has finished: make translator RUN=runs/es"; exit 1; }
	@$(BIN)/python -m scripts.translator $(RUN)

# --- the tests --------------------------------------------------------------------------------------

test: needs-test ready ## before a commit: lint, unit tests, notebooks, strict build, browser
	@$(MAKE) READY=1 unit colab browser
	$(end)
	@$(BIN)/python -m scripts.times $(TIMES) ready unit colab browser test
	@echo "All tests passed.$(if $(NO_SANDBOX), Left out: the tests of the grader's sandbox; $(SYSTEM) cannot build it.)"

check: ## the same and what takes longer, as continuous integration runs it
	@$(MAKE) THOROUGH=1 test

# A stage begins with what it needs, environment and book included: scripts/times.py says where the time went.
TIMES = build/times
end   = @touch $(TIMES)/$@.end
unit colab browser: export TEST_TIMES = $(CURDIR)/$(TIMES)/$@.json

# First of all the programs that pip cannot install: the 16 minutes before one is missed are not lost then.
needs-%:
	@scripts/programs.sh $*
	@mkdir -p $(TIMES) && rm -f $(TIMES)/$*.* && touch $(TIMES)/$*.begin

# Each of the three takes one core and leaves the others idle.
ready: needs-ready $(VENV)/.test
	@echo "==> lint, the book and Colab's environment, side by side"
	@$(MAKE) --jobs=$(JOBS) SIDE_BY_SIDE=1 lint zip colab-environment
	$(end)

lint: needs-lint $(VENV)/.test ## style, the pairs of .md and .ipynb, the workflows
	@echo "==> lint"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check --isolated --select E9,F,E501 --line-length 100 --per-file-ignores "book/exercises/*:F401" book
	@$(BIN)/python -m scripts.notebooks check
	@$(BIN)/python -m website.student_notebooks check
	@$(BIN)/python -m scripts.launch_links check
	@$(BIN)/python -m attnlib.grading release --check
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	@$(BIN)/zizmor --offline --quiet --no-progress .github
	$(end)

# Files go to the workers in their order: in xdist's own, by the number of tests, few long ones come last and one waits.
# nbval, which notebooks alone need, takes seconds to load. Some tests wait, for a limit or for a page's clock: one
# worker more keeps the cores busy.
MORE    := $$(($(JOBS) + 1))
WORKERS := -n $(MORE) --dist loadfile --no-loadscope-reorder -p no:nbval
# Every worker has one thread: several of each would wait for each other, most of the time.
unit browser: export OMP_NUM_THREADS = 1

# Bubblewrap builds the grader's sandbox of what the Linux kernel alone has.
SYSTEM     := $(shell uname)
NO_SANDBOX := $(filter-out Linux,$(SYSTEM))
SANDBOX    := $(if $(NO_SANDBOX), and not sandbox)

# Tracing which lines are reached makes the tests slow, so that whoever waits for them goes without.
unit: needs-unit $(VENV)/.test ## unit tests of attnlib, figures and scripts (all, and the lines they reach: THOROUGH=1)
	@echo "==> unit tests"
ifdef THOROUGH
	@$(BIN)/python -m pytest tests --ignore=tests/browser $(if $(NO_SANDBOX),-m "not sandbox") --hypothesis-profile=full -q $(WORKERS) --cov --cov-report=term
else
	@$(BIN)/python -m pytest tests --ignore=tests/browser -m "not thorough$(SANDBOX)" -q $(WORKERS)
endif
	$(end)

colab: needs-colab $(VENV)/.test ## run every chapter as a student in Colab gets it (some: CHAPTER="03 10")
	@echo "==> colab: with Colab's packages and the setup cell, every stored output is computed again and compared"
	@$(BIN)/python -m tests.colab $(CHAPTER) --jobs $(JOBS) $(if $(READY),--only chapters)
	$(end)

colab-environment: $(VENV)/.test
	@$(BIN)/python -m tests.colab --only environment

notebooks: $(VENV)/.test ## the same in the book's environment: quicker, needs no network
	@echo "==> notebooks: every stored output is computed again and compared"
	@$(BIN)/python -m pytest --nbval --nbval-current-env book --ignore=book/exercises -q -n $(JOBS) --dist loadfile -p no:cacheprovider

browser: needs-browser $(VENV)/.test $(if $(READY),,zip) ## the built pages and the archive in Chromium
	@echo "==> browser tests on the built pages"
	@$(BIN)/python -m pytest tests/browser $(if $(THOROUGH),,-m "not thorough") -q -n $(MORE) --dist worksteal -p no:nbval
	$(end)

mutants: needs-unit $(VENV)/.test ## seed every bug of tests/bugs: the tests must notice each (about half an hour)
	@$(BIN)/python -m tests.mutants --jobs $(JOBS)

matrix: needs-matrix $(UPKEEP)/.complete ## unit tests, quick chapters: every Python, oldest and newest packages (hours; one row: ROWS=oldest)
	@echo "==> matrix: an environment for each row, under build/matrix"
	@JOBS=$(JOBS) $(UPKEEP)/bin/nox $(if $(ROWS),--session $(ROWS) table)

bench: needs-bench $(VENV)/.test _build/html/.strict ## how fast it is, beside others: one table, one plot (for the book: OUT=book/speed.json)
	@echo "==> bench: some minutes, in which the machine should do nothing else"
	@$(BIN)/python -m benchmarks --out $(or $(OUT),_build/speed.json)

student: $(VENV)/.test ## the course without solutions, into _build/student (and a branch: BRANCH=student)
	@rm -rf _build/student
	@$(BIN)/python -m attnlib.grading publish --to _build/student $(if $(BRANCH),--branch $(BRANCH))

private: $(VENV)/.test ## the assignments as a repository of their own, to be kept private (where: TO=../assignments)
	@$(BIN)/python -m attnlib.grading private --to $(or $(TO),../assignments)

# --- upkeep -----------------------------------------------------------------------------------------

# Freezes what the ranges of pyproject.toml resolve to today. The "+cpu" of a CPU build of torch is no
# version that a package index knows.
lock: ## resolve pyproject.toml anew into requirements*.txt, hashes included
	@rm -rf build/lock && $(PYTHON) -m venv build/lock
	@build/lock/bin/pip install --quiet '.[book]'
	@build/lock/bin/pip freeze --exclude attnlib | sed 's/+cpu$$//' > build/lock/book.txt
	@build/lock/bin/pip install --quiet '.[book,test]'
	@build/lock/bin/pip freeze --exclude attnlib | sed 's/+cpu$$//' > build/lock/all.txt
	@{ echo "# The book's environment, exactly. Made by \`make lock\` from pyproject.toml."; cat build/lock/book.txt; } > requirements.txt
	@{ echo "# What the tests need on top. Made by \`make lock\`."; echo "-r requirements.txt"; grep -vxFf build/lock/book.txt build/lock/all.txt; } > requirements-test.txt
	@$(PYTHON) -m venv --clear build/lock && build/lock/bin/pip install --quiet 'pip>=25.1' && build/lock/bin/pip install --quiet --group upkeep
	@{ echo "# What \`make matrix\`, \`make audit\`, \`make myst\` and \`make hashes\` run. Made by \`make lock\`."; build/lock/bin/pip freeze; } > requirements-upkeep.txt
	@$(PYTHON) -m venv --clear build/lock && build/lock/bin/pip install --quiet 'pip>=25.1' && build/lock/bin/pip install --quiet --group image --constraint requirements.txt
	@build/lock/bin/pip freeze --all --exclude pip | grep -vxFf requirements.txt > requirements-image.txt
	@rm -rf build/lock
	@$(MAKE) hashes

# The hash of every file of a version, so that one list serves every system and every Python. torch is not in it: which
# build a machine wants (without CUDA, with this or that CUDA), no list can know. The image's build has a list of its own,
# with the hash for x86-64, where Binder, hubs and Codespaces are.
HASHES = $(UPKEEP)/bin/uv pip compile --quiet --python $(UPKEEP)/bin/python --no-deps --generate-hashes --no-header --no-annotate
TORCH  = torch==$(shell sed -n 's/^torch==//p' requirements.txt)+cpu
INDEX  = $(shell sed -n 's/.*--index-url \([^ ]*\).*/\1/p' .binder/Dockerfile)

hashes: $(UPKEEP)/.complete ## write the hashes of what is pinned into requirements-hashed.txt, -image.txt and -torch.txt
	@rm -rf build/hashes && mkdir -p build/hashes
	@grep -v '^torch==' requirements.txt > build/hashes/book.in && $(HASHES) build/hashes/book.in > build/hashes/book.txt
	@$(HASHES) requirements-image.txt > build/hashes/image.txt
	@$(UPKEEP)/bin/pip download --quiet --no-deps --only-binary :all: --python-version 3.11 --platform manylinux_2_28_x86_64 \
	  --extra-index-url $(INDEX) --dest build/hashes $(TORCH) && $(UPKEEP)/bin/pip hash build/hashes/torch-*.whl > build/hashes/torch.txt
	@{ echo "# requirements.txt with the hash of every file, but for torch. Made by \`make hashes\`, which \`make lock\` calls."; cat build/hashes/book.txt; } > requirements-hashed.txt
	@{ echo "# What .binder/Dockerfile installs on top of the book's environment. Made by \`make lock\`."; cat build/hashes/image.txt; } > requirements-image.txt
	@{ echo "# torch for .binder/Dockerfile, with the hash of the wheel for x86-64. Made by \`make hashes\`."; \
	  echo "$(TORCH) $$(grep -o -e '--hash=.*' build/hashes/torch.txt)"; } > requirements-torch.txt
	@rm -rf build/hashes

image: needs-image ## build .binder/Dockerfile, the room for Binder, JupyterHub and Codespaces, and try it (needs Docker)
	@echo "==> image: $(NAME)"
	@docker build --file .binder/Dockerfile --tag $(NAME) .
	@docker run --rm $(NAME) sh -ec 'test "$$(id -u)" = 1000; jupyterhub-singleuser --version; python -m attnlib; jupyter execute notebooks/03_*.ipynb'

audit: $(UPKEEP)/.complete ## known vulnerabilities in the pinned packages
	@echo "==> audit: PyPI is asked about every pinned version"
	@for list in requirements-test.txt requirements-image.txt requirements-upkeep.txt; do \
	  $(UPKEEP)/bin/pip-audit --requirement $$list --no-deps --disable-pip --strict --progress-spinner off || { echo "$$list was not found clean. Where a package was \"not found\" or no connection made, PyPI could not answer: then nothing is known."; exit 1; }; \
	done

myst: needs-myst $(UPKEEP)/.complete ## how far is Jupyter Book 2: what its program complains of in a converted copy, counted
	@echo "==> myst: the book as it is and converted, read by MyST"
	@$(UPKEEP)/bin/python -m scripts.myst_diagnostics $(UPKEEP)/bin/myst

clean: ## remove what make made, environments included
	@rm -rf $(VENV) _build build *.egg-info
