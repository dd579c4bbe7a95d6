package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/ledger"
	"fugu/test/patient"
)

// asked is a statement that costs epsilon 1; each n is another one.
func asked(n int) string {
	return fmt.Sprintf("SELECT count(*) FROM adult WHERE income = '>50K' AND age > %d", n)
}

// Users with shares that add up to more than the budget: one is stopped by her own share, one by his group's, and all
// together by the budget, whoever of them asks; a stored answer costs the budget nothing, and whoever is told it his
// share.
func TestUsersShareABudget(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{policy: []string{"analysts: [alice, bob]", "analysts: [alice, bob, carol]",
		"budget: {epsilon: 20, delta: 0.01, per: dataset}",
		"budget: {epsilon: 3.5, delta: 0.01, shares: {default: {epsilon: 2.2, delta: 0.01}, groups: {both: {members: " +
			"[alice, bob], epsilon: 2.5, delta: 0.01}}}}"}})
	alice, bob, carol := f.connect(t), connect(t, f.dsn("bob")), connect(t, f.dsn("carol"))
	refused := func(c *pgx.Conn, n int, whose string) {
		t.Helper()
		_, err := c.Exec(t.Context(), asked(n))
		if pe := pgError(err); pe == nil || pe.Code != "PV002" || !strings.Contains(pe.Message, "budget of "+whose) {
			t.Errorf("got %v, want the budget of %s exhausted", err, whose)
		}
	}
	first := rows(t, alice, asked(1))
	rows(t, alice, asked(2))
	refused(alice, 3, `user "alice"`)
	if got := rows(t, bob, asked(1)); got != first {
		t.Errorf("bob was told %s, alice %s", got, first)
	}
	const left = `SELECT scope, round(max(epsilon_spent)::numeric), max(releases), max(epoch), max(period)
	  FROM fugu.budget WHERE secret = 'high_income' GROUP BY scope ORDER BY scope COLLATE "C"`
	if got, want := rows(t, bob, left), "[\"\" \"2\" \"2\" \"0\" \"0\"]\n[\"@both\" \"2\" \"2\" \"0\" "+
		"\"0\"]\n[\"bob\" \"1\" \"1\" \"0\" \"0\"]\n"; got != want {
		t.Errorf("bob sees\n%swant\n%s", got, want)
	}
	refused(bob, 3, `group "both"`)
	rows(t, carol, asked(3))
	refused(carol, 4, `dataset "adult"`) // which is what stops them together: her own share has room
	refused(bob, 3, `group "both"`)      // what carol was told is not theirs for nothing
	if got := rows(t, alice, asked(1)); got != first {
		t.Error("what alice was told is gone")
	}
	plan := rows(t, bob, "EXPLAIN (PRIVACY) "+asked(7))
	for _, line := range []string{"Cost for secret high_income: epsilon 1 of the 0.5", "of the share bob",
		"of the share @both"} {
		if !strings.Contains(plan, line) {
			t.Errorf("%q is missing:\n%s", line, plan)
		}
	}
}

// Other data end stored answers, at every session, prepared statements too; the budget carries on.
func TestEpochEndsStoredAnswers(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	c := f.connect(t)
	if _, err := c.Prepare(t.Context(), "prepared", asked(1)); err != nil {
		t.Fatal(err)
	}
	first := rows(t, c, "prepared")
	if again := rows(t, c, "prepared"); again != first {
		t.Fatal("another answer to the same question")
	}
	advance := func(label string) error {
		_, err := f.ledger.Advance(t.Context(), ledger.Epoch{Dataset: "adult", Label: label, User: "root",
			Reason: "new rows"})
		return err
	}
	if err := advance(""); err != nil {
		t.Fatal(err)
	}
	rows(t, c, "prepared")
	if got, want := rows(t, c, "SELECT round(epsilon_spent::numeric), releases, epoch, period FROM fugu.budget "+
		"WHERE secret = 'high_income'"), "[\"2\" \"2\" \"1\" \"0\"]\n"; got != want {
		t.Errorf("budget %s, want %s", got, want)
	}
	if got := rows(t, c, "SELECT count(*) FROM fugu.releases"); got != "[\"2\"]\n" {
		t.Errorf("%s releases", got)
	}
}

// A policy that speaks of data that are gone answers nothing about them.
func TestPolicyOfAnotherEpoch(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{policy: []string{"analysts:", "epoch: {label: 2026-Q3}\nanalysts:"}})
	c := f.connect(t)
	stand := func(label string) {
		t.Helper()
		if _, err := f.ledger.Advance(t.Context(), ledger.Epoch{Dataset: "adult", Label: label, User: "policy",
			Reason: "epoch.label"}); err != nil {
			t.Fatal(err)
		}
	}
	stand("2026-Q3")
	rows(t, c, asked(1))
	stand("2026-Q4") // as another proxy does with a newer policy
	for range 2 {
		if _, err := c.Exec(t.Context(), asked(1)); code(err) != "57P03" || !strings.Contains(err.Error(), "2026-Q3") {
			t.Errorf("got %v", err)
		}
	}
}
