package parser

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/sqlstate"
)

// ParsePredicate reads a condition over the columns of one table: the predicate of a secret. It may use what may stand
// in the WHERE of a cut, without parameters. Positions in its errors count from the condition's first character.
func ParsePredicate(condition string, table Table) (Expr, error) {
	const prefix = "SELECT ("
	sql := prefix + condition + "\n)"
	if err := guard(sql); err != nil {
		return nil, shift(err, len(prefix))
	}
	parsed, err := pg.Parse(sql)
	if err != nil {
		return nil, shift(syntaxError(sql, err), len(prefix))
	}

	// What closes the parenthesis before its end would be more than one condition.
	s := parsed.Stmts[0].GetStmt().GetSelectStmt()
	if len(parsed.Stmts) != 1 || len(s.GetTargetList()) != 1 || s.FromClause != nil || s.WhereClause != nil ||
		s.TargetList[0].GetResTarget().GetName() != "" {
		return nil, sqlstate.New(sqlstate.SyntaxError, "a predicate is one condition").At(1)
	}

	one := item{alias: table.Name, schema: table.Schema}
	for _, c := range table.Columns {
		one.output = append(one.output, output{c, Column{Name: c}})
	}
	r := &reader{src: newSource(sql), names: &names{items: []item{one}}}
	e, err := r.expr(s.TargetList[0].GetResTarget().Val)
	if err != nil {
		return nil, shift(err, len(prefix))
	}

	params := 0
	Params(e, func(int) { params++ })
	if params > 0 {
		return nil, sqlstate.New(sqlstate.UndefinedParameter, "a predicate has no parameters").At(1)
	}
	return e, nil
}

func shift(err error, by int) error {
	e := sqlstate.As(err)
	if e.Position > by {
		return e.At(e.Position - by)
	}
	return e
}
