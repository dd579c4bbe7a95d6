package mechanism

// directional adds, for each secret, noise along the one direction in which that secret moves the mean, and a Gaussian
// floor in every component.
//
//	v_s   Along of secret s             y_s ~ Laplace(t_s), one real shared by all components
//	G_k   ~ N(0, floor_k²)              floor_k ≥ h_k, the lattice of component k
//	noise = Σ_s v_s·y_s + G
//
// A pair of s moves F by a·v_s + r. Condition on the other secrets' y. Replacing y_s by y_s+a hides a·v_s and costs
// |a|/t_s ≤ 1/t_s; given y_s, G hides r, a Gaussian shift of κ = ‖Beside, Unseen‖ (Shift.Norm2 for floor). Together
//
//	δ = δ_G(ε - 1/t_s; κ)
//
// [Chen & Ohrimenko, Theorem 4.3, for the direction; Balle & Wang 2018, Theorem 5, for δ_G; Dwork & Roth, Theorem 3.16,
// for their sum]. Nearly parallel secrets share noise: see hidden. Where f_θ is known, the release is certified
// besides: y_s hides a·v_s, a part of G hides r, and the rest of G, with F's own spread, hides that the covariances
// differ (sensitivity.Certify). The other secrets' directions only add noise that is independent of all this.
//
// Laplace noise along v alone has rank 1: an analyst who knows v tries the values of one count and sees which of them
// puts the other components on their lattices. So G has full rank, with at least a lattice step of standard deviation
// in each component. Where the shift has a Scatter, G hides that as well.
//
// The floor is searched over
//
//	floor_k² = max( h_k², (|Along_k|/1024ε)², f²·b_k², f²·r_k² + (c²·(|g_k| u_k)^⅔ - V_k)₊ ),
//
// b_k and r_k the shapes of box and exact in besideFloor, V_k the variance of F_k and g_k how far it differs in a pair.
// Among floors of the same Σ (g_k/(V_k+floor_k²))², the effect of the covariances to first order, those with V_k +
// floor_k² proportional to (|g_k| u_k)^⅔ have the least error Σ floor_k²/u_k² (Lagrange). To these r_k adds up, as just
// so much is set aside. Where E|noise_k|/u_k counts, a unit of variance costs w_k = p_k(0)/u_k, p_k the density of the
// noise (atZero), in place of 1/u_k²: the shape is that of 1/√w_k in place of u_k, for the w_k of the best so far. For
// each f and c, 1/t_s is the most that δ allows; the least total error wins.
var directional = mechanism{kind: Directional, auto: true, joint: always, design: designDirectional}

func designDirectional(r Request) (design, error) {
	if r.Budget.Delta == 0 || r.Budget.Epsilon > maxGaussianEpsilon {
		return nil, unmetNormal(Directional, 0, r)
	}
	s := newFloorSearch(r)
	s.search()
	if s.floor == nil {
		return nil, r.short(Directional)
	}
	return func(inflate float64) Noise {
		rates := make([]float64, len(s.rates))
		for i, rate := range s.rates {
			rates[i] = rate / inflate
		}
		floor := widenedFloor(s.floor, inflate)
		return Noise{cells: floor, directions: s.directions(s.Shifts, floor, rates)}
	}, nil
}
