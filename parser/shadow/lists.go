package shadow

import (
	"maps"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// Masks ask whether an oid is in one of these lists, and the server takes longer to find out what is in a list than it
// takes for most statements. So a list is a WITH query of the statement, which PostgreSQL reads once at the most,
// however many masks ask, and in the statement's own snapshot: what was created a moment before is in it.
const (
	maskedOIDs   = "fugu masked oids"   // see maskedList
	databaseOIDs = "fugu database oids" // see databaseList
	shownOIDs    = "fugu shown oids"    // see NewIntrospection
)

// oidIn writes a condition that an oid is in a list.
func oidIn(list, oid string) string {
	return "(" + oid + ` = ANY (SELECT w.oid FROM "` + list + `" AS w))`
}

// bring puts the lists that are asked in front of the SELECTs that masks stand in. What a mask adds stands in a SELECT,
// so that each finds its lists. They are in front of the outermost, where they are read once for all below it; but of a
// VALUES, of which PostgreSQL takes no DEFAULT behind a WITH. Where a WITH query of the client's would stand between a
// mask and its list, that is returned, and the statement must not be sent.
func bring(lists map[string]*pg.Node, root *pg.Node) (between *pg.CommonTableExpr) {
	tree.Inspect(root, func(m proto.Message) bool {
		sel, ok := m.(*pg.SelectStmt)
		if !ok || len(sel.ValuesLists) > 0 {
			return between == nil
		}
		between = bringTo(sel, lists)
		return false
	})
	return between
}

func bringTo(sel *pg.SelectStmt, lists map[string]*pg.Node) (between *pg.CommonTableExpr) {
	asked := map[string]bool{}
	tree.Inspect(sel, func(m proto.Message) bool {
		switch x := m.(type) {
		case *pg.RangeVar:
			if lists[x.Relname] != nil && x.Schemaname == "" {
				asked[x.Relname] = true
			}
		case *pg.CommonTableExpr:
			if lists[x.Ctename] != nil {
				between = x
			}
		}
		return between == nil
	})
	if between != nil || len(asked) == 0 {
		return between
	}

	// In front, so that the client's own WITH queries see them. They are not recursive themselves: whether the client's
	// are is left as it is.
	if sel.WithClause == nil {
		sel.WithClause = &pg.WithClause{Location: -1}
	}
	var queries []*pg.Node
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		queries = append(queries, &pg.Node{Node: &pg.Node_CommonTableExpr{CommonTableExpr: &pg.CommonTableExpr{
			Ctename: name, Aliascolnames: []*pg.Node{pg.MakeStrNode("oid")},
			Ctematerialized: pg.CTEMaterialize_CTEMaterializeAlways,
			Ctequery:        tree.Clone(lists[name]), Location: -1}}})
	}
	sel.WithClause.Ctes = append(queries, sel.WithClause.Ctes...)
	return nil
}
