package privacy

import "math"

// Point is a number and what a function is there.
type Point struct{ At, Is float64 }

// Over reports whether the function is above 0, or nothing is known of it.
func (p Point) Over() bool { return !(p.Is <= 0) }

// Excess is above 0 just where a δ is above the one that is allowed: by about the logarithm of their ratio, which the
// ε or κ that it belongs to changes more evenly than the δ itself.
func Excess(delta, allowed float64) float64 {
	if delta == allowed {
		return 0
	}
	return math.Log1p((delta - allowed) / allowed)
}

// Narrowed brings two points of f, of which one is over and the other is not, together until they differ by this share
// of the second one, or until no number lies between; each stays on its side. f is continuous but for rounding, and
// what it is besides its sign only makes this quick.
//
// It is the rule of false position in Anderson and Björck's form ["A new high order method of regula falsi type for
// computing a root of an equation", 1973], with halving where that is too slow: of a smooth f some fifteen evaluations,
// where halving alone takes more than fifty.
func Narrowed(f func(float64) float64, lo, hi Point, share float64) (Point, Point) {
	near := math.Max(0x1p-49, share/4) // of a number: halving finds the rest
	over := hi.Over()
	again := 0                  // which end the last step replaced: 1 is hi
	half := (hi.At - lo.At) / 2 // what three steps are to leave at most

	for step := range maxNarrowings {
		width := hi.At - lo.At
		middle := lo.At + width/2
		if middle == lo.At || middle == hi.At || width <= share*math.Abs(hi.At) {
			break
		}

		// A root that is all but at one end is looked for a little beyond it, so that the other end comes near as well.
		away := near * math.Abs(hi.At)
		x := hi.At - hi.Is*(width/(hi.Is-lo.Is))
		x = math.Max(lo.At+away, math.Min(x, hi.At-away))

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
		switch p := (Point{x, f(x)}); {
		case p.Over() != over:
			if again < 0 {
				hi.Is *= kept(p, lo)
			}
			lo, again = p, -1
		default:
			if again > 0 {
				lo.Is *= kept(p, hi)
			}
			hi, again = p, 1
		}
	}
	return lo, hi
}

// maxNarrowings is more than it takes between any two numbers that are not next to zero.
const maxNarrowings = 300

// kept is how much counts of what f is at the end that stays, where p has replaced the other one.
func kept(p, replaced Point) float64 {
	if part := 1 - p.Is/replaced.Is; part > 0 {
		return part
	}
	return .5
}
