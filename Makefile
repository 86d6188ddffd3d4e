# Targets that work right after a clone, with Python 3.11 or later:
#   make demo    install into .venv, and compile a job with a built-in runtime
#   make test    install, lint and test
#   make test-slow       the tests of hostile input, and those that install trainc
#   make test-floors     most tests with the lowest versions of all dependencies, on the oldest Python of the machine
#   make test-cluster    apply the output to the cluster of KUBECONFIG, or to one that the program TRAINC_CLUSTER starts
#   make test-release    install the built wheel offline, as users do, and run trainc.pyz, pipx and uvx
#   make site    build the site in build/site; needs npm. make test-site opens it in a browser
#   make vscode  pack the extension for VS Code in build/vscode; needs npm. make test-vscode tests it
#   make audit   check the workflows, and the locked dependencies for known vulnerabilities
#   make e2e     install torch, TensorFlow, JAX ..., and run them from compiled manifests

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
E2E    ?= .venv-e2e
FLOORS ?= .venv-floors
FLOOR_TESTS ?= tests/unit tests/conformance tests/golden tests/reports
SITE   ?= .venv-site

# Installers compile packages; an editable install does it on the first run, which may lack write access.
COMPILE = $(BIN)/python -m compileall -q compiler

# Bytecode: without it, each process of the tests would compile trainc and the tests again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-floors test-cluster test-release test-site site playground test-vscode vscode audit lock pyz browser e2e e2e-install lint install golden snapshots differential fuzz clean
.PHONY: bench bench-editing bench-imports bench-instructions bench-sessions bench-stages

demo: $(VENV)/.installed
	$(BIN)/trainc build golden/llm-finetune-4x8/input.yaml

test: lint
	$(BIN)/pytest -n auto --dist worksteal -m "not slow"

# Run the tests that take half of the time: hostile input, benchmarks, the wheel, the Argo CD sidecar ...
test-slow: $(VENV)/.dev-installed
	OTHER_EXAMPLES=1 $(BIN)/pytest -n auto --dist worksteal -m "slow or examples"

# Run most tests with the lowest versions that pyproject.toml allows, on the oldest Python of this machine.
test-floors:
	$(PYTHON) scripts/floors.py $(FLOORS)
	$(FLOORS)/bin/python -m pytest -n auto --dist worksteal $(FLOOR_TESTS)

# Apply the output to a real API server. Needs kubectl 1.32 or later, and KUBECONFIG or TRAINC_CLUSTER (tests/cluster/server.py).
test-cluster: $(VENV)/.dev-installed
	$(BIN)/pytest -n 2 --maxschedchunk 1 tests/cluster

# Install the built wheel as users do, without a network. Building the wheelhouse needs a package index.
test-release: $(VENV)/.release-installed
	$(BIN)/pytest -n 0 tests/release

# Check the workflows offline, and the locked dependencies with PyPI: make audit [AUDIT=--online]
audit: $(VENV)/.release-installed
	$(BIN)/python scripts/audit.py $(AUDIT)

# Write the lock files from pyproject.toml: make lock [LOCK=--upgrade]
lock: $(VENV)/.release-installed
	$(BIN)/python scripts/lock.py $(LOCK)

# Build the site in build/site/site, and fail at links and anchors that do not exist. Needs npm and package indexes.
site: $(VENV)/.dev-installed $(SITE)/.installed site/node_modules/.installed playground/node_modules/.installed
	$(BIN)/python scripts/make_site.py $(SITE)/bin/zensical build/site

$(SITE)/.installed: requirements-site.lock
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-site.lock
	@touch $@

# Build only the playground, in build/playground: trainc in a browser, from the packages that are installed in the venv.
playground: $(VENV)/.dev-installed playground/node_modules/.installed
	$(BIN)/python scripts/make_playground.py build/playground

%/node_modules/.installed: %/package-lock.json
	cd $* && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# Open the site in Chromium, as `make browser` and tests/review/packages.txt install it.
test-site: site
	$(BIN)/pytest -n 0 tests/site tests/playground

# Pack the extension for VS Code in build/vscode/trainc-VERSION.vsix. Needs npm and its registry.
vscode: build/vscode/node_modules/.installed
	rm -rf build/vscode/src build/vscode/*.vsix
	cp -R integrations/vscode/. LICENSE build/vscode
	cd build/vscode && npm run --silent package

# The packages are not in integrations/, whose files the tests read.
build/vscode/node_modules/.installed: integrations/vscode/package.json integrations/vscode/package-lock.json
	mkdir -p build/vscode
	cp $^ build/vscode
	cd build/vscode && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# Start the packed extension and `trainc lsp` in Node, with a part of VS Code's API.
test-vscode: $(VENV)/.dev-installed vscode
	$(BIN)/pytest -n 0 tests/vscode

# Write dist/trainc.pyz, trainc and its dependencies in one file.
pyz:
	$(PYTHON) scripts/make_release.py pyz dist

# Run the frameworks from compiled manifests. Needs root on Linux, and the Debian packages of tests/e2e/packages.txt.
e2e: e2e-install
	$(E2E)/bin/python -m pytest tests/e2e

# Install the browser driver of tests/review. Chromium itself is a Debian package (tests/review/packages.txt).
browser: $(VENV)/.dev-installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[browser]'

# 3 GB, in a separate venv.
e2e-install: $(E2E)/.installed

$(E2E)/.installed: pyproject.toml tests/e2e/requirements.txt
	$(PYTHON) -m venv $(E2E)
	$(E2E)/bin/pip install --quiet --disable-pip-version-check --editable '.[secret]' -r tests/e2e/requirements.txt
	@touch $@

lint: $(VENV)/.dev-installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/codespell

# Rewrite the outputs of one golden case, and the pages that show it: make golden CASE=cpu-ranks
golden: $(VENV)/.dev-installed
	@test -f "golden/$(CASE)/input.yaml" || { echo "usage: make golden CASE=NAME, with an existing golden/NAME/input.yaml" >&2; exit 2; }
	$(BIN)/pytest -n 0 --snapshot-update --disable-warnings tests/golden/test_golden.py -k "[$(CASE)]"
	$(BIN)/python scripts/make_gallery.py

# Rewrite every generated list, golden output and snapshot from trainc's current output. Read the diff before you commit it.
snapshots: $(VENV)/.dev-installed
	$(BIN)/python scripts/make_diagnostics.py
	$(BIN)/pytest -n auto --snapshot-update tests/golden/test_golden.py
	$(BIN)/python scripts/make_gallery.py
	$(BIN)/python scripts/make_releases.py
	$(BIN)/pytest -n auto --snapshot-update

# Compare with the Go code: make differential ORACLE=/path/to/oracle [EXAMPLES=20000] [SEED=1] [CRDS=DIR]
differential: $(VENV)/.dev-installed
	ORACLE=$(ORACLE) EXAMPLES=$(EXAMPLES) SEED=$(SEED) $(if $(CRDS),CRDS=$(CRDS)) \
		$(BIN)/pytest -n auto tests/differential

# Test mutated golden inputs, a quarter as many mutated repositories, and 500 multiplied projects: make fuzz [EXAMPLES=20000]
fuzz: EXAMPLES ?= 20000
fuzz: $(VENV)/.dev-installed
	EXAMPLES=$(EXAMPLES) $(BIN)/pytest -n auto tests/fuzz tests/contracts/test_hostile.py -k "golden or mutated or literal or recorded or test_fixes or test_edits"

# Compare trainc with kubectl, kustomize, Helm and kubeconform, if they are on the PATH: make bench [BENCH="--quick"]
bench: $(VENV)/.dev-installed
	$(COMPILE)
	$(BIN)/python bench/run.py $(BENCH)

# Profiles: a cold start by module, the hot path in instructions, a job by stage. BENCH has options.
bench-editing bench-imports bench-instructions bench-sessions bench-stages: $(VENV)/.dev-installed
	$(COMPILE)
	$(BIN)/python bench/$(@:bench-%=%).py $(BENCH)

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	$(COMPILE)
	@touch $@

$(VENV)/.dev-installed: $(VENV)/.installed requirements-dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(COMPILE)
	@touch $@

$(VENV)/.release-installed: $(VENV)/.dev-installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[release]'
	@touch $@

clean:
	rm -rf $(VENV) $(E2E) $(FLOORS) $(SITE) site/node_modules playground/node_modules build dist .mypy_cache .ruff_cache .pytest_cache
