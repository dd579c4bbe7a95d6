package model_test

import (
	"errors"
	"math"
	"testing"

	"fugu/model"
	"fugu/planner"
)

// The shapes of a count, a sum and an average are those of sums over the reference's rows, worked out row by row; what
// is no such sum, and an average over no rows, have none. The bound is the Berry-Esseen theorem's.
func TestShapesByDefinition(t *testing.T) {
	all, reader, table := people(t, 500)
	totals, err := model.CountClasses(t.Context(), reader, table)
	if err != nil {
		t.Fatal(err)
	}
	cut := bind(t, reader, table, "SELECT g, k, avg(x), count(*), sum(y), stddev(x) FROM people GROUP BY g, k")
	shapes, err := model.MeasureShapes(t.Context(), reader, cut, totals)
	if err != nil {
		t.Fatal(err)
	}

	for _, p := range []float64{.1, .25, .6} {
		many := [2]float64{500 * (1 - p), 500 * p}
		for cell, keys := range cut.Cells {
			in := func(r person) bool { return r.g == keys.Keys[0].Text && r.k == keys.Keys[1].Text }
			for a, agg := range cut.Aggregates {
				got, err := shapes.At(secretShare, p, model.Component{Cell: cell, Aggregate: a})
				f := rowOf(all, many, agg.Name, in)
				if f == nil || agg.Second() {
					if !errors.Is(err, model.ErrNoShape) {
						t.Errorf("%s of %v: %+v, %v", agg.Label, keys.Keys, got, err)
					}
					continue
				}

				want := shapeOf(all, many, f)
				if err != nil || math.Abs(got.Skewness-want.Skewness) > 1e-9*(1+math.Abs(want.Skewness)) ||
					math.Abs(got.Kurtosis-want.Kurtosis) > 1e-9*(1+math.Abs(want.Kurtosis)) {
					t.Errorf("%s of %v, share %v: %+v, want %+v, %v", agg.Label, keys.Keys, p, got, want, err)
				}
				if got.Bound < want.Bound*(1-1e-9) || got.Bound > 2*want.Bound+1e-9 || got.Estimate > got.Bound {
					t.Errorf("%s of %v, share %v: bound %v of %v, estimate %v", agg.Label, keys.Keys, p, got.Bound,
						want.Bound, got.Estimate)
				}
			}
		}
	}

	rows := 0.
	for cell := range cut.Cells {
		rows += shapes.Rows(cell)
	}
	if rows != float64(len(all)) {
		t.Errorf("the cells have %v rows of %d", rows, len(all))
	}
	ofOtherSecrets(t, all, cut, shapes)
}

// ofOtherSecrets checks that the shape of a value is that of the reference as it is, where the secret is no share.
func ofOtherSecrets(t *testing.T, all []person, cut *planner.Bound, shapes *model.Shapes) {
	t.Helper()
	size := float64(len(all))
	part := 500 / size
	for _, secret := range []int{secretKinds, secretMean} {
		got, err := shapes.At(secret, 0, model.Component{Cell: 0, Aggregate: 1})
		f := rowOf(all, [2]float64{900 * part, 300 * part}, cut.Aggregates[1].Name, func(r person) bool {
			return r.g == cut.Cells[0].Keys[0].Text && r.k == cut.Cells[0].Keys[1].Text
		})
		var m [5]float64
		for _, r := range all {
			m[1] += f(r) / size
		}
		for _, r := range all {
			for i := 2; i <= 4; i++ {
				m[i] += math.Pow(f(r)-m[1], float64(i)) / size
			}
		}
		if want := m[3] / math.Pow(m[2], 1.5) / math.Sqrt(500); err != nil || math.Abs(got.Skewness-want) > 1e-9 {
			t.Errorf("secret %d: %+v, want a skewness of %v, %v", secret, got, want, err)
		}
	}
}

// rowOf is what a person adds to an aggregate over the rows of a cell, of a table with so many rows in each class: to
// an average the distance from it. nil: an average over no rows.
func rowOf(all []person, many [2]float64, aggregate string, in func(person) bool) func(person) float64 {
	var size, inCell, total [2]float64
	for _, p := range all {
		size[inside(p)]++
		if in(p) {
			inCell[inside(p)]++
			total[inside(p)] += p.x
		}
	}
	if aggregate == "avg" && inCell[0]+inCell[1] == 0 {
		return nil
	}
	average := (many[0]*total[0]/size[0] + many[1]*total[1]/size[1]) /
		(many[0]*inCell[0]/size[0] + many[1]*inCell[1]/size[1])
	return func(p person) float64 {
		switch {
		case !in(p):
			return 0
		case aggregate == "count":
			return 1
		case aggregate == "sum":
			return p.y
		}
		return p.x - average
	}
}

// shapeOf is the shape of the sum of f over so many rows of each class.
func shapeOf(all []person, many [2]float64, f func(person) float64) (out model.Shape) {
	var size, mean, m2, m3, m4, absolute [2]float64
	for _, p := range all {
		size[inside(p)]++
		mean[inside(p)] += f(p)
	}
	for _, p := range all {
		c := inside(p)
		d := f(p) - mean[c]/size[c]
		m2[c], m3[c], m4[c] = m2[c]+d*d/size[c], m3[c]+d*d*d/size[c], m4[c]+d*d*d*d/size[c]
		absolute[c] += math.Abs(d*d*d) / size[c]
	}

	v := many[0]*m2[0] + many[1]*m2[1]
	if v == 0 {
		return out
	}
	out.Skewness = (many[0]*m3[0] + many[1]*m3[1]) / math.Pow(v, 1.5)
	out.Kurtosis = (many[0]*(m4[0]-3*m2[0]*m2[0]) + many[1]*(m4[1]-3*m2[1]*m2[1])) / (v * v)
	out.Bound = .56 * (many[0]*absolute[0] + many[1]*absolute[1]) / math.Pow(v, 1.5)
	return out
}
