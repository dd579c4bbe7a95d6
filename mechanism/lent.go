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
// a pair of the second moves F by a·v₂ + r: y₁ moves by a·c and y₂ by a, at |c|/t₁ + 1/t₂ together, as they are independent.
// The first secret's pairs move y₁ alone, as before. So the noise along v₂ is |w| in place of |v₂| long; what is lent of y₁
// comes off what the second secret's y₂ may cost.

const (
	maxLending    = 8   // shifts of a request with which any are lent
	mostLent      = .75 // |c|: more leaves too little of ε for y₂
	worthLending  = .98 // of the error of the directions alone: less is better
	tellsApart    = 0x1p-40
	roundingLent  = 2 // steps: y₁ moves by whole ones, towards 0, and w·y₁ is rounded
	lendingShares = 4 // of the projection on v₁ so many parts are tried
)

// hidden returns what Laplace directions hide of a shift: of each one that moves, how far it moves for the widest pair, over
// its scale, the secret's own first; and what they leave of Along, in F's units. It is not ok where the shift has no
// direction of its own: all of it is left.
func (n Noise) hidden(s sensitivity.Shift) (moves, left []float64, ok bool) {
next:
	for _, d := range n.directions {
		if d.scale == 0 || d.secret != s.Secret || len(d.weights) != len(s.Along) {
			continue
		}
		moves, left = []float64{float64(d.reach) / float64(d.scale)}, make([]float64, len(s.Along))
		var from direction
		if d.lent != 0 {
			from = n.directions[d.from]
			moves = append(moves, math.Abs(d.lent)*float64(from.reach)/float64(from.scale))
		}
		for k, c := range n.cells {
			own, lent := math.Ldexp(d.weights[k]*float64(d.reach), c.exponent), 0.0
			if d.lent != 0 {
				lent = d.lent * math.Ldexp(from.weights[k]*float64(from.reach), c.exponent)
			}
			left[k] = s.Along[k] - own - lent
			if !(math.Abs(left[k]) <= tellsApart*(math.Abs(s.Along[k])+math.Abs(lent))) || d.lent == 0 && left[k] != 0 {
				continue next
			}
		}
		return moves, left, true
	}
	return nil, slices.Clone(s.Along), false
}

// lending says which shifts' directions hide part of which others: own is w, and lent is c of the y of shift from, or -1.
type lending struct {
	own  [][]float64
	from []int
	lent []float64
}

// lend looks for the lending with which directions alone have the least error, one shift after the other.
func (s *floorSearch) lend() {
	for _, shift := range s.Shifts {
		s.own, s.from, s.lent = append(s.own, shift.Along), append(s.from, -1), append(s.lent, 0)
	}
	if len(s.Shifts) > maxLending {
		return
	}
	dot := func(a, b []float64) (sum float64) {
		for k, c := range s.Components {
			sum += a[k] / c.Unit * b[k] / c.Unit
		}
		return sum
	}
	length := make([]float64, len(s.Shifts))
	var order []int
	for i, shift := range s.Shifts {
		if len(s.of(shift.Secret)) > 1 { // which of them it is, is not known
			return
		}
		length[i] = dot(shift.Along, shift.Along)
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(length[j], length[i]) })
	best := s.apart()
	for n, i := range order {
		along := s.Shifts[i].Along
		for _, from := range order[:n] {
			if s.from[from] >= 0 || length[from] == 0 {
				continue
			}
			other := s.Shifts[from].Along
			for part := range lendingShares {
				c := dot(along, other) / length[from] * float64(lendingShares-part) / lendingShares
				if c == 0 || !(math.Abs(c) <= mostLent) {
					continue
				}
				before := lending{slices.Clone(s.own), slices.Clone(s.from), slices.Clone(s.lent)}
				w := make([]float64, len(along))
				for k, v := range along {
					w[k] = v - c*other[k]
				}
				s.own[i], s.from[i], s.lent[i] = w, from, c
				if dot(w, w) <= tellsApart*tellsApart*length[i] { // they are parallel
					clear(w)
				}
				if v := s.apart(); v < worthLending*best {
					best = v
				} else {
					s.lending = before
				}
			}
		}
	}
}

// apart is the error of the directions alone, were there nothing else to hide.
func (s *floorSearch) apart() (sum float64) {
	rates := make([]float64, len(s.Shifts))
	for i, c := range s.lent {
		rates[i] = (1 - math.Abs(c)) * float64(s.Budget.Epsilon)
	}
	for k, c := range s.Components {
		if s.Absolute {
			sum += meanAbsolute(s.laplace(k, rates), 0) / c.Unit
			continue
		}
		for i, w := range s.own {
			v := w[k] / c.Unit / rates[i]
			sum += v * v
		}
	}
	return sum
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
