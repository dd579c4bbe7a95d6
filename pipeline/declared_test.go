package pipeline

import (
	"math"
	"strings"
	"testing"

	"fugu/sqlstate"
	"fugu/test/adult/edited"
	"fugu/test/patient"
)

// A declared model takes the place of the reference's for every spelling of its statement, and for no other.
func TestDeclared(t *testing.T) {
	patient.Test(t)
	h := newHouse(t, "analysts:", edited.DeclaredAges)
	for _, sql := range []string{
		"SELECT sex, avg(age) AS a, count(*) FROM adult GROUP BY sex",
		"select x.sex as s, count(*) + 1, round(avg(x.age)) from public.adult x group by 1 having avg(x.age) > 3 " +
			"order by 2",
		"SELECT avg(age), count(*), sex FROM (SELECT * FROM adult) q GROUP BY sex",
	} {
		q, err := h.question(t, sql, nil, settings{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := q.Measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Sources) != 1 || m.Sources[0] != "declared" || m.Width != 4 {
			t.Fatalf("%s: %v, %d components", sql, m.Sources, m.Width)
		}
		// By hand, a tenth of what high_income moves F over its whole range, and of private_sector the one pair.
		want := map[string]map[string]float64{
			"high_income": {"count(*) at sex=Male": 600, "avg(age) at sex=Female": 0.5,
				"avg(age) at sex=Male": 0.55, "count(*) at sex=Female": -600},
			"private_sector": {"count(*) at sex=Male": 100, "avg(age) at sex=Female": 0, "avg(age) at sex=Male": 0.4,
				"count(*) at sex=Female": -100},
		}
		sd := map[string]float64{"count(*) at sex=Male": math.Sqrt(6000), "avg(age) at sex=Female": math.Sqrt(0.02),
			"avg(age) at sex=Male": 0.1, "count(*) at sex=Female": math.Sqrt(6000)}
		for _, s := range m.Shifts {
			for k, l := range m.Labels {
				name := strings.Replace(l.String(), "avg(x.age)", "avg(age)", 1)
				if math.Abs(s.Along[k]-want[s.Secret][name]) > 1e-9 || s.Beside[k] > 1e-9 {
					t.Errorf("%s: %s moves %s by %v and %v aside, not %v", sql, s.Secret, name, s.Along[k],
						s.Beside[k], want[s.Secret][name])
				}
				if math.Abs(m.Inherent[k]-sd[name]) > 1e-9 {
					t.Errorf("%s: %s has sd %v, not %v", sql, name, m.Inherent[k], sd[name])
				}
			}
		}
		x, err := q.Explain(t.Context())
		if text := strings.Join(x.Lines(), "\n"); err != nil || !strings.Contains(text, "Model: declared") ||
			x.Cuts[0].Model != "declared" {
			t.Errorf("%s: %v:\n%s", sql, err, text)
		}
	}
	for _, sql := range []string{"SELECT sex, avg(age) FROM adult GROUP BY sex", "SELECT sex, avg(age), count(*) " +
		"FROM adult WHERE age > 17 GROUP BY sex", "SELECT avg(age), count(*) FROM adult"} {
		q, err := h.question(t, sql, nil, settings{})
		if err != nil {
			t.Fatal(err)
		}
		if m, err := q.Measure(t.Context()); err != nil || m.Sources[0] != "reference" {
			t.Errorf("%s: %v, %v", sql, m, err)
		}
	}
}

// A declared model of a function of second moments is that function's, and no other's of the same sums. It needs no
// reference.
func TestDeclaredSecond(t *testing.T) {
	patient.Test(t)
	const spread = `declared:
  spread:
    statement: SELECT stddev(age) FROM adult
    secrets:
      high_income: {values: [0.10, 0.60], means: [[13], [14]], covariances: [[[0.01]], [[0.02]]]}
      private_sector: {values: [0.68, 0.70, 0.72], means: [[13], [13.1], [13.2]],
        covariances: [[[0.01]], [[0.01]], [[0.01]]]}
analysts:`
	for _, h := range []*house{newHouse(t, "analysts:", spread),
		newHouse(t, "reference: public.adult_reference", "# no reference",
			"plain_rows: reference", "plain_rows: deny", "education: reference", "education: [Masters, Doctorate]",
			"analysts:", spread)} {
		for sql, own := range map[string]bool{"SELECT stddev_samp(age) FROM adult": true,
			"SELECT variance(age) FROM adult": false, "SELECT stddev_pop(age) FROM adult": false} {
			q, err := h.question(t, sql, nil, settings{})
			if err != nil {
				t.Fatal(err)
			}
			m, err := q.Measure(t.Context())
			if err != nil && (own || h.engine.snapshot.Load().Find("public", "adult").Table.Reference != "") {
				t.Errorf("%s: %v", sql, err)
			}
			if err == nil && (m.Sources[0] == "declared") != own {
				t.Errorf("%s: %v", sql, m.Sources)
			}
			if !own {
				continue
			}
			for _, s := range m.Shifts {
				// A tenth of what high_income moves it over its whole range, and of private_sector the one pair.
				if want := map[string]float64{"high_income": 0.1,
					"private_sector": 0.2}[s.Secret]; math.Abs(s.Along[0]-want) > 1e-9 {
					t.Errorf("%s moves it by %v", s.Secret, s.Along[0])
				}
			}
			a, err := q.Answer(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if x, err := q.Arrays(t.Context(), a); err != nil || len(x) == 0 {
				t.Errorf("%v", err)
			}
		}
	}
}

// Without a reference, what is declared is answered and everything else is PV004.
func TestWithoutReference(t *testing.T) {
	patient.Test(t)
	h := newHouse(t, "reference: public.adult_reference", "# no reference", "plain_rows: reference", "plain_rows: deny",
		"education: reference", "education: [Masters, Doctorate]", "analysts:", edited.DeclaredAges)
	q, err := h.question(t, "SELECT sex, avg(age), count(*) FROM adult GROUP BY sex", nil, settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Answer(t.Context()); err != nil {
		t.Error(err)
	}
	for _, sql := range []string{"SELECT count(*) FROM adult", "SELECT sex, avg(age) FROM adult GROUP BY sex",
		"SELECT education, count(*) FROM adult GROUP BY 1"} {
		q, err := h.question(t, sql, nil, settings{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Answer(t.Context()); !sqlstate.Is(err, sqlstate.ModelUnfit) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	r := fitHouse(t, h, t.TempDir(), "SELECT sex, avg(age), count(*) FROM adult GROUP BY sex",
		"SELECT count(*) FROM adult")
	for _, x := range r.Statements[0].Qualities {
		if x.CovarianceRatio == nil || x.Movement <= 0 {
			t.Errorf("%+v", x)
		}
	}
	if len(r.Statements) != 2 || len(r.Statements[0].Declared) != 1 || r.Findings() != 1 ||
		r.Statements[1].Findings[0].Code != "PV004" {
		t.Errorf("%+v", r)
	}
}
