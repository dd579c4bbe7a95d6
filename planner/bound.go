package planner

import (
	"math/big"
	"slices"
	"strings"

	"fugu/planner/row"
)

// Bound is a cut with the values of its parameters in their places: what it asks for, down to the last row. Equal
// questions are equal here, however they were spelled.
type Bound struct {
	*Cut
	Cells []Cell // in domain order, the last key fastest, set after set; one without keys
	Bases []Base // what a row is evaluated to
	Terms []Term // the row functions that the aggregates are made of: products of bases

	// Aggregates are the cut's, in an order of their own and each once, with the terms they are made of, or their
	// domain; Columns has for each aggregate of the cut as it was planned the one here that is its value.
	Aggregates []Aggregate
	Columns    []int

	Cost row.Cost // of the expressions, for each row of the protected tables

	forms      forms
	given      map[int]string // the values of the client's parameters, by their numbers
	statistics string
	products   [][]int // the distinct products of at most two terms, as factors: the terms' own first
	product    []int   // term × term: which of the products it is
	packed     bool    // one label tells the classes of all the secrets that are predicates

	decided map[[2]int]Value // by cell and aggregate: the values that follow from the cell's keys

	// By Rel: the sources of which a row of the root has one row at most, and those of which each combination of
	// protected rows has one at most, with the protected ones.
	partnered, beside map[int]bool

	once  bool // all sources are partnered
	apart bool // all that the keys speak of are
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

// Layer numbers sets of cells that are disjoint: no row of the root is in two cells of one. They are the grouping sets,
// and each cell by itself where what belongs to one row can be in several cells.
func (b *Bound) Layer(cell int) int {
	if !b.apart {
		return cell
	}
	return b.Cells[cell].Set
}

// Simple reports whether F is made of sums over single rows of the root, each in one cell at most.
func (b *Bound) Simple() bool { return b.sources.single() && b.Sets == nil }

// Joined reports whether a row of the root can stand in several rows of what the cut reads.
func (b *Bound) Joined() bool { return !b.once }

// Disjoint reports whether a row of the root is in one cell of each grouping set at most.
func (b *Bound) Disjoint() bool { return b.apart }

// Limit bounds what one row may contribute to a base that is no Indicator: less and more is taken for the bound. They
// come from the policy or the reference, and so from nothing that a protected row could change.
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

// sets are the grouping sets, each the places of its keys; without any all keys are one.
func (b *Bound) sets() [][]int {
	if b.Sets != nil {
		return b.Sets
	}
	all := make([]int, len(b.Keys))
	for i := range all {
		all[i] = i
	}
	return [][]int{all}
}

// inSet lists the cells of a grouping set.
func (b *Bound) inSet(set int) []int {
	var out []int
	for i, c := range b.Cells {
		if c.Set == set {
			out = append(out, i)
		}
	}
	return out
}

// sampled lists the aggregates that are no functions of sums.
func (b *Bound) sampled() []int {
	var out []int
	for i, a := range b.Aggregates {
		if a.Sampled != nil {
			out = append(out, i)
		}
	}
	return out
}

// argument is the place of a sampled aggregate's argument among the Bases; -1 where it is not bounded.
func (b *Bound) argument(aggregate int) int {
	a := b.Aggregates[aggregate]
	if len(a.Terms) < 2 {
		return -1
	}
	of := b.Terms[a.Terms[1]].Factors
	return of[slices.IndexFunc(of, func(i int) bool { return !b.Bases[i].Indicator })]
}

// Argument is argument, for models.
func (b *Bound) Argument(aggregate int) int { return b.argument(aggregate) }

// Product returns the number of the sum in the moments statement that has the product of two terms. The sum of a term
// alone has the term's own number, and the number of rows is the sum of term 0.
func (b *Bound) Product(i, j int) int { return b.product[i*len(b.Terms)+j] }

// Products is how many sums there are.
func (b *Bound) Products() int { return len(b.products) }

// Reads lists the columns of protected tables that the statistics statement names, and so all that F depends on beside
// the number of their rows. A constant that holds such a name counts as one.
func (b *Bound) Reads() []string {
	var out []string
	for _, rel := range b.sources.protected {
		for _, c := range b.sources.tables[rel].Columns {
			if strings.Contains(b.statistics, columnSQL(c.Name, rel)) && !slices.Contains(out, c.Name) {
				out = append(out, c.Name)
			}
		}
	}
	return out
}
