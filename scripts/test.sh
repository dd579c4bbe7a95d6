#!/usr/bin/env bash
# Runs every check of the repository, also after one has failed, and ends with a summary. GOFLAGS is respected.
set -uo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
report=$work/report
lanes=()
# Nothing is left of a lane when this is interrupted: each has a process group of its own.
trap 'for lane in "${lanes[@]}"; do kill -- "-$lane" 2>/dev/null; done; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# A step's output is shown when it is over: two of them run at the same time.
step() { # NAME COMMAND...
  local name=$1 start=$SECONDS result=ok out
  shift
  out=$(mktemp -p "$work")
  "$@" >"$out" 2>&1 || { result=FAILED; echo "$name" >>"$work/failed"; }
  {
    flock 9
    printf '\n== %s\n' "$name"
    cat "$out"
    printf '   %s (%ds)\n' "$result" $((SECONDS - start))
  } 9>"$work/lock"
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
plain=$(go list ./reuse/blue ./internal/config ./mechanism/... ./model/... ./parser/... ./policy ./privacy ./sensitivity \
  ./planner/aggregate ./sqlstate ./twin ./test/falsify ./test/setting)
arithmetic() {
  local concurrent='^\s*go [a-z(]|\.Go\(|sync\.(Mutex|RWMutex|Once|WaitGroup|Cond|Pool)|"sync/atomic"'
  ! grep -nE "$concurrent" $(go list -f '{{range .GoFiles}}{{$.Dir}}/{{.}} {{end}}' $plain) || return 1
  tested "$@" $plain
}

# Tests that ask thousands of questions one after the other begin with a marker: under the race detector they skip
# themselves, see test/patient, and here they run without it. They are found by the marker, so none is run never or twice.
marked=$(grep -rlF --include='*_test.go' '"fugu/test/patient"' . | sort)
patients() { # FILES...
  grep -hB1 -xF $'\tpatient.Test(t)' "$@" | sed -nE 's/^func (Test[A-Za-z0-9_]*)\(.*/\1/p' | sort -u | paste -sd '|'
}
patient() {
  # What stands elsewhere than at the beginning of a test, or in a file that not every build has, would not be found.
  local misplaced=$(awk 'FNR == 1 { test = 0 }
    /^func Test[A-Z].*\(t \*testing\.T\) \{$/ { test = FNR }
    /^\tpatient\.Test\(t\)$/ && test == FNR - 1 { next }
    /^\/\/go:build/ || /patient\./ { print FILENAME ":" FNR ": " $0 }' $marked)
  [ -z "$misplaced" ] || { printf 'not where it is looked for:\n%s\n' "$misplaced" && return 1; }
  tested -p $at_a_time "$@" -run "^($(patients $marked))\$" $(dirname $marked | sort -u)
}
# Under the race detector there is nothing left of packages all of whose tests are marked.
all_marked() {
  local d
  for d in $(dirname $marked | sort -u); do
    cat "$d"/*_test.go | awk '/^func Test[A-Z].*\(t \*testing\.T\) \{$/ { n++ }
      /^\tpatient\.Test\(t\)$/ { n-- }
      END { exit n != 0 }' && go list "$d"
  done
}
# Three packages at a time, on two processors as well: they wait for disks, clusters and clocks. What takes longest
# begins first, so that nothing is left to run alone at the end.
at_a_time=3
longest=$(go list ./test/integration ./pipeline ./test/compat/suites ./account ./ledger ./wire ./cmd/proxy ./test/compat/clients)
# The race detector also checks each conversion of a pointer. Of protobuf, which reads every tree of the parser and is
# nobody's code here, that alone is an eighth of all the processor time.
race=(-race '-gcflags=google.golang.org/protobuf/...=-d=checkptr=0')
tests() {
  tested "${race[@]}" -p $at_a_time "$@" \
    $longest $(go list ./... | grep -vxF "$plain"$'\n'"$(all_marked)"$'\n'"$longest")
}

# Tests with defences switched off, in a build that has switches for them: see internal/hook.
changed=$(grep -rlE --include='*.go' '^//go:build !?fuguhooks' . | xargs dirname | sort -u)
hooked() { grep -rlE --include='*_test.go' '^//go:build fuguhooks' "$@"; }
names() { # FILES...
  grep -hoE '^func Test[A-Z][A-Za-z0-9_]*' "$@" | sed 's/^func //' | grep -v '^TestMain$' | paste -sd '|'
}
with_hooks() { tested -tags fuguhooks -p $at_a_time "${@:2}" -run "^($1)\$"; } # NAMES PACKAGES AND FLAGS...
# The differential corpus and the attacks ask one statement after the other, on the ways that test/integration goes under
# the race detector; without it they are three times faster.
asking=$(dirname $(hooked test twin) | sort -u | grep -vxE 'test/(integration|kill)' | sed 's|^|./|')
# Attacks wait for clocks and servers more than for processors, so every third of them is in a process of its own.
statements() {
  local i attacks running=() status=0 others=$(grep -vxF ./test/integration/attack <<<"$asking")
  with_hooks "$(names $(hooked $others))" $others "$@" &
  running=($!)
  for i in 0 1 2; do
    attacks=$(names $(hooked test/integration/attack) | tr '|' '\n' | awk -v i=$i 'NR % 3 == i' | paste -sd '|')
    with_hooks "$attacks" ./test/integration/attack "$@" &
    running+=($!)
  done
  for i in "${running[@]}"; do wait "$i" || status=1; done
  return $status
}
# But for attacks in which clients race, and one of those that are made on two databases at the same time.
races() {
  with_hooks "$(names $(hooked test/integration/*.go))|TestRaceForTheLastBudget|TestNaiveAveraging" \
    "${race[@]}" ./test/integration ./test/integration/attack "$@"
}
# What is killed is a program of its own. Of this much is shown: how many kills there were.
kills() {
  with_hooks "$(names $(hooked test/kill))" -v -parallel 4 ./test/kill "$@" |
    grep -avE '^(=== |\s*--- (PASS|SKIP)|PASS$)'
}

step gofmt formatted
step 'go vet' go vet ./...
# Two lanes: while the one waits for clocks, servers and disks, the other has the processors. What is built the same way
# is in the same lane, so that nothing is compiled twice.
detected() {
  step 'go test -race' tests "$@"
  step 'go test -race, with hooks' races "$@"
  step 'go test, kills' kills "$@"
}
undetected() {
  step staticcheck go tool staticcheck ./...
  step 'go test, arithmetic' arithmetic "$@"
  step 'go vet, with hooks' go vet -tags fuguhooks $changed
  step 'staticcheck, with hooks' go tool staticcheck -tags fuguhooks $changed
  step 'go test, with hooks' statements "$@"
  step 'go test, patient' patient "$@"
}
set -m
detected "$@" </dev/null &
lanes+=($!)
undetected "$@" </dev/null &
lanes+=($!)
set +m
wait
lanes=()

printf '\n== summary: %d packages passed, %d failed, %d without tests, in %d s\n' \
  "$(grep -ac '^ok ' "$report")" "$(grep -ac '^FAIL[[:space:]].' "$report")" "$(grep -ac 'no test files' "$report")" $SECONDS
grep -aE '^(FAIL[[:space:]].|--- FAIL|panic:|WARNING: DATA RACE)' "$report"
if [ -s "$work/failed" ]; then
  printf 'FAILED: %s\n' "$(paste -sd , "$work/failed")"
  exit 1
fi
echo 'PASSED'
