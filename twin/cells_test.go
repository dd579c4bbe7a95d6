package twin

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"fugu/policy"
)

// publicly is a public statistic with cells of so many rows.
func publicly(rows ...int64) *Public {
	p := &Public{Columns: []string{"sex"}}
	for i, n := range rows {
		p.Cells = append(p.Cells, Cell{[]policy.Value{{Text: string(rune('p' + i))}}, n})
	}
	return p
}

// lawsOf are all laws that New can choose of, at x = e^(-ε/k), also those that leave a class without a row to take.
func lawsOf(t *testing.T, s Spec, x *big.Rat, steps int64, delta float64) map[string]*Design {
	t.Helper()
	f, _ := x.Float64()
	s.Epsilon, s.Delta = -math.Log(f)*float64(steps), delta
	domain, err := s.domain()
	if err != nil {
		t.Fatal(err)
	}
	if domain.move != steps {
		t.Fatalf("%d rows move, not %d", domain.move, steps)
	}
	out := map[string]*Design{}
	for _, c := range s.candidates(domain) {
		if d, err := c(); err == nil && d.noise.steps() == steps {
			out[d.noise.String()] = d
		}
	}
	return out
}

// celled are specifications of tables with public cells, and of three classes, with how many rows move.
func celled() map[string]struct {
	spec Spec
	move int64
} {
	span := func(from, to, within float64) policy.Span { return policy.Span{From: from, To: to, Within: within} }
	nullable := proportion(span(1./6, 4./6, 1./6))
	nullable.Nullable = true
	listed := proportion(span(2./7, 4./7, 2./7))
	listed.Listed = true
	kinds := Secret{Values: []policy.Value{{Text: "a"}, {Text: "b"}, {Text: "c"}}, Secret: policy.Secret{Name: "s",
		About: policy.AboutDataset, Categories: "kind",
		Range: &policy.SimplexRange{From: 1. / 7, To: 1, Within: 1. / 7}}}
	return map[string]struct {
		spec Spec
		move int64
	}{
		"two cells": {Spec{Rows: 7, Public: publicly(4, 3), Smallest: .25,
			Secrets: []Secret{proportion(span(2./7, 5./7, 1./7))}}, 1},
		"two cells, two rows": {Spec{Rows: 7, Public: publicly(4, 3), Smallest: .25,
			Secrets: []Secret{proportion(span(2./7, 5./7, 2./7))}}, 2},
		"listed": {Spec{Rows: 7, Public: publicly(4, 3), Smallest: .25, Secrets: []Secret{listed}}, 4},
		"a large cell": {Spec{Rows: 9, Public: publicly(7, 2), Smallest: 1. / 7,
			Secrets: []Secret{proportion(span(1./9, 8./9, 1./9))}}, 1},
		"a cell of NULL": {Spec{Rows: 6, Public: publicly(6), Smallest: 1. / 6, Secrets: []Secret{nullable}}, 1},
		"categories":     {Spec{Rows: 7, Secrets: []Secret{kinds}}, 1},
	}
}

// The law, exhaustively, of tables with public cells and of vectors with truncated noise: for every pair of tables with
// the same cells that differ by the classes of k rows all that is published is within e^ε and δ, in rational numbers.
func TestLawOfCellsExhaustively(t *testing.T) {
	laws, pairs, truncated := 0, 0, 0
	for _, x := range []*big.Rat{big.NewRat(1, 10), big.NewRat(1, 2), big.NewRat(9, 10)} {
		for _, delta := range []float64{0, .1} {
			for name, c := range celled() {
				for noise, d := range lawsOf(t, c.spec, x, c.move, delta) {
					over, n := excess(d, x, independent, none)
					if n == 0 {
						t.Errorf("%s: no pairs", name)
					}
					if d.noise.(*vector).most >= 0 {
						truncated++
					}
					if laws, pairs = laws+1, pairs+n; over.Sign() > 0 {
						t.Errorf("%s, x = %v, δ = %v, %s: over by %s", name, x, delta, noise, over.FloatString(6))
					}
				}
			}
		}
	}

	if t.Logf("%d laws, %d of them truncated, %d ordered pairs", laws, truncated, pairs); truncated < 5 {
		t.Error("too few of them are truncated")
	}
}

// Each fault is found in the law of cells, where none is without it.
func TestLawOfCellsFindsFaults(t *testing.T) {
	for _, c := range []struct {
		fault     fault
		name      string
		spec      string
		x         *big.Rat
		truncated bool
	}{
		{oneMore, "one row more", "two cells", big.NewRat(1, 10), true},
		{oneMore, "one row more, of categories", "categories", big.NewRat(1, 10), true},
		{weightsOfN, "weights of N", "two cells", big.NewRat(1, 10), true},
		{unbounded, "noise without bounds", "a large cell", big.NewRat(3, 4), true},
		{tableOrder, "rows in table order", "two cells", big.NewRat(1, 10), true},
		{oneCell, "noise on one cell alone", "two cells", big.NewRat(1, 10), false},
	} {
		found := false
		for _, d := range lawsOf(t, celled()[c.spec].spec, c.x, celled()[c.spec].move, .1) {
			if v := d.noise.(*vector); v.most >= 0 != c.truncated {
				continue
			}
			found = true
			if over, _ := excess(d, c.x, independent, none); over.Sign() > 0 {
				t.Fatalf("%s: over by %s without a fault", c.spec, over.FloatString(6))
			}
			if over, _ := excess(d, c.x, independent, c.fault); over.Sign() <= 0 {
				t.Errorf("%s is not found", c.name)
			} else {
				t.Logf("%s: over by %s", c.name, over.FloatString(6))
			}
		}

		if !found {
			t.Errorf("%s: there is no such law", c.name)
		}
	}
}

// ofValue is everything that is published of tables of which so many rows have the secret, where rows are independent
// and the cells are as everybody knows: each table with its weight, Π rows!/Π N_c!·w_c^N_c.
func ofValue(d *Design, x *big.Rat, rows int64) map[string]*big.Rat {
	weight := []*big.Rat{big.NewRat(1, 3), big.NewRat(3, 5), big.NewRat(5, 2), big.NewRat(1, 7),
		big.NewRat(2, 3), big.NewRat(3, 1)}
	out, total := map[string]*big.Rat{}, new(big.Rat)
	for _, counts := range tablesOf(d) {
		if having(d, counts) != rows {
			continue
		}
		w := big.NewRat(1, 1)
		for c, n := range counts {
			for i := range n {
				w.Mul(w, weight[c])
				w.Quo(w, big.NewRat(i+1, 1))
			}
		}

		total.Add(total, w)
		for key, p := range world(d, x, counts, independent, none) {
			if out[key] == nil {
				out[key] = new(big.Rat)
			}
			out[key].Add(out[key], new(big.Rat).Mul(w, p))
		}
	}

	for _, p := range out {
		p.Quo(p, total)
	}
	return out
}

// having is how many rows have the first secret.
func having(d *Design, counts []int64) (rows int64) {
	for c, class := range d.Classes {
		if class.Outcomes[0] == True {
			rows += counts[c]
		}
	}
	return rows
}

// For pairs of values of the secret the promise holds of all tables that have them together, though analysts know the
// cells and how likely a row of each cell has the secret: tables of two values k apart can be coupled so that k rows
// move, each in its cell [Efron 1965]. In rational numbers, with one secret, with NULL, and with two secrets of which
// one is meant.
func TestLawOfValuesInCells(t *testing.T) {
	specs := celled()
	two := specs["two cells"]
	two.spec = Spec{Rows: 7, Public: publicly(7), Smallest: 1. / 7, Secrets: []Secret{
		proportion(policy.Span{From: 2. / 7, To: 5. / 7, Within: 1. / 7}),
		proportion(policy.Span{From: 2. / 7, To: 5. / 7, Within: 1. / 7})}}
	specs["two secrets"] = two
	for _, name := range []string{"two cells", "two cells, two rows", "a cell of NULL", "two secrets"} {
		c, pairs := specs[name], 0
		x := big.NewRat(1, 2)
		for _, delta := range []float64{0, .1} {
			for noise, d := range lawsOf(t, c.spec, x, c.move, delta) {
				worlds := map[int64]map[string]*big.Rat{}
				for rows := range c.spec.Rows {
					if w := ofValue(d, x, rows); len(w) > 0 {
						worlds[rows] = w
					}
				}

				factor := new(big.Rat).Inv(power(x, c.move))
				for a, p := range worlds {
					for b, q := range worlds {
						if a == b || abs(a-b) > c.move {
							continue
						}
						over := beyond(p, q, factor)
						if over.Sub(over, new(big.Rat).SetFloat64(d.NoiseDelta)); over.Sign() > 0 {
							t.Errorf("%s, %s: %d against %d rows: over by %s", name, noise, a, b, over.FloatString(6))
						}
						pairs++
					}
				}
			}
		}

		if t.Logf("%s: %d ordered pairs of values", name, pairs); pairs < 4 {
			t.Errorf("%s: %d pairs of values", name, pairs)
		}
	}
}

// arranged rows of a class have so many a's, in any order.
func arranged(a []int64) content {
	return func(class int, rows string) *big.Rat {
		if int64(strings.Count(rows, "a")) != a[class] {
			return new(big.Rat)
		}
		return new(big.Rat).Inv(new(big.Rat).SetInt(new(big.Int).Binomial(int64(len(rows)), a[class])))
	}
}

// Where somebody knows exactly how many rows of the table are a's, and the policy does not say so, the same twin is
// beyond what it promises. So the margin has to be declared, and the tests above are about something.
func TestLawOfAMarginThatIsNotDeclared(t *testing.T) {
	const rows, known = 7, 3
	x := big.NewRat(9, 10)
	odds := []*big.Rat{big.NewRat(1, 9), big.NewRat(9, 1)} // of an a, in rows with the secret and without
	given := func(d *Design, counts []int64) map[string]*big.Rat {
		out, total := map[string]*big.Rat{}, new(big.Rat)
		for a := max(0, known-counts[1]); a <= min(known, counts[0]); a++ {
			split := []int64{a, known - a}
			w := big.NewRat(1, 1)
			for c, n := range counts {
				w.Mul(w, new(big.Rat).SetInt(new(big.Int).Binomial(n, split[c])))
				w.Mul(w, power(odds[c], split[c]))
			}

			total.Add(total, w)
			for key, p := range world(d, x, counts, arranged(split), none) {
				if out[key] == nil {
					out[key] = new(big.Rat)
				}
				out[key].Add(out[key], new(big.Rat).Mul(w, p))
			}
		}

		for _, p := range out {
			p.Quo(p, total)
		}
		return out
	}
	s := Spec{Rows: rows, Secrets: []Secret{proportion(policy.Span{From: 2. / 7, To: 5. / 7, Within: 1. / 7})}}
	for noise, d := range lawsOf(t, s, x, 1, 0) {
		worst, factor := new(big.Rat), new(big.Rat).Inv(x)
		tables := tablesOf(d)
		for i, a := range tables[1:] {
			for _, pair := range [][2][]int64{{a, tables[i]}, {tables[i], a}} {
				if over := beyond(given(d, pair[0]), given(d, pair[1]), factor); over.Cmp(worst) > 0 {
					worst = over
				}
			}
		}

		t.Logf("%s: over by %s", noise, worst.FloatString(4))
		if worst.Sign() <= 0 {
			t.Errorf("%s: a known margin tells nothing", noise)
		}
	}
}

// What cells cannot be counted is refused, with the reason.
func TestCellsAreRefused(t *testing.T) {
	good := proportion(policy.Span{From: .2, To: .5, Within: .1})
	low := proportion(policy.Span{From: .1, To: .3, Within: .1})
	kinds := Secret{Values: []policy.Value{{Text: "a"}, {Text: "b"}}, Secret: policy.Secret{Name: "s",
		About: policy.AboutDataset, Categories: "kind", Range: &policy.SimplexRange{From: 0, To: 1, Within: .1}}}
	distribution := good
	distribution.About = policy.AboutDistribution
	many := publicly(slices.Repeat([]int64{20}, 50)...)
	spec := func(public *Public, smallest float64, s Secret) Spec {
		return Spec{Rows: 1000, Epsilon: 1, Delta: .1, Smallest: smallest, Public: public, Secrets: []Secret{s}}
	}
	for _, c := range []struct {
		want string
		spec Spec
	}{
		{"and no categories", spec(publicly(400, 600), 0, kinds)},
		{"about: dataset", spec(publicly(400, 600), 0, distribution)},
		{"write the count of every combination", spec(publicly(400, 500), 0, good)},
		{"of the rows of its cell", spec(publicly(400, 600), 0, good)},
		{"more than 64 classes", spec(many, 0, good)},
		{"widen the range", spec(publicly(400, 600), .4, low)},
	} {
		if _, err := New(c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}

	d, err := New(Spec{Rows: 1000, Epsilon: 1, Smallest: .05, Public: publicly(400, 600), Secrets: []Secret{good}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Draw(strings.NewReader(""), []int64{100, 301, 200, 399})
	if err == nil || !strings.Contains(err.Error(), "401 rows have sex=p") {
		t.Errorf("a table whose cells are others: %v", err)
	}
	if names := fmt.Sprint(d.Classes[0].Name, "; ", d.Classes[3].Name); names != "sex=p, s=true; sex=q, s=false" {
		t.Error(names)
	}
}
