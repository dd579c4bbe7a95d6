package parser

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
)

// What FROM reads decides how far an aggregate of it may be off. Each of its rows has to belong to one row of one table
// with a secret, the root: then an aggregate is a sum over the root's rows, whichever were drawn, and its error is
// known whatever else is joined. So twins of one family are joined along their links, with tables that are what they
// are; and the twin stands where no outer join leaves it out.

// sampled is what the FROM clause of a SELECT reads of one family of twins.
type sampled struct {
	noisy bool  // it reads rows of a table whose answers have noise: the cut knows how far these are off
	table Table // whose rows lead to the root's
	alone bool  // it is all that is read, and has rows of its own: the root's

	keys    []*pg.Node // columns in FROM by which a row of it leads to the root's; see leading
	missing bool       // an outer join may leave the twins out, so that the keys are NULL
	alias   string     // of the twin whose columns the keys are; empty: it is a subquery's
}

// member is one name in FROM.
type member struct {
	alias   string
	table   Table      // a twin's, or the zero Table
	inner   []*pg.Node // of a subquery over twins: the columns that lead to the root's row; nil: it is a name
	missing bool       // an outer join may leave it out
	renamed bool       // its columns have other names in FROM
}

// twin reports whether its rows are a twin's.
func (m member) twin() bool { return m.table.Twin }

// fromReader goes through the FROM clause of one SELECT.
type fromReader struct {
	*analysis
	with    *with
	call    *pg.FuncCall // which asks for the error
	members []member
	ties    ties
	noisy   bool // it reads rows of a table whose answers have noise
}

// refusal says why the error of a call is not known, and what to write.
func (r *fromReader) refusal(hint, format string, args ...any) error {
	return r.refuse(r.call.Location, hint, "how far it may be off is not known: "+format, args...)
}

// ofNoise reports whether FROM reads rows of a table whose answers have noise.
func (a *analysis) ofNoise(from []*pg.Node, w *with) bool {
	_, table := a.protectedIn(from, w)
	return table.Name != "" && !table.Twin
}

// sampledFrom is what the FROM clause of a SELECT reads, if the error of the call in it is known.
func (a *analysis) sampledFrom(s *pg.SelectStmt, w *with, call *pg.FuncCall) (sampled, error) {
	r := &fromReader{analysis: a, with: w, call: call}
	for _, n := range s.FromClause {
		if err := r.read(n, alwaysThere); err != nil {
			return sampled{}, err
		}
	}
	if r.noisy {
		return sampled{noisy: true}, nil
	}
	return r.sampledIn(s)
}

// sampledIn is what has been read of the FROM clause of a SELECT.
func (r *fromReader) sampledIn(s *pg.SelectStmt) (sampled, error) {
	r.ties.where(s.WhereClause, r.members)
	twins := slices.DeleteFunc(slices.Clone(r.members), func(m member) bool { return !m.twin() })
	if len(twins) == 0 {
		return sampled{}, r.refusal(hintBeside, "its FROM reads no protected table")
	}

	// A table with rows of its own has its classes in its columns, by their own names.
	first := twins[0]
	alone := len(r.members) == 1 && !first.table.Linked && first.inner == nil
	if alone && first.renamed {
		first.table.Classes = nil
	}
	if !alone {
		if err := r.tied(twins); err != nil {
			return sampled{}, err
		}
	}

	// Any of them leads to the root's row. One that is always there does so for each row; where there is none, the one
	// that the aggregate is of, as another may be left out of some of its rows.
	i := slices.IndexFunc(twins, func(m member) bool { return !m.missing })
	if i < 0 {
		of := aliasOf(onlyArgument(r.call))
		i = slices.IndexFunc(twins, func(m member) bool { return m.inner == nil && m.alias == of })
	}
	if i >= 0 {
		first = twins[i]
	}
	out := sampled{table: first.table, alone: alone, missing: first.missing, keys: first.inner}
	if first.inner == nil {
		out.alias = first.alias
	}
	for _, column := range first.table.leading() {
		if first.inner == nil {
			out.keys = append(out.keys, columnRef(first.alias, column))
		}
	}
	return out, nil
}

// leading are the columns by which a row leads to that of the root: its own place, or those of its link.
func (t Table) leading() []string {
	if !t.Linked {
		return []string{"ctid"}
	}
	return t.Link.Own
}

// columnRef is a reference to a column of one of FROM's names.
func columnRef(alias, column string) *pg.Node { return &pg.Node{Node: tree.Qualified(alias, column)} }

// tied checks that all twins in FROM have rows of one row of the root.
func (r *fromReader) tied(twins []member) error {
	for _, m := range twins {
		switch {
		case m.table.Aggregates && m.table.Linked:
			return r.refusal("Ask for the aggregate alone. The policy's owner can write twin: {rows: shown} for it "+
				"and for the table that it is linked to.", "rows of the twin of %s are not listed, and its rows go "+
				"with those of another table, several with one", m.table)
		case m.table.Aggregates:
			return r.refusal("Ask for the aggregate alone; of a table with rows of its own, and nothing else in "+
				"FROM, it is known. The policy's owner can write twin: {rows: shown}.",
				"rows of the twin of %s are not listed, and it is not all that its FROM is", m.table)
		case m.table.Linked && m.table.Link == nil:
			return r.refusal("Ask for the aggregate alone. The policy's owner can show that column, and the rows "+
				"that it leads to.", "rows of %s go with those of another table, and its twin does not show with "+
				"which", m.table)
		case m.table.Linked && m.renamed:
			return r.refusal("Write the table's name in FROM without names of columns.",
				"columns of %s have other names in its FROM", m.table)
		}
	}

	// From the first twin the joins must lead to each other one, by way of any that were reached before.
	known := []member{twins[0]}
	rest := slices.Clone(twins[1:])
	for len(rest) > 0 {
		i := slices.IndexFunc(rest, func(m member) bool {
			return slices.ContainsFunc(known, func(k member) bool { return r.ties.together(k, m) })
		})
		if i < 0 {
			return r.refusal("Join them along the policy's links, with = in ON, USING or WHERE; or aggregate one in a "+
				"subquery, and join above.", "rows of the twins of %s and %s are not joined along a link",
				twins[0].table, rest[0].table)
		}
		known = append(known, rest[i])
		rest = slices.Delete(rest, i, i+1)
	}
	return nil
}
