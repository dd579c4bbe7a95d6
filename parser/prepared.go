package parser

import (
	"fmt"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

// Prepare is PREPARE Name (Types) AS, around the statement that the cuts belong to. Parameters are that statement's.
type Prepare struct {
	Name     string
	Types    []string // as SQL text, without modifiers: PREPARE ignores them
	Position int      // of the first type
}

// readPrepare reads PREPARE but for the statement below it.
func readPrepare(src *source, p *pg.PrepareStmt) *Prepare {
	out := &Prepare{Name: p.Name, Position: 1}
	for i, n := range p.Argtypes {
		t := n.GetTypeName()
		parts := make([]string, len(t.Names))
		for j, part := range t.Names {
			parts[j] = QuoteIdent(part.GetString_().GetSval())
		}
		text := strings.Join(parts, ".")
		if len(t.ArrayBounds) > 0 {
			text += "[]"
		}
		if i == 0 {
			out.Position = src.position(t.Location)
		}
		out.Types = append(out.Types, text)
	}
	return out
}

// mark stands before the client's own text at the end of a PREPARE as the guest gets it.
const mark = "\n-- fugu "

// SQL is the PREPARE that the guest runs: of the rewritten text, with the types of its parameters, and with the
// client's text behind it in a comment. The server keeps it as long as the prepared statement lives, whatever ends
// that; so nobody else has to keep books of it.
func (p *Prepare) SQL(types []string, rewritten, original string) string {
	list := ""
	if len(types) > 0 {
		list = " (" + strings.Join(types, ", ") + ")"
	}
	return "PREPARE " + QuoteIdent(p.Name) + list + " AS " + rewritten + mark + strconv.Quote(original)
}

// Original finds the client's text in a PREPARE as the guest got it. A client that writes the comment itself gets what
// it wrote interpreted, as if it had sent it.
func Original(text string) (string, bool) {
	i := strings.LastIndex(text, mark)
	if i < 0 {
		return "", false
	}
	original, err := strconv.Unquote(text[i+len(mark):])
	return original, err == nil
}

// Execute is EXECUTE Name (...), perhaps inside CREATE TABLE AS or below EXPLAIN. What it executes is not known before
// it runs.
type Execute struct {
	Name      string
	Explained bool // below a plain EXPLAIN
	Position  int  // of the statement

	src  *source
	text string     // the whole statement
	args []*pg.Node // not to be changed
}

// nodeBytes is about what PostgreSQL's grammar makes of one byte of SQL: that is measured, and more for short texts.
const nodeBytes = 100

// Size is how many bytes it keeps alive, about: the tree of the statement stays with its arguments.
func (x *Execute) Size() int {
	return 8*nodeBytes + len(x.Name) + nodeBytes*len(x.text) + 2*len(x.src.sql)
}

// readExecute reads EXECUTE, if that is what the statement does. position is where it stands, and noData whether it
// makes a table without rows.
func readExecute(src *source, text string, n *pg.Node, position int) (x *Execute, noData bool) {
	x = &Execute{src: src, text: text, Position: max(1, position)}
	if e := n.GetExplainStmt(); e != nil {
		n, x.Explained = e.Query, true
	}
	if c := n.GetCreateTableAsStmt(); c != nil {
		n, noData = c.Query, c.Into.GetSkipData()
	}
	e := n.GetExecuteStmt()
	if e == nil {
		return nil, noData
	}
	x.Name, x.args = e.Name, e.Params
	return x, noData
}

// Args is the number of arguments.
func (x *Execute) Args() int { return len(x.args) }

// Values returns the arguments as a VALUES list of text, each behind a '=' so that an empty one differs from NULL: what
// cannot stand in EXECUTE cannot stand there, but for what is refused here. types are SQL text.
func (x *Execute) Values(types []string) (string, error) {
	var err error
	items := make([]string, len(x.args))
	for i, n := range x.args {
		tree.Inspect(n, func(m proto.Message) bool {
			switch y := m.(type) {
			case *pg.ParamRef:
				err = noParameter(x.src, y)
			case *pg.SubLink:
				err = sqlstate.New(sqlstate.FeatureNotSupported, "cannot use subquery in EXECUTE parameter").
					At(x.src.position(y.Location))
			}
			return err == nil
		})
		if err != nil {
			return "", err
		}

		// PostgreSQL converts it to the parameter's type, and gives that back as text.
		text, err := deparseExpr(n)
		if err != nil {
			return "", err
		}
		items[i] = fmt.Sprintf("'=' OPERATOR(pg_catalog.||) ((%s)::%s)::pg_catalog.text", text, types[i])
	}
	return "VALUES (" + strings.Join(items, ", ") + ")", nil
}

// Around returns the statement with the query in the place of EXECUTE.
func (x *Execute) Around(query string) (string, error) {
	outer, err := pg.Parse(x.text)
	if err != nil || len(outer.Stmts) != 1 {
		return "", fmt.Errorf("reading EXECUTE again: %w", err)
	}
	c := outer.Stmts[0].Stmt.GetCreateTableAsStmt()
	if c == nil {
		return query, nil
	}
	inner, err := pg.Parse(query)
	if err != nil || len(inner.Stmts) != 1 {
		return "", fmt.Errorf("reading a prepared statement again: %w", err)
	}
	if inner.Stmts[0].Stmt.GetSelectStmt() == nil {
		return "", sqlstate.New(sqlstate.WrongObjectType, "prepared statement is not a SELECT").At(x.Position)
	}
	c.Query = inner.Stmts[0].Stmt
	return deparse(outer.Stmts[0].Stmt, outer.Version, 1, nil)
}
