package pipeline

import (
	"errors"
	"math"
	"strconv"
	"testing"

	"fugu/model"
)

// The shapes of a count, a sum and an average are those of sums over the reference's rows, worked out row by row.
func TestShapes(t *testing.T) {
	h := newHouse(t)
	reference, err := h.engine.desk.Reader.Query(t.Context(), "SELECT income = '>50K', sex, age::float8 FROM "+
		"public.adult_reference", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
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
			// The residual of an average: x - r in its cell.
			var size, inside, total [2]float64
			class := func(income string) int {
				if income == "t" {
					return 1
				}
				return 0
			}
			for _, row := range reference {
				k := class(row[0].Text)
				size[k]++
				if row[1] == keys.Keys[0] {
					x, _ := strconv.ParseFloat(row[2].Text, 64)
					inside[k]++
					total[k] += x
				}
			}
			r := (n[0]*total[0]/size[0] + n[1]*total[1]/size[1]) / (n[0]*inside[0]/size[0] + n[1]*inside[1]/size[1])
			for a, agg := range c.Aggregates {
				if agg.Second() {
					s, err := shapes.At(0, p, model.Component{Cell: cell, Aggregate: a})
					if !errors.Is(err, model.ErrNoShape) {
						t.Errorf("%s: %+v, %v", agg.Label, s, err)
					}
					continue
				}
				f := func(x float64, in bool) float64 {
					switch {
					case !in:
						return 0
					case agg.Name == "count":
						return 1
					case agg.Name == "sum":
						return x
					}
					return x - r
				}
				var mean [2]float64
				for _, row := range reference {
					x, _ := strconv.ParseFloat(row[2].Text, 64)
					mean[class(row[0].Text)] += f(x, row[1] == keys.Keys[0])
				}
				var m2, m3, m4, rho [2]float64
				for _, row := range reference {
					k := class(row[0].Text)
					x, _ := strconv.ParseFloat(row[2].Text, 64)
					d := f(x, row[1] == keys.Keys[0]) - mean[k]/size[k]
					m2[k], m3[k], m4[k], rho[k] = m2[k]+d*d/size[k], m3[k]+d*d*d/size[k], m4[k]+d*d*d*d/size[k],
						rho[k]+math.Abs(d*d*d)/size[k]
				}
				v := n[0]*m2[0] + n[1]*m2[1]
				skewness := (n[0]*m3[0] + n[1]*m3[1]) / math.Pow(v, 1.5)
				kurtosis := (n[0]*(m4[0]-3*m2[0]*m2[0]) + n[1]*(m4[1]-3*m2[1]*m2[1])) / (v * v)
				bound := 0.56 * (n[0]*rho[0] + n[1]*rho[1]) / math.Pow(v, 1.5)
				got, err := shapes.At(0, p, model.Component{Cell: cell, Aggregate: a})
				if err != nil || math.Abs(got.Skewness-skewness) > 1e-6*math.Abs(skewness)+1e-9 ||
					math.Abs(got.Kurtosis-kurtosis) > 1e-6*math.Abs(kurtosis)+1e-10 {
					t.Errorf("%s at %v, p=%v: %+v, want skewness %v and kurtosis %v", agg.Label, keys.Keys, p, got,
						skewness, kurtosis)
				}
				if got.Bound < bound*(1-1e-9) || got.Bound > 2*bound || got.Estimate > got.Bound {
					t.Errorf("%s at %v, p=%v: bound %v of %v, estimate %v", agg.Label, keys.Keys, p, got.Bound, bound,
						got.Estimate)
				}
			}
		}
	}
}
