package joint

import (
	"errors"
	"math"
	"slices"
	"testing"

	"fugu/test/patient"
)

// census is a reference of 200 rows, a quarter of them of the class 1: of ten cells, in which the classes are not
// spread alike, and with a bit that has nothing to do with either.
func census(t *testing.T) (*Account, Sample, func(row int) (class, cell, bit int)) {
	t.Helper()
	row := func(r int) (class, cell, bit int) {
		class = r % 4 / 3
		cell = r / 20
		if class == 1 {
			cell = max(cell, r/4%10)
		}
		return class, cell, r / 4 % 2
	}

	s := Sample{Rows: 200, Classes: map[string][]int16{"s": make([]int16, 200)}}
	for r := range s.Rows {
		class, _, _ := row(r)
		s.Classes["s"][r] = int16(class)
	}
	a, err := New(s, []Secret{{Name: "s", N: 10_000, Pairs: []Pair{{P: []float64{.74, .26}, Q: []float64{.76, .24}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return a, s, row
}

// counts is a release of a count of the rows in each of some cells; -1 is none.
func counts(t *testing.T, rows, cells int, noise float64, cell func(row int) int) Release {
	t.Helper()
	g := Group{Cells: make([]int16, rows), Columns: []Column{{At: make([]int, cells)}}}
	for r := range g.Cells {
		g.Cells[r] = int16(cell(r))
	}
	r := Release{Noise: make([]float64, cells)}
	for k := range cells {
		g.Columns[0].At[k], r.Noise[k] = k, noise
	}
	var err error
	if r.Terms, err = NewTerms(rows, cells, []Group{g}); err != nil {
		t.Fatal(err)
	}
	return r
}

func kappa2(t *testing.T, a *Account, r Release) float64 {
	t.Helper()
	trial, err := a.Trial(r)
	if err != nil {
		t.Fatal(err)
	}
	return trial.Cost("s").Kappa2
}

// A statement that is a linear function of what was released tells nothing new but for its noise's being other noise: a
// sum of five counts after the counts costs a ninetieth of what it costs alone, and still less the second time.
func TestLinearFunctions(t *testing.T) {
	a, s, row := census(t)
	cells := counts(t, s.Rows, 10, 100, func(r int) int { _, cell, _ := row(r); return cell })
	total := counts(t, s.Rows, 1, 50_000, func(r int) int {
		if _, cell, _ := row(r); cell < 5 {
			return 0
		}
		return -1
	})

	alone := kappa2(t, a, total)
	if err := a.Append(cells); err != nil {
		t.Fatal(err)
	}
	before := a.Cost("s").Kappa2
	more := kappa2(t, a, total) - before
	t.Logf("κ²: the counts %.4f; the total %.4f alone, %.6f after them", before, alone, more)
	if !(more < .02*alone) {
		t.Errorf("the total costs %g after the counts, %g alone", more, alone)
	}
	if err := a.Append(total); err != nil {
		t.Fatal(err)
	}
	if again := kappa2(t, a, total) - a.Cost("s").Kappa2; !(again >= 0 && again < more) {
		t.Errorf("the same total again costs %g, and %g before", again, more)
	}
}

// The same statement a thousand times tells in the end what the statement without noise would: Delta'Sigma0⁻¹Delta.
// Were each paid for by itself, that would be a hundred times as much, and by the noise alone more still.
func TestAskingAThousandTimes(t *testing.T) {
	patient.Test(t)
	s := Sample{Rows: 5, Classes: map[string][]int16{"s": {0, 0, 0, 1, 1}}}
	a, err := New(s, []Secret{{Name: "s", N: 10_000, Pairs: []Pair{{P: []float64{.74, .26}, Q: []float64{.76, .24}}}}})
	if err != nil {
		t.Fatal(err)
	}
	r := counts(t, s.Rows, 1, 2000, func(r int) int { return r/4 - 1 })
	one := kappa2(t, a, r)
	for range 1000 {
		if err := a.Append(r); err != nil {
			t.Fatal(err)
		}
	}

	// Half of the class: Delta is half of 2% of the rows; the variance a quarter of the class's rows.
	bound := 100. * 100. / (.24 * 10_000 * .25)
	got := a.Cost("s").Kappa2
	exact := 100. * 100. / (.24*10_000*.25 + 2000./1000)
	t.Logf("κ²: once %.4f, a thousand times %.4f, bound %.4f, sum %.0f", one, got, bound, 1000*one)
	if math.Abs(got/exact-1) > 1e-6 || got > bound {
		t.Errorf("κ² = %g, want %g, at most %g", got, exact, bound)
	}
}

// Halves of the class by a random bit each have half the class's randomness, of which nothing is left in their sum.
func TestCancellation(t *testing.T) {
	a, s, row := census(t)
	half := func(want int) Release {
		return counts(t, s.Rows, 1, 10, func(r int) int {
			if class, _, bit := row(r); class == 1 && bit == want {
				return 0
			}
			return -1
		})
	}

	separate := kappa2(t, a, half(0)) + kappa2(t, a, half(1))
	for _, bit := range []int{0, 1} {
		if err := a.Append(half(bit)); err != nil {
			t.Fatal(err)
		}
	}

	got, exact := a.Cost("s").Kappa2, 200.*200/20
	t.Logf("κ²: together %.1f, one by one %.1f", got, separate)
	if math.Abs(got/exact-1) > 1e-6 {
		t.Errorf("κ² = %g, want %g", got, exact)
	}
	if !(separate < .02*got) {
		t.Errorf("one by one %g", separate)
	}
}

// A release that hides Delta tells of the rows all the same, and what it tells another can no longer count as noise.
func TestHiddenReleasesStand(t *testing.T) {
	a, s, row := census(t)
	r := counts(t, s.Rows, 1, 1e-3, func(r int) int {
		if class, _, bit := row(r); class == 1 && bit == 1 {
			return 0
		}
		return -1
	})

	alone := kappa2(t, a, r)
	hidden := r
	hidden.Hidden = map[string]bool{"s": true}
	if got := kappa2(t, a, hidden); got != 0 {
		t.Errorf("a hidden release costs κ² = %g", got)
	}
	if err := a.Append(hidden); err != nil {
		t.Fatal(err)
	}
	got := kappa2(t, a, r)
	t.Logf("κ²: %.3g alone, %.3g after a hidden one", alone, got)
	if exact := 100. * 100 / 2e-3; math.Abs(got/exact-1) > 1e-3 {
		t.Errorf("κ² = %g, want %g", got, exact)
	}
}

// What moves beside Delta adds to it at worst, and what depends on rows has a share of the noise to itself.
func TestBesides(t *testing.T) {
	a, s, _ := census(t)
	r := counts(t, s.Rows, 2, 100, func(r int) int { return r % 2 })
	k := math.Sqrt(kappa2(t, a, r))
	near := func(got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("κ = %g, want %g", got, want)
		}
	}

	r.Aside = map[string]float64{"s": .3}
	near(math.Sqrt(kappa2(t, a, r)), k+.3)
	if err := a.Append(r); err != nil {
		t.Fatal(err)
	}
	// A release of noise alone, so to say: it tells nothing.
	r.Noise, r.Hidden = []float64{1e15, 1e15}, map[string]bool{"s": true}
	for _, aside := range []float64{0, .4} {
		r.Aside, r.Rounding = map[string]float64{"s": aside}, 0
		near(math.Sqrt(kappa2(t, a, r)), k+math.Hypot(.3, aside))
		r.Rounding = 1e-4
		near(kappa2(t, a, r), math.Pow(k+math.Hypot(.3, aside), 2)+1e-8/setAside)
	}
}

func TestRefusals(t *testing.T) {
	a, s, row := census(t)
	good := counts(t, s.Rows, 10, 100, func(r int) int { _, cell, _ := row(r); return cell })
	for name, change := range map[string]func(r *Release){
		"no noise":       func(r *Release) { r.Noise = make([]float64, 10) },
		"too few":        func(r *Release) { r.Noise = r.Noise[:9] },
		"no terms":       func(r *Release) { r.Terms = nil },
		"other rows":     func(r *Release) { r.Terms = counts(t, 100, 10, 1, func(int) int { return 0 }).Terms },
		"unknown hidden": func(r *Release) { r.Hidden = map[string]bool{"x": true} },
		"unknown aside":  func(r *Release) { r.Aside = map[string]float64{"x": 1} },
		"negative aside": func(r *Release) { r.Aside = map[string]float64{"s": -1} },
		"no rounding":    func(r *Release) { r.Rounding = math.NaN() },
	} {
		r := good
		r.Noise = append([]float64(nil), good.Noise...)
		change(&r)
		if _, err := a.Trial(r); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}

	// Noise so small against the rows' own randomness that floating point could not tell what is left.
	faint := good
	faint.Noise = slices.Repeat([]float64{1e-10}, 10)
	if _, err := a.Trial(faint); !errors.Is(err, errSingular) {
		t.Errorf("hardly any noise: %v", err)
	}
	full, _, _ := census(t)
	if err := full.Append(good); err != nil {
		t.Fatal(err)
	}
	many := counts(t, s.Rows, MaxComponents-9, 1, func(int) int { return 0 })
	if _, err := full.Trial(many); !errors.Is(err, ErrFull) {
		t.Errorf("too many components: %v", err)
	}

	first, err := a.Trial(good)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Append(good); err != nil {
		t.Fatal(err)
	}
	if first.Commit() == nil {
		t.Error("a trial of what was before was committed")
	}
	if c := a.Cost("x"); !math.IsInf(c.Kappa2, 1) {
		t.Errorf("an unknown secret costs %v", c)
	}
}

func TestSecretsAreChecked(t *testing.T) {
	_, s, _ := census(t)
	s.Numbers = map[string][]float64{"g": make([]float64, s.Rows), "h": make([]float64, s.Rows)}
	s.Numbers["h"][0] = 1
	s.Classes["e"] = make([]int16, s.Rows)
	pair := Pair{P: []float64{.7, .3}, Q: []float64{.8, .2}}
	for name, secret := range map[string]Secret{
		"no pairs":     {Name: "s", N: 10},
		"no rows":      {Name: "s", Pairs: []Pair{pair}},
		"not there":    {Name: "x", N: 10, Pairs: []Pair{pair}},
		"three shares": {Name: "s", N: 10, Pairs: []Pair{{P: []float64{.1, .2, .3}, Q: []float64{.1, .2, .3}}}},
		"too much":     {Name: "s", N: 10, Pairs: []Pair{{P: []float64{.9, .3}, Q: []float64{.9, .3}}}},
		"sums apart":   {Name: "s", N: 10, Pairs: []Pair{{P: []float64{.6, .3}, Q: []float64{.6, .2}}}},
		"a part drawn": {Name: "s", N: 10, Distribution: true,
			Pairs: []Pair{{P: []float64{.6, .3}, Q: []float64{.5, .4}}}},
		"negative":       {Name: "s", N: 10, Pairs: []Pair{{P: []float64{1.1, -.1}, Q: []float64{.5, .5}}}},
		"a mean's pair":  {Name: "s", N: 10, Pairs: []Pair{{P: pair.P, Q: pair.Q, Move: 1}}},
		"constant":       {Name: "g", N: 10, Pairs: []Pair{{Move: 1}}},
		"mean of shares": {Name: "h", N: 10, Pairs: []Pair{pair}},
		"empty class":    {Name: "e", N: 10, Pairs: []Pair{pair}},
	} {
		if _, err := New(s, []Secret{secret}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
