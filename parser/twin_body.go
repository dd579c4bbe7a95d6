package parser

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

// function puts twins in the text of a function's body, or of a DO block, where it is in SQL. In other languages it is
// not read: there the twin can be called by its own name.
func (t *twinning) function(options []*pg.Node) error {
	language, code := tree.Code(options)
	named := t.words(code)
	for _, table := range named {
		t.use(table, 0)
	}
	if len(named) == 0 {
		return nil
	}
	if language != "sql" {
		return t.otherLanguage(named, code)
	}

	parsed, err := pg.Parse(code)
	if err != nil {
		return nil // the server says what is wrong with it
	}

	t.changed, t.inBody = false, true
	defer func() { t.inBody = false }()
	for _, s := range parsed.Stmts {
		// Names that a statement of the body makes are not followed.
		if err := t.walk(s.Stmt, nil); err != nil {
			return err
		}
	}
	if !t.changed {
		return nil
	}

	// A string within a string: no edit can say it.
	t.loose = true
	for _, s := range parsed.Stmts {
		spellable(s.Stmt)
	}
	sql, err := pg.Deparse(parsed)
	if err == nil {
		var same bool
		if same, err = tree.Reads(sql, parsed); err == nil && same {
			replaceBody(options, sql)
			return nil
		}
	}
	return sqlstate.New(sqlstate.NotAnswerable, "the function's body cannot be rewritten without changing its meaning").
		WithHint("Write %s.%s in it.", TwinSchema, QuoteIdent(named[0].Name)).Because(err).At(max(1, t.stmt.first))
}

// otherLanguage refuses a body that speaks of a table by a name that the server would not take for the twin.
func (t *twinning) otherLanguage(named []Table, code string) error {
	scan, err := pg.Scan(code)
	if err != nil {
		return nil
	}
	for i, token := range scan.Tokens {
		for _, table := range named {
			if !t.says(code, token, table.Name) || i >= 2 && t.says(code, scan.Tokens[i-2], TwinSchema) {
				continue
			}
			return sqlstate.New(sqlstate.NotAnswerable,
				"in the body of a function that is not in SQL, %s would not mean the twin", table.Name).
				WithHint("Write %s.%s in it, or the function in SQL.", TwinSchema, QuoteIdent(table.Name)).
				At(max(1, t.stmt.first))
		}
	}
	return nil
}

// words lists the tables whose names stand in a code as identifiers. One that cannot be read may name all of them.
func (t *twinning) words(code string) (named []Table) {
	scan, err := pg.Scan(code)
	if err != nil {
		return nil // neither PL/pgSQL nor SQL reads it
	}
	seen := map[string]bool{}
	for _, token := range scan.Tokens {
		name := identifier(code[token.Start:token.End])
		if table, ok := t.catalog.Twin("", name); ok && !seen[name] {
			seen[name] = true
			named = append(named, table)
		}
	}
	return named
}

// says reports whether a token is an identifier.
func (t *twinning) says(code string, token *pg.ScanToken, name string) bool {
	return identifier(code[token.Start:token.End]) == name
}

// identifier is the name that a token stands for, if it stands for one.
func identifier(token string) string {
	if inner, ok := strings.CutPrefix(token, `"`); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`)
	}
	return asciiLower(token)
}

// asciiLower folds as PostgreSQL folds identifiers.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r | 0x20
		}
		return r
	}, s)
}

// replaceBody gives a function another text.
func replaceBody(options []*pg.Node, sql string) {
	for _, n := range options {
		d := n.GetDefElem()
		if d.GetDefname() != "as" {
			continue
		}
		s := d.Arg.GetString_()
		if l := d.Arg.GetList(); l != nil {
			s = l.Items[len(l.Items)-1].GetString_()
		}
		s.Sval = sql
	}
}
