package model_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fugu/mechanism"
	"fugu/model"
	"fugu/planner"
	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// references draws references from the law that the 1200 people are: so many rows of each class, with replacement.
type references struct {
	all  []person
	of   [2][]int // the people of each class
	size [2]int
	r    *rand.Rand
}

func drawn(all []person, outside, inside int) *references {
	out := &references{all: all, size: [2]int{outside, inside}, r: rand.New(rand.NewPCG(16, 4))}
	for i, p := range all {
		class := 0
		if p.s {
			class = 1
		}
		out.of[class] = append(out.of[class], i)
	}
	return out
}

// next are the moments of the next reference.
func (f *references) next(m *model.Moments, cell func(person) int) *model.Moments {
	var class, cells []int
	var x []float64
	for c, n := range f.size {
		for range n {
			p := f.all[f.of[c][f.r.IntN(len(f.of[c]))]]
			class, cells, x = append(class, c), append(cells, cell(p)), append(x, p.x)
		}
	}
	return m.Redrawn(secretShare, class, cells, x)
}

// share is a secret share whose pairs are .05 apart.
var share = model.Psi{Name: "share", Spans: []sensitivity.Span{{From: .2, To: .6, Within: .05}}}

// covers reports whether a movement lies in what a shift says, at its full length: what is left of it beside Along and
// Beside has to fit into the Unseen, each component and all together.
func covers(s sensitivity.Shift, moved []float64) bool {
	var most, all, size, sizes float64
	for _, u := range s.Unseen {
		widest := slices.Max(u.Size)
		size, sizes = size+widest, sizes+float64(u.Rows)*widest
	}
	for k, d := range moved {
		left := math.Max(0, math.Abs(d-s.Along[k])-s.Beside[k])
		if !slices.ContainsFunc(s.Unseen, func(u sensitivity.Unseen) bool { return slices.Contains(u.At, k) }) {
			if left > 1e-9 {
				return false
			}
			continue
		}
		most, all = math.Max(most, left), all+left
	}
	return most <= size*(1+1e-9) && all <= sizes*(1+1e-9)
}

// Over 2000 references, the movement of counts, sums and averages under the law that they were drawn from is within
// what is promised of each but for a chance of delta. The number of references for which it is not is at most binomial:
// more than 160 of 2000 at 5% have a chance below 1e-7. Where the reference is taken for the truth there are many more.
func TestCoverHolds(t *testing.T) {
	const n, delta, most = 2000, .05, 160
	all, reader, table := people(t, 250)
	b := bind(t, reader, table, "SELECT k, count(*), sum(x), avg(x) FROM people GROUP BY k")
	totals, err := model.CountClasses(t.Context(), reader, table)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := model.Measure(t.Context(), reader, b, totals)
	if err != nil {
		t.Fatal(err)
	}
	path := truth.Paths(secretShare, share)[0]
	from, to := path.Mean(.2), path.Mean(.25)
	moved := make([]float64, len(from))
	for k := range moved {
		moved[k] = to[k] - from[k]
	}
	cell := func(p person) int {
		return slices.IndexFunc(b.Cells, func(c planner.Cell) bool { return c.Keys[0].Text == p.k })
	}

	f := drawn(all, 450, 150)
	var missed, taken, dearer int
	for range n {
		m := f.next(truth, cell)
		before, err := m.Shifts(secretShare, share, 0)
		if err != nil {
			t.Fatal(err)
		}
		m.Cover(delta)
		after, err := m.Shifts(secretShare, share, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !covers(after[0], moved) {
			missed++
		}
		if !covers(before[0], moved) {
			taken++
		}
		if after[0].Norm2(nil) > before[0].Norm2(nil) {
			dearer++
		}
	}
	t.Logf("missed %d of %d references at delta %v, %d where they are taken for the truth", missed, n, delta, taken)
	if missed > most {
		t.Errorf("%d of %d references miss the movement, and %v are promised", missed, n, delta)
	}
	if taken <= most || dearer != n {
		t.Errorf("%d references taken for the truth miss the movement, %d cost more covered: nothing is tested", taken,
			dearer)
	}
}

// Noise that is calibrated for what a reference is covered to say keeps ε for the law that it was drawn from, but for a
// chance of delta over references: 300 of them, of which more than 45 at 5% have a chance below 1e-9. Noise that takes
// the reference for the truth does not.
func TestPromiseHoldsForTheLaw(t *testing.T) {
	const n, delta, most = 300, .05, 45
	all, reader, table := people(t, 250)
	b := bind(t, reader, table, "SELECT k, count(*) FROM people GROUP BY k")
	totals, err := model.CountClasses(t.Context(), reader, table)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := model.Measure(t.Context(), reader, b, totals)
	if err != nil {
		t.Fatal(err)
	}
	path := truth.Paths(secretShare, share)[0]
	from, to := path.Mean(.2), path.Mean(.25)
	exact := sensitivity.Shift{Secret: "share", Beside: make([]float64, len(from))}
	for k := range from {
		exact.Along = append(exact.Along, to[k]-from[k])
	}
	cell := func(p person) int {
		return slices.IndexFunc(b.Cells, func(c planner.Cell) bool { return c.Keys[0].Text == p.k })
	}

	for _, kind := range []mechanism.Kind{mechanism.ExpmGaussian, mechanism.Directional} {
		f := drawn(all, 450, 150)
		var broken, taken int
		for range n {
			m := f.next(truth, cell)
			if !keeps(t, kind, m, exact) {
				taken++
			}
			m.Cover(delta)
			if !keeps(t, kind, m, exact) {
				broken++
			}
		}
		t.Logf("%s: %d of %d references break the promise, %d where they are taken for the truth", kind, broken, n,
			taken)
		if broken > most {
			t.Errorf("%s: %d of %d references break the promise", kind, broken, n)
		}
		if taken <= most {
			t.Errorf("%s: only %d references taken for the truth break it: nothing is tested", kind, taken)
		}
	}
}

// keeps reports whether noise for what a reference says keeps ε = 1 at δ = 1e-6 for the movement of the law.
func keeps(t *testing.T, kind mechanism.Kind, m *model.Moments, law sensitivity.Shift) bool {
	t.Helper()
	budget := privacy.Budget{Epsilon: 1, Delta: 1e-6}
	shifts, err := m.Shifts(secretShare, share, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := mechanism.Request{Shifts: shifts, Budget: budget}
	for range law.Along {
		r.Components = append(r.Components, mechanism.Component{Lattice: 1, Unit: 1, Integer: true})
	}
	c, err := mechanism.Calibrate(t.Context(), kind, r)
	if err != nil {
		t.Fatal(err)
	}
	return c.EpsilonFor([]sensitivity.Shift{law}, float64(budget.Delta))["share"] <= float64(budget.Epsilon)
}

// What has no bound for every statement is refused, and a table that is joined or a longer text has more noise.
func TestCoverRefuses(t *testing.T) {
	_, reader, table := people(t, 250)
	totals, err := model.CountClasses(t.Context(), reader, table)
	if err != nil {
		t.Fatal(err)
	}
	shifts := func(secret int, psi model.Psi, sql string) ([]sensitivity.Shift, error) {
		m, err := model.Measure(t.Context(), reader, bind(t, reader, table, sql), totals)
		if err != nil {
			t.Fatal(err)
		}
		m.Cover(1e-6)
		return m.Shifts(secret, psi, 0)
	}
	if _, err := shifts(secretShare, share, "SELECT stddev(x) FROM people"); !sqlstate.Is(err, sqlstate.ModelUnfit) {
		t.Errorf("a standard deviation: %v", err)
	}
	mean := model.Psi{Name: "mean", Spans: []sensitivity.Span{{From: 120, To: 150, Within: 5}}}
	if _, err := shifts(secretMean, mean, "SELECT sum(x) FROM people"); !sqlstate.Is(err, sqlstate.ModelUnfit) {
		t.Errorf("a secret mean: %v", err)
	}

	last := 0.0
	for _, sql := range []string{"SELECT count(*) FROM people WHERE x > 4",
		"SELECT count(*) FROM people WHERE x > 4.00",
		"SELECT count(*) FROM people WHERE x > 4 AND y % 7 < 9"} {
		s, err := shifts(secretShare, share, sql)
		if err != nil {
			t.Fatal(err)
		}
		if beside := s[0].Beside[0]; beside <= last {
			t.Errorf("%s: beside %g, and %g of a shorter text", sql, beside, last)
		} else {
			last = beside
		}
	}

	// Three categories: every edge of the simplex.
	kinds := model.Psi{Name: "kinds", Simplex: &model.Simplex{From: .1, To: .8, Within: .05}}
	s, err := shifts(secretKinds, kinds, "SELECT g, count(*), avg(x) FROM people GROUP BY g")
	if err != nil || len(s) != 3 {
		t.Errorf("%d edges: %v", len(s), err)
	}
}

// Values that the reference shows are named by the rows that have them, and so take more than those that the policy
// lists; and nobody knew all of them.
func TestObservedValuesAreNamedByRows(t *testing.T) {
	_, reader, table := people(t, 250)
	const sql = "SELECT k, count(*) FROM people GROUP BY k"
	b := bind(t, reader, table, sql)
	if got, picked := b.Named(0, 1200); math.Abs(got-math.Log(3)) > 1e-12 || picked != 0 || !b.Foreseen(0) {
		t.Errorf("a listed value takes %g nats, %d rows; foreseen %v", got, picked, b.Foreseen(0))
	}
	table.Observed = map[string]bool{"k": true}
	b = bind(t, reader, table, sql)
	if got, picked := b.Named(0, 1200); math.Abs(got-math.Log(3*1200)) > 1e-12 || picked != 1 || b.Foreseen(0) {
		t.Errorf("a value of the reference's takes %g nats, %d rows; foreseen %v", got, picked, b.Foreseen(0))
	}
}

// Without translation, what coupled datasets leave to chance holds for the law as well: of none of 200 references, of
// which more than 36 at 5% have a chance below 1e-9, is the law's variance or second moment larger than is said.
func TestCoverHoldsOnCoupledDatasets(t *testing.T) {
	const n, delta, most = 200, .05, 36
	all, reader, table := people(t, 250)
	b := bind(t, reader, table, "SELECT k, count(*), sum(x), avg(x) FROM people GROUP BY k")
	totals, err := model.CountClasses(t.Context(), reader, table)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := model.Measure(t.Context(), reader, b, totals)
	if err != nil {
		t.Fatal(err)
	}
	coupled := func(m *model.Moments) sensitivity.Shift {
		s, err := m.Coupled(secretShare, share, 0, 1e-9)
		if err != nil {
			t.Fatal(err)
		}
		return s[0]
	}
	law := coupled(truth).Scatter
	cell := func(p person) int {
		return slices.IndexFunc(b.Cells, func(c planner.Cell) bool { return c.Keys[0].Text == p.k })
	}

	f := drawn(all, 450, 150)
	var missed, taken int
	for range n {
		m := f.next(truth, cell)
		smaller := func(s *sensitivity.Scatter) bool {
			for k := range law.Variance {
				if s.Variance[k] < law.Variance[k]-1e-9 || s.Second[k] < law.Second[k]-1e-9 {
					return true
				}
			}
			return false
		}
		if smaller(coupled(m).Scatter) {
			taken++
		}
		m.Cover(delta)
		if smaller(coupled(m).Scatter) {
			missed++
		}
	}
	t.Logf("%d of %d references say less than the law, %d where they are taken for the truth", missed, n, taken)
	if missed > most || taken <= most {
		t.Errorf("%d of %d references say less than the law, %d where they are taken for the truth", missed, n, taken)
	}
}
