package model_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"fugu/model"
	"fugu/parser"
	"fugu/planner"
	"fugu/sensitivity"
	"fugu/test/nightly"
	"fugu/test/pgcluster"
	"fugu/upstream"
)

// pair is a row of a reference with two numbers; y may be NULL.
type pair struct {
	secret bool
	g      string
	x, y   float64
	null   bool
}

// pairs makes 600 rows, 200 of them in the predicate, in groups a and b, in which y follows x: more steeply inside.
func pairs() []pair {
	r := rand.New(rand.NewPCG(5, 6))
	var rows []pair
	for i := range 600 {
		v := pair{secret: i < 200, g: []string{"a", "b", "b"}[r.IntN(3)], x: float64(r.IntN(60) + 10),
			null: r.IntN(8) == 0}
		if v.secret {
			v.x += 15
			v.y = 10 + 0.75*v.x
		} else {
			v.y = 30 + 0.25*v.x
		}
		v.y += float64(r.IntN(200)) / 8
		rows = append(rows, v)
	}
	return rows
}

// reference loads the rows as the reference of a table of n rows.
func reference(t *testing.T, rows []pair) (*upstream.Reader, *planner.Table) {
	t.Helper()
	c := pgcluster.Shared(t)
	var sql strings.Builder
	sql.WriteString("DROP TABLE IF EXISTS ref; CREATE TABLE ref (s bool, g text, x int, y float8); INSERT INTO ref " +
		"VALUES ")
	for i, v := range rows {
		y := fmt.Sprint(v.y)
		if v.null {
			y = "NULL"
		}
		if i > 0 {
			sql.WriteByte(',')
		}
		fmt.Fprintf(&sql, "(%v,'%s',%g,%s)", v.secret, v.g, v.x, y)
	}

	if err := c.Exec(t.Context(), "postgres", sql.String()); err != nil {
		t.Fatal(err)
	}
	reader, err := upstream.OpenReader(c.DSN("postgres", "postgres"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	e, err := parser.ParsePredicate("s", parser.Table{Schema: "public", Name: "ref",
		Columns: []string{"s", "g", "x", "y"}})
	if err != nil {
		t.Fatal(err)
	}
	return reader, &planner.Table{Schema: "public", Name: "ref", Reference: `"public"."ref"`, Rows: n,
		Columns: []planner.Column{{Name: "s", Type: "boolean"}, {Name: "g", Type: "text"}, {Name: "x", Type: "integer"},
			{Name: "y", Type: "double precision"}},
		Domains: map[string][]planner.Value{"g": {{Text: "a"}, {Text: "b"}, {Text: "d"}}},
		Secrets: []planner.Secret{{Name: "s", Predicate: e}}}
}

const smoothStatement = "SELECT g, count(*), avg(x), stddev(x), stddev_pop(y), variance(x), var_pop(y), corr(y, x), " +
	"covar_samp(y, x), covar_pop(y, x), regr_slope(y, x), regr_intercept(y, x), regr_r2(y, x), regr_count(y, x), " +
	"regr_avgx(y, x), regr_avgy(y, x), regr_sxx(y, x), regr_syy(y, x), regr_sxy(y, x) FROM ref GROUP BY g"

// direct computes an aggregate from its definition, over the rows that it is over.
func direct(name string, rows []pair) float64 {
	if name == "count" {
		return float64(len(rows))
	}
	x, y := columnsOf(name, rows)
	size, mx, my := float64(len(x)), meanOf(x), meanOf(y)
	xx, yy, xy := crossOf(x, x), crossOf(y, y), crossOf(x, y)
	switch name {
	case "avg", "regr_avgx":
		return mx
	case "regr_avgy":
		return my
	case "var_samp":
		return xx / (size - 1)
	case "stddev_samp":
		return math.Sqrt(xx / (size - 1))
	case "var_pop":
		return xx / size
	case "stddev_pop":
		return math.Sqrt(xx / size)
	case "covar_samp":
		return xy / (size - 1)
	case "covar_pop":
		return xy / size
	case "corr":
		return xy / math.Sqrt(xx*yy)
	case "regr_slope":
		return xy / xx
	case "regr_intercept":
		return my - xy/xx*mx
	case "regr_r2":
		return xy * xy / xx / yy
	case "regr_count":
		return size
	case "regr_sxx":
		return xx
	case "regr_syy":
		return yy
	case "regr_sxy":
		return xy
	}
	panic(name)
}

// columnsOf returns the values that an aggregate of the statement is over: of pairs where both are known, of y for
// populations, and otherwise of x.
func columnsOf(name string, rows []pair) (x, y []float64) {
	two := strings.HasPrefix(name, "regr") || strings.HasPrefix(name, "co")
	onY := strings.HasSuffix(name, "_pop") && !two
	for _, r := range rows {
		if (two || onY) && r.null {
			continue
		}
		if onY {
			r.x = r.y
		}
		x, y = append(x, r.x), append(y, r.y)
	}
	return x, y
}

func meanOf(v []float64) float64 {
	total := 0.0
	for _, a := range v {
		total += a
	}
	return total / float64(len(v))
}

// crossOf is Σ (v - mean)(w - mean).
func crossOf(v, w []float64) float64 {
	total, mv, mw := 0.0, meanOf(v), meanOf(w)
	for i := range v {
		total += (v[i] - mv) * (w[i] - mw)
	}
	return total
}

// sampledValues draws T datasets of n rows with the share p from inside the predicate, and computes the components.
func sampledValues(cut *planner.Bound, m *model.Moments, rows []pair, r *rand.Rand, p float64, T int) [][]float64 {
	var in, out []pair
	for _, r := range rows {
		if r.secret {
			in = append(in, r)
		} else {
			out = append(out, r)
		}
	}

	values := make([][]float64, T)
	for i := range values {
		groups := map[string][]pair{}
		for k := range n {
			from := out
			if k < int(p*n) {
				from = in
			}
			v := from[r.IntN(len(from))]
			groups[v.g] = append(groups[v.g], v)
		}

		for _, c := range m.Components {
			group := groups[cut.Cells[c.Cell].Keys[0].Text]
			values[i] = append(values[i], direct(cut.Aggregates[c.Aggregate].Name, group))
		}
	}
	return values
}

// sampleMoments are the mean and standard deviation of each component over the datasets.
func sampleMoments(values [][]float64) (avg, sd []float64) {
	T := float64(len(values))
	avg, sd = make([]float64, len(values[0])), make([]float64, len(values[0]))
	for k := range avg {
		for i := range values {
			avg[k] += values[i][k] / T
		}
		for i := range values {
			sd[k] += (values[i][k] - avg[k]) * (values[i][k] - avg[k]) / T
		}
		sd[k] = math.Sqrt(sd[k])
	}
	return avg, sd
}

// The delta method against datasets drawn from the model itself: K = pn rows with replacement from inside the
// predicate, the rest from outside. T = 4000 datasets of 1000 rows: a mean may be off by 8 standard errors, of which
// the bias of the delta method (below sd/20 at 250 rows) takes up to 3.2, and a standard deviation by 12%, 7 of its own
// standard errors for what is near to normal. The chance of a false alarm is below 1e-6 over all 36 of either.
// Covariances of pairs of components are held to 0.13 of the product of the standard deviations, 8 standard errors of a
// correlation.
func TestDeltaMethodAgainstSampledDatasets(t *testing.T) {
	if testing.Short() {
		t.Skip("takes longer than a save")
	}
	rows := pairs()
	reader, table := reference(t, rows)
	cut, m := measure(t, reader, table, smoothStatement)
	if len(m.Components) != 38 {
		t.Fatalf("%d components", len(m.Components))
	}
	n := nightly.Or(4000, 2500)
	T := float64(n)
	r := rand.New(rand.NewPCG(7, 8))
	for _, p := range []float64{0.2, 0.5} {
		values := sampledValues(cut, m, rows, r, p, n)
		avg, sd := sampleMoments(values)
		path := m.Paths(0, psi)[0]
		mean, covariance := path.Mean(p), dense(path.Covariance(p))
		for k, c := range m.Components {
			if cut.Cells[c.Cell].Keys[0].Text == "d" {
				if mean[k] != 0 || avg[k] != 0 {
					t.Errorf("a group without rows has mean %g, sampled %g", mean[k], avg[k])
				}
				continue
			}

			name := fmt.Sprintf("p=%g %s %s", p, cut.Aggregates[c.Aggregate].Label, cut.GroupKey(cut.Cells[c.Cell]))
			if math.Abs(avg[k]-mean[k]) > 8*sd[k]/math.Sqrt(T) {
				t.Errorf("%s: mean %g, sampled %g ± %g", name, mean[k], avg[k], sd[k]/math.Sqrt(T))
			}
			if own := math.Sqrt(covariance.At(k, k)); math.Abs(sd[k]/own-1) > 0.12 {
				t.Errorf("%s: sd %g, sampled %g", name, own, sd[k])
			}
			for l := range k {
				cov := 0.0
				for i := range values {
					cov += (values[i][k] - avg[k]) * (values[i][l] - avg[l]) / T
				}
				if own := covariance.At(k, l); math.Abs(own-cov) > 0.13*sd[k]*sd[l] {
					t.Errorf("%s: covariance with component %d is %g, sampled %g", name, l, own, cov)
				}
			}
		}
	}
}

// No difference of means of a pair in the span leaves what the shift says, in either order, whatever the function.
func TestShiftBoundsEveryPairOfSmoothFunctions(t *testing.T) {
	reader, table := reference(t, pairs())
	cut, m := measure(t, reader, table, smoothStatement)
	span := sensitivity.Span{From: 0.05, To: 0.9, Within: 0.3}
	path := m.Paths(0, model.Psi{Name: "s", Spans: []sensitivity.Span{span}})[0]
	lo, hi := path.Slopes()
	s, err := sensitivity.Between("s", span, lo, hi, make([]float64, len(m.Components)))
	if err != nil {
		t.Fatal(err)
	}
	used := make([]float64, len(m.Components))
	for p := span.From; p < span.To; p += 0.01 {
		slope := path.Slope(p)
		for k := range slope {
			if !(slope[k] >= lo[k]-1e-9*math.Abs(lo[k]) && slope[k] <= hi[k]+1e-9*math.Abs(hi[k])) {
				t.Fatalf("component %d: slope %g at %g is outside [%g, %g]", k, slope[k], p, lo[k], hi[k])
			}
		}

		for q := p + 0.001; q <= math.Min(p+span.Within, span.To); q += 0.013 {
			a, b := path.Mean(p), path.Mean(q)
			for k := range a {
				r := math.Abs(b[k] - a[k] - (q-p)/span.Within*s.Along[k])
				if r > s.Beside[k]*(1+1e-9)+1e-9 {
					t.Fatalf("component %d, pair (%g, %g): %g beside the direction, bound %g", k, p, q, r, s.Beside[k])
				}
				used[k] = math.Max(used[k], r)
			}
		}
	}

	for k, c := range m.Components {
		name := cut.Aggregates[c.Aggregate].Name
		linear := name == "count" || name == "regr_count"
		if !linear && used[k] < s.Beside[k]/3 {
			t.Errorf("%s: pairs leave the direction by %g at most, and the bound is %g", name, used[k], s.Beside[k])
		}
		if linear && s.Beside[k] > 1e-9*math.Abs(s.Along[k]) {
			t.Errorf("%s: a straight line is left by %g", name, s.Beside[k])
		}
	}
}

// The resolution covers what one more row of the reference does to the slope, wherever it is, and is no more than a few
// times what the most extreme one does.
func TestResolutionOfSmoothFunctions(t *testing.T) {
	rows := pairs()
	for i := range rows { // the classes are far apart, so that how the slope bends counts
		if rows[i].secret {
			rows[i].x, rows[i].y = rows[i].x+120, rows[i].y-60
		}
	}
	reader, table := reference(t, rows)
	const from, to = 0.3, 0.5
	cut, m := measure(t, reader, table, smoothStatement)
	wide := model.Psi{Name: "s", Spans: []sensitivity.Span{{From: from, To: to, Within: to - from}}}
	path := m.Paths(0, wide)[0]
	resolution := path.Resolution(from)
	for _, p := range []float64{(from + to) / 2, to} {
		for k, r := range path.Resolution(p) {
			resolution[k] = math.Max(resolution[k], r)
		}
	}
	before := map[float64][]float64{}
	for _, p := range []float64{from, 0.4, to} {
		before[p] = path.Slope(p)
	}
	low, high := [2]float64{1e9, 1e9}, [2]float64{-1e9, -1e9}
	for _, r := range rows {
		low[0], high[0] = math.Min(low[0], r.x), math.Max(high[0], r.x)
		if !r.null {
			low[1], high[1] = math.Min(low[1], r.y), math.Max(high[1], r.y)
		}
	}
	most := make([]float64, len(m.Components))
	for _, more := range []pair{{x: low[0], y: low[1]}, {x: low[0], y: high[1]}, {x: high[0], y: low[1]},
		{x: high[0], y: high[1]}, {x: 40, y: 50}} {
		for _, more.secret = range []bool{true, false} {
			more.g = "a"
			reader, table := reference(t, append(slices.Clone(rows), more))
			_, with := measure(t, reader, table, smoothStatement)
			for p, slope := range before {
				for k, s := range with.Paths(0, wide)[0].Slope(p) {
					if cut.Cells[m.Components[k].Cell].Keys[0].Text != "a" {
						continue
					}
					// A row more makes the class larger, too, by a 200th: the other means of it shrink by that.
					if change := math.Abs(s - slope[k]); change > resolution[k]*1.05+0.01*math.Abs(slope[k]) {
						t.Errorf("%s: row %v changes the slope at %g by %g, and the resolution is %g",
							cut.Aggregates[m.Components[k].Aggregate].Label, more, p, change, resolution[k])
					} else {
						most[k] = math.Max(most[k], change)
					}
				}
			}
		}
	}

	for k, c := range m.Components {
		if cut.Cells[c.Cell].Keys[0].Text == "a" && most[k] < resolution[k]/5 {
			t.Errorf("%s: the resolution is %g, and no row changes the slope by more than %g",
				cut.Aggregates[c.Aggregate].Label, resolution[k], most[k])
		}
	}
}
