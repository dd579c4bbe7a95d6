package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"fugu/ledger"
	"fugu/ledger/audit"
	"fugu/privacy"
	"fugu/test/patient"
)

// twoReleases makes a ledger with as many.
func twoReleases(t *testing.T, file string) {
	t.Helper()
	l, err := ledger.Open(t.Context(), "sqlite:"+file, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, digit := range []string{"a", "b"} {
		_, err := l.Charge(t.Context(), ledger.Charge{
			Key: ledger.Key(strings.Repeat(digit, 64)), Dataset: "adult", User: "alice",
			Losses: map[string]privacy.Loss{"income": {Pure: .25}}, Limit: privacy.Budget{Epsilon: 1, Delta: .01},
			Requested: privacy.Budget{Epsilon: .25}, Mechanism: "directional", Assumption: "translation",
			Answer: []byte("38.6"),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// An audit of a ledger with two releases: verified, exported, known again by its head, and found out when it is
// changed.
func TestAudit(t *testing.T) {
	patient.Test(t)
	path := setting(t)
	file := filepath.Join(filepath.Dir(path), "fugu.db")
	fugu := func(args ...string) (int, string) {
		var out bytes.Buffer
		code := run(t.Context(), append([]string{"audit"}, args...), &out, &out)
		return code, out.String()
	}
	if code, out := fugu("verify", "-c", path); code != exitFailure || !strings.Contains(out, "ledger") {
		t.Errorf("without a ledger: %d %s", code, out)
	}
	twoReleases(t, file)
	code, out := fugu("verify", "-c", path)
	_, head, _ := strings.Cut(strings.TrimSpace(out), "the last is ")
	if code != exitOK || !strings.HasPrefix(out, "ok 3 entries") || !strings.HasPrefix(head, "2:") {
		t.Fatalf("%d %s", code, out)
	}
	if code, out := fugu("verify", "-c", path, "-head", head); code != exitOK {
		t.Errorf("%d %s", code, out)
	}
	if code, out := fugu("verify", "-c", path, "-head", "1"+head[1:]); code != exitFailure ||
		!strings.Contains(out, "earlier state") {
		t.Errorf("%d %s", code, out)
	}
	code, out = fugu("export", "-c", path)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != exitOK || len(lines) != 3 {
		t.Fatalf("%d %s", code, out)
	}
	var line struct {
		Hash  string
		Entry audit.Entry
	}
	if err := json.Unmarshal([]byte(lines[2]), &line); err != nil || line.Entry.User != "alice" ||
		"2:"+line.Hash != head {
		t.Errorf("%v %s", err, lines[2])
	}
	for _, args := range [][]string{
		{}, {"show", "-c", path}, {"verify", "-c", path, "-head", "2"}, {"verify", "-c", path, "more"},
	} {
		if code, _ := fugu(args...); code != exitUsage {
			t.Errorf("%q: exit code %d", args, code)
		}
	}
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec(`DROP TRIGGER charges_fixed; UPDATE charges SET user = 'bob' WHERE answer = 2`); err != nil {
		t.Fatal(err)
	}
	if code, out := fugu("verify", "-c", path); code != exitFailure ||
		!strings.Contains(out, "entry 2 of the audit chain") {
		t.Errorf("%d %s", code, out)
	}
}
