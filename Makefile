# make demo    a fresh machine with Python 3.11 or newer: install into .venv and open the demo session
# make test    install the test extras and run everything that CI runs
# make lint    what needs no test to run: style, contracts, types of code and tests, and that each test module can be imported; a minute
# make torture  calls of the system that go wrong, ten thousand times; SEED=N repeats a run
# make bench, make screenshots: measurements, pictures of the screens

.DEFAULT_GOAL := help
.PHONY: help demo test check lint torture bench screenshots clean force

# What the caller's shell has set up must not reach our environment.
unexport VIRTUAL_ENV
unexport PYTHONPATH
unexport PYTHONHOME
unexport PYTHONWARNINGS
# Without compiled modules each of the many processes that tests start would take 0.3 s longer.
unexport PYTHONDONTWRITEBYTECODE
$(foreach name,$(filter TEXTUAL_%,$(.VARIABLES)),$(eval unexport $(name)))
unexport PIP_USER
unexport PIP_TARGET
unexport PIP_PREFIX
unexport PIP_REQUIRE_VIRTUALENV

VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
UV := $(shell command -v uv 2>/dev/null)
PYTHONS := python3.13 python3.12 python3.11 python3 python
MARK := $(VENV)/.installed
MARK_TEST := $(VENV)/.installed-test

# The path of the checkout is written into the scripts of .venv: after a move, or when the interpreter has gone,
# everything is made again.
MADE_IN := $(shell cat $(MARK) 2>/dev/null)
ifneq ($(MADE_IN),)
ifneq ($(MADE_IN),$(CURDIR))
STALE := force
endif
endif
ifneq ($(shell $(BIN)/python -I -c 'import sys; print(sys.version_info >= (3, 11))' 2>/dev/null),True)
STALE := force
endif

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

demo: $(MARK)
	@$(BIN)/leafward demo

# LEAFWARD_TEST_WORKERS=0 runs the tests in one process. There are two more than processors: tests of the screen wait a third of their time.
LEAFWARD_TEST_WORKERS ?= $$(( $$(getconf _NPROCESSORS_ONLN) + 2 ))

# Imports every test module, also those that are skipped without the agents; silent unless one fails.
COLLECT = found=$$($(BIN)/python -m pytest -n 0 --collect-only -q 2>&1) || { printf '%s\n' "$$found" | tail -n 80; wait; exit 1; }

define check_text
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
endef

lint: $(MARK_TEST)
	$(check_text)
	$(BIN)/mypy
	@$(COLLECT)

test: $(MARK_TEST)
	$(check_text)
# One processor is enough for mypy: the tests begin beside it, and either may fail. They are collected once ahead, which compiles them;
# otherwise each worker would do that, and a module that cannot be imported would be told only at the end.
	$(BIN)/mypy & typed=$$!; \
	$(COLLECT); \
	$(BIN)/python -m pytest -n $(LEAFWARD_TEST_WORKERS) --dist worksteal; tested=$$?; \
	wait $$typed && exit $$tested

check: test

torture: $(MARK_TEST)
	$(BIN)/python -m tests.torture $(SEED)

bench: $(MARK_TEST)
	$(BIN)/python -m tests.bench

screenshots: $(MARK_TEST)
	$(BIN)/python -m screenshots

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .snapshot-report

# $(call create): an empty $(VENV) with a Python of version 3.11 or newer.
define create
	@rm -rf $(VENV); \
	if [ -n "$(UV)" ]; then \
	    "$(UV)" venv --quiet --python '>=3.11' $(VENV); \
	else \
	    found=; unfit=; \
	    for python in $(PYTHONS); do \
	        version=$$($$python -I -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue; \
	        if ! $$python -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	            unfit="$$unfit $$python is $$version."; \
	        elif ! $$python -I -c 'import ensurepip, venv' 2>/dev/null; then \
	            unfit="$$unfit $$python ($$version) lacks the venv module (on Debian and Ubuntu: apt install python$$version-venv)."; \
	        else found=$$python; break; fi; \
	    done; \
	    if [ -z "$$found" ]; then \
	        echo "Leafward needs Python 3.11 or newer, and there is none on PATH.$$unfit" >&2; exit 1; \
	    fi; \
	    $$found -I -m venv $(VENV); \
	fi
endef

# $(call install,WHAT): WHAT from this checkout, with the versions that the tests ran with. Silent unless it fails.
# Modules are compiled where they are imported, as uv has it: to compile all of them took a quarter of the installation.
define install
	@echo "Installing into $(VENV); the first time takes a minute or two."
	@if [ -n "$(UV)" ]; then \
	    "$(UV)" pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '$(1)'; \
	else \
	    $(BIN)/python -I -c 'import pip' 2>/dev/null || $(BIN)/python -I -m ensurepip >/dev/null; \
	    $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input --no-compile \
	        --constraint constraints.txt --editable '$(1)'; \
	fi
endef

$(VENV)/pyvenv.cfg: $(STALE)
	$(create)

$(MARK): pyproject.toml constraints.txt $(STALE) | $(VENV)/pyvenv.cfg
	$(call install,.)
	@printf '%s\n' "$(CURDIR)" > $@

# The test extras come on top of the same set, so that the demo needs no second installation afterwards.
$(MARK_TEST): pyproject.toml constraints.txt $(STALE) | $(VENV)/pyvenv.cfg
	$(call install,.[test])
	@printf '%s\n' "$(CURDIR)" > $(MARK)
	@printf '%s\n' "$(CURDIR)" > $@

force:
