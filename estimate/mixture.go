package estimate

import "math"

// Estimate is the posterior law of one statistic, as a mixture of normal laws. Its zero value is no law.
type Estimate struct {
	weight, mean, variance []float64
}

// Mean is the posterior mean: of all functions of what was released, that with the least expected squared error.
func (e Estimate) Mean() (m float64) {
	for i, w := range e.weight {
		m += w * e.mean[i]
	}
	return m
}

// SD is the standard deviation.
func (e Estimate) SD() float64 {
	m, v := e.Mean(), 0.0
	for i, w := range e.weight {
		v += w * (e.variance[i] + (e.mean[i]-m)*(e.mean[i]-m))
	}
	return math.Sqrt(v)
}

// Interval holds the statistic with the probability confidence, strictly between 0 and 1, and lies above and below it
// with equal ones; otherwise it is the whole line.
func (e Estimate) Interval(confidence float64) (low, high float64) {
	if !(confidence > 0 && confidence < 1) {
		return math.Inf(-1), math.Inf(1)
	}
	return e.quantile((1 - confidence) / 2), e.quantile((1 + confidence) / 2)
}

// maxDoublings is how often a quantile is looked for twice as far out.
const maxDoublings = 100

// quantile is where the distribution function reaches p.
func (e Estimate) quantile(p float64) float64 {
	m, sd := e.Mean(), e.SD()
	if !(sd > 0) {
		return m
	}

	// A law may be shorter than what floating point tells from its mean, and its bulk on one side of that.
	span := math.Max(sd, 1e-12*math.Abs(m))
	low, high := m-span, m+span
	for n := 0; n < maxDoublings && e.below(low) > p; n++ {
		low -= high - low
	}
	for n := 0; n < maxDoublings && e.below(high) < p; n++ {
		high += high - low
	}
	for range 60 {
		middle := low + (high-low)/2
		if e.below(middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return low + (high-low)/2
}

// below is the distribution function.
func (e Estimate) below(x float64) (p float64) {
	for i, w := range e.weight {
		switch sd := math.Sqrt(e.variance[i]); {
		case sd > 0:
			p += w * math.Erfc((e.mean[i]-x)/sd/math.Sqrt2) / 2
		case e.mean[i] <= x:
			p += w
		}
	}
	return p
}

// Panels of the outer integral, of equal length over so many standard deviations to either side.
const (
	panels     = 48
	panelNodes = 5
	panelReach = 12
)

var panelAt, panelWeight = [panelNodes]float64{-0.9061798459386640, -0.5384693101056831, 0, 0.5384693101056831,
	0.9061798459386640}, [panelNodes]float64{0.2369268850561891, 0.4786286704993665, 0.5688888888888889,
	0.4786286704993665, 0.2369268850561891} // Gauss and Legendre's

// pair is the law of two numbers with their factors, by nodes of the first: how much each weighs, how far it is from
// the normal law's mean, and so the second's mean and its variance there.
type pair struct {
	weight, first, second, variance []float64
}

// pair puts the factors of z_i and z_j back into the law of both. With V their covariance and T the precisions of the
// normal factors it is, around the means m of the law,
//
//	exp(-ζᵀ(V⁻¹ - T)ζ/2 + (T m - ν)ᵀζ) f_i(m_i + ζ_i) f_j(m_j + ζ_j),
//
// in which ζ_j given ζ_i has closed moments, and ζ_i is integrated over numerically. ok: the two can be told apart.
func (p *propagated) pair(i, j int) (out pair, ok bool) {
	vi, vj, vij := p.law.covariance.At(i, i), p.law.covariance.At(j, j), p.law.covariance.At(i, j)
	det := vi*vj - vij*vij
	if !(vi > 0 && vj > 0 && det > 1e-11*vi*vj) {
		return out, false
	}
	qi, qj, qij := vj/det-p.precision[i], vi/det-p.precision[j], -vij/det
	mi, mj := p.law.mean[i], p.law.mean[j]
	hi, hj := p.precision[i]*mi-p.shift[i], p.precision[j]*mj-p.shift[j]
	if !(qj > 0) {
		return out, false
	}
	q := math.Max(0, qi-qij*qij/qj)
	h := hi - qij*hj/qj

	return p.outer(i, func(z float64) (log, first, second float64) {
		mass, first, second := p.factors[j].moments(mj+(hj-qij*z)/qj, 1/qj)
		return -q*z*z/2 + h*z + mass, first - mj, second
	}), true
}

// single is pair for z_i alone.
func (p *propagated) single(i int) pair {
	q := math.Max(0, 1/p.law.covariance.At(i, i)-p.precision[i])
	h := p.precision[i]*p.law.mean[i] - p.shift[i]
	return p.outer(i, func(z float64) (log, first, second float64) { return -q*z*z/2 + h*z, 0, 0 })
}

// outer integrates over the first number's deviation from its mean; inner says how much a place weighs but for the
// first's own factor, and the second's moments.
func (p *propagated) outer(i int, inner func(z float64) (log, first, second float64)) (out pair) {
	m, sd, f := p.law.mean[i], math.Sqrt(p.law.covariance.At(i, i)), p.factors[i]
	from, to := math.Max(-panelReach*sd, f.low-m), math.Min(panelReach*sd, f.high-m)
	half := (to - from) / panels / 2
	top := math.Inf(-1)
	for n := range panels {
		for k, x := range panelAt {
			z := from + half*(float64(2*n+1)+x)
			log, first, second := inner(z)
			log += f.log(m + z)
			top = math.Max(top, log)
			out.weight = append(out.weight, log+math.Log(panelWeight[k]))
			out.first, out.second = append(out.first, z), append(out.second, first)
			out.variance = append(out.variance, second)
		}
	}

	// The largest weight is taken out first, so that no exponential overflows.
	total := 0.0
	for n, log := range out.weight {
		out.weight[n] = math.Exp(log - top)
		total += out.weight[n]
	}
	for n := range out.weight {
		out.weight[n] /= total
	}
	return out
}

// estimates are the laws of the numbers from one place to another of a normal law that z are forms of; common is what z
// has in common with each of its numbers.
func (p *propagated) estimates(law *normal, common [][]float64, from, to int) []Estimate {
	pairs := map[[2]int]pair{}
	out := make([]Estimate, to-from)
	for n := range out {
		k := from + n
		variance := math.Max(0, law.covariance.At(k, k))

		// The two that say most of the number are integrated over, and the others are taken as normal.
		i, j := p.foremost(common, k, variance)
		if i < 0 {
			out[n] = Estimate{[]float64{1}, law.mean[k : k+1 : k+1], []float64{variance}}
			continue
		}

		of, known := pairs[[2]int{i, j}]
		if !known {
			var two bool
			if j >= 0 {
				of, two = p.pair(i, j)
			}
			if !two {
				of = p.single(i)
			}
			pairs[[2]int{i, j}] = of
		}
		out[n] = p.mixed(of, law.mean[k], variance, common, k, i, j)
	}
	return out
}

// foremost are the two numbers that a statistic varies most with; -1: there is none.
func (p *propagated) foremost(common [][]float64, k int, variance float64) (i, j int) {
	i, j = -1, -1
	var most, next float64
	for n := range common {
		share := common[n][k] * common[n][k] / p.law.covariance.At(n, n)
		switch {
		case !(share > 1e-9*variance):
		case share > most:
			j, next = i, most
			i, most = n, share
		case share > next:
			j, next = n, share
		}
	}
	return i, j
}

// mixed is the law of statistic k where z_i and z_j have the law of the pair: given them it is normal, with a mean that
// is linear in them.
func (p *propagated) mixed(of pair, mean, variance float64, common [][]float64, k, i, j int) (e Estimate) {
	vi := p.law.covariance.At(i, i)
	gi, gj := common[i][k]/vi, 0.0
	rest := variance - gi*common[i][k]

	// Two that are nearly one tell no more than the first.
	if j >= 0 {
		vj, vij := p.law.covariance.At(j, j), p.law.covariance.At(i, j)
		if det := vi*vj - vij*vij; det > 1e-11*vi*vj {
			gi = (vj*common[i][k] - vij*common[j][k]) / det
			gj = (vi*common[j][k] - vij*common[i][k]) / det
			rest = variance - gi*common[i][k] - gj*common[j][k]
		}
	}

	rest = math.Max(0, rest)

	// Each place of the pair gives one normal law.
	for n, w := range of.weight {
		if w == 0 {
			continue
		}
		e.weight = append(e.weight, w)
		e.mean = append(e.mean, mean+gi*of.first[n]+gj*of.second[n])
		e.variance = append(e.variance, rest+gj*gj*of.variance[n])
	}
	return e
}
