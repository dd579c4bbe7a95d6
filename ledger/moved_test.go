package ledger

import (
	"bytes"
	"errors"
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
