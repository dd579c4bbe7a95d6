package planner

import (
	"math"
	"slices"
	"strings"

	"fugu/parser"
)

// Chosen bounds how many of the reference's rows the constants of a cut can have been chosen to leave out or to take in: who knows the
// reference can write a condition that says one thing of its very rows, and another of all others. b bits make one of 2^b statements, and
// among so many there may be one that holds for none of the reference's rows and for a part of the population of which it should show b ln 2 [Blumer,
// Ehrenfeucht, Haussler & Warmuth 1987, Occam's Razor, theorem 1]. What is compared with a constant is on either side of it: there are no more
// ways than places between the values of twice the rows, however long the constant is [Blumer et al. 1989, Learnability and the Vapnik-Chervonenkis
// Dimension]. An ordinary table can hold any number of constants.
//
// columns are those of the root by which rows can be told apart so; every: by all that belongs to them. reference is its number of rows.
func (b *Bound) Chosen(reference float64) (rows float64, columns []string, every bool) {
	bits := 0.0
	look := func(e parser.Expr) {
		var found []string
		other, ordinary, values := false, false, reference
		parser.Walk(e, func(e parser.Expr) {
			switch e := e.(type) {
			case parser.Column:
				switch t := b.sources.tables[e.Rel]; {
				case e.Rel == b.sources.root:
					found = append(found, e.Name)
				case t != nil:
					other = true
				default:
					ordinary = true
				}
			case parser.Semi:
				ordinary = true
			}
		})
		slices.Sort(found)
		if found = slices.Compact(found); len(found) == 1 && !other {
			if d, ok := b.Table.Domains[found[0]]; ok {
				values = math.Min(values, float64(len(d)))
			}
		}
		own := literalBits(b.sql(e), math.Log2(2*values+1))
		if ordinary {
			own = math.Inf(1)
		}
		if own == 0 {
			return
		}
		bits += own
		every = every || other
		columns = append(columns, found...)
	}
	for _, e := range slices.Concat(b.forms.keys, b.forms.where) {
		if l, ok := e.(parser.Logic); ok && l.Op == "AND" {
			for _, x := range l.Args {
				look(x)
			}
			continue
		}
		look(e)
	}
	for _, args := range b.forms.args {
		for _, e := range args {
			look(e)
		}
	}
	for _, s := range b.sources.list {
		if e := b.forms.on[s.Rel]; e != nil {
			look(e)
		}
	}
	slices.Sort(columns)
	return bits * math.Ln2, slices.Compact(columns), every
}

// literalBits is how many bits stand in the literals of printed SQL: eight in each byte of a string, and in a digit what ten digits tell; in one that
// something is compared with, compared at most.
func literalBits(sql string, compared float64) float64 {
	bits, list, last := 0.0, false, 0
	add := func(at, end int, own float64) {
		before := sql[last:at]
		list = strings.HasSuffix(before, " IN (") || list && strings.HasSuffix(before, ", ") && !strings.Contains(before, ")")
		if list || slices.ContainsFunc(comparisons, func(op string) bool { return strings.HasSuffix(before, op) }) {
			own = math.Min(own, compared)
		}
		bits, last = bits+own, end
	}
	for i := 0; i < len(sql); i++ {
		switch c := sql[i]; {
		case c == '\'' || c == '"':
			at, end := i, i+1
			for ; end < len(sql) && (sql[end] != c || end+1 < len(sql) && sql[end+1] == c); end++ {
				if sql[end] == c { // doubled
					end++
				}
			}
			if i = end; c == '\'' {
				add(at, end+1, 8*float64(end-at-1))
			}
		case c >= '0' && c <= '9' && (i == 0 || !word(sql[i-1])):
			at := i
			for i+1 < len(sql) && word(sql[i+1]) {
				i++
			}
			add(at, i+1, float64(i+1-at)*math.Log2(10))
		}
	}
	return bits
}

var comparisons = []string{" = ", " <> ", " < ", " > ", " <= ", " >= "}

func word(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
