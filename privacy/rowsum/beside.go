package rowsum

import "math"

// node is a part of the probability of what hides the shift beside the sums: with this weight it has used up so much of
// ε that factor = e^(what is left) at least.
type node struct{ weight, factor float64 }

const (
	lowest = -2.0 // standard deviations
	fine   = .005 // of ε, that a node may be wide
	few    = 8    // nodes, where one is not enough
	nodes  = 48
)

// shifted are the nodes for a Gaussian shift of size κ beside: its loss under the first value is N(κ²/2, κ²), and what
// the sums tell at the rest of ε falls with ε. So each part of the loss counts at its upper end, and what is beyond the
// last, with a factor of 0.
func shifted(epsilon, delta, kappa float64) []node {
	top := math.Sqrt(2 * math.Log(1e4/delta))
	n := int(math.Ceil(kappa * (top - lowest) / (fine * epsilon)))
	if n > 1 {
		n = min(max(n, few), nodes)
	}
	n = max(n, 1)

	var out []node
	below := 0.0
	for i := range n {
		z := lowest + (top-lowest)*float64(i+1)/float64(n)
		up := math.Erfc(-z/math.Sqrt2) / 2
		out = append(out, node{up - below, math.Exp(epsilon - kappa*kappa/2 - kappa*z)})
		below = up
	}
	return append(out, node{math.Erfc(top/math.Sqrt2) / 2, 0})
}

// deltas bounds δ of two laws with what is beside them, and of the same in the other order.
func (r *certification) deltas(p, q curve) (d [2]float64) {
	return [2]float64{r.delta(p, q), r.delta(q, p)}
}

// delta bounds ∫ max(0, p - γq), of each node's γ. In the window p is at most what is computed, which has the tails of
// other periods as well; q is less by these.
func (r *certification) delta(p, q curve) (total float64) {
	// Only where p is above the least γ times q is there anything.
	least := math.Inf(1)
	for _, n := range r.beside {
		if n.factor > 0 {
			least = math.Min(least, n.factor)
		}
	}
	var ups, downs []float64
	for i, up := range p.up {
		if down := q.down[i]; down < 0 || up > least*down {
			ups, downs = append(ups, up), append(downs, down)
		}
	}

	for _, n := range r.beside {
		if n.factor == 0 {
			total += n.weight
			continue
		}
		sum := 0.0
		for i, up := range ups {
			sum += max(0, up-n.factor*downs[i])
		}
		total += n.weight * math.Min(1, sum*r.frame.step+p.tail+p.rest+n.factor*(q.tail+q.rest))
	}
	return total
}

// same is δ of two laws that are one, with what is beside: where γ < 1 it is 1-γ.
func (r *certification) same() (d float64) {
	for _, n := range r.beside {
		d += n.weight * math.Max(0, 1-n.factor)
	}
	return d
}

// steepest is the greatest weight of a change of the first law or of the second, over both orders: Σ w max(1, γ).
func (r *certification) steepest() (total float64) {
	for _, n := range r.beside {
		total += n.weight * math.Max(1, n.factor)
	}
	return total
}
