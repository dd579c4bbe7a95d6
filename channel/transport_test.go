package channel

import (
	_ "embed"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Kawamoto & Murakami, figure 2.
func TestPlan(t *testing.T) {
	from, to := []float64{.2, .5, .3}, []float64{.3, .2, .5}
	want := []Move{{0, 0, .2}, {1, 0, .1}, {1, 1, .2}, {1, 2, .2}, {2, 2, .3}}
	got := Plan(from, to)
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	cost := 0.
	for k, m := range got {
		if m.From != want[k].From || m.To != want[k].To {
			t.Errorf("move %d: got %v, want %v", k, m, want[k])
		}
		near(t, "mass", m.Mass, want[k].Mass, 1e-12)
		cost += m.Mass * math.Abs(float64(m.From-m.To))
	}
	near(t, "cost", cost, .3, 1e-12)
	near(t, "distance", Distance([]float64{1, 2, 3}, from, to), .3, 1e-12)

	// The input 2 becomes 1, 2 and 3 with .2, .4 and .4 [Example 2].
	c, err := Transport([][]float64{from}, to)
	if err != nil {
		t.Fatal(err)
	}
	for y, p := range []float64{.2, .4, .4} {
		near(t, "P(y|2)", c[0].Probability(1, y), p, 1e-12)
	}
}

//go:embed testdata/hours.csv
var hoursFile string

// hours are the Adult census' hours per week: the values, and how many rows of each class have each.
func hours(t *testing.T) (values []float64, classes [2][]float64) {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(hoursFile)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(text string) float64 {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, r := range records[1:] {
		values = append(values, number(r[0]))
		classes[0], classes[1] = append(classes[0], number(r[1])), append(classes[1], number(r[2]))
	}
	return values, classes
}

// Hours per week of both incomes are moved to their common law: by 1.57 and 4.75 hours on average. Both show one law
// then.
func TestAdultHours(t *testing.T) {
	values, counts := hours(t)
	laws := [][]float64{part(counts[0], counts[0]), part(counts[1], counts[1])}
	pooled := make([]float64, len(values))
	for k := range pooled {
		pooled[k] = counts[0][k] + counts[1][k]
	}
	pooled = part(pooled, pooled)
	near(t, "low incomes move by", Distance(values, laws[0], pooled), 1.57, 5e-3)
	near(t, "high incomes move by", Distance(values, laws[1], pooled), 4.75, 5e-3)

	channels, err := Transport(laws, pooled)
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range channels {
		moved := 0.
		for x := range values {
			for _, e := range c.Row(x) {
				moved += laws[k][x] * float64(e.Weight) / Whole * math.Abs(values[x]-values[e.Output])
			}
		}
		near(t, "moved", moved, Distance(values, laws[k], pooled), 1e-9)
		for y, p := range c.Shown(laws[k]) {
			near(t, "shown", p, pooled[y], 1e-12)
		}
	}
	t.Logf("W₁ %.4f and %.4f, between the classes %.4f", Distance(values, laws[0], pooled),
		Distance(values, laws[1], pooled), Distance(values, laws[0], laws[1]))
}

func part(counts, of []float64) []float64 {
	sum := 0.
	for _, c := range of {
		sum += c
	}
	out := slices.Clone(counts)
	for k := range out {
		out[k] /= sum
	}
	return out
}

// No plan that a random exchange makes of the north-west one is shorter.
func TestPlanIsShortest(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 16))
	for range 200 {
		n := 2 + r.IntN(8)
		from, to, values := randomLaw(r, n), randomLaw(r, n), make([]float64, n)
		for k := range values {
			values[k] = float64(k) + r.Float64()
		}
		cost, left := 0., 1.
		into := make([]float64, n)
		for _, m := range Plan(from, to) {
			cost += m.Mass * math.Abs(values[m.From]-values[m.To])
			into[m.To] += m.Mass
			left -= m.Mass
		}
		near(t, "all is moved", left, 0, 1e-12)
		near(t, "cost", cost, Distance(values, from, to), 1e-9)
		for y := range to {
			near(t, "arrived", into[y], to[y], 1e-12)
		}
	}
}

// A class' true law is not the one that was transported: what shows is as close as the laws are [Theorem 3], and by no
// less than that for some.
func TestCloseness(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 16))
	tight := 0.
	for range 500 {
		n := 2 + r.IntN(5)
		estimates := [][]float64{randomLaw(r, n), randomLaw(r, n)}
		truths := [][]float64{randomLaw(r, n), randomLaw(r, n)}
		channels, err := Transport(estimates, randomLaw(r, n))
		if err != nil {
			t.Fatal(err)
		}
		got := MaxDivergence(channels[0].Shown(truths[0]), channels[1].Shown(truths[1]))
		bound := MaxDivergence(truths[0], estimates[0]) + MaxDivergence(estimates[1], truths[1])
		if got > bound+1e-9 {
			t.Fatalf("shown laws are %g apart, and %g was said", got, bound)
		}
		tight = max(tight, got/bound)
	}
	if tight < .8 {
		t.Errorf("at most %g of the bound: it is no test", tight)
	}
}

func TestTransportRefuses(t *testing.T) {
	for text, of := range map[string]struct {
		classes [][]float64
		target  []float64
	}{
		"target":                  {nil, []float64{.5, .4}},
		"class 0 has 1 values":    {[][]float64{{1}}, []float64{.5, .5}},
		"class 1: the chances":    {[][]float64{{.5, .5}, {.7, .5}}, []float64{.5, .5}},
		"add up to 0, and must":   {nil, nil},
		"class 0: the chances ad": {[][]float64{{-.5, 1.5}}, []float64{.5, .5}},
	} {
		if _, err := Transport(of.classes, of.target); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: error %v, want one with %q", of, err, text)
		}
	}

	// A value that a class has not by its law shows a draw of the target.
	c, err := Transport([][]float64{{1, 0}}, []float64{.25, .75})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "P(1|1)", c[0].Probability(1, 1), .75, 1e-12)
}
