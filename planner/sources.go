package planner

import (
	"fmt"
	"slices"

	"fugu/parser"
	"fugu/planner/protected"
	"fugu/sqlstate"
)

// sources is what a cut reads, so that every combination of rows belongs to one row of the root: a statistic of the
// combinations is then a sum over the root's rows, each with what belongs to it.
type sources struct {
	list      []parser.Source
	where     []parser.Expr
	tables    map[int]*Table // the protected ones, by Rel
	root      int            // Rel
	equal     [][2]parser.Column
	protected []int       // Rel of the protected ones, in order
	parent    map[int]int // by Rel of a linked one: that of the source whose rows its rows belong to
}

// hiddenRel numbers the sources that only a link brings in.
const hiddenRel = 10_000

func newSources(c *parser.Cut, tables protected.Tables) (*sources, error) {
	s := &sources{list: slices.Clone(c.Sources), tables: map[int]*Table{}, parent: map[int]int{}, root: -1}
	if c.Where != nil {
		s.where = []parser.Expr{c.Where}
	}
	for _, src := range s.list {
		if src.Table.Ordinary {
			continue
		}
		t, ok := tables.Protected(src.Table.Schema, src.Table.Name)
		if !ok {
			return nil, fmt.Errorf("planning: no protected table %s", src.Table)
		}
		if t.AtLeast > 0 {
			return nil, sqlstate.New(sqlstate.NotAnswerable,
				"rows of %s, which are answered from a twin, cannot be read below an aggregate of rows with noise", t).
				WithHint("Aggregate each in a subquery of its own, and join the results.").At(src.Position)
		}
		if t.Twin {
			return nil, sqlstate.New(sqlstate.ModelUnfit,
				"table %s is answered from its twin, and the twin is not built or not served yet", t).
				WithHint("The policy's owner can build it: fugu twin build.")
		}
		s.tables[src.Rel] = t
		s.protected = append(s.protected, src.Rel)
	}

	// Links are looked for among the equalities that hold once it is clear which rows an outer join keeps.
	if err := s.outer(); err != nil {
		return nil, err
	}
	s.equalities(s.where)
	for i := 0; i < len(s.protected); i++ { // grows by the sources that links bring in
		if err := s.link(s.protected[i]); err != nil {
			return nil, err
		}
	}
	if s.root < 0 {
		return nil, fmt.Errorf("planning: a cut without a root")
	}
	return s, nil
}

func (s *sources) source(rel int) *parser.Source {
	return &s.list[slices.IndexFunc(s.list, func(x parser.Source) bool { return x.Rel == rel })]
}

// columnType names the type of a protected table's column, with its modifier; empty for other expressions.
func (s *sources) columnType(e parser.Expr) (string, error) {
	if col, ok := e.(parser.Column); ok && s.tables[col.Rel] != nil {
		return s.tables[col.Rel].ColumnType(col.Name)
	}
	return "", nil
}

// outer sees to it that protected rows stand on the side of LEFT JOIN that keeps its rows. The table that another links
// to is never missing, so LEFT JOIN and JOIN are the same for it.
func (s *sources) outer() error {
	for i, rel := range s.protected {
		src := s.source(rel)
		if !src.Left {
			continue
		}

		before := s.protected[:i]
		linksHere := func(b int) bool {
			l := s.tables[b].Link
			return l != nil && l.To == s.tables[rel] && !s.source(b).Left
		}
		if slices.ContainsFunc(before, linksHere) {
			src.Left = false
			if src.On != nil {
				s.where, src.On = append(s.where, src.On), nil
			}
			continue
		}

		// Rows that belong to others may be missing where these are not.
		stays := func(b int) bool { return !s.source(b).Left }
		if s.tables[rel].Link == nil || !slices.ContainsFunc(before, stays) {
			return sqlstate.New(sqlstate.NotAnswerable,
				"the protected table %s stands on the side of an outer join that can be missing", src.Table).
				WithHint("Put the protected table first: FROM %s LEFT JOIN ...; or use JOIN.", src.Table).
				At(src.Position)
		}
	}
	return nil
}

// equalities collects the equalities of columns that hold for every combination that the conditions let through.
func (s *sources) equalities(conditions []parser.Expr) {
	for _, e := range conditions {
		switch e := e.(type) {
		case parser.Logic:
			if e.Op == "AND" {
				s.equalities(e.Args)
			}
		case parser.Binary:
			l, okL := e.L.(parser.Column)
			r, okR := e.R.(parser.Column)
			if e.Op == "=" && okL && okR {
				l.Position, r.Position = 0, 0
				s.equal = append(s.equal, [2]parser.Column{l, r})
			}
		}
	}
}

// equals reports whether two columns are equal by way of the equalities.
func (s *sources) equals(a, b parser.Column) bool {
	reached := []parser.Column{a}
	for i := 0; i < len(reached); i++ {
		for _, e := range s.equal {
			for j := range 2 {
				if e[j] == reached[i] && !slices.Contains(reached, e[1-j]) {
					reached = append(reached, e[1-j])
				}
			}
		}
	}
	return slices.Contains(reached, b)
}

// link finds the rows that a source's rows belong to, or brings them in, and proves that the statement keeps them
// together.
func (s *sources) link(rel int) error {
	src, t := *s.source(rel), s.tables[rel]
	if t.Link == nil {
		if s.root >= 0 {
			return s.unlinked(rel)
		}
		s.root = rel
		return nil
	}

	// The rows that it belongs to may stand in the statement already, joined as the policy links them.
	if src.Left { // what ON says holds for the rows that it joins
		kept := s.equal
		defer func() { s.equal = kept }()
		s.equalities([]parser.Expr{src.On})
	}
	present := false
	for _, p := range s.protected {
		if s.tables[p] != t.Link.To {
			continue
		}
		present = true
		if !slices.ContainsFunc(t.Link.Keys, func(k LinkKey) bool {
			return !s.equals(parser.Column{Name: k.Own, Rel: rel}, parser.Column{Name: k.To, Rel: p})
		}) {
			s.parent[rel] = p
			return nil
		}
	}
	if present || src.Left {
		k := t.Link.Keys[0]
		return sqlstate.New(sqlstate.NotAnswerable,
			"%s and %s are joined otherwise than the policy links them", t, t.Link.To).
			WithHint("Join them ON %s.%s = %s.%s.", t.Name, k.Own, t.Link.To.Name, k.To).At(src.Position)
	}
	s.bringIn(rel)
	return nil
}

// unlinked refuses a second root.
func (s *sources) unlinked(rel int) error {
	other, t, position := s.source(s.root).Table, s.tables[rel], s.source(rel).Position
	if s.tables[s.root] == t {
		return sqlstate.New(sqlstate.NotAnswerable, "the protected table %s is joined with itself", t).
			WithHint("Aggregate each in a subquery of its own, and join the results.").At(position)
	}
	return sqlstate.New(sqlstate.NotAnswerable, "the protected tables %s and %s are not linked", other, t).
		WithHint("Ask about each in a subquery of its own and join the results. Or the policy can link them: under "+
			"tables, %s with link: {to: %s, on: ...}, where rows of %s belong to rows of %s; or the other way round.",
			t, other, t, other).
		At(position)
}

// bringIn joins the table that a source's rows belong to, each to the one row with its key.
func (s *sources) bringIn(rel int) {
	t := s.tables[rel]
	hidden := parser.Source{Rel: hiddenRel + len(s.list)}
	hidden.Table = parser.Table{Schema: t.Link.To.Schema, Name: t.Link.To.Name}
	s.list = append(s.list, hidden)
	s.tables[hidden.Rel], s.parent[rel] = t.Link.To, hidden.Rel
	s.protected = append(s.protected, hidden.Rel)

	var on []parser.Expr
	for _, k := range t.Link.Keys {
		to, own := parser.Column{Name: k.To, Rel: hidden.Rel}, parser.Column{Name: k.Own, Rel: rel}
		on = append(on, parser.Binary{Op: "=", L: to, R: own})
	}
	s.where = append(s.where, on...)
	s.equalities(on)
}

// from prints the FROM clause over the protected tables, or over their references; on gives the conditions of LEFT
// JOIN, nil as they were written.
func (s *sources) from(on map[int]parser.Expr, number map[int]int, reference bool) string {
	list := s.list
	if on != nil {
		list = slices.Clone(list)
		for i := range list {
			if list[i].Left {
				list[i].On = on[list[i].Rel]
			}
		}
	}

	// Each table is read under its own name, or the reference in its place.
	return parser.FromSQL(list, "t", number, func(src parser.Source) string {
		t := s.tables[src.Rel]
		switch {
		case t == nil:
			return parser.QuoteIdent(src.Table.Schema) + "." + parser.QuoteIdent(src.Table.Name)
		case reference:
			return t.Reference
		}
		return t.Quoted()
	})
}

// beside prints the sources side by side, for what they are and not for which rows they have.
func (s *sources) beside() string {
	plain := slices.Clone(s.list)
	for i := range plain {
		plain[i].Left, plain[i].On = false, nil
	}
	return (&sources{list: plain, tables: s.tables}).from(nil, nil, false)
}

// single reports whether the cut reads nothing but one table's rows: each then stands for itself.
func (s *sources) single() bool { return len(s.list) == 1 }
