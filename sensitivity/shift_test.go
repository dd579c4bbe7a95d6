package sensitivity

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "fugu/test/seeded" // what rapid draws is the same at every run
)

func TestSpanCheck(t *testing.T) {
	if err := (Span{0.1, 0.6, 0.05}).Check(); err != nil {
		t.Error(err)
	}
	nan := math.NaN()
	for _, bad := range []Span{{0.5, 0.5, 0.1}, {0.6, 0.1, 0.1}, {0.1, 0.2, 0}, {0.1, 0.2, 0.2},
		{math.Inf(-1), 0.2, 0.1}, {nan, 0.2, 0.1}, {0.1, 0.2, nan}} {
		if bad.Check() == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

// For any average (p s1 + (1-p) s0)/(p c1 + (1-p) c0) and any count, every pair of the span moves the mean by a·Along +
// r with |a| ≤ 1 and |r| ≤ Beside; and no smaller Beside would do, where the slopes differ.
func TestBetweenCoversTheContinuum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.Float64Range(0.01, 1)
		c1, c0 := unit.Draw(t, "c1"), unit.Draw(t, "c0")
		s1, s0 := c1*rapid.Float64Range(-50, 50).Draw(t, "a1"), c0*rapid.Float64Range(-50, 50).Draw(t, "a0")
		from := rapid.Float64Range(0, 0.8).Draw(t, "from")
		to := from + rapid.Float64Range(0.01, 1-from).Draw(t, "width")
		span := Span{from, to, (to - from) * rapid.Float64Range(0.05, 1).Draw(t, "within")}
		mean := func(p float64) []float64 {
			return []float64{(p*s1 + (1-p)*s0) / (p*c1 + (1-p)*c0), 1000 * (p*c1 + (1-p)*c0)}
		}
		slope := func(p float64) []float64 {
			c := p*c1 + (1-p)*c0
			return []float64{(s1*c0 - s0*c1) / (c * c), 1000 * (c1 - c0)}
		}

		s, err := Between("s", span, slope(from), slope(to), make([]float64, 2))
		if err != nil {
			t.Fatal(err)
		}
		w := span.Within * rapid.Float64Range(0, 1).Draw(t, "gap")
		p := from + (to-from-w)*rapid.Float64Range(0, 1).Draw(t, "p")
		a, b := mean(p), mean(p+w)
		for k := range a {
			r := b[k] - a[k] - w/span.Within*s.Along[k]
			if math.Abs(r) > s.Beside[k]*(1+1e-9)+1e-9*(1+math.Abs(a[k])) {
				t.Fatalf("component %d moves by %g, %g beside the direction, bound %g", k, b[k]-a[k], r, s.Beside[k])
			}
		}

		if s.Beside[1] > 1e-9 {
			t.Fatalf("a count leaves its line by %g", s.Beside[1])
		}
	})
}

func TestBetweenRefuses(t *testing.T) {
	span := Span{0.1, 0.2, 0.1}
	for name, v := range map[string][3][]float64{
		"NaN":                 {{math.NaN()}, {1}, {0}},
		"Inf":                 {{1}, {math.Inf(1)}, {0}},
		"infinite resolution": {{1}, {1}, {math.Inf(1)}},
		"negative resolution": {{1}, {1}, {-1}},
		"lengths":             {{1, 2}, {1}, {0}},
	} {
		if s, err := Between("s", span, v[0], v[1], v[2]); err == nil {
			t.Errorf("%s gives %v", name, s)
		}
	}
}

func TestNormsAndStack(t *testing.T) {
	s := Shift{Secret: "s", Along: []float64{3, -4}, Beside: []float64{1, 1}}
	if s.Norm1(nil) != 9 || math.Abs(s.Norm2(nil)-math.Hypot(4, 5)) > 1e-12 {
		t.Errorf("norms %g, %g", s.Norm1(nil), s.Norm2(nil))
	}
	got := Stack([][]Shift{
		{{Secret: "a", Along: []float64{1}, Beside: []float64{2}, Error: []float64{9}},
			{Secret: "a", Along: []float64{2}, Beside: []float64{3}}},
		{{Secret: "b", Along: []float64{3, 4}, Beside: []float64{5, 6}}, {Secret: "a", Along: []float64{7, 8},
			Beside: []float64{0, 0}}, {Secret: "a", Along: []float64{5, 5}, Beside: []float64{1, 1}}},
	}, []int{1, 2})
	want := []Shift{{Secret: "a", Along: []float64{1, 7, 8}, Beside: []float64{2, 0, 0}, Error: []float64{9, 0, 0}},
		{Secret: "a", Along: []float64{2, 5, 5}, Beside: []float64{3, 1, 1}},
		{Secret: "b", Along: []float64{0, 3, 4}, Beside: []float64{0, 5, 6}}}
	for i := range want {
		if got[i].Secret != want[i].Secret || !equal(got[i].Along, want[i].Along) ||
			!equal(got[i].Beside, want[i].Beside) || !equal(got[i].Error, want[i].Error) {
			t.Errorf("got %v, want %v", got[i], want[i])
		}
	}
}

func equal(a, b []float64) bool { return slices.Equal(a, b) }
