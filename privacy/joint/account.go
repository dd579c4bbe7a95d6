package joint

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Release is an answer as the account needs to know it.
type Release struct {
	Terms *Terms
	// Noise has the variance of the independent normal noise of each component. What other noise there is, independent
	// of it and of the rows, is not counted.
	Noise []float64
	// Lines are normal noise that components share: a standard normal number moves all along each of these vectors.
	Lines [][]float64
	// Still are the components of which Delta is counted in Aside; nil: none.
	Still []bool
	// Hidden are the secrets whose Delta other noise hides in this release, at a loss that is counted elsewhere.
	Hidden map[string]bool
	// Aside is, by secret, κ of what moves beside Delta, by the noise alone: at most r in each component, whatever the
	// answers were, √Σ r²/N.
	Aside map[string]float64
	// Rounding is κ, by the noise alone, of what may depend on the rows in any way and is at most r in each component.
	Rounding float64
}

// Account is what all releases of a dataset together tell about each secret. It is not safe for concurrent use.
type Account struct {
	rows     int
	secrets  []*moments
	stack    []*Terms
	first    []int     // component of each release
	noise    []float64 // of all components
	rounding float64   // Σ κ²
	epsilon  float64   // up to which shapes are counted; 0: all is taken for normal
	version  int
}

// New makes an account without releases.
func New(sample Sample, secrets []Secret) (*Account, error) {
	if sample.Rows < 1 || sample.Rows > maxRows {
		return nil, fmt.Errorf("joint: a reference of %d rows", sample.Rows)
	}
	a := &Account{rows: sample.Rows}
	for _, s := range secrets {
		if a.secret(s.Name) != nil {
			return nil, fmt.Errorf("joint: secret %q is there twice", s.Name)
		}
		m, err := newMoments(sample, s)
		if err != nil {
			return nil, fmt.Errorf("joint: secret %q: %w", s.Name, err)
		}
		a.secrets = append(a.secrets, m)
	}
	return a, nil
}

// CountShapes has the account count what the rows that both tables share are besides normal, for every ε up to that of
// all releases together. It is for an account without releases.
func (a *Account) CountShapes(epsilon float64) { a.epsilon = epsilon }

func (a *Account) secret(name string) *moments {
	for _, s := range a.secrets {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Components is how many the releases have together.
func (a *Account) Components() int { return len(a.noise) }

// ErrFull says that an account has no room for a release.
var ErrFull = errors.New("the joint account of this dataset is full")

// check says what of a release does not fit the account.
func (a *Account) check(r Release) error {
	switch {
	case r.Terms == nil || r.Terms.rows != a.rows:
		return fmt.Errorf("terms that are not over the account's %d rows of reference", a.rows)
	case len(r.Noise) != r.Terms.width:
		return fmt.Errorf("noise of %d components, not of %d", len(r.Noise), r.Terms.width)
	case len(a.noise)+r.Terms.width > MaxComponents:
		return fmt.Errorf("%w: it holds %d components of at most %d, and %d are added", ErrFull, len(a.noise),
			MaxComponents, r.Terms.width)
	case !kappa(r.Rounding):
		return fmt.Errorf("a rounding of %g", r.Rounding)
	}

	// Outside of these bounds the sums of squares would overflow, or lose all their digits.
	for _, n := range r.Noise {
		if !(n > 1/largest) || n > largest {
			return fmt.Errorf("noise of variance %g", n)
		}
	}
	for _, v := range r.Lines {
		if len(v) != len(r.Noise) || slices.ContainsFunc(v,
			func(x float64) bool { return !(math.Abs(x) <= math.Sqrt(largest)) }) {
			return errors.New("noise along a line that is not finite, or of another length")
		}
	}

	if r.Still != nil && len(r.Still) != len(r.Noise) {
		return fmt.Errorf("%d components that are still or not, of %d", len(r.Still), len(r.Noise))
	}
	for name := range r.Hidden {
		if a.secret(name) == nil {
			return fmt.Errorf("no secret %q", name)
		}
	}

	for name, k := range r.Aside {
		if a.secret(name) == nil || !kappa(k) {
			return fmt.Errorf("a shift of %g of the secret %q", k, name)
		}
	}
	return nil
}

func kappa(k float64) bool { return k >= 0 && k <= 1e6 }

// Trial is what the account would be with one release more. It is invalid as soon as the account has moved on.
type Trial struct {
	account *Account
	version int
	release Release
	of      []trial // by secret
}

type trial struct {
	covariances *covariances
	charges     []*charge
}

// Trial computes what all releases together would cost, without changing the account.
func (a *Account) Trial(r Release) (*Trial, error) {
	if err := a.check(r); err != nil {
		return nil, fmt.Errorf("joint: %w", err)
	}
	t := &Trial{account: a, version: a.version, release: r}

	// Every pair of every secret is computed by itself, as many at a time as there are processors.
	type task struct{ secret, pair int }
	var tasks []task
	for i, m := range a.secrets {
		t.of = append(t.of, trial{a.covariances(m, r), make([]*charge, len(m.pairs))})
		for j := range m.pairs {
			tasks = append(tasks, task{i, j})
		}
	}

	errs := make([]error, len(tasks))
	parallel(len(tasks), func(n int) {
		i, j := tasks[n].secret, tasks[n].pair
		m := a.secrets[i]
		c, err := m.pairs[j].charge(t.of[i].covariances, max(1, processors()/len(tasks)))
		if err != nil {
			errs[n] = fmt.Errorf("joint: secret %q: %w", m.Name, err)
			return
		}
		c.kappa = a.skewedKappa(m, m.pairs[j], c, r)
		t.of[i].charges[j] = c
	})

	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return t, nil
}

// covariances takes the moments of a release from the reference.
func (a *Account) covariances(m *moments, r Release) *covariances {
	width, classes := r.Terms.width, len(m.rows)
	x := &covariances{moments: m, noise: r.Noise, lines: r.Lines, still: r.Still, before: a.noise,
		hidden: r.Hidden[m.Name]}
	for range classes {
		x.mean = append(x.mean, make([]float64, width))
	}
	if m.number != nil {
		x.along = make([]float64, width)
	}
	r.Terms.each(func(row, component int, value float64) {
		if c := m.class[row]; c > 0 {
			x.mean[c-1][component] += value
		}
		if m.number != nil {
			x.along[component] += value * m.number[row] / float64(a.rows)
		}
	})

	// So far these are sums over the classes' rows.
	for c, n := range m.rows {
		if n > 0 {
			floats.Scale(1/n, x.mean[c])
		}
	}

	// The new components vary together with each other, and with all that are in the account.
	cross := r.Terms.crossing(m.class, classes)
	x.corner = newSums(width, width, classes)
	cross.products(r.Terms, 0, x.corner)
	x.stack = newSums(len(a.noise), width, classes)
	parallel(len(a.stack), func(i int) { cross.products(a.stack[i], a.first[i], x.stack) })
	return x
}

// Cost is what all releases together would cost of a secret.
func (t *Trial) Cost(secret string) Cost {
	for i, m := range t.account.secrets {
		if m.Name != secret {
			continue
		}
		k := t.release.Aside[secret]
		aside, rounding := m.aside+k*k, t.account.rounding+t.release.Rounding*t.release.Rounding
		var worst Cost
		for j, c := range t.of[i].charges {
			worst = worst.max(newCost(c.kappa, c.least, len(c.scale)+t.account.Components(), aside, rounding,
				m.pairs[j].bend, c.differences))
		}
		return worst
	}
	return unknown
}

// Commit makes the release part of the account.
func (t *Trial) Commit() error {
	a := t.account
	if t.version != a.version {
		return errors.New("joint: the account has changed since this trial")
	}

	for i, m := range a.secrets {
		x := t.of[i].covariances
		for c := range m.mean {
			m.mean[c] = append(m.mean[c], x.mean[c]...)
		}
		m.along = append(m.along, x.along...)
		k := t.release.Aside[m.Name]
		m.aside += k * k
		for j, p := range m.pairs {
			p.commit(t.of[i].charges[j])
		}
	}

	// The next release is tried beside these components.
	a.stack = append(a.stack, t.release.Terms)
	a.first = append(a.first, len(a.noise))
	a.noise = append(a.noise, t.release.Noise...)
	a.rounding += t.release.Rounding * t.release.Rounding
	a.version++
	return nil
}

// Append makes a release part of the account, whatever it costs.
func (a *Account) Append(r Release) error {
	t, err := a.Trial(r)
	if err != nil {
		return err
	}
	return t.Commit()
}

// Cost is what all releases so far cost of a secret. Of one that the account does not know it is infinite.
func (a *Account) Cost(secret string) Cost {
	m := a.secret(secret)
	if m == nil {
		return unknown
	}
	var worst Cost
	for _, p := range m.pairs {
		worst = worst.max(newCost(p.kappa, p.least, len(a.noise), m.aside, a.rounding, p.bend, p.differences))
	}
	return worst
}

var unknown = Cost{Kappa2: math.Inf(1), G: math.Inf(1), Slope: math.Inf(1), Bend: math.Inf(1)}
