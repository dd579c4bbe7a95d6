package planner

import "fugu/planner/row"

// How much memory a plan takes depends on its text. The trees of its expressions take at most about treeBytes for each
// byte of SQL, which a list of one-digit numbers comes to.
const (
	structBytes = 64 // of a small struct with a string or two in it
	treeBytes   = 100
)

// Size is how many bytes a plan keeps alive, about, without its tables.
func (p *Plan) Size() int {
	n := 4*structBytes + len(p.SQL) + len(p.Above) + 4*len(p.ParamTypes)
	for _, c := range p.Cuts {
		n += c.size()
	}
	if len(p.Twins) > 0 { // whose cuts do not say
		n += 16*structBytes*len(p.Twins) + treeBytes*p.length
	}
	for _, v := range p.Virtual {
		n += structBytes * len(v.Columns)
	}
	return n
}

// size is how many bytes a cut keeps alive, about, with what it was bound to if that is always the same.
func (c *Cut) size() int {
	n := c.writtenSize()
	if c.static != nil {
		n += c.static.boundSize()
	}
	return n
}

// writtenSize is that of what the client wrote, and what is known of it.
func (c *Cut) writtenSize() int {
	n := 8*structBytes + treeBytes*c.share + 8*len(c.Params) + 4*len(c.ParamTypes)
	for _, k := range c.Keys {
		n += structBytes + len(k.Name) + len(k.Label) + len(k.Type)
	}
	for _, set := range c.Sets {
		n += structBytes + 8*len(set)
	}
	for _, a := range c.Aggregates {
		n += 4*structBytes + len(a.Column) + len(a.Label)
	}
	for _, t := range c.Ordinary {
		n += structBytes * (2 + len(t.Columns))
	}
	return n
}

// Size is how many bytes a bound cut keeps alive, about, with the cut.
func (b *Bound) Size() int { return b.Cut.writtenSize() + b.boundSize() }

// boundSize is that of what is bound.
func (b *Bound) boundSize() int {
	n := 8*structBytes + 2*len(b.statistics) + 8*(len(b.Columns)+len(b.product))

	// What there is of each cell counts most: there may be a million of them.
	for _, c := range b.Cells {
		n += structBytes + valuesSize(c.Keys)
	}

	// Then what the statistics are made of.
	for _, x := range b.Bases {
		n += 2*structBytes + len(x.Label) + len(x.Low) + len(x.High)
		for _, printed := range [][]string{x.args, x.given} {
			for _, text := range printed {
				n += structBytes + len(text)
			}
		}
	}
	for _, t := range b.Terms {
		n += structBytes + len(t.Label) + 8*len(t.Factors)
	}
	for _, a := range b.Aggregates {
		n += 4*structBytes + len(a.Column) + len(a.Label)
	}
	for _, factors := range b.products {
		n += structBytes + 8*len(factors)
	}

	// And what the client has bound.
	for _, v := range b.given {
		n += structBytes + len(v)
	}
	for _, v := range b.decided {
		n += 2*structBytes + len(v.Text)
	}

	return n
}

func valuesSize(values []row.Value) (n int) {
	for _, v := range values {
		n += 24 + len(v.Text)
	}
	return n
}
