package dataset

import (
	"fmt"
	"slices"

	"fugu/planner"
	"fugu/policy"
	"fugu/sensitivity"
)

// loadNetwork reads the network of a table whose secrets are parameters, and chooses their quilts: those with the least
// noise at the policy's ε for a statement that every column near the parameter moves by as much. What analysts ask has
// no part in it.
func (t *Protected) loadNetwork() error {
	n, ok := t.Policy.Network(t.Config.Qualified())
	if !ok {
		return nil
	}
	out := &Network{Parameters: n.Parameters, Independent: n.Independent}

	nodes := make([]sensitivity.Parameter, len(n.Parameters))
	for i, q := range n.Parameters {
		nodes[i] = sensitivity.Parameter{
			Name: q.Name, Values: len(q.Values), Parents: q.Parents, Table: q.Probabilities}
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

	// The width of what is near is how many columns move with the parameter.
	for _, sec := range t.Policy.Secrets {
		if sec.Table != t.Config.Qualified() {
			continue
		}
		i := slices.IndexFunc(n.Parameters, func(q policy.Parameter) bool { return q.Name == sec.Parameter })
		width := func(near []bool) float64 { return float64(len(out.Columns(near))) }
		quilt, err := net.BestQuilt(i, float64(t.Policy.Privacy.Epsilon), width)
		if err != nil {
			return fmt.Errorf("network: secret %s: %w", sec.Name, err)
		}
		quilt.Attribute = sec.Name
		out.Quilts = append(out.Quilts, quilt)
	}
	t.Network = out
	return nil
}

func (t *Protected) hasColumn(name string) error {
	if !slices.ContainsFunc(t.Table.Columns, func(c planner.Column) bool { return c.Name == name }) {
		return fmt.Errorf("the table has no column %q", name)
	}
	return nil
}

// Columns are those that the parameters of a set govern.
func (n *Network) Columns(set []bool) []string {
	var out []string
	for i, in := range set {
		if in && n.Parameters[i].Column != "" {
			out = append(out, n.Parameters[i].Column)
		}
	}
	return out
}

// Names are the parameters of a set.
func (n *Network) Names(set []bool) []string {
	out := []string{}
	for i, in := range set {
		if in {
			out = append(out, n.Parameters[i].Name)
		}
	}
	return out
}
