package planner

import (
	"context"
	"math"
	"slices"
	"strings"

	"fugu/parser"
)

// Choice is what can be chosen of a cut by somebody who knows the reference, to have the reference misjudge it: a
// statement whose text takes b bits to write is one of 2^b, and is charged for L = b ln 2 nats. Package model says what
// that is worth.
type Choice struct {
	Nats      float64 // of the whole text; infinite where an ordinary table is read, which can hold anything
	Scattered float64 // the same without the places of thresholds
	Apart     Told    // two rows of the root that are equal in it cannot be told apart

	// Combined tells combinations of rows that belong to a row of the root apart, where the root's row counts only if
	// one of these does by itself; none: Apart is all that is known. It holds where no value of Weights is below 0.
	Combined Told
	Weights  []parser.Column

	Sorted Sorted // the same choice in another code

	// Column is the same with the columns in the places of keys that are these in other words, and Relabelled are those
	// columns; nil: there are none. It holds where the reference has their declared values alone.
	Column     *Choice
	Relabelled []parser.Column
}

// Chosen describes what stands below the cut in a prefix code, and adds up how long that is. reference is the number of
// the reference's rows; q evaluates keys for the values that the policy declares, and is asked nothing about rows.
//
// What costs nothing is what the owner of the data can see coming: count(*), a column as a key, a column as an argument
// and one null test of a column, which is what a count of it asks; casts that keep the value; the conditions that links
// ask for. All else is written down, node by node, parents first:
//
//	½   a comparison of a column with constants: the column, how it is compared, the constants
//	¼   an operation: its name, ½ of the names being frequent ones, and its operands
//	⅛   a column
//	1/16 a constant: a byte of text has eight bits, one of a number four, and so has the end; a unit of time is one of
//	     twenty
//	1/32 each for AND and OR, with the number of operands
//
// These add up to one at each node, and so the lengths satisfy Kraft's inequality. A column is one of those of all
// tables. What is compared with a column stands in no more places than there are between the values of twice the rows,
// however long it is [Vapnik & Chervonenkis 1971; Blumer, Ehrenfeucht, Haussler & Warmuth 1989].
//
// Each value is described by itself: by the keys of its grouping set, by all conditions, and by the arguments of the
// aggregates that are written as its own is. Text elsewhere in the statement changes nothing in it.
func (b *Bound) Chosen(ctx context.Context, q Querier, reference float64) (Chosen, error) {
	relabelled, err := b.relabelled(ctx, q)
	if err != nil {
		return Chosen{}, err
	}
	where, args, err := b.even(ctx, q)
	if err != nil {
		return Chosen{}, err
	}

	// Aggregates whose arguments are written alike make one choice, which is described once.
	texts := make([]string, len(b.cut.Aggregates))
	for i := range texts {
		d := b.description(reference)
		d.aggregate(b.cut.Aggregates[i])
		texts[i] = strings.Join(d.texts, "; ")
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(texts)))
	sets := b.sets()
	if len(distinct)*len(sets) > maxTexts { // what stands in all of them bounds each
		clear(texts)
		distinct = []string{""}
	}

	// A key that is a declared column in other words may be described as that column, where this is shorter.
	asWritten := func(k int) parser.Expr { return b.cut.Keys[k].Expr }
	asColumn := func(k int) parser.Expr {
		if c, ok := relabelled[k]; ok {
			return c
		}
		return asWritten(k)
	}
	out := Chosen{cells: b.Cells}
	for i, set := range sets {
		choiceOf := make([]int, len(texts))
		for _, text := range distinct {
			among := func(a int) bool { return texts[a] == text }
			for a := range texts {
				if among(a) {
					choiceOf[a] = len(out.Choices)
				}
			}
			choice := b.choice(reference, set, asWritten, i, among, where, args)
			for _, k := range set {
				if c, ok := relabelled[k]; ok {
					choice.Relabelled = append(choice.Relabelled, c)
				}
			}
			if choice.Relabelled != nil {
				as := b.choice(reference, set, asColumn, i, among, where, args)
				choice.Column = &as
			}
			out.Choices = append(out.Choices, choice)
		}
		out.of = append(out.of, choiceOf)
	}
	return out, nil
}

// maxTexts bounds how many texts are told apart, each of which has the reference read.
const maxTexts = 24

// Chosen says which text each value of a cut depends on.
type Chosen struct {
	Choices []Choice
	cells   []Cell
	of      [][]int // grouping set × aggregate: an index in Choices
}

// Of is the index of a value's choice.
func (c Chosen) Of(cell, aggregate int) int { return c.of[c.cells[cell].Set][aggregate] }

// By is the index of each choice that a value of an aggregate depends on.
func (c Chosen) By(aggregate int) (out []int) {
	for _, of := range c.of {
		out = append(out, of[aggregate])
	}
	return out
}

// choice describes the aggregates of a grouping set, of these keys, that are among some. where and args are what even
// found.
func (b *Bound) choice(
	reference float64, keys []int, key func(k int) parser.Expr, set int, among func(aggregate int) bool,
	where evenly, args []evenly,
) Choice {
	d := b.description(reference)
	for _, k := range keys {
		d.root(key(k), true, (*description).tell)
	}
	seen := map[string]bool{}
	for i, a := range b.cut.Aggregates {
		if !among(i) {
			continue
		}
		own := b.description(reference)
		own.even = args[i]
		own.aggregate(a)
		d.apart = append(d.apart, own.apart...)

		// Aggregates of one text are described by it, each for itself and none twice.
		if text := strings.Join(own.texts, "; "); !seen[text] {
			d.roots, seen[text] = append(d.roots, own.roots...), true
		}
	}
	d.even = where
	for _, s := range b.sources.list {
		if s.On != nil {
			d.condition(s.On)
		}
	}
	for _, e := range b.sources.where {
		d.condition(e)
	}
	if free := slices.IndexFunc(d.roots, foreseen); free >= 0 {
		d.roots = slices.Delete(d.roots, free, free+1)
	}
	out := Choice{Apart: b.apartBy(d.apart), Sorted: d.sorted(set, keys)}
	out.Combined, out.Weights = b.weighed(d.apart, among)
	for _, r := range d.roots {
		out.Nats, out.Scattered = out.Nats+r.bits*math.Ln2, out.Scattered+r.scattered*math.Ln2
	}
	return out
}

func (b *Bound) description(reference float64) *description {
	d := &description{b: b, rows: reference}
	for _, rel := range b.sources.protected {
		d.columns += len(b.sources.tables[rel].Columns)
	}
	return d
}

// description is what has been written down so far.
type description struct {
	b               *Bound
	rows            float64
	columns         int
	bits, scattered float64 // of the root that is being written
	ordinary        bool    // it reads an ordinary table
	told            bool    // what tells rows apart of what is being written is known
	spelled         bool    // every word counts: see Spelled
	roots           []written
	texts           []string // the same, as they read
	apart           []tells
	even            evenly
}

// written is an expression that stands by itself, and what it took to write it.
type written struct {
	expr            parser.Expr
	bits, scattered float64
	sorts           bool // all that matters of it is which values of its columns give which value of it
}

func (d *description) write(bits float64) {
	d.bits += bits
	d.scattered += bits
}

func (d *description) aggregate(a parser.Aggregate) {
	for _, arg := range a.Args {
		d.argument(a, arg)
	}
}

// whole writes an expression that stands by itself, after so many bits that say that it is there.
func (d *description) whole(e parser.Expr, before float64, sorts bool) {
	d.one(e, sorts, func() {
		d.write(before)
		d.node(e)
	})
}

// one takes down what write writes of an expression. An ordinary table can hold anything.
func (d *description) one(e parser.Expr, sorts bool, write func()) {
	d.bits, d.scattered, d.ordinary = 0, 0, false
	write()
	if d.ordinary {
		d.bits, d.scattered = math.Inf(1), math.Inf(1)
	}
	if d.bits > 0 {
		d.roots = append(d.roots, written{e, d.bits, d.scattered, sorts})
		d.texts = append(d.texts, parser.SQL(e, "t", nil))
	}
}

// root writes an expression. A protected column as it is costs nothing: look is told of it instead. sorts has the
// meaning that it has in written.
func (d *description) root(e parser.Expr, sorts bool, look func(*description, parser.Column)) {
	switch e := kept(e).(type) {
	case parser.Column:
		d.one(e, sorts, func() { look(d, e) })
	case parser.Case:
		// FILTER, and CASE WHEN condition THEN x END.
		if e.Operand == nil && e.Else == nil && len(e.Whens) == 1 {
			d.condition(e.Whens[0].Cond)
			d.root(e.Whens[0].Result, sorts, look)
			return
		}
		d.whole(e, 0, sorts)
	default:
		if !constant(e) {
			d.whole(e, 0, sorts)
		}
	}
}

// argument writes the argument of an aggregate. Rows in which a column is 0 or NULL add nothing to its sum, and a sum
// tells nothing else about them, however they were chosen.
func (d *description) argument(a parser.Aggregate, e parser.Expr) {
	switch {
	case a.Distinct:
		d.root(e, false, (*description).tell)
	case a.Fraction != "": // of many values in each group of rows that are told apart
		d.root(e, false, func(d *description, c parser.Column) { d.notice(c) })
	case a.Func == "count":
		d.root(e, true, func(d *description, c parser.Column) { d.adds(c, " IS NULL") })
	default:
		d.root(e, false, func(d *description, c parser.Column) { d.adds(c, " IS NULL OR %s = 0") })
	}
}

func (d *description) adds(c parser.Column, nothing string) {
	if d.notice(c) {
		x := parser.SQL(parser.Column{Name: c.Name, Rel: c.Rel}, "t", nil)
		d.apart = append(d.apart, tells{c.Rel, "(" + x + strings.ReplaceAll(nothing, "%s", x) + ") IS TRUE"})
	}
}

// notice says whether a column is a protected table's.
func (d *description) notice(c parser.Column) bool {
	protected := d.b.sources.tables[c.Rel] != nil
	d.ordinary = d.ordinary || !protected
	return protected
}

func (d *description) tell(c parser.Column) {
	if d.notice(c) && !d.told {
		c = parser.Column{Name: c.Name, Rel: c.Rel}
		sql, ok := d.even[c]
		if !ok {
			sql = parser.SQL(c, "t", nil)
		}
		d.apart = append(d.apart, tells{c.Rel, sql})
	}
}

// condition writes one that stands under AND at the top, or alone.
func (d *description) condition(e parser.Expr) {
	switch x := e.(type) {
	case parser.Logic:
		if x.Op == "AND" {
			for _, a := range x.Args {
				d.condition(a)
			}
			return
		}
	case parser.Binary:
		if d.linked(x) {
			return
		}
	}
	if !constant(e) {
		d.whole(e, 1, true) // another condition follows
	}
}

// linked reports whether a condition is one of those by which the policy links tables.
func (d *description) linked(e parser.Binary) bool {
	l, okL := e.L.(parser.Column)
	r, okR := e.R.(parser.Column)
	if e.Op != "=" || !okL || !okR {
		return false
	}
	by := func(own, to parser.Column) bool {
		t := d.b.sources.tables[own.Rel]
		if t == nil || t.Link == nil || t.Link.To != d.b.sources.tables[to.Rel] {
			return false
		}
		return slices.Contains(t.Link.Keys, LinkKey{Own: own.Name, To: to.Name})
	}
	return by(l, r) || by(r, l)
}

// node writes an expression and all below it.
func (d *description) node(e parser.Expr) {
	if of, ok := d.b.class(e); ok && !d.told {
		d.apart, d.told = append(d.apart, of...), true
		defer func() { d.told = false }()
	}
	if c, values, threshold, ok := comparison(e); ok {
		// Rows that are NULL there, and those that are not, are all that a null test tells apart; there are only so
		// many of these, as there are of columns.
		if asksNull(e) {
			d.adds(c, " IS NULL")
		} else {
			d.tell(c)
		}
		d.write(1 + math.Log2(float64(d.columns)) + compared + lengthOf(len(values)-1))
		if len(values) != 1 {
			d.write(rarer)
		}
		if d.spelled {
			d.write(castBits * float64(1+casts(e)))
		}
		for _, v := range values {
			own := d.placed(c, v)
			d.bits += own
			if !threshold {
				d.scattered += own
			}
		}
		return
	}

	// What follows from the day, or another unit, tells no more of rows than that does.
	if unit, _, ok := d.b.coarse(e); ok && !d.told {
		d.apart = append(d.apart, tells{columns(unit)[0].Rel, parser.SQL(unit, "t", nil)})
		d.told = true
		defer func() { d.told = false }()
	}
	switch x := e.(type) {
	case parser.Column:
		d.tell(x)
		d.write(3 + math.Log2(float64(d.columns)))
	case parser.Const, parser.Param:
		d.write(4 + d.literal(e))
	case parser.Logic:
		d.write(5 + lengthOf(len(x.Args)))
	case parser.Semi:
		d.ordinary = true
	default:
		d.write(2 + named(e) + lengthOf(len(parser.Below(e))))
		if d.spelled {
			d.write(caseBits)
		}
	}
	for _, x := range parser.Below(e) {
		d.node(x)
	}
}
