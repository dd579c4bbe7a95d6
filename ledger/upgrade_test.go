package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"fugu/privacy"
)

// before loads a ledger as Fugu wrote it when budgets of single users did not add up to a total: of dataset adult, one
// answer that everybody paid for and then bob, one that alice paid for and then bob, a failure that bob paid for and then
// everybody, and one that carol paid for; and of dataset census an answer that everybody paid for.
func before(t *testing.T, p place) {
	t.Helper()
	file := "testdata/sqlite_3.sql"
	if p.remote() {
		file = "testdata/postgres_1.sql"
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if p.remote() {
		if err := as(t, "fugu_ledger", p, string(text)); err != nil {
			t.Fatal(err)
		}
		return
	}
	path := strings.TrimPrefix(string(p), "sqlite:")
	raw(t, path, string(text))
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

// An older ledger is brought up to date: its answers stand, its chain goes on, and what single users were told counts
// against everybody's total from now on.
func TestOlderLedgerIsBoundByItsTotal(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		before(t, p)
		if _, err := Open(context.Background(), string(p), Options{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "an older fugu") {
			t.Errorf("read-only: %v", err)
		}
		l := p.open(t, Options{})
		entries, _ := told(t, l)
		var events []string
		for _, e := range entries[1:] {
			events = append(events, fmt.Sprintf("%s %d by %q", e.Event, e.Answer, e.Scope))
		}
		want := []string{`release 1 by ""`, `release 2 by "alice"`, `joined 2 by "bob"`, `joined 1 by "bob"`, `release 3 by "bob"`, `joined 3 by ""`,
			`release 4 by "carol"`, `release 5 by ""`, `joined 2 by ""`, `joined 4 by ""`}
		if !reflect.DeepEqual(events, want) {
			t.Errorf("%q, want %q", events, want)
		}
		// Of income 0.25, and three times a Laplace loss of 0.1.
		got := spent(t, l, Everybody)
		loss := got[0].Loss
		if len(got) != 2 || got[0].Releases != 4 || loss.Pure < 0.55 || loss.Pure > 0.55+1e-9 || loss.Kappa2 < 0.03 || got[1].Loss.Delta < 0.003 {
			t.Errorf("everybody has spent %+v", got)
		}
		if got := spent(t, l, "bob"); got[0].Releases != 3 {
			t.Errorf("bob has spent %+v", got)
		}
		if a, ok, err := l.Find(t.Context(), key("of carol")); !ok || err != nil || string(a.Bytes) != "answer of carol" {
			t.Errorf("%+v, %v, %v", a, ok, err)
		}
		if _, ok, err := l.Find(t.Context(), key("of carol"), "bob"); ok || err != nil {
			t.Errorf("bob finds what carol paid for: %v", err)
		}
		must(t, l, with(charge("of carol"), func(c *Charge) {
			c.User, c.Shares = "bob", shares("bob")
			c.Limit.Epsilon, c.Shares[0].Limit.Epsilon = 1.5, 1.5
		}))
		must(t, l, with(charge("new"), func(c *Charge) { c.Limit.Epsilon, c.Losses["income"] = 1.5, privacy.Loss{Pure: 0.125} }))
		var x *Exhausted
		if _, err := l.Charge(t.Context(), with(charge("more"), func(c *Charge) { c.Limit.Epsilon = 1.5 })); !errors.As(err, &x) || x.Scope != Everybody {
			t.Errorf("more than the total: %v", err)
		}
		advance(t, l, "", false)
		closeLedger(t, l)
		again, _ := told(t, p.open(t, Options{}))
		if len(again) != len(entries)+3 || !reflect.DeepEqual(again[:len(entries)], entries) {
			t.Errorf("the chain did not go on: %d entries, then %d", len(entries), len(again))
		}
	})
}

// Without the step that adds totals up, the older ledger is refused: what its users were told is not forgotten.
func TestOlderLedgerIsRefusedUnbound(t *testing.T) {
	p := inFile(t)
	before(t, p)
	path := strings.TrimPrefix(string(p), "sqlite:")
	raw(t, path, migrations[3], `PRAGMA user_version = 4`)
	if _, err := Open(context.Background(), string(p), Options{}); err == nil || !strings.Contains(err.Error(), "was not paid for") {
		t.Errorf("opened: %v", err)
	}
}

// What says when budgets began anew cannot be changed, added or left out.
func TestAuditFindsTamperedBeginnings(t *testing.T) {
	fill := func(t *testing.T, p place) {
		l := p.open(t, Options{})
		c := new(clock).drive(l)
		must(t, l, monthly(1))
		c.pass(30 * day)
		must(t, l, monthly(2))
		advance(t, l, "a", false)
		advance(t, l, "b", true)
		must(t, l, with(monthly(3), func(c *Charge) { c.Epoch = 1 }))
		closeLedger(t, l)
	}
	// Those that would give a budget anew are found when the ledger is opened already.
	opening := func(p place) error {
		l, err := Open(context.Background(), string(p), Options{})
		if err == nil {
			_ = l.Close()
		}
		return err
	}
	tests := []struct{ name, statement string }{
		{"when a period began", `UPDATE periods SET began = began - 1 WHERE number = 2`},
		{"why", `UPDATE periods SET cause = 'renewal' WHERE number = 2`},
		{"a period added", `INSERT INTO periods VALUES ('adult', 3, 0, 0, 'renewal')`},
		{"a period of another dataset added", `INSERT INTO periods VALUES ('census', 1, 0, 0, 'renewal')`},
		{"a period left out", `DELETE FROM periods WHERE number = 1`},
		{"an epoch left out", `DELETE FROM epochs WHERE number = 1`},
		{"the reason of an epoch", `UPDATE epochs SET reason = 'x' WHERE number = 1`},
		{"a label", `UPDATE epochs SET label = 'c' WHERE number = 1`},
		{"an epoch's independence", `UPDATE epochs SET independent = 0`},
		{"an epoch added", `INSERT INTO epochs (id, dataset, number, label, independent, "user", reason, at) VALUES (9, 'adult', 2, '', 0, 'eve', 'x', 0)`},
		{"the epoch of an answer", `UPDATE answers SET epoch = 0`},
		{"the period of a charge", `UPDATE charges SET period = 1 WHERE period = 2; UPDATE totals SET releases = 2, pure = 0.5 WHERE period = 1; DELETE FROM totals WHERE period = 2`},
	}
	found := func(p place) error {
		l, err := Open(context.Background(), string(p), Options{ReadOnly: true})
		if err != nil {
			return err
		}
		defer func() { _ = l.Close() }()
		_, err = l.Audit(context.Background(), nil)
		return err
	}
	t.Run("SQLite", func(t *testing.T) {
		p := inFile(t)
		fill(t, p)
		sound, err := os.ReadFile(strings.TrimPrefix(string(p), "sqlite:"))
		if err != nil {
			t.Fatal(err)
		}
		const free = `DROP TRIGGER epochs_stay; DROP TRIGGER epochs_fixed; DROP TRIGGER periods_stay; DROP TRIGGER periods_fixed;
		  DROP TRIGGER charges_fixed; DROP TRIGGER answers_fixed; DROP TRIGGER totals_stay; DROP TRIGGER totals_grow;`
		for _, tt := range append(tests, struct{ name, statement string }{}) {
			p := inFile(t)
			path := strings.TrimPrefix(string(p), "sqlite:")
			if err := os.WriteFile(path, sound, 0o600); err != nil {
				t.Fatal(err)
			}
			raw(t, path, free+tt.statement)
			if strings.HasPrefix(tt.name, "a period") && opening(p) == nil {
				t.Errorf("%q: opened", tt.name)
			}
			if err := found(p); (err == nil) != (tt.name == "") {
				t.Errorf("%q: %v", tt.name, err)
			}
			if tt.name == "" {
				continue
			}
			closed := inFile(t)
			path = strings.TrimPrefix(string(closed), "sqlite:")
			if err := os.WriteFile(path, sound, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := connect(path, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(tt.statement); err == nil && !strings.HasPrefix(tt.statement, "INSERT") {
				t.Errorf("%q: the database let it through", tt.name)
			}
			_ = db.Close()
		}
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		p := inDatabase(t)
		fill(t, p)
		for _, tt := range append(tests, struct{ name, statement string }{}) {
			copied := inCopy(t, p)
			statement := strings.Replace(tt.statement, "VALUES (9,", "OVERRIDING SYSTEM VALUE VALUES (9,", 1)
			if tt.name != "" && !strings.HasPrefix(statement, "INSERT") && as(t, "fugu_ledger", copied, statement) == nil {
				t.Errorf("%q: the database let it through", tt.name)
			}
			if err := as(t, "postgres", copied, `SET session_replication_role = replica`, statement); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(tt.name, "a period") && opening(copied) == nil {
				t.Errorf("%q: opened", tt.name)
			}
			if err := found(copied); (err == nil) != (tt.name == "") {
				t.Errorf("%q: %v", tt.name, err)
			}
		}
	})
}
