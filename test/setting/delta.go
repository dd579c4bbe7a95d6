package setting

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"fugu/sensitivity"
)

// Delta returns the true δ(ε) of releasing F with the noise, over both orders of the pair: each value's own covariance
// counts, not a pooled one. Where Laplace noise is in each component, that is an upper bound: of a release that shows
// the Laplace values and, beside them, the normal part of F without its mean. Laplace noise along directions is an
// error.
func Delta(p Pair, n Noise, epsilon float64) (float64, error) {
	m := len(n.Laplace)
	d, shifts := p.Difference(), make([]float64, m)
	for i, v := range n.Laplace {
		if m != len(d) || v[i] == 0 {
			return 0, fmt.Errorf("δ: Laplace noise is not in each component")
		}
		shifts[i], d[i] = math.Abs(d[i]/v[i]), 0
	}
	noise := Normals(n, len(d))
	x, err := sensitivity.NewExperiment(shifts, 0, &sensitivity.Pair{P: block(p[0].Cov, noise),
		Q: block(p[1].Cov, noise), Mean: d})
	if err != nil {
		return 0, err
	}
	return math.Max(x.Delta(epsilon).High, x.Swapped().Delta(epsilon).High), nil
}

// block is the sum of two covariances.
func block(a, b *mat.SymDense) sensitivity.Covariance {
	var s mat.SymDense
	s.AddSym(a, b)
	m := s.SymmetricDim()
	out := sensitivity.Block{Size: m}
	for k := range m {
		for l := range m {
			out.Entries = append(out.Entries, s.At(k, l))
		}
	}
	return sensitivity.Covariance{Blocks: []sensitivity.Block{out}}
}
