package build_test

import (
	"fmt"
	"strings"
	"testing"

	"fugu/policy"
	"fugu/test/patient"
	"fugu/test/policies"
	"fugu/twin/build"
)

// clinic has 1,000 patients of one to four visits, each of which has a text of its own that names the patient.
const clinic = `
CREATE TABLE visit (id serial PRIMARY KEY, "Patient" int, ill bool NOT NULL, note text, cost int);
INSERT INTO visit ("Patient", ill, note, cost) SELECT 5000 + i, i <= 300, i || ' of ' || 1 + i % 4 || ': ' || j, j
	FROM generate_series(1, 1000) i, generate_series(1, 4) j WHERE j <= 1 + i % 4;
INSERT INTO visit (ill, note) VALUES (true, 'nobody''s');
GRANT SELECT ON visit TO shop_keeper;
`

const clinicPolicy = `version: 1
dataset: clinic
tables:
  public.visit: {rows: %d, answers: twin, twin: {rows: shown, drop: [cost], %s}}
secrets:
  ill: {table: public.visit, proportion: ill AND id > 0, values: {from: 0.10, to: 0.60, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 9, delta: 0.009, per: dataset}}
`

// broken counts the patients of the twin of whom visits are missing, or are those of several. The visit that is
// nobody's is in every third twin of rows.
const broken = `SELECT count(*) FROM (SELECT count(*) AS n, count(DISTINCT note) AS notes,
	min(split_part(note, ' ', 1)) AS one, max(split_part(note, ' ', 1)) AS other,
	max(split_part(split_part(note, 'of ', 2), ':', 1)::int) AS all_of
	FROM fugu_twin.visit WHERE note NOT LIKE 'nobody%%' GROUP BY %s) x WHERE n <> all_of OR notes <> n OR one <> other`

// A twin whose unit is a subject is refused with what to write instead, which is run here as it stands: whole subjects,
// of which as many are told as there were.
func TestSubjectsInstead(t *testing.T) {
	patient.Test(t)
	w := newWorld(t, "clinic", clinic, fmt.Sprintf(clinicPolicy, 1000, "unit: '\"Patient\"'"))
	_, err := w.keeper.Build(t.Context(), w.policy, w.policy.Tables[0], build.Options{})
	if err == nil {
		t.Fatal("a twin with a unit was built")
	}
	said, fragment, found := strings.Cut(err.Error(), "tables:\n")
	if !found || !strings.Contains(said, "table public.visit: a twin draws rows") {
		t.Fatal(err)
	}
	for line := range strings.Lines(said) {
		if sql, ok := strings.CutPrefix(line, "  "); ok {
			if _, err := w.admin.Exec(t.Context(), sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
	}
	if _, err := w.admin.Exec(t.Context(), "GRANT SELECT ON visit_subject TO shop_keeper"); err != nil {
		t.Fatal(err)
	}
	yaml := "version: 1\ndataset: clinic\ntables:\n" + strings.NewReplacer("NUMBER", "1000",
		"...", "values: {from: 0.10, to: 0.60, within: 0.05}").Replace(fragment) + "\n"
	_, rest, _ := strings.Cut(clinicPolicy, "assume:")
	w.policy = policies.Load(t, yaml+"assume:"+rest)
	root, _ := w.policy.Table(policy.QualifiedName{Schema: "public", Name: "visit_subject"})
	r, err := w.keeper.Build(t.Context(), w.policy, root, build.Options{})
	if err != nil {
		t.Fatal(err)
	}

	told, taken := fmt.Sprint(r.Twins[0].Told[0]), fmt.Sprint(r.Twins[0].Taken[0])
	for _, c := range []struct{ sql, want string }{
		{fmt.Sprintf(broken, `"Patient"`), "0"},
		{`SELECT count(DISTINCT "Patient") FROM fugu_twin.visit`, "1000"},
		{`SELECT count(*) FROM fugu_twin.visit_subject WHERE ill`, told},
		{`SELECT count(DISTINCT "Patient") FROM fugu_twin.visit WHERE ill`, told},
		{`SELECT count(*) FROM fugu_twin.visit WHERE note LIKE 'nobody%'`, "0"},
		{`SELECT count(DISTINCT split_part(note, ' ', 1)) FROM fugu_twin.visit WHERE ill`, taken},
		{`SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute
			WHERE attrelid = 'fugu_twin.visit'::regclass AND attnum > 0`, "id Patient ill note"},
	} {
		if got := w.one(c.sql); got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}

	// Rows that are drawn one by one are not of whole subjects: what the test looks for is there to be found.
	alone := newWorld(t, "clinic_alone", clinic, fmt.Sprintf(clinicPolicy, 2501, "independent_rows: true"))
	alone.build(build.Options{})
	if got := alone.one(fmt.Sprintf(broken, `"Patient"`)); got == "0" {
		t.Error("rows that were drawn one by one are of whole subjects")
	}
}
