package published

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"fugu/privacy"
)

// Normal is f_θ, the distribution of F given θ, or its normal approximation: m means and an m×m covariance.
type Normal struct {
	Mean []float64
	Cov  *mat.SymDense
}

// Model holds f_θ for each θ of Θ, and Ψ as pairs of indices of Laws. A pair stands for both of its orders.
type Model struct {
	Laws  []Normal
	Pairs [][2]int
}

// Noise is the law of Z = Σ_i Laplace_i·y_i + Σ_j Normal_j·g_j with independent y_i ~ Laplace(1) and g_j ~ N(0,1).
// Every vector has an entry for each component of F; without vectors there is no noise.
type Noise struct {
	Laplace [][]float64
	Normal  [][]float64
}

// Covariance returns the covariance of noise on m components: Σ_i 2·Laplace_i Laplace_iᵀ + Σ_j Normal_j Normal_jᵀ.
func (n Noise) Covariance(m int) *mat.SymDense {
	s := mat.NewSymDense(m, nil)
	for _, v := range n.Laplace {
		s.SymRankOne(s, 2, mat.NewVecDense(m, v))
	}
	for _, v := range n.Normal {
		s.SymRankOne(s, 1, mat.NewVecDense(m, v))
	}
	return s
}

// Analytic is c = √(2 ln(1.25/δ)) of the classical Gaussian mechanism.
func Analytic(b privacy.Budget) float64 { return math.Sqrt(2 * math.Log(1.25/float64(b.Delta))) }

// Check reports what is wrong with a model: no distributions, an empty Ψ, dimensions that differ, numbers that are not
// finite, covariances that are not positive semidefinite.
func (m Model) Check() error {
	if len(m.Laws) == 0 || len(m.Laws[0].Mean) == 0 {
		return errors.New("a model without distributions")
	}
	if len(m.Pairs) == 0 {
		return errors.New("a model without pairs")
	}
	for i, l := range m.Laws {
		if len(l.Mean) != m.components() || l.Cov == nil || l.Cov.SymmetricDim() != m.components() {
			return fmt.Errorf("distribution %d is not one of %d components", i, m.components())
		}
		for k, v := range l.Mean {
			if !finite(v) {
				return fmt.Errorf("distribution %d: mean %d is not finite", i, k)
			}
		}
		if err := checkCovariance(l.Cov); err != nil {
			return fmt.Errorf("distribution %d: %w", i, err)
		}
	}

	// A pair has to be of distributions that are there.
	for _, p := range m.Pairs {
		if min(p[0], p[1]) < 0 || max(p[0], p[1]) >= len(m.Laws) {
			return fmt.Errorf("pair %v of %d distributions", p, len(m.Laws))
		}
	}
	return nil
}

// checkCovariance refuses a matrix that is no covariance, up to rounding.
func checkCovariance(c mat.Symmetric) error {
	for k := range c.SymmetricDim() {
		for j := range k + 1 {
			if !finite(c.At(j, k)) {
				return fmt.Errorf("covariance %d,%d is not finite", j, k)
			}
		}
	}
	values, _, err := eigen(c)
	if err == nil && floats.Min(values) < -1e-9*math.Max(1, floats.Max(values)) {
		err = errors.New("its covariance is not positive semidefinite")
	}
	return err
}

// law is that of a mechanism's noise.
type law int

const (
	laplace law = iota
	gaussian
)

// checkWith checks a model together with ε and δ.
func (m Model) checkWith(b privacy.Budget, l law) error {
	if err := check(b, l); err != nil {
		return err
	}
	return m.Check()
}

// check refuses an ε and a δ at which a law hides nothing: gaussian noise takes δ > 0.
func check(b privacy.Budget, l law) error {
	if _, err := privacy.NewEpsilon(float64(b.Epsilon)); err != nil {
		return err
	}
	if _, err := privacy.NewDelta(float64(b.Delta)); err != nil {
		return err
	}
	if l == gaussian && b.Delta == 0 {
		return errors.New("gaussian noise needs δ > 0")
	}
	return nil
}

func (m Model) components() int { return len(m.Laws[0].Mean) }

func (m Model) difference(p [2]int) []float64 {
	return floats.SubTo(make([]float64, m.components()), m.Laws[p[0]].Mean, m.Laws[p[1]].Mean)
}

// pooled is what is taken for the covariance of both distributions of a pair.
func (m Model) pooled(p [2]int) *mat.SymDense {
	var s mat.SymDense
	s.AddSym(m.Laws[p[0]].Cov, m.Laws[p[1]].Cov)
	s.ScaleSym(.5, &s)
	return &s
}

// Sensitivity is Δ_{E,q} = sup over Ψ of ‖E f_θi - E f_θj‖_q [Chen & Ohrimenko, section 4.1].
func (m Model) Sensitivity(q float64) float64 {
	most := 0.0
	for _, p := range m.Pairs {
		most = math.Max(most, floats.Norm(m.difference(p), q))
	}
	return most
}

// independent returns one vector for each of m components, of the given length.
func independent(m int, scale float64) [][]float64 {
	out := make([][]float64, m)
	for k := range out {
		out[k] = make([]float64, m)
		out[k][k] = scale
	}
	return out
}

func scaled(v []float64, by float64) []float64 { return floats.ScaleTo(make([]float64, len(v)), by, v) }

func eigen(a mat.Symmetric) ([]float64, *mat.Dense, error) {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return nil, nil, errors.New("the eigenvalues of a covariance do not converge")
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	return e.Values(nil), &vectors, nil
}

// inverse is vᵀS⁻¹v, +Inf where S has no inverse.
func inverse(s mat.Symmetric, v []float64) float64 {
	var chol mat.Cholesky
	var x mat.VecDense
	if !chol.Factorize(s) || chol.SolveVecTo(&x, mat.NewVecDense(len(v), v)) != nil {
		return math.Inf(1)
	}
	return mat.Dot(&x, mat.NewVecDense(len(v), v))
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
