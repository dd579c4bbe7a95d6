package policy

import (
	"slices"
)

// Network is a Bayesian network of attribute parameters: each column of a table is drawn by its own parameter, given
// all of which the columns are independent, or independent of everything else.
type Network struct {
	Table       QualifiedName
	Independent []string    // columns that no parameter has to do with
	Parameters  []Parameter // parents before their children

	At Position // the table's name under networks
}

// Parameter is a node of a Network.
type Parameter struct {
	Name          string
	Column        string   // that it governs, as PostgreSQL stores the name; empty: none
	Values        []string // what it can be, at least two
	Parents       []int    // indices of parameters before this one
	Probabilities [][]float64

	At Position
}

func (n *Network) governs(column string) bool {
	return slices.ContainsFunc(n.Parameters, func(q Parameter) bool { return q.Column == column })
}
