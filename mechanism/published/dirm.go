package published

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"fugu/privacy"
)

// DirmLaplace: Σ_k v_k·y_k for the orthonormal directions v_k that the differences of means span, independent y_k ~
// Laplace(sup ‖VᵀΔμ‖₁/ε). (ε,0)-distribution private for translations [Chen & Ohrimenko, Theorem 4.3, for one
// direction]. With several directions the L1 norm in their coordinates is what counts: Δ_{E,2} in its place, as for
// one, is too little by a factor of up to √d.
func DirmLaplace(m Model, directions [][]float64, b privacy.Budget) (Noise, error) {
	if err := m.checkAlong(directions, b, laplace); err != nil {
		return Noise{}, err
	}
	widest := 0.0
	for _, p := range m.Pairs {
		sum := 0.0
		for _, v := range directions {
			sum += math.Abs(floats.Dot(v, m.difference(p)))
		}
		widest = math.Max(widest, sum)
	}
	var n Noise
	for _, v := range directions {
		n.Laplace = append(n.Laplace, scaled(v, widest/float64(b.Epsilon)))
	}
	return n, nil
}

// DirmGaussian: N(0, σ² VVᵀ), σ = c·Δ_{E,2}/ε: the Gaussian form, (ε,δ) for translations and ε < 1. ‖VᵀΔμ‖₂ = ‖Δμ‖₂, so
// the number of directions does not matter.
func DirmGaussian(m Model, directions [][]float64, b privacy.Budget) (Noise, error) {
	if err := m.checkAlong(directions, b, gaussian); err != nil {
		return Noise{}, err
	}
	var n Noise
	for _, v := range directions {
		n.Normal = append(n.Normal, scaled(v, Analytic(b)*m.Sensitivity(2)/float64(b.Epsilon)))
	}
	return n, nil
}

// checkAlong checks that the directions are orthonormal and span every difference of means.
func (m Model) checkAlong(directions [][]float64, b privacy.Budget, l law) error {
	if err := m.checkWith(b, l); err != nil {
		return err
	}
	if len(directions) == 0 {
		return errors.New("no directions")
	}
	for i, v := range directions {
		if len(v) != m.components() {
			return errors.New("a direction of another dimension")
		}
		for j, w := range directions[:i+1] {
			want := 0.0
			if i == j {
				want = 1
			}
			if !(math.Abs(floats.Dot(v, w)-want) <= 1e-9) {
				return errors.New("directions that are not orthonormal")
			}
		}
	}

	// What is left of a difference without its parts along the directions is outside of their span.
	for _, p := range m.Pairs {
		d := m.difference(p)
		length := floats.Norm(d, 2)
		for _, v := range directions {
			floats.AddScaled(d, -floats.Dot(v, d), v)
		}
		if floats.Norm(d, 2) > 1e-6*length {
			return errors.New("a difference of means outside the span of the directions")
		}
	}
	return nil
}
