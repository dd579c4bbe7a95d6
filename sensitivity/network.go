package sensitivity

import (
	"errors"
	"fmt"
	"math"
)

// Parameter is a random parameter φ_i that governs the distribution of one attribute, with finitely many values, as a
// node of a Bayesian network.
type Parameter struct {
	Name    string
	Values  int   // it is 0 … Values-1
	Parents []int // indices of parameters before this one
	// for each combination of the parents' values, the last parent's changing fastest, P(value | parents)
	Table [][]float64
}

// Network is a Bayesian network of attribute parameters [Zhang, Ohrimenko & Cummings, Definition 2 and section 5]. The
// columns of the dataset are taken to be independent given all parameters, the distribution of each given by its own.
type Network struct {
	nodes []Parameter
	joint []float64 // by state; the last parameter's value changes fastest
}

// maxStates bounds the joint distribution.
const maxStates = 1 << 20

// NewNetwork checks that parents come before their children and that tables hold probability distributions.
func NewNetwork(nodes []Parameter) (*Network, error) {
	if len(nodes) == 0 {
		return nil, errors.New("a network without parameters")
	}
	states := 1
	for i, p := range nodes {
		if p.Values < 1 {
			return nil, fmt.Errorf("parameter %s has no values", p.Name)
		}
		if states *= p.Values; states > maxStates {
			return nil, errors.New("a network with too many states")
		}

		rows := 1
		for _, q := range p.Parents {
			if q < 0 || q >= i {
				return nil, fmt.Errorf("parameter %s: a parent that does not come before it", p.Name)
			}
			rows *= nodes[q].Values
		}

		if len(p.Table) != rows {
			return nil, fmt.Errorf("parameter %s: %d distributions for %d combinations of its parents' values", p.Name,
				len(p.Table), rows)
		}

		for _, row := range p.Table {
			sum := 0.0
			for _, v := range row {
				if !(v >= 0 && v <= 1) {
					return nil, fmt.Errorf("parameter %s: a probability that is not between 0 and 1", p.Name)
				}
				sum += v
			}

			if len(row) != p.Values || math.Abs(sum-1) > 1e-9 {
				return nil, fmt.Errorf("parameter %s: %d probabilities that add up to %v", p.Name, len(row), sum)
			}
		}
	}

	// The joint distribution, by the chain rule: each value given those of its parents.
	n := &Network{nodes: nodes, joint: make([]float64, states)}
	for s := range n.joint {
		n.joint[s] = 1
		value := n.state(s)
		for i, p := range nodes {
			row := 0
			for _, q := range p.Parents {
				row = row*nodes[q].Values + value[q]
			}
			n.joint[s] *= p.Table[row][value[i]]
		}
	}
	return n, nil
}

func (n *Network) state(s int) []int {
	value := make([]int, len(n.nodes))
	for i := len(n.nodes) - 1; i >= 0; i-- {
		value[i], s = s%n.nodes[i].Values, s/n.nodes[i].Values
	}
	return value
}

// Influence is the max-influence of φ_i on the parameters of set: the largest ln P(φ_set = x | φ_i = a)/P(φ_set = x |
// φ_i = b) over all x and all values a, b that φ_i can have; +Inf where some x is possible with a and not with b [Song,
// Wang & Chaudhuri, "Pufferfish Privacy Mechanisms for Correlated Data", 2017, Definition 4.1]. Secrets that are sets
// of values of φ_i mix these, and are no further apart.
func (n *Network) Influence(i int, set []bool) float64 {
	type event struct{ x, value int }
	// P(φ_set = x, φ_i = v) by summing the joint distribution, and P(φ_i = v).
	mass := map[event]float64{}
	own := make([]float64, n.nodes[i].Values)
	seen := map[int]bool{}
	for s, p := range n.joint {
		value, x := n.state(s), 0
		for j, in := range set {
			if in {
				x = x*n.nodes[j].Values + value[j]
			}
		}

		mass[event{x, value[i]}] += p
		own[value[i]] += p
		seen[x] = true
	}

	most := 0.0
	for x := range seen {
		low, high := math.Inf(1), 0.0
		for v, p := range own {
			if p > 0 {
				c := mass[event{x, v}] / p
				low, high = math.Min(low, c), math.Max(high, c)
			}
		}

		if high > 0 {
			most = math.Max(most, math.Log(high/low))
		}
	}
	return most
}

// near returns the parameters that φ_i is not separated from by those of quilt: those with an active trail from it
// [d-separation; Koller & Friedman, "Probabilistic Graphical Models", Algorithm 3.1]. All others outside the quilt are
// together independent of φ_i given the quilt, whatever the tables.
func (n *Network) near(i int, quilt []bool) []bool {
	children := make([][]int, len(n.nodes))
	above := make([]bool, len(n.nodes)) // in the quilt or an ancestor of it
	for j := len(n.nodes) - 1; j >= 0; j-- {
		above[j] = above[j] || quilt[j]
		for _, p := range n.nodes[j].Parents {
			children[p] = append(children[p], j)
			above[p] = above[p] || above[j]
		}
	}

	// A walk along trails: up to parents and down to children where the node is not in the quilt, and up again from a
	// child only where something below it is (a collider that is observed).
	out := make([]bool, len(n.nodes))
	type visit struct {
		node int
		up   bool // come from a child, or the start
	}

	seen := map[visit]bool{}
	for queue := []visit{{node: i, up: true}}; len(queue) > 0; queue = queue[1:] {
		v := queue[0]
		if seen[v] {
			continue
		}
		seen[v] = true
		out[v.node] = out[v.node] || !quilt[v.node]

		if !quilt[v.node] {
			for _, c := range children[v.node] {
				queue = append(queue, visit{node: c})
			}
		}
		if v.up && !quilt[v.node] || !v.up && above[v.node] {
			for _, p := range n.nodes[v.node].Parents {
				queue = append(queue, visit{node: p, up: true})
			}
		}
	}
	return out
}
