package parser

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/sqlstate"
)

// unwrapExplain takes EXPLAIN (PRIVACY [, FORMAT TEXT|JSON]) off the statement below it.
func (a *analysis) unwrapExplain() error {
	x := a.stmt.root.Stmt.GetExplainStmt()
	if x == nil {
		return nil
	}

	format, privacy := ExplainText, false
	var other *pg.DefElem
	for _, n := range x.Options {
		d := n.GetDefElem()
		switch strings.ToLower(d.Defname) {
		case "privacy":
			privacy = d.Arg == nil || slices.Contains([]string{"true", "on", "1"}, strings.ToLower(defText(d)))
		case "format":
			switch strings.ToLower(defText(d)) {
			case "json":
				format = ExplainJSON
			case "text":
			default:
				other = d
			}
		default:
			other = d
		}
	}

	// Without PRIVACY it is PostgreSQL's own.
	if !privacy {
		return nil
	}
	if other != nil {
		return sqlstate.New(sqlstate.FeatureNotSupported, "EXPLAIN (PRIVACY) does not take %s %s",
			strings.ToUpper(other.Defname), defText(other)).
			WithHint("Write EXPLAIN (PRIVACY) or EXPLAIN (PRIVACY, FORMAT JSON).").At(a.src.position(other.Location))
	}

	a.stmt.Explain = format
	a.stmt.root.Stmt = x.Query
	return nil
}

func defText(d *pg.DefElem) string {
	switch v := d.GetArg().GetNode().(type) {
	case *pg.Node_String_:
		return v.String_.Sval
	case *pg.Node_Boolean:
		if v.Boolean.Boolval {
			return "true"
		}
		return "false"
	case *pg.Node_Integer:
		if v.Integer.Ival == 1 {
			return "1"
		}
	}
	return ""
}
