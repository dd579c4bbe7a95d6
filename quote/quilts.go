package quote

import (
	"math"
	"slices"

	"fugu/dataset"
	"fugu/planner"
	"fugu/policy"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// movedQuilts returns the secrets' quilts with the widths of a statement: a cut that reads a column near the parameter
// may move as far as if every row were another one, and one that reads none of them not at all. Where nothing but
// independent columns is read, the quilt tells nothing either.
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
				return nil, sqlstate.New(sqlstate.ModelUnfit, "the network of %s does not say what column %s "+
					"depends on", table, c).
					WithHint("The owner of the policy can give it a parameter, or list it as independent.")
			}
			touched = touched || governed
		}

		// A column that is far from the parameter does not move with it, or only with what is in between.
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

// quilts are the network of the table that a question reads and its quilts, nil where its secrets are no parameters.
// One network says nothing of other tables, so that a statement may read but the one.
func (r *Request) quilts(parts []part) (*dataset.Network, []sensitivity.Quilt, error) {
	var of *dataset.Protected
	for i, p := range parts {
		t := r.Dataset.Find(p.cut.Table.Schema, p.cut.Table.Name)
		if i > 0 && of != t && (of.Network != nil || t.Network != nil) {
			return nil, nil, sqlstate.New(sqlstate.NotAnswerable, "%s and %s cannot be asked in one statement, as a "+
				"secret of one is a parameter of a network", of.Table, t.Table).
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
