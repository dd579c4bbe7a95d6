package mechanism

import (
	"math"

	"fugu/privacy"
	"fugu/privacy/rowsum"
	"fugu/sqlstate"
)

// maxInherent is the most components of a statement for which mechanisms that count the randomness of the data look for
// their noise: it takes dense matrices.
const maxInherent = 200

// inherent is a mechanism that counts the randomness of normal F as noise:
//
//	Σ_x   covariance of F at the value x of a secret      h_k   lattice of component k
//	N   = diag(floor²) + Σ_j v_j v_jᵀ                     floor_k ≥ h_k
//	v_j   by the mechanism, for Δᵀ(Σ_x+diag(floor²)+Σ v_j v_jᵀ)⁻¹Δ ≤ κ² with Δ = Along and x either end of the span
//
// With the same Σ for both values of a pair, κ = κ*(ε,δ) makes the release (ε,δ)-private [Balle & Wang 2018, Theorem 5;
// Dong, Roth & Su, Corollary 2.13, in place of ε/√(2 ln(1.25/δ)) of Chen & Ohrimenko, Theorem 4.4]; Δᵀ(Σ_x+N)⁻¹Δ is
// convex where Σ_x is affine, so that both ends speak for all x. But covariances do differ over a pair. So κ and the
// floor are searched for the least error for which sensitivity.Certify proves (ε,δ) for every pair as it is; a smaller
// κ hides the mean better, a larger floor the covariances and what is beside the direction:
//
//	floor_k² = max(h_k², f²·b_k², c·(|g_k|·u_k)^(2/3) - V_k),   g_k = change of V_k = Σ_kk over a pair
//
// b_k the larger of the shapes of besideFloor, the third for a given Σ (g/(V+floor²))² (Lagrange).
// A nil structure has no lines, and no floor beyond h. Noise is looked for up to most components.
func inherent(kind Kind, most int, lines structure) mechanism {
	find := func(r Request) (design, error) {
		if !r.known() {
			return nil, sqlstate.New(sqlstate.ModelUnfit,
				"mechanism %s needs a statistic whose distribution may be taken to be normal", kind).
				WithHint("The owner of the policy can accept it: assume: [translation, gaussian]; "+
					"or set fugu.mechanism to %s.", Auto)
		}

		kappa := privacy.Kappa(r.Budget)
		if kappa == 0 || r.Budget.Epsilon > maxGaussianEpsilon || len(r.Components) > most {
			return nil, unmetNormal(kind, most, r)
		}

		// A search looks at the hardest pairs alone where all of them take long. So what it found is looked at with
		// all, and hardly ever has to be sought again with less of δ.
		var s *inherentSearch
		for share := 1.0; s == nil || !r.wholly(s.best); share *= .95 {
			tight := r
			if tight.Budget.Delta *= privacy.Delta(share); share < leastShare {
				return nil, r.short(kind)
			}
			s = newInherentSearch(tight, lines, kappa)
			s.run()
			if math.IsInf(s.least, 1) {
				return nil, r.short(kind)
			}
		}
		return func(inflate float64) Noise {
			if inflate > 1 { // the noise found was certified as it is
				return Noise{}
			}
			return s.best
		}, nil
	}
	return mechanism{kind: kind, inherent: true, design: find, holds: certificateOnly}
}

// leastShare of δ is what a search is begun anew with at the least.
const leastShare = .5

// wholly reports whether what a search left out of holds is within the budget too.
func (r Request) wholly(n Noise) bool {
	for _, f := range r.Families {
		if _, taken, err := r.exactly(n, f, rowsum.AllPairs); taken != nil && err != nil {
			return false
		}
	}
	return true
}

// holds reports whether every secret's certificate is within the budget, as far as a search looks.
func (r Request) holds(n Noise) bool {
	for _, f := range r.Families {
		if _, _, err := r.certified(n, f, rowsum.FarthestPairs); err != nil {
			return false
		}
	}
	return true
}

// certificateOnly is what mechanisms promise that count the randomness of the data: the certificate, and nothing by
// noise alone.
func certificateOnly(Request, Noise) bool { return true }
