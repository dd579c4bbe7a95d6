package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"fugu/planner"
	"fugu/policy"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// network is what a policy says of how a table's columns are distributed together.
type network struct {
	parameters  []policy.Parameter
	independent []string // columns
	// quilts has one for each of table.Secrets, in order, chosen once and for all: losses by different quilts of one
	// parameter could not be added up. Its Width is the number of columns near the parameter.
	quilts []sensitivity.Quilt
}

// loadNetwork reads the network of a table whose secrets are parameters, and chooses their quilts: those with the least
// noise at the policy's ε for a statement that every column near the parameter moves by as much. What analysts ask has no
// part in it.
func (t *protected) loadNetwork() error {
	n, ok := t.policy.Network(t.config.Qualified())
	if !ok {
		return nil
	}
	out := &network{parameters: n.Parameters, independent: n.Independent}
	nodes := make([]sensitivity.Parameter, len(n.Parameters))
	for i, q := range n.Parameters {
		nodes[i] = sensitivity.Parameter{Name: q.Name, Values: len(q.Values), Parents: q.Parents, Table: q.Probabilities}
		if err := t.hasColumn(q.Column); q.Column != "" && err != nil {
			return fmt.Errorf("network: parameter %s: %w", q.Name, err)
		}
	}
	for _, c := range n.Independent {
		if err := t.hasColumn(c); err != nil {
			return fmt.Errorf("network: independent: %w", err)
		}
	}
	net, err := sensitivity.NewNetwork(nodes)
	if err != nil {
		return fmt.Errorf("network: %w", err)
	}
	for _, sec := range t.policy.Secrets {
		if sec.Table != t.config.Qualified() {
			continue
		}
		i := slices.IndexFunc(n.Parameters, func(q policy.Parameter) bool { return q.Name == sec.Parameter })
		quilt, err := net.BestQuilt(i, float64(t.policy.Privacy.Epsilon), func(near []bool) float64 { return float64(len(out.columns(near))) })
		if err != nil {
			return fmt.Errorf("network: secret %s: %w", sec.Name, err)
		}
		quilt.Attribute = sec.Name
		out.quilts = append(out.quilts, quilt)
	}
	t.network = out
	return nil
}

func (t *protected) hasColumn(name string) error {
	if !slices.ContainsFunc(t.table.Columns, func(c planner.Column) bool { return c.Name == name }) {
		return fmt.Errorf("the table has no column %q", name)
	}
	return nil
}

// columns are those that the parameters of a set govern.
func (n *network) columns(set []bool) []string {
	var out []string
	for i, in := range set {
		if in && n.parameters[i].Column != "" {
			out = append(out, n.parameters[i].Column)
		}
	}
	return out
}

// names are the parameters of a set.
func (n *network) names(set []bool) []string {
	out := []string{}
	for i, in := range set {
		if in {
			out = append(out, n.parameters[i].Name)
		}
	}
	return out
}

// moved returns the secrets' quilts with the widths of a statement: a cut that reads a column near the parameter may move as
// far as if every row were another one, and one that reads none of them not at all. Where nothing but independent columns
// is read, the quilt tells nothing either.
func (n *network) moved(table *planner.Table, parts []part) ([]sensitivity.Quilt, error) {
	out := slices.Clone(n.quilts)
	touched := false
	for i := range out {
		out[i].Width = 0
	}
	for _, p := range parts {
		reads := p.cut.Reads()
		for _, c := range reads {
			governed := slices.ContainsFunc(n.parameters, func(q policy.Parameter) bool { return q.Column == c })
			if !governed && !slices.Contains(n.independent, c) {
				return nil, sqlstate.New(sqlstate.ModelUnfit, "the network of %s does not say what column %s depends on", table, c).
					WithHint("The owner of the policy can give it a parameter, or list it as independent.")
			}
			touched = touched || governed
		}
		for i, q := range out {
			near := n.columns(q.Near)
			if !slices.ContainsFunc(reads, func(c string) bool { return slices.Contains(near, c) }) {
				continue
			}
			far, err := p.model.reach(p.cut, p.units, p.cut.Table.Root().Rows, math.Inf(1))
			if err != nil {
				return nil, err
			}
			out[i].Width += far.total
		}
	}
	for i := range out {
		if !touched {
			out[i].Influence = 0
		}
	}
	return out, nil
}

// quilts are the network of the table that a question reads and its quilts, nil where its secrets are no parameters. One network says nothing of
// other tables, so that a statement may read but the one.
func (r *request) quilts(parts []part) (*network, []sensitivity.Quilt, error) {
	var of *protected
	for i, p := range parts {
		t := r.dataset.find(p.cut.Table.Schema, p.cut.Table.Name)
		if i > 0 && of != t && (of.network != nil || t.network != nil) {
			return nil, nil, sqlstate.New(sqlstate.NotAnswerable, "%s and %s cannot be asked in one statement, as a secret of one is a parameter of a network", of.table, t.table).
				WithHint("Ask each in a statement of its own.").At(p.cut.Position())
		}
		of = t
	}
	if of == nil || of.network == nil {
		return nil, nil, nil
	}
	quilts, err := of.network.moved(of.table, parts)
	return of.network, quilts, err
}

// ExplainedQuilt is how a secret parameter is hidden.
type ExplainedQuilt struct {
	Secret    string   `json:"secret"`
	Near      []string `json:"near"`      // the parameters that the quilt does not separate from the secret one, itself among them
	Quilt     []string `json:"quilt"`     // given which the rest is independent of it
	Influence float64  `json:"influence"` // ε of what the quilt tells
	Width     float64  `json:"width"`     // how far the columns of Near move F, in units of error
}

func (n *network) explain(quilts []sensitivity.Quilt) []ExplainedQuilt {
	var out []ExplainedQuilt
	for _, q := range quilts {
		out = append(out, ExplainedQuilt{q.Attribute, n.names(q.Near), n.names(q.Quilt), q.Influence, q.Width})
	}
	return out
}

// String says it for people.
func (q ExplainedQuilt) String() string {
	given := "alone"
	if len(q.Quilt) > 0 {
		given = "given " + strings.Join(q.Quilt, ", ")
	}
	moves := "no column of theirs is read"
	if q.Width > 0 {
		moves = "their columns move F by at most " + short(q.Width) + " units"
	}
	return fmt.Sprintf("%s is one with %s, %s (influence %s); %s", q.Secret, strings.Join(q.Near, ", "), given, short(q.Influence), moves)
}
