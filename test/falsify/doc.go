// Package falsify tries to show that a mechanism does not keep its promise. From transcripts of releases under two
// values of a secret it derives, with stated confidence, a lower bound on the ε that the promise would really need at
// its δ.
//
// (ε,δ)-indistinguishability says Pr(S|θi) ≤ e^ε Pr(S|θj) + δ for every event S, so any event whose two probabilities
// are bounded by experiment bounds ε from below:
//
//	ε ≥ ln((p - δ)/q),   p ≤ Pr(S|θi), q ≥ Pr(S|θj)
//
// with Clopper-Pearson bounds p and q. The event is {score ≥ t}: the score is a likelihood ratio where densities are
// known, a classifier that was trained, or an attack that looks at digits; score and t are chosen on one half of the
// transcripts and the probabilities are counted on the other, so that the bounds hold whatever was chosen.
//
// A finding is proof, up to the stated probability of a false alarm. No finding proves nothing: it says that these
// tests, at this number of transcripts, see no more than was promised.
//
// A transcript may hold several releases, each chosen in view of those before: then it is the composition that is
// tried.
package falsify
