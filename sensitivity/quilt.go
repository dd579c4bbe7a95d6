package sensitivity

import (
	"errors"
	"fmt"
	"math"
)

// Quilt is a Markov Quilt of a sensitive parameter: given the parameters of Quilt, φ_i is independent of all that are
// in neither Quilt nor Near [Song, Wang & Chaudhuri 2017, Definition 4.2].
type Quilt struct {
	Attribute   string
	Near, Quilt []bool  // by parameter
	Influence   float64 // of φ_i on the quilt: e
	Width       float64 // Δ: the most by which F moves, in L1, when the columns of Near change
}

// Scale returns the scale of the Laplace noise, Δ/(ε - e), with which a release of F keeps the parameter (ε,0)-private;
// +Inf where e ≥ ε.
//
// For values a, b of φ_i and any output w, condition on φ_Q, φ_R and the columns X_Q, X_R that they govern. The ratio
// of their probabilities given a and given b is that of φ_Q alone, at most e^e; given them, F moves by at most Δ
// whatever the columns of Near are, so that the densities of w differ by at most e^(Δ/scale) [Zhang, Ohrimenko &
// Cummings, section 5].
func (q Quilt) Scale(epsilon float64) float64 {
	if !(q.Influence < epsilon) {
		return math.Inf(1)
	}
	return q.Width / (epsilon - q.Influence)
}

// maxQuilted is the most parameters of a network among which quilts are searched.
const maxQuilted = 16

// BestQuilt returns the quilt of parameter i of least scale. width gives Δ for a set of columns: the most by which F
// moves in L1 when they, and no others, change; more columns never less. The quilt without parameters is among those
// tried, so that independence and, at worst, the width of all columns serve. Not tried are quilts that separate as much
// without one of their parameters: then the influence on the rest is no more, and neither is the width.
func (n *Network) BestQuilt(i int, epsilon float64, width func(near []bool) float64) (Quilt, error) {
	if i < 0 || i >= len(n.nodes) || !(epsilon > 0) || !finite(epsilon) {
		return Quilt{}, fmt.Errorf("no quilt for parameter %d at ε = %v", i, epsilon)
	}
	if len(n.nodes) > maxQuilted {
		return Quilt{}, errors.New("too many parameters to search their quilts")
	}

	// Sets of parameters are numbers: bit j stands for parameter j.
	near := make([]uint32, 1<<len(n.nodes)) // by quilt; 0 where i is in it
	var best Quilt
	least := math.Inf(1)
	for set := range near {
		if set>>i&1 == 1 {
			continue
		}
		q := Quilt{Attribute: n.nodes[i].Name, Quilt: make([]bool, len(n.nodes))}
		for j := range q.Quilt {
			q.Quilt[j] = set>>j&1 == 1
		}
		q.Near = n.near(i, q.Quilt)
		for j, in := range q.Near {
			if in {
				near[set] |= 1 << j
			}
		}

		if spare(near, set) {
			continue
		}
		q.Width = width(q.Near)
		if !(q.Width >= 0) || !finite(q.Width) {
			return Quilt{}, fmt.Errorf("parameter %s: a width of %v", q.Attribute, q.Width)
		}
		if q.Width/epsilon >= least {
			continue // even without any influence
		}

		q.Influence = n.Influence(i, q.Quilt)
		if s := q.Scale(epsilon); s < least {
			best, least = q, s
		}
	}
	return best, nil
}

// spare reports whether a quilt has a parameter without which no more are near.
func spare(near []uint32, set int) bool {
	for j := 0; set>>j > 0; j++ {
		if set>>j&1 == 1 && near[set&^(1<<j)]&^near[set] == 0 {
			return true
		}
	}
	return false
}
