package model_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"fugu/model"
	"fugu/parser"
	"fugu/planner"
	"fugu/sensitivity"
	"fugu/sqlstate"
	"fugu/test/pgcluster"
	"fugu/upstream"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

// row is a row of the test's reference: secret is whether it is in the predicate.
type row struct {
	secret bool
	g      string
	x      float64
	null   bool // x is NULL
}

var psi = model.Psi{Name: "s", Spans: []sensitivity.Span{{From: 0.1, To: 0.6, Within: 0.2}}}

const n = 1000 // rows of the protected table

// fixture makes a reference of 400 rows, 100 of them in the predicate, with groups a, b, c of which c is rare, and
// group z that is not public.
func fixture(t *testing.T) ([]row, *upstream.Reader, *planner.Table) {
	t.Helper()
	c := pgcluster.Shared(t)
	r := rand.New(rand.NewPCG(1, 2))
	var rows []row
	for i := range 400 {
		v := row{secret: i < 100, g: []string{"a", "b", "b", "z"}[r.IntN(4)], x: float64(r.IntN(50) + 10)}
		if v.secret {
			v.x += 20
		}
		if i%40 == 0 {
			v.g = "c"
		}
		v.null = r.IntN(10) == 0
		rows = append(rows, v)
	}

	var sql strings.Builder
	sql.WriteString("DROP TABLE IF EXISTS ref; CREATE TABLE ref (s bool, g text, x int); INSERT INTO ref VALUES ")
	for i, v := range rows {
		x := fmt.Sprint(v.x)
		if v.null {
			x = "NULL"
		}
		if i > 0 {
			sql.WriteByte(',')
		}
		fmt.Fprintf(&sql, "(%v,'%s',%s)", v.secret, v.g, x)
	}

	if err := c.Exec(t.Context(), "postgres", sql.String()); err != nil {
		t.Fatal(err)
	}
	reader, err := upstream.OpenReader(c.DSN("postgres", "postgres"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	syntax := parser.Table{Schema: "public", Name: "ref", Columns: []string{"s", "g", "x"}}
	e, err := parser.ParsePredicate("s", syntax)
	if err != nil {
		t.Fatal(err)
	}
	return rows, reader, &planner.Table{Schema: "public", Name: "ref", Reference: `"public"."ref"`, Rows: n,
		Columns: []planner.Column{{Name: "s", Type: "boolean"}, {Name: "g", Type: "text"},
			{Name: "x", Type: "integer"}},
		Domains: map[string][]planner.Value{"g": {{Text: "a"}, {Text: "b"}, {Text: "c"}, {Text: "d"}}},
		Secrets: []planner.Secret{{Name: "s", Predicate: e}}}
}

type tables struct{ t *planner.Table }

func (c tables) Table(_, name string) (parser.Table, bool) {
	t := parser.Table{Schema: c.t.Schema, Name: c.t.Name}
	for _, col := range c.t.Columns {
		t.Columns = append(t.Columns, col.Name)
	}
	return t, name == c.t.Name
}
func (c tables) Ordinary(string, string) (parser.Table, error) {
	return parser.Table{}, errors.New("no ordinary tables")
}
func (c tables) Protected(_, _ string) (*planner.Table, bool) { return c.t, true }
func (c tables) VirtualTable(string) (planner.VirtualTable, bool) {
	return planner.VirtualTable{}, false
}

func bind(t *testing.T, reader *upstream.Reader, table *planner.Table, sql string, params ...string) *planner.Bound {
	t.Helper()
	return bindAll(t, reader, table, sql, params...)[0]
}

// bindAll binds every cut of a statement.
func bindAll(t *testing.T, reader *upstream.Reader, table *planner.Table, sql string,
	params ...string) []*planner.Bound {
	t.Helper()
	ctx := context.Background()
	statements, err := parser.Parse(sql, tables{table})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(ctx, statements[0], tables{table}, reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	var values [][]byte
	for _, s := range params {
		values = append(values, []byte(s))
	}
	var out []*planner.Bound
	for _, c := range p.Cuts {
		b, err := c.Bind(ctx, reader, values)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

func measure(t *testing.T, reader *upstream.Reader, table *planner.Table, sql string, params ...string) (*planner.Bound,
	*model.Moments) {
	t.Helper()
	totals, err := model.CountClasses(t.Context(), reader, table)
	if err != nil {
		t.Fatal(err)
	}
	b := bind(t, reader, table, sql, params...)
	m, err := model.Measure(t.Context(), reader, b, totals)
	if err != nil {
		t.Fatal(err)
	}
	return b, m
}

// evaluate computes F on a dataset by its definition.
func evaluate(cut *planner.Bound, m *model.Moments, rows []row) []float64 {
	out := make([]float64, len(m.Components))
	for k, c := range m.Components {
		var count, sum, nonnull float64
		for _, r := range rows {
			if r.g == cut.Cells[c.Cell].Keys[0].Text && (r.null || r.x > 15) {
				count++
				if !r.null {
					nonnull++
					sum += r.x
				}
			}
		}

		switch cut.Aggregates[c.Aggregate].Label {
		case "count(*)":
			out[k] = count
		case `count(x)`:
			out[k] = nonnull
		case `sum(x)`:
			out[k] = sum
		default:
			out[k] = sum / nonnull
		}
	}
	return out
}

const statement = "SELECT g, count(*), count(x), sum(x), avg(x) FROM ref WHERE x IS NULL OR x > $1 GROUP BY g"

// Closed forms against datasets drawn from the model itself: K = pn rows with replacement from inside the predicate,
// the rest from outside. T = 4000 datasets; each mean may be off by 7 standard errors and each standard deviation by
// 12% (about 7.5 of its standard errors for a normal), so a false alarm has probability below 1e-9 even over all
// components; averages of the rare cell are left to a wider 25%, where the delta method itself is off.
func TestClosedFormsAgainstSampledDatasets(t *testing.T) {
	rows, reader, table := fixture(t)
	cut, m := measure(t, reader, table, statement, "15")
	var in, out []row
	for _, r := range rows {
		if r.secret {
			in = append(in, r)
		} else {
			out = append(out, r)
		}
	}

	const T = 4000
	r := rand.New(rand.NewPCG(3, 4))
	for _, p := range []float64{0.2, 0.5} {
		sum, square := make([]float64, len(m.Components)), make([]float64, len(m.Components))
		dataset := make([]row, n)
		for range T {
			for i := range dataset {
				if i < int(p*n) {
					dataset[i] = in[r.IntN(len(in))]
				} else {
					dataset[i] = out[r.IntN(len(out))]
				}
			}

			for k, v := range evaluate(cut, m, dataset) {
				sum[k] += v
				square[k] += v * v
			}
		}
		path := m.Paths(0, psi)[0]
		mean, cov := path.Mean(p), dense(path.Covariance(p))
		for k, c := range m.Components {
			name := fmt.Sprintf("p=%g %s %s", p, cut.Aggregates[c.Aggregate].Label, cut.GroupKey(cut.Cells[c.Cell]))
			avg := sum[k] / T
			sd := math.Sqrt(square[k]/T - avg*avg)
			model := math.Sqrt(cov.At(k, k))
			bias, spread := 7.0, 0.12
			if cut.Aggregates[c.Aggregate].Name == "avg" && cut.Cells[c.Cell].Keys[0].Text == "c" {
				bias, spread = 10, 0.25
			}
			if math.Abs(avg-mean[k]) > bias*sd/math.Sqrt(T) {
				t.Errorf("%s: mean %g, sampled %g ± %g", name, mean[k], avg, sd/math.Sqrt(T))
			}
			if math.Abs(sd/model-1) > spread {
				t.Errorf("%s: sd %g, sampled %g", name, model, sd)
			}
		}
	}
}

// The slope is the derivative of the mean, and the shift bounds every difference of means of the continuum of pairs, in
// both orders.
func TestShiftBoundsEveryPair(t *testing.T) {
	_, reader, table := fixture(t)
	_, m := measure(t, reader, table, statement, "15")
	path := m.Paths(0, psi)[0]
	span := path.Span()
	from, to := path.Slopes()
	s, err := sensitivity.Between("s", span, from, to, make([]float64, len(m.Components)))
	if err != nil {
		t.Fatal(err)
	}
	const h = 1e-6
	lo, hi, slope := path.Mean(0.3-h), path.Mean(0.3+h), path.Slope(0.3)
	for k := range slope {
		if d := (hi[k] - lo[k]) / (2 * h); math.Abs(d-slope[k]) > 1e-4*(1+math.Abs(d)) {
			t.Errorf("component %d: slope %g, difference quotient %g", k, slope[k], d)
		}
	}

	for p := span.From; p < span.To; p += 0.01 {
		for q := p + 0.001; q <= math.Min(p+span.Within, span.To); q += 0.013 {
			a, b := path.Mean(p), path.Mean(q)
			for k := range a {
				t1 := (q - p) / span.Within
				if r := math.Abs(b[k] - a[k] - t1*s.Along[k]); r > s.Beside[k]*(1+1e-9)+1e-9 {
					t.Fatalf("component %d, pair (%g, %g): %g beside the direction, bound %g", k, p, q, r, s.Beside[k])
				}
			}
		}
	}
}

// A cell without a reference row has no average, but its count is still taken to move by what the reference cannot see.
func TestUnsupportedCells(t *testing.T) {
	_, reader, table := fixture(t)
	cut, m := measure(t, reader, table, statement, "15")
	resolution := m.Paths(0, psi)[0].Resolution(0.1)
	counts, averages := 0, 0
	for k, c := range m.Components {
		if cut.Cells[c.Cell].Keys[0].Text != "d" {
			continue
		}
		switch cut.Aggregates[c.Aggregate].Name {
		case "avg":
			averages++
		case "count":
			counts++
			if want := n * (1.0/100 + 1.0/300); math.Abs(resolution[k]-want) > 1e-9 {
				t.Errorf("resolution of an empty count is %g, want %g", resolution[k], want)
			}
		}
	}

	if counts != 2 || averages != 0 {
		t.Errorf("the empty cell has %d counts and %d averages", counts, averages)
	}
}

func TestUnfitModels(t *testing.T) {
	_, reader, table := fixture(t)
	small := &planner.Table{Schema: table.Schema, Name: table.Name, Reference: table.Reference, Rows: n,
		Columns: table.Columns, Domains: table.Domains}
	e, err := parser.ParsePredicate("x > 75", parser.Table{Schema: "public", Name: "ref", Columns: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	small.Secrets = []planner.Secret{{Name: "old", Predicate: e}}
	if _, err := model.CountClasses(t.Context(), reader, small); !sqlstate.Is(err, sqlstate.ModelUnfit) {
		t.Errorf("a class of few rows: %v", err)
	}
	totals, _ := model.CountClasses(t.Context(), reader, table)
	cut := bind(t, reader, table, "SELECT sum(x) FROM ref WHERE x > $1", "1000")
	if _, err := model.Measure(t.Context(), reader, cut, totals); !sqlstate.Is(err, sqlstate.ModelUnfit) {
		t.Errorf("a sum that no reference row supports: %v", err)
	}
}
