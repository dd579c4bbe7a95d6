package parser

import (
	"fmt"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

// deparse writes the tree of a statement as SQL, and proves that it reads back as the same tree. version is that of the
// grammar that read it, position where an error says that the statement stands. at, if not nil, is told the places of
// what is written, now and before, in bytes.
func deparse(root *pg.Node, version int32, position int, at func(now, before int32)) (string, error) {
	spellable(root)
	parsed := &pg.ParseResult{Version: version, Stmts: []*pg.RawStmt{{Stmt: root}}}
	sql, err := pg.Deparse(parsed)
	if err != nil {
		return "", fmt.Errorf("deparsing: %w", err)
	}
	if same, err := tree.ReadsAt(sql, parsed, at); err != nil || !same {
		return "", sqlstate.New(sqlstate.NotAnswerable,
			"the statement cannot be rewritten without changing its meaning").
			WithHint("Write it more simply; parentheses and array subscripts are the usual reason.").Because(err).
			At(position)
	}
	return sql, nil
}

// deparseExpr writes one expression as SQL, and proves that it reads back as the same.
func deparseExpr(n *pg.Node) (string, error) {
	parsed, err := pg.Parse("SELECT NULL")
	if err != nil {
		return "", fmt.Errorf("deparsing an expression: %w", err)
	}
	parsed.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val = proto.Clone(n).(*pg.Node)
	sql, err := pg.Deparse(parsed)
	if err != nil {
		return "", fmt.Errorf("deparsing an expression: %w", err)
	}
	text, ok := strings.CutPrefix(sql, "SELECT ")
	if same, err := tree.Reads(sql, parsed); err != nil || !ok || !same {
		return "", sqlstate.New(sqlstate.NotAnswerable, "an argument cannot be rewritten without changing its meaning").
			WithHint("Write it more simply.").Because(err).At(1)
	}
	return text, nil
}

// spellable changes the one call that the deparser spells otherwise than it was written, to the form that it writes:
// pg_catalog.overlay(a, b, c, d) is OVERLAY(a PLACING b FROM c FOR d), which is the same call to the server.
func spellable(root *pg.Node) {
	tree.Inspect(root, func(m proto.Message) bool {
		f, ok := m.(*pg.FuncCall)
		if ok && len(f.Funcname) == 2 && len(f.Args) == 4 && f.Funcname[0].GetString_().GetSval() == "pg_catalog" &&
			tree.LastString(f.Funcname) == "overlay" {
			f.Funcformat = pg.CoercionForm_COERCE_SQL_SYNTAX
		}
		return true
	})
}
