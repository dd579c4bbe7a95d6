package model_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fugu/model"
	"fugu/parser"
	"fugu/planner"
	"fugu/sqlstate"
	"fugu/test/pgcluster"
	"fugu/upstream"
)

// awkward is a row of a reference as text; NULL where a column is missing.
type awkward map[string]string

// columns are those of the awkward reference. b and n have bounds.
var awkwardColumns = []planner.Column{{Name: "s", Type: "boolean"}, {Name: "w", Type: "text"},
	{Name: "k", Type: "text"}, {Name: "y", Type: "integer"}, {Name: "g", Type: "text"},
	{Name: "small", Type: "smallint"}, {Name: "i", Type: "integer"}, {Name: "big", Type: "bigint"},
	{Name: "num", Type: "numeric"}, {Name: "f", Type: "double precision"},
	{Name: "b", Type: "integer"}, {Name: "b2", Type: "smallint"}, {Name: "wide", Type: "integer"},
	{Name: "n", Type: "double precision"}}

var awkwardBounds = map[string][2]string{"b": {"-7", "90"}, "b2": {"1", "12"}, "wide": {"-2147483648", "3000000000"},
	"n": {"0", "10"}}

// strange are values that each column has now and then.
var strange = map[string][]string{
	"small": {"-32768", "32767", "0"},
	"i":     {"-2147483648", "2147483647", "0", "-1"},
	"big":   {"-9223372036854775808", "9223372036854775807", "9007199254740993"},
	"num":   {"-123456789012345678901234567890.123456789", "1e-30", "0.1", "1e80", "-1e80"},
	"f":     {"-1e80", "1e80", "1e-50", "-0", "0.1"},
	"b":     {"-2147483648", "2147483647", "-7", "91"},
	"b2":    {"-32768", "32767"},
	"wide":  {"-2147483648", "2147483647"},
	"n":     {"NaN", "Infinity", "-Infinity", "0.1", "10.000000001"},
}

func newAwkward(t *testing.T) ([]awkward, *upstream.Reader, *planner.Table) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 11))
	var rows []awkward
	var values, names, definitions []string
	for _, c := range awkwardColumns {
		names, definitions = append(names, c.Name), append(definitions, c.Name+" "+c.Type)
	}
	for range 600 {
		row := drawAwkward(r)
		rows = append(rows, row)
		var fields []string
		for _, name := range names {
			if v, ok := row[name]; ok {
				fields = append(fields, parser.QuoteLiteral(v))
			} else {
				fields = append(fields, "NULL")
			}
		}

		values = append(values, "("+strings.Join(fields, ",")+")")
	}

	c := pgcluster.Shared(t)
	if err := c.Exec(t.Context(), "postgres", "DROP TABLE IF EXISTS awkward; CREATE TABLE awkward ("+
		strings.Join(definitions, ",")+"); INSERT INTO awkward VALUES "+strings.Join(values, ",")); err != nil {
		t.Fatal(err)
	}
	reader, err := upstream.OpenReader(c.DSN("postgres", "postgres"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)

	syntax := parser.Table{Schema: "public", Name: "awkward", Columns: names}
	table := &planner.Table{Schema: "public", Name: "awkward", Reference: `"public"."awkward"`, Rows: n,
		Columns: awkwardColumns, Bounds: awkwardBounds,
		Domains: map[string][]planner.Value{"g": {{Text: "a"}, {Text: "b"}, {Text: "of none"}, {Null: true}}},
		Secrets: []planner.Secret{{Name: "s"}, {Name: "k", Column: "k", Classes: []planner.Value{{Text: "one"},
			{Text: "two"}, {Null: true}}}, {Name: "private"}, {Name: "y"}}}
	for i, text := range map[int]string{0: "s", 2: "w = 'Private'"} {
		if table.Secrets[i].Predicate, err = parser.ParsePredicate(text, syntax); err != nil {
			t.Fatal(err)
		}
	}

	table.Secrets[3].Number = parser.Column{Name: "y"}
	return rows, reader, table
}

// drawAwkward draws a row with NULL in one column in ten, and strange values in one in twenty.
func drawAwkward(r *rand.Rand) awkward {
	row := awkward{"y": fmt.Sprint(r.IntN(50) - 20)}
	for column, of := range map[string][]string{"s": {"true", "false", "false"}, "w": {"Private", "State", "x"},
		"k": {"one", "two", "two", "none of them"}, "g": {"a", "a", "b", "z"}} {
		row[column] = of[r.IntN(len(of))]
	}
	for _, c := range awkwardColumns[5:] {
		if row[c.Name] = fmt.Sprint(r.IntN(200) - 60); r.IntN(20) == 0 {
			row[c.Name] = strange[c.Name][r.IntN(len(strange[c.Name]))]
		}
	}

	for _, c := range awkwardColumns {
		if c.Name != "y" && r.IntN(10) == 0 {
			delete(row, c.Name)
		}
	}
	if row["g"] == "b" { // nothing of it is in one class, and i has no value
		row["s"] = "true"
		delete(row, "i")
	}
	return row
}

// class is a row's class of each of the secrets; -1: none.
func (r awkward) class(secret int) int {
	switch secret {
	case 0:
		return slices.Index([]string{"false", "true"}, map[bool]string{true: "true", false: "false"}[r["s"] == "true"])
	case 1:
		k, ok := r["k"]
		if !ok {
			return 2
		}
		return slices.Index([]string{"one", "two"}, k)
	case 2:
		if r["w"] == "Private" {
			return 1
		}
	}
	return 0
}

// value is what a base is of a row, by its definition: 0 where there is none, and otherwise within its bounds. far is
// what bounds values that are no small integers.
func (r awkward) value(t *testing.T, x planner.Base, far float64) float64 {
	t.Helper()
	name := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(x.Label, "count("), ")"), `"`)
	text, ok := r[name]
	switch {
	case !ok:
		return 0
	case x.Indicator:
		return 1
	}

	v := toFloat(t, text)
	if x.Low != "" {
		low, high := toFloat(t, x.Low), toFloat(t, x.High)
		if math.IsNaN(v) { // PostgreSQL has it above all numbers
			return high
		}
		return math.Min(math.Max(v, low), high)
	}

	if name != "small" && name != "i" {
		v = math.Min(math.Max(v, -far), far)
	}
	return v
}

func toFloat(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64) // to the nearest, as PostgreSQL does
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// sum is a sum as it is, and what says how far from it one in double precision may be.
type sum struct {
	exact, size *big.Float
	whole       bool // all that is added is an integer
	terms       int
}

func (s *sum) add(factors ...float64) {
	if s.exact == nil {
		s.exact, s.size, s.whole = new(big.Float).SetPrec(4000), new(big.Float).SetPrec(4000), true
	}
	p := new(big.Float).SetPrec(4000).SetInt64(1)
	for _, f := range factors {
		s.whole = s.whole && f == math.Trunc(f)
		p.Mul(p, new(big.Float).SetFloat64(f))
	}
	s.exact.Add(s.exact, p)
	s.size.Add(s.size, p.Abs(p))
	s.terms++
}

// holds reports whether got is the sum: to the last bit where nothing had to be rounded, and otherwise within what
// adding n products of at most four factors in double precision loses in any order [Higham, Accuracy and Stability,
// section 4.2]. by is what the model divides it by.
func (s *sum) holds(got, by float64) bool {
	if s.exact == nil {
		return got == 0
	}
	want, _ := s.exact.Float64()
	size, _ := s.size.Float64()
	if s.whole && size < 1<<53 {
		return got == want*(1/by)
	}
	return math.Abs(got*by-want) <= float64(s.terms+8)*0x1p-53*size*1.0001
}

// TestMomentsByDefinition compares what the reference's rows are summed to with the sums of exact arithmetic: over
// NULL, over values at the ends of their types and far out of their bounds, in cells and classes without rows.
func TestMomentsByDefinition(t *testing.T) {
	rows, reader, table := newAwkward(t)
	totals, err := model.CountClasses(t.Context(), reader, table)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sql   string
		where func(awkward) bool
	}{
		{sql: "SELECT g, count(*) FROM awkward GROUP BY g"},
		{sql: "SELECT avg(b), avg(n), avg(wide) FROM awkward"},
		{sql: "SELECT g, avg(wide) FROM awkward GROUP BY g"}, // no int4 holds its squares
		{sql: "SELECT g, stddev(b), avg(b2) FROM awkward GROUP BY g"},
		{sql: "SELECT g, corr(b, b2), sum(b) FROM awkward GROUP BY g"},
		{sql: "SELECT g, stddev(b), stddev(b2), stddev(small) FROM awkward GROUP BY g"},
		{sql: "SELECT g, stddev(wide), stddev(n) FROM awkward GROUP BY g"},
		{sql: "SELECT g, count(*), sum(i), avg(b) FROM awkward WHERE s IS NOT NULL GROUP BY g",
			where: func(r awkward) bool { return r["s"] != "" }},
		{sql: "SELECT g, count(w), count(k), sum(f), avg(num), sum(big) FROM awkward GROUP BY g"},
		{sql: "SELECT g, corr(b, i), corr(b2, b) FROM awkward GROUP BY g"},
		{sql: "SELECT g, regr_slope(big, num), covar_pop(f, n) FROM awkward GROUP BY g"},
		{sql: "SELECT var_samp(num), corr(big, f), stddev(b), count(w), avg(i) FROM awkward"},
		{sql: "SELECT g, corr(n, f), var_samp(n) FROM awkward WHERE b IS NULL GROUP BY g",
			where: func(r awkward) bool { return r["b"] == "" }},
		{sql: "SELECT g, sum(b) FROM awkward WHERE k = 'one' GROUP BY g",
			where: func(r awkward) bool { return r["k"] == "one" }},
	} {
		t.Run(c.sql, func(t *testing.T) {
			cut := bind(t, reader, table, c.sql)
			m, err := model.Measure(t.Context(), reader, cut, totals)
			if err != nil {
				t.Fatal(err)
			}
			checkMoments(t, cut, m, totals, slices.DeleteFunc(slices.Clone(rows),
				func(r awkward) bool { return c.where != nil && !c.where(r) }))
		})
	}
}

// defined are the sums of exact arithmetic over rows, as the model has them.
type defined struct {
	cut            *planner.Bound
	totals         []model.Totals
	far            float64          // what bounds values that are no small integers
	pooled, cross  []sum            // cell × term
	mean, second   map[[2]int][]sum // secret and class
	abs, nonzero   []sum            // of each base
	least, highest []float64
}

func newDefined(cut *planner.Bound, totals []model.Totals) *defined {
	nt, nc, nb := len(cut.Terms), len(cut.Cells), len(cut.Bases)
	d := &defined{cut: cut, totals: totals, far: math.Inf(1), pooled: make([]sum, nc*nt), cross: make([]sum, nc*nt),
		mean: map[[2]int][]sum{}, second: map[[2]int][]sum{}, abs: make([]sum, nb), nonzero: make([]sum, nb)}
	products := func(t planner.Term) bool { return len(t.Factors) > 1 }
	if slices.ContainsFunc(cut.Terms, products) { // fourth powers are summed
		d.far = 1e70
	}
	for s, total := range totals {
		for class := range total.Size {
			d.mean[[2]int{s, class}], d.second[[2]int{s, class}] = make([]sum, nc*nt), make([]sum, nc*nt*nt)
		}
	}
	d.least, d.highest = slices.Repeat([]float64{math.Inf(1)}, nb), slices.Repeat([]float64{math.Inf(-1)}, nb)
	return d
}

// add counts a row, in the cell that it is in.
func (d *defined) add(t *testing.T, r awkward) {
	cell := slices.IndexFunc(d.cut.Cells, func(c planner.Cell) bool {
		g, ok := r["g"]
		return len(c.Keys) == 0 || c.Keys[0] == planner.Value{Text: g, Null: !ok}
	})
	if cell < 0 {
		return
	}
	var base []float64
	for i, x := range d.cut.Bases {
		v := r.value(t, x, d.far)
		base = append(base, v)
		d.least[i], d.highest[i] = math.Min(d.least[i], v), math.Max(d.highest[i], v)
		d.abs[i].add(math.Abs(v))
		if v != 0 {
			d.nonzero[i].add(1)
		}
	}

	factors := func(terms ...int) []float64 {
		var out []float64
		for _, t := range terms {
			for _, f := range d.cut.Terms[t].Factors {
				out = append(out, base[f])
			}
		}

		return out
	}
	nt := len(d.cut.Terms)
	for i := range nt {
		at := cell*nt + i
		d.pooled[at].add(factors(i)...)
		d.cross[at].add(append(factors(i), toFloat(t, r["y"]))...)
		for s := range d.totals {
			if class := r.class(s); class >= 0 {
				d.mean[[2]int{s, class}][at].add(factors(i)...)
				for j := range nt {
					d.second[[2]int{s, class}][at*nt+j].add(factors(i, j)...)
				}
			}
		}
	}
}

func checkSums(t *testing.T, what string, want []sum, got []float64, by float64) {
	t.Helper()
	for i := range want {
		if !want[i].holds(got[i], by) {
			t.Errorf("%s %d: %v / %v is not %v", what, i, want[i].exact, by, got[i])
		}
	}
}

func checkMoments(t *testing.T, cut *planner.Bound, m *model.Moments, totals []model.Totals, rows []awkward) {
	t.Helper()
	d := newDefined(cut, totals)
	for _, r := range rows {
		d.add(t, r)
	}

	checkSums(t, "sum", d.pooled, m.Pooled(), 1)
	for s, total := range totals {
		for class, size := range total.Size {
			gotMean, gotSecond := m.Class(s, class)
			name := fmt.Sprintf("secret %d, class %d: ", s, class)
			checkSums(t, name+"mean", d.mean[[2]int{s, class}], gotMean, size)
			checkSums(t, name+"second", d.second[[2]int{s, class}], gotSecond, size)
		}
	}

	checkSums(t, "cross", d.cross, m.Cross(3), totals[3].Size[0])
	for i, x := range cut.Bases {
		if x.Indicator {
			continue
		}
		abs, nonzero, low, high := m.Base(i)
		if !d.abs[i].holds(abs, 1) || !d.nonzero[i].holds(nonzero, 1) {
			t.Errorf("%s: Σ|x| = %v over %v rows; want %v, %v", x.Label, abs, nonzero, d.abs[i].exact,
				d.nonzero[i].exact)
		}

		if x.Low == "" && (low != d.least[i] || high != d.highest[i]) {
			t.Errorf("%s is in [%v, %v], not [%v, %v]", x.Label, low, high, d.least[i], d.highest[i])
		}
	}
}

// What is no number makes the model unfit, and is not passed over.
func TestMomentsOfNoNumbers(t *testing.T) {
	_, reader, table := newAwkward(t)
	totals, err := model.CountClasses(t.Context(), reader, table)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"NaN", "Infinity", "-Infinity"} {
		if err := pgcluster.Shared(t).Exec(t.Context(), "postgres", "UPDATE awkward SET f = "+parser.QuoteLiteral(v)+
			" WHERE ctid = (SELECT min(ctid) FROM awkward WHERE g = 'a')"); err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{"SELECT g, sum(f) FROM awkward GROUP BY g", "SELECT avg(f), avg(b) FROM awkward"} {
			_, err := model.Measure(t.Context(), reader, bind(t, reader, table, sql), totals)
			var known *sqlstate.Error
			if !errors.As(err, &known) || known.Code != sqlstate.ModelUnfit {
				t.Errorf("%s with %s among f: %v, want PV004", sql, v, err)
			}
		}
	}
}
