package model_test

import (
	"math"
	"slices"
	"sort"
	"testing"

	"fugu/model"
	"fugu/planner"
	"fugu/sqlstate"
	"fugu/upstream"
)

func measureSampled(t *testing.T, reader *upstream.Reader, table *planner.Table, sql string) (*planner.Bound,
	*model.Sampled) {
	t.Helper()
	totals, err := model.CountClasses(t.Context(), reader, table)
	if err != nil {
		t.Fatal(err)
	}
	b := bind(t, reader, table, sql)
	m, err := model.Measure(t.Context(), reader, b, totals)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Components) > 0 {
		t.Errorf("%s has components that are functions of sums", sql)
	}
	s, err := model.MeasureSampled(t.Context(), reader, b, totals, m.Limits())
	if err != nil {
		t.Fatal(err)
	}
	return b, s
}

// What the statement over the reference says is what its rows are: percentiles by group, of which one has no row and
// one is not public, and numbers of distinct values.
func TestSampledFromAReference(t *testing.T) {
	rows, reader, table := fixture(t)
	_, s := measureSampled(t, reader, table, "SELECT g, percentile_disc(0.25) WITHIN GROUP (ORDER BY x) FROM ref "+
		"GROUP BY g")
	if len(s.Components) != 3 {
		t.Fatalf("components %v, want those of a, b and c: no row of the reference is in d", s.Components)
	}
	for i, g := range []string{"a", "b", "c"} {
		var values []float64
		for _, r := range rows {
			if r.g == g && !r.null {
				values = append(values, r.x)
			}
		}

		sort.Float64s(values)
		want := values[int(math.Ceil(.25*float64(len(values))))-1]
		typical, _ := s.Typical[i].Float64()
		if s.Expected[i] != want || typical != want || s.Lattice[i] != 1 {
			t.Errorf("%s: expected %v, typical %v, lattice %v; want %v, %v and 1", g, s.Expected[i], typical,
				s.Lattice[i], want, want)
		}
	}

	w, err := s.Apart(t.Context(), 0, psi, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	// b has more rows than the others, and nothing is known of c
	if !(w[0] > 0 && w[1] > 0 && w[1] < w[2] && w[2] <= 80) {
		t.Errorf("W = %v", w)
	}

	_, s = measureSampled(t, reader, table, "SELECT count(DISTINCT g), count(DISTINCT x), sum(DISTINCT x) "+
		"FILTER (WHERE g = 'd') FROM ref")
	seen := map[float64]bool{}
	for _, r := range rows {
		if !r.null {
			seen[r.x] = true
		}
	}

	if math.Abs(s.Expected[0]-3) > 1e-6 || s.Expected[1] > float64(len(seen)) ||
		s.Expected[1] < .8*float64(len(seen)) || s.Expected[2] != 0 {
		t.Errorf("expected %v; want 3, as z is not public, nearly %d, and 0", s.Expected, len(seen))
	}
	if w, err = s.Apart(t.Context(), 0, psi, 1e-3); err != nil || w[0] > 2 || w[1] != 200 {
		t.Errorf("W = %v, %v; want at most 2, c and d being rare, and 200 of 1,000 rows", w, err)
	}
}

// What the model does not speak of is refused.
func TestSampledRefusals(t *testing.T) {
	_, reader, table := fixture(t)
	_, s := measureSampled(t, reader, table, "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM ref")
	drawn := psi
	drawn.FromReference = true
	for name, err := range map[string]error{
		"delta 0":              second(s.Apart(t.Context(), 0, psi, 0)),
		"drawn from reference": second(s.Apart(t.Context(), 0, drawn, 1e-3)),
		"a probability of NaN": second(s.Apart(t.Context(), 0, psi, math.NaN())),
	} {
		if !sqlstate.Is(err, sqlstate.ModelUnfit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w, err := s.Apart(t.Context(), 0, psi, 1e-3)
	if err != nil || len(w) != 1 || slices.ContainsFunc(w, func(x float64) bool { return !(x > 0) }) {
		t.Errorf("W = %v, %v", w, err)
	}
}

func second(_ []float64, err error) error { return err }
