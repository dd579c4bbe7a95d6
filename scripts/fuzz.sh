#!/usr/bin/env bash
# Runs every fuzz target of the module, one after the other, for a time each: scripts/fuzz.sh 10s
set -euo pipefail
cd "$(dirname "$0")/.."
for_time=${1:?usage: scripts/fuzz.sh DURATION}

grep -rl --include='*_test.go' '^func Fuzz' . | xargs -r -n 1 dirname | sort -u | while read -r package; do
  grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$package"/*_test.go | cut -c 6- | while read -r target; do
    printf '== %s %s\n' "$package" "$target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$for_time" "$package" </dev/null
  done
done
