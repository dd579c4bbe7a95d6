package parser

import (
	"errors"
	"fmt"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"fugu/sqlstate"
)

// Relation takes the place of a table above the cut: the columns of arrays, of one length, that are bound to the
// parameters from First on.
type Relation struct {
	Columns []RelationColumn
	First   int
}

// RelationColumn is one column. Type is SQL text that names its type, without the [] of the array.
type RelationColumn struct{ Name, Type string }

// Rewrite returns the statement with cut i replaced by cuts[i] and virtual table j by virtual[j], and the name of every
// output column as it was. It can be called once. The deparsed text is read back and compared with the tree it was made
// from: a statement that the deparser would change is refused.
func (s *Statement) Rewrite(cuts, virtual []Relation) (string, error) {
	if s.root == nil || len(cuts) != len(s.Cuts) || len(virtual) != len(s.Virtual) {
		return "", errors.New("rewriting a statement: each cut and virtual table takes one relation, once")
	}
	for i, c := range s.Cuts {
		from, err := unnest(cuts[i], &pg.Alias{Aliasname: c.Alias})
		if err != nil {
			return "", err
		}
		c.from.Node = from
	}
	for i, v := range s.Virtual {
		alias := v.node.GetRangeVar().Alias
		if alias == nil {
			alias = &pg.Alias{Aliasname: v.Table.Name}
		}
		from, err := unnest(virtual[i], alias)
		if err != nil {
			return "", err
		}
		v.node.Node = from
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
	inspect(s.root.Stmt.ProtoReflect(), func(m protoreflect.Message) bool {
		if c, ok := m.Interface().(*pg.ColumnRef); ok && len(c.Fields) == 3 && c.Fields[0].GetString_().GetSval() == s.Plain.Table.Schema &&
			c.Fields[1].GetString_().GetSval() == s.Plain.Table.Name {
			c.Fields = c.Fields[1:]
		}
		return true
	})
	rv.Catalogname, rv.Schemaname, rv.Relname = "", schema, name
	return s.deparse()
}

// unnest builds the FROM item  unnest($1::t1[], $2::t2[]) AS alias(c1, c2). Column names that the alias already has stay.
func unnest(r Relation, alias *pg.Alias) (*pg.Node_RangeFunction, error) {
	args := make([]string, len(r.Columns))
	names := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		args[i] = fmt.Sprintf("$%d::%s[]", r.First+i, c.Type)
		names[i] = QuoteIdent(c.Name)
		if i < len(alias.Colnames) {
			names[i] = QuoteIdent(alias.Colnames[i].GetString_().GetSval())
		}
	}
	sql := fmt.Sprintf("SELECT FROM unnest(%s) AS %s(%s)", strings.Join(args, ", "), QuoteIdent(alias.Aliasname), strings.Join(names, ", "))
	tree, err := pg.Parse(sql)
	if err != nil {
		return nil, fmt.Errorf("building a relation of arrays: %w", err)
	}
	f, ok := tree.Stmts[0].Stmt.GetSelectStmt().FromClause[0].Node.(*pg.Node_RangeFunction)
	if !ok {
		return nil, errors.New("building a relation of arrays: not a function in FROM")
	}
	return f, nil
}

// deparse writes the tree as SQL, and proves that it reads back as the same tree.
func (s *Statement) deparse() (string, error) {
	tree := &pg.ParseResult{Version: s.version, Stmts: []*pg.RawStmt{{Stmt: s.root.Stmt}}}
	s.root = nil
	sql, err := pg.Deparse(tree)
	if err != nil {
		return "", fmt.Errorf("deparsing: %w", err)
	}
	again, err := pg.Parse(sql)
	if err != nil || len(again.Stmts) != 1 || !sameTree(tree.Stmts[0].Stmt, again.Stmts[0].Stmt) {
		return "", sqlstate.New(sqlstate.NotAnswerable, "the statement cannot be rewritten without changing its meaning").
			WithHint("Write it more simply; parentheses and array subscripts are the usual reason.").Because(err).At(1)
	}
	return sql, nil
}

// sameTree compares two trees up to the places where their nodes stood. It changes both.
func sameTree(a, b *pg.Node) bool {
	for _, n := range []*pg.Node{a, b} {
		inspect(n.ProtoReflect(), func(m protoreflect.Message) bool {
			fields := m.Descriptor().Fields()
			for _, name := range []protoreflect.Name{"location", "arg_location", "stmt_location", "stmt_len"} {
				if f := fields.ByName(name); f != nil {
					m.Clear(f)
				}
			}
			return true
		})
	}
	return proto.Equal(a, b)
}
