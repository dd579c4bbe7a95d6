package estimate

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// How vague the normal laws are that numbers have before their factors, or before anything is known of them: so many
// times the standard deviation of the factor, or of the noise. They take a millionth of what they are about off its
// precision, or less.
const (
	vague     = 100
	shapeless = 1000
)

// Solve returns the law of each statistic.
func (p Problem) Solve() ([]Estimate, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.Prior == nil {
		out, _, err := p.laws(nil, nil, 0, p.Size)
		return out, err
	}

	// μ and C are taken around where the secrets' values are believed to be, which the answers have a say in.
	at := make([]place, len(p.Prior.Secrets))
	for i, s := range p.Prior.Secrets {
		from, to := s.Range()
		at[i] = place{(from + to) / 2, (to - from) / math.Sqrt(12)}
	}
	var found *propagated
	for range passes {
		secrets, next, err := p.laws(at, found, p.Size, p.Size+len(at))
		if err != nil {
			return nil, err
		}
		found = next
		for i, e := range secrets {
			from, to := p.Prior.Secrets[i].Range()
			at[i] = place{e.Mean(), math.Max(e.SD(), narrowest*(to-from))}
		}
	}
	out, _, err := p.laws(at, found, 0, p.Size)
	if err != nil {
		return nil, err
	}
	if err := p.checkAnswers(out); err != nil {
		return nil, err
	}
	return out, nil
}

// farthest is how many standard deviations a released value may be from the estimate of its statistic. Laplace noise is
// further off once in twenty million values, and normal noise never.
const farthest = 12

var errContradicted = errors.New("estimates: what was released is nowhere near what it is believed to be")

// checkAnswers refuses estimates that the answers themselves contradict. Where the prior is hundreds of standard
// deviations off, a normal law fitted to its factors may come to rest far from everything that was released.
func (p Problem) checkAnswers(of []Estimate) error {
	for _, a := range p.Answers {
		for i, k := range a.Of {
			off := math.Abs(a.Values[i] - of[k].Mean())
			if sd := math.Hypot(math.Sqrt(a.Noise.variance(i)), of[k].SD()); off > farthest*sd {
				return errContradicted
			}
		}
	}
	return nil
}

// passes is how often the place of the secrets is looked for, beginning with their whole ranges.
const passes = 3

// narrowest is the shortest secant that is taken, as a share of a secret's range.
const narrowest = 1e-6

// place is where a secret's value is believed to be.
type place struct{ mean, sd float64 }

// state is a problem as a joint normal law and factors. The law's numbers are the statistics, then the secrets, then
// what answers' noise shares.
type state struct {
	law     *normal
	first   []float64 // variances of the numbers before anything was observed
	forms   []form
	factors []factor
}

// laws are those of the numbers from one place to another of the state, with the prior taken around these values of the
// secrets; start is what was found with others, if anything was.
func (p Problem) laws(at []place, start *propagated, from, to int) ([]Estimate, *propagated, error) {
	s := p.begin(at)
	p.answers(&s, p.Size+len(at))
	for _, f := range p.Facts {
		sum, first := form{}, 0.0
		for _, k := range f.Of {
			sum.add(k, 1)
			first += s.first[k]
		}
		s.law.observe(sum, f.Total, 0, first)
	}

	// What is normal has been observed; the other factors are approximated one after the other.
	done, err := propagate(s.law.joint(s.forms), s.factors, start)
	if err != nil {
		return nil, nil, err
	}
	law, common, err := done.carry(s.law, s.forms)
	if err != nil {
		return nil, nil, err
	}
	out := done.estimates(law, common, from, to)
	for _, e := range out {
		if !finite(e.Mean(), e.SD()) {
			return nil, nil, errUnsettled
		}
	}
	return out, done, nil
}

// begin is the law before any answer.
func (p Problem) begin(at []place) state {
	lines := 0
	for _, a := range p.Answers {
		lines += len(a.Noise.Shared)
	}
	n := p.Size + len(at) + lines
	s := state{law: &normal{make([]float64, n), mat.NewSymDense(n, nil)}}
	believed := make([]bool, p.Size)
	if p.Prior != nil {
		p.Prior.believe(&s, p.Size, at)
		for _, k := range p.Prior.Of {
			believed[k] = true
		}
	}

	// Of other statistics the first value is as good a middle as any.
	for _, a := range p.Answers {
		for i, k := range a.Of {
			if !believed[k] {
				believed[k] = true
				s.law.mean[k] = a.Values[i]
				s.law.covariance.SetSym(k, k, shapeless*shapeless*a.Noise.variance(i))
			}
		}
	}
	line := p.Size + len(at)
	for _, a := range p.Answers {
		for _, l := range a.Noise.Shared {
			v := l.Normal * l.Normal
			if l.Laplace > 0 {
				v = vague * vague * 2 * l.Laplace * l.Laplace
				s.forms, s.factors = append(s.forms, one(line)), append(s.factors, laplace(0, l.Laplace))
			}
			s.law.covariance.SetSym(line, line, v)
			line++
		}
	}
	for k := range n {
		s.first = append(s.first, s.law.covariance.At(k, k))
	}
	return s
}

// variance is that of the noise of one value.
func (n Noise) variance(i int) float64 {
	o := n.Own[i]
	v := 2*o.Laplace*o.Laplace + o.Normal*o.Normal
	for _, l := range n.Shared {
		v += (2*l.Laplace*l.Laplace + l.Normal*l.Normal) * l.Along[i] * l.Along[i]
	}
	return v
}

// answers takes in what was released; the noise that an answer shares stands behind line. A value with noise of its
// own that is normal is observed; what is Laplace of it is a factor of what is left of the value.
func (p Problem) answers(s *state, line int) {
	for _, a := range p.Answers {
		for i, k := range a.Of {
			f, first := one(k), s.first[k]
			for d, l := range a.Noise.Shared {
				if w := l.Along[i]; w != 0 {
					f.add(line+d, w)
					first += w * w * s.first[line+d]
				}
			}

			// Normal noise is taken in exactly.
			switch own := a.Noise.Own[i]; {
			case own.Laplace > 0: // with what little is normal beside it, as of one variance
				scale := math.Hypot(own.Laplace, own.Normal/math.Sqrt2)
				s.forms, s.factors = append(s.forms, f), append(s.factors, laplace(a.Values[i], scale))
			default:
				s.law.observe(f, a.Values[i], own.Normal*own.Normal, first)
			}
		}
		line += len(a.Noise.Shared)
	}
}

// believe writes the prior into a law of which the secrets are the numbers behind size:
//
//	x = m + Σ_s (M_s + D_s (θ_s - at_s) + E_s g_s + e)
//
// with M_s the mean of μ_s(at_s ± sd_s) less m, D_s their difference by 2 sd_s, and E_s how much the first is off the
// mean at at_s: a bend c moves the mean by c times the square of a standard normal, of which the secant has the mean
// and E_s the standard deviation. e has the mean of the covariances at at_s.
func (p *Prior) believe(s *state, size int, at []place) {
	n := len(p.Of)
	total := mat.NewSymDense(n, nil)
	mean := append([]float64(nil), p.Mean...)
	for i, secret := range p.Secrets {
		// Around the value that is believed, the means are taken as a line and a bend.
		from, to := secret.Range()
		centre := math.Min(math.Max(at[i].mean, from), to)
		low, high := math.Max(from, centre-at[i].sd), math.Min(to, centre+at[i].sd)
		centre = (low + high) / 2
		below, middle, above := secret.Mean(low), secret.Mean(centre), secret.Mean(high)
		broad := vague * (to - from) / math.Sqrt(12)
		number := size + i
		s.law.mean[number] = centre
		s.law.covariance.SetSym(number, number, broad*broad)
		s.forms, s.factors = append(s.forms, one(number)), append(s.factors, uniform(from, to))

		slope, bend := make([]float64, n), make([]float64, n)
		for k := range n {
			average := (below[k] + above[k]) / 2
			mean[k] += average - p.Mean[k]
			slope[k], bend[k] = (above[k]-below[k])/(high-low), math.Sqrt2*(average-middle[k])
			s.law.covariance.SetSym(p.Of[k], number, slope[k]*broad*broad)
		}
		total.SymRankOne(total, broad*broad, mat.NewVecDense(n, slope))
		total.SymRankOne(total, 1, mat.NewVecDense(n, bend))
		varying := mat.NewSymDense(n, nil)
		varying.ScaleSym(1/float64(len(p.Secrets)), secret.Covariance(centre))
		total.AddSym(total, varying)
	}

	// The secrets together say how the statistics vary beside what the secrets explain.
	for k, x := range p.Of {
		s.law.mean[x] = mean[k]
		for l := range k + 1 {
			s.law.covariance.SetSym(x, p.Of[l], total.At(k, l))
		}
	}
}
