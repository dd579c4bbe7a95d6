package preview_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"fugu/explain"
	"fugu/ledger"
	"fugu/preview"
	"fugu/privacy"
	"fugu/sqlstate"
	"fugu/test/pgcluster"
	"fugu/test/town"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

// desk previews statements about the town, with a ledger that holds nothing yet.
func desk(t *testing.T, w *town.Town) *preview.Desk {
	t.Helper()
	d, _ := deskAndLedger(t, w)
	return d
}

// deskAndLedger is desk, with that ledger.
func deskAndLedger(t *testing.T, w *town.Town) (*preview.Desk, ledger.Ledger) {
	t.Helper()
	l, err := ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "fugu.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	d, err := preview.New(w.Dataset, w.Reader, l)
	if err != nil {
		t.Fatal(err)
	}
	return d, l
}

// There is an explanation for each ε, in order, with the noise that the mechanism has there; the first statement that
// aggregates protected rows is the one that is meant.
func TestExplain(t *testing.T) {
	w := town.Build(t, "previewed")
	d := desk(t, w)
	explained := func(sql string, params ...string) []explain.Explanation {
		t.Helper()
		previews, err := d.Preview(t.Context(), sql, params, []privacy.Epsilon{0.5, 1, 100})
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		var xs []explain.Explanation
		for _, p := range previews {
			xs = append(xs, p.Explanation)
		}
		if len(params) == 0 {
			alone, err := d.Explain(t.Context(), sql, []privacy.Epsilon{0.5, 1, 100})
			if err != nil || !reflect.DeepEqual(alone, xs) {
				t.Fatalf("%s is explained by itself as %v, %v", sql, alone, err)
			}
		}
		if len(xs) != 3 {
			t.Fatalf("%d explanations of 3 ε", len(xs))
		}
		return xs
	}

	xs := explained("SELECT 1; SELECT city, count(*) FROM people GROUP BY city; SELECT sex, avg(age) FROM people " +
		"GROUP BY sex")
	for i, x := range xs {
		if x.Components != 3 {
			t.Errorf("%d components, and there are three cities", x.Components)
		}
		if i > 0 && x.Noise[0].SDMax >= xs[i-1].Noise[0].SDMax {
			t.Errorf("the noise is %v at a larger ε, and was %v", x.Noise[0].SDMax, xs[i-1].Noise[0].SDMax)
		}
	}

	// The value of a parameter is part of the statement.
	const older = "SELECT count(*) FROM people WHERE age > $1"
	if most, few := explained(older, "20"), explained(older, "70"); most[0].Noise[0].SDMax == few[0].Noise[0].SDMax {
		t.Errorf("of those over 20 and of those over 70 the noise is %v", few[0].Noise[0].SDMax)
	}
}

// What cannot be previewed is refused with what is wrong with it.
func TestRefused(t *testing.T) {
	d := desk(t, town.Build(t, "notpreviewed"))
	for sql, code := range map[string]sqlstate.Code{
		"SELECT 1":             sqlstate.NotAnswerable,
		"no SQL":               sqlstate.NotAnswerable,
		"SELECT FROM people (": sqlstate.SyntaxError,
		"SELECT * FROM people": sqlstate.NotAnswerable,
		"SELECT count(*) FROM people WHERE age > $1":            sqlstate.UndefinedParameter,
		"PREPARE p AS SELECT count(*) FROM people":              sqlstate.NotAnswerable,
		"SELECT sex, sum(age) FROM people GROUP BY sex, nobody": sqlstate.UndefinedColumn,
	} {
		_, err := d.Explain(t.Context(), sql, []privacy.Epsilon{1})
		if err == nil || sqlstate.As(err).Code != code {
			t.Errorf("%s: %v, want %s", sql, err, code)
		}
	}
}
