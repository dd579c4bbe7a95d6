package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"fugu/mechanism"
	"fugu/sensitivity"
	"fugu/test/setting"
)

// subsets is how many datasets the paper draws at each value of the secret [Chen & Ohrimenko, appendix C.1].
const subsets = 1000

// sums is the exact law of a sum of whole numbers: mass[i] is the probability of low+i.
type sums struct {
	low  int
	mass []float64
}

// ofRows is the law of the sum of one statistic's values over n rows, each of which is any of the records alike.
func ofRows(records []record, statistic, n int) sums {
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range records {
		low, high = math.Min(low, r.values[statistic]), math.Max(high, r.values[statistic])
	}
	one := sums{int(low), make([]float64, int(high-low)+1)}
	for _, r := range records {
		one.mass[int(r.values[statistic]-low)] += 1 / float64(len(records))
	}

	out := sums{0, []float64{1}}
	for range n {
		out = out.plus(one)
	}
	return out
}

// plus is the law of the sum of two independent sums.
func (s sums) plus(o sums) sums {
	out := sums{s.low + o.low, make([]float64, len(s.mass)+len(o.mass)-1)}
	for i, p := range s.mass {
		for j, q := range o.mass {
			out.mass[i+j] += p * q
		}
	}
	return out
}

// moments are mean and variance.
func (s sums) moments() (mean, variance float64) {
	for i, p := range s.mass {
		mean += p * float64(s.low+i)
	}
	for i, p := range s.mass {
		variance += p * (float64(s.low+i) - mean) * (float64(s.low+i) - mean)
	}
	return mean, variance
}

// missed is the η with which the normal law of the same mean and variance, rounded to whole numbers, is within λ of the
// law in both directions of the max-divergence [Definition 4.1]: max over both of Σ max(0, P - e^λ Q). At λ = 0 that is
// the total variation distance.
func (s sums) missed(lambda float64) float64 {
	mean, variance := s.moments()
	n := distuv.Normal{Mu: mean, Sigma: math.Sqrt(variance)}
	high := float64(s.low + len(s.mass) - 1)
	there, back := 0.0, n.CDF(float64(s.low)-.5)+n.Survival(high+.5)
	for i, p := range s.mass {
		x := float64(s.low + i)
		q := n.CDF(x+.5) - n.CDF(x-.5)
		there, back = there+math.Max(0, p-math.Exp(lambda)*q), back+math.Max(0, q-math.Exp(lambda)*p)
	}
	return math.Max(there, back)
}

// beyond is the probability to be more than so many standard deviations from the mean.
func (s sums) beyond(sds float64) (total float64) {
	mean, variance := s.moments()
	for i, p := range s.mass {
		if math.Abs(float64(s.low+i)-mean) > sds*math.Sqrt(variance) {
			total += p
		}
	}
	return total
}

// against is δ = ∫ max(0, f - e^ε g) of the sum with normal noise of standard deviation sd against another, by the
// rectangle rule. Mixtures of normal laws would not need steps so small; the edge at which f is e^ε g does.
func (s sums) against(o sums, sd, epsilon float64) (delta float64) {
	density := func(s sums, y float64) (f float64) {
		from, to := int(math.Floor(y-12*sd))-s.low, int(math.Ceil(y+12*sd))-s.low
		for i := max(0, from); i <= to && i < len(s.mass); i++ {
			z := (y - float64(s.low+i)) / sd
			f += s.mass[i] * math.Exp(-z*z/2)
		}
		return f / (sd * math.Sqrt(2*math.Pi))
	}
	step := sd / 64
	for y := float64(s.low) - 12*sd; y <= float64(s.low+len(s.mass))+12*sd; y += step {
		delta += step * math.Max(0, density(s, y)-math.Exp(epsilon)*density(o, y))
	}
	return delta
}

// statisticLaw is the law of one statistic, in steps of its lattice, over datasets with that share of the predicate.
func statisticLaw(p pool, statistic int, share float64) sums {
	inside := int(share*setting.Records + .5)
	return ofRows(p[0], statistic, setting.Records-inside).plus(ofRows(p[1], statistic, inside))
}

// paperVariances are those of the number of women that the paper gives with Figure 5, at the two shares.
var paperVariances = map[string]string{"female .45": "18.31", "female .55": "18.03"}

// printFigure5 says what the normal approximations of the paper's Figure 5 miss of each statistic, and what that does
// to a release of it alone whose noise counts the data's own randomness.
func printFigure5(data census) error {
	s := newSheet("Figure 5: the normal law in place of F, income, 100 rows of the census drawn independently; "+
		"variances in the\nunits of F, as in the paper, in 1000 drawn datasets, and exactly. η within λ of the "+
		"max-divergence, both ways; and what is\nbeyond 4 standard deviations, of which the normal law has 6.3e-05.",
		"statistic", "share", "variance: paper", "drawn", "exact", "η at λ = 0", "at .1", "beyond 4 sd")
	p := divide(whole(data), secrets[0])
	rng := rand.New(rand.NewPCG(7, 0))
	for k, name := range setting.Statistics {
		lattice := setting.Lattice[k]
		shares := [2]float64{}
		shares[0], shares[1] = between(.1)
		laws := [2]sums{statisticLaw(p, k, shares[0]), statisticLaw(p, k, shares[1])}

		for i, share := range shares {
			var drawn []float64
			for range subsets {
				drawn = append(drawn, p.dataset(share, rng)[k])
			}
			label := number(share)[1:]
			_, variance := laws[i].moments()
			s.row(name, label, paperVariances[name+" "+label], number(stat.Variance(drawn, nil)),
				number(variance*lattice*lattice), fmt.Sprintf("%.4f", laws[i].missed(0)),
				fmt.Sprintf("%.1e", laws[i].missed(.1)), fmt.Sprintf("%.1e", laws[i].beyond(4)))
		}
	}
	if err := s.w.Flush(); err != nil {
		return err
	}
	return printShapes(p)
}

// printShapes says what a certificate is worth that takes F for normal, and what it costs to go by its own law: the
// noise of one statistic alone, and its true δ.
func printShapes(p pool) error {
	s := newSheet("The same statistics released alone by apgm, δ = .001: the true δ, by the exact law, of noise "+
		"that is certified for\nnormal laws, and of noise that is certified by their own law", "statistic", "ε",
		"normal: noise sd", "certified δ", "true δ", "as it is: noise sd", "certified δ", "true δ", "noise more")
	counted := p.classes()
	normal := counted
	normal.Rows = [2][][]float64{}
	for k, name := range setting.Statistics {
		low, high := between(.1)
		laws := [2]sums{statisticLaw(p, k, low), statisticLaw(p, k, high)}
		for _, epsilon := range []float64{.2, 1, 2, 5} {
			row, sd := []any{name, epsilon}, [2]float64{}
			for i, c := range []setting.Classes{normal, counted} {
				made, err := alone(c, k, epsilon)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				sd[i] = made.SD[0]
				noise := sd[i] / setting.Lattice[k]
				truth := max(laws[0].against(laws[1], noise, epsilon), laws[1].against(laws[0], noise, epsilon))
				row = append(row, number(sd[i]), fmt.Sprintf("%.2e", made.Certificates[0].Delta),
					fmt.Sprintf("%.2e", truth))
			}
			s.row(append(row, fmt.Sprintf("%.1f%%", 100*(sd[1]/sd[0]-1)))...)
		}
	}
	return s.w.Flush()
}

// alone is noise for one statistic by itself.
func alone(c setting.Classes, k int, epsilon float64) (mechanism.Calibration, error) {
	r, at := request(c, .1, budget(epsilon, .001)), []int{k}
	r.Shifts[0], r.Families[0] = r.Shifts[0].Part(at), sensitivity.Part(r.Families[0], at)
	r.Components = r.Components[k : k+1]
	return mechanism.Calibrate(context.Background(), mechanism.Apgm, r)
}

// whole is every record.
func whole(data census) (out []record) {
	out = append(out, data.auxiliary...)
	out = append(out, data.testing...)
	return append(out, data.modelling...)
}

// approximation is Figure 5: of one statistic what 1000 datasets have of it at both shares of a secret, in bins of that
// many steps of its lattice, and the normal laws of their mean and variance.
func approximation(data census, s secret, statistic, bin int) *figure {
	name := setting.Statistics[statistic]
	f := &figure{name: "figure5_" + name, title: fmt.Sprintf("%s in 100 records, %s", name, s.title), x: name,
		y: "share of 1000 datasets"}
	p := divide(whole(data), s)
	rng := rand.New(rand.NewPCG(8, 0))
	width := float64(bin) * setting.Lattice[statistic]
	from, to := between(.1)
	for _, share := range []float64{from, to} {
		var drawn []float64
		counts := map[int]float64{}
		low, high := math.MaxInt, math.MinInt
		for range subsets {
			x := p.dataset(share, rng)[statistic]
			i := int(math.Round(x / width))
			drawn, low, high = append(drawn, x), min(low, i), max(high, i)
			counts[i] += 1. / subsets
		}

		mean, variance := stat.MeanVariance(drawn, nil)
		n := distuv.Normal{Mu: mean, Sigma: math.Sqrt(variance)}
		for i := low; i <= high; i++ {
			f.add(fmt.Sprintf("drawn, p = %g", share), float64(i)*width, counts[i])
		}
		for i := low; i <= high; i++ {
			x := float64(i) * width
			f.add(fmt.Sprintf("normal, p = %g", share), x, n.CDF(x+width/2)-n.CDF(x-width/2))
		}
	}
	return f
}
