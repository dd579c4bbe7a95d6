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

# A line when a step begins and one when it ends: what it is, how long it took, and what it and its children had of the
# processors. Between the lines of an end and those of others stands what the step wrote.
TIMEFORMAT='%0R %0U %0S'
colours=('' '' '' '')
[ -t 1 ] && colours=($'\e[0m' $'\e[2m' $'\e[32m' $'\e[1;31m')
line() { # COLOUR STATE NAME TIME
  printf '%s%s  %-7s %-26s%s%s\n' "${colours[$1]}" "$(date +%T)" "$2" "$3" "$4" "${colours[0]}"
}
step() { # NAME COMMAND...
  local name=$1 out end=(2 ok) real user sys
  shift
  out=$(mktemp -p "$work")
  { flock 9 && line 1 begins "$name" ''; } 9>"$work/lock"
  { time "$@" >"$out" 2>&1; } 2>"$out.time" || { end=(3 FAILED); echo "$name" >>"$work/failed"; }
  read -r real user sys <<<"$(tail -n 1 "$out.time")"
  {
    flock 9
    sed 's/^/          /' "$out"
    line "${end[@]}" "$name" "$(printf '%5d s, %5d s of processor' "$real" $((user + sys)))"
  } 9>"$work/lock"
}

formatted() {
  local files
  files=$(gofmt -l . 2>&1)
  [ -z "$files" ] || { printf 'not formatted, run gofmt -w:\n%s\n' "$files" && false; }
}

# go test would vet once more for each way to build, also what the packages import; the steps of go vet look at more.
tested() { go test -vet=off -timeout 40m "$@" 2>&1 | tee -a "$report"; }

# Mathematics and the parser start no goroutine: there the race detector finds nothing, and makes it ten times slower.
# Nor is Fugu itself in tests that run the program beside clients, or in those of attacks and of the corpus that need no
# hooks. What takes longest begins first, also below.
plain=$(go list ./test/compat/suites ./mechanism ./estimate ./test/compat/clients ./model/... ./mechanism/... ./twin ./cmd/demo \
  ./test/falsify ./test/adult ./test/integration/apart ./examples/... ./internal/arch/... ./internal/config \
  ./internal/sqlsupport ./internal/strictyaml ./parser/... ./planner/aggregate ./planner/unlisted ./policy ./privacy \
  ./reuse/blue ./sensitivity ./sqlstate ./test/beside ./test/compat/newest ./test/compose ./test/integration/attack \
  ./test/integration/corpus ./test/setting ./twin/class ./twin/margin)
alone() {
  local concurrent='^\s*go [a-z(]|\.Go\(|sync\.(Mutex|RWMutex|Once|WaitGroup|Cond|Pool)|"sync/atomic"'
  ! grep -nE "$concurrent" $(go list -f '{{range .GoFiles}}{{$.Dir}}/{{.}} {{end}}' $plain) || return 1
  tested -p $at_a_time "$@" $plain
}

# Tests that ask thousands of questions one after the other begin with a marker: under the race detector they skip
# themselves, see test/patient, and here they run without it. They are found by the marker, so none is run never or twice.
# Those of a build with hooks are found by their names, below.
marked=$(grep -rlF --include='*_test.go' '"fugu/test/patient"' . | xargs grep -LE '^//go:build fuguhooks' | sort)
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
# Three packages at a time, on two processors as well: they wait for disks, clusters and clocks.
at_a_time=3
longest=$(go list ./test/integration ./pipeline ./account ./cmd/proxy ./wire ./ledger ./upstream)

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

# Under the race detector stands everything else, in a build that has the switches too, all of them off but in the tests
# of test/integration that turn one. The detector also checks each conversion of a pointer: of protobuf, which reads
# every tree of the parser and is nobody's code here, that alone is an eighth of all the processor time.
race=(-race '-gcflags=google.golang.org/protobuf/...=-d=checkptr=0' -tags fuguhooks)
tests() {
  local elsewhere=$(all_marked; go list ./test/kill $asking) status=0
  tested "${race[@]}" -p $at_a_time "$@" \
    $longest $(go list ./... | grep -vxF "$plain"$'\n'"$elsewhere"$'\n'"$longest") || status=1
  # Of the build of a twin what has no switches: the tests that have are among those that ask.
  tested "${race[@]}" "$@" -skip "^($(names $(hooked twin/build)))\$" ./twin/build || status=1
  # Attacks in which clients race, and one of those that are made on two databases at the same time.
  tested "${race[@]}" "$@" -run '^(TestRaceForTheLastBudget|TestNaiveAveraging)$' ./test/integration/attack || status=1
  return $status
}
# What is killed is a program of its own. Of this much is shown: how many kills there were.
kills() {
  with_hooks "$(names $(hooked test/kill))" -v -parallel 4 ./test/kill "$@" |
    grep -avE '^(=== |\s*--- (PASS|SKIP)|PASS$)'
}

# Two lanes from the beginning: what is compiled for the one is not for the other, and while the one waits for clocks,
# servers and disks, the other has the processors.
detected() {
  step 'tests, race' tests "$@"
  step 'tests, kills' kills "$@"
}
undetected() {
  step gofmt formatted
  step 'go vet' go vet ./...
  step 'go vet, hooks' go vet -tags fuguhooks $changed
  step 'tests, nothing concurrent' alone "$@"
  step 'tests, hooks' statements "$@"
  step 'tests, patient' patient "$@"
  step staticcheck go tool staticcheck ./...
  step 'staticcheck, hooks' go tool staticcheck -tags fuguhooks $changed
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
