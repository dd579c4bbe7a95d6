package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"fugu/ledger/audit"
)

// chargeUntil charges again and again until it is stopped, or a charge fails.
func chargeUntil(stop <-chan struct{}, l Ledger, next func() Charge) error {
	for {
		select {
		case <-stop:
			return nil
		default:
			if _, err := l.Charge(context.Background(), next()); err != nil {
				return err
			}
		}
	}
}

// A backup is a whole ledger of a moment while others charge, for its owner's eyes.
func TestBackupWhileCharging(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		n := 0
		next := func() Charge {
			n++
			return with(charge(fmt.Sprint("b", n)), func(c *Charge) { c.Limit.Epsilon = 1e9 })
		}
		must(t, l, next())
		stop, done := make(chan struct{}), make(chan error)
		go func() { done <- chargeUntil(stop, l, next) }()
		looking, err := Manage(t.Context(), string(p), Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer closeLedger(t, looking)
		var heads []audit.Link
		for i := range 4 {
			path := filepath.Join(t.TempDir(), "backup")
			head, err := looking.Backup(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			heads = append(heads, head)
			if _, err := looking.Backup(t.Context(), path); !errors.Is(err, os.ErrExist) {
				t.Errorf("a backup was overwritten: %v", err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v %v", info.Mode(), err)
			}
			restored := restore(t, path, p.remote())
			if got := links(t, restored); got[len(got)-1] != head {
				t.Errorf("backup %d ends with %+v, not %+v", i, got[len(got)-1], head)
			}
			must(t, restored, with(charge("after"), func(c *Charge) { c.Limit.Epsilon = 1e9 }))
			closeLedger(t, restored)
		}
		close(stop)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		// Each is a part of the chain as it went on.
		all := links(t, l)
		for _, h := range heads {
			if e, err := h.Entry(); err != nil || all[e.Number] != h {
				t.Errorf("%+v is not in the chain", h)
			}
		}
		t.Logf("%d charges meanwhile", len(all)-2)
	})
}

// restore opens the ledger of a backup: SQLite's is one, PostgreSQL's is imported.
func restore(t *testing.T, path string, imports bool) *store {
	t.Helper()
	if !imports {
		return place("sqlite:"+path).open(t, Options{})
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	copied := inFile(t)
	if _, err := Import(t.Context(), string(copied), Options{}, f); err != nil {
		t.Fatal(err)
	}
	return copied.open(t, Options{})
}

// Verifying and copying a large ledger takes longer than a statement of a charge may, and only these may.
func TestSnapshotsAreNotTimedOut(t *testing.T) {
	l := inDatabase(t).open(t, Options{})
	l.read.SetMaxOpenConns(1)
	timeout := func(q interface {
		QueryRowContext(context.Context, string, ...any) *sql.Row
	}) (s string) {
		if err := q.QueryRowContext(t.Context(), `SHOW statement_timeout`).Scan(&s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	_ = l.snapshot(t.Context(), func(tx *sql.Tx) error {
		if s := timeout(tx); s != "0" {
			t.Errorf("a snapshot's statements end after %s", s)
		}
		return nil
	})
	if s := timeout(l.read); s != postgresSettings["statement_timeout"] {
		t.Errorf("others end after %s", s)
	}
}
