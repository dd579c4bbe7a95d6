package mechanism

import (
	"math"

	"fugu/privacy"
)

// mechanism is one way to make noise for a request: its name, what it needs, and how it calibrates. Each is made in the
// file of its mathematics; registry.go lists them.
type mechanism struct {
	kind Kind
	// auto: Auto compares it with others. Its noise alone keeps its promise, and hides what a Shift leaves to chance
	// too.
	auto bool
	// joint says whether Auto compares it for a request of a joint account, which has no place but for normal noise;
	// nil: never.
	joint func(Request) bool
	// inherent: it counts the randomness of the data as noise. Without a family there is none of it.
	inherent bool

	// design returns the noise for a request, of which calibrate takes the least that holds.
	design func(Request) (design, error)
	// losses is what the noise alone costs each secret; nil: Request.losses, of shifts.
	losses func(Request, Noise) map[string]privacy.Loss
	// holds reports whether the noise alone keeps what the mechanism promises; nil: that the losses are within the
	// budget. What is promised otherwise is of this release alone. Losses may then be more, and are what is charged: so
	// Auto leaves such mechanisms to those who ask for them.
	holds func(Request, Noise) bool
	// certify returns the certificate of each secret; nil: Request.certify.
	certify func(Request, Noise, map[string]privacy.Loss) ([]Certificate, error)
}

// design gives the noise of a mechanism with its scales multiplied by inflate ≥ 1.
type design func(inflate float64) Noise

// maxGaussianEpsilon is the largest ε for which the tails left out in gaussianDeviation are negligible.
const maxGaussianEpsilon = 100

// searchShare is the share of δ at one pair that a search aims at; the boxes of the verification take a little more.
const searchShare = .99

// always is the joint of mechanisms whose noise is normal in every component.
func always(Request) bool { return true }

// lossesOf returns what noise of the mechanism costs each secret, by itself.
func (m mechanism) lossesOf(r Request, n Noise) map[string]privacy.Loss {
	if m.losses != nil {
		return m.losses(r, n)
	}
	return r.losses(n)
}

// keeps reports whether the noise keeps the mechanism's promise: what it costs under the request's distributions is
// within the request's budget, and what is charged for the true ones within what was promised for them.
func (m mechanism) keeps(r Request, n Noise, losses, charged map[string]privacy.Loss) bool {
	if m.holds != nil {
		return m.holds(r, n)
	}
	for secret, l := range losses {
		if !l.Within(r.Budget) || !charged[secret].Within(r.promised) {
			return false
		}
	}
	return true
}

// certificates returns the certificate of each secret, or sensitivity.ErrUncertified where the noise is not enough.
func (m mechanism) certificates(r Request, n Noise, losses map[string]privacy.Loss) ([]Certificate, error) {
	if m.certify != nil {
		return m.certify(r, n, losses)
	}
	return r.certify(m.kind, n, losses)
}

// losses returns for each secret what each part costs at most, over its shifts, by the noise alone.
func (r Request) losses(n Noise) map[string]privacy.Loss {
	losses := make(map[string]privacy.Loss, len(r.Shifts))
	for _, s := range r.Shifts {
		losses[s.Secret] = n.loss(s).Max(losses[s.Secret])
	}
	return losses
}

// cells is the design of independent noise of scale max(scale·u_k, h_k) in each component, set by set in grid steps.
func (r Request) cells(scale float64, set func(*cell, int64)) design {
	return func(inflate float64) Noise {
		n := Noise{cells: make([]cell, len(r.Components))}
		for k, c := range r.Components {
			// The grid is that of the scale before it was inflated, so that an inflated scale is a whole number of its
			// steps.
			own := math.Max(scale*c.Unit, c.Lattice)
			n.cells[k].exponent = gridFor(own)
			set(&n.cells[k], steps(inflate*own, n.cells[k].exponent))
		}
		return n
	}
}
