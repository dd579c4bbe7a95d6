#!/usr/bin/env bash
# What takes too long for make test: many statements from the generator, with a seed of the day or the one given, a
# falsification of every mechanism by twenty times as many transcripts, estimates of four times as many ledgers, attacks
# in ten times as many trials, kills at every point, fifty pairs of each kind of spelling, and under the race detector
# what make test asks without it.
#
#   scripts/nightly.sh [SEED]
set -euo pipefail
cd "$(dirname "$0")/.."

seed=${1:-$(date +%Y%m%d)}
echo "seed $seed"
status=0
# Tests go in an order of chance, so that none comes to need what another has left; go test prints the number by which
# it can be had again, -shuffle=NUMBER.
tested() { go test -count 1 -timeout 4h -shuffle=on "$@" || status=1; }

# What users have instead of the switches of tests is looked at here, and all else once more.
make -s lint || status=1
tested -tags fuguhooks -run '^TestRandom$' ./test/integration/corpus -args -statements 10000 -seed "$seed"
FALSIFY_EFFORT=20 tested ./test/falsify
FALSIFY_EFFORT=20 tested -run '^TestSampledReleasesKeepThePromise$' ./model
FUGUHOOKS_TRIALS=10 tested -tags fuguhooks ./test/integration/attack
# What does more by night than by day, found by what it asks: see test/nightly.
FUGU_NIGHTLY=1 tested -tags fuguhooks $(grep -rlF --include='*_test.go' '"fugu/test/nightly"' . |
  xargs -n1 dirname | sort -u)
FUGUHOOKS_KILLS=all tested -tags fuguhooks ./test/kill
FUGU_LEDGERS=4000 tested -run '^TestCoverage$' ./estimate
# What make test does not compile: pages as a browser shows them, and pictures of the documentation.
FUGU_NIGHTLY=1 FUGU_BROWSER=1 tested ./test/browser ./internal/site ./test/choosing
FUGU_NIGHTLY=1 FUGU_BROWSER=1 tested -run '^TestConsole(OfTwins)?InABrowser$' ./cmd/proxy
FUGU_PAIRS=50 tested ./test/integration/alike
FUGU_PATIENT=1 tested -tags fuguhooks -race ./ledger ./pipeline ./account ./answer ./cmd/proxy ./test/integration \
  ./twin/build ./wire
exit $status
