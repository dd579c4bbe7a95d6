package pipeline

import (
	"errors"
	"math"
	"strconv"
	"testing"

	"fugu/mechanism"
	"fugu/model"
	"fugu/planner"
	"fugu/test/patient"
)

// The shapes of a count, a sum and an average are those of sums over the reference's rows, worked out row by row.
func TestShapes(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	reference := h.people(t)
	q, err := h.question(t, "SELECT sex, count(*), sum(age), avg(age), stddev(age) FROM adult GROUP BY sex", nil,
		settings{})
	if err != nil {
		t.Fatal(err)
	}
	c := q.Request.Cuts[0]
	pt := h.engine.snapshot.Load().Find("public", "adult")
	shapes, err := model.MeasureShapes(t.Context(), h.engine.desk.Reader, c, pt.Totals)
	if err != nil {
		t.Fatal(err)
	}

	for _, p := range []float64{0.10, 0.24, 0.60} {
		n := [2]float64{float64(rows) * (1 - p), float64(rows) * p}
		for cell, keys := range c.Cells {
			for a, agg := range c.Aggregates {
				got, err := shapes.At(0, p, model.Component{Cell: cell, Aggregate: a})
				if agg.Second() {
					if !errors.Is(err, model.ErrNoShape) {
						t.Errorf("%s: %+v, %v", agg.Label, got, err)
					}
					continue
				}
				want := shapeOf(reference, n, share(agg.Name, reference, keys.Keys[0], n))
				if err != nil || math.Abs(got.Skewness-want.Skewness) > 1e-6*math.Abs(want.Skewness)+1e-9 ||
					math.Abs(got.Kurtosis-want.Kurtosis) > 1e-6*math.Abs(want.Kurtosis)+1e-10 {
					t.Errorf("%s at %v, p=%v: %+v, want %+v, %v", agg.Label, keys.Keys, p, got, want, err)
				}
				if got.Bound < want.Bound*(1-1e-9) || got.Bound > 2*want.Bound || got.Estimate > got.Bound {
					t.Errorf("%s at %v, p=%v: bound %v of %v, estimate %v", agg.Label, keys.Keys, p, got.Bound,
						want.Bound, got.Estimate)
				}
			}
		}
	}
}

// person is a row of the reference: which class of the secret it is in, and what the statement reads of it.
type person struct {
	class int
	sex   planner.Value
	age   float64
}

func (h *house) people(t *testing.T) (out []person) {
	t.Helper()
	rows, err := h.engine.desk.Reader.Query(t.Context(),
		"SELECT income = '>50K', sex, age::float8 FROM public.adult_reference", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		p := person{sex: row[1]}
		if row[0].Text == "t" {
			p.class = 1
		}
		p.age, _ = strconv.ParseFloat(row[2].Text, 64)
		out = append(out, p)
	}
	return out
}

// share is what a person adds to an aggregate over the ages of a sex, of a table with n rows in each class. For an
// average, that is the residual x - r in its cell.
func share(aggregate string, reference []person, sex planner.Value, n [2]float64) func(person) float64 {
	var size, inside, total [2]float64
	for _, p := range reference {
		size[p.class]++
		if p.sex == sex {
			inside[p.class]++
			total[p.class] += p.age
		}
	}
	r := (n[0]*total[0]/size[0] + n[1]*total[1]/size[1]) / (n[0]*inside[0]/size[0] + n[1]*inside[1]/size[1])

	return func(p person) float64 {
		switch {
		case p.sex != sex:
			return 0
		case aggregate == "count":
			return 1
		case aggregate == "sum":
			return p.age
		}
		return p.age - r
	}
}

// shapeOf is the shape of the sum of f over n rows of each class, drawn from those of the reference. Its bound is the
// Berry-Esseen theorem's, with the constant .56.
func shapeOf(reference []person, n [2]float64, f func(person) float64) (out model.Shape) {
	var size, mean, m2, m3, m4, rho [2]float64
	for _, p := range reference {
		size[p.class]++
		mean[p.class] += f(p)
	}
	for _, p := range reference {
		k := p.class
		d := f(p) - mean[k]/size[k]
		m2[k] += d * d / size[k]
		m3[k] += d * d * d / size[k]
		m4[k] += d * d * d * d / size[k]
		rho[k] += math.Abs(d*d*d) / size[k]
	}

	v := n[0]*m2[0] + n[1]*m2[1]
	out.Skewness = (n[0]*m3[0] + n[1]*m3[1]) / math.Pow(v, 1.5)
	out.Kurtosis = (n[0]*(m4[0]-3*m2[0]*m2[0]) + n[1]*(m4[1]-3*m2[1]*m2[1])) / (v * v)
	out.Bound = 0.56 * (n[0]*rho[0] + n[1]*rho[1]) / math.Pow(v, 1.5)
	return out
}

// A count, a sum, and an average over every row are certified by their own law where a mechanism counts the rows'
// randomness; several values at once, and an average over some of the rows, for normal ones. The law moves as the
// model's means do: otherwise it would not have been taken.
func TestSumsAreCertifiedByTheirLaw(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	for sql, want := range map[string]string{
		"SELECT count(*) FROM adult WHERE age > 40":       "independent rows, translation",
		"SELECT sum(hours_per_week) FROM adult":           "independent rows, translation",
		"SELECT avg(age) FROM adult":                      "independent rows, translation",
		"SELECT avg(age) FROM adult WHERE sex = 'Female'": "gaussian, translation",
		"SELECT sex, count(*) FROM adult GROUP BY sex":    "gaussian, translation",
	} {
		q, err := h.question(t, sql, nil, settings{mechanism: mechanism.OptimalGaussian, confidence: defaultConfidence})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		x, err := q.Explain(t.Context())
		if err != nil || x.Assumption != want || len(x.Certificates) != 2 {
			t.Errorf("%s: assuming %s, %d certificates, %v; want %s", sql, x.Assumption, len(x.Certificates), err, want)
		}
		for _, c := range x.Certificates {
			if !(c.Delta > 0 && c.Delta <= .001) {
				t.Errorf("%s: %+v", sql, c)
			}
		}
	}
}
