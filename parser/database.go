package parser

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

// ofThisDatabase refuses a name that says another database than the session's, in PostgreSQL's words: without its
// database it would mean something of this one's, and be answered. PostgreSQL looks at the database and forgets it.
func (a *analysis) ofThisDatabase() (err error) {
	placed, ok := a.catalog.(Placed)
	if !ok || placed.Database() == "" {
		return nil
	}
	refuse := func(location int32, name string) {
		err = sqlstate.New(sqlstate.FeatureNotSupported, "cross-database references are not implemented: %s", name).
			At(a.src.position(location))
	}

	// A table's name has three parts then, and a column's four.
	tree.Inspect(a.stmt.root.Stmt, func(m proto.Message) bool {
		switch x := m.(type) {
		case *pg.RangeVar:
			if x.Catalogname != "" && x.Catalogname != placed.Database() {
				refuse(x.Location, `"`+strings.Join([]string{x.Catalogname, x.Schemaname, x.Relname}, ".")+`"`)
			}
		case *pg.ColumnRef:
			if len(x.Fields) == 4 && x.Fields[0].GetString_().GetSval() != placed.Database() {
				refuse(x.Location, dotted(x.Fields))
			}
		}
		return err == nil
	})
	return err
}

// dotted is a name as PostgreSQL's messages have it.
func dotted(fields []*pg.Node) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		if parts[i] = f.GetString_().GetSval(); f.GetAStar() != nil {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, ".")
}
