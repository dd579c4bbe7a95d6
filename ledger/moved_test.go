package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where a ledger's file was moved away and its log was not, as somebody does who is about to put another in its place,
// nothing takes the log away: it may have the only copy of charges, of a server that still runs or of one that was
// killed.
func TestLogOfAMovedLedgerStays(t *testing.T) {
	for _, locked := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "fugu.db")
		l := open(t, path, Options{Exclusive: locked})
		must(t, l, charge(1))
		var export bytes.Buffer
		if _, err := l.Export(t.Context(), &export); err != nil {
			t.Fatal(err)
		}
		away := path + ".away"
		if err := os.Rename(path, away); err != nil {
			t.Fatal(err)
		}
		log, err := os.ReadFile(path + "-wal")
		if err != nil || len(log) == 0 {
			t.Fatalf("a log of %d bytes, %v", len(log), err)
		}

		_, imported := Import(t.Context(), "sqlite:"+path, Options{}, &export)
		_, opened := Open(t.Context(), "sqlite:"+path, Options{Exclusive: locked})
		_, looked := Open(t.Context(), "sqlite:"+path, Options{ReadOnly: true})
		if looked == nil || errors.Is(looked, fs.ErrNotExist) || !strings.Contains(looked.Error(), "may hold charges") {
			t.Errorf("locked %t: who looks is told %v", locked, looked)
		}
		want := map[bool]string{false: "may hold charges", true: "another server"}[locked]
		for what, err := range map[string]error{"opened": opened, "imported": imported} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("locked %t: %s: %v", locked, what, err)
			}
		}
		if now, err := os.ReadFile(path + "-wal"); err != nil || !bytes.Equal(now, log) {
			t.Errorf("locked %t: the log has %d bytes of %d: %v", locked, len(now), len(log), err)
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("locked %t: a file was made: %v", locked, err)
		}

		// Whoever holds the lock still does.
		if _, err := lock(path); (err != nil) != locked {
			t.Errorf("locked %t: %v", locked, err)
		}

		// Put back, it has what was charged.
		if err := os.Rename(away, path); err != nil {
			t.Fatal(err)
		}
		closeLedger(t, l)
		l = open(t, path, Options{})
		if got := spent(t, l, ""); len(got) != 1 || got[0].Releases != 1 {
			t.Errorf("locked %t: %+v", locked, got)
		}
		closeLedger(t, l)
	}
}

// A backup that is put back over a ledger whose log stayed, as after a crash, has that log written into it, which ruins
// it. The error says so; without the log the same backup is a whole ledger.
func TestBackupBesideTheLogOfBefore(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "fugu.db"), filepath.Join(dir, "backup")
	l := open(t, path, Options{})
	for i := range 100 {
		must(t, l, with(charge(fmt.Sprint("a", i)), func(c *Charge) { c.Limit.Epsilon = 1e9 }))
	}
	closeLedger(t, l) // from here on the log has but what is new
	l = open(t, path, Options{})
	if _, err := l.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		must(t, l, with(charge(fmt.Sprint("b", i)), func(c *Charge) { c.Limit.Epsilon = 1e9 }))
	}
	log, err := os.ReadFile(path + logEnd)
	if err != nil || len(log) == 0 {
		t.Fatalf("a log of %d bytes, %v", len(log), err)
	}
	closeLedger(t, l)

	putBack := func() {
		t.Helper()
		text, err := os.ReadFile(backup)
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	putBack()
	if err := os.WriteFile(path+logEnd, log, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), "sqlite:"+path, Options{}); err == nil ||
		!strings.Contains(err.Error(), "move all three away, and put the backup there once more") {
		t.Errorf("with the log of before: %v", err)
	}
	for _, end := range []string{"", logEnd, "-shm"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	putBack()
	l = open(t, path, Options{})
	if got := spent(t, l, ""); len(got) != 1 || got[0].Releases != 100 {
		t.Errorf("%+v", got)
	}
	closeLedger(t, l)
}
