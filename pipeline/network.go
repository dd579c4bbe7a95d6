package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"fugu/dataset"
	"fugu/planner"
	"fugu/policy"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// part is one cut over the table: its model, and the units of its components.
type part struct {
	cut   *planner.Bound
	model modelled
	units []float64
}

// movedQuilts returns the secrets' quilts with the widths of a statement: a cut that reads a column near the parameter may move as
// far as if every row were another one, and one that reads none of them not at all. Where nothing but independent columns
// is read, the quilt tells nothing either.
func movedQuilts(n *dataset.Network, table *planner.Table, parts []part) ([]sensitivity.Quilt, error) {
	out := slices.Clone(n.Quilts)
	touched := false
	for i := range out {
		out[i].Width = 0
	}
	for _, p := range parts {
		reads := p.cut.Reads()
		for _, c := range reads {
			governed := slices.ContainsFunc(n.Parameters, func(q policy.Parameter) bool { return q.Column == c })
			if !governed && !slices.Contains(n.Independent, c) {
				return nil, sqlstate.New(sqlstate.ModelUnfit, "the network of %s does not say what column %s depends on", table, c).
					WithHint("The owner of the policy can give it a parameter, or list it as independent.")
			}
			touched = touched || governed
		}
		for i, q := range out {
			near := n.Columns(q.Near)
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
func (q *question) quilts(parts []part) (*dataset.Network, []sensitivity.Quilt, error) {
	var of *dataset.Protected
	for i, p := range parts {
		t := q.snapshot.Find(p.cut.Table.Schema, p.cut.Table.Name)
		if i > 0 && of != t && (of.Network != nil || t.Network != nil) {
			return nil, nil, sqlstate.New(sqlstate.NotAnswerable, "%s and %s cannot be asked in one statement, as a secret of one is a parameter of a network", of.Table, t.Table).
				WithHint("Ask each in a statement of its own.").At(p.cut.Position())
		}
		of = t
	}
	if of == nil || of.Network == nil {
		return nil, nil, nil
	}
	quilts, err := movedQuilts(of.Network, of.Table, parts)
	return of.Network, quilts, err
}

// ExplainedQuilt is how a secret parameter is hidden.
type ExplainedQuilt struct {
	Secret    string   `json:"secret"`
	Near      []string `json:"near"`      // the parameters that the quilt does not separate from the secret one, itself among them
	Quilt     []string `json:"quilt"`     // given which the rest is independent of it
	Influence float64  `json:"influence"` // ε of what the quilt tells
	Width     float64  `json:"width"`     // how far the columns of Near move F, in units of error
}

func explainQuilts(n *dataset.Network, quilts []sensitivity.Quilt) []ExplainedQuilt {
	var out []ExplainedQuilt
	for _, q := range quilts {
		out = append(out, ExplainedQuilt{q.Attribute, n.Names(q.Near), n.Names(q.Quilt), q.Influence, q.Width})
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
