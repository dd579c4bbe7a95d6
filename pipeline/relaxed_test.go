package pipeline

import (
	"math"
	"slices"
	"strings"
	"testing"

	"fugu/dataset"
	"fugu/explain"
	"fugu/mechanism"
	"fugu/sqlstate"
	"fugu/test/patient"
)

const modelWithin = "mechanism: auto\n  model: {within: {rows: 5, lambda: 0.1}}"

// exactEdits and relaxedEdits differ in this alone: whether the true table is the model's, or some rows from it.
var (
	exactEdits   = []string{"assume: [translation, gaussian]", "assume: [translation]"}
	relaxedEdits = append(slices.Clone(exactEdits), "mechanism: auto", modelWithin)
)

var laplace = settings{mechanism: mechanism.ExpmLaplace}

// By hand: of ε = 1, λ = .1 leaves .8 for what hides the secrets, and beside it is Laplace noise of scale 5·1/.1 on a
// count, which 5 rows move by 5. What is charged, certified, explained and recorded says so.
func TestRelaxedByRows(t *testing.T) {
	patient.Test(t)
	exact, relaxed := newHouse(t, exactEdits...), newHouse(t, relaxedEdits...)
	for _, sql := range []string{
		"SELECT count(*) FROM adult WHERE age > 40",
		"SELECT count(*) AS n FROM adult WHERE age > 40 HAVING count(*)>0",
	} {
		_, e := exact.measured(t, sql, laplace)
		q, r := relaxed.measured(t, sql, laplace)
		want := math.Hypot(e.Calibration.SD[0]/.8, math.Sqrt2*5/.1)
		if math.Abs(r.Calibration.SD[0]/want-1) > 1e-6 {
			t.Errorf("%s: sd %v, want %v", sql, r.Calibration.SD, want)
		}
		x, err := q.Explain(t.Context())
		if err != nil || x.Assumption != "translation, relaxed" || !strings.Contains(strings.Join(x.Lines(), "\n"),
			"Relaxed: the true table is at most 5 rows from the model's") {
			t.Errorf("%s: %v: %+v", sql, err, x)
		}
		a, err := q.Answer(t.Context())
		if err != nil || a.Assumption != "translation, relaxed" {
			t.Fatalf("%s: %+v, %v", sql, a, err)
		}

		// Each secret costs .8 of its own, and 2λ; the one that the noise is made for, ε in all.
		most := 0.0
		for secret, l := range a.Losses {
			if own := e.Calibration.Losses[secret]; math.Abs(l.Pure-.8*own.Pure-.2) > 1e-6 {
				t.Errorf("%s: secret %s costs %v after %v", sql, secret, l, own)
			}
			most = math.Max(most, l.Pure)
		}
		if most > 1 || most < 1-1e-6 {
			t.Errorf("%s: costs %v", sql, most)
		}
		for _, c := range a.Certificates {
			if math.Abs(c.Epsilon-1) > 1e-12 ||
				!strings.HasSuffix(strings.Join(c.Assumptions, ", "), "translation, relaxed") {
				t.Errorf("%s: %+v", sql, c)
			}
		}
	}
}

// In groups, a row moves two cells of a set, however many there are: not each of 74.
func TestRelaxedGroups(t *testing.T) {
	patient.Test(t)
	exact, relaxed := newHouse(t, exactEdits...), newHouse(t, relaxedEdits...)
	const sql = "SELECT age, count(*) FROM adult GROUP BY age"
	_, m := relaxed.measured(t, sql, laplace)
	_, e := exact.measured(t, sql, laplace)
	unit := func(k int) float64 {
		moved := 0.0
		for _, shift := range m.Shifts {
			moved = math.Max(moved, math.Abs(shift.Along[k])+shift.Box()[k])
		}
		return math.Hypot(math.Hypot(m.Inherent[k], 1), moved) // at epsilon 1
	}
	least := math.Inf(1)
	for k := range m.Inherent {
		least = math.Min(least, unit(k))
	}

	for k, sd := range m.Calibration.SD {
		want := math.Hypot(e.Calibration.SD[k]/.8, math.Sqrt2*5*2/least*unit(k)/.1)
		if math.Abs(sd/want-1) > 1e-4 {
			t.Fatalf("%s: sd %v, want %v", m.Labels[k], sd, want)
		}
	}
}

// An average over all rows moves by hardly anything: 5 rows, 73 years, of 35,222 rows. One over few rows can move
// through its range, and does not make the noise of a count beside it more than twice as large.
func TestRelaxedAverages(t *testing.T) {
	patient.Test(t)
	exact, relaxed := newHouse(t, exactEdits...), newHouse(t, relaxedEdits...)
	_, e := exact.measured(t, "SELECT avg(age) FROM adult", laplace)
	_, m := relaxed.measured(t, "SELECT avg(age) FROM adult", laplace)
	own, extra := e.Calibration.SD[0]/.8, math.Sqrt2*5*73/float64(rowsOf(t))/.1
	if sd := m.Calibration.SD[0]; sd > 1.1*math.Hypot(own, extra) || sd < math.Hypot(own, .9*extra) {
		t.Errorf("avg: sd %v, %v without", m.Calibration.SD, e.Calibration.SD)
	}

	_, m = relaxed.measured(t, "SELECT avg(age) FROM adult WHERE age > 85", settings{mechanism: mechanism.Auto})
	if m.Calibration.SD[0] < math.Sqrt2*4/.1 {
		t.Errorf("avg over few rows: sd %v", m.Calibration.SD)
	}

	const beside = "SELECT avg(fnlwgt) FILTER (WHERE age > 85), count(*) FROM adult WHERE age > 40"
	_, e = exact.measured(t, beside, laplace)
	_, m = relaxed.measured(t, beside, laplace)
	k := slices.IndexFunc(m.Labels, func(l dataset.Label) bool { return l.Column == "count(*)" })
	if m.Calibration.SD[k] > 1.01*math.Hypot(e.Calibration.SD[k]/.8, 2*math.Sqrt2*5/.1) {
		t.Errorf("a count beside an average over few rows: sd %v, %v without", m.Calibration.SD, e.Calibration.SD)
	}
}

// What rows move by no bound, and an ε that leaves nothing beside 2λ, are refused.
func TestRelaxedRefuses(t *testing.T) {
	patient.Test(t)
	relaxed := newHouse(t, relaxedEdits...)
	for _, sql := range []string{
		"SELECT stddev(age) FROM adult",
		"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM adult",
		"SELECT count(*), count(DISTINCT education) FROM adult",
	} {
		q, err := relaxed.question(t, sql, nil, settings{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Measure(t.Context()); !sqlstate.Is(err, sqlstate.ModelUnfit) {
			t.Errorf("%s: %v", sql, err)
		}
	}

	q, err := relaxed.question(t, "SELECT count(*) FROM adult WHERE age > 40", nil, settings{epsilon: .2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Answer(t.Context()); !sqlstate.Is(err, sqlstate.ModelUnfit) {
		t.Errorf("epsilon 0.2: %v", err)
	}
}

// Nearly the model's: noise at ε - 2λ, and in the account 2λ, κ² e^3λ and what η takes at the limit.
func TestRelaxedNearly(t *testing.T) {
	patient.Test(t)
	relaxed := newHouse(t, "mechanism: auto", "mechanism: auto\n  model: {within: {eta: 1e-14, lambda: 0.01}}")
	for _, sql := range []string{"SELECT sex, count(*), avg(age) FROM adult GROUP BY sex",
		"SELECT education, count(*) FROM adult GROUP BY education"} {
		q, err := relaxed.question(t, sql, nil, settings{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := q.Answer(t.Context())
		if err != nil || a.Assumption != "gaussian, translation, relaxed" {
			t.Fatalf("%s: %+v, %v", sql, a, err)
		}
		for secret, l := range a.Losses {
			if l.Pure < .02 || l.Delta < (1+math.Exp(20-.01))*1e-14 || !l.Within(q.Request.Budget) {
				t.Errorf("%s: secret %s costs %+v", sql, secret, l)
			}
		}
		for _, c := range a.Certificates {
			if math.Abs(c.Epsilon-1) > 1e-12 || c.Delta > .001 {
				t.Errorf("%s: %+v", sql, c)
			}
		}
	}
}

// Without translation and with links between tables the same holds.
func TestRelaxedCoupled(t *testing.T) {
	patient.Test(t)
	h := newHouse(t, "assume: [translation, gaussian]", "assume: []", "mechanism: auto", modelWithin)
	q, err := h.question(t, "SELECT sex, count(*), avg(age) FROM adult GROUP BY sex", nil, settings{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := q.Answer(t.Context())
	if err != nil || a.Assumption != "coupling, relaxed" ||
		explain.Rests(a.Assumption) != "resting on coupled datasets alone, relaxed" {
		t.Errorf("%+v, %v", a, err)
	}
	for secret, l := range a.Losses {
		if l.Pure < .2 || !l.Within(q.Request.Budget) {
			t.Errorf("secret %s costs %+v", secret, l)
		}
	}
}
