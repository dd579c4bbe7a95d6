package parser

import (
	"errors"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// Rewrite returns the statement with cut i replaced by cuts[i] and virtual table j by virtual[j], and the name of every
// output column as it was. It can be called once. The deparsed text is read back and compared with the tree it was made
// from: a statement that the deparser would change is refused.
func (s *Statement) Rewrite(cuts, virtual []Relation) (string, error) {
	if s.root == nil || len(cuts) != len(s.Cuts) || len(virtual) != len(s.Virtual) {
		return "", errors.New("rewriting a statement: each cut and virtual table takes one relation, once")
	}
	for i, c := range s.Cuts {
		from, err := relation(cuts[i], &pg.Alias{Aliasname: c.Alias})
		if err != nil {
			return "", err
		}
		c.from.Node = from.Node
		c.sel, c.from, c.read = nil, nil, nil // plans outlive the tree
	}

	// What the client called a virtual table stays its name.
	for i, v := range s.Virtual {
		alias := v.node.GetRangeVar().Alias
		if alias == nil {
			alias = &pg.Alias{Aliasname: v.Table.Name}
		}
		from, err := relation(virtual[i], alias)
		if err != nil {
			return "", err
		}
		v.node.Node = from.Node
	}
	return s.deparse()
}

// RewritePlain returns the statement with the protected table's rows replaced by those of schema.name.
func (s *Statement) RewritePlain(schema, name string) (string, error) {
	rv := s.Plain.rel
	if rv.Alias == nil {
		rv.Alias = &pg.Alias{Aliasname: rv.Relname}
	}
	// A reference by schema and table would not find the table under its alias.
	tree.Inspect(s.root.Stmt, func(m proto.Message) bool {
		if c, ok := m.(*pg.ColumnRef); ok && len(c.Fields) == 3 &&
			c.Fields[0].GetString_().GetSval() == s.Plain.Table.Schema &&
			c.Fields[1].GetString_().GetSval() == s.Plain.Table.Name {
			c.Fields = c.Fields[1:]
		}
		return true
	})
	rv.Catalogname, rv.Schemaname, rv.Relname = "", schema, name
	return s.deparse()
}

// deparse writes the tree as SQL, and proves that it reads back as the same tree.
func (s *Statement) deparse() (string, error) { return s.deparseAt(nil) }

// deparseAt is deparse, and tells the places of what it wrote, now and before, in bytes.
func (s *Statement) deparseAt(at func(now, before int32)) (string, error) {
	root := s.root.Stmt
	for _, c := range s.Cuts { // they live on in plans, which are kept; the tree does not
		c.sel, c.from, c.read = nil, nil, nil
	}
	s.root = nil
	return deparse(root, s.version, max(1, s.first), at)
}
