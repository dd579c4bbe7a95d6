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

# go test would vet once more for each way to build, also what the packages import; the steps of go vet look at more.
tested() { go test -vet=off -timeout 40m "$@" 2>&1 | tee -a "$report"; }

# Mathematics and the parser start no goroutine: there the race detector finds nothing, and makes it ten
# times slower.
plain=$(go list ./blue ./internal/config ./mechanism/... ./model/... ./parser/... ./policy ./privacy ./sensitivity ./smooth ./sqlstate ./twin \
  ./test/falsify ./test/setting)
arithmetic() {
  ! grep -nE '^\s*go [a-z(]|\.Go\(|sync\.(Mutex|RWMutex|Once|WaitGroup|Cond|Pool)|"sync/atomic"' $(go list -f '{{range .GoFiles}}{{$.Dir}}/{{.}} {{end}}' $plain) || return 1
  tested "$@" $plain
}

# Questions that are asked one after the other, by the thousand, show the race detector no more than the other tests of their
# packages do.
patient=$(go list ./test/integration/alike ./test/integration/market)
thousands=$(paste -sd '|' <<'NAMES'
TestAboveTheCut
TestAnswersWithoutAssumptions
TestCachesStayBounded
TestCertificatesTravel
TestDeclaredMistakes
TestErrorFromThePastIsAsClaimed
TestEveryMechanismThroughTheProxy
TestEveryPublicKeyComesBack
TestFitResumes
TestFittedModels
TestFittedStale
TestJointAccountIsTheLedgers
TestJointCostByHand
TestJointDirectional
TestJointRefusals
TestJointRepetitionIsBounded
TestJoinedLikeGrouped
TestNoiseHasThePlannedCovariance
TestPairsAreSpansOfTheirOwn
TestPastWhenTheBudgetIsSpent
TestRandomSequencesFromThePast
TestRecalledIsDropped
TestRefusedWithoutAssumptions
TestReleasesThroughTheProxyKeepThePromise
TestSampledShapes
TestSideDoorsFromBeside
TestSideDoorsSweep
TestTwinAsOnPostgreSQL
TestUtilityAsOnPostgreSQL
TestWhereCovariancesAreNotWorkedOut
NAMES
)
one_by_one() {
  # What is left out under the race detector is left out in all packages, and asked for here in two.
  ! grep -rnE --include='*_test.go' "^func ($thousands)\(" . | grep -vE '^\./(pipeline|test/integration)/[a-z0-9_]*\.go:' || return 1
  tested "$@" -run "^($thousands)\$" ./test/integration ./pipeline
}
# Three packages at a time, on two processors as well: they wait for disks, clusters and clocks. What takes longest begins
# first, so that nothing is left to run alone at the end.
at_a_time=3
longest=$(go list ./test/integration ./pipeline ./test/compat/suites ./ledger ./wire ./cmd/proxy ./test/compat/clients)
tests() {
  tested -race -p $at_a_time "$@" -skip "^($thousands)\$" \
    $longest $(go list ./... | grep -vxF "$plain"$'\n'"$patient"$'\n'"$longest")
}

step gofmt formatted
step 'go vet' go vet ./...
step staticcheck go tool staticcheck ./...
step 'go test, arithmetic' arithmetic "$@"
step 'go test -race' tests "$@"
step 'go test, one by one' one_by_one "$@"
step 'go test, spellings' tested "$@" $patient

# Tests with defences switched off, in a build that has switches for them: see internal/hook.
changed=$(grep -rlE --include='*.go' '^//go:build !?fuguhooks' . | xargs dirname | sort -u)
hooked() { grep -rlE --include='*_test.go' '^//go:build fuguhooks' "$@"; }
names() { grep -hoE '^func Test[A-Z][A-Za-z0-9_]*' "$@" | sed 's/^func //' | grep -v '^TestMain$' | paste -sd '|'; }
with_hooks() { tested -tags fuguhooks -p $at_a_time "${@:2}" -run "^($1)\$"; } # NAMES PACKAGES AND FLAGS...
# The differential corpus and the attacks ask one statement after the other, on the ways that test/integration goes under the
# race detector; without it they are three times faster.
asking=$(dirname $(hooked test twin) | sort -u | grep -vxE 'test/(integration|kill)' | sed 's|^|./|')
# Attacks wait for clocks and servers more than for processors, so every third of them is in a process of its own.
statements() {
  local i running=() status=0 others=$(grep -vxF ./test/integration/attack <<<"$asking")
  with_hooks "$(names $(hooked $others))" $others "$@" &
  running=($!)
  for i in 0 1 2; do
    with_hooks "$(names $(hooked test/integration/attack) | tr '|' '\n' | awk -v i=$i 'NR % 3 == i' | paste -sd '|')" ./test/integration/attack "$@" &
    running+=($!)
  done
  for i in "${running[@]}"; do wait "$i" || status=1; done
  return $status
}
# But for attacks in which clients race, and one of those that are made on two databases at the same time.
races() { with_hooks "$(names $(hooked test/integration/*.go))|TestRaceForTheLastBudget|TestNaiveAveraging" -race ./test/integration ./test/integration/attack "$@"; }
# What is killed is a program of its own. Of this much is shown: how many kills there were.
kills() { with_hooks "$(names $(hooked test/kill))" -v -parallel 4 ./test/kill "$@" | grep -avE '^(=== |\s*--- (PASS|SKIP)|PASS$)'; }

step 'go vet, with hooks' go vet -tags fuguhooks $changed
step 'staticcheck, with hooks' go tool staticcheck -tags fuguhooks $changed
step 'go test, with hooks' statements "$@"
step 'go test -race, with hooks' races "$@"
step 'go test, kills' kills "$@"

printf '\n== summary: %d packages passed, %d failed, %d without tests\n' \
  "$(grep -ac '^ok ' "$report")" "$(grep -ac '^FAIL[[:space:]].' "$report")" "$(grep -ac 'no test files' "$report")"
grep -aE '^(FAIL[[:space:]].|--- FAIL|panic:|WARNING: DATA RACE)' "$report"
if [ ${#failed[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "$(IFS=,; echo "${failed[*]}")"
  exit 1
fi
echo 'PASSED'
