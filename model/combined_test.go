package model_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"fugu/model"
	"fugu/parser"
	"fugu/planner"
	"fugu/sensitivity"
)

// kindOf is a person's class of the secret kinds.
func kindOf(p person) int { return slices.Index([]string{"u", "v", "w"}, p.k) }

// What the rows of each combination of classes add to every component is what they add by definition, row by row: of
// several secrets, and of one.
func TestPartsByDefinition(t *testing.T) {
	all, reader, table, cuts, _ := of500(t)
	check := func(s stated, shares map[string]float64, of func(person) string) {
		t.Helper()
		combined, err := s.Combine(t.Context(), reader)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		var ordered []float64
		for _, c := range combined.Combinations {
			name := fmt.Sprint(c)
			names, ordered = append(names, name), append(ordered, shares[name])
		}
		if len(names) != len(shares) {
			t.Fatalf("combinations %q", names)
		}

		size := map[string]float64{}
		for _, p := range all {
			size[of(p)]++
		}
		many := func(p person) float64 { return 500 * shares[of(p)] / size[of(p)] }
		sums, squares := combined.Parts(ordered)
		for k := range s.adds {
			w := make([]float64, len(s.adds))
			w[k] = 1
			sum, square := map[string]float64{}, map[string]float64{}
			for i, v := range s.weighted(all, w, many) {
				name := of(all[i])
				sum[name], square[name] = sum[name]+many(all[i])*v, square[name]+many(all[i])*v*v
			}
			for c, name := range names {
				if math.Abs(sums[k][c]-sum[name]) > 1e-9*(1+math.Abs(sum[name])) ||
					math.Abs(squares[k][c]-square[name]) > 1e-9*(1+square[name]) {
					t.Errorf("%s of %s: %v and %v, by definition %v and %v", s.labels[k], name, sums[k][c],
						squares[k][c], sum[name], square[name])
				}
			}
		}
	}

	shares := map[string]float64{}
	for i := range 6 {
		shares[fmt.Sprint([]int{i % 2, i / 2, 0})] = []float64{.1, .2, .25, .05, .3, .1}[i]
	}
	for _, s := range cuts {
		check(s, shares, func(p person) string { return fmt.Sprint([]int{inside(p), kindOf(p), 0}) })
	}

	// Of one secret nothing more has to be read.
	table.Secrets = table.Secrets[:1]
	_, one := measure(t, reader, table, "SELECT sum(y) FROM people WHERE x > 4")
	s := stated{Moments: one, labels: []string{"sum(y)"}, adds: []func(person, float64) float64{
		func(p person, _ float64) float64 { return p.y * indicator(p.x > 4) }}}
	check(s, map[string]float64{"[0]": .7, "[1]": .3}, func(p person) string { return fmt.Sprint([]int{inside(p)}) })
}

// The greatest variances are those at an end of the secret's values, by definition; and the step of a lattice is 1 of a
// count, and of an average that of the sum over the fewest rows.
func TestVariancesAndSteps(t *testing.T) {
	all, _, _, cuts, _ := of500(t)
	of := model.Psi{Name: "share", Spans: []sensitivity.Span{{From: .1, To: .6, Within: .2}}}
	for _, s := range cuts {
		variances, steps := s.Variances(secretShare, of), s.LatticeSteps(secretShare, of)
		for k, f := range s.adds {
			w := make([]float64, len(s.adds))
			w[k] = 1
			most, fewest := 0., math.Inf(1)
			for _, p := range []float64{.1, .6} {
				shares := []float64{1 - p, p}
				many := func(r person) float64 { return 500 * shares[inside(r)] / []float64{900, 300}[inside(r)] }
				added, variance, rows := s.weighted(all, w, many), 0., 0.
				for class, share := range shares {
					var n, sum, square float64
					for i, r := range all {
						if inside(r) == class {
							n, sum, square = n+1, sum+added[i], square+added[i]*added[i]
						}
					}
					variance += 500 * share * (square/n - sum/n*sum/n)
				}
				for _, r := range all {
					rows += many(r) * (f(r, 0) - f(r, 1)) // of an average
				}
				most, fewest = math.Max(most, variance), math.Min(fewest, rows)
			}

			if math.Abs(variances[k]-most) > 1e-9*(1+most) {
				t.Errorf("the variance of %s is %v, by definition %v", s.labels[k], variances[k], most)
			}
			// Whole numbers lie on a lattice of step 1, and the bound is no more than their mean.
			least, greatest := 1., 50.
			switch s.labels[k] {
			case "count(*)", "count(x)":
				greatest = 1
			case "avg(x)", "avg(y)":
				least, greatest = least/fewest, greatest/fewest
			}
			if steps[k] < least*(1-1e-9) || steps[k] > greatest*(1+1e-9) {
				t.Errorf("the step of %s is %v, not from %v to %v", s.labels[k], steps[k], least, greatest)
			}
		}
	}
}

// Secrets that are one and the same are told to be, over the reference as it is: a predicate and its opposite, a number
// and a linear function of it. Others are not.
func TestTiesOfAReference(t *testing.T) {
	_, reader, table := people(t, 500)
	predicate := func(name, text string) planner.Secret {
		e, err := parser.ParsePredicate(text, peopleSyntax)
		if err != nil {
			t.Fatal(err)
		}
		return planner.Secret{Name: name, Predicate: e}
	}
	number := func(name, text string) planner.Secret {
		e, err := parser.ParsePredicate(text, peopleSyntax)
		if err != nil {
			t.Fatal(err)
		}
		n, err := table.Number(t.Context(), reader, e)
		if err != nil {
			t.Fatal(err)
		}
		return planner.Secret{Name: name, Number: n}
	}
	kinds := table.Secrets[secretKinds]
	yes, no, y := predicate("yes", "s"), predicate("no", "NOT s"), number("y", "y")
	for name, c := range map[string]struct {
		secrets []planner.Secret
		want    []string
	}{
		"none":              {[]planner.Secret{yes, kinds, y}, nil},
		"opposites":         {[]planner.Secret{yes, kinds, no}, []string{"yes, no: true"}},
		"a linear function": {[]planner.Secret{y, yes, number("more", "100 - 3 * y")}, []string{"y, more: true"}},
		"nearly":            {[]planner.Secret{y, number("more", "10 * y + x")}, []string{"y, more: false"}},
		"a number of classes": {[]planner.Secret{predicate("many", "y > 3"),
			number("most", "CASE WHEN y > 3 THEN 7 ELSE 2 END")}, []string{"many, most: true"}},
		"a number that is parted": {[]planner.Secret{yes, number("apart", "CASE WHEN s THEN 90 + y ELSE y END")},
			[]string{"yes, apart: false"}},
		"what never happens together": {[]planner.Secret{predicate("low", "y < 10"), predicate("high", "y > 20")},
			[]string{"low, high: false"}},
	} {
		table.Secrets = c.secrets
		ties, err := model.Ties(t.Context(), reader, table)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, tie := range ties {
			got = append(got, fmt.Sprintf("%s, %s: %t", tie.A, tie.B, tie.Same))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q (%+v)", name, got, c.want, ties)
		}
	}
}
