//go:build fuguhooks

package build_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"fugu/test/patient"
	"fugu/test/policies"
	"fugu/twin/build"
)

// subjects have their visits go with them.
const subjectsPolicy = `version: 1
dataset: clinic
tables:
  public.patient: {rows: 1000, answers: twin, twin: {rows: shown}}
  public.visit: {link: {to: public.patient, on: {'"Patient"': id}}}
secrets:
  ill: {table: public.patient, proportion: ill, values: {from: 0.10, to: 0.60, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 9, delta: 0.009, per: dataset}}
`

// Visits that were drawn one by one, and go with their patients in a twin that is drawn later, are drawn a second time,
// by another order: who has both twins sees by their overlap how many visits are of the ill. It is what a DBA does who
// learns that patients are the unit. The other way round likewise, also when the first twin has been dropped; and noise
// about a table whose rows have gone with another one's is noise beside a twin.
func TestRowsOfAnotherFamily(t *testing.T) {
	patient.Test(t)
	const ill = "SELECT note FROM fugu_twin.visit WHERE ill AND note NOT LIKE 'nobody%' GROUP BY note"
	subjects := clinic + `DELETE FROM visit WHERE "Patient" IS NULL;
		CREATE TABLE patient AS SELECT "Patient" AS id, bool_or(ill) AS ill FROM visit GROUP BY 1;
		ALTER TABLE patient ADD PRIMARY KEY (id); GRANT SELECT ON patient TO shop_keeper`
	visits := fmt.Sprintf(clinicPolicy, 2500, "independent_rows: true")

	for _, c := range []struct{ name, first, second, said string }{
		{"by themselves first", visits, subjectsPolicy, "rows of public.visit were drawn by themselves"},
		{"with patients first", subjectsPolicy, visits, "rows of public.visit were drawn with rows of public.patient"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, "family_"+fmt.Sprint(len(c.said)), subjects, c.first)
			w.keeper.Random = rand.NewChaCha8([32]byte{2})
			w.build(build.Options{})
			first := w.column(ill)
			for _, table := range w.policy.Tables {
				if drawn, err := build.Drawn(t.Context(), w.ledger, table.Qualified()); err != nil || !drawn {
					t.Errorf("%s was drawn: %t, %v", table.Qualified(), drawn, err)
				}
			}
			if _, err := build.Drop(t.Context(), w.keeper.Conn, false, w.policy, w.policy.Tables[0]); err != nil {
				t.Fatal(err)
			}

			w.policy = policies.Load(t, c.second)
			for _, o := range []build.Options{{}, {New: true, Reason: "the unit is another"}} {
				w.refused(o, c.said)
			}
			if n, _ := w.spent(); n != 1 {
				t.Errorf("refusals were charged: %d", n)
			}

			// Of 750 visits. By the seed, so that no chance is left.
			w.recapture(first, ill, 750, 150)
		})
	}
}
