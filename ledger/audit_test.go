package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"fugu/ledger/audit"
	"fugu/privacy"
)

// told returns the entries of a ledger's chain.
func told(t *testing.T, l Ledger) (out []audit.Entry, head audit.Link) {
	t.Helper()
	head, err := l.Audit(t.Context(), func(l audit.Link) error {
		e, err := l.Entry()
		out = append(out, e)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, head
}

func TestAuditTellsWhatWasCharged(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		first := must(t, l, with(charge(1), func(c *Charge) {
			c.Shares, c.Certificates = shares("alice"), certificate()
		}))
		must(t, l, with(charge(1), func(c *Charge) { c.Shares = shares("alice") }))
		must(t, l, with(charge(1), func(c *Charge) { c.Shares, c.User = shares("bob"), "bob" }))
		_, _ = l.Charge(t.Context(), with(charge(2), func(c *Charge) { c.Limit.Epsilon = .1 }))
		must(t, l, with(charge(3), func(c *Charge) { c.Failed, c.Answer, c.Cells = true, nil, nil }))
		entries, head := told(t, l)
		var events []string
		for i, e := range entries {
			events = append(events, fmt.Sprint(e.Event, " ", e.Scope, " ", e.User, " ", e.Failed))
			if e.Number != int64(i) {
				t.Errorf("entry %d is number %d", i, e.Number)
			}
		}
		want := []string{"begin   false", "release  alice false", "joined alice alice false", "joined bob bob false",
			"release  alice true"}
		if !reflect.DeepEqual(events, want) {
			t.Fatalf("%q, want %q", events, want)
		}
		if e := entries[1]; e.Answer != first.ID || e.Key != string(key(1)) || !e.At.Equal(first.At) ||
			!reflect.DeepEqual(e.Losses, first.Losses) ||
			*e.Requested != first.Requested || !reflect.DeepEqual(e.Certificates, certificate()) ||
			e.Mechanism != first.Mechanism || e.Dataset != "adult" {
			t.Errorf("%+v", e)
		}
		last, err := head.Entry()
		if err != nil || last.Number != 4 || len(head.Hash) != 64 {
			t.Errorf("%+v %v", head, err)
		}
		// The time of an entry can have the digits of any number.
		timeless := slices.Clone(entries)
		for i := range timeless {
			timeless[i].At = time.Time{}
		}
		for _, secret := range []string{"answer 1", "38.6", "Ünïcode"} {
			if text, _ := json.Marshal(timeless); strings.Contains(string(text), secret) {
				t.Errorf("the chain repeats what was given: %s", text)
			}
		}
		again, _ := told(t, p.open(t, Options{ReadOnly: true}))
		if !reflect.DeepEqual(again, entries) {
			t.Errorf("read again: %+v", again)
		}
	})
}

// tampering is something that somebody does who can write to the database.
type tampering struct{ name, statement string }

// tampered are changes of what was booked and of the chain.
var tampered = []tampering{
	{"an entry's text", `UPDATE audit SET entry = replace(entry, '"alice"', '"bob"') WHERE number = 2`},
	{"an entry's text, blanks only", `UPDATE audit SET entry = entry || ' ' WHERE number = 2`},
	{"the last entry's text", `UPDATE audit SET entry = replace(entry, '"alice"', '"bob"') WHERE number = 4`},
	{"a hash", `UPDATE audit SET hash = CASE substr(hash, 1, 1) WHEN 'e' THEN 'f' ELSE 'e' END || substr(hash, 2)
		WHERE number = 2`},
	{"an entry left out", `DELETE FROM audit WHERE number = 2`},
	{"the end cut off", `DELETE FROM audit WHERE number = 4`},
	{"the beginning cut off", `DELETE FROM audit WHERE number = 0`},
	{"all cut off", `DELETE FROM audit`},
	{"an entry left out, numbers closed up",
		`DELETE FROM audit WHERE number = 2; UPDATE audit SET number = 2 WHERE number = 3;
			UPDATE audit SET number = 3 WHERE number = 4`},
	{"two entries in the wrong order",
		`UPDATE audit SET number = 9 WHERE number = 2; UPDATE audit SET number = 2 WHERE number = 3;
			UPDATE audit SET number = 3 WHERE number = 9`},
	{"an entry twice",
		`INSERT INTO audit SELECT 5, entry,
			replace(hash, substr(hash, 2, 1),
				CASE substr(hash, 2, 1) WHEN 'f' THEN 'e' ELSE 'f' END) FROM audit WHERE number = 4`},
	{"who was charged", `UPDATE charges SET "user" = 'bob' WHERE answer = 2`},
	{"when", `UPDATE charges SET at = at + 1 WHERE answer = 2`},
	{"what was given", `UPDATE answers SET bytes = (SELECT bytes FROM answers WHERE id = 1) WHERE id = 2`},
	{"what is said of it", `UPDATE answers SET cells = '[]' WHERE id = 2`},
	{"its mechanism", `UPDATE answers SET mechanism = 'directional' WHERE id = 2`},
	{"its certificates", `UPDATE answers SET certificates = '[{"secret":"a"}]' WHERE id = 2`},
	{"its key", `UPDATE answers SET key = '` + string(key("other")) + `' WHERE id = 2`},
	{"two losses exchanged",
		`UPDATE charges SET secret = 'c' WHERE secret = 'a' AND answer IN (1, 2);
			UPDATE totals SET pure = 0.2 WHERE secret = 'a'`},
	{"an answer and its charges unmade", `DELETE FROM charges WHERE answer = 4; DELETE FROM answers WHERE id = 4;
	  UPDATE totals SET releases = 3, pure = CASE secret WHEN 'a' THEN 0.1 + 0.1 + 0.1 ELSE 0 END,
		kappa2 = CASE secret WHEN 'b' THEN 0.03 ELSE 0 END, delta = CASE secret WHEN 'b' THEN 0.003 ELSE 0 END`},
}

// audited is what opening a ledger and auditing it find.
func audited(p place) error {
	l, err := Open(context.Background(), string(p), Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	_, err = l.Audit(context.Background(), nil)
	return err
}

// What was changed past the ledger is found, by opening it or by an audit.
func TestAuditFindsTampering(t *testing.T) {
	losses := map[string]privacy.Loss{"a": {Pure: 0.1}, "b": {Kappa2: 0.01, Delta: 0.001}}
	fill := func(t *testing.T, p place) {
		l := p.open(t, Options{})
		for i := range 4 {
			must(t, l, with(charge(i), func(c *Charge) { c.Losses = losses }))
		}
		closeLedger(t, l)
	}
	t.Run("SQLite", func(t *testing.T) {
		p := inFile(t)
		fill(t, p)
		sound, err := os.ReadFile(strings.TrimPrefix(string(p), "sqlite:"))
		if err != nil {
			t.Fatal(err)
		}
		const free = `DROP TRIGGER audit_stays; DROP TRIGGER audit_fixed; DROP TRIGGER totals_stay;
		  DROP TRIGGER totals_grow; DROP TRIGGER charges_stay; DROP TRIGGER charges_fixed;
		  DROP TRIGGER answers_stay; DROP TRIGGER answers_fixed; PRAGMA foreign_keys = 0;`
		for _, tt := range tampered {
			p := inFile(t)
			path := strings.TrimPrefix(string(p), "sqlite:")
			if err := os.WriteFile(path, sound, 0o600); err != nil {
				t.Fatal(err)
			}
			raw(t, path, free+tt.statement)
			if audited(p) == nil {
				t.Errorf("not found: %s", tt.name)
			}
		}
		if err := audited(p); err != nil {
			t.Error(err)
		}
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		p := inDatabase(t)
		fill(t, p)
		for _, tt := range tampered {
			copied := inCopy(t, p)
			if err := as(t, "postgres", copied, `SET session_replication_role = replica`, tt.statement); err != nil {
				t.Fatal(err)
			}
			if audited(copied) == nil {
				t.Errorf("not found: %s", tt.name)
			}
		}
		if err := audited(inCopy(t, p)); err != nil {
			t.Error(err)
		}
	})
}

// An old file's answers are in the chain's beginning, and cannot be changed afterwards either.
func TestAuditOfAnOlderLedger(t *testing.T) {
	p := inFile(t)
	path := strings.TrimPrefix(string(p), "sqlite:")
	raw(t, path, migrations[0]+migrations[1]+`;PRAGMA application_id = 1182099317; PRAGMA user_version = 2;
	  INSERT INTO answers VALUES (1, '`+string(key("old"))+`', 'adult', '', 1, 0.25, 0.001, 'expm-laplace',
		'translation', 0, '[]', x'01', '[]');
	  INSERT INTO charges VALUES (1, 1, '', 'income', 'alice', 1, 0.25, 0, 0);
	  INSERT INTO totals VALUES ('adult', '', 'income', 0.25, 0, 0, 1);`)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	l := p.open(t, Options{})
	must(t, l, charge("new"))
	entries, _ := told(t, l)
	if len(entries) != 2 || entries[0].Before.Answers != 1 || entries[0].Before.Charges != 1 || entries[1].Answer != 2 {
		t.Errorf("%+v", entries)
	}
	closeLedger(t, l)
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec(`DROP TRIGGER answers_fixed; UPDATE answers SET bytes = x'02' WHERE id = 1`); err != nil {
		t.Fatal(err)
	}
	if _, err := p.open(t, Options{ReadOnly: true}).Audit(t.Context(), nil); err == nil {
		t.Error("an answer that is older than the chain was changed, and that is not found")
	}
}
