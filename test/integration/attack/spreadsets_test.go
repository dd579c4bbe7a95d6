//go:build fuguhooks

package attack

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fugu/internal/hook"
)

// One statement of averages over two sets of groups promises (ε,δ) by itself. Without a bound on how their covariances
// bend it rested on translation, had less noise than the groups alone, and told more than that by covariances as they
// are. The group is all rows, so that the law of what is told is exactly that of sums.
func TestSpreadGroupingSets(t *testing.T) {
	spreadDatabase(t)
	const epsilon, delta = 1, .001
	var terms, values []string
	for i := range 8 {
		x := mixed(7*i+1, "a") + " < " + mixed(7*i+1, "b")
		terms = append(terms, plus(x), turned(x))
	}
	for _, term := range terms {
		values = append(values, "avg("+term+")")
	}
	policy := slices.Clone(spreadPolicy)
	policy[len(policy)-1] = fmt.Sprintf("budget: {epsilon: 20, delta: %g", spreadDelta)
	play := func(t *testing.T) (alone, total float64) {
		c := serve(t, spreadWorld, options{policy: policy}).connect(t, "alice")
		run(t, c, "SET fugu.mechanism = 'expm-gaussian'")
		run(t, c, "SELECT "+strings.Join(values, ", ")+" FROM (SELECT *, (id = id)::int o, income < mid t "+
			"FROM customer) q GROUP BY GROUPING SETS ((region), ())")
		var released []asked
		for i, sd := range sds(t, c) {
			released = append(released, asked{terms[i%len(terms)], sd * spreadRows})
		}
		charged, _ := spent(t, c)
		alone, total = truth(t, spreadWorld, released, epsilon), truth(t, spreadWorld, released, charged)
		t.Logf("%d values: the true delta is %.3g at epsilon %d, and %.3g at %.3g, which was charged", len(released),
			alone, epsilon, total, charged)
		return alone, total
	}
	off(t, &hook.Unlooked, &hook.DearRows)
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.LooseSets)
		alone, total := play(t)
		if !(alone > delta) {
			t.Errorf("the true δ is %g: it is no test of the defence", alone)
		}
		if total > spreadDelta {
			t.Errorf("the true δ of what was charged is %g, where the total promised %g", total, spreadDelta)
		}
	})
	t.Run("defence on", func(t *testing.T) {
		if alone, _ := play(t); alone > delta {
			t.Errorf("the true δ is %g, where %g was promised", alone, delta)
		}
	})
}
