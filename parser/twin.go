package parser

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/shadow"
	"fugu/parser/tree"
)

// TwinSchema is the schema that twins are in, each under its table's name.
const TwinSchema = shadow.TwinSchema

// TwinRegistry is the table in which builds say what twins there are, as SQL. Guests may read it, and the reader.
const TwinRegistry = TwinSchema + `."fugu twins"`

// TwinColumns is the table in which builds say by which channels columns are shown, as SQL. Who may read the registry
// may read it.
const TwinColumns = TwinSchema + `."fugu columns"`

// twinning is the pass over one statement after which it names the twin wherever it meant a table that has one. What is
// then left of the statement is ordinary: the guest may read twins, and nothing but twins. It need not find every name
// for that to be sound, as the guest has no right on the tables themselves.
type twinning struct {
	*analysis
	catalog Twinner
	changed bool // of the body of a function
	edits   []Edit
	inBody  bool // the nodes are of the body of a function
	loose   bool // something was changed that no edit says
}

// twins puts the twins in the place of their tables.
func (a *analysis) twins() error {
	c, ok := a.catalog.(Twinner)
	if !ok {
		return nil
	}
	t := &twinning{analysis: a, catalog: c}
	if err := t.walk(a.stmt.root.Stmt, nil); err != nil {
		return err
	}
	if len(a.stmt.Twins) > 0 {
		a.stmt.renamed = !a.stmt.Masked && !a.spelled && !t.loose
		a.stmt.edits = t.edits
		a.stmt.Masked = true
	}
	return nil
}

// walk goes through a part of the statement. queries are the names of the WITH queries that it can see.
func (t *twinning) walk(m proto.Message, queries []string) error {
	switch x := m.(type) {
	case withable:
		return t.statement(m, x.GetWithClause(), queries)
	case *pg.CreateFunctionStmt:
		if err := t.function(x.Options); err != nil {
			return err
		}
	case *pg.DoStmt:
		if err := t.function(x.Args); err != nil {
			return err
		}
	case *pg.RangeVar:
		t.relation(x, queries)
	case *pg.TypeName:
		t.rowType(x)
	case *pg.ColumnRef:
		t.column(x)
	}
	return t.walkBelow(m, queries)
}

func (t *twinning) walkBelow(m proto.Message, queries []string) (err error) {
	tree.Below(m, func(child proto.Message) {
		if err == nil {
			err = t.walk(child, queries)
		}
	})
	return err
}

// statement goes through a statement that may begin with WITH. Each of its queries sees those before it, under
// RECURSIVE all of them, and the statement behind them sees all.
func (t *twinning) statement(m proto.Message, with *pg.WithClause, queries []string) (err error) {
	all := slices.Clone(queries)
	for _, n := range with.GetCtes() {
		all = append(all, n.GetCommonTableExpr().GetCtename())
	}
	for i, n := range with.GetCtes() {
		seen := all[:len(queries)+i]
		if with.Recursive {
			seen = all
		}
		if err := t.walk(n, seen); err != nil {
			return err
		}
	}

	// All that stands beside the WITH clause sees its queries.
	tree.Below(m, func(child proto.Message) {
		if c, ok := child.(*pg.WithClause); err == nil && !(ok && c == with) {
			err = t.walk(child, all)
		}
	})
	return err
}

func (t *twinning) relation(rv *pg.RangeVar, queries []string) {
	if rv.Schemaname == "" && slices.Contains(queries, rv.Relname) {
		t.taken[rv] = true
		return
	}
	if rv == t.target {
		return
	}
	table, ok := t.catalog.Twin(rv.Schemaname, rv.Relname)
	if !ok {
		return
	}
	t.use(table, t.src.position(rv.Location))
	if rv.Schemaname == TwinSchema {
		return
	}
	t.changed = true
	t.rename(rv.Location, rv.Catalogname, rv.Schemaname)
	rv.Schemaname = TwinSchema // the name stays, and with it what column references say
}

// use notes that the statement means a twin.
func (t *twinning) use(table Table, position int) {
	if !slices.ContainsFunc(t.stmt.Twins, func(u TwinUse) bool { return u.Table.String() == table.String() }) {
		t.stmt.Twins = append(t.stmt.Twins, TwinUse{table, position})
	}
}

// rowType gives the name of a table's rows to those of its twin. A type of PostgreSQL's own comes before it.
func (t *twinning) rowType(x *pg.TypeName) {
	if len(x.Names) > 2 {
		return
	}
	schema := ""
	if len(x.Names) == 2 {
		schema = x.Names[0].GetString_().GetSval()
	}
	if table, ok := t.catalog.Twin(schema, tree.LastString(x.Names)); ok && schema != TwinSchema {
		t.use(table, t.src.position(x.Location))
		t.rename(x.Location, "", schema)
		x.Names = []*pg.Node{pg.MakeStrNode(TwinSchema), pg.MakeStrNode(table.Name)}
		t.changed = true
	}
}

// column has a reference by schema and table, and perhaps database, find the twin.
func (t *twinning) column(c *pg.ColumnRef) {
	if len(c.Fields) != 3 && len(c.Fields) != 4 {
		return
	}
	schema, name := c.Fields[len(c.Fields)-3], c.Fields[len(c.Fields)-2].GetString_().GetSval()
	if _, ok := t.catalog.Twin(schema.GetString_().GetSval(), name); ok && schema.GetString_() != nil {
		if schema.GetString_().Sval == TwinSchema {
			return
		}
		database := ""
		if len(c.Fields) == 4 {
			database = c.Fields[0].GetString_().GetSval()
		}
		t.rename(c.Location, database, schema.GetString_().Sval)
		schema.GetString_().Sval = TwinSchema
		t.changed = true
	}
}
