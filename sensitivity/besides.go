package sensitivity

import "math"

// boxLeast is the share of the Gaussian shift of Unseen that Beside's may be at least, before noise is set aside for
// it.
const boxLeast = .1

// besides returns the variances of a part of Floor to hide what is beside Along, and κ were all of this part set aside
// for it. Whatever part of Floor is sound; this one leaves as much of Floor as it can for the rest. Cells that move by
// less than others, for their Floor, need no more than makes them equal (Unseen.even). Against Beside alone it is all
// of Floor; with Unseen, against a box of sides b_k, in proportion to b_k·√Floor_k, the part of a given Σ
// part_k/Floor_k that hides most (Lagrange), and less where there is little to hide.
func (r Release) besides() (part []float64, kappa float64) {
	m := len(r.Floor)
	box, sd := Shift{Along: make([]float64, m), Beside: r.Beside}, make([]float64, m)
	if box.Beside == nil {
		box.Beside = box.Along
	}
	for k, v := range r.Floor {
		sd[k] = math.Max(math.Sqrt(v), math.SmallestNonzeroFloat64) // no noise hides nothing
	}

	// What each component needs against the unseen rows, for them to be hidden as well as by all of Floor.
	weight := make([]float64, m)
	length, cells := box.Norm2(sd), 0.0
	for _, list := range r.Unseen {
		sum := 0.0
		for _, u := range list {
			u.even(weight, sd)
			sum += u.Norm2(sd)
		}
		cells = math.Max(cells, sum)
	}

	// A box that is small beside what is unseen takes no more than its share; one that is all there is takes all.
	most, share := 0.0, 1.0
	for k, v := range box.Beside {
		most = math.Max(most, v/sd[k])
	}
	if cells > 0 && length < boxLeast*cells {
		share = (length / (boxLeast * cells)) * (length / (boxLeast * cells))
	}

	part = make([]float64, m)
	for k, v := range box.Beside {
		switch {
		case cells == 0 && v != 0: // NaN, too
			weight[k] = 1
		case v != 0:
			weight[k] = math.Max(weight[k], share*(v/sd[k]/most))
		}

		part[k] = r.Floor[k] * weight[k]
		sd[k] *= math.Sqrt(weight[k])
		if sd[k] == 0 {
			sd[k] = math.SmallestNonzeroFloat64
		}
	}

	// κ of what this part leaves in sight: the greatest over the lists, of which one holds.
	kappa = box.Norm2(sd)
	for _, box.Unseen = range r.Unseen {
		kappa = math.Max(kappa, box.Norm2(sd))
	}
	return part, kappa
}
