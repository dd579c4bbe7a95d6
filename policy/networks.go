package policy

import (
	"math"
	"slices"

	"fugu/internal/strictyaml"
)

// The largest network: quilts are searched among all sets of its parameters, and over all of their values.
const (
	maxParameters = 12
	maxStates     = 4096
)

const (
	valuesHint        = "list what the parameter can be, for instance [low, high]"
	networkHint       = "write parameters: {NAME: {column: C, values: [low, high], probabilities: [[0.7, 0.3]]}}"
	probabilitiesHint = "write a list of probabilities for each combination of the parents' values, the last " +
		"parent's changing fastest; one list where there are no parents"
)

// networks reads the networks of the tables.
func (p *Policy) networks(r *strictyaml.Report, v *strictyaml.Value) {
	entries, ok := v.Entries()
	if ok && len(entries) == 0 {
		v.Bad("leave it out", "networks is empty")
	}
	for _, e := range entries {
		n := Network{At: e.At}
		name, ok := entryName(r, e, ParseName)

		if n.Table = name; ok {
			if t, protected := p.Table(name); !protected {
				r.Add(e.At, "name one of the tables under tables:", "%s is not a protected table of this policy", name)
			} else if t.Link != nil {
				r.Add(e.At, "give the network to the table that this one is linked to",
					"the rows of %s belong to those of %s", name, t.Link.To)
			}
			if other, twice := p.Network(name); twice {
				r.Add(e.At, "keep one of the two", "table %s has a network already in line %d", name, other.At.Line)
			}
		}

		// It is read even if its table is not known, for the findings in it.
		n.read(r, e.Value)
		if ok {
			p.Networks = append(p.Networks, n)
		}
	}
}

// read reads the parameters of a network, and which columns are independent of them.
func (n *Network) read(r *strictyaml.Report, v *strictyaml.Value) {
	f := v.Fields(keys["networks.*"]...)
	section := f.Need("parameters", networkHint)
	entries, ok := section.Entries()
	switch {
	case ok && len(entries) == 0:
		section.Bad(networkHint, "%s is empty", section.Path)
	case len(entries) > maxParameters:
		section.Bad("leave out what the secrets have least to do with", "%s: a network of more than %d parameters",
			section.Path, maxParameters)
	}

	// Quilts are searched over all combinations of values, so their number is bounded.
	states := 1
	for _, e := range entries {
		if !labelPattern.MatchString(e.Key) {
			r.Add(e.At, "write "+labelRule, "a parameter cannot be named %q", e.Key)
		}
		q := n.parameter(e)
		n.Parameters = append(n.Parameters, q)
		if states *= max(1, len(q.Values)); states > maxStates {
			section.Bad("leave out parameters, or give them fewer values",
				"%s: a network whose parameters have more than %d combinations of values", section.Path, maxStates)
			return
		}
	}

	items, _ := f.Get("independent").List()
	for _, item := range items {
		column, ok := valueName(item, parseColumn)
		switch {
		case !ok:
		case slices.Contains(n.Independent, column):
			item.Bad("keep one of the two", "independent lists %s twice", quoteIdent(column))
		case n.governs(column):
			item.Bad("keep one of the two", "column %s is governed by a parameter", quoteIdent(column))
		default:
			n.Independent = append(n.Independent, column)
		}
	}
}

// parameter reads a node, whose parents are those that stand before it.
func (n *Network) parameter(e strictyaml.Entry) Parameter {
	q := Parameter{Name: e.Key, At: e.At}
	f := e.Value.Fields(keys["networks.*.parameters.*"]...)
	if c := f.Get("column"); c != nil {
		if column, ok := valueName(c, parseColumn); ok && n.governs(column) {
			c.Bad("give the column one of them", "column %s is governed by another parameter already",
				quoteIdent(column))
		} else if ok {
			q.Column = column
		}
	}

	// How many probabilities there have to be is known if values and parents have no finding.
	columns := q.values(f.Need("values", valuesHint))
	rows := n.parents(&q, f.Get("parents"))
	if columns == 0 || rows == 0 {
		columns, rows = 0, 0
	}
	q.probabilities(f.Need("probabilities", probabilitiesHint), rows, columns)
	return q
}

// values reads what the parameter can be, and returns how many that is; 0 after a finding.
func (q *Parameter) values(v *strictyaml.Value) int {
	items, ok := v.List()
	for _, item := range items {
		text, null, okItem := item.Scalar()
		switch {
		case !okItem:
		case null || slices.Contains(q.Values, text):
			item.Bad("name each value once", "%s: %s is there already, or no name", v.Path, Value{text, null})
		default:
			q.Values = append(q.Values, text)
		}
	}
	if ok && len(items) < 2 {
		v.Bad(valuesHint, "%s has %d values, and at least two are needed", v.Path, len(items))
	}
	if len(q.Values) < 2 || len(q.Values) != len(items) {
		return 0
	}
	return len(items)
}

// parents reads of which parameters before it one depends, and returns how many combinations of values these have; 0
// after a finding.
func (n *Network) parents(q *Parameter, v *strictyaml.Value) int {
	rows := 1
	items, _ := v.List()
	for _, item := range items {
		name, ok := item.Text()
		i := slices.IndexFunc(n.Parameters, func(o Parameter) bool { return o.Name == name })

		// A finding makes the number zero, and others after it are still found.
		switch {
		case !ok:
		case i < 0:
			item.Bad("write parents before their children", "%s: there is no parameter %q before this one", v.Path,
				name)
		case slices.Contains(q.Parents, i):
			item.Bad("keep one of the two", "%s lists %s twice", v.Path, name)
		default:
			q.Parents = append(q.Parents, i)
			rows *= max(1, len(n.Parameters[i].Values))
			continue
		}

		rows = 0
	}
	return rows
}

// probabilities reads a distribution over so many values for each of so many combinations of the parents' values; 0: it
// is not known how many, which has its finding.
func (q *Parameter) probabilities(v *strictyaml.Value, rows, columns int) {
	items, ok := v.List()
	if ok && rows > 0 && len(items) != rows {
		v.Bad(probabilitiesHint, "%s has %d lists for %d combinations of the parents' values", v.Path, len(items), rows)
	}

	// Each list is the distribution for one combination of the parents' values.
	for _, item := range items {
		row, ok := vectorOf(item)
		if !ok {
			continue
		}
		q.Probabilities = append(q.Probabilities, row)

		sum := 0.0
		for _, x := range row {
			sum += x
			ok = ok && x >= 0 && x <= 1
		}
		switch {
		case columns > 0 && len(row) != columns:
			item.Bad("write one for each value", "%s: %d probabilities for %d values", v.Path, len(row), columns)
		case !ok || math.Abs(sum-1) > 1e-9:
			item.Bad("write numbers between 0 and 1 that add up to 1", "%s: probabilities that add up to %v", v.Path,
				sum)
		}
	}
}

// parameter reads a secret that is a parameter.
func (s *Secret) parameter(p *Policy, f strictyaml.Fields) {
	property := f.Get("parameter")
	name, ok := property.Text()
	s.Parameter, s.About = name, AboutDistribution

	n, there := p.Network(s.Table)
	if ok && !slices.ContainsFunc(n.Parameters, func(q Parameter) bool { return q.Name == name }) {
		if !there {
			property.Bad("declare it: networks: {"+s.Table.String()+": ...}", "%s: table %s has no network",
				property.Path, s.Table)
		} else {
			property.Bad("name one of the network's parameters", "%s: the network of %s has no parameter %q",
				property.Path, s.Table, name)
		}
	}

	// A parameter says how rows are drawn, and nothing of the rows that there are.
	if f.Get("about").Is(string(AboutDataset)) {
		f.Get("about").Bad("leave it out", "%s: a parameter is of the distribution", f.Get("about").Path)
	}
	for _, key := range []string{"values", "pairs"} {
		if v := f.Get(key); v != nil {
			v.Bad("leave it out", "%s: of a parameter, any two values are a pair", v.Path)
		}
	}
}

// parameters checks that the secrets, links and mechanism of a policy go together with its networks.
func (p *Policy) parameters(r *strictyaml.Report, mechanism *strictyaml.Value) {
	for _, n := range p.Networks {
		if _, protected := p.Table(n.Table); protected && !p.parametric(n.Table) {
			r.Add(n.At, "make one of its parameters a secret, or leave it out",
				"no secret is a parameter of the network of %s", n.Table)
		}
	}

	// A secret parameter takes quilts, and other secrets take shifts: no noise is both.
	seen := map[[2]string]bool{}
	for _, s := range p.Secrets {
		switch key := [2]string{s.Table.String(), s.Parameter}; {
		case s.Parameter == "" && s.Table.Name != "" && p.parametric(s.Table):
			r.Add(s.At, "keep secrets of one kind",
				"secret %s is no parameter, and others of %s are: no noise serves both", s.Name, s.Table)
		case s.Parameter != "" && seen[key]:
			r.Add(s.At, "keep one of the two", "parameter %s is a secret already", s.Parameter)
		case s.Parameter != "":
			seen[key] = true
		}
	}

	for _, t := range p.Tables {
		if t.Link != nil && p.parametric(t.Link.To) {
			r.Add(t.Link.At, "let the table stand for itself",
				"table %s is linked to %s, of whose columns a network speaks, and not of this table's", t.Qualified(),
				t.Link.To)
		}
		parametric := p.parametric(t.Qualified())
		switch m := p.Privacy.Mechanism; {
		case parametric && m != "auto" && m != "markov-quilt" && m != "":
			mechanism.Bad("write auto or markov-quilt",
				"privacy.mechanism %s hides no parameter, and a secret of %s is one", m, t.Qualified())
		case !parametric && t.Link == nil && m == "markov-quilt":
			mechanism.Bad("write auto", "privacy.mechanism markov-quilt hides parameters, and no secret of %s is one",
				t.Qualified())
		}
	}
}
