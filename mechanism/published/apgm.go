package published

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"fugu/privacy"
)

// Attribute is what APGM knows of a sensitive attribute i and a statistic F in R.
type Attribute struct {
	Delta    float64 // Δ_iF: the widest difference of E(F | g_i) over its secret pairs and θ
	Variance float64 // min over θ of Var(F | g_i), which does not depend on the value of g_i
}

// Apgm, the Attribute-Private Gaussian Mechanism: N(0,σ²), σ² = max_i max(0, (c·Δ_iF/ε)² - Var_i), nothing if that is
// 0. (ε,δ)-dataset attribute private if F given each g_i is normal with constant variance [Zhang, Ohrimenko & Cummings,
// Algorithm 1 and Theorem 1]. With normal approximations in place of the true laws it is their Algorithm 2, whose
// guarantee is that of privacy relaxed by the quality of the approximation [Chen & Ohrimenko, Theorem 4.6].
func Apgm(attributes []Attribute, b privacy.Budget) (Noise, error) {
	if err := check(b, true); err != nil {
		return Noise{}, err
	}
	if len(attributes) == 0 {
		return Noise{}, errors.New("no sensitive attributes")
	}
	lacking := 0.0
	for i, a := range attributes {
		if !(a.Delta >= 0 && a.Variance >= 0) || !finite(a.Delta) || !finite(a.Variance) {
			return Noise{}, fmt.Errorf("attribute %d: %+v", i, a)
		}
		spread := Analytic(b) * a.Delta / float64(b.Epsilon)
		lacking = math.Max(lacking, spread*spread-a.Variance)
	}
	if lacking == 0 {
		return Noise{}, nil
	}
	return Noise{Normal: [][]float64{{math.Sqrt(lacking)}}}, nil
}

// Accuracy returns α such that Apgm's noise n is at most α with probability 1-β [Theorem 2]: σΦ⁻¹(1-β/2).
func Accuracy(n Noise, beta float64) (float64, error) {
	if !(beta > 0 && beta < 1) {
		return 0, fmt.Errorf("β must be between 0 and 1, not %v", beta)
	}
	if len(n.Normal) == 0 {
		return 0, nil
	}
	return n.Normal[0][0] * distuv.UnitNormal.Quantile(1-beta/2), nil
}
