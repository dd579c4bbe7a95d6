package model_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"fugu/model"
	"fugu/planner"
	"fugu/sensitivity"
	"fugu/sqlstate"
	"fugu/upstream"
)

const publicKinds, publicY = "SELECT k, count(*) FROM people GROUP BY k", "SELECT sum(y) FROM people WHERE g = 'a'"

// publicOf measures public statistics with their values in the order of the components.
func publicOf(t *testing.T, reader *upstream.Reader, table *planner.Table, values []float64,
	statements ...string) *model.Public {
	t.Helper()
	var moments []*model.Moments
	for _, sql := range statements {
		_, m := measure(t, reader, table, sql)
		moments = append(moments, m)
	}
	p, err := model.NewPublic(t.Context(), reader, moments, values)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// conditional is E[U|z] at the share x for linear functionals u of a row, worked out with dense matrices from the rows.
// Of the public functionals none may be redundant.
func conditional(all []person, rows, x float64, u, z func(person) []float64, value []float64) ([]float64, *mat.Dense) {
	var mean [2][]float64
	var second [2]*mat.Dense
	var size [2]float64
	width := 0
	for _, p := range all {
		c := inside(p)
		v := append(u(p), z(p)...)
		if mean[c] == nil {
			width = len(v)
			mean[c], second[c] = make([]float64, width), mat.NewDense(width, width, nil)
		}

		size[c]++
		for i := range v {
			mean[c][i] += v[i]
			for j := range v {
				second[c].Set(i, j, second[c].At(i, j)+v[i]*v[j])
			}
		}
	}

	mu, cov := make([]float64, width), mat.NewDense(width, width, nil)
	for c, share := range []float64{1 - x, x} {
		for i := range width {
			mu[i] += rows * share * mean[c][i] / size[c]
			for j := range width {
				cov.Set(i, j, cov.At(i, j)+rows*share*(second[c].At(i,
					j)/size[c]-mean[c][i]*mean[c][j]/size[c]/size[c]))
			}
		}
	}

	nz := len(value)
	nu := width - nz
	var solved mat.VecDense
	rest := mat.NewVecDense(nz, nil)
	for i := range nz {
		rest.SetVec(i, value[i]-mu[nu+i])
	}
	if err := solved.SolveVec(cov.Slice(nu, width, nu, width), rest); err != nil {
		panic(err)
	}
	for i := range nu {
		for j := range nz {
			mu[i] += cov.At(i, nu+j) * solved.AtVec(j)
		}
	}

	var regression, rest2 mat.Dense
	if err := regression.Solve(cov.Slice(nu, width, nu, width), cov.Slice(nu, width, 0, nu)); err != nil {
		panic(err)
	}
	rest2.Mul(cov.Slice(0, nu, nu, width), &regression)
	rest2.Sub(cov.Slice(0, nu, 0, nu), &rest2)
	return mu[:nu], &rest2
}

// given is a statement given public statistics, and the same by its definition: the conditional expectation of its
// terms, worked out with dense matrices from the rows.
type given struct {
	all   []person
	rows  float64
	u, z  func(person) []float64 // the terms of the statement, and the public ones
	value []float64              // of the public ones
	cut   *planner.Bound
	m     *model.Moments
	*model.Given
}

const aboveFour = "SELECT g, count(*), sum(x), avg(y) FROM people WHERE x > 4 GROUP BY g"

// newGiven takes public values a little off what is expected at a share of 0.3.
func newGiven(t *testing.T) given {
	t.Helper()
	const rows = 5000
	all, reader, table := people(t, rows)
	g := given{all: all, rows: rows}
	g.z = func(p person) []float64 {
		return []float64{indicator(p.k == "u"), indicator(p.k == "v"), p.y * indicator(p.g == "a")}
	}
	g.u = func(p person) []float64 {
		a, b := indicator(p.x > 4 && p.g == "a"), indicator(p.x > 4 && p.g == "b")
		return []float64{a, a * p.x, a * p.y, b, b * p.x, b * p.y}
	}

	var mean [3]float64
	var size [2]float64
	for _, p := range all {
		size[inside(p)]++
	}
	for _, p := range all {
		share := []float64{0.7, 0.3}[inside(p)]
		for i, v := range g.z(p) {
			mean[i] += rows * share * v / size[inside(p)]
		}
	}

	v := []float64{math.Round(mean[0]) + 60, math.Round(mean[1]) - 20, math.Round(mean[2]) + 500}
	g.value = v
	known := publicOf(t, reader, table, []float64{v[0], v[1], rows - v[0] - v[1], v[2]}, publicKinds, publicY)

	g.cut, g.m = measure(t, reader, table, aboveFour)
	var err error
	if g.Given, err = g.m.Given(t.Context(), reader, known); err != nil {
		t.Fatal(err)
	}
	return g
}

// place is that of a component's own term among the statement's.
func (g given) place(c model.Component) int {
	group := 3 * strings.Index("ab", g.cut.Cells[c.Cell].Keys[0].Text)
	return group + map[string]int{"count": 0, "sum": 1, "avg": 2}[g.cut.Aggregates[c.Aggregate].Name]
}

// mean is E[F|z] at a share, by the definition.
func (g given) mean(x float64) []float64 {
	e, _ := conditional(g.all, g.rows, x, g.u, g.z, g.value)
	out := make([]float64, len(g.m.Components))
	for i, c := range g.m.Components {
		if out[i] = e[g.place(c)]; g.cut.Aggregates[c.Aggregate].Name == "avg" {
			out[i] /= e[g.place(c)-2]
		}
	}
	return out
}

// The slopes of counts, sums and averages given public statistics enclose those of the conditional means, and are
// close.
func TestGivenSlopes(t *testing.T) {
	g := newGiven(t)
	psi := model.Psi{Name: "share", Spans: []sensitivity.Span{{From: 0.15, To: 0.45, Within: 0.1}}}
	low, high, err := g.GivenSlopes(secretShare, psi)
	if err != nil {
		t.Fatal(err)
	}

	least, most := make([]float64, len(low)), make([]float64, len(low))
	for i := range least {
		least[i], most[i] = math.Inf(1), math.Inf(-1)
	}
	const steps = 300
	for s := range steps {
		a, b := psi.Spans[0].From+0.3*float64(s)/steps, psi.Spans[0].From+0.3*float64(s+1)/steps
		from, to := g.mean(a), g.mean(b)
		for i := range from {
			slope := (to[i] - from[i]) / (b - a)
			least[i], most[i] = math.Min(least[i], slope), math.Max(most[i], slope)
		}
	}

	for i, c := range g.m.Components {
		name := g.cut.Aggregates[c.Aggregate].Label
		scale := math.Max(math.Abs(least[i]), math.Abs(most[i]))
		if low[i] > least[i]+1e-7*scale || high[i] < most[i]-1e-7*scale {
			t.Errorf("%s: slopes from %v to %v are not within %v to %v", name, least[i], most[i], low[i], high[i])
		}
		if slack := 0.03*(most[i]-least[i]) + 0.05*scale; low[i] < least[i]-slack || high[i] > most[i]+slack {
			t.Errorf("%s: %v to %v is much wider than the slopes, %v to %v", name, low[i], high[i], least[i], most[i])
		}
	}

	families, err := g.Families(secretShare, psi)
	if err != nil {
		t.Fatal(err)
	}
	if sensitivity.Known(families[0]) { // the bend of the unconditional covariance is not its own
		t.Error("the covariance given what is public is taken for one whose bend is known")
	}
	for _, x := range []float64{0.15, 0.2, 0.45} {
		g.checkFamily(t, families[0], x)
	}
}

// checkFamily compares mean and covariance at a share with the definition; of averages there is no covariance.
func (g given) checkFamily(t *testing.T, family sensitivity.Family, x float64) {
	t.Helper()
	mean, cov := family.Mean(x), dense(family.Covariance(x))
	_, want := conditional(g.all, g.rows, x, g.u, g.z, g.value)
	for i, c := range g.m.Components {
		if w := g.mean(x)[i]; math.Abs(mean[i]-w) > 1e-8*math.Abs(w) {
			t.Errorf("E F = %v at %v, not %v", mean[i], x, w)
		}
		for j, d := range g.m.Components {
			if g.cut.Aggregates[c.Aggregate].Name == "avg" || g.cut.Aggregates[d.Aggregate].Name == "avg" {
				continue
			}
			a, b := g.place(c), g.place(d)
			if w := want.At(a, b); math.Abs(cov.At(i, j)-w) > 1e-7*math.Sqrt(want.At(a, a)*want.At(b, b)) {
				t.Errorf("Cov(%d, %d) = %v at %v, not %v", i, j, cov.At(i, j), x, w)
			}
		}
	}
}

// Public statistics that tell the secret, or cannot be, are refused; those that say nothing change nothing.
func TestPublicCheck(t *testing.T) {
	const rows = 5000
	_, reader, table := people(t, rows)
	psi := model.Psi{Name: "share", Spans: []sensitivity.Span{{From: 0.15, To: 0.45, Within: 0.1}}}
	for _, c := range []struct {
		sql    []string
		values []float64
		want   string // of the error; empty: none
	}{
		{[]string{"SELECT count(*) FROM people"}, []float64{rows}, ""},
		{[]string{"SELECT count(*) FROM people"}, []float64{rows + 1}, "contradict"},
		{[]string{publicKinds}, []float64{1000, 2500, 1500}, ""},
		{[]string{publicKinds}, []float64{1000, 2500, 1501}, "contradict"},
		{[]string{"SELECT count(*) FROM people WHERE s"}, []float64{1000}, "tell the value of secret share"},
		{[]string{"SELECT k, count(*) FROM people WHERE s GROUP BY k"}, []float64{250, 500, 250},
			"tell the value of secret share"},
		{[]string{publicKinds, "SELECT count(*) FROM people WHERE k = 'u'"}, []float64{1000, 2500, 1500, 1000}, ""},
		{[]string{publicKinds, "SELECT count(*) FROM people WHERE k = 'u'"}, []float64{1000, 2500, 1500, 999},
			"contradict"},
		{[]string{"SELECT count(*) FROM people WHERE k = 'u' AND s",
			"SELECT count(*) FROM people WHERE k <> 'u' AND s"}, []float64{300, 700}, "tell the value of secret share"},
	} {
		err := publicOf(t, reader, table, c.values, c.sql...).Check(secretShare, psi)
		if (c.want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), c.want) ||
			!sqlstate.Is(err, sqlstate.ModelUnfit)) {
			t.Errorf("%v = %v: %v", c.sql, c.values, err)
		}
	}

	// At 0 nobody has s: a statistic of those who have it is certain there, and nowhere else.
	ends := model.Psi{Name: "share", Spans: []sensitivity.Span{{From: 0, To: 0.3, Within: 0.1}}}
	if err := publicOf(t, reader, table, []float64{100}, "SELECT count(*) FROM people WHERE s AND k = 'u'").Check(
		secretShare, ends); !sqlstate.Is(err, sqlstate.ModelUnfit) {
		t.Errorf("certain at one end: %v", err)
	}

	_, m := measure(t, reader, table, linear)
	g, err := m.Given(t.Context(), reader, publicOf(t, reader, table, []float64{rows}, "SELECT count(*) FROM people"))
	if err != nil {
		t.Fatal(err)
	}
	low, high, err := g.GivenSlopes(secretShare, psi)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range m.Paths(secretShare, psi)[0].Slope(0.2) {
		if math.Abs(low[i]-want) > 1e-6*math.Abs(want) || math.Abs(high[i]-want) > 1e-6*math.Abs(want) {
			t.Errorf("component %d: %v to %v given the number of rows, %v without", i, low[i], high[i], want)
		}
	}

	_, sets := measure(t, reader, table, "SELECT g, k, count(*) FROM people GROUP BY GROUPING SETS (g, k)")
	if _, err := sets.Given(t.Context(), reader, publicOf(t, reader, table, []float64{rows},
		"SELECT count(*) FROM people")); !errors.Is(err, model.ErrPublic) {
		t.Errorf("grouping sets: %v", err)
	}
}

// What is certain does not depend on units: a sum of millionths is conditioned on as a sum of whole numbers is. It was
// taken for certain, and so for telling the secret, as its variance is small in its own units.
func TestPublicUnits(t *testing.T) {
	const rows = 5000
	_, reader, table := people(t, rows)
	psi := model.Psi{Name: "share", Spans: []sensitivity.Span{{From: 0.15, To: 0.45, Within: 0.1}}}
	_, m := measure(t, reader, table, linear)
	var slopes [2][]float64
	for i, of := range []struct {
		sql   string
		value float64
	}{{"SELECT sum(y) FROM people", 91_000}, {"SELECT sum(y * 0.0000001) FROM people", .0091}} {
		known := publicOf(t, reader, table, []float64{of.value}, of.sql)
		if err := known.Check(secretShare, psi); err != nil {
			t.Fatalf("%s: %v", of.sql, err)
		}
		g, err := m.Given(t.Context(), reader, known)
		if err != nil {
			t.Fatal(err)
		}
		if slopes[i], _, err = g.GivenSlopes(secretShare, psi); err != nil {
			t.Fatal(err)
		}
	}
	for k, v := range slopes[0] {
		if math.Abs(v-slopes[1][k]) > 1e-6*math.Abs(v) {
			t.Errorf("component %d moves by %v, and by %v where the same sum is in ten millionths", k, v, slopes[1][k])
		}
	}

	// What is certain but for the secret tells it, however small it is.
	told := publicOf(t, reader, table, []float64{.0001}, "SELECT sum(0.0000001) FROM people WHERE s")
	if err := told.Check(secretShare, psi); !sqlstate.Is(err, sqlstate.ModelUnfit) {
		t.Errorf("a sum that tells the secret, in ten millionths: %v", err)
	}
}

// A row of the reference more changes how F moves given Z also through the slope of the regression: where the classes'
// regressions are opposite, and nothing else moves, by B' times what it changes in the mean of Z. The rows that noise
// hides besides cover it: the change is worked out from the rows themselves.
func TestGivenHidesOneRowMore(t *testing.T) {
	const rows, class = 5000, 600
	_, reader, table := people(t, rows)
	all := opposite(t, class)

	const at, half = .5, 5e-4
	psi := model.Psi{Name: "share", Spans: []sensitivity.Span{{From: at - half, To: at + half, Within: 2 * half}}}
	_, m := measure(t, reader, table, "SELECT sum(y) FROM people")
	for _, value := range []float64{0, 400} {
		known := publicOf(t, reader, table, []float64{value}, "SELECT sum(x) FROM people")
		g, err := m.Given(t.Context(), reader, known)
		if err != nil {
			t.Fatal(err)
		}
		shifts, _, err := g.Shifts(secretShare, psi, 0)
		if err != nil {
			t.Fatal(err)
		}
		hidden := shifts[0].Box()[0]

		moves := func(all []person) float64 {
			u := func(p person) []float64 { return []float64{p.y} }
			z := func(p person) []float64 { return []float64{p.x} }
			high, _ := conditional(all, rows, at+half, u, z, []float64{value})
			low, _ := conditional(all, rows, at-half, u, z, []float64{value})
			return high[0] - low[0]
		}
		before := moves(all)
		for _, x := range []float64{-3, 3} {
			for _, y := range []float64{-1, 0, 1} {
				more := []person{{s: true, k: "u", g: "a", x: x, y: y}, {s: false, k: "u", g: "a", x: x, y: -y}}
				for _, with := range [][]person{more[:1], more[1:], more} {
					moved := math.Abs(moves(append(all[:len(all):len(all)], with...)) - before)
					t.Logf("%g, x = %g, y = %g, %d rows more: %.4g of %.4g", value, x, y, len(with), moved, hidden)
					if moved > hidden {
						t.Errorf("%d rows more with x = %g, y = %g move F by %v more where Z is %g, and %v is hidden",
							len(with), x, y, moved, value, hidden)
					}
				}
			}
		}
	}
}
