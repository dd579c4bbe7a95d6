package mechanism

import (
	"math"

	"fugu/privacy"
)

// maxGaussianEpsilon is the largest ε for which the tails left out in gaussianDeviation are negligible.
const maxGaussianEpsilon = 100

// design gives the noise of a mechanism with its scales multiplied by inflate ≥ 1.
type design func(inflate float64) Noise

// mechanism is one way to make noise for a request.
type mechanism struct {
	kind   Kind
	auto   bool // Auto considers it; it also hides what a Shift leaves to chance
	design func(Request) (design, error)
	// holds reports whether the noise alone keeps what the mechanism promises; nil: that the losses are within the budget.
	// What is promised otherwise is of this release alone. Losses may then be more, and are what is charged: so Auto
	// leaves such mechanisms to those who ask for them.
	holds func(Request, Noise) bool
	// certify returns the certificate of each secret; nil: Request.certify.
	certify func(Request, Noise, map[string]privacy.Loss) ([]Certificate, error)
}

// searchShare is the share of δ at one pair that a search aims at; the boxes of the verification take a little more.
const searchShare = .99

// cells is the design of independent noise of scale max(scale·u_k, h_k) in each component, set by set in grid steps.
func (r Request) cells(scale float64, set func(*cell, int64)) design {
	return func(inflate float64) Noise {
		n := Noise{cells: make([]cell, len(r.Components))}
		for k, c := range r.Components {
			own := math.Max(scale*c.Unit, c.Lattice)
			n.cells[k].exponent = gridFor(own)
			set(&n.cells[k], steps(inflate*own, n.cells[k].exponent))
		}
		return n
	}
}
