package upstream

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/test/pgcluster"
)

// turkish is a locale of an encoding of single bytes, in which the small letter of İ is i.
const turkish = "tr_TR.ISO-8859-9"

// Where PostgreSQL reads pg_relatİon_size as pg_relation_size, nobody who looks for the name in a text finds it.
func TestCheckFoldedLetters(t *testing.T) {
	locales := t.TempDir()
	if out, err := exec.Command("localedef", "-i", "tr_TR", "-f", "ISO-8859-9", filepath.Join(locales, turkish)).
		CombinedOutput(); err != nil {
		t.Skipf("the locale %s cannot be made: %v: %s", turkish, err, out)
	}
	for dir := locales; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { // the server may be another user's
			t.Fatal(err)
		}
	}
	t.Setenv("LOCPATH", locales)
	c := pgcluster.StartTest(t, pgcluster.Options{})
	if err := c.Exec(t.Context(), "postgres", "CREATE ROLE folded LOGIN"); err != nil {
		t.Fatal(err)
	}

	const size = "SELECT pg_relatİon_size('pg_class')"
	for name, x := range map[string]struct {
		locale string
		folds  bool
	}{"turkish": {turkish, true}, "plain": {"C", false}} {
		if err := c.CreateDatabase(t.Context(), name, "TEMPLATE template0 ENCODING LATIN5 LC_COLLATE '"+x.locale+
			"' LC_CTYPE '"+x.locale+"'"); err != nil {
			t.Fatal(err)
		}
		guest, err := pgconn.ParseConfig(c.DSN("folded", name))
		if err != nil {
			t.Fatal(err)
		}
		guest.RuntimeParams["client_encoding"] = "UTF8"
		conn, err := pgconn.ConnectConfig(t.Context(), guest)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), size).ReadAll(); (err == nil) != x.folds {
			t.Errorf("%s: %s: %v", name, size, err)
		}
		_ = conn.Close(t.Context())
		found, _, err := CheckGuest(t.Context(), guest, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if x.folds {
			wantFindings(t, found, []string{"^the database takes names with the letter İ for names with an i"})
		} else {
			wantFindings(t, found, nil)
		}
	}
}
