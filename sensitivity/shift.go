package sensitivity

// Shift bounds how the mean of F moves between the two values of any pair of one secret: every difference of means is
//
//	a·Along + r   with |a| ≤ 1 and |r_k| ≤ Beside_k for each component k.
//
// Along is the common direction of MATH's proportion model, at the length of the widest pair; Beside is what leaves
// that line: the curvature of ratios, and what the reference is too small to resolve. Both have one entry for each
// component of F, in F's own units.
type Shift struct {
	Secret string
	Along  []float64
	Beside []float64
}
