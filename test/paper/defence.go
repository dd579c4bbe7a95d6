package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"fugu/mechanism"
	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/test/falsify"
	"fugu/test/setting"
)

// defence is a mechanism that is calibrated to a pair of the setting.
type defence struct {
	name      string
	calibrate func(c setting.Classes, delta float64, b privacy.Budget) (defended, error)
}

// defended releases F with noise, or F of a table that it makes of the dataset, and knows its true δ(ε).
type defended struct {
	table   func(r rows, rng *rand.Rand) (rows, error) // nil: noise on F
	release func(f []float64, rng *rand.Rand) []float64
	delta   func(epsilon float64) (string, error) // as text: exact, sampled, or a bound
	claim   string                                // what is claimed of it
	charge  string                                // ε at the budget's δ that the ledger books, by noise alone
}

// none shows F as it is.
var none = defence{"no defence", func(setting.Classes, float64, privacy.Budget) (defended, error) {
	return defended{release: func(f []float64, _ *rand.Rand) []float64 { return f }}, nil
}}

// asPublished are the paper's mechanisms, and the optimal Gaussian one under its assumption of a common covariance.
var asPublished = []setting.Mechanism{setting.ExpmLaplace, setting.DirmLaplace, setting.ExpmGaussian,
	setting.EigmGaussian, setting.DaumGaussian, setting.GroupGaussian, setting.OptimalGaussian}

func fromPaper(m setting.Mechanism) defence {
	return defence{m.Name, func(c setting.Classes, delta float64, b privacy.Budget) (defended, error) {
		p := c.Between(between(delta))
		n, err := m.Noise(p, b)
		if err != nil {
			return defended{}, err
		}
		claim := fmt.Sprint(float64(b.Delta))
		if len(n.Laplace) > 0 {
			claim = "0"
		}
		return defended{
			release: func(f []float64, rng *rand.Rand) []float64 {
				x := append([]float64(nil), f...)
				setting.Draw(x, n, rng)
				return x
			},
			delta: func(epsilon float64) (string, error) {
				if len(n.Laplace) == 1 {
					return sampledDelta(p, n, epsilon)
				}
				d, err := setting.Delta(p, n, epsilon)
				if len(n.Laplace) > 0 {
					return fmt.Sprintf("≤ %.1e", d), err
				}
				return fmt.Sprintf("%.2e", d), err
			},
			claim: claim,
		}, nil
	}}
}

// sampledDelta estimates δ = E_P[(1 - e^{ε-L})+] of noise with one Laplace value from draws of P, in both orders.
func sampledDelta(p setting.Pair, n setting.Noise, epsilon float64) (string, error) {
	const draws = 400_000
	rng := rand.New(rand.NewPCG(17, 0))
	var law [2]falsify.Density
	for i := range p {
		cov := setting.Normals(n, len(p[i].Mean))
		cov.AddSym(cov, p[i].Cov)
		var err error
		if law[i], err = falsify.Normals(p[i].Mean, cov, n.Laplace[0]); err != nil {
			return "", err
		}
	}
	best, se := 0.0, 0.0
	for i := range p {
		f := setting.Noise{Normal: setting.Root(p[i].Cov)}
		sum, square := 0.0, 0.0
		for range draws {
			x := append([]float64(nil), p[i].Mean...)
			setting.Draw(x, f, rng)
			setting.Draw(x, n, rng)
			v := math.Max(0, -math.Expm1(epsilon-law[i](x)+law[1-i](x)))
			sum, square = sum+v, square+v*v
		}
		if mean := sum / draws; mean >= best {
			best, se = mean, math.Sqrt((square/draws-mean*mean)/draws)
		}
	}
	return fmt.Sprintf("%.2e±%.0e", best, se), nil
}

// ours is the product's mechanism of a kind, error counted in the statistics' own units as the paper does.
func ours(kind mechanism.Kind) defence {
	return defence{"Fugu " + string(kind), func(c setting.Classes, delta float64, b privacy.Budget) (defended, error) {
		p := c.Between(between(delta))
		made, err := mechanism.Calibrate(context.Background(), kind, request(c, delta, b))
		if err != nil {
			return defended{}, err
		}
		claim := "not certified"
		if len(made.Certificates) > 0 {
			claim = fmt.Sprintf("%.2e certified", made.Certificates[0].Delta)
		}
		return defended{
			release: func(f []float64, rng *rand.Rand) []float64 { return falsify.Release(nil, made.Noise, f, rng) },
			delta: func(epsilon float64) (string, error) {
				n, err := falsify.Parts(made, p.Difference())
				if err != nil {
					return "", err
				}
				if len(n.Laplace) == 1 {
					return sampledDelta(p, n, epsilon)
				}
				d, err := setting.Delta(p, n, epsilon)
				return fmt.Sprintf("%.2e", d), err
			},
			claim:  claim,
			charge: fmt.Sprintf("%.3g", made.Losses["s"].EpsilonAt(float64(b.Delta))),
		}, nil
	}}
}

// request asks for noise for the pair at Δp = delta alone.
func request(c setting.Classes, delta float64, b privacy.Budget) mechanism.Request {
	from, to := between(delta)
	d := c.Between(from, to).Difference()
	r := mechanism.Request{Budget: b, Shifts: []sensitivity.Shift{{Secret: "s", Along: d,
		Beside: make([]float64, len(d))}},
		Families: []sensitivity.Family{setting.Family{Classes: c, Name: "s", From: from, To: to}}}
	for _, l := range setting.Lattice {
		r.Components = append(r.Components, mechanism.Component{Lattice: l, Unit: 1})
	}
	return r
}

// told is what a dataset's F is told as.
func (d defended) told(r rows, rng *rand.Rand) ([]float64, error) {
	if d.table == nil {
		return d.release(r.statistics(), rng), nil
	}
	made, err := d.table(r, rng)
	if err != nil {
		return nil, err
	}
	return made.statistics(), nil
}

// meanError is the mean L2 error of n releases, and its standard error. Noise has the same error on every F; of what
// is made of datasets, half have each value of the pair at Δp = delta.
func meanError(d defended, all pool, delta float64, n int, rng *rand.Rand) (mean, se float64, err error) {
	sum, square := 0.0, 0.0
	a, b := between(delta)
	f := all.dataset(.5, rng)
	for i := range n {
		e := 0.
		if d.table == nil {
			e = floats.Distance(d.release(f, rng), f, 2)
		} else {
			r := all.draw([]float64{a, b}[i%2], rng)
			told, err := d.told(r, rng)
			if err != nil {
				return 0, 0, err
			}
			e = floats.Distance(told, r.statistics(), 2)
		}
		sum, square = sum+e, square+e*e
	}
	mean = sum / float64(n)
	return mean, math.Sqrt((square/float64(n) - mean*mean) / float64(n)), nil
}
