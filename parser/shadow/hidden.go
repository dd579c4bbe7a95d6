package shadow

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/lex"
	"fugu/parser/tree"
)

// Hidden takes out of the catalog what a table has and its twin has not: columns, which show as columns that were
// dropped, and what is made of them not at all; numbers from a sequence; keys that do not hold where rows stand several
// times; and the schema that twins are in, which show as their tables. It is a courtesy, so that who reads the catalog
// knows what to ask for, and a dump can be restored. nil hides nothing.
type Hidden struct{ relations map[string]*pg.Node }

// HiddenColumns are what one table has and its twin has not: columns, and columns that are no longer numbered by a
// sequence, each by their numbers.
type HiddenColumns struct {
	OID                uint32
	Numbers, Sequenced []int
}

// HidingRelations are the relations in which something is hidden.
func (h *Hidden) HidingRelations() (names []string) {
	for name := range h.relations {
		names = append(names, name)
	}
	return names
}

// hidingTwins are the relations without what is in the schema of twins. A view is of another schema.
func hidingTwins() map[string]string {
	return map[string]string{
		"pg_class":     "SELECT s.* FROM pg_catalog.pg_class AS s WHERE s.relnamespace" + outside,
		"pg_namespace": "SELECT s.* FROM pg_catalog.pg_namespace AS s WHERE s.nspname <> '" + TwinSchema + "'",
		"pg_type":      "SELECT s.* FROM pg_catalog.pg_type AS s WHERE s.typnamespace" + outside,
		"pg_tables":    "SELECT s.* FROM pg_catalog.pg_tables AS s WHERE s.schemaname <> '" + TwinSchema + "'",
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

// asUnnumbered is what pg_attribute shows of a column that no sequence numbers.
var asUnnumbered = map[string]string{"atthasdef": "false", "attidentity": `''::"char"`}

// NewHidden hides the schema of twins, and what the tables have and their twins have not. attributes are the columns of
// pg_attribute as the server has them.
func NewHidden(tables []HiddenColumns, attributes []string) (*Hidden, error) {
	h := &Hidden{map[string]*pg.Node{}}
	queries := hidingTwins()
	maps.Copy(queries, hidingParts(tables, attributes))
	for name, query := range queries {
		node, err := template(strings.ReplaceAll(query, " || ", " OPERATOR(pg_catalog.||) "))
		if err != nil {
			return nil, err
		}
		h.relations[name] = node
	}
	return h, nil
}

// hidingParts are the relations without the columns that twins leave out, the sequences that do not number them, and
// the keys that do not hold of them.
func hidingParts(tables []HiddenColumns, attributes []string) map[string]string {
	left := func(t HiddenColumns) []int { return t.Numbers }
	numbered := func(t HiddenColumns) []int { return t.Sequenced }
	var list []string
	for _, name := range attributes {
		column := "s." + lex.QuoteIdent(name)
		var cases string
		if dropped, ok := asDropped[name]; ok {
			cases += " WHEN " + anyOf(tables, left, "s.attrelid", "s.attnum = ANY (%s)") + " THEN " + dropped
		}
		if plain, ok := asUnnumbered[name]; ok {
			cases += " WHEN " + anyOf(tables, numbered, "s.attrelid", "s.attnum = ANY (%s)") + " THEN " + plain
		}
		if cases != "" {
			column = "CASE" + cases + " ELSE " + column + " END AS " + lex.QuoteIdent(name)
		}
		list = append(list, column)
	}

	// A key that names a column that is left out does not hold, nor one that the rows of a twin cannot keep.
	common := "EXISTS (SELECT FROM pg_catalog.unnest(%s) AS k(n) WHERE k.n = ANY (%%s))"
	index := func(alias string) string {
		return "(" + anyOf(tables, left, alias+".indrelid", fmt.Sprintf(common, alias+".indkey")) + " OR " +
			"(" + alias + ".indisunique OR " + alias + ".indisexclusion) AND " +
			keyLost(tables, alias+".indrelid", alias+".indkey") + ")"
	}

	return map[string]string{
		"pg_attribute": "SELECT " + strings.Join(list, ", ") + " FROM pg_catalog.pg_attribute AS s",
		"pg_attrdef": "SELECT s.* FROM pg_catalog.pg_attrdef AS s WHERE NOT (" +
			anyOf(tables, left, "s.adrelid", "s.adnum = ANY (%s)") + " OR " +
			anyOf(tables, numbered, "s.adrelid", "s.adnum = ANY (%s)") + ")",
		"pg_index": "SELECT s.* FROM pg_catalog.pg_index AS s WHERE NOT " + index("s"),
		"pg_indexes": "SELECT s.* FROM pg_catalog.pg_indexes AS s WHERE s.schemaname <> '" + TwinSchema + "' AND NOT " +
			"EXISTS (SELECT FROM pg_catalog.pg_index AS i, pg_catalog.pg_class AS c, pg_catalog.pg_namespace AS n " +
			"WHERE c.oid = i.indexrelid AND n.oid = c.relnamespace AND n.nspname = s.schemaname AND " +
			"c.relname = s.indexname AND " + index("i") + ")",
		"pg_constraint": "SELECT s.* FROM pg_catalog.pg_constraint AS s WHERE NOT COALESCE(" +
			anyOf(tables, left, "s.conrelid", fmt.Sprintf(common, "s.conkey")) + " OR s.contype = 'x'::\"char\" AND " +
			isOne(tables, "s.conrelid") + " OR s.contype = ANY ('{p,u,f}'::\"char\"[]) AND " +
			keyLost(tables, keyed("conrelid", "confrelid"), keyed("conkey", "confkey")) + ", false)",
	}
}

// keyed writes what a constraint says of the key that has to hold: its own, or of a foreign key the one referred to.
func keyed(own, foreign string) string {
	return "(CASE WHEN s.contype = 'f'::\"char\" THEN s." + foreign + " ELSE s." + own + " END)"
}

// anyOf writes a condition that holds for one of the tables: its oid is in a column, and of its numbers, which stand
// for %s, a condition holds.
func anyOf(tables []HiddenColumns, numbers func(HiddenColumns) []int, oid, condition string) string {
	tests := []string{"false"}
	for _, t := range tables {
		var list []string
		for _, n := range numbers(t) {
			list = append(list, strconv.Itoa(n))
		}
		if len(list) > 0 {
			tests = append(tests, oid+" = '"+strconv.FormatUint(uint64(t.OID), 10)+"'::pg_catalog.oid AND "+
				fmt.Sprintf(condition, "'{"+strings.Join(list, ",")+"}'::pg_catalog.int2[]"))
		}
	}
	return "(" + strings.Join(tests, " OR ") + ")"
}

// isOne writes a condition that a column holds the oid of one of the tables.
func isOne(tables []HiddenColumns, oid string) string {
	var oids []string
	for _, t := range tables {
		oids = append(oids, strconv.FormatUint(uint64(t.OID), 10))
	}
	return oid + " = ANY ('{" + strings.Join(oids, ",") + "}'::pg_catalog.oid[])"
}

// keyLost writes a condition that a table is one of those whose twins are built, and that the twin has no unique index
// on columns of the names that these of the table have. The twin is found by its type of rows: pg_class is masked
// wherever it stands, and shows no twin then.
func keyLost(tables []HiddenColumns, table, columns string) string {
	names := func(table, columns string) string {
		return "ARRAY(SELECT a.attname FROM pg_catalog.unnest(" + columns + ") AS k(n), pg_catalog.pg_attribute AS a " +
			"WHERE a.attrelid = " + table + " AND a.attnum = k.n ORDER BY a.attname)"
	}
	return isOne(tables, table) + " AND EXISTS (SELECT FROM pg_catalog.pg_type AS t, pg_catalog.pg_type AS w, " +
		"pg_catalog.pg_namespace AS n WHERE t.typrelid = " + table + " AND n.nspname = '" + TwinSchema + "' AND " +
		"w.typnamespace = n.oid AND w.typname = t.typname AND w.typrelid <> '0'::pg_catalog.oid AND NOT EXISTS (" +
		"SELECT FROM pg_catalog.pg_index AS u WHERE u.indrelid = w.typrelid AND u.indisunique AND " +
		names("u.indrelid", "u.indkey") + " = " + names(table, columns) + "))"
}

// hide takes what is hidden out of what a part of the statement reads of the catalog. Of pg_class it does if class says
// so and something else is hidden beside it: pg_dump wants to find the schema of whatever it finds. Alone pg_class is
// left as it is, so that a row of a twin finds its relation.
func (p *pass) hide(hidden *Hidden, part *pg.Node, class bool) {
	if hidden == nil || !takesSubselects(p.Root) {
		return
	}
	items := hidingItems(part, hidden.relations)
	isClass := func(n *pg.Node) bool { return n.GetRangeVar().Relname == "pg_class" }
	if others := slices.DeleteFunc(slices.Clone(items), isClass); !class || len(others) == 0 {
		items = others
	}

	for _, n := range items {
		rv := n.GetRangeVar()
		substitute(n, hidden.relations[rv.Relname])

		// A subselect has no system columns by itself.
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

	// A WITH query of the name is what FROM finds.
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
