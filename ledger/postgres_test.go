package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fugu/privacy"
	"fugu/test/pgcluster"
)

// as runs statements on a ledger's database past the ledger.
func as(t testing.TB, role string, p place, statements ...string) error {
	t.Helper()
	config, err := pgx.ParseConfig(string(p))
	if err != nil {
		t.Fatal(err)
	}
	config.User = role
	config.RuntimeParams["search_path"] = postgresSchema
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, s := range statements {
		if _, err := conn.Exec(t.Context(), s, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

func TestPostgresDamageIsFoundWhenOpening(t *testing.T) {
	p := inDatabase(t)
	l := p.open(t, Options{})
	losses := map[string]privacy.Loss{"a": {Pure: 0.1}, "b": {Kappa2: 0.01, Delta: 0.001}}
	for i := range 3 {
		must(t, l, with(charge(i), func(c *Charge) { c.Losses = losses }))
	}
	closeLedger(t, l)
	const free = `SET session_replication_role = replica` // neither triggers nor foreign keys
	for _, tt := range []struct{ name, statement, want string }{
		{"less spent", `UPDATE totals SET pure = pure / 2 WHERE secret = 'a'`, "not the sum"},
		{"one bit less spent", `UPDATE totals SET pure = pure - 5e-17 WHERE secret = 'a'`, "not the sum"},
		{"fewer releases", `UPDATE totals SET releases = 1 WHERE secret = 'a'`, "not the sum"},
		{"total lost", `DELETE FROM totals WHERE secret = 'b'`, "no total"},
		{"charge lost", `DELETE FROM charges WHERE id = (SELECT max(id) FROM charges)`, "not the sum"},
		{"charge lowered", `UPDATE charges SET pure = 0 WHERE secret = 'a'`, "not the sum"},
		{"charges moved", `UPDATE charges SET scope = 'eve' WHERE answer = 1`, "not paid for"},
		{"answer lost", `DELETE FROM answers WHERE id = 1`, "not the sum"},
		{"newer schema", `UPDATE version SET version = 99`, "newer fugu"},
		{"another application", `UPDATE version SET application = 'x'`, "not a ledger"},
		{"no version", `DROP TABLE version`, "not a ledger"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			copied := inCopy(t, p)
			if err := as(t, "postgres", copied, free, tt.statement); err != nil {
				t.Fatal(err)
			}
			l, err := Open(context.Background(), string(copied), Options{})
			if err == nil {
				_ = l.Close()
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
	// What the others do to get at the rows is not what is found.
	closeLedger(t, inCopy(t, p).open(t, Options{ReadOnly: true}))
}

// A schema that somebody else can change holds no ledger, whether it was there before or changed hands.
func TestPostgresInForeignHands(t *testing.T) {
	for name, setup := range map[string]string{
		"made before": `CREATE SCHEMA fugu_ledger AUTHORIZATION fugu_planter;
			GRANT ALL ON SCHEMA fugu_ledger TO PUBLIC`,
		"open to all": `CREATE SCHEMA fugu_ledger AUTHORIZATION fugu_ledger;
			GRANT CREATE ON SCHEMA fugu_ledger TO PUBLIC`,
		"a table": `CREATE SCHEMA fugu_ledger AUTHORIZATION fugu_ledger; CREATE TABLE fugu_ledger.version ();
			ALTER TABLE fugu_ledger.version OWNER TO fugu_planter`,
		"a right to write": `CREATE SCHEMA fugu_ledger AUTHORIZATION fugu_ledger; CREATE TABLE fugu_ledger.version ();
			GRANT UPDATE ON fugu_ledger.version TO fugu_planter`,
		"a function": `CREATE SCHEMA fugu_ledger AUTHORIZATION fugu_ledger;
			CREATE FUNCTION fugu_ledger.f() RETURNS int LANGUAGE sql RETURN 1;
			ALTER FUNCTION fugu_ledger.f OWNER TO fugu_planter`,
	} {
		t.Run(name, func(t *testing.T) {
			p := inDatabase(t)
			if err := as(t, "postgres", p, `DO $$ BEGIN CREATE ROLE fugu_planter; EXCEPTION
				WHEN duplicate_object THEN NULL; END $$`, setup); err != nil {
				t.Fatal(err)
			}
			for _, o := range []Options{{}, {ReadOnly: true}} {
				l, err := Open(t.Context(), string(p), o)
				if err == nil {
					_ = l.Close()
				}
				if err == nil || !strings.Contains(err.Error(), "can change the schema fugu_ledger") {
					t.Errorf("%+v: %v", o, err)
				}
			}
		})
	}
}

// A guest that holds the lock under which the schema is made keeps nobody from a ledger that is there.
func TestPostgresOpensBesideAGuestsLock(t *testing.T) {
	p := inDatabase(t)
	closeLedger(t, p.open(t, Options{}))
	if _, err := asAnybody(t, p).Exec(t.Context(), "SELECT pg_advisory_lock($1)", application); err != nil {
		t.Fatal(err)
	}
	closeLedger(t, p.open(t, Options{}))
}

// Not even the ledger's own role changes what stands there, and no other role reads it.
func TestPostgresRefusesToForget(t *testing.T) {
	p := inDatabase(t)
	l := p.open(t, Options{})
	must(t, l, with(charge(1), func(c *Charge) {
		c.Losses = map[string]privacy.Loss{"a": {Pure: 0.1, Kappa2: 0.01, Delta: 0.001}}
	}))
	for _, s := range []string{
		`DELETE FROM answers`, `DELETE FROM charges`, `DELETE FROM totals`, `TRUNCATE answers CASCADE`,
		`TRUNCATE charges`, `TRUNCATE totals`,
		`UPDATE answers SET bytes = 'x'`, `UPDATE charges SET pure = 0`, `UPDATE charges SET "user" = 'eve'`,
		`UPDATE charges SET pure = pure`,
		`UPDATE totals SET pure = 0`, `UPDATE totals SET pure = 0, releases = releases + 1`,
		`UPDATE totals SET releases = releases - 1`,
		`UPDATE totals SET pure = pure + 1`, `UPDATE totals SET period = 1, releases = releases + 1`,
		`UPDATE totals SET scope = 'eve', releases = releases + 1`,
		`INSERT INTO totals VALUES ('adult', '', 'a', 0, 0, 0, 1, 0)
			ON CONFLICT (dataset, period, scope, secret) DO UPDATE SET pure = 0`,
		`INSERT INTO totals VALUES ('adult', 'eve', 'a', 'infinity', 0, 0, 1)`,
		`INSERT INTO totals VALUES ('adult', 'eve', 'a', 'NaN', 0, 0, 1)`,
		`INSERT INTO totals VALUES ('adult', 'eve', 'a', 0, -1, 0, 1)`,
		`INSERT INTO charges (answer, scope, secret, "user", at, pure, kappa2, delta)
			VALUES (1, 'eve', 'a', 'eve', 1, -1, 0, 0)`,
		`INSERT INTO charges (answer, scope, secret, "user", at, pure, kappa2, delta)
			VALUES (77, 'eve', 'a', 'eve', 1, 1, 0, 0)`,
	} {
		if as(t, "fugu_ledger", p, s) == nil {
			t.Errorf("done: %s", s)
		}
	}
	if err := as(t, "postgres", p, `CREATE ROLE fugu_stranger LOGIN`); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{`SELECT * FROM fugu_ledger.answers`, `SELECT * FROM fugu_ledger.totals`,
		`LOCK TABLE fugu_ledger.totals`} {
		if as(t, "fugu_stranger", p, s) == nil {
			t.Errorf("a stranger's: %s", s)
		}
	}
	if err := l.verify(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := l.read.Exec(`INSERT INTO totals VALUES ('adult', 'eve', 'a', 0, 0, 0, 1, 0)`); err == nil {
		t.Error("a reading connection wrote")
	}
}

// A server that forgets commits in a crash is none for a ledger.
func TestPostgresMustSync(t *testing.T) {
	c := pgcluster.StartTest(t, pgcluster.Options{})
	l, err := Open(t.Context(), c.DSN("postgres", "postgres"), Options{})
	if err == nil {
		_ = l.Close()
		t.Fatal("opened with fsync off")
	}
	if !strings.Contains(err.Error(), "fsync off") {
		t.Error(err)
	}
}

func TestPostgresMissing(t *testing.T) {
	if _, err := Open(t.Context(), string(inDatabase(t)), Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read-only and missing: %v", err)
	}
}

// A charge whose connection is cut while it waits has written nothing, and waits again on a new one; one that is cut
// while it writes has booked nothing, says so, and the lock is free.
func TestPostgresConnectionLost(t *testing.T) {
	p := inDatabase(t)
	l, other := p.open(t, Options{}), p.open(t, Options{})
	must(t, l, charge(0))
	cut := func(where string, then func()) (err error) {
		done := make(chan error)
		go func() {
			_, err := l.Charge(context.Background(), charge(1))
			done <- err
		}()
		for n := 0; n == 0; time.Sleep(time.Millisecond) {
			err := other.again(t.Context(), func() error {
				return other.read.QueryRow(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
					AND ` + where).Scan(&n)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		// Whoever holds the lock is left alone: who waits for it would have it before its own end.
		if err := as(t, "postgres", p,
			`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()
			  AND datname = current_database() AND (state = 'idle' OR `+where+`)`); err != nil {
			t.Fatal(err)
		}
		then()
		return <-done
	}
	const slow = `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql
	  AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END';
	  CREATE TRIGGER slow BEFORE UPDATE ON totals FOR EACH ROW EXECUTE FUNCTION slow()`
	if err := as(t, "postgres", p, slow); err != nil {
		t.Fatal(err)
	}
	if err := cut(`wait_event = 'PgSleep'`, func() {}); err == nil {
		t.Error("charged on a connection that was cut")
	}
	if _, ok, err := l.Find(t.Context(), key(1), ""); ok || err != nil {
		t.Errorf("found %v, %v", ok, err)
	}
	if err := as(t, "postgres", p, `DROP TRIGGER slow ON totals`); err != nil {
		t.Fatal(err)
	}
	_, _, end, err := other.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := cut(`wait_event_type = 'Lock'`, end); err != nil {
		t.Errorf("cut while it waited: %v", err)
	}
	must(t, other, charge(2))
	if got := spent(t, other, ""); got[0].Releases != 3 {
		t.Errorf("%+v", got)
	}
}

// The server is killed amid charges: what was given is there when it is up again, and charging goes on.
func TestPostgresServerKilled(t *testing.T) {
	c := pgcluster.StartTest(t, pgcluster.Options{Fsync: true})
	l := place(c.DSN("postgres", "postgres")).open(t, Options{})
	given := make(chan Key, 1_000_000)
	done := make(chan error)
	go func() {
		for n := 0; ; n++ {
			x := with(charge(n), func(c *Charge) { c.Limit.Epsilon = 1e6 })
			if _, err := l.Charge(context.Background(), x); err != nil {
				done <- err
				return
			}
			given <- x.Key
		}
	}()
	for len(given) < 20 {
		time.Sleep(time.Millisecond)
	}
	c.Kill()
	if err := <-done; err == nil {
		t.Error("charging goes on without a server")
	}
	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(given)
	n := 0
	for k := range given {
		n++
		if _, ok, err := l.Find(t.Context(), k, ""); !ok || err != nil {
			t.Fatalf("an answer that was given is not there: %v", err)
		}
	}
	if got := spent(t, l, ""); got[0].Releases != n && got[0].Releases != n+1 {
		t.Errorf("%d answers were given, %d are booked", n, got[0].Releases)
	}
	must(t, l, with(charge("after"), func(c *Charge) { c.Limit.Epsilon = 1e6 }))
	if err := l.verify(t.Context()); err != nil {
		t.Error(err)
	}
}
