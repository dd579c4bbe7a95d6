package parser

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// Each word in angle brackets, which are taken out, begins a node of the client's: its place in the rewritten text is
// brought back to where it stood. What the mask brought along has no place.
func TestPlaces(t *testing.T) {
	c := shadowingCatalog(t)
	for _, marked := range []string{
		"SELECT <nothing>, n_live_tup FROM pg_stat_user_tables",
		"SELECT   n_live_tup,  'ü' AS x, <missing>(1) FROM pg_stat_user_tables",
		"SELECT 1 AS u; SELECT 'ü', pg_relation_size('a'), <nothing> ; SELECT 2",
		"SELECT n_live_tup FROM pg_stat_user_tables AS s WHERE ((s.relname  = <nothing>))",
		"SELECT n_live_tup FROM pg_stat_user_tables JOIN <missing> USING (relid)",
		"INSERT INTO <missing> SELECT n_live_tup FROM pg_stat_user_tables",
		"-- first\n/* second */ SELECT n_live_tup + CAST(1 AS <wrong>) FROM pg_stat_user_tables",
	} {
		word := marked[strings.Index(marked, "<")+1 : strings.Index(marked, ">")]
		sql := strings.NewReplacer("<", "", ">", "").Replace(marked)
		want := int32(utf8.RuneCountInString(sql[:strings.Index(sql, word)]) + 1)
		statements, err := Parse(sql, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range statements {
			if !s.Masked {
				continue
			}
			text, places, err := s.RewriteShadows()
			if err != nil {
				t.Fatal(err)
			}
			now := int32(utf8.RuneCountInString(text[:strings.Index(text, word)]) + 1)
			if got := places.At(now); got != want {
				t.Errorf("%s: %d is brought to %d, want %d: %s", marked, now, got, want, text)
			}
			if i := strings.Index(text, "pg_inherits"); i >= 0 {
				if got := places.At(int32(utf8.RuneCountInString(text[:i]) + 1)); got != 0 {
					t.Errorf("%s: a part of the mask is brought to %d", marked, got)
				}
			}
		}
	}
}

// An error about a whole statement points at its first word.
func TestStatementBegins(t *testing.T) {
	c := shadowingCatalog(t)
	for sql, want := range map[string]string{
		"SELECT 'ü';\n -- a comment\n /* and /* another */ */ DO $$ BEGIN EXECUTE 'pg_class'; END $$": "DO",
		"DO $$ BEGIN EXECUTE 'pg_class'; END $$":                                                      "DO",
		"SELECT 1;EXECUTE p(pg_relation_size('a'))":                                                   "EXECUTE",
	} {
		_, err := Parse(sql, c)
		position := utf8.RuneCountInString(sql[:strings.Index(sql, want)]) + 1
		if err == nil || !strings.Contains(show(err), fmt.Sprintf("at %d:", position)) {
			t.Errorf("%s: %v, want it at %d", sql, show(err), position)
		}
	}
}
