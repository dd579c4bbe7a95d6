# Everything to build, try, test and measure Fugu. Each target installs what it needs first, see scripts/setup.sh.
SHELL := /bin/bash
export PATH := $(PATH):/usr/local/go/bin
# Where Debian, and scripts/setup.sh if it has to use npm, put the node-postgres that tests use.
export NODE_PATH := /usr/share/nodejs:$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/fugu/node/node_modules

DATA ?=
BENCH ?= .
FUZZTIME ?= 10s
SOAK ?= 10m
# What fugu version says; a build from an archive can be given it.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help build package package-test demo test quick nightly compat compat-18 bench paper compare site lint shape fuzz soak kills clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/fugu
	@scripts/setup.sh
	go build -ldflags "-X main.release=$(VERSION)" -o bin/fugu ./cmd/proxy

package: ## build/fugu_VERSION_ARCH.deb, with a unit of systemd, manual page and completions, what it is made of (CycloneDX), and SHA256SUMS; the same bytes each time
	@scripts/setup.sh
	@scripts/package.sh

package-test: ## the package made twice, in two directories: the same bytes; installed, checked, served by systemd, and removed
	@scripts/setup.sh server
	FUGU_NIGHTLY=1 go test -count 1 -timeout 1h -v ./test/packaging

demo: ## a private PostgreSQL, generated data (or DATA=file.csv), Fugu, and statements through psql: with noise, then on a twin
	@scripts/setup.sh server
	go build -ldflags "-X main.release=$(VERSION)" -o bin/fugu ./cmd/proxy
	go run ./cmd/demo $(if $(DATA),-data '$(DATA)')

test: ## formatting, vet, staticcheck and all tests, under the race detector
	@scripts/setup.sh server test
	@scripts/test.sh

quick: ## for every save: formatting, vet, unit tests, and one cluster with psql through Fugu
	@scripts/setup.sh server
	@scripts/quick.sh

nightly: ## what is too long for make test: more statements, trials and transcripts; SEED=number as of another day
	@scripts/setup.sh server test browser
	@scripts/nightly.sh $(SEED)

compat: ## the test suites of pgx, lib/pq and libpq, and 17 clients, through Fugu as directly: beside noise, and beside twins; and docs/recipes
	@scripts/setup.sh server compat
	@failed=0; for twins in '' -twins; do go run ./test/compat/clients $$twins || failed=1; go run ./test/compat/suites $$twins || failed=1; done; \
	go run ./test/compat/recipes || failed=1; exit $$failed

compat-18: ## PostgreSQL 18 with its psql and libpq, unpacked from Debian's testing release: protocol 3.2, the tests that need a server, and make compat
	@scripts/setup.sh server compat
	@programs=$$(scripts/postgres18.sh) && export PATH=$$programs:$$PATH && failed=0; \
	go test -timeout 30m -p 1 ./test/compat/newest ./test/pgcluster ./wire/... ./upstream ./pipeline ./ledger ./planner/... ./cmd/proxy ./test/integration || failed=1; \
	go run ./test/compat/clients || failed=1; go run ./test/compat/suites || failed=1; exit $$failed

bench: ## what Fugu costs beside PostgreSQL and PgBouncer, make paper, and all package benchmarks; or those that match BENCH=regexp, or PART=relay (see docs/operations.md)
	@scripts/setup.sh server peers
	go build -ldflags "-X main.release=$(VERSION)" -o bin/fugu ./cmd/proxy
ifdef PART
	go run ./test/bench -only '$(PART)' $(if $(ROWS),-rows '$(ROWS)')
else
	$(if $(filter .,$(BENCH)),go run ./test/bench)
	$(if $(filter .,$(BENCH)),go run ./test/paper $(if $(DATA),-data '$(DATA)'))
	go test -run '^$$' -bench '$(BENCH)' -benchmem -p 1 $$(grep -rlE --include='*_test.go' '^func Benchmark' . | xargs -n1 dirname | sort -u)
	go test -tags fuguhooks -run '^$$' -bench '$(BENCH)' -benchtime 3x ./test/integration/corpus
endif

paper: ## the experiments of Chen & Ohrimenko beside Fugu's, with plots in build/paper, and 10,000 statements over coupled twins; DATA=file.csv as for demo
	@scripts/setup.sh server
	go run ./test/paper $(if $(DATA),-data '$(DATA)')
	FUGUHOOKS_STATEMENTS=10000 go test -tags fuguhooks -count=1 -timeout 60m -v -run '^TestCoupledWorlds$$' ./test/integration/twinattack

compare: ## pg_diffix and a twin side by side, if the first PostgreSQL on PATH has the extension: errors, and what tells a global property
	@scripts/setup.sh server
	go test -count=1 -timeout 60m -v -run '^TestBesideDiffix$$' ./test/integration/market -orders 20000

site: ## the documents as HTML in build/site, or SITE=directory: begin with its index.html
	go run ./internal/site '$(or $(SITE),build/site)'

lint: ## formatting, vet and staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	go vet ./...
	go tool staticcheck ./...

shape: ## lines, packages, the largest set of files that need each other, and functions that are too long
	@go run ./internal/arch/shape

soak: ## everything goes wrong at once for SOAK (10m), with 2,000 idle clients at the end
	@scripts/setup.sh server
	FUGU_SOAK=$(SOAK) FUGU_SOAK_IDLE=2000 go test -count=1 -timeout 0 -v -run '^TestSoak$$' ./test/integration

kills: ## the proxy, the ledger's server and connection, and clients die at every point of a charge: more than 500 kills
	@scripts/setup.sh server
	FUGUHOOKS_KILLS=all go test -count=1 -tags fuguhooks -timeout 1h -v ./test/kill

fuzz: ## each fuzz target for FUZZTIME (10s)
	@scripts/setup.sh server
	@scripts/fuzz.sh $(FUZZTIME)

clean: ## remove what make builds
	rm -rf bin build coverage.out
