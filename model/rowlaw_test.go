package model_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"fugu/model"
	"fugu/planner"
	"fugu/privacy/rowsum"
	"fugu/sensitivity"
	"fugu/upstream"
)

// stated is a statement whose rows are known one by one: what each adds to its components, given the average of the
// group. To an average that is how far the row is from it.
type stated struct {
	*model.Moments
	sql    string
	labels []string
	adds   []func(p person, average float64) float64
}

const grouped = "SELECT g, avg(x), count(*), sum(y) FROM people WHERE x > 4 GROUP BY g"

// of500 measures two statements over a table of 500 rows, with what is known of the reference's rows.
func of500(t *testing.T) (all []person, reader *upstream.Reader, table *planner.Table, cuts []stated,
	rows *model.RowSums) {
	t.Helper()
	all, reader, table = people(t, 500)
	places, err := model.ReadPlaces(t.Context(), reader, table)
	if err != nil {
		t.Fatal(err)
	}

	var measured []*model.Moments
	for _, sql := range []string{grouped, "SELECT avg(y), count(x) FROM people"} {
		cut, m := measure(t, reader, table, sql)
		s := stated{Moments: m, sql: sql}
		for _, c := range m.Components {
			label, group := cut.Aggregates[c.Aggregate].Label, cut.GroupKey(cut.Cells[c.Cell])
			s.labels = append(s.labels, label)
			s.adds = append(s.adds, func(p person, average float64) float64 {
				v, known := map[string]float64{"count(*)": 1, "count(x)": 1, "sum(y)": p.y, "avg(x)": p.x - average,
					"avg(y)": p.y - average}[label]
				if !known {
					t.Fatalf("no row function for %q", label)
				}
				return v * indicator(sql != grouped || p.x > 4 && "g="+p.g == group)
			})
		}
		cuts, measured = append(cuts, s), append(measured, m)
	}
	if rows, err = model.ReadRowSums(t.Context(), reader, places, measured...); err != nil {
		t.Fatal(err)
	}
	return all, reader, table, cuts, rows
}

// shape is a family of which the cumulants are known.
type shape interface {
	Cumulants(x float64, w []float64) (third, fourth float64, known bool)
}

// weighted is what each person adds to Σ w_k F_k of a statement by the delta method: an average moves by the row's
// distance from it over the rows that are expected, of which each person is so many.
func (s stated) weighted(all []person, w []float64, many func(person) float64) []float64 {
	out := make([]float64, len(all))
	for k, f := range s.adds {
		// What does not depend on the average is no average: then no row is counted here.
		average, scale := 0., 1.
		rows, sum := 0., 0.
		for _, p := range all {
			rows, sum = rows+many(p)*(f(p, 0)-f(p, 1)), sum+many(p)*f(p, 0)
		}
		if rows > 0 {
			average, scale = sum/rows, 1/rows
		}
		for i, p := range all {
			out[i] += w[k] * scale * f(p, average)
		}
	}
	return out
}

// lawOfRows is a family of which the law of single components may be known.
type lawOfRows interface {
	Rows(k int) *rowsum.Sum
}

// centralOf are the third and the fourth cumulant of a value that is each person's with a weight.
func centralOf(all []person, values []float64, weight func(person) float64) (third, fourth float64) {
	total, mean := 0., 0.
	for i, v := range values {
		total, mean = total+weight(all[i]), mean+weight(all[i])*v
	}
	mean /= total
	moment := func(power float64) (sum float64) {
		for i, v := range values {
			sum += weight(all[i]) / total * math.Pow(v-mean, power)
		}
		return sum
	}
	return moment(3), moment(4) - 3*moment(2)*moment(2)
}

// The cumulants of all that a statement answers are those of a sum over independent rows, worked out row by row: of a
// share that the table has, of one of the distribution, of a mean, and of two statements together.
func TestCumulantsByDefinition(t *testing.T) {
	all, reader, table, cuts, rows := of500(t)
	const p, mean = .35, 130.
	spans := []sensitivity.Span{{From: .1, To: .6, Within: .2}}
	share := model.Psi{Name: "share", Spans: spans}
	ofDistribution := model.Psi{Name: "share", Spans: spans, Distribution: true}
	w := [][]float64{{400, 1, -.5, -300, 2, .25}, {30, 2}}

	// In a table of 500 rows with the share p, a row of the reference stands for so many.
	many := func(r person) float64 { return 500 * []float64{1 - p, p}[inside(r)] / []float64{900, 300}[inside(r)] }
	even := func(person) float64 { return 500. / 1200 }
	check := func(what string, f sensitivity.Family, x float64, w []float64, third, fourth float64) {
		t.Helper()
		hasCumulants(t, what, rows.Shape(f), x, w, third, fourth)
	}

	for i, s := range cuts {
		added := s.weighted(all, w[i], many)

		// Each class by itself, as the numbers of their rows do not vary; and all rows as one.
		var third, fourth float64
		for class, share := range []float64{1 - p, p} {
			c3, c4 := centralOf(all, added, func(r person) float64 { return indicator(inside(r) == class) })
			third, fourth = third+500*share*c3, fourth+500*share*c4
		}
		check(s.sql, s.Paths(secretShare, share)[0], p, w[i], third, fourth)
		c3, c4 := centralOf(all, added, many)
		check("a distribution's share: "+s.sql, s.Paths(secretShare, ofDistribution)[0], p, w[i], 500*c3, 500*c4)
	}

	// Of a mean the averages are a row's at that mean, along the regression; the sums do not depend on it.
	of := model.Psi{Name: "mean", Spans: []sensitivity.Span{{From: 120, To: 150, Within: 5}}, Distribution: true}
	sums := []float64{0, 1, -.5, 0, 2, .25}
	added := cuts[0].weighted(all, sums, even)
	c3, c4 := centralOf(all, added, even)
	check("a distribution's mean", cuts[0].Paths(secretMean, of)[0], mean, sums, 500*c3, 500*c4)
	of.Distribution = false
	c3, c4 = centralOf(all, regressed(all, added), even)
	check("a mean", cuts[0].Paths(secretMean, of)[0], mean, sums, 500*c3, 500*c4)

	// Two statements are over the same rows.
	joint, err := model.Join(t.Context(), reader, cuts[0].Moments, cuts[1].Moments)
	if err != nil {
		t.Fatal(err)
	}
	both := cuts[0].weighted(all, w[0], many)
	for i, v := range cuts[1].weighted(all, w[1], many) {
		both[i] += v
	}
	c3, c4 = centralOf(all, both, many)
	check("two statements", joint.Families(secretShare, ofDistribution)[0], p, slices.Concat(w...), 500*c3, 500*c4)

	// A statement whose rows were not read has none.
	_, other := measure(t, reader, table, "SELECT sum(x) FROM people")
	f := rows.Shape(other.Paths(secretShare, share)[0]).(shape)
	if _, _, known := f.Cumulants(p, []float64{1}); known {
		t.Error("the cumulants of a statement are known whose rows were not read")
	}
}

// hasCumulants checks the cumulants of a shape at a secret's value, of values with these weights.
func hasCumulants(t *testing.T, what string, of any, x float64, w []float64, third, fourth float64) {
	t.Helper()
	known, ok := of.(shape)
	if !ok {
		t.Fatalf("%s: %T has no cumulants", what, of)
	}
	a, b, is := known.Cumulants(x, w)
	if !is || math.Abs(a-third) > 1e-7*math.Abs(third) || math.Abs(b-fourth) > 1e-7*math.Abs(fourth) {
		t.Errorf("%s: %v and %v, %v; by definition %v and %v", what, a, b, is, third, fourth)
	}
}

// regressed is what a least-squares line through y leaves of values.
func regressed(all []person, values []float64) []float64 {
	n := float64(len(all))
	var v, y, vy, yy float64
	for i, p := range all {
		v, y, vy, yy = v+values[i]/n, y+p.y/n, vy+values[i]*p.y/n, yy+p.y*p.y/n
	}
	out := make([]float64, len(values))
	for i, p := range all {
		out[i] = values[i] - (vy-v*y)/(yy-y*y)*(p.y-y)
	}
	return out
}

// What is a sum over rows, or their average over all of the table, has a law of its own: that of what the reference's
// rows of each class add, and of the pairs that the secret has. All else has none: an average over some of the rows,
// whose number varies; a distribution's share, a mean, three classes, and rows that are drawn from the reference.
func TestLawOfRows(t *testing.T) {
	all, _, _, cuts, rows := of500(t)
	of := model.Psi{Name: "share", Spans: []sensitivity.Span{{From: .1001, To: .6, Within: .2}}}
	law := func(s stated, secret int, psi model.Psi, k int) *rowsum.Sum {
		return rows.Shape(s.Paths(secret, psi)[0]).(lawOfRows).Rows(k)
	}

	for _, s := range cuts {
		for k, f := range s.adds {
			got := law(s, secretShare, of, k)
			if s.labels[k] == "avg(x)" {
				if got != nil {
					t.Errorf("%s has a law", s.labels[k])
				}
				continue
			}

			// Of 500 rows 51 to 300 are of the class, and 100 more or less. An average adds a 500th of a row's
			// distance.
			each := 1.
			if s.labels[k] == "avg(y)" {
				each = 1. / 500
			}
			var values [2][]float64
			for _, p := range all {
				values[inside(p)] = append(values[inside(p)], each*f(p, 0))
			}
			want, err := rowsum.New(values, 500, rowsum.Pairs{Low: 51, High: 300, Apart: 100})
			if err != nil {
				t.Fatal(err)
			}
			if got == nil || got.Rows() != 500 || math.Abs(got.Step()-want.Step()) > 1e-9 {
				t.Errorf("%s: %+v, want %+v", s.labels[k], got, want)
			}
			if each == 1 && !reflect.DeepEqual(got, want) { // to the last bit, with its pairs
				t.Errorf("%s: %+v, want %+v", s.labels[k], got, want)
			}
		}
	}

	count := slices.Index(cuts[0].labels, "count(*)")
	distribution, drawn := of, of
	distribution.Distribution, drawn.FromReference = true, true
	mean := model.Psi{Name: "mean", Spans: []sensitivity.Span{{From: 120, To: 150, Within: 5}}}
	three := model.Psi{Name: "kinds", Vectors: [][2][]float64{{{.2, .5, .3}, {.3, .4, .3}}}}
	nothing := model.Psi{Name: "share", Spans: []sensitivity.Span{{From: .1001, To: .1009, Within: .0005}}}
	for name, got := range map[string]*rowsum.Sum{
		"a distribution's share":         law(cuts[0], secretShare, distribution, count),
		"rows drawn from the reference":  law(cuts[0], secretShare, drawn, count),
		"a mean":                         law(cuts[0], secretMean, mean, count),
		"three classes":                  law(cuts[0], secretKinds, three, count),
		"pairs that no table of 500 has": law(cuts[0], secretShare, nothing, count),
	} {
		if got != nil {
			t.Errorf("%s: a law %+v", name, got)
		}
	}
}
