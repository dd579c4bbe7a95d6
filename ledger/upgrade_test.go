package ledger

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fugu/privacy"
)

// before loads a ledger as Fugu wrote it when budgets of single users did not add up to a total: of dataset adult, one
// answer that everybody paid for and then bob, one that alice paid for and then bob, a failure that bob paid for and
// then everybody, and one that carol paid for; and of dataset census an answer that everybody paid for.
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
		if _, err := Open(context.Background(), string(p), Options{ReadOnly: true}); err == nil ||
			!strings.Contains(err.Error(), "an older fugu") {
			t.Errorf("read-only: %v", err)
		}
		l := p.open(t, Options{})
		entries, _ := told(t, l)
		var events []string
		for _, e := range entries[1:] {
			events = append(events, fmt.Sprintf("%s %d by %q", e.Event, e.Answer, e.Scope))
		}
		want := []string{`release 1 by ""`, `release 2 by "alice"`, `joined 2 by "bob"`, `joined 1 by "bob"`,
			`release 3 by "bob"`, `joined 3 by ""`,
			`release 4 by "carol"`, `release 5 by ""`, `joined 2 by ""`, `joined 4 by ""`}
		if !reflect.DeepEqual(events, want) {
			t.Errorf("%q, want %q", events, want)
		}
		// Of income 0.25, and three times a Laplace loss of 0.1.
		got := spent(t, l, Everybody)
		loss := got[0].Loss
		if len(got) != 2 || got[0].Releases != 4 || loss.Pure < 0.55 || loss.Pure > 0.55+1e-9 || loss.Kappa2 < 0.03 ||
			got[1].Loss.Delta < 0.003 {
			t.Errorf("everybody has spent %+v", got)
		}
		if got := spent(t, l, "bob"); got[0].Releases != 3 {
			t.Errorf("bob has spent %+v", got)
		}
		if a, ok, err := l.Find(t.Context(), key("of carol")); !ok || err != nil ||
			string(a.Bytes) != "answer of carol" {
			t.Errorf("%+v, %v, %v", a, ok, err)
		}
		if _, ok, err := l.Find(t.Context(), key("of carol"), "bob"); ok || err != nil {
			t.Errorf("bob finds what carol paid for: %v", err)
		}
		must(t, l, with(charge("of carol"), func(c *Charge) {
			c.User, c.Shares = "bob", shares("bob")
			c.Limit.Epsilon, c.Shares[0].Limit.Epsilon = 1.5, 1.5
		}))
		must(t, l, with(charge("new"), func(c *Charge) {
			c.Limit.Epsilon, c.Losses["income"] = 1.5, privacy.Loss{Pure: 0.125}
		}))
		var x *Exhausted
		if _, err := l.Charge(t.Context(), with(charge("more"), func(c *Charge) {
			c.Limit.Epsilon = 1.5
		})); !errors.As(err, &x) || x.Scope != Everybody {
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
	if _, err := Open(context.Background(), string(p), Options{}); err == nil ||
		!strings.Contains(err.Error(), "was not paid for") {
		t.Errorf("opened: %v", err)
	}
}

// tamperedBeginnings are changes of epochs and periods.
var tamperedBeginnings = []tampering{
	{"when a period began", `UPDATE periods SET began = began - 1 WHERE number = 2`},
	{"why", `UPDATE periods SET reason = 'renewal' WHERE number = 2`},
	{"a period added", `INSERT INTO periods VALUES ('adult', 3, 0, 0, 'renewal')`},
	{"a period of another dataset added", `INSERT INTO periods VALUES ('census', 1, 0, 0, 'renewal')`},
	{"a period left out", `DELETE FROM periods WHERE number = 1`},
	{"an epoch left out", `DELETE FROM epochs WHERE number = 1`},
	{"the reason of an epoch", `UPDATE epochs SET reason = 'x' WHERE number = 1`},
	{"a label", `UPDATE epochs SET label = 'c' WHERE number = 1`},
	{"an epoch's independence", `UPDATE epochs SET independent = 0`},
	{"an epoch added",
		`INSERT INTO epochs (id, dataset, number, label, independent, "user", reason, at)
			VALUES (9, 'adult', 2, '', 0, 'eve', 'x', 0)`},
	{"the epoch of an answer", `UPDATE answers SET epoch = 0`},
	{"the period of a charge",
		`UPDATE charges SET period = 1 WHERE period = 2;
			UPDATE totals SET releases = 2, pure = 0.5 WHERE period = 1; DELETE FROM totals WHERE period = 2`},
}

// fillWithBeginnings books in several epochs and periods.
func fillWithBeginnings(t *testing.T, p place) {
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

// What says when budgets began anew cannot be changed, added or left out.
func TestAuditFindsTamperedBeginnings(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { tamperInFile(t) })
	t.Run("PostgreSQL", func(t *testing.T) { tamperInDatabase(t) })
}

// opens reports whether a ledger opens. What would give a budget anew is found when it does already.
func opens(p place) bool {
	l, err := Open(context.Background(), string(p), Options{})
	if err == nil {
		_ = l.Close()
	}
	return err == nil
}

// tamperInFile changes each beginning in a file of its own, with the triggers that forbid it and without.
func tamperInFile(t *testing.T) {
	t.Helper()
	p := inFile(t)
	fillWithBeginnings(t, p)
	sound, err := os.ReadFile(strings.TrimPrefix(string(p), "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	const free = `DROP TRIGGER epochs_stay; DROP TRIGGER epochs_fixed; DROP TRIGGER periods_stay;
	  DROP TRIGGER periods_fixed;
	  DROP TRIGGER charges_fixed; DROP TRIGGER answers_fixed; DROP TRIGGER totals_stay; DROP TRIGGER totals_grow;`
	for _, tt := range append(tamperedBeginnings, tampering{}) {
		p := inFile(t)
		path := strings.TrimPrefix(string(p), "sqlite:")
		if err := os.WriteFile(path, sound, 0o600); err != nil {
			t.Fatal(err)
		}
		raw(t, path, free+tt.statement)
		if strings.HasPrefix(tt.name, "a period") && opens(p) {
			t.Errorf("%q: opened", tt.name)
		}
		if err := audited(p); (err == nil) != (tt.name == "") {
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
}

// tamperInDatabase does the same in copies of a database.
func tamperInDatabase(t *testing.T) {
	t.Helper()
	p := inDatabase(t)
	fillWithBeginnings(t, p)
	for _, tt := range append(tamperedBeginnings, tampering{}) {
		copied := inCopy(t, p)
		statement := strings.Replace(tt.statement, "VALUES (9,", "OVERRIDING SYSTEM VALUE VALUES (9,", 1)
		if tt.name != "" && !strings.HasPrefix(statement, "INSERT") &&
			as(t, "fugu_ledger", copied, statement) == nil {
			t.Errorf("%q: the database let it through", tt.name)
		}
		if err := as(t, "postgres", copied, `SET session_replication_role = replica`, statement); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(tt.name, "a period") && opens(copied) {
			t.Errorf("%q: opened", tt.name)
		}
		if err := audited(copied); (err == nil) != (tt.name == "") {
			t.Errorf("%q: %v", tt.name, err)
		}
	}
}

// A step of a schema that was released is never edited: ledgers that took it are of the same tables as new ones.
// Whoever adds a step adds its digest.
func TestStepsStay(t *testing.T) {
	for name, x := range map[string]struct {
		steps []string
		want  []string
	}{
		"SQLite": {migrations, []string{
			"3ac829b920f106b2284fe9881f1b892e97f484833f122fde380cb1b22b95cfe1",
			"0347683b1d423476d43cc7f1fd62c785b9003f362e5c868c0c0c1a0d3eb5350b",
			"5f8c00fe9e97d83a3a2303f35e8faa559e0293f2d3731ad19d53673b45af9e5d",
			"a4cfb59c7ada84ce329063fd21cecd9b10244c2deb5f9d250e26d692559d98b4",
			"bf178272b6cc9696388f52f1bfff780f9d17c6a305bbadda6b67b3b081e3630b",
			"d0f2c7b300e1cd522137fa8324428e925a9aca0366963181de556bf62c25b544",
			"4bf22e863848d4a2fc9bd8352e3be9e296d8571f68f4afeed2eda15b78a662a8",
			"551b64534355eb52671e8182bad8b7a8669b7f8bf61d0fd71f5d13e7b268a413"}},
		"PostgreSQL": {postgresMigrations, []string{
			"522e7e2124172bbd6343e11fcc55485e03710d5eae76042fcbcf850a9ce4a1c5",
			"05fda85c16d30cbadb5e250ba0ce332f99730ecac6db2facb3561385a3f1faee",
			"e029872db698c8b45418f2fc9e27f1d7582d0c274d1b720e4cdffbdb73b5643e",
			"78e1aaa79cbcda4f1c0fa6c48c184b61a482afb4a06361038e3e961aca4ccc56",
			"5490425c332a45f633096e09bc62b879089868df5d9e03b0b84857ece5b4fa75",
			"3acda64888291117ad4753c9937d1bd6d9a65607845d07f048985217421ad85c"}},
	} {
		var got []string
		for _, step := range x.steps {
			got = append(got, fmt.Sprintf("%x", sha256.Sum256([]byte(step))))
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%s: the steps are %q, want %q", name, got, x.want)
		}
	}
}
