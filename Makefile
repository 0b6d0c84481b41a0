# One command for people and for continuous integration: `make test`.
# `make help` lists the targets.

GOLANGCI_LINT_VERSION := v2.15.0
TEST_TIMEOUT          := 10m
FUZZTIME              := 30s

# Where scripts/setup puts Node.js when the system's is too old.
export PATH := $(CURDIR)/bin/node/node_modules/.bin:$(PATH)

STEP    = @scripts/step "$@"
MODULES = $(shell go list -m -f '{{.Dir}}')

# A module whose dependencies clash with those of the workspace.
OUTSIDE = $(CURDIR)/internal/integration/ferretdb

# The package that publishes the tree, which a step of its own tests.
RELEASE = github.com/pintleauth/pintle/internal/release

# The steps of `make test` run in the order they are listed.
.NOTPARALLEL:

.PHONY: help
help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: test
test: setup format vet lint race publish conformance ## Everything a change must pass
	@echo "make test: every step passed"

.PHONY: setup
setup: ## Install the servers and the browser the tests start
	$(STEP) scripts/setup

.PHONY: format
format: ## Check that gofmt has nothing to say
	$(STEP) scripts/format

.PHONY: vet
vet: ## Vet every module of the workspace
	$(STEP) go vet work

.PHONY: lint
lint: ## Run golangci-lint in every module
	$(STEP) scripts/lint $(GOLANGCI_LINT_VERSION) $(MODULES) $(OUTSIDE)

.PHONY: fix
fix: ## Repair what the linters can repair by themselves
	@scripts/lint $(GOLANGCI_LINT_VERSION) --fix $(MODULES) $(OUTSIDE)

.PHONY: race
race: ## Test every module under the race detector
	$(STEP) go test -race -timeout $(TEST_TIMEOUT) $(filter-out $(RELEASE),$(shell go list work))

.PHONY: publish
publish: ## Release the tree in a clone, and get every module as its users do
	$(STEP) go test -count=1 -v $(RELEASE)

.PHONY: conformance
conformance: ## Compare the server with the transcripts of the reference
	$(STEP) scripts/conformance

.PHONY: docs
docs: ## Write the test columns of docs/security.md and docs/compatibility.md
	go test -count=1 -run TestDocuments ./docs -update

.PHONY: bench
bench: ## Run the benchmarks of every module
	go test -run '^$$' -bench . -benchmem work

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME
	@scripts/fuzz $(FUZZTIME) $(MODULES)
