#!/usr/bin/env bash
# Runs every check of the repository, also after one has failed, and ends with a summary. GOFLAGS is respected.
# Without -e, as one check that fails is to keep no other from its turn: each step says itself how it has ended.
set -uo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
report=$work/report
lanes=()
# Nothing is left of a lane when this is interrupted: each has a process group of its own.
trap 'for lane in "${lanes[@]}"; do kill -- "-$lane" 2>/dev/null; done; rm -rf "$work" /dev/shm/fugu-pgcluster-*' EXIT
trap 'exit 130' INT TERM

# Where memory is plenty, clusters and ledgers are in it: that takes the processors a tenth less than a disk, and nothing
# waits. What the go command works with stays where it was.
if [ "$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt $((6 << 20)) ] 2>/dev/null &&
  ! grep -q '^[^ ]* /dev/shm [^ ]* [^ ]*noexec' /proc/mounts; then
  export GOTMPDIR=${GOTMPDIR-${TMPDIR-/tmp}} TMPDIR=/dev/shm
fi

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

# Memory is there, and processor time is what this takes: collecting garbage a quarter as often saves a tenth of it.
export GOGC=${GOGC-400}

# Nobody debugs what is made here: C is compiled with half of the work, and runs nearly as fast, tests are linked with
# half of theirs, and the compiler writes nothing for debuggers, a fourteenth of its work. What comes from elsewhere is
# compiled without inlining, but for the mathematics: that is a fifth of the work. The compiler and the linker end before
# their garbage is worth collecting, which is an eighth. With -trimpath another clone on this machine has the same
# objects.
export CGO_CFLAGS=${CGO_CFLAGS--Og -g0}
leanly=('-ldflags=-s -w')
elsewhere=(github.com go.opentelemetry.io golang.org google.golang.org honnef.co)
export GOFLAGS="${GOFLAGS-} -trimpath -gcflags=all=-dwarf=false"
GOFLAGS+=$(printf -- " '-gcflags=%s/...=-l -dwarf=false'" "${elsewhere[@]}")
GOFLAGS+=" '-toolexec=env GOGC=off GOMEMLIMIT=1GiB'"

# go test would vet once more for each way to build, also what the packages import; the step of go vet looks at more.
tested() { go test -vet=off "${leanly[@]}" -timeout 40m "$@" 2>&1 | tee -a "$report"; }

# There are two ways to build, each compiled once: with the race detector and without. Both have switches for defences,
# all of them off but in tests that turn one, see internal/hook. Fugu as users have it is built by tests that run the
# program; the few lines that it has instead of the switches are vetted by make lint, and so by make nightly. And what
# only a night looks at is not even compiled: the driver of a browser and what draws plots, a sixth of all packages.
hooks=(-tags fuguhooks,byday)
vetted() { go vet "${hooks[@]}" ./...; }
# go tool would build it with other flags, and for that a part of the standard library once more. It keeps most of what
# it makes, so to collect garbage more seldom takes 1.5 GB instead of 0.8 and an eighth less of the processors.
checked() {
  go build "${leanly[@]}" -o "$work/staticcheck" honnef.co/go/tools/cmd/staticcheck &&
    GOGC=1600 "$work/staticcheck" "${hooks[@]}" ./...
}
names() { # FILES...
  grep -hoE '^func Test[A-Z][A-Za-z0-9_]*' "$@" | sed 's/^func //' | grep -v '^TestMain$' | sort
}

# Three packages at a time, on two processors as well: they wait for disks, clusters and clocks.
at_a_time=3

# Under the race detector stand the packages that start goroutines, in their code or in their tests. Everything else
# goes one after the other, and there the detector finds nothing and makes it ten times slower. What locks a package has
# for others are gone at by clients of test/integration, pipeline and wire. What takes longest begins first, also below.
raced=$(go list "${hooks[@]}" ./test/integration ./wire ./cmd/proxy ./ledger ./upstream ./pipeline ./privacy/joint \
  ./twin/build ./quote ./admin/... ./wire/auth ./test/badnet)
# Packages with a step of their own.
apart=$(go list "${hooks[@]}" ./test/integration/attack ./test/kill)
first=$(go list "${hooks[@]}" ./test/compat/suites ./test/integration/twinattack ./test/integration/market \
  ./test/integration/corpus ./model ./mechanism ./twin ./test/compat/clients ./estimate ./test/falsify \
  ./test/integration/alike)
rest=$(go list "${hooks[@]}" ./... | grep -vxF "$raced"$'\n'"$apart"$'\n'"$first")
concurrent() {
  local files='{{range .GoFiles}}{{$.Dir}}/{{.}} {{end}}'
  # Tests and their harnesses start goroutines for programs that run beside them, and share nothing with those.
  ! grep -nE '^\s*go [a-z(]|\.Go\(func' \
    $(go list "${hooks[@]}" -f "$files" $first $rest | tr ' ' '\n' | grep -v "^$PWD/test/")
}
alone() {
  concurrent || { echo 'starts a goroutine, and is not under the race detector' && return 1; }
  local without=$(grep -rlE --include='*_test.go' '^//go:build !fuguhooks' .) status=0
  tested "${hooks[@]}" -p $at_a_time "$@" $first $rest || status=1
  tested "$@" -run "^($(names $without | paste -sd '|'))\$" $(dirname $without | sort -u) || status=1
  return $status
}

# Attacks wait for clocks and servers more than for processors, so every third of them is in a process of its own.
attacked() {
  local i third running=() status=0
  for i in 0 1 2; do
    third=$(names test/integration/attack/*_test.go | awk -v i=$i 'NR % 3 == i' | paste -sd '|')
    tested "${hooks[@]}" "$@" -run "^($third)\$" ./test/integration/attack &
    running+=($!)
  done
  for i in "${running[@]}"; do wait "$i" || status=1; done
  return $status
}

# Tests that ask thousands of questions one after the other begin with a marker: under the race detector they skip
# themselves, see test/patient, and here they run without it. They are found by the marker, so none is run never or
# twice; in packages that are not under the detector a marker is not needed.
marked=$(grep -lF '"fugu/test/patient"' $(go list "${hooks[@]}" -f '{{.Dir}}/*_test.go' $raced) | sort)
patients() { # FILES...
  grep -hB1 -xF $'\tpatient.Test(t)' "$@" | sed -nE 's/^func (Test[A-Za-z0-9_]*)\(.*/\1/p' | sort -u | paste -sd '|'
}
patient() {
  # What stands elsewhere than at the beginning of a test would not be found.
  local misplaced=$(awk 'FNR == 1 { test = 0 }
    /^func Test[A-Z].*\(t \*testing\.T\) \{$/ { test = FNR }
    /^\tpatient\.Test\(t\)$/ && test == FNR - 1 { next }
    /patient\.Test/ { print FILENAME ":" FNR ": " $0 }' $marked)
  [ -z "$misplaced" ] || { printf 'not where it is looked for:\n%s\n' "$misplaced" && return 1; }
  tested "${hooks[@]}" -p $at_a_time "$@" -run "^($(patients $marked))\$" $(dirname $marked | sort -u)
}

# The detector also checks each conversion of a pointer. Those of protobuf, which reads every tree of the parser, and of
# the standard library are nobody's here, and would take a quarter of all the processor time.
race=(-race '-gcflags=std=-l -dwarf=false -d=checkptr=0'
  '-gcflags=google.golang.org/protobuf/...=-l -dwarf=false -d=checkptr=0' "${hooks[@]}")
detected() {
  local status=0
  tested "${race[@]}" -p $at_a_time "$@" $raced || status=1
  # Attacks in which clients race, and one of those that are made on two databases at the same time.
  tested "${race[@]}" "$@" -run '^(TestRaceForTheLastBudget|TestNaiveAveraging)$' ./test/integration/attack || status=1
  return $status
}

# What is killed is a program of its own. Of this much is shown: how many kills there were.
kills() {
  tested "${hooks[@]}" -v -parallel 4 "$@" ./test/kill | grep -avE '^(=== |\s*--- (PASS|SKIP)|PASS$)'
}

# Two workers take what is next from one list, so that both end together. The first compiles with the race detector,
# and the second without: what is compiled for the one is not for the other.
export OBJECTS=$work/objects PATH=$PWD/scripts/once:$PATH
# And all tests that run the program run one, see test/command.
export FUGUHOOKS_BUILT=$work/built
mkdir "$OBJECTS" "$FUGUHOOKS_BUILT"
steps=('tests, race: detected' 'gofmt: formatted' 'go vet: vetted' 'tests, nothing concurrent: alone'
  'tests, patient: patient' 'tests, attacks: attacked' 'tests, kills: kills' 'staticcheck: checked')
echo 0 >"$work/next"
next() {
  flock 8
  # The number is read before the file is opened to be written, which empties it.
  local n=$(($(<"$work/next") + 1))
  echo "$n" >"$work/next"
  echo "$n"
} 8>"$work/next.lock"
worker() {
  local n
  while n=$(next) && [ "$n" -le ${#steps[@]} ]; do step "${steps[n - 1]%%: *}" "${steps[n - 1]#*: }" "$@"; done
}
set -m
for i in 1 2; do
  worker "$@" </dev/null &
  lanes+=($!)
done
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
