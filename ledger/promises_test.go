package ledger

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// tamperedPromises are changes of promises; what makes room for a wider one is found when the ledger is opened.
var tamperedPromises = []tampering{
	{"the newest left out", `DELETE FROM promises WHERE entry = 4`},
	{"all left out", `DELETE FROM promises`},
	{"another text", `UPDATE promises SET bytes = (SELECT bytes FROM promises WHERE entry = 1)`},
	{"the two in each other's place", `UPDATE promises SET entry = -entry; UPDATE promises SET entry = 5 + entry`},
	{"of another table", `UPDATE promises SET "table" = 'public.other'`},
	{"of another dataset", `UPDATE promises SET dataset = 'census'`},
	{"of another period", `UPDATE promises SET period = 1`},
	{"made at another time", `UPDATE promises SET at = at + 1`},
	{"one that nobody made",
		`INSERT INTO promises SELECT 5, dataset, period, "table", at, bytes, sealed FROM promises WHERE entry = 1`},
}

// What was promised cannot be changed, added or left out: the next charge would not count what was told.
func TestTamperedPromisesAreFound(t *testing.T) {
	fill := func(t *testing.T, p place) {
		l := p.open(t, Options{})
		must(t, l, promising(1, 0, "wide"))   // entries 1 and 2
		must(t, l, promising(2, 1))           // 3
		must(t, l, promising(3, 1, "narrow")) // 4 and 5
		closeLedger(t, l)
	}
	t.Run("SQLite", func(t *testing.T) {
		for _, tt := range append(tamperedPromises, tampering{}) {
			p := inFile(t)
			fill(t, p)
			path := strings.TrimPrefix(string(p), "sqlite:")
			if tt.name != "" && !strings.HasPrefix(tt.statement, "INSERT") && byHand(path, tt.statement) == nil {
				t.Errorf("%q: the database let it through", tt.name)
			}
			raw(t, path, `PRAGMA foreign_keys = 0; DROP TRIGGER promises_stay; DROP TRIGGER promises_fixed;`+
				tt.statement)
			if opens(p) != (tt.name == "") {
				t.Errorf("%q: opened %t", tt.name, tt.name != "")
			}
		}
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		p := inDatabase(t)
		fill(t, p)
		for _, tt := range append(tamperedPromises, tampering{}) {
			copied := inCopy(t, p)
			if tt.name != "" && !strings.HasPrefix(tt.statement, "INSERT") &&
				as(t, "fugu_ledger", copied, tt.statement) == nil {
				t.Errorf("%q: the database let it through", tt.name)
			}
			if err := as(t, "postgres", copied, `SET session_replication_role = replica`, tt.statement); err != nil {
				t.Fatal(err)
			}
			if opens(copied) != (tt.name == "") {
				t.Errorf("%q: opened %t", tt.name, tt.name != "")
			}
		}
	})
}

// byHand changes a ledger's file as the database lets it be changed.
func byHand(path, statement string) error {
	db, err := connect(path, 1, nil)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.Exec(statement)
	return err
}

// Promises go with a ledger from store to store, into a backup, and through compacting; sealed ones are in nobody's
// sight.
func TestPromisesTravel(t *testing.T) {
	for name, o := range map[string]Options{"open": {}, "sealed": {Key: lock32(1)}} {
		t.Run(name, func(t *testing.T) {
			l := inFile(t).open(t, o)
			must(t, l, promising(1, 0, "a wide promise"))
			must(t, l, promising(2, 1, "a narrow promise"))
			want, err := l.Promised(t.Context(), "adult", 0)
			if err != nil || len(want.Tables) != 1 {
				t.Fatalf("%+v, %v", want, err)
			}
			if _, err := l.Compact(t.Context(), now().Add(day), why); err != nil {
				t.Fatal(err)
			}
			backup := filepath.Join(t.TempDir(), "backup")
			if _, err := l.Backup(t.Context(), backup); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(backup)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(text, []byte("a narrow promise")) != (o.Key == nil) {
				t.Error("the promise is to be read exactly where the ledger is not sealed")
			}
			for _, p := range []place{inDatabase(t), inFile(t)} {
				var out bytes.Buffer
				if _, err := l.Export(t.Context(), &out); err != nil {
					t.Fatal(err)
				}
				if _, err := Import(t.Context(), string(p), o, &out); err != nil {
					t.Fatal(err)
				}
				closeLedger(t, l)
				l = p.open(t, o)
				if got, err := l.Promised(t.Context(), "adult", 0); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%+v, %v; want %+v", got, err, want)
				}
			}
			if _, err := l.Charge(t.Context(), promising(3, 0, "wider")); !errors.Is(err, ErrPromised) {
				t.Errorf("charged: %v", err)
			}
			closeLedger(t, l)
			closeLedger(t, open(t, backup, o))
		})
	}
}

// A server of the version before this one, which makes no promises, charges nothing more once a newer one has taken the
// ledger over, though its statements are prepared already.
func TestOlderServersChargeNoMore(t *testing.T) {
	const lastPeriod = `SELECT dataset, number, began, at, cause FROM periods WHERE dataset = $1
	  ORDER BY number DESC LIMIT 1`
	everywhere(t, func(t *testing.T, p place) {
		undone(t, p)
		db := olderServer(t, p)
		charging, err := db.PrepareContext(t.Context(), lastPeriod)
		if err != nil {
			t.Fatal(err)
		}
		read := func() error {
			rows, err := charging.QueryContext(t.Context(), "adult")
			if err == nil {
				rows.Next()
				err = errors.Join(rows.Err(), rows.Close())
			}
			return err
		}
		if err := read(); err != nil {
			t.Fatal(err)
		}
		closeLedger(t, p.open(t, Options{}))
		if err := read(); err == nil || !strings.Contains(err.Error(), "cause") {
			t.Errorf("it goes on: %v", err)
		}
	})
}

// undone makes a ledger one of the version before this, which nothing was promised in.
func undone(t *testing.T, p place) {
	t.Helper()
	closeLedger(t, p.open(t, Options{}))
	version := fmt.Sprintf(`PRAGMA user_version = %d`, len(migrations)-1)
	if p.remote() {
		version = fmt.Sprintf(`UPDATE version SET version = %d`, len(postgresMigrations)-1)
	}
	const undo = `DROP TABLE promises; ALTER TABLE periods RENAME COLUMN reason TO cause; `
	if _, err := olderServer(t, p).ExecContext(t.Context(), undo+version); err != nil {
		t.Fatal(err)
	}
}

// olderServer is a connection of a server to a ledger, of whatever version that is.
func olderServer(t *testing.T, p place) *sql.DB {
	t.Helper()
	var db *sql.DB
	if p.remote() {
		config, err := pgx.ParseConfig(string(p))
		if err != nil {
			t.Fatal(err)
		}
		config.RuntimeParams["search_path"] = postgresSchema
		db = stdlib.OpenDB(*config)
	} else {
		var err error
		if db, err = connect(strings.TrimPrefix(string(p), "sqlite:"), 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}
