package pipeline

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"fugu/answer"
	"fugu/dataset"
	"fugu/fit"
	"fugu/planner"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// deaf is a database that answers nothing, once it is deaf.
type deaf struct {
	answer.Database
	now *bool
}

var errAsked = errors.New("the database was asked")

func (d deaf) Query(ctx context.Context, sql string, params [][]byte, types []uint32) ([][]planner.Value, error) {
	if *d.now {
		return nil, errAsked
	}
	return d.Database.Query(ctx, sql, params, types)
}

// deafQuestion asks a database that answers nothing from then on: what is not prepared is not known.
func (h *house) deafQuestion(t *testing.T, sql string) *answer.Question {
	t.Helper()
	s := &session{engine: h.engine, user: h.user}
	statements, err := s.Interpret(t.Context(), sql, nil)
	if err != nil {
		t.Fatal(err)
	}
	db := deaf{h.engine.desk.Reader, new(bool)}
	q, err := statements[0].(*statement).question(t.Context(), *binding(0), settings{}, db, nil)
	if err != nil {
		t.Fatal(err)
	}
	*db.now = true
	return q
}

func silent(int, int, string) {}

// work is what there is to prepare for the house's policy.
func (h *house) work(dir string, progress fit.Progress, more ...string) fit.Work {
	snap := h.engine.snapshot.Load()
	return fit.Work{Dataset: snap.Snapshot, Reader: h.engine.desk.Reader, Policy: snap.Policies[0], Dir: dir,
		Statements: more, Progress: progress}
}

func fitHouse(t *testing.T, h *house, dir string, more ...string) fit.Report {
	t.Helper()
	r, err := fit.Run(t.Context(), h.work(dir, silent, more...))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// same compares what two measurements say, bit for bit.
func same(a, b *quote.Quote) bool {
	return reflect.DeepEqual(a.Calibration, b.Calibration) && reflect.DeepEqual(a.Shifts, b.Shifts) &&
		reflect.DeepEqual(a.Inherent, b.Inherent) &&
		reflect.DeepEqual(a.Index, b.Index) && reflect.DeepEqual(a.Start, b.Start) &&
		reflect.DeepEqual(a.Bounds, b.Bounds)
}

// A model from the artifact is the one that a scan gives, and needs no database; what is not prepared does.
func TestFittedModels(t *testing.T) {
	patient.Test(t)
	fresh, prepared := newHouse(t), newHouse(t)
	dir := t.TempDir()
	more := []string{
		"SELECT education, sex, avg(age), sum(capital_gain) FROM adult WHERE hours_per_week > 30 GROUP BY " +
			"education, sex",
		"SELECT (SELECT avg(age) FROM adult WHERE sex = 'Male') - (SELECT avg(age) FROM adult WHERE sex = 'Female')",
	}
	report := fitHouse(t, fresh, dir, more...)
	if report.Findings() > 0 || report.Asked != report.Parts || len(report.Secrets) != 2 {
		t.Fatalf("%+v", report)
	}
	snap := prepared.engine.snapshot.Load()
	if stale, err := snap.TakeOver(t.Context(), dir, prepared.engine.desk.Reader); err != nil || len(stale) > 0 {
		t.Fatal(stale, err)
	}
	statements := append([]string{ // as clients write what stands in the standard set
		"select count(*) as n from adult", "SELECT avg(age) FROM public.adult", "SELECT round(sum(age) / 2) FROM " +
			"adult AS a HAVING count(*) > 0",
		"SELECT count(*), sex FROM adult GROUP BY sex ORDER BY 1 DESC LIMIT 1", "SELECT count(fnlwgt) FROM adult",
		"SELECT education, count(*) FROM adult GROUP BY 1 HAVING count(*) > 100",
	}, more...)
	for _, sql := range statements {
		q, err := fresh.question(t, sql, nil, settings{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := q.Measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := prepared.deafQuestion(t, sql).Measure(t.Context())
		if err != nil {
			t.Errorf("%s: %v", sql, err)
		} else if !same(got, want) {
			t.Errorf("%s: the models differ:\n%+v\n%+v", sql, got, want)
		}
	}
	q := prepared.deafQuestion(t, "SELECT count(*) FROM adult WHERE age = 33")
	if _, err := q.Measure(t.Context()); !errors.Is(err, errAsked) {
		t.Errorf("a statement that nobody prepared: %v", err)
	}
}

// A changed row of the reference, whatever else stays, is a change; so is a changed policy. Neither is served from.
func TestFittedStale(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	dir := t.TempDir()
	fitHouse(t, h, dir)
	look := func(h *house, want string) {
		t.Helper()
		snap := h.engine.snapshot.Load()
		clear(snap.Fitted)
		stale, err := snap.TakeOver(t.Context(), dir, h.engine.desk.Reader)
		if err != nil || (want == "") != (len(stale) == 0) || want != "" && !strings.Contains(stale[0].Message, want) {
			t.Errorf("want %q, got %v, %v", want, stale, err)
		}
		if (len(snap.Fitted) == 0) != (want != "") {
			t.Errorf("%q, and %d artifacts are in use", want, len(snap.Fitted))
		}
	}
	run := func(sql string) {
		t.Helper()
		if err := pgcluster.Shared(t).Exec(t.Context(), "adult", sql); err != nil {
			t.Fatal(err)
		}
	}
	look(h, "")
	look(newHouse(t, "within: 0.05", "within: 0.04"), "the policy has changed")
	run("CREATE TABLE aside AS SELECT * FROM adult_reference WHERE age = 41; UPDATE adult_reference SET age = 42 " +
		"WHERE ctid = (SELECT min(ctid) FROM adult_reference WHERE age = 41)")
	look(h, "public.adult_reference has changed")
	run("DELETE FROM adult_reference WHERE age = 41 OR ctid = (SELECT max(ctid) FROM adult_reference WHERE age = " +
		"42); INSERT INTO adult_reference SELECT * FROM aside; DROP TABLE aside")
	look(h, "")
	if err := os.Truncate(dataset.ModelFile(dir, "adult"), 100); err != nil {
		t.Fatal(err)
	}
	look(h, "not complete")
}

// A fit that is interrupted at any statement asks later only for what is left, and ends with the same models.
func TestFitResumes(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	p := h.engine.snapshot.Load().Policies[0]
	whole := fitHouse(t, h, t.TempDir())
	dir := t.TempDir()
	for _, stop := range []int{1, 2, 7} {
		h := newHouse(t)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := fit.Run(ctx, h.work(dir, func(done, _ int, _ string) {
			if done == stop {
				cancel()
			}
		}))
		if !errors.Is(err, context.Canceled) && !sqlstate.Is(err, sqlstate.QueryCanceled) {
			t.Fatalf("stopped at %d: %v", stop, err)
		}
		cancel()
		if _, err := os.Stat(dataset.ModelFile(dir, p.Dataset)); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("stopped at %d: a file that is not complete: %v", stop, err)
		}
	}
	h = newHouse(t)
	r := fitHouse(t, h, dir)
	// Seven statements, of two scans each: for the moments and for the shape.
	if r.Parts != whole.Parts || r.Asked != whole.Asked-7*2 {
		t.Errorf("asked %d of %d after 7 statements were done", r.Asked, r.Parts)
	}
	if !reflect.DeepEqual(r.Statements, whole.Statements) {
		t.Error("another report than of a fit that nobody stopped")
	}
}
