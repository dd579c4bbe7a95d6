package falsify

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
)

// Logistic is a classifier test: logistic regression on the standardised transcript, and on its squares and products
// where quadratic. It needs no density.
func Logistic(quadratic bool) Test {
	name := "classifier"
	if quadratic {
		name = "quadratic classifier"
	}
	return Test{name, func(_ [2]float64, first, second [][]float64) Score {
		score, err := TrainLogistic(first, second, quadratic)
		if err != nil { // a classifier that learned nothing scores nothing
			return func([]float64) float64 { return 0 }
		}
		return score
	}}
}

// TrainLogistic fits logistic regression of the class, first against second, by Newton's method with a ridge of one
// observation, and returns its log odds of the first.
func TrainLogistic(first, second [][]float64, quadratic bool) (Score, error) {
	x := append(append([][]float64{}, first...), second...)
	features := expand(x, quadratic)
	rows := make([][]float64, len(x))
	for i := range x {
		rows[i] = features(x[i])
	}

	width := len(rows[0])
	sign := func(i int) float64 {
		if i < len(first) {
			return 1
		}
		return -1
	}

	// The loss with its first and second derivatives; the ridge spares the constant.
	problem := optimize.Problem{
		Func: func(w []float64) float64 {
			total := floats.Dot(w[1:], w[1:]) / 2
			for i, r := range rows {
				total += softplus(-sign(i) * floats.Dot(w, r))
			}
			return total
		},
		Grad: func(grad, w []float64) {
			copy(grad, w)
			grad[0] = 0
			for i, r := range rows {
				s := sign(i)
				floats.AddScaled(grad, -s/(1+math.Exp(s*floats.Dot(w, r))), r)
			}
		},
		Hess: func(h *mat.SymDense, w []float64) {
			data, stride := h.RawSymmetric().Data, h.RawSymmetric().Stride
			clear(data)
			for k := 1; k < width; k++ {
				data[k*stride+k] = 1
			}
			for _, r := range rows {
				p := 1 / (1 + math.Exp(-floats.Dot(w, r)))
				for k := range r {
					floats.AddScaled(data[k*stride+k:k*stride+width], p*(1-p)*r[k], r[k:])
				}
			}
		},
	}

	result, err := optimize.Minimize(problem, make([]float64, width),
		&optimize.Settings{GradientThreshold: 1e-6 * float64(len(x)), MajorIterations: 50}, &optimize.Newton{})
	if result == nil {
		return nil, err
	}
	w := result.X // of a line search that gives up too: the best so far
	return func(x []float64) float64 { return floats.Dot(w, features(x)) }, nil
}

// expand returns the features of a transcript: 1, the standardised entries, and their squares and products.
func expand(x [][]float64, quadratic bool) func([]float64) []float64 {
	m := len(x[0])
	mean, sd := make([]float64, m), make([]float64, m)
	column := make([]float64, len(x))
	for k := range m {
		for i := range x {
			column[i] = x[i][k]
		}
		mean[k], sd[k] = stat.MeanStdDev(column, nil)
		if !(sd[k] > 0) {
			sd[k] = 1
		}
	}

	width := 1 + m
	if quadratic {
		width += m * (m + 1) / 2
	}
	return func(v []float64) []float64 {
		out := make([]float64, 1, width)
		out[0] = 1
		for k := range v {
			out = append(out, (v[k]-mean[k])/sd[k])
		}
		if quadratic {
			for k := 1; k <= m; k++ {
				for l := 1; l <= k; l++ {
					out = append(out, out[k]*out[l])
				}
			}
		}
		return out
	}
}

// softplus is ln(1+e^z).
func softplus(z float64) float64 { return math.Max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }
