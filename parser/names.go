package parser

import (
	"strings"

	"fugu/internal/nearest"
)

// names says what the column references at one place below a cut mean.
type names struct {
	items  []item
	merged map[string]Expr // columns joined by USING, which stand unqualified for both sides
	outer  *names          // of the query around a subquery
}

// item is one relation that FROM names.
type item struct {
	alias  string
	schema string // with alias, what a reference by schema and table says; empty: none
	output []output
}

// output is a column of a relation, by what it stands for.
type output struct {
	name string
	expr Expr
}

func (it item) find(name string) Expr {
	for _, o := range it.output {
		if o.name == name {
			return o.expr
		}
	}
	return nil
}

// means reports whether the qualifier of a column reference names the relation.
func (it item) means(q []string) bool {
	switch len(q) {
	case 1:
		return q[0] == it.alias
	case 2:
		return it.schema != "" && q[0] == it.schema && q[1] == it.alias
	}
	return false
}

// has reports whether an unqualified name is a column's.
func (ns *names) has(name string) bool {
	e, _ := ns.unqualified(name)
	return e != nil
}

func (ns *names) unqualified(name string) (e Expr, twice bool) {
	if e := ns.merged[name]; e != nil {
		return e, false
	}
	for _, it := range ns.items {
		if x := it.find(name); x != nil {
			if e != nil {
				return nil, true
			}
			e = x
		}
	}
	return e, false
}

// nearest is the column that a reference means which nobody knows, with the name of its relation; empty: none is near.
func (ns *names) nearest(name string, qualifier []string) string {
	// A name means the innermost relation that has it, as everywhere in SQL.
	of := map[string]string{}
	var known []string
	for ; ns != nil; ns = ns.outer {
		for _, it := range ns.items {
			if len(qualifier) > 0 && !it.means(qualifier) {
				continue
			}
			for _, o := range it.output {
				if _, twice := of[o.name]; !twice {
					known = append(known, o.name)
					of[o.name] = it.alias
				}
			}
		}
	}

	meant := nearest.Of(name, known)
	switch {
	case meant == "":
		return ""
	case of[meant] == "":
		return QuoteIdent(meant)
	}
	return QuoteIdent(of[meant]) + "." + QuoteIdent(meant)
}

// unreadable is a column of a derived table that no expression of ours can say. It stands for its error, until it is
// named.
type unreadable struct{ err error }

func (unreadable) sql(*strings.Builder, printer) {}
