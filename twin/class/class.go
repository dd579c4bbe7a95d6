// Package class writes in SQL of which class a row is, for the law of a twin: for the build, which counts the rows of
// each class, and for statements on a twin, whose error depends on how their rows divide over the classes. It runs
// nothing.
package class

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser"
	"fugu/parser/tree"
	"fugu/policy"
	"fugu/twin"
)

// Of is the SQL of a row's class: its index in twin.Design.Classes, NULL for a row of none.
func Of(spec twin.Spec) string {
	sql := cell(spec.Public)
	for _, s := range spec.Secrets {
		sql = fmt.Sprintf("(%s) * %d + (%s)", sql, s.Outcomes(), outcome(s))
	}
	return sql
}

// outcome is the SQL of a secret's outcome in a row, by its index; of a predicate that is never NULL, NULL is false.
func outcome(s twin.Secret) string {
	if s.Categories == "" {
		otherwise := strconv.Itoa(twin.False)
		if s.Nullable {
			otherwise = fmt.Sprintf("CASE WHEN (%s) IS NULL THEN %d ELSE %d END", s.Proportion, twin.Null, twin.False)
		}
		return fmt.Sprintf("CASE WHEN (%s) THEN %d ELSE %s END", s.Proportion, twin.True, otherwise)
	}
	cases := make([]string, len(s.Values))
	for i, v := range s.Values {
		cases[i] = fmt.Sprintf("WHEN %s THEN %d", isValue(s.Categories, v), i)
	}
	// A value that the policy does not list is of no class, and counting ends with an error that says so.
	return "CASE " + strings.Join(cases, " ") + " END"
}

// cell is the SQL of the public cell of a row: its index. A row of none is of no class, and counting ends with an
// error.
func cell(p *twin.Public) string {
	if p == nil {
		return "0"
	}
	var cases []string
	for i, c := range p.Cells {
		cases = append(cases, fmt.Sprintf("WHEN %s THEN %d", inCell(p, c), i))
	}
	return "CASE " + strings.Join(cases, " ") + " END"
}

func inCell(p *twin.Public, c twin.Cell) string {
	var values []string
	for j, v := range c.Values {
		values = append(values, isValue(p.Columns[j], v))
	}
	return strings.Join(values, " AND ")
}

// isValue is the SQL of a column having a value.
func isValue(column string, v policy.Value) string {
	if v.IsNull {
		return parser.QuoteIdent(column) + " IS NULL"
	}
	return parser.QuoteIdent(column) + " = " + parser.QuoteLiteral(v.Text)
}

// Conditions returns the classes of a spec by their names, each with the condition that its rows fulfil. It returns
// none if these columns alone do not tell the class of a row, because other columns or another table are needed as
// well.
func Conditions(spec twin.Spec, columns []string) ([]parser.Class, error) {
	classes, err := spec.Classes()
	if err != nil {
		return nil, nil // more than a law can have: if every predicate could be NULL, which not all can
	}
	var out []parser.Class
	for _, c := range classes {
		var all []string
		if spec.Public != nil {
			all = append(all, inCell(spec.Public, spec.Public.Cells[c.Cell]))
		}
		for i, s := range spec.Secrets {
			all = append(all, hasOutcome(s, c.Outcomes[i]))
		}

		// One class that these columns do not tell is enough for none of them to be of use.
		where := strings.Join(all, " AND ")
		if alone, err := readsOnly(where, columns); err != nil || !alone {
			return nil, err
		}
		out = append(out, parser.Class{Name: c.Name, Where: where})
	}
	return out, nil
}

// hasOutcome is the SQL of a row having an outcome of a secret.
func hasOutcome(s twin.Secret, outcome int) string {
	switch {
	case s.Categories != "":
		return isValue(s.Categories, s.Values[outcome])
	case outcome == twin.Null:
		return "(" + s.Proportion + ") IS NULL"
	case outcome == twin.False && s.Nullable:
		return "(" + s.Proportion + ") IS FALSE"
	case outcome == twin.False:
		return "(" + s.Proportion + ") IS NOT TRUE"
	}
	return "(" + s.Proportion + ")"
}

// readsOnly reports whether a condition reads these columns, by their bare names, and nothing else.
func readsOnly(condition string, columns []string) (bool, error) {
	alone := true
	err := inspect(condition, func(m proto.Message) bool {
		switch x := m.(type) {
		case *pg.ColumnRef:
			alone = alone && len(x.Fields) == 1 && slices.Contains(columns, x.Fields[0].GetString_().GetSval())
		case *pg.SubLink:
			alone = false
		}
		return alone
	})
	return alone && err == nil, err
}

// inspect walks the tree of a condition, for as long as visit returns true.
func inspect(condition string, visit func(proto.Message) bool) error {
	parsed, err := pg.Parse("SELECT (" + condition + ")")
	if err != nil {
		return fmt.Errorf("reading the condition of a class: %w", err)
	}
	tree.Inspect(parsed.Stmts[0].Stmt, visit)
	return nil
}

// Reads reports whether the class of a row depends on a column, by a secret's condition or by what is public. In doubt
// it says yes, as Mentions does.
func Reads(spec twin.Spec, table, column string) (bool, error) {
	return Mentions(Of(spec), table, column)
}

// Mentions reports whether a condition on a table reads one of the columns. In doubt it says yes: a column's name is
// taken for the column wherever it stands, and the table's name for all of its columns. An error means that the text is
// no condition.
func Mentions(condition, table string, columns ...string) (bool, error) {
	reads := false
	err := inspect(condition, func(m proto.Message) bool {
		var names []*pg.Node
		switch x := m.(type) {
		case *pg.ColumnRef:
			names = x.Fields
			reads = reads || names[len(names)-1].GetString_().GetSval() == table
		case *pg.A_Indirection:
			names = x.Indirection
		case *pg.A_Star:
			reads = true
		}

		// Any name may be the column's: what is not known is taken for yes.
		for _, n := range names {
			reads = reads || slices.Contains(columns, n.GetString_().GetSval())
		}
		return !reads
	})
	return reads, err
}
