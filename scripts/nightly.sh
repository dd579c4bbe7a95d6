#!/usr/bin/env bash
# What takes too long for make test: many statements from the generator, with a seed of the day or the one given, and a
# falsification of every mechanism by twenty times as many transcripts.
#
#   scripts/nightly.sh [SEED]
set -euo pipefail
cd "$(dirname "$0")/.."

seed=${1:-$(date +%Y%m%d)}
echo "seed $seed"
go test -tags fuguhooks -timeout 60m -run '^TestRandom$' ./test/integration/corpus -args -statements 10000 -seed "$seed"
FALSIFY_EFFORT=20 go test -timeout 60m -count 1 ./test/falsify
