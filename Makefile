# Every target makes its own virtual environment when there is none, and installs only what it needs.
# Reinstallation happens when pyproject.toml changes; the source is always live (editable install).

PYTHON ?= python3
VENV ?= .venv

RUN = $(VENV)/bin/python
PYTEST = $(RUN) -m pytest -n auto --dist worksteal

.PHONY: help demo test test-slow test-examples test-long test-oracles test-browser install-oracles fuzz bench lint format gallery docs clean
.NOTPARALLEL:
.DEFAULT_GOAL := help

help:
	@echo "make demo          the best that exists so far, in one run"
	@echo "make test          the test suite, documentation examples included"
	@echo "make test-slow     sweeps, benchmarks and vehicles that compile for long, graphs of a hundred thousand nodes"
	@echo "make test-examples every example through the command line, with figures and playback"
	@echo "make test-long     both of these in one go, as CI runs them"
	@echo "make test-oracles  comparisons with other programs (installs them: large)"
	@echo "make test-browser  tests that need a web browser"
	@echo "make fuzz          tens of thousands of broken model files (FUZZ=20000 of each kind)"
	@echo "make bench         this machine, side by side with other programs (installs them: large)"
	@echo "make lint          ruff, mypy and the import rule"
	@echo "make format        rewrite the source in the common format"
	@echo "make gallery       a playback of every example, as far as it is missing, for the documentation"
	@echo "make docs          the documentation with its gallery, in docs/_build/html"
	@echo "make clean         remove what the other targets made"
	@echo
	@echo "PYTHON=python3.12 chooses the interpreter, VENV=directory the virtual environment."

demo: $(VENV)/.with-plots,results,scene
	$(RUN) examples/rx90/run.py
	$(RUN) -m torseur simulate examples/rx90/motion.yaml -o build/rx90
	$(RUN) -m torseur simulate examples/double_pendulum/swing.yaml -o build/double_pendulum
	$(RUN) examples/double_pendulum/run.py
	$(RUN) -m torseur simulate examples/smera/double_turn.yaml -o build/smera
	@echo "Open build/rx90/playback.html, build/double_pendulum/playback.html and build/smera/playback.html in a browser;"
	@echo "figures are beside them."

test: $(VENV)/.with-test
	$(PYTEST)

install-oracles: $(VENV)/.with-oracles

test-slow: $(VENV)/.with-test
	$(PYTEST) -m slow

test-examples: $(VENV)/.with-test,scene
	$(PYTEST) -m examples

test-long: $(VENV)/.with-test,scene
	$(PYTEST) -m "slow or examples"

# pytest ends with status 5 when it has found no test.
test-oracles: $(VENV)/.with-oracles
	@$(PYTEST) -m oracle -rs; status=$$?; \
	if [ $$status -eq 5 ]; then echo "There are no oracle tests yet: nothing was checked."; else exit $$status; fi

# A Chromium or Chrome of this machine is used if there is one, else playwright brings its own.
BROWSERS = chromium chromium-browser google-chrome google-chrome-stable

test-browser: $(VENV)/.with-browser docs
	@for name in $(BROWSERS); do command -v $$name && exit 0; done; $(RUN) -m playwright install chromium
	$(RUN) -m pytest -m browser -rs tests/browser

FUZZ ?= 20000

fuzz: $(VENV)/.with-test
	TORSEUR_FUZZ=$(FUZZ) $(PYTEST) tests/formats tests/describe

bench: $(VENV)/.with-oracles
	$(RUN) -m torseur bench
	$(RUN) -m torseur bench --native

lint: $(VENV)/.with-lint
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports

format: $(VENV)/.with-lint
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

gallery: $(VENV)/.with-docs
	$(RUN) docs/draw_gallery.py

# GALLERY=no leaves out what the gallery lacks.
docs: $(VENV)/.with-docs $(if $(filter no,$(GALLERY)),,gallery)
	$(RUN) -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(RUN) docs/check_links.py docs/_build/html
	@echo "Open docs/_build/html/index.html"

clean:
	rm -rf $(VENV) docs/_build docs/_static/gallery docs/_static/joints docs/_static/mathjax docs/_static/schemes build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests examples docs -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per set of optional packages.
$(VENV)/.with-%: pyproject.toml | $(VENV)/.made
	@echo "Installing torseur[$*] into $(VENV)"
	@$(RUN) -m pip install -qq --disable-pip-version-check --editable '.[$*]'
	@touch $@

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "Torseur needs Python 3.11 or newer; '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)." >&2; \
	    echo "Name another one: make PYTHON=python3.12 ..." >&2; \
	    exit 1; }
	@echo "Making the virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@
