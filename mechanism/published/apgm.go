package published

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"fugu/privacy"
)

// Attribute is what APGM knows of a sensitive attribute i and a statistic F in R^m.
type Attribute struct {
	Delta      float64       // Δ_iF: the widest Euclidean distance of E(F | g_i) over its secret pairs and θ
	Covariance mat.Symmetric // m×m: least over θ of Cov(F | g_i), which does not depend on the value of g_i
}

// Apgm, the Attribute-Private Gaussian Mechanism: of one value N(0,σ²), σ² = max_i max(0, (c·Δ_iF/ε)² - Var_i), nothing
// if that is 0; of vectors N(0,N) with N ⪰ (c·Δ_iF/ε)² I - Cov_i for each i, one after the other by the positive part
// of what is lacking. (ε,δ)-dataset attribute private if F given each g_i is normal with constant covariance [Zhang,
// Ohrimenko & Cummings, Algorithm 1, Theorem 1 and the remark on vectors before it: the paper leaves out how several
// covariances become one noise, which is worked out here]. With normal approximations in place of the true laws it is
// their Algorithm 2, whose guarantee is that of privacy relaxed by the quality of the approximation [Chen & Ohrimenko,
// Theorem 4.6].
func Apgm(attributes []Attribute, b privacy.Budget) (Noise, error) {
	if err := check(b, gaussian); err != nil {
		return Noise{}, err
	}
	if len(attributes) == 0 {
		return Noise{}, errors.New("no sensitive attributes")
	}
	m := 0
	for i, a := range attributes {
		if a.Covariance == nil || i > 0 && a.Covariance.SymmetricDim() != m {
			return Noise{}, fmt.Errorf("attribute %d has no covariance, or one of another size", i)
		}
		m = a.Covariance.SymmetricDim()
		if err := checkCovariance(a.Covariance); err != nil {
			return Noise{}, fmt.Errorf("attribute %d: %w", i, err)
		}
		if !(a.Delta >= 0) || !finite(a.Delta) {
			return Noise{}, fmt.Errorf("attribute %d: Δ = %v", i, a.Delta)
		}
	}

	// What the rows' own randomness and the noise so far lack of the spread that hides every movement so long.
	noise := mat.NewSymDense(m, nil)
	for i, a := range attributes {
		spread, lacking := Analytic(b)*a.Delta/float64(b.Epsilon), mat.NewSymDense(m, nil)
		lacking.AddSym(a.Covariance, noise)
		lacking.ScaleSym(-1, lacking)
		for k := range m {
			lacking.SetSym(k, k, lacking.At(k, k)+spread*spread)
		}
		lines, err := positive(lacking)
		if err != nil {
			return Noise{}, fmt.Errorf("attribute %d: %w", i, err)
		}
		for _, v := range lines {
			noise.SymRankOne(noise, 1, mat.NewVecDense(m, v))
		}
	}
	lines, err := positive(noise)
	return Noise{Normal: lines}, err
}

// positive returns vectors v_j with Σ_j v_j v_jᵀ the positive part of a.
func positive(a mat.Symmetric) (lines [][]float64, err error) {
	values, vectors, err := eigen(a)
	for k, l := range values {
		if l > 0 {
			lines = append(lines, scaled(mat.Col(nil, k, vectors), math.Sqrt(l)))
		}
	}
	return lines, err
}

// Accuracy returns α such that Apgm's noise n of one value is at most α with probability 1-β [Theorem 2]: σΦ⁻¹(1-β/2).
func Accuracy(n Noise, beta float64) (float64, error) {
	if !(beta > 0 && beta < 1) {
		return 0, fmt.Errorf("β must be between 0 and 1, not %v", beta)
	}
	if len(n.Normal) == 0 {
		return 0, nil
	}
	if len(n.Normal[0]) != 1 {
		return 0, fmt.Errorf("accuracy is of one value, not of %d", len(n.Normal[0]))
	}
	return math.Abs(n.Normal[0][0]) * distuv.UnitNormal.Quantile(1-beta/2), nil
}
