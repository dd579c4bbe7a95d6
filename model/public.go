package model

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"fugu/planner"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// Public is what everybody knows of one table: the values z of counts and sums Z over its rows, and how these are
// distributed. Z is the Components of its Moments, one after the other.
type Public struct {
	moments []*Moments
	values  []float64
	cross   [][]cross // of moments i and j < i
}

// second is E of the product of two terms, each in the cell × term layout of its part, in a class.
func (c *cross) second(secret, class int, a, b *Moments, term, other int) float64 {
	na, nb := a.terms, b.terms
	moments := c.moments[secret][overlap{term / na, other / nb, class}]
	if moments == nil {
		return 0
	}
	return moments[term%na*nb+other%nb]
}

// NewPublic puts together the cuts of a table's public statistics with their values, in the order of the Moments'
// Components. The cuts are simple and made of counts and sums; their moments have every component.
func NewPublic(ctx context.Context, ref planner.Querier, moments []*Moments, values []float64) (*Public, error) {
	p := &Public{moments: moments, values: values}
	for i, m := range moments {
		p.cross = append(p.cross, nil)
		for j := range i {
			x, err := measureCross(ctx, ref, m, moments[j])
			if err != nil {
				return nil, err
			}
			p.cross[i] = append(p.cross[i], x)
		}
	}
	return p, nil
}

// place is one linear functional of a row: a term of one of several cuts.
type place struct{ cut, term int }

func (p *Public) places() []place {
	var out []place
	for i, m := range p.moments {
		for _, k := range m.Components {
			out = append(out, place{i, m.total(k)})
		}
	}
	return out
}

// product is E of the product of two terms of Z in a class.
func (p *Public) product(secret, class int, a, b place) float64 {
	switch {
	case a.cut == b.cut:
		m := p.moments[a.cut]
		nt := m.terms
		if a.term/nt != b.term/nt {
			return 0
		}
		return m.secrets[secret].second[class][a.term*nt+b.term%nt]
	case a.cut < b.cut:
		a, b = b, a
	}
	return p.cross[a.cut][b.cut].second(secret, class, p.moments[a.cut], p.moments[b.cut], a.term, b.term)
}

// known is Z along a span of values x of one secret proportion, in a basis in which its components vary
// independently whatever x is: their covariances are affine in x, so one basis serves for two of them and hence for
// all. t runs from 0 to 1 along the span. Component j has the variance v0 + t·v1, and its public value is r0 + t·r1
// above its mean.
type known struct {
	edge           int // which of the secret's spans it is
	span           sensitivity.Span
	basis          *mat.Dense // public components × r
	v0, v1, r0, r1 []float64
	vectors        [2][]float64  // the class means of Z
	squares        []float64     // n E h² of each component in either class, the greater: variances count by it
	covariance     [2]*mat.Dense // those of n rows of a class, in units of Z
}

// Limits of what counts as certain: variances relative to the squares that they are differences of, or to the largest,
// and means relative to values. Nothing is in units: a sum of millionths varies as a sum of millions does.
const (
	certainVariance = 1e-9
	certainMean     = 1e-7
)

// along derives Z under a secret proportion. A public statistic that is certain at one of the secret's values and
// different at another tells the secret; one that can never have its value contradicts the rest. Both are an error for
// the policy's owner.
func (p *Public) along(secret int, psi Psi, edge int) (*known, error) {
	k := &known{edge: edge, span: psi.Spans[edge]}
	p.measure(k, secret)
	low, high := p.at(k, k.span.From), p.at(k, k.span.To)

	kept, err := p.varying(psi, k, low, high)
	if err != nil {
		return nil, err
	}
	if len(kept) == 0 { // everything is certain, and tells nothing
		return k, nil
	}
	return k, k.diagonalize(psi, kept, low, high)
}

// measure takes in the means and covariances of Z in the two classes, the latter of n rows.
func (p *Public) measure(k *known, secret int) {
	places := p.places()
	n, m := p.moments[0].rows(), len(places)
	k.squares = make([]float64, m)
	for class := range 2 {
		mean := make([]float64, m)
		for i, a := range places {
			mean[i] = p.moments[a.cut].secrets[secret].mean[class][a.term]
			k.squares[i] = math.Max(k.squares[i], n*p.product(secret, class, a, a))
		}
		c := mat.NewDense(m, m, nil)
		for i, a := range places {
			for j, b := range places {
				c.Set(i, j, n*(p.product(secret, class, a, b)-mean[i]*mean[j]))
			}
		}
		k.vectors[class], k.covariance[class] = mean, c
	}
}

// seen is Z at one value of the secret: its covariance, and how far the public values are above its mean.
type seen struct {
	covariance *mat.SymDense
	above      []float64
}

func (p *Public) at(k *known, x float64) seen {
	n, m := p.moments[0].rows(), len(p.values)
	out := seen{mat.NewSymDense(m, nil), make([]float64, m)}
	for i := range m {
		out.above[i] = p.values[i] - n*(x*k.vectors[1][i]+(1-x)*k.vectors[0][i])
		for j := range i + 1 {
			out.covariance.SetSym(i, j, x*k.covariance[1].At(i, j)+(1-x)*k.covariance[0].At(i, j))
		}
	}
	return out
}

// varying returns combinations of the public statistics whose covariances at both ends of the span add up to the unit
// matrix. What hardly varies at either end is left out, and must be the same at both.
func (p *Public) varying(psi Psi, k *known, low, high seen) (kept [][]float64, err error) {
	n, m := p.moments[0].rows(), len(p.values)
	scale := make([]float64, m) // statistics have units of their own
	for i := range scale {
		if v := low.covariance.At(i, i) + high.covariance.At(i, i); v > certainVariance*k.squares[i] {
			scale[i] = 1 / math.Sqrt(v)
		}
	}

	// In their common directions the statistics vary one by one.
	both := mat.NewSymDense(m, nil)
	for i := range m {
		for j := range i + 1 {
			both.SetSym(i, j, scale[i]*scale[j]*(low.covariance.At(i, j)+high.covariance.At(i, j)))
		}
	}

	values, vectors, err := eigenvectors(both)
	if err != nil {
		return nil, err
	}

	// A combination that cannot vary says something for sure, which must hold at both ends.
	for i, l := range values {
		v := mat.Col(nil, i, vectors)
		size := 0.0
		for j := range v {
			if scale[j] > 0 {
				v[j] *= scale[j]
			}
			expected := n * math.Max(math.Abs(k.vectors[0][j]), math.Abs(k.vectors[1][j]))
			size += math.Abs(v[j]) * (math.Abs(p.values[j]) + expected)
		}

		if !(l > certainVariance) {
			if err := certain(psi, dot(v, low.above), dot(v, high.above), size); err != nil {
				return nil, err
			}
			continue
		}

		for j := range v {
			v[j] /= math.Sqrt(l)
		}
		kept = append(kept, v)
	}
	return kept, nil
}

// certain refuses a combination that does not vary, and whose value is so far above its mean at the ends of the span,
// in units of about size: it must have its mean, and the same at both.
func certain(psi Psi, low, high, size float64) error {
	if math.Abs(low-high) > certainMean*size {
		return told(psi)
	}
	if math.Abs(low) > certainMean*size {
		return sqlstate.New(sqlstate.ModelUnfit, "the public statistics contradict each other, the number "+
			"of rows or the reference: their sum is certain, and off by %.4g of %.4g", math.Abs(low), size).
			WithHint("Check the values under public:, and rows: of the table.")
	}
	return nil
}

// eigenvectors returns the eigenvalues of s in ascending order, and the vectors as columns.
func eigenvectors(s *mat.SymDense) ([]float64, *mat.Dense, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(s, true) {
		return nil, nil, fmt.Errorf("the covariance of public statistics has no eigenvalues")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	return eigen.Values(nil), &vectors, nil
}

// diagonalize fills in the basis: in the combinations kept the covariances of both ends add up to the unit matrix, so
// that in a rotation in which one of them is diagonal the other one is too.
func (k *known) diagonalize(psi Psi, kept [][]float64, low, high seen) error {
	r, m := len(kept), len(kept[0])
	inner := mat.NewSymDense(r, nil)
	for i := range r {
		for j := range i + 1 {
			x, y := mat.NewVecDense(m, kept[i]), mat.NewVecDense(m, kept[j])
			inner.SetSym(i, j, mat.Inner(x, high.covariance, y))
		}
	}

	values, vectors, err := eigenvectors(inner)
	if err != nil {
		return err
	}

	k.basis = mat.NewDense(m, r, nil)
	for i := range m {
		for j := range r {
			for l := range r {
				k.basis.Set(i, j, k.basis.At(i, j)+kept[l][i]*vectors.At(l, j))
			}
		}
	}

	for j, e := range values {
		// What is certain at one end alone tells which end it is.
		if e < certainVariance || e > 1-certainVariance {
			return told(psi)
		}
		column := mat.Col(nil, j, k.basis)
		k.v0, k.v1 = append(k.v0, 1-e), append(k.v1, 2*e-1)
		a := dot(column, low.above)
		k.r0, k.r1 = append(k.r0, a), append(k.r1, dot(column, high.above)-a)
	}
	return nil
}

func told(psi Psi) error {
	return sqlstate.New(sqlstate.ModelUnfit, "the public statistics tell the value of secret %s", psi.Name).
		WithHint("The policy's owner can take the statistic out of public:, or give the secret up.")
}

// Check refuses public statistics that tell a secret, or contradict each other (PV004).
func (p *Public) Check(secret int, psi Psi) error {
	for edge := range psi.Spans {
		if _, err := p.along(secret, psi, edge); err != nil {
			return err
		}
	}
	return nil
}

// Conditional reports whether F has a model given public statistics under the secret: a proportion that is the table's
// own.
func (psi Psi) Conditional(s planner.Secret) bool {
	return s.Predicate != nil && !psi.Distribution && !psi.FromReference
}
