package mechanism

import (
	"cmp"
	"math"
	"slices"

	"fugu/sensitivity"
)

// A secret that moves F nearly along another one's direction need not have noise of its own there. With
//
//	v₂ = c·v₁ + w      y₁ ~ Laplace(t₁) along v₁, for the first secret      y₂ ~ Laplace(t₂) along w
//
// a pair of the second moves F by a·v₂ + r: y₁ moves by a·c and y₂ by a, at |c|/t₁ + 1/t₂ together, as they are
// independent. The first secret's pairs move y₁ alone, as before. So the noise along v₂ is |w| in place of |v₂| long;
// what is lent of y₁ comes off what the second secret's y₂ may cost.
//
// Two things are known of this elsewhere: what a Noise hides of a shift (hidden), by which every loss and certificate
// counts; and what each shift of a search has of its own and what it is lent (lending), which proves nothing.

const (
	maxLending    = 8   // shifts of a request with which any are lent
	mostLent      = .75 // |c|: more leaves too little of ε for y₂
	worthLending  = .98 // of the error of the directions alone: less is better
	tellsApart    = 0x1p-40
	roundingLent  = 2 // steps: y₁ moves by whole ones, towards 0, and w·y₁ is rounded
	lendingShares = 4 // of the projection on v₁ so many parts are tried
)

// hidden returns what Laplace directions hide of a shift: of each one that moves, how far it moves for the widest pair,
// over its scale, the secret's own first; and what they leave of Along, in F's units. It is not ok where the shift has
// no direction of its own: all of it is left.
func (n Noise) hidden(s sensitivity.Shift) (moves, left []float64, ok bool) {
	for _, d := range n.directions {
		if d.scale == 0 || d.secret != s.Secret || len(d.weights) != len(s.Along) {
			continue
		}
		left, ok := n.leftBy(d, s)
		if !ok {
			continue
		}
		moves = []float64{float64(d.reach) / float64(d.scale)}
		if d.lent != 0 {
			from := n.directions[d.from]
			moves = append(moves, math.Abs(d.lent)*float64(from.reach)/float64(from.scale))
		}
		return moves, left, true
	}
	return nil, slices.Clone(s.Along), false
}

// leftBy returns what is left of Along when a direction of the secret has moved by its reach, and what it is lent from
// by its share. That is next to nothing where the direction is this shift's; otherwise it is not ok. A direction to
// which nothing is lent leaves exactly nothing: its weights are the shift's own, times a power of two.
func (n Noise) leftBy(d direction, s sensitivity.Shift) (left []float64, ok bool) {
	left = make([]float64, len(s.Along))
	for k, c := range n.cells {
		own, lent := shifted(d.weights[k]*float64(d.reach), c.exponent), 0.0
		if d.lent != 0 {
			from := n.directions[d.from]
			lent = d.lent * shifted(from.weights[k]*float64(from.reach), c.exponent)
		}
		left[k] = s.Along[k] - own - lent
		if d.lent == 0 && left[k] != 0 || !(math.Abs(left[k]) <= tellsApart*(math.Abs(s.Along[k])+math.Abs(lent))) {
			return nil, false
		}
	}
	return left, true
}

// lending says of each shift of a request which direction is its own and what it is lent: w, and c of the y of shift
// from, which is lent nothing itself; -1: nothing is lent.
type lending struct {
	own  [][]float64
	from []int
	lent []float64
}

// newLending looks for the lending with which directions alone have the least error, one shift after the other.
func newLending(r Request) lending {
	l := lending{}
	for _, shift := range r.Shifts {
		l.own, l.from, l.lent = append(l.own, shift.Along), append(l.from, -1), append(l.lent, 0)
	}
	if len(r.Shifts) > maxLending {
		return l
	}

	// The longest lend. Of several movements of a secret it is not known which one it is, so that none can be hidden in
	// part.
	length := make([]float64, len(r.Shifts))
	var order []int
	for i, shift := range r.Shifts {
		if len(r.shiftsOf(shift.Secret)) > 1 {
			return l
		}
		length[i] = r.dot(shift.Along, shift.Along)
		order = append(order, i)
	}

	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(length[j], length[i]) })

	// A shift takes what makes the whole cheaper by enough, part after part of each that is longer and lent nothing.
	best := l.error(r)
	for n, i := range order {
		for _, from := range order[:n] {
			if l.from[from] >= 0 || length[from] == 0 {
				continue
			}
			whole := r.dot(r.Shifts[i].Along, r.Shifts[from].Along) / length[from]
			for part := range lendingShares {
				c := whole * float64(lendingShares-part) / lendingShares
				if c == 0 || !(math.Abs(c) <= mostLent) {
					continue
				}
				other := l.with(r, i, from, c)
				if v := other.error(r); v < worthLending*best {
					l, best = other, v
				}
			}
		}
	}
	return l
}

// with returns the lending in which shift i is lent c of the y of another one.
func (l lending) with(r Request, i, from int, c float64) lending {
	along, other := r.Shifts[i].Along, r.Shifts[from].Along
	w := make([]float64, len(along))
	for k, v := range along {
		w[k] = v - c*other[k]
	}
	if r.dot(w, w) <= tellsApart*tellsApart*r.dot(along, along) { // they are parallel
		clear(w)
	}
	out := lending{slices.Clone(l.own), slices.Clone(l.from), slices.Clone(l.lent)}
	out.own[i], out.from[i], out.lent[i] = w, from, c
	return out
}

// dot is the product of two movements of F, in units.
func (r Request) dot(a, b []float64) (sum float64) {
	for k, c := range r.Components {
		sum += a[k] / c.Unit * b[k] / c.Unit
	}
	return sum
}

// error is that of the directions alone, were there nothing else to hide.
func (l lending) error(r Request) (sum float64) {
	rates := make([]float64, len(l.lent))
	for i, c := range l.lent {
		rates[i] = (1 - math.Abs(c)) * float64(r.Budget.Epsilon)
	}
	for k, c := range r.Components {
		if r.Absolute {
			sum += meanAbsolute(l.laplace(k, rates), 0) / c.Unit
			continue
		}
		for i, w := range l.own {
			v := w[k] / c.Unit / rates[i]
			sum += v * v
		}
	}
	return sum
}

// laplace returns the scales of the directions' noise in component k, each of 1/rate to its own movement.
func (l lending) laplace(k int, rates []float64) (scales []float64) {
	for i, w := range l.own {
		if b := math.Abs(w[k]); b > 0 {
			scales = append(scales, b/rates[i])
		}
	}
	return scales
}

// lenders returns the shifts in an order in which those that lend come first.
func (l lending) lenders() (order []int) {
	for i, from := range l.from {
		if from < 0 {
			order = append(order, i)
		}
	}
	for i, from := range l.from {
		if from >= 0 {
			order = append(order, i)
		}
	}
	return order
}

// directions returns the Laplace noise along each own, in the order of the shifts. Where own is 0 there is one only to
// say what is lent.
func (l lending) directions(shifts []sensitivity.Shift, floor []cell, rates []float64) (out []direction) {
	at := make([]int, len(shifts))
	for i, from := range l.from {
		if from >= 0 || slices.ContainsFunc(l.own[i], func(w float64) bool { return w != 0 }) {
			at[i] = len(out)
			own := shifts[i]
			own.Along = l.own[i]
			out = append(out, newDirection(own, floor, rates[i]))
		}
	}
	for i, from := range l.from {
		if from >= 0 {
			out[at[i]].from, out[at[i]].lent = at[from], l.lent[i]
		}
	}
	return out
}
