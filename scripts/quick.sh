#!/usr/bin/env bash
# What fits between two saves of a file: formatting, vet, the tests of what needs no server, and then one cluster, in which
# psql asks through Fugu, with noise and of a twin. No race detector, and no test that draws by the thousand: make test does.
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { printf 'not formatted, run gofmt -w:\n%s\n' "$unformatted"; exit 1; }
go vet ./...
go test -vet=off -short ./reuse/... ./examples/... ./internal/... ./mechanism/... ./model/... ./parser/... ./planner/... \
  ./policy ./privacy/... ./sensitivity ./sqlstate
go test -vet=off -run '^(TestPsql|TestTwinTools)$' ./test/integration
