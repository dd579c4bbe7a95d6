package shadow

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/lex"
	"fugu/parser/tree"
)

// Hidden takes the columns out of the catalog that a table has and its twin has not: they show as columns that were
// dropped, and what is made of them not at all; and the schema that twins are in, which show as their tables. It is a
// courtesy, so that who reads the catalog knows what to ask for. nil hides nothing.
type Hidden struct{ relations map[string]*pg.Node }

// HiddenColumns are the numbers of columns of one table.
type HiddenColumns struct {
	OID     uint32
	Numbers []int
}

// HidingRelations are the relations in which something is hidden.
func (h *Hidden) HidingRelations() (names []string) {
	for name := range h.relations {
		names = append(names, name)
	}
	return names
}

// hidingTwins are the relations without what is in the schema of twins. pg_class, which is masked, is without it, too,
// when it stands in for the server's: pg_dump wants to find the schema of whatever it finds. A view is of another
// schema.
func hidingTwins() map[string]string {
	return map[string]string{
		"pg_namespace": "SELECT s.* FROM pg_catalog.pg_namespace AS s WHERE s.nspname <> '" + TwinSchema + "'",
		"pg_type":      "SELECT s.* FROM pg_catalog.pg_type AS s WHERE s.typnamespace" + outside,
		"schemata":     "SELECT s.* FROM information_schema.schemata AS s WHERE s.schema_name <> '" + TwinSchema + "'",
	}
}

// hidingSchema is the schema of a relation in which something is hidden.
func hidingSchema(relation string) string {
	if relation == "schemata" {
		return informationSchema
	}
	return "pg_catalog"
}

// asDropped is what PostgreSQL shows in pg_attribute of a column that was dropped.
var asDropped = map[string]string{
	"attname":      "('........pg.dropped.' || s.attnum::pg_catalog.text || '........')::pg_catalog.name",
	"atttypid":     "'0'::pg_catalog.oid",
	"attisdropped": "true",
	"attnotnull":   "false",
	"atthasdef":    "false",
	"attidentity":  `''::"char"`,
	"attgenerated": `''::"char"`,
}

// NewHidden hides the schema of twins, and columns. attributes are the columns of pg_attribute as the server has them.
func NewHidden(tables []HiddenColumns, attributes []string) (*Hidden, error) {
	h := &Hidden{map[string]*pg.Node{}}
	queries := hidingTwins()
	if len(tables) > 0 {
		maps.Copy(queries, hidingColumns(tables, attributes))
	}
	for name, query := range queries {
		node, err := template(strings.ReplaceAll(query, " || ", " OPERATOR(pg_catalog.||) "))
		if err != nil {
			return nil, err
		}
		h.relations[name] = node
	}
	return h, nil
}

// hidingColumns are the relations without the columns that twins leave out.
func hidingColumns(tables []HiddenColumns, attributes []string) map[string]string {
	// any writes a condition that holds for one of the tables: its oid in the one column, and its columns by the other.
	any := func(table string, columns func(numbers string) string) string {
		var tests []string
		for _, t := range tables {
			var numbers []string
			for _, n := range t.Numbers {
				numbers = append(numbers, strconv.Itoa(n))
			}
			tests = append(tests, "s."+table+" = '"+strconv.FormatUint(uint64(t.OID), 10)+"'::pg_catalog.oid AND "+
				columns("'{"+strings.Join(numbers, ",")+"}'::pg_catalog.int2[]"))
		}
		return "(" + strings.Join(tests, " OR ") + ")"
	}
	one := func(column string) func(string) string {
		return func(numbers string) string { return "s." + column + " = ANY (" + numbers + ")" }
	}
	common := func(columns string) func(string) string {
		return func(numbers string) string {
			return "EXISTS (SELECT FROM pg_catalog.unnest(" + columns + ") AS k(n) WHERE k.n = ANY (" + numbers + "))"
		}
	}

	var list []string
	for _, name := range attributes {
		column := "s." + lex.QuoteIdent(name)
		if dropped, ok := asDropped[name]; ok {
			column = "CASE WHEN " + any("attrelid", one("attnum")) + " THEN " + dropped + " ELSE " + column +
				" END AS " + lex.QuoteIdent(name)
		}
		list = append(list, column)
	}
	return map[string]string{
		"pg_attribute": "SELECT " + strings.Join(list, ", ") + " FROM pg_catalog.pg_attribute AS s",
		"pg_attrdef":   "SELECT s.* FROM pg_catalog.pg_attrdef AS s WHERE NOT " + any("adrelid", one("adnum")),
		"pg_index":     "SELECT s.* FROM pg_catalog.pg_index AS s WHERE NOT " + any("indrelid", common("s.indkey")),
		"pg_constraint": "SELECT s.* FROM pg_catalog.pg_constraint AS s WHERE NOT COALESCE(" +
			any("conrelid", common("s.conkey")) + ", false)",
	}
}

// hide takes the hidden columns out of what a part of the statement reads of the catalog.
func (p *pass) hide(hidden *Hidden, part *pg.Node) {
	if hidden == nil || !takesSubselects(p.Root) {
		return
	}
	for _, n := range hidingItems(part, hidden.relations) {
		rv := n.GetRangeVar()
		substitute(n, hidden.relations[rv.Relname])
		schema := hidingSchema(rv.Relname)
		if schema == "pg_catalog" {
			sel := n.GetRangeSubselect().Subquery.GetSelectStmt()
			sel.TargetList = append(sel.TargetList, p.systemColumns()...)
		}
		unqualify(part, schema, rv.Relname)
		p.changed = true
	}
}

// hidingItems are the items of FROM that are such relations of the catalog.
func hidingItems(part *pg.Node, relations map[string]*pg.Node) (items []*pg.Node) {
	ctes := map[string]bool{}
	item := func(n *pg.Node) {
		rv := n.GetRangeVar()
		if rv == nil || relations[rv.Relname] == nil {
			return
		}
		if schema := hidingSchema(rv.Relname); rv.Schemaname == schema || rv.Schemaname == "" &&
			schema == "pg_catalog" {
			items = append(items, n)
		}
	}
	tree.Inspect(part, func(m proto.Message) bool {
		switch x := m.(type) {
		case *pg.SelectStmt:
			for _, n := range x.FromClause {
				item(n)
			}
		case *pg.JoinExpr:
			item(x.Larg)
			item(x.Rarg)
		case *pg.CommonTableExpr:
			ctes[x.Ctename] = true
		}
		return true
	})
	return slices.DeleteFunc(items, func(n *pg.Node) bool { return ctes[n.GetRangeVar().Relname] })
}
