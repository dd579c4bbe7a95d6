package integration

import (
	"os"
	"strings"
	"testing"

	"fugu/test/patient"
)

// acceptedCorpus is the parser's own corpus of statements that it cuts.
func acceptedCorpus(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../parser/testdata/accept")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, block := range strings.Split(string(text), "parse\n")[1:] {
		sql, result, _ := strings.Cut(block, "\n----\n")
		if strings.HasPrefix(result, "cut ") && !strings.Contains(result, "explain") {
			out = append(out, sql)
		}
	}
	return out
}

// Names and types of columns and parameters are PostgreSQL's own, for every statement of the corpus that is cut.
func TestDescriptionsArePostgreSQLs(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{policy: []string{"age: {from: 17, to: 90}", "age: {from: 17, to: 90}\n      " +
		"native_country: reference\n      race: reference"}})
	fugu, direct := f.connect(t), adultDatabase(t).truth(t)
	corpus := acceptedCorpus(t)
	if len(corpus) < 25 {
		t.Fatalf("the corpus has %d statements", len(corpus))
	}
	for _, sql := range corpus {
		want, err := direct.Prepare(t.Context(), "", sql)
		if err != nil {
			t.Errorf("%s: PostgreSQL itself: %v", sql, err)
			continue
		}
		got, err := fugu.Prepare(t.Context(), "", sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if len(got.ParamOIDs) != len(want.ParamOIDs) || len(got.Fields) != len(want.Fields) {
			t.Errorf("%s: %d parameters and %d columns, want %d and %d", sql, len(got.ParamOIDs), len(got.Fields),
				len(want.ParamOIDs), len(want.Fields))
			continue
		}
		for i, oid := range want.ParamOIDs {
			if got.ParamOIDs[i] != oid {
				t.Errorf("%s: parameter %d has type %d, want %d", sql, i+1, got.ParamOIDs[i], oid)
			}
		}
		for i, w := range want.Fields {
			if g := got.Fields[i]; g.Name != w.Name || g.DataTypeOID != w.DataTypeOID ||
				g.DataTypeSize != w.DataTypeSize || g.TypeModifier != w.TypeModifier {
				t.Errorf("%s: column %d is %s %d(%d), want %s %d(%d)", sql, i+1, g.Name, g.DataTypeOID, g.TypeModifier,
					w.Name, w.DataTypeOID, w.TypeModifier)
			}
		}
	}
	if e, n := spent(t, fugu); e != 0 || n != 0 {
		t.Errorf("preparing cost epsilon %g in %d releases", e, n)
	}
}

// Every public key combination comes back, also those with no row, and the number of rows does not depend on the data.
func TestEveryPublicKeyComesBack(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{policy: []string{"sex: [Female, Male]", "sex: [Female, Male, Unheard]"}})
	c := f.connect(t)
	for sql, want := range map[string]int{
		"SELECT sex, count(*), avg(age), sum(age) FROM adult GROUP BY sex":         3,
		"SELECT age, sex, count(*) FROM adult GROUP BY age, sex":                   74 * 3,
		"SELECT sex, count(*) FROM adult WHERE age > 1000 GROUP BY sex":            3,
		"SELECT count(*) FROM adult WHERE age > 1000":                              1,
		"SELECT sex FROM adult GROUP BY sex HAVING count(*) > -1000000 ORDER BY 1": 3,
		// no reference row: public knowledge
		"SELECT sex, avg(age) IS NULL FROM adult GROUP BY sex HAVING avg(age) IS NULL": 1,
	} {
		if got := strings.Count(rows(t, c, sql), "\n"); got != want {
			t.Errorf("%s: %d rows, want %d", sql, got, want)
		}
	}
}
