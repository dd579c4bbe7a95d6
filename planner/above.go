package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fugu/parser"
	"fugu/planner/unlisted"
	"fugu/sqlstate"
)

// above is what stands above the cuts. It is written while PostgreSQL is asked for the types below them: to write a
// statement and to read it back takes longer than to ask. What has no type yet gets the name of one that does not
// exist, and the type's own name takes its place in the text.
type above struct {
	cuts           []*Cut // each once
	places, tables []parser.Relation
	twins          []parser.Relation
	open           []open
	next           int // the parameter after the last
}

// open is a column whose type PostgreSQL has yet to say.
type open struct {
	cut, column int
	name        string // of its type, for the time being
	places      int    // how often the statement has the cut
}

// newAbove lays out the relations that take the places of the cuts, of those of twins, and of the virtual tables, from
// the parameter first on.
func newAbove(all []*Cut, twins []*unlisted.Cut, virtual []VirtualTable, first int) *above {
	a := &above{next: first}
	var once []parser.Relation
	shareSpreads(all)
	for _, c := range all {
		// Cuts that ask for the same share one answer, and so its parameters.
		i := slices.IndexFunc(a.cuts, c.same)
		if i < 0 {
			i = len(a.cuts)
			once = append(once, a.add(c))
		}
		for k := range a.open {
			if a.open[k].cut == i {
				a.open[k].places++
			}
		}

		place := c.relation(once[i].First) // of its own names
		for k := range place.Columns {
			place.Columns[k].Type = once[i].Columns[k].Type
		}
		a.places = append(a.places, place)
	}

	for _, c := range twins {
		a.twins = append(a.twins, c.Relation(a.next))
		a.next += c.Width()
	}
	for _, t := range virtual {
		r := parser.Relation{First: a.next}
		for _, c := range t.Columns {
			r.Columns = append(r.Columns, parser.RelationColumn{Name: c.Name, Type: c.Type})
		}
		a.next += len(r.Columns)
		a.tables = append(a.tables, r)
	}
	return a
}

// shareSpreads gives each of the cuts that share an answer all the columns that any of them has of how far its values
// are off.
func shareSpreads(all []*Cut) {
	for i, c := range all {
		if len(c.Spreads) == 0 {
			continue
		}
		for k, d := range all {
			if k == i || !c.same(d) {
				continue
			}
			for _, s := range c.Spreads {
				if !slices.Contains(d.Spreads, s) {
					d.Spreads = append(d.Spreads, s)
				}
			}
		}
	}
	for _, c := range all {
		slices.SortFunc(c.Spreads, func(x, y parser.Spread) int { return strings.Compare(x.Column(), y.Column()) })
	}
}

// add takes in a cut, and gives its place with the names of types that are open.
func (a *above) add(c *Cut) parser.Relation {
	r := c.relation(a.next)
	for k := range r.Columns {
		if column := &r.Columns[k]; column.Type == "" {
			column.Type = fmt.Sprintf("\"fugu type %d\"", a.next+k)
			a.open = append(a.open, open{cut: len(a.cuts), column: k, name: column.Type})
		}
	}
	a.cuts = append(a.cuts, c)
	a.next += len(r.Columns)
	return r
}

// inOrder are the places of all cuts as the statement has them.
func (a *above) inOrder(cuts []*parser.Cut) (places []parser.Relation) {
	noisy, twins := a.places, a.twins
	for _, c := range cuts {
		if c.OfTwin() {
			places, twins = append(places, twins[0]), twins[1:]
		} else {
			places, noisy = append(places, noisy[0]), noisy[1:]
		}
	}
	return places
}

// sql takes what was rewritten with the names of no types, and puts in those of the cuts, which are resolved.
func (a *above) sql(text string) (string, error) {
	var types []string
	for _, o := range a.open {
		// A client's text may hold the name, in a string say, and must not be changed.
		if strings.Count(text, o.name) != o.places {
			return "", sqlstate.New(sqlstate.NotAnswerable,
				"the statement cannot hold %s, which stands for a type", o.name).
				WithHint("Write it in another way.").At(1)
		}
		typ, err := parser.TypeSQL(a.cuts[o.cut].relation(0).Columns[o.column].Type)
		if err != nil {
			return "", err
		}
		types = append(types, o.name, typ)
	}
	return strings.NewReplacer(types...).Replace(text), nil
}

// meanwhile does work while the Describer is first asked.
type meanwhile struct {
	Describer
	work func() // does nothing when it is done
}

// Describe asks, and does the work while the answer is on its way.
func (m meanwhile) Describe(ctx context.Context, sql string, paramTypes []uint32) (Description, error) {
	return m.DescribeMeanwhile(ctx, sql, paramTypes, m.work)
}
