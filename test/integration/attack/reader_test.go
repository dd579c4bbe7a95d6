//go:build fuguhooks

package attack

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fugu/internal/hook"
)

const scanned = "SELECT count(*) FROM customer WHERE income = 'high'"

// What the reader's work leaves in counters that PostgreSQL shows to everybody, if Fugu did not mask them: how many
// entries of an index its scan returned.
func TestIndexCounters(t *testing.T) {
	entries := func(w world) float64 {
		f := serve(t, w, options{})
		root := w.as(t, "postgres")
		run(t, root, "SELECT pg_stat_reset()")
		number(t, f.connect(t, ""), scanned)
		f.counted(t, root, "seq_scan + idx_scan")
		n, _ := number(t, w.as(t, "fugu_guest"), "SELECT idx_tup_read + idx_tup_fetch FROM pg_stat_user_indexes "+
			"WHERE indexrelname = 'customer_income'")
		return n
	}
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.ReaderIndexes)
		if a, b := entries(worlds[0]), entries(worlds[1]); a != 800 || b != 1000 {
			t.Errorf("the index returned %g and %g entries: it is no test of the defence", a, b)
		}
	})
	t.Run("defence on", func(t *testing.T) {
		if a, b := entries(worlds[0]), entries(worlds[1]); a != b {
			t.Errorf("the index returned %g and %g entries", a, b)
		}
	})
}

// looped has PostgreSQL read an ordinary table once for each customer with a high income: to its planner all these
// conditions together hold for one, so that it joins by a nested loop.
const looped = "SELECT count(*) FROM customer c JOIN plain p ON p.region = c.region WHERE c.income = 'high' " +
	"AND c.income || '' = 'high' AND c.income || 'a' = 'higha' AND lower(c.income) = 'high'"

// readCounts are what PostgreSQL shows to everybody of how often an ordinary table was read, and how far.
var readCounts = []string{
	"SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'plain'",
	"SELECT seq_tup_read FROM pg_stat_all_tables WHERE relid = 'plain'::regclass",
	"SELECT s.seq_scan + s.n_tup_ins * 0 FROM pg_catalog.pg_stat_user_tables AS s WHERE s.relname = 'plain'",
	"SELECT (to_jsonb(s) ->> 'seq_scan')::int FROM pg_stat_user_tables s WHERE relname = 'plain'",
	"SELECT heap_blks_hit FROM pg_statio_user_tables WHERE relname = 'plain'",
	"SELECT pg_stat_get_numscans('plain'::regclass)",
	"SELECT pg_stat_get_tuples_returned(oid) FROM pg_class WHERE relname = 'plain'",
	"SELECT pg_stat_get_blocks_fetched('plain'::regclass::oid)",
	"SELECT pg_stat_get_blocks_hit('plain'::regclass)",
}

// The counters of an ordinary table say for how many protected rows it was read: exactly, whatever the noise.
func TestCountersOfOrdinaryTables(t *testing.T) {
	told := func(w world) (told []string) {
		f, root := serve(t, w, options{}), w.as(t, "postgres")
		run(t, root, "ANALYZE customer, plain")
		run(t, root, "SELECT pg_stat_reset()")
		number(t, f.connect(t, ""), looped)
		f.counted(t, root, "seq_scan")
		c := f.connect(t, "bob")
		for _, sql := range readCounts {
			x, err := value(t, c, sql)
			told = append(told, fmt.Sprint(x, " ", err))
		}
		return told
	}
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.ScansCounted, &hook.ReadLazily)
		a, b := told(worlds[0]), told(worlds[1])
		for i, sql := range readCounts {
			if t.Logf("%s: %s and %s", sql, a[i], b[i]); a[i] == b[i] {
				t.Errorf("%s: %s in both worlds: it is no test of the defence", sql, a[i])
			}
		}
	})
	t.Run("defence on", func(t *testing.T) {
		a, b := told(worlds[0]), told(worlds[1])
		for i, sql := range readCounts {
			if a[i] != b[i] {
				t.Errorf("%s: %s and %s", sql, a[i], b[i])
			}
		}
	})
}

// lookedInto are statements by which PostgreSQL reads an ordinary table as far as customers with a high income ask it
// to: once for each, until the one who asks for most has found something, or only if there is one.
var lookedInto = []string{
	looped,
	"SELECT count(*) FROM customer c WHERE c.income = 'high' AND EXISTS (SELECT FROM steps s WHERE s.step >= c.id)",
	"SELECT count(*) FROM customer c JOIN steps s ON s.step = c.id WHERE c.income = 'high' AND c.id BETWEEN 450 AND " +
		"460",
	"SELECT count(*) FROM customer c WHERE c.income = 'high' AND c.id > 450 AND c.id IN (SELECT step FROM steps)",
}

// What the reader has read of ordinary tables is in the server's memory for everybody to see, block by block, by
// EXPLAIN (ANALYZE, BUFFERS). PostgreSQL's own counters, of which clients are shown none, say whether it is the same.
func TestOrdinaryTablesAreReadWhole(t *testing.T) {
	for _, sql := range lookedInto {
		readAlike(t, worlds, sql, func(w world) []string {
			f, root := serve(t, w, options{}), w.as(t, "postgres")
			run(t, root, "DROP TABLE IF EXISTS steps; CREATE TABLE steps AS SELECT generate_series(1, 20000) AS step")
			defer run(t, root, "DROP TABLE steps")
			run(t, root, "GRANT SELECT ON steps TO PUBLIC")
			run(t, root, "ANALYZE customer, plain, steps")
			return f.readings(t, root, sql, scansOf("plain"), scansOf("steps"))
		})
	}
}

// readAlike checks that what is read for a statement is the same in two worlds, and is not if tables are read as far as
// rows ask for it.
func readAlike(t *testing.T, both [2]world, sql string, read func(w world) []string) {
	t.Helper()
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.ReadLazily)
		if a, b := read(both[0]), read(both[1]); slices.Equal(a, b) {
			t.Errorf("%s: %s in both worlds: it is no test of the defence", sql, a)
		} else {
			t.Log(a, b)
		}
	})
	t.Run("defence on", func(t *testing.T) {
		if a, b := read(both[0]), read(both[1]); !slices.Equal(a, b) {
			t.Errorf("%s: %s and %s", sql, a, b)
		}
	})
}

// readings are what PostgreSQL's own counters, asked for by queries, say of what the reader reads for a statement.
func (f *fugu) readings(t *testing.T, root *pgx.Conn, sql string, counters ...string) (counted []string) {
	t.Helper()
	run(t, root, "SELECT pg_stat_reset()")
	number(t, f.connect(t, ""), sql)
	f.counted(t, root, "seq_scan")
	for _, c := range counters {
		x, err := value(t, root, c)
		counted = append(counted, fmt.Sprint(x, " ", err))
	}
	return counted
}

// scansOf asks how often a table was read, and how many rows of it, in one number.
func scansOf(table string) string {
	return "SELECT seq_scan * 1e9 + seq_tup_read FROM pg_stat_user_tables WHERE relname = '" + table + "'"
}

// counted ends the reader, whose sessions report what they counted before they are gone from pg_stat_activity, relation
// by relation. Then PostgreSQL has counted the scans of customers, and whatever else they read.
func (f *fugu) counted(t *testing.T, root *pgx.Conn, scans string) {
	t.Helper()
	f.reader.Close()
	if waitFor(t, root, "SELECT (count(*) = 0)::int::float8 FROM pg_stat_activity WHERE usename = 'fugu_reader' "+
		"AND datname = current_database()") == 0 {
		t.Fatal("the reader's sessions do not end")
	}
	if waitFor(t, root, "SELECT ("+scans+")::float8 FROM pg_stat_user_tables WHERE relname = 'customer'") == 0 {
		t.Fatal("the scan was not counted")
	}
}

// waitFor asks until the number is above 0, or it hangs.
func waitFor(t *testing.T, c *pgx.Conn, sql string) float64 {
	t.Helper()
	for end := time.Now().Add(hang); ; time.Sleep(20 * time.Millisecond) {
		x, err := value(t, c, sql)
		if err != nil {
			t.Fatal(err)
		}
		if x > 0 || time.Now().After(end) {
			return x
		}
	}
}

// What the reader's work takes: a scan of the whole table, whatever the condition, and not the part of it that an index
// selects. What an expression costs on the rows that reach it is bounded: see TestSlowStatements.
func TestScanCost(t *testing.T) {
	plan := func(w world) string {
		f := serve(t, w, options{})
		x, err := f.preview(t.Context(), scanned)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := f.reader.Query(t.Context(), "EXPLAIN (ANALYZE, TIMING off, SUMMARY off, COSTS off) "+
			x[0].Cuts[0].Below, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, r := range rows {
			lines = append(lines, r[0].Text)
		}
		return strings.Join(lines, "\n")
	}
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.ReaderIndexes)
		if p := plan(worlds[0]); !strings.Contains(p, "Index") {
			t.Errorf("no index is used: it is no test of the defence\n%s", p)
		}
	})
	t.Run("defence on", func(t *testing.T) {
		for _, w := range worlds {
			if p := plan(w); !strings.Contains(p, "Seq Scan on customer") || strings.Contains(p, "Index") {
				t.Errorf("%d:\n%s", w.rich, p)
			}
		}
	})
}

// BenchmarkExpensiveExpression measures what the bound of costs and the grid are for: how much longer a statement takes
// in the world where more rows reach an expensive expression.
func BenchmarkExpensiveExpression(b *testing.B) {
	product := strings.Repeat("spend * ", 600) + "1"
	off(b, &hook.NoStored, &hook.NoCharge, &hook.DearRows)
	for _, w := range worlds {
		c := serve(b, w, options{}).connect(b, "")
		b.Run(w.database, func(b *testing.B) {
			for b.Loop() {
				if _, err := value(b, c, "SELECT count(*) FROM customer WHERE CASE WHEN income = 'high' THEN "+product+
					" > 7 END"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
