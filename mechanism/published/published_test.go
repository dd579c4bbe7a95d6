package published

import (
	"errors"
	"maps"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"fugu/privacy"
	"fugu/sensitivity"
)

func budget(epsilon, delta float64) privacy.Budget {
	return privacy.Budget{Epsilon: privacy.Epsilon(epsilon), Delta: privacy.Delta(delta)}
}

// example is the example of Chen & Ohrimenko, section 4.3: the covariance has eigenvalues 10 along (1,2)/√5 and 25
// along (2,-1)/√5.
func example() Model {
	cov := func() *mat.SymDense { return mat.NewSymDense(2, []float64{22, -6, -6, 13}) }
	return Model{[]Normal{{[]float64{100, 101}, cov()}, {[]float64{99, 102}, cov()}}, [][2]int{{0, 1}}}
}

var diagonal = []float64{math.Sqrt(.5), -math.Sqrt(.5)} // to which the example's difference of means is parallel

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %.6g, want %.6g", what, got, want)
	}
}

func quadratic(s mat.Symmetric, v []float64) float64 {
	total := 0.0
	for i := range v {
		for j := range v {
			total += v[i] * s.At(i, j) * v[j]
		}
	}
	return total
}

func TestEigmAsPublished(t *testing.T) {
	spread := Analytic(budget(1, .001)) * example().Sensitivity(2)
	near(t, "(cΔ/ε)²", spread*spread, 28.52, .005)
	n, err := Eigm(example(), budget(1, .001))
	if err != nil || len(n.Normal) != 2 {
		t.Fatal(n, err)
	}
	r := math.Sqrt(5)
	near(t, "along (1,2)/√5", quadratic(n.Covariance(2), []float64{1 / r, 2 / r}), 18.52, .005)
	near(t, "along (2,-1)/√5", quadratic(n.Covariance(2), []float64{2 / r, -1 / r}), 3.52, .005)
	near(t, "between them", n.Covariance(2).At(0, 1), (18.5226-3.5226)*2/5, .01)
	// Where the data is random enough nothing is added: at ε = 1.2, (cΔ/ε)² = 19.8 is below 25.
	if n, err = Eigm(example(), budget(1.2, .001)); err != nil || len(n.Normal) != 1 {
		t.Errorf("ε = 1.2: %v, %v", n, err)
	}
	// The θ of least variance counts.
	m := example()
	m.Laws[1].Cov.ScaleSym(.5, m.Laws[1].Cov)
	if n, err = Eigm(m, budget(1, .001)); err != nil {
		t.Fatal(err)
	}
	near(t, "two covariances", quadratic(n.Covariance(2), []float64{1 / r, 2 / r}), 23.52, .005)
}

// σ² is where the determinant of Σ + (σ² - (αc/ε)²) vvᵀ vanishes.
func TestDaumAsPublished(t *testing.T) {
	n, err := Daum(example(), diagonal, budget(1, .001))
	if err != nil || len(n.Normal) != 1 {
		t.Fatal(n, err)
	}
	s2 := floats.Dot(n.Normal[0], n.Normal[0])
	excess := s2 - 28.5236 // c² · 2
	det := (22+excess/2)*(13+excess/2) - (-6-excess/2)*(-6-excess/2)
	near(t, "determinant", det, 0, .01)
	near(t, "σ²", s2, 28.5236-500./23, .001) // vᵀΣ⁻¹v = ½(13+22-2·6)/250
	near(t, "direction", n.Normal[0][0]+n.Normal[0][1], 0, 1e-12)
	if n, err = Daum(example(), diagonal, budget(2, .001)); err != nil || len(n.Normal) != 0 {
		t.Errorf("ε = 2 needs no noise: %v, %v", n, err)
	}
	if _, err = Daum(example(), []float64{1, 0}, budget(1, .001)); err == nil {
		t.Error("a direction that the means do not follow is accepted")
	}
	if _, err = Daum(example(), []float64{1, -1}, budget(1, .001)); err == nil {
		t.Error("a direction of length √2 is accepted")
	}
}

func TestExpmAsPublished(t *testing.T) {
	near(t, "c", Analytic(budget(1, .001)), 3.776, 5e-4)
	n, err := ExpmLaplace(example(), budget(.5, 0))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "Laplace scale", n.Laplace[0][0], 4, 1e-12)
	if n, err = ExpmGaussian(example(), budget(.5, .001)); err != nil {
		t.Fatal(err)
	}
	near(t, "σ", n.Normal[1][1], 3.77646*math.Sqrt2/.5, 1e-3)
	near(t, "covariance", n.Covariance(2).At(0, 1), 0, 0)
}

func TestNoNoiseAsPublished(t *testing.T) {
	// Δμᵀ Σ⁻¹ Δμ = (13+22-2·6)/250 = 23/250, against (ε/c)².
	limit := math.Sqrt(23./250) * Analytic(budget(1, .001))
	if n, err := NoNoise(example(), budget(limit*1.001, .001)); err != nil || len(n.Normal)+len(n.Laplace) != 0 {
		t.Errorf("%v, %v", n, err)
	}
	if _, err := NoNoise(example(), budget(limit*.999, .001)); !errors.Is(err, ErrNoise) {
		t.Errorf("%v", err)
	}
	singular := example()
	for i := range singular.Laws {
		singular.Laws[i].Cov = mat.NewSymDense(2, []float64{1, 1, 1, 1})
	}
	if _, err := NoNoise(singular, budget(5, .1)); !errors.Is(err, ErrNoise) {
		t.Errorf("a statistic that is bare in the direction of the means: %v", err)
	}
}

// The loss of independent Laplaces along V is Σ_k |v_kᵀΔμ|/scale: ε is reached, not passed. Δ_{E,2}/ε would pass it.
func TestDirmInSeveralDirections(t *testing.T) {
	const epsilon = .7
	m := Model{Pairs: [][2]int{{0, 1}, {1, 2}}}
	for _, mean := range [][]float64{{0, 0, 0}, {3, 4, 0}, {3, 4.5, 0}} {
		m.Laws = append(m.Laws, Normal{mean, mat.NewSymDense(3, nil)})
	}
	v := [][]float64{{1, 0, 0}, {0, 1, 0}}
	n, err := DirmLaplace(m, v, budget(epsilon, 0))
	if err != nil || len(n.Laplace) != 2 {
		t.Fatal(n, err)
	}
	loss := func(scale float64) float64 { return 3/scale + 4/scale }
	near(t, "loss", loss(n.Laplace[0][0]), epsilon, 1e-12)
	near(t, "equal scales", n.Laplace[0][0], n.Laplace[1][1], 0)
	if trap := loss(m.Sensitivity(2) / epsilon); trap < 1.3*epsilon {
		t.Errorf("Δ_{E,2} would do: loss %g", trap)
	}
	g, err := DirmGaussian(m, v, budget(epsilon, .01))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "gaussian", g.Normal[0][0], Analytic(budget(epsilon, .01))*5/epsilon, 1e-12)
	near(t, "component without movement", g.Covariance(3).At(2, 2), 0, 0)
	for name, v := range map[string][][]float64{"none": nil, "short": {{1, 0}}, "parallel": {{1, 0, 0}, {1, 0, 0}},
		"aslant": {{1, 0, 0}}, "nan": {{math.NaN(), 0, 0}}} {
		if _, err := DirmLaplace(m, v, budget(1, 0)); err == nil {
			t.Errorf("%s directions are accepted", name)
		}
	}
}

func variance(v float64) mat.Symmetric { return mat.NewSymDense(1, []float64{v}) }

// Of one covariance, vectors have what the Eigenvector mechanism has: the example of Chen & Ohrimenko, section 4.3. Of
// several with other eigenvectors every one has enough in every direction, and no less would do for the first; the
// variances along one set of eigenvectors, which is what that mechanism counts, would not be enough.
func TestApgmOfVectors(t *testing.T) {
	cov := mat.NewSymDense(2, []float64{22, -6, -6, 13})
	n, err := Apgm([]Attribute{{math.Sqrt2, cov}}, budget(1, .001))
	if err != nil || len(n.Normal) != 2 {
		t.Fatal(n, err)
	}
	sum := n.Covariance(2)
	near(t, "along (1,2)", (sum.At(0, 0)+4*sum.At(0, 1)+4*sum.At(1, 1))/5, 18.52, .005)
	near(t, "along (2,-1)", (4*sum.At(0, 0)-4*sum.At(0, 1)+sum.At(1, 1))/5, 3.52, .005)
	if _, err := Accuracy(n, .05); err == nil {
		t.Error("accuracy of a vector is accepted")
	}

	attributes := []Attribute{{math.Sqrt2, cov}, {1.2, mat.NewSymDense(2, []float64{9, 8, 8, 9})},
		{.1, mat.NewSymDense(2, []float64{1, 0, 0, 90})}}
	if n, err = Apgm(attributes, budget(1, .001)); err != nil {
		t.Fatal(err)
	}
	for i, a := range attributes {
		enough := n.Covariance(2)
		enough.AddSym(enough, a.Covariance)
		values, _, err := eigen(enough)
		want := Analytic(budget(1, .001)) * a.Delta
		if err != nil || values[0] < want*want*(1-1e-9) {
			t.Errorf("attribute %d: the least variance is %v, not %v", i, values[0], want*want)
		}
	}
}

func TestApgmAsPublished(t *testing.T) {
	c := Analytic(budget(.5, .01))
	n, err := Apgm([]Attribute{{2, variance(30)}, {3, variance(1000)}}, budget(.5, .01))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "σ²", n.Normal[0][0]*n.Normal[0][0], (2*c/.5)*(2*c/.5)-30, 1e-9)
	alpha, err := Accuracy(n, .05)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "accuracy", alpha, 1.959964*n.Normal[0][0], 1e-4)
	if n, err = Apgm([]Attribute{{2, variance(1e6)}}, budget(.5, .01)); err != nil || len(n.Normal) != 0 {
		t.Errorf("%v, %v", n, err)
	}
	if alpha, err = Accuracy(n, .05); alpha != 0 || err != nil {
		t.Errorf("%v, %v", alpha, err)
	}
	one, two, none := variance(1), mat.NewSymDense(2, []float64{1, 0, 0, 1}), mat.NewSymDense(2, []float64{1, 2, 2, 1})
	for _, a := range [][]Attribute{nil, {{math.NaN(), one}}, {{1, variance(math.NaN())}}, {{-1, one}},
		{{1, variance(-1)}}, {{math.Inf(1), one}}, {{1, nil}}, {{1, one}, {1, two}}, {{1, none}}} {
		if _, err := Apgm(a, budget(1, .1)); err == nil {
			t.Errorf("%v is accepted", a)
		}
	}

	for _, beta := range []float64{0, 1, math.NaN()} {
		if _, err := Accuracy(n, beta); err == nil {
			t.Errorf("β = %v is accepted", beta)
		}
	}
}

func TestGroupPrivacy(t *testing.T) {
	ranges := []float64{3, 4}
	l, err := GroupLaplace(ranges, 100, budget(2, 0))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "Laplace", l.Laplace[0][0], 350, 1e-9)
	g, err := GroupGaussian(ranges, 100, budget(2, .001))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "Gaussian", g.Normal[1][1], 3.77646*250, .1)
	for _, bad := range [][]float64{nil, {math.NaN()}, {-1}, {math.Inf(1)}} {
		if _, err := GroupLaplace(bad, 1, budget(1, 0)); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}

	if _, err := GroupGaussian(ranges, 0, budget(1, .1)); err == nil {
		t.Error("a group of nobody is accepted")
	}
}

func TestWasserstein(t *testing.T) {
	n, err := Wasserstein(sensitivity.Close{W: 6, Unit: []float64{1, 10}}, 2, .5)
	if err != nil || n.Laplace[0][0] != 12 || n.Laplace[1][1] != 120 || n.Laplace[0][1] != 0 {
		t.Errorf("%v, %v", n, err)
	}
	for _, c := range []sensitivity.Close{{W: -1}, {W: math.NaN()}, {W: math.Inf(1)}, {W: 1, Delta: 1},
		{W: 1, Delta: -.1}, {W: 1, Unit: []float64{1}}} {
		if _, err := Wasserstein(c, 2, 1); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	if _, err := Wasserstein(sensitivity.Close{W: 1}, 0, 1); err == nil {
		t.Error("no components are accepted")
	}
}

// For ε < 1 and equal covariances each Gaussian mechanism keeps what it promises, by the exact δ of a Gaussian shift.
func TestGuaranteesUnderTheirAssumptions(t *testing.T) {
	for _, epsilon := range []float64{.1, .5, .99} {
		b := budget(epsilon, .001)
		m := example()
		for name, f := range map[string]func() (Noise, error){
			"expm": func() (Noise, error) { return ExpmGaussian(m, b) },
			"dirm": func() (Noise, error) { return DirmGaussian(m, [][]float64{diagonal}, b) },
			"eigm": func() (Noise, error) { return Eigm(m, b) },
			"daum": func() (Noise, error) { return Daum(m, diagonal, b) },
		} {
			n, err := f()
			if err != nil {
				t.Fatal(err)
			}
			s := n.Covariance(2)
			s.AddSym(s, m.Laws[0].Cov)
			d := s.At(0, 0)*s.At(1, 1) - s.At(0, 1)*s.At(0, 1)
			kappa := math.Sqrt((s.At(1, 1) + s.At(0, 0) + 2*s.At(0, 1)) / d) // of Δμ = (1,-1)
			if delta := privacy.GaussianDelta(epsilon, kappa); delta > .001 || delta == 0 {
				t.Errorf("%s, ε = %g: δ = %g", name, epsilon, delta)
			}
		}
	}
}

// published are the mechanisms for a model; direct ones are of other inputs, which the model has no part in.
func published() (ofModel, direct map[string]func(Model, privacy.Budget) (Noise, error)) {
	lines := [][]float64{diagonal}
	ofModel = map[string]func(Model, privacy.Budget) (Noise, error){
		"expm laplace": ExpmLaplace, "expm gaussian": ExpmGaussian, "no noise": NoNoise, "eigm": Eigm,
		"dirm laplace":  func(m Model, b privacy.Budget) (Noise, error) { return DirmLaplace(m, lines, b) },
		"dirm gaussian": func(m Model, b privacy.Budget) (Noise, error) { return DirmGaussian(m, lines, b) },
		"daum":          func(m Model, b privacy.Budget) (Noise, error) { return Daum(m, diagonal, b) },
	}
	direct = map[string]func(Model, privacy.Budget) (Noise, error){
		"apgm":  func(_ Model, b privacy.Budget) (Noise, error) { return Apgm([]Attribute{{1, variance(1)}}, b) },
		"group": func(_ Model, b privacy.Budget) (Noise, error) { return GroupGaussian([]float64{1}, 2, b) },
		"wasserstein": func(_ Model, b privacy.Budget) (Noise, error) {
			return Wasserstein(sensitivity.Close{W: 1, Delta: float64(b.Delta)}, 2, b.Epsilon)
		},
	}
	return ofModel, direct
}

// Draws of Laplace(1) have the variance 2, and independent parts of a noise add up.
func TestCovarianceOfNoise(t *testing.T) {
	n := Noise{Laplace: [][]float64{{3, 0}}, Normal: [][]float64{{1, 2}, {0, 1}}}
	if got, want := n.Covariance(2), mat.NewSymDense(2, []float64{19, 2, 2, 5}); !mat.Equal(got, want) {
		t.Errorf("%v, want %v", mat.Formatted(got), mat.Formatted(want))
	}
}

func TestRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ofModel, direct := published()
	all := maps.Clone(ofModel)
	maps.Copy(all, direct)
	for name, f := range all {
		for _, b := range []privacy.Budget{budget(0, .1), budget(-1, .1), budget(nan, .1), budget(inf, .1),
			budget(1, -.1), budget(1, 1), budget(1, nan)} {
			if n, err := f(example(), b); err == nil {
				t.Errorf("%s at %v: %v", name, b, n)
			}
		}
		if _, err := f(example(), budget(5, .1)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		pure := name == "expm laplace" || name == "dirm laplace" || name == "wasserstein"
		if _, err := f(example(), budget(1, 0)); (err == nil) != pure {
			t.Errorf("%s at δ = 0: %v", name, err)
		}
	}

	for name, f := range ofModel {
		for fault, spoil := range map[string]func(*Model){
			"no laws":      func(m *Model) { m.Laws = nil },
			"empty Ψ":      func(m *Model) { m.Pairs = nil },
			"unknown pair": func(m *Model) { m.Pairs = [][2]int{{0, 2}} },
			"nan mean":     func(m *Model) { m.Laws[0].Mean[1] = nan },
			"inf mean":     func(m *Model) { m.Laws[0].Mean[1] = inf },
			"short mean":   func(m *Model) { m.Laws[1].Mean = m.Laws[1].Mean[:1] },
			"no means":     func(m *Model) { m.Laws[0].Mean = nil },
			"no cov":       func(m *Model) { m.Laws[0].Cov = nil },
			"nan cov":      func(m *Model) { m.Laws[0].Cov.SetSym(0, 1, nan) },
			"inf cov":      func(m *Model) { m.Laws[1].Cov.SetSym(1, 1, inf) },
			"not psd":      func(m *Model) { m.Laws[1].Cov.SetSym(0, 1, 40) },
			"large cov":    func(m *Model) { m.Laws[1].Cov = mat.NewSymDense(3, nil) },
		} {
			m := example()
			spoil(&m)
			if n, err := f(m, budget(5, .1)); err == nil {
				t.Errorf("%s, %s: %v", name, fault, n)
			}
		}
	}
}
