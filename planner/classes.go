package planner

import (
	"fmt"
	"strconv"
	"strings"
)

// maxBits is how many predicates are told by one number at most: it is an int4.
const maxBits = 31

// maxPacked bounds the cells of statements whose secrets' predicates are told by one number. PostgreSQL takes a number that it
// has no statistics of to have 200 values; with more cells it would expect so many groups that it sorts all rows to find them.
const maxPacked = 128

// packed reports whether one number, with a bit for each, tells which of the secrets' predicates hold. PostgreSQL
// hashes and compares every column that it groups by on its own, and for each row.
func (b *Bound) packed() bool {
	predicates := 0
	for _, s := range b.Table.Secrets {
		if s.Predicate != nil {
			predicates++
		}
	}
	return b.sources.single() && len(b.Cells) <= maxPacked && predicates > 1 && predicates <= maxBits
}

// labels writes what tells a row's classes, and gives its names.
func (b *Bound) labels(alias string) (names, columns []string) {
	add := func(name, sql string) { names, columns = append(names, name), append(columns, sql+" AS "+name) }
	packed := b.packed()
	if packed {
		var bits []string
		for _, s := range b.Table.Secrets {
			if s.Predicate != nil {
				bits = append(bits, fmt.Sprintf("CASE WHEN %s THEN %d ELSE 0 END", s.label(alias), 1<<len(bits)))
			}
		}
		add("c", strings.Join(bits, " + "))
	}
	for i, s := range b.Table.Secrets {
		if s.Number == nil && !(packed && s.Predicate != nil) {
			add("s"+strconv.Itoa(i), s.label(alias))
		}
	}
	return names, columns
}

// Classes reads the labels in a row of Moments, which stand behind its Head: the class of each secret, 0 where the mean of a
// number is secret, -1 where the row is in none; and what comes behind them.
func (b *Bound) Classes(row []Value) (class []int, rest []Value, err error) {
	class = make([]int, len(b.Table.Secrets))
	packed, bits := b.packed(), 0
	if packed {
		if bits, err = strconv.Atoi(row[0].Text); err != nil {
			return nil, nil, fmt.Errorf("reading which predicates hold: %w", err)
		}
		row = row[1:]
	}
	for i, s := range b.Table.Secrets {
		switch {
		case packed && s.Predicate != nil:
			class[i], bits = bits&1, bits>>1
		case s.Number == nil:
			class[i], row = s.Class(row[0]), row[1:]
		}
	}
	return class, row, nil
}
