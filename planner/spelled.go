package planner

import (
	"math"
	"slices"

	"fugu/parser"
)

// Spelled is how many nats it takes to write down what a value of a grouping set is of, every word of it: the tables
// that are linked, the keys, the conditions, the aggregate and its arguments. It is infinite where an ordinary table is
// read, which can hold anything.
//
// Unlike the lengths of Chosen, which leave out what an owner can see coming and count constants by their places among
// the reference's rows, these are of one prefix code that was fixed before any reference was drawn, and the weights
// e^-nats of all texts add up to at most one. So what holds of each text but for a chance of δ e^-nats holds of all of
// them together but for δ, however the text was chosen.
func (b *Bound) Spelled(set, aggregate int) float64 {
	d := b.description(math.Inf(1))
	d.spelled = true

	// The root is the table that the secret is of; what is linked to it is joined by the policy's conditions.
	linked := 0
	for _, s := range b.sources.list {
		switch t := b.sources.tables[s.Rel]; {
		case t == nil:
			return math.Inf(1)
		case s.Rel != b.sources.root:
			d.write(characters(t.String()) + 1) // and whether the join is an outer one
			linked++
		}
	}
	d.write(lengthOf(linked))

	keys := b.sets()[set]
	d.write(lengthOf(len(keys)))
	for _, k := range keys {
		d.node(b.cut.Keys[k].Expr)
	}

	a := b.cut.Aggregates[aggregate]
	d.write(functionBits + lengthOf(len(a.Args)))
	for _, arg := range a.Args {
		d.node(arg)
	}

	var conditions []parser.Expr
	for _, s := range b.sources.list {
		if s.On != nil {
			conditions = append(conditions, s.On)
		}
	}
	conditions = append(conditions, b.sources.where...)
	d.write(lengthOf(len(conditions)))
	for _, e := range conditions {
		d.node(e)
	}

	if d.ordinary {
		return math.Inf(1)
	}
	return d.bits * math.Ln2
}

// functionBits are those of an aggregate's name, one of fewer than 256.
const functionBits = 8

// Named is how many nats it takes to tell a cell from the others of its grouping set, given the text; and Listed those
// of the list of the set's cells. What the policy or the text says of them needs no list. Where the public values of a
// column are those that the reference has, they are spelled: who drew the reference did not know them before.
func (b *Bound) Named(cell int) float64 {
	if set := b.Cells[cell].Set; !b.observed(set) {
		return math.Log(float64(len(b.inSet(set))))
	}
	return spelling(b.Cells[cell])
}

// Listed is described with Named.
func (b *Bound) Listed(set int) float64 {
	cells := b.inSet(set)
	if !b.observed(set) {
		return 0
	}
	nats := lengthOf(len(cells)) * math.Ln2
	for _, cell := range cells {
		nats += spelling(b.Cells[cell])
	}
	return nats
}

// spelling is how many nats the values of a cell's keys take as texts.
func spelling(c Cell) float64 {
	bits := 0.0
	for _, v := range c.Keys {
		bits += 1 + characters(v.Text) // NULL, or what it reads
	}
	return bits * math.Ln2
}

// observed reports whether a key of the set reads a column whose public values are those that the reference has.
func (b *Bound) observed(set int) bool {
	return slices.ContainsFunc(b.sets()[set], func(k int) bool {
		return slices.ContainsFunc(columns(b.cut.Keys[k].Expr), func(c parser.Column) bool {
			t := b.sources.tables[c.Rel]
			return t == nil || t.Observed[c.Name]
		})
	})
}

// Digits is how many nats a number takes that is written as text.
func Digits(text string) float64 { return digits(text) * math.Ln2 }
