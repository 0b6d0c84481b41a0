# `make check` while working, `make test` before a change is merged.
# `make help` lists the targets.

FUZZTIME    := 30s
SOAK        := 10m
SOAK_OLD    := last
SOAK_STORES := PostgreSQL,Redis Cluster

# Where scripts/setup puts Node.js when the system's is too old.
export PATH := $(CURDIR)/bin/node/node_modules/.bin:$(PATH)

CHECK   = @go run ./internal/check

.PHONY: help
help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: check
check: ## Formatting, vet, linters and the tests that need nothing but Go
	$(CHECK)

.PHONY: test
test: ## Everything a change must pass
	$(CHECK) -all

.PHONY: setup
setup: ## Install the servers and the browser the tests start
	$(CHECK) setup

.PHONY: format
format: ## Check that gofmt has nothing to say
	$(CHECK) format

.PHONY: vet
vet: ## Vet every module of the workspace
	$(CHECK) vet

.PHONY: lint
lint: ## Run golangci-lint in every module
	$(CHECK) lint

.PHONY: fix
fix: ## Repair what the linters can repair by themselves
	$(CHECK) fix

.PHONY: unit
unit: ## Run the tests that start no server
	$(CHECK) unit

.PHONY: race
race: ## Run all tests under the race detector
	$(CHECK) race

.PHONY: registers
registers: ## Compare the registers in docs/ with the tests that make race ran
	$(CHECK) registers

.PHONY: publish
publish: ## Release the tree in a clone, and get every module as its users do
	$(CHECK) publish

.PHONY: conformance
conformance: ## Compare the server with the transcripts of the reference
	$(CHECK) conformance

.PHONY: docs
docs: ## Write the test columns of the registers from what make race ran
	go test -count=1 -run TestRegisters ./docs -results $(CURDIR)/tmp/tests.tsv -update

.PHONY: guides
guides: ## Build the guides as a static site in tmp/guides
	@cd internal/integration/guides && npm run build -- --outDir $(CURDIR)/tmp/guides

.PHONY: bench
bench: ## Run the benchmarks of every module
	go test -run '^$$' -bench . -benchmem work

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME
	@scripts/fuzz $(FUZZTIME)

.PHONY: collector
collector: ## Build a real OpenTelemetry Collector, and send the traces and metrics of the tests through it
	cd internal/integration/collector && GOWORK=off go build -tags collector -ldflags='-s -w' -o $(CURDIR)/tmp/ .
	go test -count=1 -v ./internal/integration/telemetry -args -collector $(CURDIR)/tmp/collector

.PHONY: soak
soak: ## Run two instances under load and faults for SOAK, with a report in tmp/soak
	go test -count=1 -v -timeout 0 -run Acknowledge ./internal/integration/soak -soak.duration $(SOAK) \
		-soak.stores "$(SOAK_STORES)" -soak.faults "" -soak.workers 8 -soak.old $(SOAK_OLD) -soak.out $(CURDIR)/tmp/soak
