package integration

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/internal/hook"
	"fugu/pipeline"
	"fugu/test/patient"
	"fugu/upstream"
	"fugu/wire"
)

// serveBeside serves the database doors, which holds protected rows, and beside it one without any: by the masks of
// several databases, or, for comparison, direct.
func serveBeside(t *testing.T) (direct, through string) {
	t.Helper()
	db := doorsDatabase(t)
	if err := db.cluster.Exec(t.Context(), "postgres", "DROP DATABASE IF EXISTS beside WITH (FORCE)"); err != nil {
		t.Fatal(err)
	}
	if err := db.cluster.CreateDatabase(t.Context(), "beside", ""); err != nil {
		t.Fatal(err)
	}
	reader, err := upstream.OpenReader(db.cluster.DSN("fugu_reader", "beside"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	snapshot, err := pipeline.Load(t.Context(), nil, reader, "doors")
	if err != nil {
		t.Fatal(err)
	}
	direct = db.cluster.DSN("fugu_guest", "beside")
	guest, err := pgconn.ParseConfig(direct)
	if err != nil {
		t.Fatal(err)
	}
	f := serve(t, options{guest: db.cluster.DSN("fugu_guest", "doors"), reader: db.cluster.DSN("fugu_reader", "doors"),
		wrapEngine: func(own wire.Engine) wire.Engine {
			return pipeline.NewDatabases(map[string]*pipeline.Engine{"doors": own.(*pipeline.Engine),
				"beside": pipeline.New(guest, reader, nil, snapshot, slog.New(slog.DiscardHandler))})
		}})
	return direct, strings.Replace(f.dsn("alice"), "/adult", "/beside", 1)
}

// besides are statements that tell something of protected rows from another database of the server.
var besides = []string{
	"SELECT pg_database_size('doors')",
	"SELECT pg_database_size(oid) FROM pg_database WHERE datname = 'doors'",
	"SELECT pg_catalog.pg_database_size(datname) FROM pg_database WHERE datname = 'doors'",
	"SELECT tup_returned, tup_updated, blks_hit FROM pg_stat_database WHERE datname = 'doors'",
	"SELECT to_jsonb(d) - 'numbackends' FROM pg_stat_database d WHERE datname = 'doors'",
	"SELECT pg_stat_get_db_tuples_returned(oid), pg_stat_get_db_blocks_fetched(oid), " +
		"pg_stat_get_db_tuples_updated(oid) FROM pg_database WHERE datname = 'doors'",
	"SELECT sum(pg_database_size(datname)) FROM pg_database WHERE datname LIKE 'door%'",
	"TABLE pg_stat_wal",
}

// From a database without protected rows the catalog tells nothing of those in another one.
func TestSideDoorsFromBeside(t *testing.T) {
	patient.Test(t)
	if hook.Unmasked {
		t.Skip("the masks are off")
	}
	direct, through := serveBeside(t)
	// Of what PostgreSQL itself tells only these have to be there; TestSideDoorsSweep counts the others.
	list := func(dsn string) map[string]string {
		out, c := map[string]string{}, connect(t, dsn)
		for _, sql := range besides {
			out[sql] = look(t, c, sql)
		}
		return out
	}
	all := func(dsn string) map[string]string {
		out := sweep(t, dsn)
		maps.Copy(out, list(dsn))
		return out
	}
	disturb(t)
	open, masked := list(direct), all(through)
	disturb(t)
	openAfter, maskedAfter := list(direct), all(through)
	for _, sql := range slices.Sorted(maps.Keys(masked)) {
		if masked[sql] != maskedAfter[sql] {
			t.Errorf("%s: tells of protected rows\n%s", sql, firstDifference(masked[sql], maskedAfter[sql]))
		}
	}
	for _, sql := range besides {
		if open[sql] == openAfter[sql] {
			t.Errorf("%s: PostgreSQL itself tells nothing by it, so it tests nothing: %s", sql, open[sql])
		}
		if contains(masked[sql], "PV001") || contains(masked[sql], "42601") {
			t.Errorf("%s: %s", sql, masked[sql])
		}
	}
	t.Logf("%d statements tell the same", len(masked))
}

// Locks on relations of a database with protected rows are not shown in another one, and its own are.
func TestLocksFromBeside(t *testing.T) {
	direct, through := serveBeside(t)
	truth := connect(t, doors.cluster.DSN("postgres", "doors"))
	for _, sql := range []string{"BEGIN", "SELECT 1 FROM adult WHERE age = 30 FOR UPDATE"} {
		if _, err := truth.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	defer func() { _, _ = truth.Exec(context.WithoutCancel(t.Context()), "ROLLBACK") }()
	const there = "SELECT count(*) > 0 FROM pg_locks l JOIN pg_database d ON d.oid = l.database " +
		"WHERE d.datname = 'doors' AND l.relation IS NOT NULL"
	const here = "SELECT count(*) > 0 FROM pg_locks l JOIN pg_database d ON d.oid = l.database " +
		"WHERE d.datname = current_database() AND l.relation IS NOT NULL"
	if got := look(t, connect(t, direct), there); !strings.HasSuffix(got, `["t"]`) {
		t.Errorf("PostgreSQL itself shows no locks: %s", got)
	}
	c := connect(t, through)
	if got := look(t, c, there); !strings.HasSuffix(got, `["f"]`) {
		t.Errorf("locks are shown: %s", got)
	}
	if got := look(t, c, here); !strings.HasSuffix(got, `["t"]`) {
		t.Errorf("own locks are not shown: %s", got)
	}
}

// What is refused in a database with protected rows is refused beside it, too; Fugu's own tables have nothing to tell
// there.
func TestRefusedBeside(t *testing.T) {
	patient.Test(t)
	_, through := serveBeside(t)
	c := connect(t, through)
	for _, sql := range []string{"SELECT * FROM dblink('dbname=doors', 'SELECT 1') AS t(a int)",
		"SELECT query_to_xml('SELECT 1', true, true, '')", "SELECT pg_read_file('x')",
		"SELECT pg_stat_get_activity(NULL)", "DO $$ BEGIN EXECUTE 'SELECT 1'; END $$", "CREATE FUNCTION pg_temp.f() " +
			"RETURNS int LANGUAGE plpython3u AS 'x'", "SELECT pg_stat_get_io()"} {
		if got := look(t, c, sql); !contains(got, "PV001") {
			t.Errorf("%s: %s", sql, got)
		}
	}
	for sql, want := range map[string]string{"SELECT count(*) FROM fugu.budget": `["0"]`,
		"SELECT count(*) FROM fugu.policy": `["0"]`, "SELECT current_database()": `["beside"]`,
		"SELECT reltuples >= -1 FROM pg_class WHERE relname = 'pg_class'": `["t"]`, "CREATE TEMP TABLE own AS " +
			"SELECT 1 AS a; SELECT pg_relation_size('own') > 0": `["t"]`} {
		if got := look(t, c, sql); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s", sql, got)
		}
	}
}
