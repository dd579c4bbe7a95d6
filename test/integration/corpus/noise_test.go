//go:build fuguhooks

package corpus

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"fugu/explain"
	"fugu/internal/hook"
	"fugu/test/nightly"
)

// mostDearer is how much more noise the corpus' protected statements may have, in the median, because a statement may
// have been chosen to fit the reference.
const mostDearer = 1.25

// What hides that statements may be fitted to the reference is cheap for statements that are not: the noise of each of
// the corpus is printed without and with that defence. FUGU_NOISE names a file that the noise is written to, so that
// two versions of Fugu can be compared.
func TestNoiseOfFittedStatements(t *testing.T) {
	exact := hook.ZeroNoise
	hook.ZeroNoise = false
	t.Cleanup(func() { hook.ZeroNoise, hook.Unlooked = exact, false })
	hook.Unlooked = true
	before := noises(t)
	hook.Unlooked = false
	after := noises(t)
	if path := os.Getenv("FUGU_NOISE"); path != "" {
		text, err := json.MarshalIndent(after, "", " ")
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}

	var ratios []float64
	for _, name := range slices.Sorted(maps.Keys(before)) {
		now, ok := after[name]
		if !ok {
			t.Logf("%s is refused with the defence on", name)
			continue
		}
		ratio := 0.0
		for column, sd := range before[name] {
			ratio = math.Max(ratio, now[column]/sd)
			t.Logf("%-16s %-14s %12.5g %12.5g %6.2f", name, column, sd, now[column], now[column]/sd)
		}
		ratios = append(ratios, ratio)
	}
	slices.Sort(ratios)
	if len(ratios) < nightly.Or(400, 60) {
		t.Fatalf("the noise of only %d statements is known", len(ratios))
	}
	median := ratios[len(ratios)/2]
	t.Logf("%d statements: noise %.2f times in the median, %.2f in nine of ten, %.2f at most", len(ratios), median,
		ratios[len(ratios)*9/10], ratios[len(ratios)-1])
	if median > mostDearer {
		t.Errorf("the defence multiplies noise by %.2f in the median, more than %g", median, mostDearer)
	}
}

// noises asks EXPLAIN (PRIVACY) for the noise of every protected statement of the corpus, by the statement's name and
// the column.
func noises(t *testing.T) map[string]map[string]float64 {
	t.Helper()
	fugu := open(t, start(t).fugu())
	names, units := corpus(t, "accept")
	out := map[string]map[string]float64{}
	share := nightly.Or(1, 7) // by day every seventh, which is enough for a median
	for _, name := range names {
		for i, u := range units[name] {
			if i%share != 0 || u.psql() || len(u.steps) > 1 {
				continue
			}
			u.steps = []string{"EXPLAIN (PRIVACY, FORMAT json) " + u.steps[0]}
			way := simple
			if len(u.params) > 0 {
				way = extended
			}
			got, err := fugu.run(t.Context(), u, way)
			if err != nil {
				t.Fatal(err)
			}
			if got.err != nil {
				continue // an ordinary statement, or one that is refused
			}
			var text strings.Builder
			for _, row := range got.results[0].rows {
				text.WriteString(*row[0])
			}
			var e []explain.Explanation
			if err := json.Unmarshal([]byte(text.String()), &e); err != nil {
				var one explain.Explanation
				if err := json.Unmarshal([]byte(text.String()), &one); err != nil {
					t.Fatalf("%s: %v\n%s", u.name, err, text.String())
				}
				e = append(e, one)
			}
			sds := map[string]float64{}
			for i, n := range e[0].Noise {
				if n.SDMax > 0 {
					sds[fmt.Sprintf("%d %s", i, n.Column)] = n.SDMax
				}
			}
			if len(sds) > 0 {
				out[u.name] = sds
			}
		}
	}
	return out
}
