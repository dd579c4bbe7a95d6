package twin

import "math"

// A statistic of a group of a twin's rows is off by two things. Given Ñ, by which rows of each class were drawn and
// copied; and by K, as every class stands for Ñ_c rows and not for its N_c. What is said of both follows from what the
// twin has told, and from the law.

// Part is what a group's rows of one class add to a statistic: the sum over these rows of how much it changes with one
// row more (1 for a count, x for a sum of x, (x - mean)/rows for an average), and the sum of its squares.
type Part struct{ Sum, Squares float64 }

// Deviation is one standard deviation of a statistic of a twin, as public numbers show it. Drawing is of the rows,
// Noise of K.
type Deviation struct{ Drawing, Noise float64 }

// Both is of the two together, which are independent.
func (d Deviation) Both() float64 { return math.Hypot(d.Drawing, d.Noise) }

// DeviationOf estimates how far a statistic is off. told, taken and noise are by class, noise being NoiseOf's; a cell
// has so many classes each, which are neighbours.
//
// A row is drawn with probability 1/w, and stands ⌊w⌋ or ⌈w⌉ times then, w = told/taken: it adds c² times the square of
// its own part to the variance, c being DrawingError, and as a class has a given number of rows, c²·Sum²/told is taken
// off for each. K moves the statistic by Σ a_c (Ñ_c - N_c) with a_c = Sum/told. In a cell of C classes the noise has
// the covariance s²(1 - 1/C) on the diagonal and -s²/C beside it, or less, s² = noise²·C/(C-1); so that the variance is
// s²(Σ a_c² - (Σ a_c)²/C): none where a group has the same share of every class.
func DeviationOf(told, taken []int64, noise []float64, perCell int, parts []Part) Deviation {
	drawing, moved := 0., 0.
	for first := 0; first < len(told); first += perCell {
		sum, squares := 0., 0.
		for c := first; c < first+perCell; c++ {
			rows := math.Max(1, float64(told[c]))
			each := DrawingError(told[c], taken[c])
			drawing += each * each * math.Max(0, parts[c].Squares-parts[c].Sum*parts[c].Sum/rows)

			// Classes of a cell have different noise only where it is clamped.
			s := noise[c] * math.Sqrt(float64(perCell)/math.Max(1, float64(perCell-1)))
			a := parts[c].Sum / rows * s
			sum, squares = sum+a, squares+a*a
		}
		moved += math.Max(0, squares-sum*sum/float64(perCell))
	}
	return Deviation{math.Sqrt(drawing), math.Sqrt(moved)}
}

// DrawingError is c such that the count of a small group of k rows of a class is off by about c·√k, by drawing and
// copying alone: one standard deviation. Of told rows taken ones were drawn, and each stands ⌊w⌋ or ⌈w⌉ times, w =
// told/taken.
//
// Such a group has k/w rows of the sample, nearly Poisson's, but for the rows that were not drawn: k·(w - 1). Which of
// them stand once more adds f(1-f) for each, f the fraction of w.
func DrawingError(told, taken int64) float64 {
	if taken <= 0 {
		return 0
	}
	w := float64(told) / float64(taken)
	f := w - math.Floor(w)
	return math.Sqrt(math.Max(0, w-1) + f*(1-f)/math.Max(w, 1))
}

// NoiseOf is how far noisy counts may be from those of the table, in rows, by class: the root mean square of Ñ_c - N_c
// given Ñ, if each table of the promise were as likely. It may be published, as it depends on Ñ and the law alone.
func (d *Design) NoiseOf(noisy []int64) []float64 { return d.noise.spread(noisy) }

// Count is a count of rows of one class, which is answered from a twin.
type Count struct {
	Rows    float64 // how many rows are counted
	Told    float64 // how many rows the twin tells that the class has
	Noise   float64 // the standard deviation of the noise in what is told
	Drawing float64 // what drawing moves it by, as DrawingError has it
}

// Deviation is how far the count is off.
func (c Count) Deviation() Deviation {
	part := c.Rows / c.Told
	return Deviation{Drawing: c.Drawing * math.Sqrt(c.Rows*(1-part)), Noise: c.Noise * part}
}
