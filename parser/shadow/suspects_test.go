package shadow

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// written are the statements of the parser's own tests.
func written(t testing.TB) (texts []string) {
	t.Helper()
	files, err := filepath.Glob("../testdata/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "\n\n") {
			_, sql, _ := strings.Cut(part, "\n")
			sql, _, _ = strings.Cut(sql, "\n----")
			texts = append(texts, sql)
		}
	}
	return texts
}

func castOn(p *pass, s *Shadows) error {
	found, err := p.suspect(s)
	if err != nil {
		return err
	}
	return found.cast()
}

// FuzzSuspects: in a text that the first look does not suspect there is nothing to shadow and nothing to refuse.
func FuzzSuspects(f *testing.F) {
	s, err := New([]Root{{Schema: "public", Name: "adult", OID: 16400, Rows: 35222}}, map[string][]Column{
		"pg_class": {{"oid", "oid"}, {"relname", "name"}, {"relnamespace", "oid"}, {"relpages", "integer"},
			{"reltuples", "real"}},
		"pg_stat_user_tables": {{"relid", "oid"}, {"relname", "name"}, {"n_live_tup", "bigint"}},
	})
	if err != nil {
		f.Fatal(err)
	}
	seeds := written(f)
	names := slices.Concat(slices.Collect(maps.Keys(shadowed)), slices.Collect(maps.Keys(shadowFunctions)),
		shadowPrefixNames(),
		[]string{"pg_stat_get_numscans", "ts_rewrite"})
	for _, name := range names {
		for _, form := range []string{"SELECT * FROM %s", `SELECT 1 FROM "%s" AS x`, "SELECT pg_catalog.%s(1)",
			`SELECT x."%s"('a', 'b') FROM x`, "SELECT (x).%s, 1%[1]s FROM x",
			"CREATE CAST (a AS b) WITH FUNCTION %s(a)",
			"SELECT 1/**/-%s()"} {
			seeds = append(seeds, fmt.Sprintf(form, name), fmt.Sprintf(form, strings.ToUpper(name)))
		}
	}
	for _, sql := range append(seeds, "DO 'x'", "DO\v$$BEGIN END$$",
		`SELECT U&"pg\005fclass" FROM t`, `SELECT * FROM u&"\0070g_class"`,
		"CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE c AS 'x'") {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		if len(sql) > 4096 || s.Suspects(sql) {
			return
		}
		parsed, err := pg.Parse(sql)
		if err != nil {
			return
		}
		for _, raw := range parsed.Stmts {
			before := tree.Clone(raw.Stmt)
			p := &pass{Statement: Statement{Root: raw.Stmt, Text: sql}}
			if err := castOn(p, s); err != nil || p.changed || !proto.Equal(before, raw.Stmt) {
				t.Errorf("%q is not suspected, and %v, changed %v", sql, err, p.changed)
			}
		}
	})
}
