package model

// Combined are class moments of a cut in which a class is a combination of classes, one of each secret of its table.
type Combined struct {
	Combinations [][]int // of each class the classes of the secrets
	moments      *Moments
	classes      classes
}

// Parts says of each component what the rows of each class add to it, in a table in which the classes have these
// shares: the sum over the class's rows of how much the component changes with one row more, and the sum of its square,
// by component and class. With class means m_c and second moments M_c of the terms, and g the component's gradient at
// n Σ p_c m_c,
//
//	n p_c g·m_c    and    n p_c gᵀ M_c g.                                       [the delta method]
//
// They are not finite where a component has no value. The secrets are proportions and categories.
func (c *Combined) Parts(shares []float64) (sums, squares [][]float64) {
	m := c.moments
	mu := c.classes.mix(shares)
	still := make([]float64, len(mu))
	for _, k := range m.Components {
		gradient, _ := m.gradient(k, mu, still)
		sum, square := c.classes.means(gradient), make([]float64, len(shares))
		for class, share := range shares {
			rows := m.rows() * share
			sum[class] *= rows
			square[class] = rows * c.classes.product(class, m.terms, gradient, gradient)
		}
		sums, squares = append(sums, sum), append(squares, square)
	}
	return sums, squares
}
