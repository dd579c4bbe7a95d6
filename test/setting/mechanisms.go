package setting

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"fugu/mechanism/published"
	"fugu/privacy"
)

// Pair is one secret pair: F under its two values.
type Pair [2]Normal

// Between returns the pair of a proportion's values a and b.
func (c Classes) Between(a, b float64) Pair { return Pair{c.At(a), c.At(b)} }

// Difference is the difference of the means.
func (p Pair) Difference() []float64 {
	d := make([]float64, len(p[0].Mean))
	return floats.SubTo(d, p[0].Mean, p[1].Mean)
}

// Pooled is the covariance that the paper takes for both: the mean of the two.
func (p Pair) Pooled() *mat.SymDense {
	var s mat.SymDense
	s.AddSym(p[0].Cov, p[1].Cov)
	s.ScaleSym(.5, &s)
	return &s
}

// model is the pair as the published mechanisms assume it: with the pooled covariance.
func (p Pair) model() published.Model {
	pooled := p.Pooled()
	return published.Model{Laws: []Normal{{Mean: p[0].Mean, Cov: pooled}, {Mean: p[1].Mean, Cov: pooled}},
		Pairs: [][2]int{{0, 1}}}
}

// direction is the unit vector along the difference of means.
func (p Pair) direction() []float64 {
	d := p.Difference()
	floats.Scale(1/floats.Norm(d, 2), d)
	return d
}

// Mechanism calibrates noise to one pair and an (ε,δ). Name is the paper's shorthand.
type Mechanism struct {
	Name  string
	Noise func(p Pair, b privacy.Budget) (Noise, error)
}

// The mechanisms of the paper's Table 1, its baseline for groups, and the optimal Gaussian one.
var (
	ExpmLaplace = Mechanism{"ExpM (L)", func(p Pair, b privacy.Budget) (Noise,
		error) {
		return published.ExpmLaplace(p.model(), b)
	}}
	ExpmGaussian = Mechanism{"ExpM (G)", func(p Pair, b privacy.Budget) (Noise,
		error) {
		return published.ExpmGaussian(p.model(), b)
	}}
	DirmLaplace = Mechanism{"DirM (L)", func(p Pair, b privacy.Budget) (Noise, error) {
		return published.DirmLaplace(p.model(), [][]float64{p.direction()}, b)
	}}
	EigmGaussian = Mechanism{"EigM (G)", func(p Pair, b privacy.Budget) (Noise,
		error) {
		return published.Eigm(p.model(), b)
	}}
	DaumGaussian = Mechanism{"DauM (G)", func(p Pair, b privacy.Budget) (Noise,
		error) {
		return published.Daum(p.model(), p.direction(), b)
	}}
	GroupGaussian = Mechanism{"GroupDP (G)", group(Records)}
	OneGaussian   = Mechanism{"DP (G), one record", group(1)} // differential privacy

	// OptimalGaussian is the least Gaussian noise under a common covariance Σ: the positive part of Δμ Δμᵀ/κ*² - Σ, κ*
	// exact [Balle & Wang 2018, Theorem 5; Dong, Roth & Su, Corollary 2.13].
	OptimalGaussian = Mechanism{"optimal (G)", func(p Pair, b privacy.Budget) (Noise, error) {
		d, kappa := p.Difference(), privacy.Kappa(b)
		a := mat.NewSymDense(len(d), nil)
		a.ScaleSym(-1, p.Pooled())
		a.SymRankOne(a, 1/(kappa*kappa), mat.NewVecDense(len(d), d))
		return Noise{Normal: Root(a)}, nil
	}}
)

// ranges is the most by which one record can change each statistic: the census has ages 17 to 90, 1 to 16 years of
// education, 1 to 99 hours a week.
var ranges = []float64{73. / Records, 15. / Records, 1, 1, 98. / Records}

func group(k int) func(Pair, privacy.Budget) (Noise, error) {
	return func(_ Pair, b privacy.Budget) (Noise, error) { return published.GroupGaussian(ranges, k, b) }
}
