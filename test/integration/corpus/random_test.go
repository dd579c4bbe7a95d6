//go:build fuguhooks

package corpus

import (
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var (
	statements = flag.Int("statements", 60, "how many statements the generator makes")
	seed       = flag.Uint64("seed", 1, "the generator's seed")
)

// Statements from a grammar are answered as PostgreSQL answers them, or refused. Those of which a group is empty, or
// that fail on PostgreSQL itself, need only end without an internal error.
func TestRandom(t *testing.T) {
	f := start(t)
	fugu, postgres := open(t, f.fugu()), open(t, f.postgres())
	count := map[string]int{}
	for i := range *statements {
		g := &grammar{Rand: rand.New(rand.NewPCG(*seed, uint64(i)))}
		m := g.statement()
		// PostgreSQL adds up reals in reals, and Fugu exactly.
		u := unit{steps: []string{m.sql}, ties: true, rough: strings.Contains(m.sql, "tax")}
		way := []mode{simple, extended, extendedInBinary}[g.IntN(3)]
		full := true
		for _, w := range m.witnesses {
			out, err := postgres.run(t.Context(), unit{steps: []string{w}}, simple)
			if err != nil {
				t.Fatalf("%s: %v", w, err)
			}
			if e := out.err; e != nil && !slices.Contains([]string{"22003", "22012"}, e.Code) {
				t.Fatalf("statement %d of seed %d: the witness\n%s\nfails: %s", i, *seed, w, e.Message)
			}
			full = full && out.err == nil && *out.results[0].rows[0][0] == "t"
		}
		state, err := "", error(nil)
		if full {
			state, err = judge(t.Context(), fugu, postgres, u, way)
		} else {
			state, err = sound(t, fugu, u, way)
		}
		if err != nil {
			t.Errorf("statement %d of seed %d (%s):\n%s\n%v", i, *seed, way, m.sql, err)
			continue
		}
		state, why, _ := strings.Cut(state, ": ")
		if why != "" && testing.Verbose() {
			t.Logf("%d %s: %s\n\t%s", i, state, why, m.sql)
		}
		count[state]++
	}
	for _, state := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%5d %s", count[state], state)
	}
	if count["equal"] < *statements/10 {
		t.Errorf("only %d of %d statements could be compared", count["equal"], *statements)
	}
}

// sound runs a statement whose answer cannot be compared.
func sound(t *testing.T, fugu *side, u unit, m mode) (string, error) {
	out, err := fugu.run(t.Context(), u, m)
	switch {
	case err != nil:
		return "", err
	case out.err == nil:
		return "not compared", nil
	case out.err.Code == "XX000" || out.err.Code == "PV002":
		return "", out.err
	}
	return "refused " + out.err.Code + ": " + out.err.Message, nil
}
