package shadow

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// Masks ask whether an oid is in one of these lists, and the server takes longer to find out what is in a list than it
// takes for most statements. So a list is a WITH query of the statement, which PostgreSQL reads once at the most however
// many masks ask, and in the statement's own snapshot: what was created a moment before is in it.
const (
	maskedOIDs   = "fugu masked oids"   // see maskedList
	databaseOIDs = "fugu database oids" // see databaseList
	shownOIDs    = "fugu shown oids"    // see NewIntrospection
)

// in writes a condition that an oid is in a list.
func in(list, oid string) string {
	return "(" + oid + ` = ANY (SELECT w.oid FROM "` + list + `" AS w))`
}

// lists are the queries of the lists that masks may ask, each by its name.
func (m Masks) lists() map[string]*pg.Node {
	lists := map[string]*pg.Node{}
	if m.Shadows != nil {
		lists[maskedOIDs], lists[databaseOIDs] = m.Shadows.masked, m.Shadows.databases
	}
	if m.Listing != nil {
		lists[shownOIDs] = m.Listing.shown
	}
	return lists
}

// bring puts the lists that are asked in front of the SELECTs that masks stand in. What masks add stands in a SELECT,
// so that each of them finds its lists. They are in the outermost, where a list is read once for all below it; but not
// in a VALUES, of which PostgreSQL takes no DEFAULT behind a WITH.
func (p *pass) bring(lists map[string]*pg.Node) (err error) {
	tree.Inspect(p.Root, func(m proto.Message) bool {
		sel, ok := m.(*pg.SelectStmt)
		if !ok || len(sel.ValuesLists) > 0 {
			return err == nil
		}
		err = p.bringTo(sel, lists)
		return false
	})
	return err
}

func (p *pass) bringTo(sel *pg.SelectStmt, lists map[string]*pg.Node) (err error) {
	asked := map[string]bool{}
	tree.Inspect(sel, func(m proto.Message) bool {
		switch x := m.(type) {
		case *pg.RangeVar:
			if lists[x.Relname] != nil && x.Schemaname == "" {
				asked[x.Relname] = true
			}
		case *pg.CommonTableExpr: // the client's, which would stand between a mask and its list
			if lists[x.Ctename] != nil {
				err = p.refuse(x.Location, "Give the WITH query another name.",
					"a WITH query has a name that Fugu uses for its own")
			}
		}
		return err == nil
	})
	if err != nil || len(asked) == 0 {
		return err
	}

	// In front, so that the client's own WITH queries see them. They are not recursive themselves: whether the client's
	// are is left as it is.
	if sel.WithClause == nil {
		sel.WithClause = &pg.WithClause{Location: -1}
	}
	for _, name := range []string{maskedOIDs, databaseOIDs, shownOIDs} {
		if asked[name] {
			sel.WithClause.Ctes = append([]*pg.Node{{Node: &pg.Node_CommonTableExpr{CommonTableExpr: &pg.CommonTableExpr{
				Ctename: name, Aliascolnames: []*pg.Node{pg.MakeStrNode("oid")},
				Ctematerialized: pg.CTEMaterialize_CTEMaterializeDefault, Ctequery: tree.Clone(lists[name]), Location: -1,
			}}}}, sel.WithClause.Ctes...)
		}
	}
	return nil
}
