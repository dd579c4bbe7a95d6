package model_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"fugu/model"
	"fugu/parser"
	"fugu/planner"
	"fugu/sensitivity"
	"fugu/test/pgcluster"
	"fugu/upstream"
)

// person is a row of the reference with three secrets: the share of s, the shares of k, the mean of y.
type person struct {
	s    bool
	k, g string
	x, y float64
}

// people makes a reference of 1200 rows: 300 with s; k in u, v, w; x and y depend on both.
func people(t *testing.T, rows int64) ([]person, *upstream.Reader, *planner.Table) {
	t.Helper()
	c := pgcluster.Shared(t)
	r := rand.New(rand.NewPCG(5, 6))
	var all []person
	var values []string
	for i := range 1200 {
		p := person{s: i < 300, k: []string{"u", "v", "v", "w"}[r.IntN(4)], g: []string{"a", "b", "b"}[r.IntN(3)],
			x: float64(r.IntN(20)), y: float64(r.IntN(30))}
		if p.s {
			p.x, p.y = p.x+8, p.y+10
		}
		if p.k == "u" && p.g == "b" {
			p.g, p.y = "a", p.y+5
		}
		if p.y > 20 {
			p.x += 6
		}
		all = append(all, p)
		values = append(values, fmt.Sprintf("(%v,'%s','%s',%g,%g)", p.s, p.k, p.g, p.x, p.y))
	}

	if err := c.Exec(t.Context(), "postgres", "DROP TABLE IF EXISTS people; CREATE TABLE people (s bool, k text, g "+
		"text, x int, y int); INSERT INTO people VALUES "+strings.Join(values, ",")); err != nil {
		t.Fatal(err)
	}
	reader, err := upstream.OpenReader(c.DSN("postgres", "postgres"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	table := &planner.Table{Schema: "public", Name: "people", Reference: `"public"."people"`, Rows: rows,
		Columns: []planner.Column{{Name: "s", Type: "boolean"}, {Name: "k", Type: "text"}, {Name: "g", Type: "text"},
			{Name: "x", Type: "integer"}, {Name: "y", Type: "integer"}},
		Domains: map[string][]planner.Value{"g": {{Text: "a"}, {Text: "b"}}, "k": {{Text: "u"}, {Text: "v"},
			{Text: "w"}}}}
	expr := func(text string) parser.Expr {
		e, err := parser.ParsePredicate(text, peopleSyntax)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}

	number, err := table.Number(t.Context(), reader, expr("2 * y + 100"))
	if err != nil {
		t.Fatal(err)
	}
	table.Secrets = []planner.Secret{{Name: "share", Predicate: expr("s")}, {Name: "kinds", Column: "k",
		Classes: table.Domains["k"]}, {Name: "mean", Number: number}}
	return all, reader, table
}

const secretShare, secretKinds, secretMean = 0, 1, 2

var peopleSyntax = parser.Table{Schema: "public", Name: "people", Columns: []string{"s", "k", "g", "x", "y"}}

// h evaluates the components of the statement below on one row.
const linear = "SELECT g, count(*), sum(x) FROM people WHERE x > 4 GROUP BY g"

func (p person) linear() [4]float64 {
	var out [4]float64
	if p.x > 4 {
		i := strings.Index("ab", p.g)
		out[2*i], out[2*i+1] = 1, p.x
	}
	return out
}

// order maps the components of F to those of person.linear.
func order(cut *planner.Bound, m *model.Moments) []int {
	var out []int
	for _, c := range m.Components {
		i := strings.Index("ab", cut.Cells[c.Cell].Keys[0].Text)
		if cut.Aggregates[c.Aggregate].Name == "sum" {
			out = append(out, 2*i+1)
		} else {
			out = append(out, 2*i)
		}
	}
	return out
}

func dense(c sensitivity.Covariance) *mat.SymDense {
	m := 0
	for _, b := range c.Blocks {
		m += b.Size
	}
	out := mat.NewSymDense(m, nil)
	at := 0
	for _, b := range c.Blocks {
		for i := range b.Size {
			for j := i; j < b.Size; j++ {
				if x, y := b.Entries[i*b.Size+j], b.Entries[j*b.Size+i]; math.Abs(x-y) > 1e-9*math.Abs(x+y) {
					panic("a block is not symmetric")
				}
				out.SetSym(at+i, at+j, b.Entries[i*b.Size+j])
			}
		}

		at += b.Size
	}
	for _, e := range c.Off {
		out.SetSym(e.Row, e.Col, out.At(e.Row, e.Col)+e.Value)
	}
	for _, l := range c.Low {
		out.SymRankOne(out, l.Weight, mat.NewVecDense(m, l.Vector))
	}
	return out
}

// agrees compares the mean and the covariance of T sampled vectors with what they should be: each entry may be off by
// 6.5 of its standard errors, estimated from the sample. For a normal error that is a false alarm of 8e-11 an entry,
// below 2e-9 for the 20 entries of a test.
func agrees(t *testing.T, T int, mean []float64, cov *mat.SymDense, draw func() []float64) {
	t.Helper()
	m := len(mean)
	sum, product, square := make([]float64, m), make([]float64, m*m), make([]float64, m*m)
	for range T {
		v := draw()
		for i := range v {
			v[i] -= mean[i]
			sum[i] += v[i]
		}
		for i := range v {
			for j := range i + 1 {
				product[i*m+j] += v[i] * v[j]
				square[i*m+j] += v[i] * v[i] * v[j] * v[j]
			}
		}
	}

	n := float64(T)
	for i := range m {
		if se := math.Sqrt(product[i*m+i]/n/n) + 1e-12; math.Abs(sum[i]/n) > 6.5*se {
			t.Errorf("component %d: mean %g, sampled %g ± %g", i, mean[i], mean[i]+sum[i]/n, se)
		}
		for j := range i + 1 {
			c := product[i*m+j] / n
			se := math.Sqrt(math.Max(0, square[i*m+j]/n-c*c)/n) + 1e-9
			if math.Abs(c-cov.At(i, j)) > 6.5*se {
				t.Errorf("components %d and %d: covariance %g, sampled %g ± %g", i, j, cov.At(i, j), c, se)
			}
		}
	}
}

// sampler draws rows by class.
type sampler struct {
	r     *rand.Rand
	order []int
	class [][][4]float64
	g     [][]float64 // the number whose mean is secret
}

func newSampler(all []person, order []int, classes int, class func(person) int) *sampler {
	s := &sampler{r: rand.New(rand.NewPCG(7, 8)), order: order, class: make([][][4]float64, classes),
		g: make([][]float64, classes)}
	for _, p := range all {
		c := class(p)
		s.class[c], s.g[c] = append(s.class[c], p.linear()), append(s.g[c], 2*p.y+100)
	}
	return s
}

func (s *sampler) sum(total *[4]float64, class, row int) {
	for i, v := range s.class[class][row] {
		total[i] += v
	}
}

func (s *sampler) components(total [4]float64) []float64 {
	out := make([]float64, len(s.order))
	for i, j := range s.order {
		out[i] = total[j]
	}
	return out
}

func inside(p person) int {
	if p.s {
		return 1
	}
	return 0
}

// F of a share as a property of the dataset: 10^6 datasets of 100 rows.
func TestShareOfTheDataset(t *testing.T) {
	all, reader, table := people(t, 100)
	cut, m := measure(t, reader, table, linear)
	path := m.Paths(secretShare, psi)[0]
	s := newSampler(all, order(cut, m), 2, inside)
	if !path.Affine() {
		t.Error("not affine")
	}
	agrees(t, 1_000_000, path.Mean(0.35), dense(path.Covariance(0.35)), func() []float64 {
		var f [4]float64
		for i := range 100 {
			c := 0
			if i < 35 {
				c = 1
			}
			s.sum(&f, c, s.r.IntN(len(s.class[c])))
		}
		return s.components(f)
	})
}

// F of a share as the parameter of a distribution: each row has it by chance.
func TestShareOfTheDistribution(t *testing.T) {
	all, reader, table := people(t, 100)
	cut, m := measure(t, reader, table, linear)
	d := psi
	d.Distribution = true
	path := m.Paths(secretShare, d)[0]
	s := newSampler(all, order(cut, m), 2, inside)
	if path.Affine() {
		t.Error("affine")
	}
	agrees(t, 200_000, path.Mean(0.35), dense(path.Covariance(0.35)), func() []float64 {
		var f [4]float64
		for range 100 {
			c := 0
			if s.r.Float64() < 0.35 {
				c = 1
			}
			s.sum(&f, c, s.r.IntN(len(s.class[c])))
		}

		return s.components(f)
	})
}

// F of rows drawn from the reference without replacement: 100 of the 300 inside, 150 of the 900 outside.
func TestDrawnFromTheReference(t *testing.T) {
	all, reader, table := people(t, 250)
	cut, m := measure(t, reader, table, linear)
	d := psi
	d.FromReference = true
	path := m.Paths(secretShare, d)[0]
	s := newSampler(all, order(cut, m), 2, inside)
	if path.Affine() {
		t.Error("affine")
	}
	agrees(t, 100_000, path.Mean(0.4), dense(path.Covariance(0.4)), func() []float64 {
		var f [4]float64
		for c, k := range []int{150, 100} {
			rows := s.class[c]
			for i := range k { // Fisher-Yates, as far as it is needed
				j := i + s.r.IntN(len(rows)-i)
				rows[i], rows[j] = rows[j], rows[i]
				s.sum(&f, c, i)
			}
		}

		return s.components(f)
	})
}

// F of three shares along the line between two vectors.
func TestCategories(t *testing.T) {
	all, reader, table := people(t, 100)
	cut, m := measure(t, reader, table, linear)
	d := model.Psi{Name: "kinds", Vectors: [][2][]float64{{{0.2, 0.5, 0.3}, {0.4, 0.5, 0.1}}}}
	paths := m.Paths(secretKinds, d)
	if len(paths) != 1 || !paths[0].Affine() || paths[0].Span() != (sensitivity.Span{From: 0, To: 1, Within: 1}) {
		t.Fatalf("%d paths, %+v", len(paths), paths[0].Span())
	}
	s := newSampler(all, order(cut, m), 3, func(p person) int { return strings.Index("uvw", p.k) })
	counts := []int{30, 50, 20}
	agrees(t, 200_000, paths[0].Mean(0.5), dense(paths[0].Covariance(0.5)), func() []float64 {
		var f [4]float64
		for c, k := range counts {
			for range k {
				s.sum(&f, c, s.r.IntN(len(s.class[c])))
			}
		}
		return s.components(f)
	})
}

// F given the mean of g: over independent rows, what F deviates from the line by has mean 0, is uncorrelated with ḡ,
// and has the conditional covariance; for normal rows it is independent of ḡ.
func TestMeanOfTheDataset(t *testing.T) {
	all, reader, table := people(t, 100)
	cut, m := measure(t, reader, table, linear)
	d := model.Psi{Name: "mean", Spans: []sensitivity.Span{{From: 120, To: 150, Within: 5}}}
	path := m.Paths(secretMean, d)[0]
	s := newSampler(all, order(cut, m), 1, func(person) int { return 0 })
	var mean, square float64
	for _, g := range s.g[0] {
		mean += g / float64(len(s.g[0]))
		square += g * g / float64(len(s.g[0]))
	}

	variance := (square - mean*mean) / 100
	k := len(m.Components)
	want := mat.NewSymDense(k+1, nil)
	want.SetSym(k, k, variance)
	conditional := dense(path.Covariance(mean))
	for i := range k {
		for j := i; j < k; j++ {
			want.SetSym(i, j, conditional.At(i, j))
		}
	}

	expect := append(make([]float64, k), mean)
	agrees(t, 200_000, expect, want, func() []float64 {
		var f [4]float64
		g := 0.0
		for range 100 {
			row := s.r.IntN(len(s.g[0]))
			s.sum(&f, 0, row)
			g += s.g[0][row] / 100
		}

		v := s.components(f)
		for i, line := range path.Mean(g) {
			v[i] -= line
		}
		return append(v, g)
	})

	if a, b := dense(path.Covariance(120)), dense(path.Covariance(150)); !mat.EqualApprox(a, b, 1e-9) ||
		!path.Affine() {
		t.Error("the covariance given the mean depends on the mean")
	}

	// As the parameter of a distribution the mean leaves all of the rows' variation.
	d.Distribution = true
	agrees(t, 100_000, path.Mean(mean), dense(m.Paths(secretMean, d)[0].Covariance(mean)), func() []float64 {
		var f [4]float64
		for range 100 {
			s.sum(&f, 0, s.r.IntN(len(s.g[0])))
		}
		return s.components(f)
	})
}

// opposite makes people the reference: so many of each class, in one of which y grows with x as it falls in the other.
func opposite(t *testing.T, class int) []person {
	t.Helper()
	var all []person
	var values []string
	for _, s := range []bool{true, false} {
		for i := range class {
			sign := float64(1 - 2*(i%2))
			p := person{s: s, k: "u", g: "a", x: sign, y: sign}
			if i < 4 {
				p.x = 3 * sign
			}
			if !s {
				p.y = -sign
			}
			all, values = append(all, p), append(values, fmt.Sprintf("(%v,'%c','a',%g,%g)", s, "uvw"[i%3], p.x, p.y))
		}
	}
	if err := pgcluster.Shared(t).Exec(t.Context(), "postgres", "TRUNCATE people; INSERT INTO people VALUES "+
		strings.Join(values, ",")); err != nil {
		t.Fatal(err)
	}
	return all
}
