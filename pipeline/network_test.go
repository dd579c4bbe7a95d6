package pipeline

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fugu/account"
	"fugu/fit"
	"fugu/mechanism"
	"fugu/parser"
	"fugu/sqlstate"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// chained has a network of three binary parameters, incomes → schooling → hours, each the same as its parent with
// probability .6: by hand the influence between neighbours is ln(.6/.4) = .405465, and at ε = 1 the best quilt of
// either end is the middle, with one column near: 1/(1-.405) columns' worth of noise against 3 without a quilt and
// 2/(1-.080) with the far end as one.
func chained(t *testing.T) *house { return newHouse(t, chainedEdits...) }

var chainedEdits = []string{
	"secrets:\n  high_income:", `networks:
  public.adult:
    independent: [age]
    parameters:
      incomes: {column: income, values: [low, high], probabilities: [[0.5, 0.5]]}
      schooling: {column: education, values: [short, long], parents: [incomes],
        probabilities: [[0.6, 0.4], [0.4, 0.6]]}
      hours: {column: hours_per_week, values: [few, many], parents: [schooling],
        probabilities: [[0.6, 0.4], [0.4, 0.6]]}

secrets:
  high_income:`,
	"proportion: income = '>50K'      # proportion: PREDICATE | mean: EXPRESSION | categories: COLUMN\n" +
		"    values: {from: 0.10, to: 0.60, within: 0.05}   " +
		"# protect every pair of values in the range at most 0.05 apart",
	"parameter: incomes",
	"proportion: workclass = 'Private'\n    pairs: [[0.68, 0.72]]", "parameter: hours",
}

const (
	incomes = "high_income"
	hours   = "private_sector"
)

func TestNetworkByHand(t *testing.T) {
	patient.Test(t)
	h := chained(t)
	e, all := math.Log(1.5), float64(rows)
	for _, c := range []struct {
		sql          string
		scale        float64 // of the noise, in Laplace's parameter
		income, hour float64 // what it costs of either secret
		near         string  // secrets near which a column is read
	}{
		// A count that schooling governs stands a column away from both secrets: it costs what the quilt tells.
		{"SELECT count(*) FROM adult WHERE education = 'Masters'", 1, e, e, ""},
		{"SELECT count(*) FROM adult WHERE age > 40", 1, 0, 0, ""},
		// All rows may be counted or none. Noise of the size of the answer, for the secret whose column is read.
		{"SELECT count(*) FROM adult WHERE income = '>50K'", all / (1 - e), 1, e, incomes},
		{"SELECT count(*) FROM adult WHERE income = '>50K' OR hours_per_week > 40", all / (1 - e), 1, 1,
			incomes + hours},
		{"SELECT count(*) FILTER (WHERE income = '>50K') FROM adult", all / (1 - e), 1, e, incomes},
		{"SELECT count(*) FROM (SELECT income AS i, age FROM adult) q WHERE i > 'a'", all / (1 - e), 1, e, incomes},
		{"SELECT count(*) FROM adult WHERE coalesce(nullif(income, 'x'), 'y') LIKE '>%'", all / (1 - e), 1, e,
			incomes},
	} {
		_, m := h.measured(t, c.sql, settings{})
		got := m.Calibration
		if got.Kind != mechanism.MarkovQuilt || got.Assumption != mechanism.IndependentColumns ||
			math.Abs(got.SD[0]/(math.Sqrt2*c.scale)-1) > 1e-6 {
			t.Errorf("%s: %s, %s, sd %v, want that of scale %v", c.sql, got.Kind, got.Assumption, got.SD, c.scale)
		}
		if a, b := got.Losses[incomes].Pure, got.Losses[hours].Pure; math.Abs(a-c.income) > 1e-6 ||
			math.Abs(b-c.hour) > 1e-6 || len(got.Losses) != 2 {
			t.Errorf("%s: losses %+v, want %v and %v", c.sql, got.Losses, c.income, c.hour)
		}
		for _, quilt := range m.Quilts {
			if (quilt.Width > 0) != strings.Contains(c.near, quilt.Attribute) ||
				!slices.Equal(quilt.Quilt, []bool{false, true, false}) {
				t.Errorf("%s: %+v", c.sql, quilt)
			}
		}
	}
}

// Averages move through their range, groups by at most twice their rows.
func TestNetworkOfAveragesAndGroups(t *testing.T) {
	patient.Test(t)
	h := chained(t)
	e, n := math.Log(1.5), float64(rows)
	for sql, at := range map[string][2]float64{
		"SELECT avg(hours_per_week) FROM adult WHERE income = '>50K'":               {90, 98},
		"SELECT age, count(*) FROM adult WHERE income = '>50K' GROUP BY age":        {2 * n, 74 * n},
		"SELECT education, count(*), avg(age) FROM adult GROUP BY education":        {0, 0},
		"SELECT education, stddev(age), corr(age, age * age) FROM adult GROUP BY 1": {0, 0},
	} {
		_, m := h.measured(t, sql, settings{})
		for k, sd := range m.Calibration.SD {
			scale := sd / math.Sqrt2 * (1 - e)
			if at[1] > 0 && !(scale >= at[0]*(1-1e-6) && scale <= at[1]*(1+1e-6)) {
				t.Errorf("%s: %s has noise of scale %v, between %v", sql, m.Labels[k], scale, at)
			}
			if at[1] == 0 && scale > 2 {
				t.Errorf("%s: %s has noise of scale %v", sql, m.Labels[k], scale)
			}
		}
	}
}

// The whole way: the answer is the true one but for noise of scale 1, and account, explanation and record say what it
// rests on.
func TestNetworkAnswers(t *testing.T) {
	patient.Test(t)
	h := chained(t)
	const sql = "SELECT count(*) FROM adult WHERE education = 'Masters' AND hours_per_week < 200 AND age > 30"
	const far = "SELECT count(*) FROM adult WHERE education = 'Masters'"
	q, err := h.question(t, far, nil, settings{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := q.Explain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Join(x.Lines(), "\n")
	if !strings.Contains(lines, "Parameter high_income is one with incomes, given schooling (influence 0.4055); no "+
		"column of theirs is read") ||
		!strings.Contains(lines, "Mechanism: markov-quilt (auto), assuming independent columns") ||
		len(x.Certificates) != 2 || len(x.Quilts) != 2 {
		t.Errorf("%s", lines)
	}
	a, err := q.Answer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	truth, err := h.engine.desk.Reader.Query(t.Context(), strings.Replace(far, "adult", "public.adult", 1), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := strconv.ParseFloat(truth[0][0].Text, 64)
	got, _ := strconv.ParseFloat(a.Cells[0].Value, 64)
	if math.Abs(got-want) > 30 { // probability e^-30 at scale 1
		t.Errorf("%v, and the table has %v", got, want)
	}
	if a.Mechanism != "markov-quilt" || a.Cells[0].Secret == "" {
		t.Errorf("%+v", a)
	}
	if _, err := h.ask(t, "alice", sql); err != nil {
		t.Fatal(err)
	}
	accounts, err := account.Balances(t.Context(), h.engine.desk.Ledger, q.Request.Policy, "alice")
	if err != nil {
		t.Fatal(err)
	}
	for _, acc := range accounts {
		if want := map[string]float64{incomes: 2 * math.Log(1.5), hours: math.Log(1.5) +
			1}[acc.Secret]; math.Abs(acc.Spent-want) > 1e-5 {
			t.Errorf("%s: spent %v, want %v", acc.Secret, acc.Spent, want)
		}
	}
}

func TestNetworkRefuses(t *testing.T) {
	patient.Test(t)
	h, plain := chained(t), newHouse(t)
	for _, test := range []struct {
		h    *house
		sql  string
		set  settings
		code sqlstate.Code
	}{
		{h, "SELECT sex, count(*) FROM adult GROUP BY sex", settings{}, sqlstate.ModelUnfit},
		{h, "SELECT count(*) FROM adult WHERE education = 'Masters' AND workclass = 'Private'", settings{},
			sqlstate.ModelUnfit},
		{h, "SELECT sum(capital_gain) FROM adult", settings{}, sqlstate.ModelUnfit},
		{h, "SELECT stddev(hours_per_week) FROM adult", settings{}, sqlstate.ModelUnfit},
		{h, "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM adult", settings{}, sqlstate.ModelUnfit},
		{h, "SELECT count(*), count(DISTINCT age) FROM adult", settings{}, sqlstate.ModelUnfit},
		{h, "SELECT count(*) FROM adult WHERE education = 'Masters'", settings{epsilon: .4},
			sqlstate.InvalidParameterValue},
		{h, "SELECT count(*) FROM adult WHERE age > 40", settings{mechanism: mechanism.ExpmLaplace},
			sqlstate.InvalidParameterValue},
		{plain, "SELECT count(*) FROM adult WHERE age > 40", settings{mechanism: mechanism.MarkovQuilt},
			sqlstate.InvalidParameterValue},
	} {
		q, err := test.h.question(t, test.sql, nil, test.set)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := q.Measure(t.Context()); !sqlstate.Is(err, test.code) {
			t.Errorf("%s: %v, %+v", test.sql, err, m)
		}
	}
}

// A network stands beside columns that there are, and beside nothing that only a proportion can answer for.
func TestNetworkMistakes(t *testing.T) {
	patient.Test(t)
	const public = "public: {all: {statement: SELECT count(*) FROM adult, values: {count(*): 3}}}\n"
	for _, c := range []struct{ old, new, want string }{
		{"independent: [age]", "independent: [age, nothing]", `no column "nothing"`},
		{"column: education", "column: educations", `no column "educations"`},
		{"analysts:", public + "analysts:", "a parameter of a network, and it cannot stand"},
	} {
		_, _, err := loadExample(t, append(slices.Clone(chainedEdits), c.old, c.new)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.new, err)
		}
	}
}

// What a cut reads is taken from the statement that runs.
func TestReadsAreWhatRuns(t *testing.T) {
	patient.Test(t)
	h := chained(t)
	for _, c := range [][2]string{
		{"SELECT count(*) FROM adult", ""},
		{"SELECT sum(age) FROM adult WHERE hours_per_week > 3", "age, hours_per_week"},
		{"SELECT education, count(*) FILTER (WHERE income > 'a') FROM adult GROUP BY education", "education, income"},
		{"SELECT CASE WHEN age > 30 THEN 1 ELSE 2 END, count(*) FROM adult GROUP BY 1", "age"},
	} {
		sql, want := c[0], c[1]
		q, err := h.question(t, sql, nil, settings{})
		if err != nil {
			t.Fatal(err)
		}
		reads := q.Request.Cuts[0].Reads()
		slices.Sort(reads)
		if got := strings.Join(reads, ", "); got != want {
			t.Errorf("%s reads %v, want %v: %s", sql, got, want, parser.QuoteIdent(q.Request.Cuts[0].Statistics()))
		}
	}
}

// fugu fit prepares and reports what there is.
func TestNetworkFits(t *testing.T) {
	patient.Test(t)
	h := chained(t)
	r, err := fit.Run(t.Context(), h.work(t.TempDir(), silent, "SELECT education, avg(age) FROM adult GROUP BY "+
		"education"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Statements {
		for _, f := range s.Findings {
			if f.Code != string(sqlstate.ModelUnfit) || !strings.Contains(f.Message, "network") &&
				!strings.Contains(f.Message, "nothing bounds") {
				t.Errorf("%s: %+v", s.Statement, f)
			}
		}
	}
	if len(r.Secrets) != 2 || len(r.Secrets[0].Classes) != 1 || r.Secrets[0].Where[0] != "in all" {
		t.Errorf("%+v", r.Secrets)
	}
}

// A statement over the table of a network and another protected one is refused; over either it is answered.
func TestNetworkStandsAlone(t *testing.T) {
	patient.Test(t)
	newHouse(t) // the tables are there
	run := func(sql string) {
		if err := pgcluster.Shared(t).Exec(context.WithoutCancel(t.Context()), "adult", sql); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE beside AS SELECT * FROM adult LIMIT 1000; GRANT SELECT ON beside TO fugu_reader")
	t.Cleanup(func() { run("DROP TABLE beside") })
	const other = "parameter: hours\n  besides: {table: public.beside, proportion: age > 40, pairs: [[0.2, 0.25]]}"
	edits := append(slices.Clone(chainedEdits[:len(chainedEdits)-1]), other, "tables:\n",
		"tables:\n  public.beside: {rows: 1000, reference: public.adult_reference}\n")
	h := newHouse(t, edits...)
	both := func(a, b string) string { return "SELECT (" + a + "), (" + b + ")" }
	const old, young = "SELECT count(*) FROM adult WHERE age > 50", "SELECT count(*) FROM beside WHERE age < 30"
	for _, c := range []struct {
		sql  string
		code sqlstate.Code
	}{
		{"SELECT count(*) FROM adult WHERE education = 'Masters'", ""},
		{young, ""},
		{both(old, young), sqlstate.NotAnswerable},
		{both(young, "SELECT count(*) FROM adult WHERE income = 'x'"), sqlstate.NotAnswerable},
		{both(old, "SELECT count(*) FROM adult WHERE age < 50"), ""},
	} {
		q, err := h.question(t, c.sql, nil, settings{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := q.Measure(t.Context())
		if c.code == "" && err != nil || c.code != "" && !sqlstate.Is(err, c.code) {
			t.Errorf("%s: %v", c.sql, err)
		}
		if err == nil && (m.Calibration.Kind == mechanism.MarkovQuilt) != strings.Contains(c.sql, "adult") {
			t.Errorf("%s: %s", c.sql, m.Calibration.Kind)
		}
	}
}
