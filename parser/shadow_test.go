package parser

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// shadowCatalog is the tests' catalog with shadows.
type shadowCatalog struct {
	catalog
	shadows *Shadows
}

func (c shadowCatalog) Shadows() *Shadows { return c.shadows }

func shadowingCatalog(t testing.TB) shadowCatalog {
	t.Helper()
	columns := map[string][]ShadowColumn{
		"pg_class":            {{"oid", "oid"}, {"relname", "name"}, {"relnamespace", "oid"}, {"relpages", "integer"}, {"reltuples", "real"}},
		"pg_stat_user_tables": {{"relid", "oid"}, {"relname", "name"}, {"n_live_tup", "bigint"}},
		"pg_stat_database":    {{"datid", "oid"}, {"datname", "name"}, {"tup_returned", "bigint"}},
		"pg_stat_wal":         {{"wal_bytes", "numeric"}, {"stats_reset", "timestamp with time zone"}},
	}
	s, err := NewShadows([]ShadowRoot{{Schema: "public", Name: "adult", OID: 16400, Rows: 35222}}, columns)
	if err != nil {
		t.Fatal(err)
	}
	return shadowCatalog{adult, s}
}

// Each statement: what the first look says, and the text that the guest gets, the array of masked oids shortened.
func TestShadows(t *testing.T) {
	c := shadowingCatalog(t)
	node, err := template("SELECT " + maskedArray([]ShadowRoot{{Schema: "public", Name: "adult", OID: 16400, Rows: 35222}}))
	if err != nil {
		t.Fatal(err)
	}
	masked, err := (&Statement{root: &pg.RawStmt{Stmt: node}, version: 170007}).deparse()
	if err != nil {
		t.Fatal(err)
	}
	short := strings.NewReplacer(strings.TrimPrefix(masked, "SELECT "), "MASKED", "OPERATOR(pg_catalog.=)", "=", "operator(pg_catalog.=)", "=", "OPERATOR(pg_catalog.<>)", "<>", "pg_catalog.", "")
	datadriven.RunTest(t, "testdata/shadow", func(t *testing.T, d *datadriven.TestData) string {
		if !c.shadows.Mentions(d.Input) {
			return "not mentioned\n"
		}
		statements, err := Parse(d.Input, c)
		if err != nil {
			return show(err)
		}
		var out strings.Builder
		for _, s := range statements {
			if s.Masked && len(s.Cuts) == 0 {
				sql, _, err := s.RewriteShadows()
				if err != nil {
					return show(err)
				}
				out.WriteString(short.Replace(sql) + "\n")
				continue
			}
			out.WriteString(short.Replace(describe(s)))
		}
		return out.String()
	})
}

// FuzzSuspects: in a text that the first look does not suspect there is nothing to shadow and nothing to refuse.
func FuzzSuspects(f *testing.F) {
	c := shadowingCatalog(f)
	seeds := corpora(f)
	for _, name := range slices.Concat(slices.Collect(maps.Keys(shadowed)), slices.Collect(maps.Keys(shadowFunctions)), shadowPrefixNames(), []string{"pg_stat_get_numscans", "ts_rewrite"}) {
		for _, form := range []string{"SELECT * FROM %s", `SELECT 1 FROM "%s" AS x`, "SELECT pg_catalog.%s(1)", `SELECT x."%s"('a', 'b') FROM x`, "SELECT (x).%s, 1%[1]s FROM x", "CREATE CAST (a AS b) WITH FUNCTION %s(a)", "SELECT 1/**/-%s()"} {
			seeds = append(seeds, fmt.Sprintf(form, name), fmt.Sprintf(form, strings.ToUpper(name)))
		}
	}
	for _, sql := range append(seeds, "DO 'x'", "DO\v$$BEGIN END$$", `SELECT U&"pg\005fclass" FROM t`, `SELECT * FROM u&"\0070g_class"`, "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE c AS 'x'") {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		if guard(sql) != nil || c.shadows.Suspects(sql) {
			return
		}
		tree, err := pg.Parse(sql)
		if err != nil {
			return
		}
		for _, raw := range tree.Stmts {
			before := clone(raw.Stmt)
			a := &analysis{src: &source{sql}, catalog: c, stmt: &Statement{root: raw}}
			if err := a.cast(c.shadows); err != nil || a.stmt.Masked || !sameTree(before, raw.Stmt) {
				t.Errorf("%q is not suspected, and %v, masked %v", sql, err, a.stmt.Masked)
			}
		}
	})
}

// What an ordinary statement pays: one pass over its words.
func BenchmarkMentions(b *testing.B) {
	s := shadowingCatalog(b).shadows
	sql := strings.Repeat("SELECT o.id, o.placed_at, sum(l.quantity * l.price) AS total FROM orders AS o JOIN lines AS l ON l.order_id = o.id WHERE o.customer = $1 GROUP BY 1, 2; ", 7)
	b.SetBytes(int64(len(sql)))
	b.ReportAllocs()
	for b.Loop() {
		if s.Mentions(sql) {
			b.Fatal("mentioned")
		}
	}
}
