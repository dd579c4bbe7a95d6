package planner

import (
	"math"
	"slices"

	"fugu/parser"
)

// Spelled is how many nats it takes to write down every word of what a value of a grouping set asks: the tables that
// are linked, the keys, the conditions, the aggregate and its arguments. It is infinite if an ordinary table is read,
// which can hold anything.
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

// Named is how many nats it takes to tell a cell from the others of its grouping set, given the text, and how many rows
// of a reference of so many rows are picked for that. Where the policy or the text says what a key's values are, a cell
// is one of their number. Where the values of a column are those that the reference has, who drew it did not know them:
// each is the value that some row of the reference has, one of its rows, and the others were drawn independently of it.
// A value of a linked table is spelled.
func (b *Bound) Named(cell int, rows float64) (nats float64, picked int) {
	set := b.Cells[cell].Set
	nats = math.Log(float64(len(b.inSet(set))))
	switch root, linked := b.observed(set); {
	case linked:
		for _, v := range b.Cells[cell].Keys {
			nats += (1 + characters(v.Text)) * math.Ln2 // NULL, or what it reads
		}
	default:
		picked = root
		nats += float64(root) * math.Log(rows)
	}
	return nats, picked
}

// Foreseen reports whether the list of a grouping set's cells follows from the policy and the text.
func (b *Bound) Foreseen(set int) bool {
	root, linked := b.observed(set)
	return root == 0 && !linked
}

// observed counts the columns of the root in the keys of a set whose public values are those that the reference has,
// and says whether there are some of other tables.
func (b *Bound) observed(set int) (root int, linked bool) {
	var seen []parser.Column
	for _, k := range b.sets()[set] {
		for _, c := range columns(b.cut.Keys[k].Expr) {
			t := b.sources.tables[c.Rel]
			if slices.Contains(seen, c) || t != nil && !t.Observed[c.Name] {
				continue
			}
			seen = append(seen, c)
			if c.Rel == b.sources.root {
				root++
			} else {
				linked = true
			}
		}
	}
	return root, linked
}

// Digits is how many nats a number takes that is written as text.
func Digits(text string) float64 { return digits(text) * math.Ln2 }

// What only counts where every word does: each of the casts that keep values apart, and their end; whether a CASE has
// an operand, and whether it has an ELSE; the type of a parameter.
const (
	castBits  = 2
	caseBits  = 2
	paramBits = 8
)

// casts counts the casts below an expression's top that keep values apart, and so change nothing in a comparison.
func casts(e parser.Expr) (n int) {
	parser.Walk(e, func(e parser.Expr) {
		if c, ok := e.(parser.Cast); ok && slices.Contains(keeping, c.Type) {
			n++
		}
	})
	return n
}
