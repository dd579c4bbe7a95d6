package policy

import (
	"math"
	"slices"

	"fugu/internal/strictyaml"
)

// Column is a column of a twin whose values are shown row by row through a channel: exactly one of Obfuscate and
// Transport says which.
type Column struct {
	Name      string
	Obfuscate *Obfuscate `json:",omitempty"`
	Transport *Transport `json:",omitempty"`

	At Position `json:"-"` // its name in the file
}

// Obfuscate keeps what a shown value tells of its own row within Epsilon, but for a chance of Delta that the reference
// is further from the column's law than its number of rows lets expect.
type Obfuscate struct{ Epsilon, Delta float64 }

// Transport shows one law of values, Target, whatever the outcome of the secret Hide is in a row.
type Transport struct {
	Hide   string
	Target TransportTarget
	Cost   TransportCost
}

// TransportTarget is the law that is shown.
type TransportTarget string

// Pooled is the law of all rows of the reference.
const Pooled TransportTarget = "pooled"

// TransportCost is what moving a value costs, which is made least.
type TransportCost string

// Absolute is how far a number is moved.
const Absolute TransportCost = "absolute"

// leastObfuscation is the smallest ε for which there is a channel that can be told from one that says nothing.
const leastObfuscation = 0.001

const columnHint = "write obfuscate: {epsilon: 0.3, delta: 1e-9} " +
	"or transport: {hide: a secret, target: pooled, cost: absolute}"

// columns reads which columns of a twin are shown row by row through a channel.
func (w *Twin) columns(r *strictyaml.Report, v *strictyaml.Value) {
	entries, _ := v.Entries()
	for _, e := range entries {
		f := e.Value.Fields(keys["tables.*.twin.columns.*"]...)
		c := Column{At: e.At}
		obfuscate, transport := f.Get("obfuscate"), f.Get("transport")
		switch {
		case obfuscate != nil && transport != nil:
			transport.Bad("keep one of the two", "%s: obfuscate and transport are alternatives", transport.Path)
		case obfuscate != nil:
			c.Obfuscate = readObfuscate(obfuscate)
		case transport != nil:
			c.Transport = readTransport(transport)
		default:
			f.Need("obfuscate", columnHint)
		}

		// A column is shown by one channel, and only if it is shown at all.
		name, ok := entryName(r, e, parseColumn)
		switch {
		case !ok:
			continue
		case slices.ContainsFunc(w.Columns, func(other Column) bool { return other.Name == name }):
			r.Add(e.At, "keep one of the two", "column %s is already there", quoteIdent(name))
		case slices.Contains(w.Drop, name):
			r.Add(e.At, "keep one of the two", "column %s is dropped, and so not shown in any way", quoteIdent(name))
		default:
			c.Name = name
			w.Columns = append(w.Columns, c)
		}
	}
}

func readObfuscate(v *strictyaml.Value) *Obfuscate {
	f := v.Fields(keys["tables.*.twin.columns.*.obfuscate"]...)
	var o Obfuscate
	if e, ok := f.Need("epsilon", "write for instance 0.3: what a shown value may tell of its row").Float(); ok {
		if !(e >= leastObfuscation) || math.IsInf(e, 1) {
			f.Get("epsilon").Bad("write for instance 0.3, or drop the column", "%s is at least %v, not %v",
				f.Get("epsilon").Path, leastObfuscation, e)
		}
		o.Epsilon = e
	}
	if d, ok := f.Need("delta", "write for instance 1e-9: the chance that the reference is further from the truth "+
		"than is counted on").Float(); ok {
		if !(d > 0 && d < 1) {
			f.Get("delta").Bad("write for instance 1e-9", "%s is above 0 and below 1, not %v", f.Get("delta").Path, d)
		}
		o.Delta = d
	}
	return &o
}

func readTransport(v *strictyaml.Value) *Transport {
	f := v.Fields(keys["tables.*.twin.columns.*.transport"]...)
	var t Transport
	t.Hide, _ = f.Need("hide", "name the secret whose outcome in a row the column is not to tell").Text()
	target, _ := f.Need("target", "write pooled: the law of all rows of the reference").Word(
		words["tables.*.twin.columns.*.transport.target"]...)
	cost, _ := f.Need("cost", "write absolute: numbers are moved as little as that allows").Word(
		words["tables.*.twin.columns.*.transport.cost"]...)
	t.Target, t.Cost = TransportTarget(target), TransportCost(cost)
	return &t
}

// twinColumns reports columns of twins that no channel can show. It needs the secrets.
func (p *Policy) twinColumns(r *strictyaml.Report) {
	for _, t := range p.Tables {
		if t.Twin == nil || len(t.Twin.Columns) == 0 {
			continue
		}

		// What is wrong with the table is said once, at its first column.
		first := t.Twin.Columns[0].At
		switch {
		case t.Link != nil:
			r.Add(first, "drop the columns, or let the root of the links have them",
				"table %s is linked to another one: columns are shown row by row of tables with secrets alone",
				t.Qualified())
		case t.Reference == QualifiedName{}:
			r.Add(first, "name a reference: public or held-out rows with the same columns",
				"table %s shows columns row by row and has no reference, from which their laws are estimated; of the "+
					"protected rows they must not be", t.Qualified())
		}

		for _, c := range t.Twin.Columns {
			p.twinColumn(r, t, c)
		}
	}
}

// twinColumn reports a column that a secret of its table is about, and a transport that hides what is no secret.
func (p *Policy) twinColumn(r *strictyaml.Report, t Table, c Column) {
	for _, s := range p.Secrets {
		if s.Table == t.Qualified() && s.Categories == c.Name {
			r.Add(c.At, "leave it out here: what the twin tells of the column is blurred already",
				"secret %s is how the rows divide among the values of column %s, which is told once, with noise",
				s.Name, quoteIdent(c.Name))
		}
	}
	if c.Transport == nil || c.Transport.Hide == "" {
		return
	}
	i := slices.IndexFunc(p.Secrets, func(s Secret) bool { return s.Name == c.Transport.Hide })
	if i < 0 || p.Secrets[i].Table != t.Qualified() || p.Secrets[i].Proportion == "" {
		r.Add(c.At, "name a secret proportion of the table", "column %s is to hide %q, which is no secret proportion "+
			"of table %s", quoteIdent(c.Name), c.Transport.Hide, t.Qualified())
	}
}
