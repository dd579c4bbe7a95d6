package privacy

import (
	"math"
	"slices"
)

// A limit on several releases has to hold however they were chosen: each in view of the answers before, its kind of
// noise too. DeltaAt does not: it is δ of releases whose parts of loss are fixed beforehand. Who goes on with Laplace
// noise after an unlucky normal draw, and with normal noise after a lucky one, has more: once one and a half δ and more
// for two releases.
//
// What holds for every strategy is a limit on each part by itself. Let Pure ≤ E and Kappa2 ≤ K on every path of a
// strategy. Of the loss at most E is of Laplace noise; the rest is of adaptive Gaussian shifts whose squares add up to
// K at most, which together are one shift of K [Smith & Thakurta 2022; Koskela, Tobaben & Honkela 2023]. So what is
// released is (ε,δ(ε-E;√K))-indistinguishable.
//
// A Loss is within a limit if it is below one of a fixed list of such corners (E_i,K_i), each of which takes a share
// w_i of δ, Σ w_i ≤ 1: E_P (1-e^(ε-L))₊ over the paths that end below corner i is at most what the strategy has that
// stops before it leaves that corner, w_i δ; and the corners are all there is. Failure probabilities have a share of
// their own. The corners:
//
//	no pure loss to speak of, E_0 = 2⁻²⁰, and the K_0 that goes with it
//	levels K_1 < K_2 < ..., and the E_i that go with them
//
// docs/accounting.md has the proof at length.
const (
	failureShare  = 1. / 2
	gaussianShare = 1. / 4
	levelsShare   = 1. / 4
)

// leastPure is a pure loss not to speak of: what discrete noise lacks of continuous noise.
const leastPure = 0x1p-20

// levels are the K_i: by factors of 4 as far as they cost next to nothing, then close together.
var levels = func() (out []float64) {
	for e := -40; e < -10; e += 2 {
		out = append(out, math.Ldexp(1, e))
	}
	for i := -40; i <= 40; i++ {
		out = append(out, math.Exp2(float64(i)/4))
	}
	return out
}()

// SpentAt returns the least ε for which l, what releases chosen one after the other have lost together, is within the
// limit (ε,δ), whatever comes later; +Inf where there is none. The first release is chosen before any answer: by itself
// its limit is DeltaAt's. If it passes the other, nothing can come after it.
func (l Loss) SpentAt(delta float64, releases int) float64 {
	switch {
	case releases <= 1:
		return l.EpsilonAt(delta)
	case !l.Valid() || l.Delta > failureShare*delta:
		return math.Inf(1)
	case l.Kappa2 == 0:
		return l.Pure
	}
	least := math.Inf(1)
	if l.Pure <= leastPure {
		least = leastPure + Loss{Kappa2: l.Kappa2}.EpsilonAt(gaussianShare*delta)
	}
	if level, ok := l.level(); ok {
		least = math.Min(least, l.Pure+level.EpsilonAt(levelsShare*delta/float64(len(levels))))
	}
	return least
}

// level is the least of levels that holds the normal part; false: it is beyond all.
func (l Loss) level() (Loss, bool) {
	i, _ := slices.BinarySearch(levels, l.Kappa2)
	if i == len(levels) {
		return Loss{}, false
	}
	return Loss{Kappa2: levels[i]}, true
}

// Releases counts as SpentAt does how many releases there are with one behind those that lost l: one or more.
func (l Loss) Releases() int {
	if l == (Loss{}) {
		return 1
	}
	return 2
}

// Allowed reports whether so many releases, which have lost l together, are within the limit.
func (l Loss) Allowed(b Budget, releases int) bool {
	return l.SpentAt(float64(b.Delta), releases) <= float64(b.Epsilon)
}

// Below reports whether SpentAt is below epsilon, but for rounding: one look at δ, and no search.
func (l Loss) Below(epsilon, delta float64, releases int) bool {
	switch {
	case releases <= 1:
		return l.Valid() && l.DeltaAt(epsilon) < delta
	case !l.Valid() || l.Delta > failureShare*delta:
		return false
	case l.Kappa2 == 0:
		return l.Pure < epsilon
	case l.Pure <= leastPure && (Loss{Kappa2: l.Kappa2}).DeltaAt(epsilon-leastPure) < gaussianShare*delta:
		return true
	}
	level, ok := l.level()
	return ok && level.DeltaAt(epsilon-l.Pure) < levelsShare*delta/float64(len(levels))
}
