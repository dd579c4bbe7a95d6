package planner

import (
	"fmt"
	"math/big"
	"strconv"

	"fugu/parser"
)

// maxBits is how many predicates one number tells at most: each doubles the text that says so.
const maxBits = 4

// Of a number that it has no statistics of, PostgreSQL expects so many values; and it sorts all rows where it expects
// the groups to take more than its work_mem, of which it has so much if nobody sets it.
const (
	values    = 200
	workMem   = 4 << 20
	groupSize = 96 // bytes, beside the sums
	sumSize   = 16
)

// pack reports whether one number, with a bit for each, tells which of the secrets' predicates hold. PostgreSQL
// hashes and compares every column that it groups by on its own, and for each row.
func (b *Bound) pack() bool {
	predicates, numbers := 0, 0
	for _, s := range b.Table.Secrets {
		switch {
		case s.Predicate != nil:
			predicates++
		case s.Number != nil:
			numbers++
		}
	}
	sums := len(b.products) + numbers*len(b.Terms) + len(b.sizes())
	return b.once && predicates > 1 && predicates <= maxBits && len(b.Cells)*values*(groupSize+sumSize*sums) <= workMem
}

// labels writes what tells a row's classes, and gives its names.
func (b *Bound) labels(alias string) (names, columns []string) {
	add := func(name, sql string) { names, columns = append(names, name), append(columns, sql+" AS "+name) }
	if b.packed {
		var predicates []string
		for _, s := range b.Table.Secrets {
			if s.Predicate != nil {
				predicates = append(predicates, parser.SQL(s.Predicate, alias, nil))
			}
		}
		add("c", bits(predicates, 0, 0))
	}

	for i, s := range b.Table.Secrets {
		if s.Number == nil && !(b.packed && s.Predicate != nil) {
			add("s"+strconv.Itoa(i), s.Label(alias))
		}
	}
	return names, columns
}

// bits writes the number in which a bit is set for each of the predicates that holds, from number first on, where those
// before make it so far. Each is evaluated once.
func bits(predicates []string, first, sofar int) string {
	if first == len(predicates) {
		return strconv.Itoa(sofar)
	}
	return "CASE WHEN " + predicates[first] + " THEN " + bits(predicates, first+1, sofar|1<<first) +
		" ELSE " + bits(predicates, first+1, sofar) + " END"
}

// Classes reads the labels in a row of Moments, which stand behind its Head: the class of each secret, 0 where the mean
// of a number is secret, -1 where the row is in none; and what comes behind them.
func (b *Bound) Classes(row []Value) (class []int, rest []Value, err error) {
	class = make([]int, len(b.Table.Secrets))
	set := 0
	if b.packed {
		if set, err = strconv.Atoi(row[0].Text); err != nil {
			return nil, nil, fmt.Errorf("reading which predicates hold: %w", err)
		}
		row = row[1:]
	}

	for i, s := range b.Table.Secrets {
		switch {
		case b.packed && s.Predicate != nil:
			class[i], set = set&1, set>>1
		case s.Number == nil:
			class[i], row = s.Class(row[0]), row[1:]
		}
	}
	return class, row, nil
}

// sizes writes what tells how large the values of the bases are; where one is NULL it counts as 0.
func (b *Bound) sizes() []string {
	var columns []string
	for i, x := range b.Bases {
		if x.Indicator {
			continue
		}
		h := column(i)
		low, bounded := new(big.Rat).SetString(x.Low)
		number, sum := b.Known(i)

		// What the policy bounds tells what need not be asked.
		switch {
		case number >= 0:
		case bounded && low.Sign() > 0:
			columns = append(columns, "pg_catalog.count("+h+")")
		default:
			columns = append(columns, "pg_catalog.count(NULLIF("+h+", 0))")
		}
		switch {
		case sum >= 0:
		case bounded && low.Sign() >= 0:
			columns = append(columns, "COALESCE(pg_catalog.sum("+h+"), 0)")
		default:
			columns = append(columns, "COALESCE(pg_catalog.sum(pg_catalog.abs("+h+")), 0)")
		}
		if x.Low == "" {
			columns = append(columns, "pg_catalog.min(COALESCE("+h+", 0))", "pg_catalog.max(COALESCE("+h+", 0))")
		}
	}
	return columns
}
