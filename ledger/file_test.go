package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fugu/privacy"
)

func TestOpenRefusesWhatItDoesNotKnow(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign := filepath.Join(dir, "foreign")
	raw(t, foreign, `CREATE TABLE t (x)`)
	_ = os.Chmod(foreign, 0o600)
	pipe := filepath.Join(dir, "dir")
	if err := os.Mkdir(pipe, 0o700); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, url, want string }{
		{"a PostgreSQL that is not there", "postgres://fugu:secret@127.0.0.1:1/db", "refused"},
		{"a PostgreSQL URL that is none", "postgres://fugu:secret@host:port/db", "cannot be read"},
		{"nothing", "", "sqlite:PATH"},
		{"no path", "sqlite:", "sqlite:PATH"},
		{"another scheme", "mysql://fugu:secret@host/db", "sqlite:PATH"},
		{"a bare path", filepath.Join(dir, "new.db"), "sqlite:PATH"},
		{"text", "sqlite:" + write("text", strings.Repeat("not a database\n", 100), 0o600), "not a database"},
		{"another application's database", "sqlite:" + foreign, "not a ledger"},
		{"a file for all to read", "sqlite:" + write("open", "", 0o644), "chmod 600"},
		{"a directory", "sqlite:" + pipe, "not a regular file"},
		{"a missing directory", "sqlite:" + filepath.Join(dir, "missing", "fugu.db"), "no such file"},
	}
	for _, tt := range tests {
		l, err := Open(context.Background(), tt.url, Options{})
		if err == nil {
			t.Errorf("%s: opened", tt.name)
			_ = l.Close()
		} else if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	missing := filepath.Join(dir, "missing.db")
	if _, err := Open(context.Background(), "sqlite:"+missing, Options{ReadOnly: true}); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("read-only and missing: %v", err)
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("opening read-only made the file")
	}
}

func TestPathCanHaveAnyCharacter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a file?with#odd%20 characters&mode=memory.db")
	l := open(t, path, Options{})
	must(t, l, charge(1))
	closeLedger(t, l)
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("the answers are in some other file: %v", err)
	}
}

func TestPathIsRelativeToDir(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(context.Background(), "sqlite:fugu.db", Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	closeLedger(t, l)
	if _, err := os.Stat(filepath.Join(dir, "fugu.db")); err != nil {
		t.Error(err)
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fugu.db")
	l := open(t, name, Options{Exclusive: true})
	must(t, l, charge(1))
	files, err := filepath.Glob(name + "*")
	if err != nil || len(files) != 4 { // database, log, shared memory, lock
		t.Fatalf("files %q, %v", files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", f, info.Mode(), err)
		}
	}
	closeLedger(t, l)
}

// What a power failure leaves cannot be tested here; that SQLite was told to sync each commit can.
func TestCommitsAreSynced(t *testing.T) {
	l := fresh(t)
	for pragma, want := range map[string]string{"synchronous": "2", "journal_mode": "wal", "foreign_keys": "1",
		"recursive_triggers": "1"} {
		var got string
		if err := l.write.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %s, %v, want %s", pragma, got, err, want)
		}
	}
	if n := l.write.Stats().MaxOpenConnections; n != 1 {
		t.Errorf("%d connections write", n)
	}
}

func TestConnectionsMakeNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fugu.db")
	db, err := connect(path, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Ping(); err == nil {
		t.Error("connected to a file that does not exist")
	}
}

func TestTwoServersCannotShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fugu.db")
	first := open(t, path, Options{Exclusive: true})
	if _, err := Open(context.Background(), "sqlite:"+path, Options{Exclusive: true}); err == nil ||
		!strings.Contains(err.Error(), "another server") {
		t.Fatalf("a second one: %v", err)
	}
	must(t, first, charge(1)) // and the first is none the worse for it
	looking := open(t, path, Options{ReadOnly: true})
	if got := spent(t, looking, ""); len(got) != 1 {
		t.Errorf("seen from beside: %+v", got)
	}
	must(t, first, charge(2))
	if got := spent(t, looking, ""); len(got) != 1 || got[0].Releases != 2 {
		t.Errorf("seen from beside: %+v", got)
	}
	closeLedger(t, looking)
	closeLedger(t, first)
	closeLedger(t, open(t, path, Options{Exclusive: true}))
}

// raw runs statements on a database file past the ledger, as another program would.
func raw(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// damages are done to a ledger by hand, each with a word of what is said when it is opened.
var damages = []struct{ name, statement, want string }{
	{"less spent", `UPDATE totals SET pure = pure / 2 WHERE secret = 'a'`, "not the sum"},
	{"one bit less spent", `UPDATE totals SET pure = pure - 5e-17 WHERE secret = 'a'`, "not the sum"},
	{"more spent", `UPDATE totals SET pure = 1 WHERE secret = 'a'`, "not the sum"},
	{"less delta", `UPDATE totals SET delta = 0 WHERE secret = 'b'`, "not the sum"},
	{"less kappa2", `UPDATE totals SET kappa2 = 0 WHERE secret = 'b'`, "not the sum"},
	{"fewer releases", `UPDATE totals SET releases = 1 WHERE secret = 'a'`, "not the sum"},
	{"total lost", `DELETE FROM totals WHERE secret = 'b'`, "no total"},
	{"all totals lost", `DELETE FROM totals`, "no total"},
	{"total of nothing", `INSERT INTO totals VALUES ('adult', 'eve', 'a', 0, 0, 0, 1, 0)`, "not the sum"},
	{"total moved to another period", `UPDATE totals SET period = 1 WHERE secret = 'a'`, "not the sum"},
	{"charges moved to another period", `UPDATE charges SET period = 1`, "not the sum"},
	{"charge lost", `DELETE FROM charges WHERE id = (SELECT max(id) FROM charges)`, "not the sum"},
	{"charge lowered", `UPDATE charges SET pure = 0 WHERE id = 1`, "not the sum"},
	{"charge moved", `UPDATE charges SET scope = 'eve' WHERE id = 1`, "not the sum"},
	{"charges moved", `UPDATE charges SET scope = 'eve' WHERE answer = 1`, "not paid for"},
	{"answer not paid for",
		`INSERT INTO answers SELECT 99, replace(key, substr(key, 1, 1), 'f'), dataset, scope, at, epsilon, delta,
			mechanism, assumption, failed, cells, bytes, certificates, sealed, epoch, begun FROM answers LIMIT 1`,
		"not paid for"},
	{"answer lost", `DELETE FROM answers WHERE id = 1`, "not the sum"},
	{"newer schema", `PRAGMA user_version = 99`, "newer fugu"},
	{"no schema version", `PRAGMA user_version = 0`, "unknown schema"},
	{"negative schema version", `PRAGMA user_version = -1`, "unknown schema"},
	{"another application", `PRAGMA application_id = 7`, "not a ledger"},
}

func TestDamageIsFoundWhenOpening(t *testing.T) {
	free := `DROP TRIGGER totals_stay; DROP TRIGGER totals_grow; DROP TRIGGER charges_stay; DROP TRIGGER charges_fixed;
	  DROP TRIGGER answers_stay; DROP TRIGGER answers_fixed; PRAGMA ignore_check_constraints = 1;
	  PRAGMA foreign_keys = 0;`
	losses := map[string]privacy.Loss{"a": {Pure: 0.1}, "b": {Kappa2: 0.01, Delta: 0.001}}
	path := filepath.Join(t.TempDir(), "fugu.db")
	l := open(t, path, Options{})
	for i := range 3 {
		must(t, l, with(charge(i), func(c *Charge) { c.Losses = losses }))
	}
	closeLedger(t, l)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range damages {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "fugu.db")
			if err := os.WriteFile(path, sound, 0o600); err != nil {
				t.Fatal(err)
			}
			raw(t, path, free+tt.statement)
			for _, o := range []Options{{}, {ReadOnly: true}} {
				l, err := Open(context.Background(), "sqlite:"+path, o)
				if err == nil {
					t.Errorf("opened with %+v", o)
					_ = l.Close()
				} else if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v", err)
				}
			}
		})
	}
	t.Run("nothing", func(t *testing.T) { // what the others do to get at the rows is not what is found
		raw(t, path, free)
		closeLedger(t, open(t, path, Options{}))
	})
}

func TestDatabaseRefusesToForget(t *testing.T) {
	l := fresh(t)
	for i := range 2 {
		must(t, l, with(charge(i), func(c *Charge) {
			c.Losses = map[string]privacy.Loss{"a": {Pure: 0.1, Kappa2: 0.01, Delta: 0.001}}
		}))
	}
	for _, s := range []string{
		`DELETE FROM answers`, `DELETE FROM charges`, `DELETE FROM totals`,
		`UPDATE answers SET bytes = x'00'`, `UPDATE charges SET pure = 0`, `UPDATE charges SET user = 'eve'`,
		`UPDATE totals SET pure = 0`, `UPDATE totals SET pure = 0, releases = releases + 1`,
		`UPDATE totals SET kappa2 = 0, releases = releases + 1`, `UPDATE totals SET delta = 0, releases = releases + 1`,
		`UPDATE totals SET releases = releases - 1`,
		`UPDATE totals SET pure = pure + 1`, `UPDATE totals SET period = 1, releases = releases + 1`,
		`UPDATE totals SET scope = 'eve', releases = releases + 1`,
		`INSERT OR REPLACE INTO answers SELECT 1, key, dataset, scope, at, epsilon, delta, mechanism, assumption,
			failed, cells, x'00', certificates, sealed, epoch, begun FROM answers WHERE id = 1`,
		`INSERT OR REPLACE INTO charges SELECT id, answer, scope, secret, user, at, 0, 0, 0, 0 FROM charges`,
		`INSERT OR REPLACE INTO totals SELECT dataset, scope, secret, 0, 0, 0, 1, period FROM totals`,
		`INSERT INTO answers SELECT 9, key, dataset, scope, at, epsilon, delta, mechanism, assumption, failed, cells,
			bytes, certificates, sealed, epoch, begun FROM answers WHERE id = 1`,
		`INSERT INTO charges SELECT 9, answer, scope, secret, user, at, pure, kappa2, delta, period FROM charges
			WHERE id = 1`,
		`INSERT INTO charges SELECT 9, 77, scope, secret, user, at, pure, kappa2, delta, period FROM charges
			WHERE id = 1`,
		`INSERT INTO charges SELECT 9, answer, 'eve', secret, user, at, -1, kappa2, delta, period FROM charges
			WHERE id = 1`,
		`INSERT INTO charges SELECT 9, answer, 'eve', secret, user, at, 9e999, kappa2, delta, period FROM charges
			WHERE id = 1`,
		`INSERT INTO charges SELECT 9, answer, 'eve', secret, user, at, 'free', kappa2, delta, period FROM charges
			WHERE id = 1`,
		`INSERT INTO totals VALUES ('adult', 'eve', 'a', 9e999, 0, 0, 1, 0)`,
		`INSERT INTO totals VALUES ('adult', 'eve', 'a', 0, -1, 0, 1, 0)`,
		`DELETE FROM audit`, `UPDATE audit SET hash = hash`,
		`INSERT OR REPLACE INTO audit SELECT number, '{}', hash FROM audit`,
	} {
		result, err := l.write.Exec(s)
		if err == nil {
			n, _ := result.RowsAffected()
			t.Errorf("%s: %d rows", s, n)
		} else if strings.Contains(err.Error(), "columns") {
			t.Errorf("%s: refused for its form: %v", s, err)
		}
		if _, err := l.read.Exec(s); err == nil {
			t.Errorf("on a reading connection: %s", s)
		}
	}
	if err := l.verify(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := l.read.Exec(`INSERT INTO totals VALUES ('adult', 'eve', 'a', 0, 0, 0, 1, 0)`); err == nil {
		t.Error("a reading connection wrote")
	}
}

func TestFailedWriteReleasesNothing(t *testing.T) {
	ctx := context.Background()
	tests := []struct{ name, breaking, mending string }{
		{"disk full", `PRAGMA max_page_count = 1`, `PRAGMA max_page_count = 1000000`},
		{"read-only", `PRAGMA query_only = 1`, `PRAGMA query_only = 0`},
		{"the total fails last",
			`CREATE TEMP TRIGGER f BEFORE INSERT ON main.totals BEGIN SELECT RAISE(ABORT, 'broken'); END`,
			`DROP TRIGGER f`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := fresh(t)
			paid := must(t, l, charge(1))
			if _, err := l.write.Exec(tt.breaking); err != nil {
				t.Fatal(err)
			}
			c := with(charge(2), func(c *Charge) {
				c.Answer, c.Shares = bytes.Repeat([]byte{1}, 1<<20), shares("alice")
			})
			if a, err := l.Charge(ctx, c); err == nil || a.Bytes != nil {
				t.Errorf("charged: %v", err)
			}
			if _, ok, err := l.Find(ctx, c.Key, "alice"); ok || err != nil {
				t.Errorf("found %v, %v", ok, err)
			}
			if got := spent(t, l, "alice"); len(got) > 0 {
				t.Errorf("spent %+v", got)
			}
			if a, ok, err := l.Find(ctx, key(1), ""); !ok || err != nil || a.ID != paid.ID {
				t.Errorf("what was paid before: %v, %v", ok, err)
			}
			if _, err := l.write.Exec(tt.mending); err != nil {
				t.Fatal(err)
			}
			must(t, l, c)
			if err := l.verify(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// A file of before certificates gets its column when the server opens it; its answers have none, and stay.
func TestMigrationFromTheFirstSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	raw(t, path, migrations[0])
	raw(t, path, `PRAGMA application_id = 1182099317; PRAGMA user_version = 1;
	  INSERT INTO answers VALUES (1, '`+string(key("old"))+`', 'adult', '', 1, 0.25, 0.001, 'expm-laplace',
		'translation', 0, '[]', x'01');
	  INSERT INTO charges VALUES (1, 1, '', 'income', 'alice', 1, 0.25, 0, 0);
	  INSERT INTO totals VALUES ('adult', '', 'income', 0.25, 0, 0, 1);`)
	_ = os.Chmod(path, 0o600)
	if _, err := Open(context.Background(), "sqlite:"+path, Options{ReadOnly: true}); err == nil ||
		!strings.Contains(err.Error(), "an older fugu") {
		t.Errorf("read-only: %v", err)
	}
	l := open(t, path, Options{})
	old, ok, err := l.Find(context.Background(), key("old"), "")
	if err != nil || !ok || old.Certificates != nil || old.Losses["income"].Pure != .25 {
		t.Errorf("%+v, %v, %v", old, ok, err)
	}
	if a := must(t, l, with(charge("new"), func(c *Charge) {
		c.Certificates = certificate()
	})); len(a.Certificates) != 1 {
		t.Errorf("%+v", a)
	}
	closeLedger(t, l)
}
