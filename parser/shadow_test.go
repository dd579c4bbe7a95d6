package parser

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"fugu/parser/shadow"
)

// shadowCatalog is the tests' catalog with shadows.
type shadowCatalog struct {
	catalog
	shadows *shadow.Shadows
}

func (c shadowCatalog) Shadows() *shadow.Shadows { return c.shadows }

func shadowingCatalog(t testing.TB) shadowCatalog {
	t.Helper()
	columns := map[string][]shadow.Column{}
	for relation, list := range map[string]string{
		"pg_class":            "oid oid, relname name, relnamespace oid, relpages integer, reltuples real",
		"pg_stat_user_tables": "relid oid, relname name, n_live_tup bigint",
		"pg_stat_database":    "datid oid, datname name, tup_returned bigint",
		"pg_stat_wal":         "wal_bytes numeric, stats_reset timestamp with time zone",
	} {
		for column := range strings.SplitSeq(list, ", ") {
			name, typ, _ := strings.Cut(column, " ")
			columns[relation] = append(columns[relation], shadow.Column{Name: name, Type: typ})
		}
	}
	s, err := shadow.New([]shadow.Root{{Schema: "public", Name: "adult", OID: 16400, Rows: 35222}}, columns)
	if err != nil {
		t.Fatal(err)
	}
	return shadowCatalog{adult, s}
}

// Each statement: what the first look says, and the text that the guest gets, the list of masked oids shortened.
func TestShadows(t *testing.T) {
	c := shadowingCatalog(t)
	// The list of masked oids is one WITH query, which tells the table by its oid, of this version of PostgreSQL's too.
	// Masks ask it in one way.
	masked := regexp.MustCompile(`"fugu masked oids"\(oid\) AS MATERIALIZED \(SELECT c\.oid FROM ` +
		`pg_catalog\.unnest\(ARRAY\(WITH RECURSIVE m.*?'\{[0-9,]*16400\}'.*?relkind OPERATOR\(pg_catalog\.<>\) 'v'\)`)
	operators := strings.NewReplacer("OPERATOR(pg_catalog.=)", "=", "operator(pg_catalog.=)", "=",
		"OPERATOR(pg_catalog.<>)", "<>", "pg_catalog.", "")
	ask := strings.NewReplacer(`= ANY (SELECT w.oid FROM "fugu masked oids" w)`, "IN MASKED",
		`= ANY (SELECT w.oid FROM "fugu database oids" w)`, "IN DATABASES")
	short := func(sql string) string { return ask.Replace(operators.Replace(masked.ReplaceAllString(sql, "MASKED"))) }
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
				out.WriteString(short(sql) + "\n")
				continue
			}
			out.WriteString(short(describe(s)))
		}
		return out.String()
	})
}

// What an ordinary statement pays: one pass over its words.
func BenchmarkMentions(b *testing.B) {
	s := shadowingCatalog(b).shadows
	sql := strings.Repeat("SELECT o.id, o.placed_at, sum(l.quantity * l.price) AS total FROM orders AS o JOIN lines "+
		"AS l ON l.order_id = o.id WHERE o.customer = $1 GROUP BY 1, 2; ", 7)
	b.SetBytes(int64(len(sql)))
	b.ReportAllocs()
	for b.Loop() {
		if s.Mentions(sql) {
			b.Fatal("mentioned")
		}
	}
}
