package parser

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

// Statements that stand around a query (manual, chapter VI, "SQL Commands"). CREATE TABLE AS, SELECT INTO and DECLARE
// CURSOR take parameters, so their query is rewritten where it stands. COPY takes none: see Statement.Copy and Inline.
// PREPARE and EXECUTE are in prepared.go.

const (
	statementHint = "Protected data is read by SELECT: alone, or inside INSERT, UPDATE, DELETE, MERGE, CREATE TABLE " +
		"AS, DECLARE CURSOR, PREPARE, or COPY (...) TO STDOUT."
	viewHint = "A view would ask again each time it is read. Keep one answer instead: CREATE TABLE ... AS " +
		"SELECT ..."
)

// The grammar's number for ASENSITIVE, which is what every cursor is and the deparser does not write (parsenodes.h).
const cursorAsensitive = 0x10

// query returns the query in which the statement reads tables: the statement itself, or what stands inside it. It is
// nil where nothing of the statement can be rewritten, and nothing has to be.
func (a *analysis) query() (*pg.Node, error) {
	root := a.stmt.root.Stmt
	switch x := root.GetNode().(type) {
	case *pg.Node_SelectStmt, *pg.Node_InsertStmt, *pg.Node_UpdateStmt, *pg.Node_DeleteStmt, *pg.Node_MergeStmt:
		return root, nil
	case *pg.Node_CreateTableAsStmt:
		if x.CreateTableAsStmt.Objtype == pg.ObjectType_OBJECT_TABLE {
			a.stmt.NoData = x.CreateTableAsStmt.Into.GetSkipData()
			return x.CreateTableAsStmt.Query, nil
		}
	case *pg.Node_DeclareCursorStmt:
		x.DeclareCursorStmt.Options &^= cursorAsensitive
		return x.DeclareCursorStmt.Query, nil
	case *pg.Node_PrepareStmt:
		a.stmt.Prepare = readPrepare(a.src, x.PrepareStmt)
		a.stmt.root.Stmt = x.PrepareStmt.Query
		return x.PrepareStmt.Query, nil
	case *pg.Node_CopyStmt:
		return a.copy(x.CopyStmt)
	}
	return nil, a.refuseStatement()
}

// copy reads COPY (query) TO STDOUT.
func (a *analysis) copy(c *pg.CopyStmt) (*pg.Node, error) {
	switch special := a.special(a.stmt.root.Stmt); {
	case special == nil:
		return nil, nil // a column is called like a table
	case c.Query == nil:
		return nil, a.refuseStatement()
	case c.IsProgram || c.Filename != "":
		return nil, a.refuse(special.Location,
			"Write COPY (SELECT ...) TO STDOUT; psql's \\copy makes a file of it at the client.",
			"a query on %s cannot be copied to a file or program of the server's", special.Relname)
	}
	if p := parameter(c.Query); p != nil {
		return nil, noParameter(a.src, p)
	}
	a.stmt.Copy = true
	return c.Query, nil
}

// parameter finds a parameter below n.
func parameter(n *pg.Node) (found *pg.ParamRef) {
	tree.Inspect(n, func(m proto.Message) bool {
		if p, ok := m.(*pg.ParamRef); ok && found == nil {
			found = p
		}
		return found == nil
	})
	return found
}

func noParameter(src *source, p *pg.ParamRef) error {
	return sqlstate.New(sqlstate.UndefinedParameter, "there is no parameter $%d", p.Number).At(src.position(p.Location))
}

// refuseStatement refuses a statement whose kind has no place for protected data.
func (a *analysis) refuseStatement() error {
	hint, name, what, pos := statementHint, "a protected table", "count(*)", a.stmt.first
	if rv := a.special(a.stmt.root.Stmt); rv != nil {
		t, _ := a.lookup(rv)
		if t.Virtual {
			what = "*"
		}
		name, pos = t.String(), a.src.position(rv.Location)
	}

	// The hint says how to get what the statement was for, where there is a way.
	switch x := a.stmt.root.Stmt.GetNode().(type) {
	case *pg.Node_ExplainStmt:
		hint = "EXPLAIN (PRIVACY) shows how the statement would be answered, and spends nothing."
	case *pg.Node_ViewStmt, *pg.Node_CreateTableAsStmt:
		hint = viewHint
	case *pg.Node_CopyStmt:
		if !x.CopyStmt.IsFrom {
			hint = fmt.Sprintf("What can be answered can be copied: COPY (SELECT %s FROM %s) TO STDOUT.", what, name)
		}
	}
	return sqlstate.New(sqlstate.NotAnswerable, "this kind of statement cannot be used on %s", name).
		WithHint("%s", hint).At(max(1, pos))
}

// Enclosed returns the query inside a COPY.
func Enclosed(sql string) (string, error) {
	parsed, err := pg.Parse(sql)
	if err != nil || len(parsed.Stmts) != 1 {
		return "", fmt.Errorf("reading COPY again: %w", err)
	}
	return deparse(parsed.Stmts[0].Stmt.GetCopyStmt().GetQuery(), parsed.Version, 1, nil)
}
