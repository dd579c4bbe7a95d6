package shadow

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/lex"
	"fugu/parser/tree"
)

// Introspection shows protected tables where PostgreSQL lists what a role has a right to: in information_schema, and in
// what has_table_privilege and its kin say. The guest has no right on them, and yet can ask about them through Fugu. It
// is a courtesy to clients, and hides nothing: a statement that cannot be rewritten is sent as it is. nil shows
// nothing.
type Introspection struct {
	shown *pg.Node // lists the oids of protected tables, and of views over them

	definitions atomic.Pointer[map[string]string] // of information_schema's views; nil: nobody has asked for one
	views       sync.Map                          // from name to *pg.Node: the views that were asked for, see view
}

// Definitions reads the queries of information_schema's views as the server has them, under a search_path of pg_catalog
// alone.
type Definitions func() (map[string]string, error)

const informationSchema = "information_schema"

// privilegeFunctions are those that are asked whether a role may read a table, with the number of arguments behind the
// role and the table's name or oid: column or privilege.
var privilegeFunctions = map[string]int{"has_table_privilege": 1, "has_any_column_privilege": 1,
	"has_column_privilege": 2}

func introspective(word []byte) bool {
	return string(word) == informationSchema || privilegeFunctions[string(word)] > 0
}

// Introspects reports whether a text could have any word for which an Introspection changes it. It errs towards true.
func Introspects(sql string) bool {
	text := strings.ToLower(sql)
	if strings.Contains(text, informationSchema) {
		return true
	}
	for name := range privilegeFunctions {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// NewIntrospection returns what shows tables.
func NewIntrospection(tables []Root) (*Introspection, error) {
	if len(tables) == 0 {
		return nil, nil
	}
	shown, err := template(rootList(tables))
	if err != nil {
		return nil, err
	}
	return &Introspection{shown: shown}, nil
}

// view returns the subselect that takes the place of a view of information_schema; nil if the view stays as it is, as
// does one that this version of Fugu cannot read. There are some sixty of them, and most are never asked for, so each
// is made of its definition when it first is: by two at the same time, if two ask.
func (x *Introspection) view(name string, read Definitions) (*pg.Node, error) {
	definitions, err := x.defined(read)
	if err != nil {
		return nil, err
	}
	if _, ok := definitions[name]; !ok {
		return nil, nil // and is not kept: clients choose names without end
	}
	if made, ok := x.views.Load(name); ok {
		return made.(*pg.Node), nil
	}
	w := &widening{definitions: definitions, done: map[string]*pg.Node{}}
	made, _ := x.views.LoadOrStore(name, w.view(name))
	return made.(*pg.Node), nil
}

// defined are the definitions of the views. To write them all out takes the server longer than the rest of what a
// policy is loaded with, and most clients never ask, so they are read when somebody first does. What cannot be read is
// tried again.
func (x *Introspection) defined(read Definitions) (map[string]string, error) {
	if known := x.definitions.Load(); known != nil {
		return *known, nil
	}
	definitions, err := read()
	if err != nil {
		return nil, err
	}
	x.definitions.Store(&definitions)
	return definitions, nil
}

// widening makes of PostgreSQL's own definitions of information_schema's views such that show tables without a right.
type widening struct {
	definitions map[string]string
	done        map[string]*pg.Node // nil: the view needs nothing, or cannot be read
}

// view returns a view's query, widened; nil if it shows the tables as it is, or cannot be widened.
func (w *widening) view(name string) *pg.Node {
	if query, ok := w.done[name]; ok {
		return query
	}
	w.done[name] = nil // no view reads itself
	parsed, err := pg.Parse(w.definitions[name])
	if err != nil || len(parsed.Stmts) != 1 || parsed.Stmts[0].Stmt.GetSelectStmt() == nil {
		return nil
	}
	query := parsed.Stmts[0].Stmt
	changed, err := w.widen(query)
	if err != nil || !changed {
		return nil
	}

	// Whatever the client's search_path says, the names are those that the server's own definition means.
	qualify(query)
	sql, err := pg.Deparse(parsed)
	if err != nil {
		return nil
	}
	if same, err := tree.Reads(sql, parsed); err != nil || !same {
		return nil
	}
	w.done[name] = query
	return query
}

// widen has every test of a privilege in a query pass for the tables too, and reports whether there was one.
func (w *widening) widen(query *pg.Node) (bool, error) {
	tests, relations := map[*pg.Node]*pg.Node{}, []*pg.Node{}
	tree.Inspect(query, func(m proto.Message) bool {
		switch x := m.(type) {
		case *pg.SelectStmt:
			for _, n := range privilegeTests(x) {
				if condition := protectedTest(x, n.GetFuncCall()); condition != "" {
					tests[n], _ = expression(condition, n.GetFuncCall().Args...)
				}
			}
		case *pg.Node:
			if rv := x.GetRangeVar(); rv != nil && rv.Schemaname == informationSchema {
				relations = append(relations, x)
			}
		}
		return true
	})

	// Found first and changed then, as a change puts further nodes into the tree.
	changed := false
	for n, condition := range tests {
		if condition == nil {
			return false, fmt.Errorf("widening a test of a privilege")
		}
		test := &pg.Node{Node: n.Node}
		n.Node = &pg.Node_BoolExpr{BoolExpr: &pg.BoolExpr{Boolop: pg.BoolExprType_OR_EXPR,
			Args: []*pg.Node{test, condition}}}
		changed = true
	}

	flatten(query)
	for _, n := range relations {
		if sub := w.view(n.GetRangeVar().Relname); sub != nil {
			substitute(n, sub)
			changed = true
		}
	}
	return changed, nil
}

// privilegeTests are the calls in a SELECT, but not in those below it, that ask for a privilege.
func privilegeTests(sel *pg.SelectStmt) (tests []*pg.Node) {
	tree.Inspect(sel, func(m proto.Message) bool {
		switch x := m.(type) {
		case *pg.SelectStmt:
			return x == sel
		case *pg.Node:
			f := x.GetFuncCall()
			if name := tree.LastString(f.GetFuncname()); f != nil && (name == "pg_has_role" ||
				name == "has_schema_privilege" || privilegeFunctions[name] > 0) {
				tests = append(tests, x)
			}
		}
		return true
	})
	return tests
}

// protectedTest writes the condition under which a test of a privilege is about a table of ours: on $1, the first
// argument. A test for the owner's role is about the relation whose owner it is.
func protectedTest(sel *pg.SelectStmt, f *pg.FuncCall) string {
	switch name := tree.LastString(f.Funcname); {
	case name == "has_schema_privilege" && len(f.Args) == 2:
		return "$1 = ANY (SELECT c.relnamespace FROM pg_catalog.pg_class c WHERE " + oidIn(shownOIDs, "c.oid") + ")"
	case privilegeFunctions[name] > 0 && len(f.Args) == privilegeFunctions[name]+1:
		return oidIn(shownOIDs, "$1")
	}
	condition := ""
	tree.Inspect(f, func(m proto.Message) bool {
		c, ok := m.(*pg.ColumnRef)
		if !ok || len(c.Fields) != 2 {
			return true
		}
		alias := lex.QuoteIdent(c.Fields[0].GetString_().GetSval())
		switch tree.LastString(c.Fields) {
		case "relowner":
			if readsClass(sel, c.Fields[0].GetString_().GetSval()) {
				condition = oidIn(shownOIDs, alias+".oid")
			}
		case "tblowner": // constraint_column_usage and its like have the table's name beside it

			// to_regclass would do, but for schemas that the guest may not use it is an error.
			condition = "EXISTS (SELECT FROM pg_catalog.pg_class AS named, pg_catalog.pg_namespace AS within " +
				"WHERE within.oid = named.relnamespace AND within.nspname = " + alias + ".tblschema AND " +
				"named.relname = " + alias + ".tblname AND " + oidIn(shownOIDs, "named.oid") + ")"
		}
		return true
	})
	return condition
}

// readsClass reports whether an alias in FROM is pg_class.
func readsClass(sel *pg.SelectStmt, alias string) bool {
	found := false
	for _, item := range sel.FromClause {
		tree.Inspect(item, func(m proto.Message) bool {
			if rv, ok := m.(*pg.RangeVar); ok && rv.Relname == "pg_class" {
				found = found || rv.GetAlias().GetAliasname() == alias || rv.Alias == nil && alias == rv.Relname
			}
			_, below := m.(*pg.SelectStmt)
			return !below
		})
	}
	return found
}

// introspect shows protected tables in a statement that asks what there is.
func (p *pass) introspect(x *Introspection, read Definitions, hidden *Hidden) error {
	root := p.Root
	if x == nil || !Introspects(p.Text) || !takesSubselects(root) {
		return nil
	}

	// Calls in the views that are put in below are left as they are, so privileges come first.
	if err := p.privileges(root, x); err != nil {
		return err
	}

	for _, n := range relationsIn(root) {
		rv := n.GetRangeVar()
		if rv.GetSchemaname() != informationSchema {
			continue
		}
		query, err := x.view(rv.Relname, read)
		if err != nil {
			return err
		}
		if query != nil {
			substitute(n, query)
			unqualify(root, informationSchema, rv.Relname)
			p.hide(hidden, n, false)
			p.changed = true
		}
	}
	return nil
}

// takesSubselects reports whether a subselect can stand for a relation or in an expression of the statement: not so in
// the arguments of EXECUTE, and in what other utility statements keep.
func takesSubselects(root *pg.Node) bool {
	switch x := root.GetNode().(type) {
	case *pg.Node_SelectStmt, *pg.Node_InsertStmt, *pg.Node_UpdateStmt, *pg.Node_DeleteStmt, *pg.Node_MergeStmt,
		*pg.Node_DeclareCursorStmt, *pg.Node_ViewStmt, *pg.Node_CopyStmt:
		return true
	case *pg.Node_ExplainStmt:
		return takesSubselects(x.ExplainStmt.Query)
	case *pg.Node_PrepareStmt:
		return takesSubselects(x.PrepareStmt.Query)
	case *pg.Node_CreateTableAsStmt:
		return takesSubselects(x.CreateTableAsStmt.Query)
	}
	return false
}

// privileges has has_table_privilege and its kin say that the guest may SELECT from the tables.
func (p *pass) privileges(root *pg.Node, x *Introspection) error {
	var calls []*pg.Node
	tree.Inspect(root, func(m proto.Message) bool {
		n, ok := m.(*pg.Node)
		if f := n.GetFuncCall(); ok && f != nil && privilegeFunctions[tree.LastString(f.Funcname)] > 0 && builtin(f) {
			calls = append(calls, n)
		}
		return true
	})

	// Innermost first: a call's arguments may hold calls.
	for _, n := range slices.Backward(calls) {
		f := n.GetFuncCall()
		behind := privilegeFunctions[tree.LastString(f.Funcname)]
		condition := ` AND ($2)::pg_catalog.text OPERATOR(pg_catalog.~*) '(^|,)\s*select\s*(,|$)'
		  AND (($1)::pg_catalog.text = ANY (SELECT w.oid::pg_catalog.text FROM "` + shownOIDs + `" AS w)
		    OR ` + oidIn(shownOIDs, "pg_catalog.to_regclass(($1)::pg_catalog.text)::pg_catalog.oid") + ")"
		args := []*pg.Node{f.Args[0], f.Args[len(f.Args)-1], {Node: n.Node}}
		switch len(f.Args) {
		case behind + 1:
		case behind + 2: // the role comes first
			args[0] = f.Args[1]
			condition += ` AND ($4)::pg_catalog.text = ANY (ARRAY(
			  SELECT pg_catalog.unnest(ARRAY[r.oid::pg_catalog.text, r.rolname::pg_catalog.text])
			  FROM pg_catalog.pg_roles r WHERE r.rolname = CURRENT_USER))`
		default:
			continue
		}

		// The call comes first, so that what PostgreSQL says against its arguments is said; its name is the column's.
		node, err := expression("CASE WHEN $3 IS FALSE"+condition+" THEN true ELSE $3 END", append(args, f.Args[0])...)
		if err != nil {
			return err
		}
		n.Node = node.Node
		p.changed = true
	}
	return nil
}

// builtin reports whether a call is of PostgreSQL's own function, as far as its name says.
func builtin(f *pg.FuncCall) bool {
	return len(f.Funcname) == 1 || f.Funcname[0].GetString_().GetSval() == "pg_catalog"
}
