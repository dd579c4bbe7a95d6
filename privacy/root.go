package privacy

import "math"

// point is a number and what a function is there.
type point struct{ at, is float64 }

// over reports whether the function is above 0, or nothing is known of it.
func (p point) over() bool { return !(p.is <= 0) }

// excess is above 0 just where a δ is above the one that is allowed: by about the logarithm of their ratio, which the
// ε or κ that it belongs to changes more evenly than the δ itself.
func excess(delta, allowed float64) float64 { return math.Log1p((delta - allowed) / allowed) }

// narrowed brings two points of f, of which one is over and the other is not, together until no number lies between,
// each on its side. f is continuous but for rounding, and what it is besides its sign only makes this quick.
//
// It is the rule of false position in Anderson and Björck's form ["A new high order method of regula falsi type for
// computing a root of an equation", 1973], with halving where that is too slow: of a smooth f some fifteen evaluations,
// where halving alone takes more than fifty.
func narrowed(f func(float64) float64, lo, hi point) (point, point) {
	const near = 0x1p-49 // of a number: halving finds the rest
	over := hi.over()
	again := 0                  // which end the last step replaced: 1 is hi
	half := (hi.at - lo.at) / 2 // what three steps are to leave at most

	for step := range maxNarrowings {
		width := hi.at - lo.at
		middle := lo.at + width/2
		if middle == lo.at || middle == hi.at {
			break
		}

		// A root that is all but at one end is looked for a little beyond it, so that the other end comes near as well.
		away := near * math.Abs(hi.at)
		x := hi.at - hi.is*(width/(hi.is-lo.is))
		x = math.Max(lo.at+away, math.Min(x, hi.at-away))

		// Halving takes what is next to nothing, and every third step where the two before it have not done as much.
		if width <= 4*away || math.IsNaN(x) {
			x = middle
		}
		if step%3 == 2 {
			if width > half {
				x, width = middle, width/2
			}
			half = width / 2
		}

		// An end that stays a second time counts for less, so that the next step goes beyond the root.
		switch p := (point{x, f(x)}); {
		case p.over() != over:
			if again < 0 {
				hi.is *= kept(p, lo)
			}
			lo, again = p, -1
		default:
			if again > 0 {
				lo.is *= kept(p, hi)
			}
			hi, again = p, 1
		}
	}
	return lo, hi
}

// maxNarrowings is more than it takes between any two numbers that are not next to zero.
const maxNarrowings = 300

// kept is how much counts of what f is at the end that stays, where p has replaced the other one.
func kept(p, replaced point) float64 {
	if part := 1 - p.is/replaced.is; part > 0 {
		return part
	}
	return .5
}
