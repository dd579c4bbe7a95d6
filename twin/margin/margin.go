// Package margin reads the public statistics of a policy that speak of tables with a twin: the number of rows of each
// combination of values of some columns, which everybody knows. Package twin, which reads no SQL, refines classes by
// them.
//
// One form is read, SELECT a, b, count(*) FROM t GROUP BY a, b, once for a table: a full cross-table of its columns.
// For other statistics no law is known that is worth its noise. Who knows several margins that are no cross-table, or
// the exact sum of a column, knows something of how the cells of different margins go together, or of rows of all
// classes at once; they are refused, and not left out.
package margin

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser"
	"fugu/policy"
	"fugu/twin"
)

const form = "of a table with a twin, counts by columns of its own can be public: " +
	"write SELECT a, b, count(*) FROM t GROUP BY a, b, once, with the count of every combination that has rows"

// Spec is what the law of a table's twin depends on: what twin.FromPolicy reads, with the policy's public statistics.
func Spec(p *policy.Policy, table policy.QualifiedName, nullable func(secret string) bool) (twin.Spec, error) {
	public, err := Of(p, table)
	if err != nil {
		return twin.Spec{}, err
	}
	return twin.FromPolicy(p, table, public, nullable)
}

// Of is what the policy says that everybody knows of a table with a twin of its own: nil, if nothing but how many rows
// it has. A statistic that may speak of the table, and has another form than can be counted, is an error.
func Of(p *policy.Policy, table policy.QualifiedName) (*twin.Public, error) {
	var out *twin.Public
	for _, pub := range p.Public {
		ours, err := OfTwin(p, pub)
		if err != nil {
			return nil, err
		}
		if !ours {
			continue
		}

		// What is known of other tables, or only of how many rows there are, says nothing here.
		about, cells, err := read(p, pub)

		if err == nil && about == table && len(cells.Columns) > 0 {
			if out != nil {
				err = errors.New("two tables of counts are known, and not how they go together: write one by all of " +
					"their columns, if everybody knows that; else no twin hides the secret from who knows both")
			}
			out = cells
		}

		if err != nil {
			return nil, at(p, pub, err)
		}
	}
	return out, nil
}

func at(p *policy.Policy, pub policy.Public, err error) error {
	return p.Misfit(pub.At, "public statistic %s: %w", pub.Name, err)
}

// OfTwin reports whether a public statistic may speak of a table that has a twin: it does not, if all relations that it
// names are tables of the policy that are answered with noise.
func OfTwin(p *policy.Policy, pub policy.Public) (bool, error) {
	named, err := relations(pub.Statement.SQL)
	if err != nil {
		return false, at(p, pub, err)
	}
	noise := func(name policy.QualifiedName) bool {
		t, ok := p.Table(name)
		return ok && t.Answers != policy.FromTwin
	}
	twins := slices.ContainsFunc(p.Tables, func(t policy.Table) bool { return t.Answers == policy.FromTwin })
	other := func(name policy.QualifiedName) bool { return !noise(name) }
	return twins && (len(named) == 0 || slices.ContainsFunc(named, other)), nil
}

// relations lists what a statement names as relations, at any depth.
func relations(sql string) (out []policy.QualifiedName, err error) {
	text, err := pg.ParseToJSON(sql)
	if err != nil {
		return nil, fmt.Errorf("reading its statement: %w", err)
	}
	var tree any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		return nil, err
	}

	// Whatever the statement is, a relation is a node with a name of one.
	var walk func(node any)
	walk = func(node any) {
		switch x := node.(type) {
		case []any:
			for _, n := range x {
				walk(n)
			}
		case map[string]any:
			if name, ok := x["relname"].(string); ok {
				schema, _ := x["schemaname"].(string)
				out = append(out, qualified(schema, name))
			}
			for _, n := range x {
				walk(n)
			}
		}
	}

	walk(tree)
	return out, nil
}

// qualified is a relation's name as policies mean it.
func qualified(schema, name string) policy.QualifiedName {
	if schema == "" {
		schema = "public"
	}
	return policy.QualifiedName{Schema: schema, Name: name}
}

// read reads a statistic's table and cells: without columns, if it is the number of all rows, as the policy has it.
func read(p *policy.Policy, pub policy.Public) (table policy.QualifiedName, cells *twin.Public, err error) {
	table, columns, err := shape(pub.Statement.SQL)
	if err != nil {
		return table, nil, err
	}
	t, ok := p.Table(table)
	switch {
	case !ok:
		return table, nil, fmt.Errorf("%s is not a table of the policy: %s", table, form)
	case t.Answers != policy.FromTwin:
		return table, nil, errors.New(form)
	case t.Link != nil:
		return table, nil, fmt.Errorf("rows of %s go with those of %s, and what is known of them "+
			"cannot be counted: %s", table, t.Link.To, form)
	}

	cells = &twin.Public{Columns: columns}
	for _, v := range pub.Values {
		cell, err := cellOf(v, columns)
		if err != nil {
			return table, nil, err
		}
		if cell.Rows > 0 { // a cell without rows has no class, and a row of it is found by the build
			cells.Cells = append(cells.Cells, cell)
		}
	}

	// Counts that do not add up to the table's rows would be about other rows.
	if total := cells.Rows(); total != t.Rows {
		return table, nil, fmt.Errorf("it has %d rows in all, and the table %d: %s", total, t.Rows, form)
	}
	return table, cells, nil
}

// shape reads the one form of statement: what is printed of it is the same as what is printed of that form.
func shape(sql string) (table policy.QualifiedName, columns []string, err error) {
	bad := errors.New(form)
	tree, err := pg.Parse(sql)
	if err != nil || len(tree.Stmts) != 1 {
		return table, nil, bad
	}
	s := tree.Stmts[0].Stmt.GetSelectStmt()
	if s == nil || len(s.FromClause) != 1 || s.FromClause[0].GetRangeVar() == nil {
		return table, nil, bad
	}

	var quoted []string
	for _, g := range s.GroupClause {
		fields := g.GetColumnRef().GetFields()
		if len(fields) != 1 || fields[0].GetString_() == nil {
			return table, nil, bad
		}
		column := fields[0].GetString_().Sval
		if slices.Contains(columns, column) {
			return table, nil, bad
		}
		columns, quoted = append(columns, column), append(quoted, parser.QuoteIdent(column))
	}

	// What it would be printed as, were it of the one form, with these names.
	from := s.FromClause[0].GetRangeVar()
	name := parser.QuoteIdent(from.Relname)
	if from.Schemaname != "" {
		name = parser.QuoteIdent(from.Schemaname) + "." + name
	}
	plain := "SELECT " + strings.Join(append(slices.Clone(quoted), "count(*)"), ", ") + " FROM " + name
	if len(columns) > 0 {
		plain += " GROUP BY " + strings.Join(quoted, ", ")
	}

	want, err := printed(plain)
	if err != nil {
		return table, nil, bad
	}
	if got, err := printed(sql); err != nil || got != want {
		return table, nil, bad
	}
	return qualified(from.Schemaname, from.Relname), columns, nil
}

func printed(sql string) (string, error) {
	tree, err := pg.Parse(sql)
	if err != nil {
		return "", err
	}
	return pg.Deparse(tree)
}

// cellOf reads a component, "count(*) at a=x, b=y", and its value. The text NULL is the null.
func cellOf(v policy.PublicValue, columns []string) (c twin.Cell, err error) {
	bad := func(why string) (twin.Cell, error) {
		return c, fmt.Errorf("%q: %s", v.Component, why)
	}
	if c.Rows, err = strconv.ParseInt(v.Value, 10, 64); err != nil || c.Rows < 0 {
		return bad("a number of rows is whole, and not below 0")
	}

	// Values are not quoted, so that each ends where the next column's name begins, which must be in one place only.
	rest, ok := strings.CutPrefix(v.Component, "count(*)")
	lead := " at "
	for i, column := range columns {
		found := false
		for _, name := range []string{column, parser.QuoteIdent(column)} {
			if text, cut := strings.CutPrefix(rest, lead+name+"="); cut && !found {
				rest, found = text, true
			}
		}

		ok, lead = ok && found, ", "
		value := rest
		if i+1 < len(columns) {
			next := lead + columns[i+1] + "="
			if strings.Count(rest, next) == 0 {
				next = lead + parser.QuoteIdent(columns[i+1]) + "="
			}
			if strings.Count(rest, next) != 1 {
				return bad("it does not say where one value ends and the next one begins")
			}
			value = rest[:strings.Index(rest, next)]
		}

		rest = rest[len(value):]
		if value == "NULL" {
			c.Values = append(c.Values, policy.Value{IsNull: true})
		} else {
			c.Values = append(c.Values, policy.Value{Text: value})
		}
	}

	if !ok || rest != "" {
		want := "count(*)"
		if len(columns) > 0 {
			want += " at " + strings.Join(columns, "=..., ") + "=..."
		}
		return bad("write the component as " + want)
	}
	return c, nil
}
