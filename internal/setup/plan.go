package setup

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"fugu/parser"
	"fugu/policy"
)

// Choices are what only the owner of the data can say.
type Choices struct {
	Dataset   string
	Table     policy.QualifiedName // the one with the secret
	Secret    string               // its name
	Predicate string               // the share of rows that satisfies it is secret
	// From, To is where everybody may know the share to lie, and Within how close two shares are that nobody may tell
	// apart; as they were written.
	From, To, Within string
	Rows             int64 // of the table, as everybody may know
	Answers          policy.Answers
	References       map[policy.QualifiedName]policy.QualifiedName // by table; for noise
	Epsilon, Delta   string
	ShowRows         bool // of the twin, one by one
	IndependentRows  bool // rows of one subject are taken to be drawn one by one
	Drop             []string
	Open             []policy.QualifiedName // further ordinary tables for analysts
	Analysts         []string
}

// Plan is which table is what to Fugu.
type Plan struct {
	Choices
	Root     *Table
	Linked   []Link
	Ordinary []*Table
	Closed   []policy.QualifiedName // tables that belong to the root, and that nobody may ask about
	Dropped  []Dropped
}

// Link is a table whose rows belong to those of another protected one.
type Link struct {
	*Table
	To policy.QualifiedName
	On [][2]string
}

// Dropped is a column that the twin leaves out, with the reason.
type Dropped struct {
	Table       policy.QualifiedName
	Column, Why string
}

// NewPlan works out which tables belong to the one with the secret, and which stay ordinary: what refers to the rows of
// a protected table shows which there are, so that it goes with it, or is closed; what protected rows refer to is
// ordinary.
func NewPlan(c *Catalog, ch Choices) (*Plan, error) {
	p := &Plan{Choices: ch, Root: c.Table(ch.Table)}
	if p.Root == nil {
		return nil, fmt.Errorf("there is no table %s", ch.Table)
	}
	p.descend(c)
	if err := p.ascend(c); err != nil {
		return nil, err
	}
	p.total()
	return p, nil
}

// descend goes down the foreign keys, to what refers to protected rows.
func (p *Plan) descend(c *Catalog) {
	// Table by table, until nothing more refers to a protected one.
	for grown := true; grown; {
		grown = false
		for _, r := range c.References {
			t := c.Table(r.From)
			if t == nil || !p.Protected(r.To) || p.Protected(r.From) || slices.Contains(p.Closed, r.From) {
				continue
			}
			grown = true
			if _, modelled := p.References[r.From]; r.NotNull && (p.Answers == policy.FromTwin || modelled) {
				p.Linked = append(p.Linked, Link{t, r.To, r.On})
			} else {
				p.Closed = append(p.Closed, r.From)
			}
		}
	}

	// What refers to rows of a closed table shows which of those there are, and so on.
	for i := 0; i < len(p.Closed); i++ { // grows
		for _, r := range c.References {
			if r.To == p.Closed[i] && !p.Protected(r.From) && !slices.Contains(p.Closed, r.From) {
				p.Closed = append(p.Closed, r.From)
			}
		}
	}
}

// ascend goes up the foreign keys, to what protected rows refer to, and to what was asked for besides.
func (p *Plan) ascend(c *Catalog) error {
	wanted := slices.Clone(p.Open)
	for _, r := range c.References {
		if p.Protected(r.From) {
			wanted = append(wanted, r.To)
		}
	}

	// What an ordinary table refers to is ordinary as well.
	for len(wanted) > 0 {
		name := wanted[0]
		wanted = wanted[1:]
		t := c.Table(name)
		switch {
		case t == nil:
			return fmt.Errorf("there is no table %s", name)
		case p.Protected(name) && slices.Contains(p.Open, name):
			return fmt.Errorf("table %s cannot be open: its rows belong to those of %s", name, p.Choices.Table)
		case p.Protected(name) || slices.Contains(p.Closed, name) || slices.Contains(p.Ordinary, t):
			continue
		}
		p.Ordinary = append(p.Ordinary, t)
		for _, r := range c.References {
			if r.From == name {
				wanted = append(wanted, r.To)
			}
		}
	}

	slices.SortFunc(p.Ordinary, func(a, b *Table) int { return cmp.Compare(a.String(), b.String()) })
	return nil
}

// Protected reports whether a table is the root or linked to it.
func (p *Plan) Protected(name policy.QualifiedName) bool {
	return p.Root.QualifiedName == name ||
		slices.ContainsFunc(p.Linked, func(l Link) bool { return l.QualifiedName == name })
}

// Family are the protected tables, the root first.
func (p *Plan) Family() []*Table {
	out := []*Table{p.Root}
	for _, l := range p.Linked {
		out = append(out, l.Table)
	}
	return out
}

// total makes the predicate one that is never NULL where it reads a column that can be: a class of rows of which nobody
// knows would be a third one, which may be empty.
func (p *Plan) total() {
	for _, c := range p.Root.Columns {
		if !c.NotNull && mentions(p.Predicate, c.Name) {
			p.Predicate = "(" + p.Predicate + ") IS TRUE"
			return
		}
	}
}

func mentions(predicate, column string) bool {
	return regexp.MustCompile(`(?i)(^|[^a-z0-9_$])` + regexp.QuoteMeta(column) + `($|[^a-z0-9_$])`).
		MatchString(predicate)
}

// Leave has the twin do without a column, but for one that the secret, a link or a key needs.
func (p *Plan) Leave(table policy.QualifiedName, column, why string) {
	if table == p.Root.QualifiedName && mentions(p.Predicate, column) {
		return
	}
	for _, l := range p.Linked {
		for _, on := range l.On {
			if l.QualifiedName == table && on[0] == column || l.To == table && on[1] == column {
				return
			}
		}
	}
	if !slices.ContainsFunc(p.Dropped, func(d Dropped) bool { return d.Table == table && d.Column == column }) {
		p.Dropped = append(p.Dropped, Dropped{table, column, why})
	}
}

// quoted is a table's name in SQL that PostgreSQL takes whatever is in it.
func quoted(name policy.QualifiedName) string {
	return parser.QuoteIdent(name.Schema) + "." + parser.QuoteIdent(name.Name)
}

// list joins the names of tables for SQL.
func list(tables []*Table) string {
	var out []string
	for _, t := range tables {
		out = append(out, quoted(t.QualifiedName))
	}
	return strings.Join(out, ", ")
}
