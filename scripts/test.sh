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

# Mathematics that starts no goroutine: there the race detector finds nothing, and makes it ten times slower.
plain=$(go list ./mechanism/... ./model ./sensitivity ./smooth ./test/falsify ./test/setting)
arithmetic() {
  ! grep -nE '^\s*go [a-z(]|"sync(/atomic)?"' $(go list -f '{{range .GoFiles}}{{$.Dir}}/{{.}} {{end}}' $plain) || return 1
  go test -timeout 20m "$@" $plain 2>&1 | tee "$report"
}
# Two packages at a time: each may run PostgreSQL servers of its own.
tests() { go test -race -p 2 -timeout 20m "$@" $(go list ./... | grep -vxF "$plain") 2>&1 | tee -a "$report"; }

step gofmt formatted
step 'go vet' go vet ./...
step staticcheck go tool staticcheck ./...
step 'go test, arithmetic' arithmetic "$@"
step 'go test -race' tests "$@"

# Tests with defences switched off, in a build that has switches for them: see internal/hook.
hooked=$(grep -rlE --include='*_test.go' '^//go:build fuguhooks' test)
packages=$(dirname $hooked | sort -u | sed 's|^|./|')
names=$(grep -hoE '^func Test[A-Z][A-Za-z0-9_]*' $hooked | sed 's/^func //' | grep -v '^TestMain$' | paste -sd '|')
# Two thousand statements one after the other: the differential corpus finds no race that test/integration does not, and is six times faster without the detector.
corpus=$(grep -E '/corpus$' <<<"$packages")
with_hooks() { go test "${@:2}" -tags fuguhooks -run "^($names)\$" -timeout 20m $1 2>&1 | tee -a "$report"; }

step 'go vet, with hooks' go vet -tags fuguhooks ./...
step 'staticcheck, with hooks' go tool staticcheck -tags fuguhooks ./...
step 'go test, corpus with hooks' with_hooks "$corpus" "$@"
step 'go test -race, with hooks' with_hooks "$(grep -vxF "$corpus" <<<"$packages")" -race "$@"

printf '\n== summary: %d packages passed, %d failed, %d without tests\n' \
  "$(grep -c '^ok ' "$report")" "$(grep -c '^FAIL[[:space:]].' "$report")" "$(grep -c 'no test files' "$report")"
grep -E '^(FAIL[[:space:]].|--- FAIL|panic:|WARNING: DATA RACE)' "$report"
if [ ${#failed[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "$(IFS=,; echo "${failed[*]}")"
  exit 1
fi
echo 'PASSED'
