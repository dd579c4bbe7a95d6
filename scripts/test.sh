#!/usr/bin/env bash
# Runs every check of the repository, also after one has failed, and ends with a summary. GOFLAGS is respected.
set -uo pipefail
cd "$(dirname "$0")/.."

report=$(mktemp)
trap 'rm -f "$report"' EXIT
failed=()

step() { # NAME COMMAND...
  local name=$1 start=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  if "$@"; then
    printf '   ok (%ds)\n' $((SECONDS - start))
  else
    failed+=("$name")
    printf '   FAILED (%ds)\n' $((SECONDS - start))
  fi
}

formatted() {
  local files
  files=$(gofmt -l . 2>&1)
  [ -z "$files" ] || { printf 'not formatted, run gofmt -w:\n%s\n' "$files" && false; }
}

# Two packages at a time: each may run PostgreSQL servers of its own.
tests() { go test -race -p 2 -timeout 20m "$@" ./... 2>&1 | tee "$report"; }

step gofmt formatted
step 'go vet' go vet ./...
step staticcheck go tool staticcheck ./...
step 'go test -race' tests "$@"

printf '\n== summary: %d packages passed, %d failed, %d without tests\n' \
  "$(grep -c '^ok ' "$report")" "$(grep -c '^FAIL[[:space:]].' "$report")" "$(grep -c 'no test files' "$report")"
grep -E '^(FAIL[[:space:]].|--- FAIL|panic:|WARNING: DATA RACE)' "$report"
if [ ${#failed[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "$(IFS=,; echo "${failed[*]}")"
  exit 1
fi
echo 'PASSED'
