package fit_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fugu/dataset"
	"fugu/fit"
	"fugu/planner"
	"fugu/quote"
	"fugu/test/pgcluster"
	"fugu/test/town"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

func silent(int, int, string) {}

// run prepares the town's models in dir, with more statements than the standard ones.
func run(t *testing.T, w *town.Town, dir string, more ...string) fit.Report {
	t.Helper()
	r, err := fit.Run(t.Context(), fit.Work{Dataset: w.Dataset, Reader: w.Reader, Policy: w.Policy, Dir: dir,
		Statements: more, Progress: silent})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// of is what the report says of a statement.
func of(t *testing.T, r fit.Report, sql string) fit.Statement {
	t.Helper()
	i := slices.IndexFunc(r.Statements, func(s fit.Statement) bool { return s.Statement == sql })
	if i < 0 {
		t.Fatalf("%s is not in the report", sql)
	}
	return r.Statements[i]
}

// deaf asks no database for rows.
type deaf struct{ planner.Querier }

var errAsked = errors.New("a reference was asked")

func (deaf) Query(context.Context, string, [][]byte, []uint32) ([][]planner.Value, error) {
	return nil, errAsked
}

// modelled is the quote of a statement whose model is made of what reference says.
func modelled(t *testing.T, w *town.Town, sql string, reference planner.Querier) (*quote.Quote, error) {
	t.Helper()
	r, err := w.Request(t.Context(), sql, 0, reference)
	if err != nil {
		t.Fatal(err)
	}
	return w.Quote(t.Context(), r)
}

// What was prepared is enough for the models of all statements of the report, and they are those that the reference
// gives. No row of the people was read for it: the reader has no right on them.
func TestPreparedModels(t *testing.T) {
	w := town.Build(t, "prepared")
	w.Exec(t, "REVOKE SELECT ON people FROM town_reader")
	dir := t.TempDir()
	const more = "SELECT sex, avg(age) FROM people WHERE city <> 'Oslo' GROUP BY sex"
	r := run(t, w, dir, more)
	if r.Findings() > 0 || r.Asked != r.Parts || len(r.Statements) < 8 {
		t.Fatalf("%+v", r)
	}

	if stale, err := w.Dataset.TakeOver(t.Context(), dir, w.Reader); err != nil || len(stale) > 0 {
		t.Fatal(stale, err)
	}
	prepared := w.Dataset.Fitted[w.Policy].Over(deaf{w.Reader})
	for _, s := range r.Statements {
		got, err := modelled(t, w, s.Statement, prepared)
		if err != nil {
			t.Errorf("%s: %v", s.Statement, err)
			continue
		}
		want, err := modelled(t, w, s.Statement, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Shifts, want.Shifts) || !reflect.DeepEqual(got.Calibration, want.Calibration) {
			t.Errorf("%s: the models differ:\n%+v\n%+v", s.Statement, got.Shifts, want.Shifts)
		}
	}
	if _, err := modelled(t, w, "SELECT count(*) FROM people WHERE age = 33", prepared); !errors.Is(err, errAsked) {
		t.Errorf("a statement that nobody prepared: %v", err)
	}
}

// What is kept already is not asked again, also where a fit was interrupted; a file stands when all is in it.
func TestFitGoesOn(t *testing.T) {
	w := town.Build(t, "goes_on")
	whole := run(t, w, t.TempDir())
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := fit.Run(ctx, fit.Work{Dataset: w.Dataset, Reader: w.Reader, Policy: w.Policy, Dir: dir,
		Progress: func(done, _ int, _ string) {
			if done == 3 {
				cancel()
			}
		}})
	if err == nil {
		t.Fatal("it was not interrupted")
	}
	if _, err := os.Stat(dataset.ModelFile(dir, "town")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not complete: %v", err)
	}

	on := run(t, w, dir)
	if on.Asked == 0 || on.Asked >= whole.Asked || on.Parts != whole.Parts ||
		!reflect.DeepEqual(on.Statements, whole.Statements) {
		t.Errorf("asked %d of %d, %d parts of %d", on.Asked, whole.Asked, on.Parts, whole.Parts)
	}
	if again := run(t, w, dir); again.Asked != 0 || again.Kept == 0 || again.Parts != on.Parts {
		t.Errorf("asked %d again, used %d, %d parts of %d", again.Asked, again.Kept, again.Parts, on.Parts)
	}
}

// A reference that changes while it is read is of no one state, and nothing is kept of it.
func TestReferenceChangesMeanwhile(t *testing.T) {
	w := town.Build(t, "meanwhile")
	dir := t.TempDir()
	_, err := fit.Run(t.Context(), fit.Work{Dataset: w.Dataset, Reader: w.Reader, Policy: w.Policy, Dir: dir,
		Progress: func(done, _ int, _ string) {
			if done == 2 {
				w.Exec(t, "UPDATE reference SET age = age + 1 WHERE id = 1")
			}
		}})
	if err == nil || !strings.Contains(err.Error(), "it changed while it was read") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(dataset.ModelFile(dir, "town")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file of two states: %v", err)
	}
}

// What is wrong with a statement is a finding, and the others are prepared; what is wrong with the work ends it.
func TestFindings(t *testing.T) {
	w := town.Build(t, "findings")
	wrong := map[string]string{
		"SELECT count(* FROM people":                   "42601",
		"SELECT sum(height) FROM people":               "42703",
		"SELECT 1":                                     "PV001",
		"SELECT max(age) FROM people":                  "PV001",
		"SELECT count(*) FROM people WHERE age > $1":   "PV001",
		"SELECT age, count(*) FROM people GROUP BY 1":  "PV003",
		"SELECT count(*) FROM people; SELECT 1":        "PV001",
		"SELECT count(*) FROM people WHERE height > 1": "42703",
	}
	var more []string
	for sql := range wrong {
		more = append(more, sql)
	}
	r := run(t, w, t.TempDir(), more...)
	if r.Findings() != len(wrong) {
		t.Errorf("%d findings", r.Findings())
	}
	for sql, code := range wrong {
		if f := of(t, r, sql).Findings; len(f) != 1 || f[0].Code != code || f[0].Message == "" {
			t.Errorf("%s: %v, want %s", sql, f, code)
		}
	}

	_, err := fit.Run(t.Context(), fit.Work{Dataset: w.Dataset, Reader: w.Reader, Policy: w.Policy, Dir: t.TempDir(),
		Progress: func(done, _ int, _ string) {
			if done == 2 {
				w.Reader.Close()
			}
		}})
	if err == nil || !strings.HasPrefix(err.Error(), "preparing SELECT") {
		t.Errorf("a statement that nobody could be asked about: %v", err)
	}
}

// What the report says of a count of Romans, by hand: where a share x of the 6,000 people are rich, it is a sum of two
// binomial counts, by how many of the reference's 720 rich people and of its 1,680 others live in Rome.
func TestReportByHand(t *testing.T) {
	w := town.Build(t, "by_hand")
	const romans = "SELECT count(*) FROM people WHERE city = 'Rome'"
	r := run(t, w, t.TempDir(), romans)
	rows, err := w.Reader.Query(t.Context(), "SELECT count(*) FILTER (WHERE rich), count(*) FILTER (WHERE NOT rich), "+
		"count(*) FILTER (WHERE rich AND city = 'Rome')::float8 / count(*) FILTER (WHERE rich), "+
		"count(*) FILTER (WHERE NOT rich AND city = 'Rome')::float8 / count(*) FILTER (WHERE NOT rich) "+
		"FROM public.reference", nil, nil)
	if err != nil || rows[0][0].Text != "720" || rows[0][1].Text != "1680" {
		t.Fatal(rows, err)
	}
	if s := r.Secrets[0]; len(r.Secrets) != 1 || s.Secret != "rich" || s.Rows != 6000 ||
		!slices.Equal(s.Classes, []float64{1680, 720}) {
		t.Errorf("%+v", r.Secrets)
	}

	rich, poor := number(t, rows[0][2].Text), number(t, rows[0][3].Text)
	variance := func(x float64) float64 { return 6000 * (x*rich*(1-rich) + (1-x)*poor*(1-poor)) }
	q := of(t, r, romans).Qualities[0]
	ratio := 1.0
	for _, x := range []float64{.10, .325, .55} {
		ratio = math.Max(ratio, math.Exp(math.Abs(math.Log(variance(x)/variance(x+.05)))))
	}
	if math.Abs(*q.CovarianceRatio-ratio) > 1e-6 {
		t.Errorf("variances differ by the factor %v, want %v", *q.CovarianceRatio, ratio)
	}
	if want := 6000 * .05 * (rich - poor) / math.Sqrt(variance(.10)); math.Abs(q.Movement-want) > .01*want {
		t.Errorf("it moves by %v standard deviations, want %v", q.Movement, want)
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Groups without a row of the reference are named, and averages over them are not modelled; few rows are not normal.
func TestWhatTheReferenceLacks(t *testing.T) {
	w := town.Build(t, "lacks", "[Rome, Oslo, Bern]", "[Rome, Oslo, Bern, Atlantis]")
	const averages, few = "SELECT city, avg(age) FROM people GROUP BY city",
		"SELECT sum(age) FROM people WHERE id % 500 = 3"
	r := run(t, w, t.TempDir(), averages, few)
	s := of(t, r, averages)
	if s.Cells != 4 || s.Components != 3 || s.Unmodelled != 1 || s.EmptyCount != 1 ||
		!slices.Equal(s.Empty, []string{"city=Atlantis"}) {
		t.Errorf("%+v", s)
	}
	if got := s.Qualities[0].Gaussian; got != "plausible" {
		t.Errorf("averages of hundreds: normal is %s", got)
	}
	if got := of(t, r, few).Qualities[0].Gaussian; got == "plausible" {
		t.Errorf("a sum of a dozen: normal is %s", got)
	}

	remarks := strings.Join(r.Remarks(), "\n")
	for _, part := range []string{"no reference row in 1 of 4 groups (city=Atlantis)", "secret rich: that statistics " +
		"are normal is", "secret rich: how far it moves F is known least well in"} {
		if !strings.Contains(remarks, part) {
			t.Errorf("%q is not said:\n%s", part, remarks)
		}
	}
}

// The words of a report, of each kind.
func TestWords(t *testing.T) {
	twice := 2.0
	report := func(q fit.Quality) fit.Report {
		q.Secret = "rich"
		return fit.Report{Secrets: []fit.Secret{{Secret: "rich"}}, Statements: []fit.Statement{
			{Statement: "SELECT  1", Qualities: []fit.Quality{q, {Secret: "another", Off: 9, Assessed: 9}}}}}
	}
	for want, r := range map[string]fit.Report{
		"is doubtful: the worst is n of SELECT 1, whose probabilities are off by about 0.01": report(
			fit.Quality{Component: "n", Off: .01, Assessed: 1, CovarianceRatio: &twice}),
		"varies at one of the values 0.1 and 0.2 only, which tells them apart": report(fit.Quality{At: [2]float64{.1,
			.2}}),
		"variances differ by up to the factor 2, between the values 0.1 and 0.2, in SELECT 1": report(
			fit.Quality{CovarianceRatio: &twice, At: [2]float64{.1, .2}}),
		"known least well in SELECT 1: 3 ± 0.5": report(fit.Quality{CovarianceRatio: &twice, Movement: 3, Missed: .5}),
	} {
		if got := strings.Join(r.Remarks(), "\n"); !strings.Contains(got, want) {
			t.Errorf("%q is not said:\n%s", want, got)
		}
	}

	s := fit.Secret{Classes: []float64{7, 3}, Where: []string{"others", "rich"}}
	if got := s.Describe(); got != "reference rows 7 others, 3 rich" {
		t.Error(got)
	}
	if got := (fit.Secret{}).Describe(); got != "the table has no reference" {
		t.Error(got)
	}
	if got := fit.Brief("SELECT \"age\",\n  \"No\" FROM\tpeople"); got != `SELECT age, "No" FROM people` {
		t.Error(got)
	}
}
