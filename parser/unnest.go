package parser

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// Relation takes the place of a table above the cut: the columns of arrays, of one length, that are bound to the
// parameters from First on.
type Relation struct {
	Columns []RelationColumn
	First   int
}

// RelationColumn is one column. Type is SQL text that names its type, without the [] of the array.
type RelationColumn struct{ Name, Type string }

// modified reports whether the column's type has a modifier.
func (c RelationColumn) modified() bool { return strings.Contains(c.Type, "(") }

// unnest builds the FROM item  unnest($1::t1[], $2::t2[]) AS alias(c1, c2). Column names that the alias already has
// stay.
func unnest(r Relation, alias *pg.Alias) (*pg.Node_RangeFunction, error) {
	call := &pg.FuncCall{Funcname: []*pg.Node{pg.MakeStrNode("unnest")},
		Funcformat: pg.CoercionForm_COERCE_EXPLICIT_CALL}
	as := &pg.Alias{Aliasname: alias.Aliasname}
	for i, c := range r.Columns {
		t, err := arrayType(c.Type)
		if err != nil {
			return nil, err
		}
		arg := &pg.Node{Node: &pg.Node_ParamRef{ParamRef: &pg.ParamRef{Number: int32(r.First + i)}}}
		call.Args = append(call.Args, &pg.Node{Node: &pg.Node_TypeCast{TypeCast: &pg.TypeCast{Arg: arg, TypeName: t}}})
		name := c.Name
		if i < len(alias.Colnames) {
			name = alias.Colnames[i].GetString_().GetSval()
		}
		as.Colnames = append(as.Colnames, pg.MakeStrNode(name))
	}

	// The call, and no column definitions.
	list := &pg.List{Items: []*pg.Node{{Node: &pg.Node_FuncCall{FuncCall: call}}, {}}}
	return &pg.Node_RangeFunction{RangeFunction: &pg.RangeFunction{
		Functions: []*pg.Node{{Node: &pg.Node_List{List: list}}}, Alias: as}}, nil
}

// relation builds the FROM item that takes a table's place. unnest forgets the modifiers of types, such as the length
// of varchar(10): columns that have one are cast again above it.
func relation(r Relation, alias *pg.Alias) (*pg.Node, error) {
	f, err := unnest(r, alias)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(r.Columns, RelationColumn.modified) {
		return &pg.Node{Node: f}, nil
	}

	// PostgreSQL's unnest loses a type's modifier, as of numeric(8,2), so that each such column is cast once more.
	names := f.RangeFunction.Alias.Colnames
	s := &pg.SelectStmt{FromClause: []*pg.Node{{Node: f}}, LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT,
		Op: pg.SetOperation_SETOP_NONE}
	for i, c := range r.Columns {
		name := names[i].GetString_().Sval
		x := &pg.Node{Node: tree.Qualified(alias.Aliasname, name)}
		if c.modified() {
			array, err := arrayType(c.Type)
			if err != nil {
				return nil, err
			}
			array.ArrayBounds = nil
			x = &pg.Node{Node: &pg.Node_TypeCast{TypeCast: &pg.TypeCast{Arg: x, TypeName: array}}}
		}
		s.TargetList = append(s.TargetList,
			&pg.Node{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Name: name, Val: x}}})
	}

	sub := &pg.RangeSubselect{Subquery: &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: s}},
		Alias: &pg.Alias{Aliasname: alias.Aliasname}}
	return &pg.Node{Node: &pg.Node_RangeSubselect{RangeSubselect: sub}}, nil
}

// arrayTypes are the types that were parsed last; statements can ask for any number of them: numeric(7, 3).
var arrayTypes = func() *lru.Cache[string, *typeName] {
	c, _ := lru.New[string, *typeName](256)
	return c
}()

// typeName is a type  typ[]  as a tree, and the type  typ  as the deparser writes it.
type typeName struct {
	array *pg.TypeName
	sql   string
}

// arrayType reads the type  typ[]  from SQL text.
func arrayType(typ string) (*pg.TypeName, error) {
	t, err := readType(typ)
	if err != nil {
		return nil, err
	}
	return proto.Clone(t.array).(*pg.TypeName), nil
}

// TypeSQL writes a type that is given as SQL text as it stands in the texts of Rewrite.
func TypeSQL(typ string) (string, error) {
	t, err := readType(typ)
	if err != nil {
		return "", err
	}
	return t.sql, nil
}

func readType(typ string) (*typeName, error) {
	if t, ok := arrayTypes.Get(typ); ok {
		return t, nil
	}

	// The deparser takes pg_catalog.bpchar for a literal's type, and writes that in front of the value.
	name := typ
	if name == "pg_catalog.bpchar" {
		name = "bpchar"
	}
	parsed, err := pg.Parse("SELECT NULL::" + name + "[]")
	if err != nil {
		return nil, fmt.Errorf("building a relation of arrays: %w", err)
	}
	t := new(typeName)
	if len(parsed.Stmts) == 1 && len(parsed.Stmts[0].Stmt.GetSelectStmt().GetTargetList()) == 1 {
		t.array = parsed.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val.GetTypeCast().GetTypeName()
	}

	// The deparser's way to write it is what stands in the texts of Rewrite.
	text, err := pg.Deparse(parsed)
	cast, isCast := strings.CutPrefix(text, "SELECT NULL::")
	sql, isArray := strings.CutSuffix(cast, "[]")
	if t.sql = sql; t.array == nil || err != nil || !isCast || !isArray {
		return nil, errors.New("building a relation of arrays: not a type")
	}
	arrayTypes.Add(typ, t)
	return t, nil
}
