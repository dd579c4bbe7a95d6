package planner

import (
	"strconv"
	"strings"

	"fugu/parser"
	"fugu/sqlstate"
)

// domainSQL composes a statement whose rows are all the values that a key can have, in their order: what follows from
// the declared domains of the columns in it, from ordinary tables, or from the form of the expression. No protected row
// has a part in it.
func (b *Bound) domainSQL(i int) (string, error) {
	parts, err := b.images(b.forms.keys[i], b.Keys[i])
	if err != nil {
		return "", err
	}
	all := "SELECT DISTINCT v FROM (" + strings.Join(parts, " UNION ") + ") AS u"
	return "SELECT v::pg_catalog.text FROM (" + all + ") AS d ORDER BY v", nil
}

// images are statements whose rows together are the values of e.
func (b *Bound) images(e parser.Expr, k Key) ([]string, error) {
	// Of columns whose values are known it has the values that it has of them.
	if from, ok, err := b.preimage(e, k); err != nil {
		return nil, err
	} else if ok {
		sql := "SELECT " + b.valueOf(e, k) + " AS v"
		if from != "" {
			sql += " FROM " + from
		}
		if f := b.filters(e); from != "" && len(f) > 0 {
			sql += " WHERE " + forms{where: f}.whereSQL(b.number)
		}
		return []string{sql}, nil
	}

	// Otherwise its form may tell them: it is one of several results, or a cast of something.
	if results := resultsOf(e); results != nil {
		var out []string
		for _, r := range results {
			parts, err := b.images(r, k)
			if err != nil {
				return nil, err
			}
			out = append(out, parts...)
		}
		return out, nil
	}
	if c, ok := e.(parser.Cast); ok {
		if parts, err := b.images(c.X, k); err == nil {
			return parts, nil
		}
	}

	// Whether what has values by its form can be NULL is as public as the reference.
	null := "SELECT NULL::" + k.Type + " FROM " + b.from(true) + " WHERE (" + b.sql(e) + ") IS NULL"
	if bucket, ok := e.(parser.Func); ok && bucket.Name == "width_bucket" {
		last := "LEAST(" + b.sql(bucket.Args[3]) + ", " + strconv.Itoa(maxCells) + ") + 1"
		series := "pg_catalog.generate_series(0, " + last + ") AS b(v)"
		return []string{"SELECT CAST(v AS " + k.Type + ") FROM " + series, null}, nil
	}
	if k.Type == "pg_catalog.bool" {
		return []string{"SELECT v FROM pg_catalog.unnest('{f,t}'::pg_catalog.bool[]) AS b(v)", null}, nil
	}
	return nil, b.undeclared(e, k)
}

// resultsOf are the expressions of which CASE and COALESCE have one's value; nil for others.
func resultsOf(e parser.Expr) []parser.Expr {
	switch e := e.(type) {
	case parser.Case:
		var results []parser.Expr
		for _, w := range e.Whens {
			results = append(results, w.Result)
		}
		if e.Else == nil {
			e.Else = parser.Const{}
		}
		return append(results, e.Else)
	case parser.Call:
		if e.Name == "COALESCE" {
			return e.Args
		}
	}
	return nil
}

// undeclared refuses an expression as a key, and names the column that keeps it from being one.
func (b *Bound) undeclared(e parser.Expr, k Key) error {
	// The first column without declared values is the one to name.
	var col *parser.Column
	parser.Walk(e, func(e parser.Expr) {
		if x, ok := e.(parser.Column); ok && col == nil {
			if t := b.sources.tables[x.Rel]; t != nil && t.Domains[x.Name] == nil {
				col = &x
			}
		}
	})

	// Each reason is told in the words of what the client wrote: mode() speaks of public values, and a key of groups.
	if col == nil && k.mode {
		return sqlstate.New(sqlstate.NotAnswerable,
			"mode() is answered for public values, and those of %s are not known", k.Label).
			WithHint("%s", b.Table.Groupable()).At(k.position)
	}
	if col == nil {
		return sqlstate.New(sqlstate.NotAllowed, "the values that %s can have are not known", k.Label).
			WithHint("%s", b.Table.Groupable()).At(k.position)
	}

	t := b.sources.tables[col.Rel]
	if c, ok := t.Calendars[col.Name]; ok {
		return tooFine(c, t, *col)
	}
	if k.mode {
		return sqlstate.New(sqlstate.NotAnswerable,
			"mode() is answered for public values, and the policy declares none for column %s of %s", col.Name, t).
			WithHint("%s %s", declarable, t.Groupable()).At(k.position)
	}
	return sqlstate.New(sqlstate.NotAllowed, "the policy declares no public values for column %s of %s", col.Name, t).
		WithHint("%s %s", declarable, t.Groupable()).At(max(col.Position, 1))
}

// declarable is what the owner of a policy can do about a column that has no public values: whoever asks cannot.
const declarable = "The owner of the policy can declare them, under group_by: a list, a range, or reference."
