package lex_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fugu/parser"
	"fugu/parser/lex"
)

// asked notes the names that the parser looks for.
type asked map[string]bool

func (a asked) Ordinary(string, string) (parser.Table, error) {
	return parser.Table{}, errors.New("no ordinary tables")
}

func (a asked) Table(_, name string) (parser.Table, bool) {
	a[name] = true
	return parser.Table{}, false
}

// Wherever the parser finds a name, in whatever spelling, the words do: random statements.
func TestWordsFindWhatTheParserFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	templates := []string{"SELECT * FROM %s", "SELECT(1)FROM %s", "SELECT 1 FROM/**/%s", "TABLE %s",
		"SELECT 'x'FROM public.%s", "SELECT 1 FROM a,%s", "SELECT 1 FROM x JOIN(%s)USING(y)",
		"SELECT*FROM%s", "DELETE FROM ONLY%s", "INSERT INTO%s VALUES(1)", "SELECT 1FROM%s",
		"WITH c AS(TABLE%s)SELECT 1", "SELECT $$ $$FROM%s", "DROP TABLE%s", "SELECT 1 FROM db.public.%s;SELECT $1",
		"SELECT 1.FROM %s"}
	found := 0
	for range 20_000 {
		name := lex.Names[r.IntN(len(lex.Names))]
		sql := fmt.Sprintf(templates[r.IntN(len(templates))], lex.Spell(r, name))
		a := asked{}
		if _, err := parser.Parse(sql, a); err != nil || !a[name] {
			continue
		}
		found++
		if !lex.NewWords(name).In(sql) {
			t.Fatalf("%s: %q is taken for ordinary", name, sql)
		}
	}
	if found < 10_000 {
		t.Errorf("the parser found the name in %d of 20000 statements only", found)
	}
}

// FuzzWords: no text lex.Names a table that the words do not see.
func FuzzWords(f *testing.F) {
	for _, sql := range []string{`SELECT U&"\0061dult" FROM a$b`, `SELECT 1 FROM "Order Lines", ADULT`,
		"SELECT 1e5adult FROM Käufer", "SELECT $1 FROM x.t2 -- adult", "TABLE " + strings.Repeat("n", 70)} {
		f.Add(sql)
	}
	all := lex.NewWords(lex.Names...)
	f.Fuzz(func(t *testing.T, sql string) {
		a := asked{}
		if _, err := parser.Parse(sql, a); err != nil {
			return
		}
		for _, n := range lex.Names {
			if a[n] && !(all.In(sql) && lex.NewWords(n).In(sql)) {
				t.Errorf("%q is taken for ordinary, and lex.Names %q", sql, n)
			}
		}
	})
}
