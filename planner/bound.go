package planner

import (
	"context"
	"math/big"
	"slices"
	"strings"

	"fugu/parser"
	"fugu/planner/row"
)

// Bound is a cut with the values of its parameters in their places: what it asks for, down to the last row. Equal
// questions are equal here, however they were spelled.
type Bound struct {
	*Cut
	Cells []Cell // in domain order, the last key fastest, set after set; one without keys
	Bases []Base // what a row is evaluated to
	Terms []Term // the row functions that the aggregates are made of: products of bases

	Aggregates []Aggregate // the cut's, in an order of their own and each once, with the terms they are made of, or their domain
	Columns    []int       // for each aggregate of the cut as it was planned, the one here that is its value

	Cost row.Cost // of the expressions, for each row of the protected tables

	forms      forms
	given      map[int]string // the values of the client's parameters, by their numbers
	statistics string
	products   [][]int // the distinct products of at most two terms, as factors: the terms' own first
	product    []int   // term × term: which of the products it is
	packed     bool    // one label tells the classes of all the secrets that are predicates

	decided map[[2]int]Value // by cell and aggregate: the values that follow from the cell's keys

	partnered map[int]bool // by Rel: the sources of which a row of the root has one row at most
	beside    map[int]bool // by Rel: those of which each combination of protected rows has one at most, and protected ones
	once      bool         // all of them are
	apart     bool         // all that the keys speak of are
}

// Base is a value that a row is evaluated to: x with NULL as 0, or 1[x is not null]. Where a row of the root stands in
// several joined rows, it is a sum over all that belongs to it.
type Base struct {
	Label     string // as people read it
	Indicator bool   // 1[x is not null]
	Low, High string // what the policy says of x; empty: nothing

	args  []string // printed: it is their product; none: 1
	given []string // printed: it is 0 unless all of these are there, too
	whole bool     // x is of type int2 or int4
}

// Degree is how many values of a row are multiplied in x.
func (x Base) Degree() int {
	if x.Indicator {
		return 0
	}
	return max(1, len(x.args))
}

// Term is a row function h, the product of Factors, each an index in Bases; none: 1. F is made of its sums.
type Term struct {
	Label   string // as people read it
	Factors []int
}

// Single reports whether a row of the root counts at most once: h is 0 or 1.
func (b *Bound) Single(term int) bool {
	return !slices.ContainsFunc(b.Terms[term].Factors, func(i int) bool { return !b.Bases[i].Indicator })
}

// Layer numbers sets of cells that are disjoint: no row of the root is in two cells of one. They are the grouping sets, and each
// cell by itself where what belongs to one row can be in several cells.
func (b *Bound) Layer(cell int) int {
	if !b.apart {
		return cell
	}
	return b.Cells[cell].Set
}

// Limit bounds what one row may contribute to a base that is no Indicator: less and more is taken for the bound. They come
// from the policy or the reference, and so from nothing that a protected row could change.
type Limit struct {
	Low, High *big.Rat
	Sets      []Limit // by LimitSet, where grouping sets have limits of their own, within these; nil: all have these
}

// LimitSets is how many limits a base has: one, or one for each grouping set where what belongs to a row of the root is
// summed before it is bounded. A finer set has less of it in one group.
func (b *Bound) LimitSets() int {
	if b.once || b.Sets == nil {
		return 1
	}
	return len(b.Sets)
}

// LimitSet is the index of a grouping set's limits.
func (b *Bound) LimitSet(set int) int { return min(set, b.LimitSets()-1) }

// mask is what GROUPING of all keys is in a set.
func (b *Bound) mask(set []int) int {
	out := 0
	for k := range b.Keys {
		out <<= 1
		if !slices.Contains(set, k) {
			out |= 1
		}
	}
	return out
}

// forms are the expressions below a cut as they are evaluated.
type forms struct {
	keys  []parser.Expr
	args  [][]parser.Expr // of each aggregate; none: every row counts
	where []parser.Expr
	on    map[int]parser.Expr // of LEFT JOIN, by Rel
}

// written are the expressions as the client wrote them.
func (c *Cut) written() forms {
	f := forms{where: c.sources.where, on: map[int]parser.Expr{}}
	for _, k := range c.cut.Keys {
		f.keys = append(f.keys, k.Expr)
	}
	for _, a := range c.cut.Aggregates {
		f.args = append(f.args, a.Args)
	}
	for _, s := range c.sources.list {
		if s.Left {
			f.on[s.Rel] = s.On
		}
	}
	return f
}

func (f forms) whereSQL(number map[int]int) string {
	var parts []string
	for _, e := range f.where {
		parts = append(parts, parser.SQL(e, "t", number))
	}
	return strings.Join(parts, " AND ")
}

// settle binds the cut once and for all, if nothing in it depends on parameters or ordinary tables, and otherwise finds
// out what would be refused whatever they are.
func (c *Cut) settle(ctx context.Context, q Querier) error {
	if len(c.Params) > 0 || len(c.Ordinary) > 0 {
		if _, err := c.bare(ctx, q, make([][]byte, len(c.Params))); err != nil {
			return err
		}
		b := &Bound{Cut: c, forms: c.written()}
		for i := range c.Keys {
			if _, err := b.domainSQL(i); err != nil {
				return err
			}
		}
		return nil
	}
	b, err := c.Bind(ctx, q, nil)
	if err == nil && (len(b.Cells) <= maxKept || b.shared()) {
		c.static = b
	}
	return err
}

// Bind puts the values of the parameters, in text form, into the cut.
func (c *Cut) Bind(ctx context.Context, q Querier, values [][]byte) (*Bound, error) {
	if c.static != nil {
		return c.static, nil
	}
	b, err := c.bare(ctx, q, values)
	if err != nil {
		return nil, err
	}
	if err := b.partners(ctx, q); err != nil {
		return nil, err
	}
	b.terms()
	b.statistics = b.compose()
	if b.Cells, err = b.cells(ctx, q); err != nil {
		return nil, err
	}
	b.packed = b.pack()
	b.decided, err = b.decide(ctx, q)
	return b, err
}

// Reads lists the columns of protected tables that the statistics statement names, and so all that F depends on beside the
// number of their rows. A constant that holds such a name counts as one.
func (b *Bound) Reads() []string {
	var out []string
	for _, rel := range b.sources.protected {
		for _, c := range b.sources.tables[rel].Columns {
			if strings.Contains(b.statistics, parser.SQL(parser.Column{Name: c.Name, Rel: rel}, "t", nil)) && !slices.Contains(out, c.Name) {
				out = append(out, c.Name)
			}
		}
	}
	return out
}
