package parser

import (
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
	s, err := NewShadows([]ShadowRoot{{"public", "adult", 16400, 35222}}, columns)
	if err != nil {
		t.Fatal(err)
	}
	return shadowCatalog{adult, s}
}

// Each statement: what the first look says, and the text that the guest gets, the array of masked oids shortened.
func TestShadows(t *testing.T) {
	c := shadowingCatalog(t)
	node, err := template("SELECT " + maskedArray([]ShadowRoot{{"public", "adult", 16400, 35222}}))
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
				sql, err := s.RewriteShadows()
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
