package setting

import (
	"gonum.org/v1/gonum/mat"

	"fugu/mechanism/published"
)

// Records is the size of the subsets whose statistics are released [Chen & Ohrimenko, section 5.1].
const Records = 100

// Statistics are the released statistics, in the order of all vectors of the setting: average age, average years of
// education, number never married, number female, average hours a week.
var Statistics = []string{"age", "education_num", "never_married", "female", "hours_per_week"}

// averaged says which statistics are averages; the others are counts.
var averaged = [...]bool{true, true, false, false, true}

// Lattice holds the step of the lattice on which each statistic lies.
var Lattice = []float64{1. / Records, 1. / Records, 1, 1, 1. / Records}

// Normal is a normal approximation of f_θ, the distribution of F: m means, m×m covariances.
type Normal = published.Normal

// Classes holds the moments of one record's values, in the order of Statistics, outside (0) and inside (1) a predicate.
type Classes struct {
	Mean [2][]float64
	Cov  [2]*mat.SymDense
	// Rows are the records' values, where they are at hand: the shape of their sums is known then, and F is not taken
	// for normal.
	Rows [2][][]float64
}

// F computes the statistics of a dataset from the sum of its records' values.
func F(sum []float64, records int) []float64 {
	out := make([]float64, len(sum))
	for k, v := range sum {
		out[k] = v
		if averaged[k] {
			out[k] /= float64(records)
		}
	}
	return out
}

// At returns the mean and covariance of F over datasets of Records records of which exactly a share p is in the
// predicate: n(p m1 + (1-p) m0) and n(p C1 + (1-p) C0) for sums.
func (c Classes) At(p float64) Normal {
	scale := F([]float64{1, 1, 1, 1, 1}, Records)
	m := len(scale)
	out := Normal{Mean: make([]float64, m), Cov: mat.NewSymDense(m, nil)}
	for class, share := range [2]float64{1 - p, p} {
		n := Records * share
		for k := range m {
			out.Mean[k] += n * scale[k] * c.Mean[class][k]
			for l := k; l < m; l++ {
				out.Cov.SetSym(k, l, out.Cov.At(k, l)+n*scale[k]*scale[l]*c.Cov[class].At(k, l))
			}
		}
	}
	return out
}

// Income holds the moments of the 45,222 complete records of the Adult census by income >50K.
var Income = Classes{
	Mean: [2][]float64{
		{36.7494, 9.63077, .408567, .38296, 39.372},
		{44.0061, 11.5985, .0625446, .148911, 45.6905},
	},
	Cov: [2]*mat.SymDense{
		mat.NewSymDense(5, []float64{
			183.995, -1.68848, -3.58887, -.15776, 13.7986,
			-1.68848, 5.85817, .106638, .0964189, 2.40843,
			-3.58887, .106638, .24164, .0275476, -1.06471,
			-.15776, .0964189, .0275476, .236302, -1.14135,
			13.7986, 2.40843, -1.06471, -1.14135, 143.376,
		}),
		mat.NewSymDense(5, []float64{
			106.916, -.493728, -.357089, -.293284, -11.0508,
			-.493728, 5.60432, .0569638, .0373039, 1.42195,
			-.357089, .0569638, .0586328, .0133488, .0645046,
			-.293284, .0373039, .0133488, .126737, -.675092,
			-11.0508, 1.42195, .0645046, -.675092, 116.581,
		}),
	},
}
