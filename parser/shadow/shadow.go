package shadow

import (
	"slices"
	"sync"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/lex"
	"fugu/parser/tree"
	"fugu/sqlstate"
)

// Statement is what the masks have to know of a statement.
type Statement struct {
	Root  *pg.Node // is changed in place
	Text  string   // that it stands in
	Begin int32    // the offset of its first word in Text, in bytes
	First int      // the position of that word, in characters from 1
}

// pass is the work on one statement.
type pass struct {
	Statement
	changed bool
}

// refuse is the error that what stands at an offset of the text cannot be masked.
func (p *pass) refuse(offset int32, hint, format string, args ...any) error {
	return sqlstate.New(sqlstate.NotAnswerable, format, args...).WithHint("%s", hint).At(tree.Position(p.Text, offset))
}

// Shadows stand between clients and the catalog's values that depend on protected rows: sizes, row counts, statistics
// of use. A statement that could see one is rewritten so that it gets a public value, or NULL, in its place; one that
// cannot be rewritten is refused. nil shadows nothing. They are safe for concurrent use.
type Shadows struct {
	relations map[string]subselect // what stands in the place of each relation
	masked    *pg.Node             // lists the oids of everything that depends on protected rows
	databases *pg.Node             // lists the oids of this database and of all that hold protected rows
	sized     *pg.SelectStmt       // what stands for a relation whose size is asked for
	whole     bool                 // some table shows without its partitions
}

// subselect is an item of FROM that is parsed when it is first wanted: there are some forty, and most are never asked
// for.
type subselect func() (*pg.Node, error)

// New returns the shadows for the protected tables of one database, and for what its catalog shows of the databases
// beside it: sessions of every database of a server see sizes and counters of all. Without either there are none.
// columns are those of Relations, as the server has them; a relation that it does not have is left out.
func New(roots []Root, columns map[string][]Column, beside ...Database) (*Shadows, error) {
	if len(roots) == 0 && len(beside) == 0 {
		return nil, nil
	}

	// Templates of what stands in for masked values: sizes, oids of relations, oids of databases.
	s := &Shadows{relations: map[string]subselect{}, whole: wholeTwins(roots) != ""}
	node, err := template(sizedShape(roots))
	if err != nil {
		return nil, err
	}
	s.sized = node.GetSelectStmt()
	if s.masked, err = template(maskedList(roots)); err != nil {
		return nil, err
	}
	if s.databases, err = template(databaseList(beside)); err != nil {
		return nil, err
	}

	// The relations of the catalog, with the columns that this server's have.
	for name, shadow := range shadowed {
		cs, ok := columns[name]
		if !ok && shadow.where == "" {
			continue
		}
		body, err := shadow.body(name, cs, roots)
		if err != nil {
			return nil, err
		}
		s.relations[name] = sync.OnceValues(func() (*pg.Node, error) {
			node, err := template("SELECT FROM (" + body + ") AS x")
			if err != nil {
				return nil, err
			}
			return node.GetSelectStmt().FromClause[0], nil
		})
	}
	return s, nil
}

// Relations are the catalog relations whose columns New needs to know.
func Relations() []string {
	var names []string
	for name, s := range shadowed {
		if s.where == "" {
			names = append(names, name)
		}
	}
	return names
}

// shadowing is the pass over one statement that puts the shadows in.
type shadowing struct {
	*pass
	shadows *Shadows
	from    map[*pg.FuncCall]bool // calls that stand as items of FROM
	bare    map[*pg.FuncCall]bool // calls that stand where PostgreSQL takes no subquery
	ctes    map[string]bool
	aliases map[string]bool // names by which whole rows of pg_class can be meant
	exposed bool            // it could see a masked column of pg_class
	changed bool            // by this pass over it
}

// suspect finds out what the client's statement could see, before anything of ours stands in it, and refuses what
// cannot be masked.
func (p *pass) suspect(shadows *Shadows) (*shadowing, error) {
	s := &shadowing{pass: p, shadows: shadows, from: map[*pg.FuncCall]bool{}, bare: map[*pg.FuncCall]bool{},
		ctes: map[string]bool{}, aliases: map[string]bool{}}
	root := p.Root

	if scan, err := pg.Scan(p.Text); err != nil || ambiguous(p.Text, scan.Tokens) {
		return nil, s.refuse(p.Begin,
			"Write E'\\\\' for a backslash at the end of a string, or pass the string as a parameter.",
			"a backslash before a quote is not read alike everywhere, and the text names what may depend on "+
				"protected rows")
	}

	// What may run as code is refused before anything is replaced: it could not be.
	if err := s.refuseDynamic(root); err != nil {
		return nil, err
	}
	s.survey(root)
	if err := s.names(root); err != nil {
		return nil, err
	}
	s.exposed = s.exposes(root)
	return s, nil
}

// cast puts the shadows in the place of what could show protected values, anywhere in the statement.
func (s *shadowing) cast() error {
	if err := s.replace(s.Root, s.exposed); err != nil {
		return err
	}
	s.pass.changed = s.pass.changed || s.changed
	return s.refuseArguments(s.Root)
}

// refuseArguments refuses masked values as arguments of EXECUTE, which takes no subselect and is not always sent as it
// was rewritten.
func (s *shadowing) refuseArguments(root *pg.Node) error {
	var err error
	tree.Inspect(root, func(m proto.Message) bool {
		if x, ok := m.(*pg.ExecuteStmt); ok && s.changed {
			err = sqlstate.New(sqlstate.NotAnswerable, "arguments of EXECUTE %s cannot ask the catalog",
				lex.QuoteIdent(x.Name)).
				WithHint("Ask for the value first.").At(max(1, s.First))
		}
		return err == nil
	})
	return err
}

// survey notes what the other steps must know of the whole statement.
func (s *shadowing) survey(root *pg.Node) {
	tree.Inspect(root, func(m proto.Message) bool {
		for _, n := range bareExpressions(m) {
			s.surveyBare(n)
		}

		// What a name may refer to is known only when all of the statement has been seen.
		switch x := m.(type) {
		case *pg.RangeFunction:
			for _, item := range x.Functions {
				for _, n := range item.GetList().GetItems() {
					if f := n.GetFuncCall(); f != nil {
						s.from[f] = true
					}
				}
			}
		case *pg.CommonTableExpr:
			s.ctes[x.Ctename] = true
		case *pg.RangeVar:
			if x.Relname == "pg_class" {
				s.aliases[x.Relname] = true
				s.aliases[x.GetAlias().GetAliasname()] = true
			}
		case *pg.JoinExpr:
			s.aliases[x.GetAlias().GetAliasname()] = true
			s.aliases[x.GetJoinUsingAlias().GetAliasname()] = true
		}
		return true
	})
}

// exposes reports whether the statement could see a masked column of pg_class: by its name, by *, by a whole row, by a
// natural join, or under another name. When in doubt it could.
func (s *shadowing) exposes(root *pg.Node) bool {
	found := false

	// What stands in a string is no name.
	tree.Inspect(root, func(m proto.Message) bool {
		switch x := m.(type) {
		case *pg.A_Star:
			found = true
		case *pg.A_Const:
			return false
		case *pg.String:
			_, masked := classMasks[x.Sval]
			found = found || masked || s.shadows.whole && (asWhole[x.Sval] != "" || x.Sval == "relispartition")
		case *pg.ColumnRef:
			found = found || s.aliases[tree.LastString(x.Fields)]
		case *pg.JoinExpr:
			found = found || x.IsNatural || len(x.GetAlias().GetColnames()) > 0
		case *pg.RangeVar:
			found = found || x.Relname == "pg_class" && len(x.GetAlias().GetColnames()) > 0
		}
		return !found
	})
	return found
}

// replace puts subselects in the place of shadowed relations in FROM, and masks the arguments of functions.
func (s *shadowing) replace(root *pg.Node, exposed bool) error {
	var err error
	var calls []*pg.Node
	relations := relationsIn(root)
	tree.Inspect(root, func(m proto.Message) bool {
		switch x := m.(type) {
		case *pg.RangeTableSample:
			if rv := x.Relation.GetRangeVar(); rv != nil && s.find(rv) != nil && (exposed || rv.Relname != "pg_class") {
				err = s.refuse(rv.Location, "Leave out TABLESAMPLE.", "a sample of %s cannot be taken through Fugu",
					rv.Relname)
			}
		case *pg.CopyStmt:
			if rv := x.Relation; rv != nil && s.find(rv) != nil {
				err = s.refuse(rv.Location, "Use COPY (SELECT ...) TO STDOUT.",
					"%s holds values that depend on protected rows, and cannot be copied as a table", rv.Relname)
			}
		case *pg.Node:
			if x.GetFuncCall() != nil {
				calls = append(calls, x)
			}
		}
		return err == nil
	})

	for _, n := range relations {
		if err == nil {
			err = s.relation(n, n.GetRangeVar(), exposed)
		}
	}
	// Innermost first: a call's arguments may hold calls.
	for i := len(calls) - 1; i >= 0 && err == nil; i-- {
		err = s.call(calls[i], calls[i].GetFuncCall())
	}
	return err
}

// relationsIn are the relations that stand in FROM, or wherever else a subselect can.
func relationsIn(root *pg.Node) (relations []*pg.Node) {
	items := func(ns ...*pg.Node) {
		for _, n := range ns {
			if n.GetRangeVar() != nil {
				relations = append(relations, n)
			}
		}
	}

	// The target of an INSERT or UPDATE is none: no subselect can stand there.
	tree.Inspect(root, func(m proto.Message) bool {
		switch x := m.(type) {
		case *pg.SelectStmt:
			items(x.FromClause...)
		case *pg.UpdateStmt:
			items(x.FromClause...)
		case *pg.DeleteStmt:
			items(x.UsingClause...)
		case *pg.MergeStmt:
			items(x.SourceRelation)
		case *pg.JoinExpr:
			items(x.Larg, x.Rarg)
		}
		return true
	})
	return relations
}

// find returns the shadow that a reference needs, nil for none.
func (s *shadowing) find(rv *pg.RangeVar) subselect {
	shadow, ok := shadowed[rv.Relname]
	if !ok || rv.Schemaname != "" && rv.Schemaname != "pg_catalog" && !shadow.extension {
		return nil
	}
	return s.shadows.relations[rv.Relname]
}

func (s *shadowing) relation(n *pg.Node, rv *pg.RangeVar, exposed bool) error {
	shadow := s.find(rv)
	switch {
	case shadow == nil && (rv.Schemaname == "" || rv.Schemaname == "pg_catalog") && unknownStatistics(rv.Relname):
		// Also where a WITH query of that name stands somewhere: which of the two is meant is not looked at.
		return s.refuse(rv.Location, "Its values may depend on protected rows.", "%s cannot be read through Fugu",
			rv.Relname)
	case shadow == nil, rv.Relname == "pg_class" && !exposed:
		return nil
	case rv.Schemaname == "" && s.ctes[rv.Relname]:
		return s.refuse(rv.Location, "Give the WITH query another name.",
			"a WITH query has the name of the catalog's %s", rv.Relname)
	}

	// Under the name that the statement gives it, so that nothing else of it has to change.
	item, err := shadow()
	if err != nil {
		return err
	}
	sub := tree.Clone(item.GetRangeSubselect())
	sub.Alias = rv.Alias
	if sub.Alias == nil {
		sub.Alias = &pg.Alias{Aliasname: rv.Relname}
	}
	if sel := sub.Subquery.GetSelectStmt(); rv.Relname == "pg_class" {
		sel.TargetList = append(sel.TargetList, s.systemColumns()...)
	} else if from := sel.FromClause[0].GetRangeVar(); shadowed[rv.Relname].extension {
		from.Schemaname = rv.Schemaname
	}

	n.Node = &pg.Node_RangeSubselect{RangeSubselect: sub}
	unqualify(s.Root, "pg_catalog", rv.Relname)
	s.changed = true
	return nil
}

// names refuses the name of a masked or refused function anywhere but in a call of it, where the call could not be seen
// later: CREATE OPERATOR, AGGREGATE, CAST, and the notation row.function.
func (s *shadowing) names(m proto.Message) (err error) {
	// An expression's call is looked at by itself; any other funcname is of a function to be called later.
	var called []*pg.Node
	switch x := m.(type) {
	case *pg.A_Const, *pg.Alias:
		return nil
	case *pg.ColumnRef:
		if len(x.Fields) > 1 {
			return s.names(x.Fields[len(x.Fields)-1])
		}
		return nil
	case *pg.String:
		if functionKind(x.Sval) != openFunction {
			return sqlstate.New(sqlstate.NotAnswerable, "%s can be used in a plain function call only", x.Sval).
				WithHint("Its values may depend on protected rows.").At(max(1, s.First))
		}
	case *pg.FuncCall:
		called = x.Funcname
	}

	tree.Below(m, func(child proto.Message) {
		if n, ok := child.(*pg.Node); err == nil && !(ok && slices.Contains(called, n)) {
			err = s.names(child)
		}
	})
	return err
}
