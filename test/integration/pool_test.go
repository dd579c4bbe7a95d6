package integration

import (
	"context"
	"fmt"
	"strings"
	stdsync "sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/wire"
)

func pooling(size int) func(*wire.Config) {
	return func(c *wire.Config) { c.Pool, c.MaxClients = wire.Pool{Size: size, Wait: hang}, 300 }
}

// Many clients ask protected and ordinary questions through few guests, prepared and not; each has its own settings.
func TestPool(t *testing.T) {
	const size, clients = 3, 12
	db := adultDatabase(t)
	f := serve(t, options{limits: pooling(size)})
	const protected = "SELECT count(*), $1::int FROM adult WHERE sex = 'Male'"
	var want int
	conns := make([]*pgx.Conn, clients)
	for i := range conns {
		conns[i] = f.connect(t)
	}
	if err := conns[0].QueryRow(t.Context(), protected, 0).Scan(&want, new(int)); err != nil {
		t.Fatal(err)
	}
	var all stdsync.WaitGroup
	for i, c := range conns {
		all.Go(func() {
			for round := range 2 {
				var n, own int
				if err := c.QueryRow(t.Context(), protected, i).Scan(&n, &own); err != nil || n != want || own != i {
					t.Errorf("client %d is told %d and %d, not %d: %v", i, n, own, want, err)
				}
				if err := c.QueryRow(t.Context(), "SELECT $1::int + 1", pgx.QueryExecMode(1+i%5),
					i).Scan(&own); err != nil || own != i+1 {
					t.Errorf("client %d is told %d: %v", i, own, err)
				}
				tx, err := c.Begin(t.Context())
				if err == nil {
					_, err = tx.Exec(t.Context(), fmt.Sprintf("SET LOCAL fugu.confidence = '0.%d'", 50+i))
				}
				var confidence string
				if err == nil {
					err = tx.QueryRow(t.Context(), "SHOW fugu.confidence").Scan(&confidence)
				}
				if err != nil || confidence != fmt.Sprintf("0.%d", 50+i) {
					t.Errorf("client %d has confidence %s: %v", i, confidence, err)
				}
				if err := tx.Commit(t.Context()); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			}
		})
	}
	all.Wait()
	// One whose connection was closed is PostgreSQL's for a moment more.
	truth := db.truth(t)
	eventually(t, func() bool {
		return rows(t, truth, fmt.Sprintf("SELECT count(*) BETWEEN 1 AND %d FROM pg_stat_activity "+
			"WHERE usename = 'fugu_guest'", size)) == "[\"t\"]\n"
	}, fmt.Sprint("there are no more than ", size, " guests"))
}

// A client's settings of Fugu's, however it makes them, hold for it and for nobody else.
func TestPoolSettings(t *testing.T) {
	db := adultDatabase(t)
	if err := db.cluster.Exec(t.Context(), "adult", `CREATE FUNCTION quietly() RETURNS text LANGUAGE plpgsql AS
		'BEGIN RETURN set_config(''fu''||''gu.epsilon'', ''0.25'', false); END'`); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.cluster.Exec(context.Background(), "adult", "DROP FUNCTION quietly()") })
	for _, set := range []string{"SET fugu.epsilon = '0.25'", "SELECT set_config('fugu.epsilon', '0.25', false)",
		"SELECT quietly()"} {
		f := serve(t, options{limits: pooling(2)})
		a, b, c := f.connect(t), f.connect(t), f.connect(t)
		epsilon := func(c *pgx.Conn) string {
			return strings.TrimSpace(rows(t, c, "SHOW fugu.epsilon", pgx.QueryExecModeSimpleProtocol))
		}
		before := epsilon(b)
		rows(t, a, set, pgx.QueryExecModeSimpleProtocol)
		for range 3 {
			if got := epsilon(b); got != before {
				t.Errorf("%s of another client makes it %s", set, got)
			}
			if got := epsilon(c); got != before {
				t.Errorf("%s of another client makes it %s", set, got)
			}
			if got := epsilon(a); got != `["0.25"]` {
				t.Errorf("after %s it is %s", set, got)
			}
		}
	}
}

// Users of a pool keep their own logins and roles, whatever they SET.
func TestPoolUsers(t *testing.T) {
	db := adultDatabase(t)
	analystRoles(t, db)
	if _, err := db.truth(t).Exec(t.Context(), "GRANT analyst_bob TO fugu_guest"); err != nil {
		t.Fatal(err)
	}
	role := config(t, db.cluster.DSN("fugu_guest", "adult"))
	role.RuntimeParams["role"] = "analyst_bob"
	o := options{limits: pooling(2)}
	o.guests = map[string]*pgconn.Config{"alice": config(t, db.cluster.DSN("analyst_alice", "adult")), "bob": role}
	f := serve(t, o)
	is := map[string]string{"alice": "analyst_alice", "bob": "analyst_bob", "carol": "fugu_guest", "dave": "fugu_guest"}
	conns := map[string]*pgx.Conn{}
	for user := range is {
		conns[user] = connect(t, f.dsn(user))
	}
	for range 5 {
		for user, c := range conns {
			if got := rows(t, c, "SELECT current_user", pgx.QueryExecModeExec); got != `["`+is[user]+"\"]\n" {
				t.Errorf("%s is %s", user, got)
			}
			if _, err := c.Exec(t.Context(), "BEGIN; SET LOCAL ROLE NONE; COMMIT",
				pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Error(err)
			}
		}
	}
}
