package sensitivity

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// maxDense is the largest F whose covariances LogRatio compares in every direction.
const maxDense = 256

// LogRatio is how much two covariances of F differ: the greatest |ln(variance under p / variance under q)| over all
// combinations of components, which is that over the generalised eigenvalues; infinite where one varies and the other
// does not. Components whose standard deviation is below their negligible one, and combinations that hardly vary under
// either, do not count. Of more than 256 components only each by itself is
// compared, and whole is false.
func LogRatio(p, q Covariance, negligible []float64) (ratio float64, whole bool) {
	vp, vq := p.Diagonal(), q.Diagonal()
	scale := make([]float64, len(vp))
	for k := range vp {
		if v := vp[k] + vq[k]; v > negligible[k]*negligible[k] {
			scale[k] = 1 / math.Sqrt(v)
			if len(vp) > maxDense {
				ratio = math.Max(ratio, math.Abs(math.Log(vp[k])-math.Log(vq[k])))
			}
		}
	}

	if len(vp) > maxDense {
		return ratio, false
	}

	a, b := scaled(p, scale), scaled(q, scale)
	sum := mat.NewSymDense(len(vp), nil)
	sum.AddSym(a, b)
	var eigen mat.EigenSym
	if !eigen.Factorize(sum, true) {
		return math.Inf(1), true
	}
	// In the basis in which p + q is the unit matrix, p has eigenvalues between 0 and 1, and q the rest.
	const tiny = 1e-9
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	var kept [][]float64
	for i, l := range values {
		if l > 0 && l > tiny*values[len(values)-1] {
			kept = append(kept, scaledColumn(&vectors, i, 1/math.Sqrt(l)))
		}
	}

	if len(kept) == 0 {
		return 0, true
	}
	inner := mat.NewSymDense(len(kept), nil)
	for i, x := range kept {
		for j := range i + 1 {
			inner.SetSym(i, j, mat.Inner(mat.NewVecDense(len(x), x), a, mat.NewVecDense(len(x), kept[j])))
		}
	}

	if !eigen.Factorize(inner, false) {
		return math.Inf(1), true
	}

	// An eigenvalue x of p there is the ratio x/(1-x) of p's variance to q's.
	for _, x := range eigen.Values(nil) {
		if x < tiny || x > 1-tiny {
			return math.Inf(1), true
		}
		ratio = math.Max(ratio, math.Abs(math.Log(x/(1-x))))
	}
	return ratio, true
}

func scaledColumn(m *mat.Dense, j int, by float64) []float64 {
	out := mat.Col(nil, j, m)
	for i := range out {
		out[i] *= by
	}
	return out
}

// scaled is diag(scale)·c·diag(scale).
func scaled(c Covariance, scale []float64) *mat.SymDense {
	out := mat.NewSymDense(len(scale), nil)
	from := 0
	for _, b := range c.Blocks {
		for i := range b.Size {
			for j := range i + 1 {
				out.SetSym(from+i, from+j, b.Entries[i*b.Size+j])
			}
		}
		from += b.Size
	}

	// What is outside of the blocks is added before anything is scaled.
	for _, e := range c.Off {
		out.SetSym(e.Row, e.Col, out.At(e.Row, e.Col)+e.Value)
	}
	for _, t := range c.Low {
		out.SymRankOne(out, t.Weight, mat.NewVecDense(len(t.Vector), t.Vector))
	}

	for i := range scale {
		for j := range i + 1 {
			out.SetSym(i, j, out.At(i, j)*scale[i]*scale[j])
		}
	}
	return out
}
