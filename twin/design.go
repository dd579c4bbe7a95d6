package twin

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"sync"

	"fugu/mechanism"
)

// Design is the law of one twin: K and S, chosen for a Spec. Everything in it is public.
type Design struct {
	Classes []Class
	Rows    int64   // n
	Epsilon float64 // what the twin costs in all, that of the Spec
	Delta   float64
	// NoiseEpsilon and NoiseDelta are K's part of them; the rest is for the rows that analysts know, and for chance.
	NoiseEpsilon, NoiseDelta float64

	public *Public
	cells  []Cell
	noise  noise
	known  known
	tables [][]int64
}

// noise is a law K of counts, and what is known of a table that brings forth its outcomes.
type noise interface {
	fmt.Stringer
	// draw draws the noisy counts; draws is how many samples it may take.
	draw(i *mechanism.Integers, counts []int64) []int64
	draws() int
	// least is how many rows of each class every table of the promise has that can bring forth these noisy counts.
	least(noisy []int64) []int64
	// covers reports whether the promise speaks of a table with these counts.
	covers(counts []int64) bool

	law(x *big.Rat, counts []int64) []Outcome
	unit() (num, den uint64)
	steps() int64
	// pairwise goes through the noisy counts with the logarithms of their probabilities in two tables. Of the counts
	// only that of one class need be meant.
	pairwise(class int, counts, other []int64, each func(noisy []int64, p, q float64))
	// expect is a public estimate of what comes of a table with these counts.
	expect(counts []int64, sizes func(noisy []int64) []int64) []Expected
	// spread is the root mean square of Ñ_c - N_c given Ñ, or a little more, as DeviationOf needs it.
	spread(noisy []int64) []float64
}

// New chooses K and S. Of the laws that hold the promise it takes the one with the least expected error, which does not
// depend on the table. The error says what about the policy would have to be otherwise.
func New(s Spec) (*Design, error) {
	if err := s.valid(); err != nil {
		return nil, err
	}
	d, err := s.domain()
	if err != nil {
		return nil, err
	}

	var best *Design
	var errs []error
	for _, c := range s.candidates(d) {
		design, err := c()
		if err == nil {
			err = design.roomy()
		}
		switch {
		case err != nil:
			errs = append(errs, err)
		case best == nil || design.Error() < best.Error():
			best = design
		}
	}

	// Only the first error is told: that of the law which is tried first.
	if best == nil {
		return nil, errors.Join(errs[:min(1, len(errs))]...)
	}
	return best, nil
}

// candidates are the laws that can hide what the domain has.
func (s Spec) candidates(d domain) (out []func() (*Design, error)) {
	base := Design{Classes: d.classes, Rows: s.Rows, Epsilon: s.Epsilon, Delta: s.Delta, public: s.Public,
		cells: d.cells, tables: s.examples(d)}
	for _, part := range s.parts(len(d.classes), d.slack) {
		make := func(noise noise, err error) (*Design, error) {
			if err != nil {
				return nil, err
			}
			design := base
			design.noise, design.NoiseEpsilon, design.NoiseDelta = noise, part.epsilon, part.delta
			design.known = known{s.KnownRows, d.move, part.knownEpsilon, s.Rows, part.knownDelta, &sync.Map{}}
			return &design, nil
		}

		// Two classes have one count to hide, more of them a vector; listed values have a law of their own beside.
		if len(d.classes) == 2 {
			out = append(out, func() (*Design, error) {
				l, err := newLaplace(d, s.Rows, part.epsilon, part.delta)
				if err != nil {
					return nil, err
				}
				pairs, _ := s.pairs() // none where values are not listed
				for _, pair := range pairs {
					l.listed = append(l.listed, pair[0][0], pair[1][0])
				}
				return make(l, nil)
			})
		} else {
			out = append(out, func() (*Design, error) {
				v, err := newVector(d, part.epsilon, 0)
				return make(v, err)
			})
			if part.delta > 0 {
				out = append(out, func() (*Design, error) {
					v, err := newVector(d, part.epsilon, part.delta)
					return make(v, err)
				})
			}
		}

		out = append(out, func() (*Design, error) {
			l, err := newListed(s, part.epsilon)
			return make(l, err)
		})
	}
	return out
}

// roomy reports a class of which no row could be taken.
func (d *Design) roomy() error {
	for _, c := range d.Classes {
		// Noisy counts say at least what the range says.
		if d.known.most(c.Least) < 1 || c.Least < 2 {
			of := ""
			if d.public != nil {
				of = ", of the rows of its cell,"
			}
			return fmt.Errorf("class %s: of a class that may have only %d rows none can be taken%s; let the ranges "+
				"of the secrets leave it more rows, or write twin: {smallest: SHARE}%s if everybody may know that it "+
				"has them",
				c.Name, c.Least, d.known.inError(), of)
		}
	}
	return nil
}

// String says what K is.
func (d *Design) String() string { return d.noise.String() }

// Covers reports whether the promise speaks of a table with these counts. About others nothing is promised, and the
// DBA, and nobody else, is to be told.
func (d *Design) Covers(counts []int64) bool { return d.fits(counts) == nil && d.noise.covers(counts) }

// fits checks the shape of counts.
func (d *Design) fits(counts []int64) error {
	if len(counts) != len(d.Classes) {
		return fmt.Errorf("counts of %d classes, not %d", len(d.Classes), len(counts))
	}

	totals := make([]int64, len(d.cells))
	for c, n := range counts {
		if n < 0 || n > d.Rows {
			return fmt.Errorf("a class has %d rows, and the policy says that the table has %d: write after rows: how "+
				"many it has", n, d.Rows)
		}
		totals[d.Classes[c].Cell] += n
	}

	// Everybody knows how many rows a cell has, and so the counts must add up to that.
	for i, cell := range d.cells {
		switch {
		case totals[i] == cell.Rows:
		case d.public == nil:
			return fmt.Errorf("the classes have %d rows, and the policy says that the table has %d: write rows: "+
				"%[1]d, if everybody may know it", totals[i], d.Rows)
		default:
			return fmt.Errorf("%d rows have %s, and the policy says that everybody knows of %d",
				totals[i], d.public.name(cell), cell.Rows)
		}
	}
	return nil
}

// Draw draws the noisy counts of a table with these counts: Ñ of K. They are what the twin tells of the secret, once;
// to draw again is to pay again. The random bytes must be secret, and unpredictable.
func (d *Design) Draw(random io.Reader, counts []int64) ([]int64, error) {
	if err := d.fits(counts); err != nil {
		return nil, err
	}
	i := mechanism.NewIntegers(random, d.noise.draws())
	noisy := d.noise.draw(i, counts)
	if err := i.Err(); err != nil {
		return nil, err
	}
	return noisy, d.fits(noisy)
}

// Take says how many rows of each class are taken: S of the noisy counts, and of nothing else. For every table of the
// promise that can bring them forth it is less than the class has: of a class that is taken whole, who is missing from
// it would show. Where a table has fewer rows, all of them are taken, and nothing is promised.
func (d *Design) Take(noisy []int64) ([]int64, error) {
	if err := d.fits(noisy); err != nil {
		return nil, err
	}
	out := d.take(noisy)
	for c, m := range out {
		if m < 1 || m > noisy[c] {
			return nil, fmt.Errorf("class %s: %d of %d rows would be taken: these noisy counts were not drawn by "+
				"this law", d.Classes[c].Name, m, noisy[c])
		}
	}
	return out, nil
}

func (d *Design) take(noisy []int64) []int64 {
	out := d.noise.least(noisy)
	for c := range out {
		out[c] = min(out[c]-1, d.known.most(out[c]))
	}
	return out
}

// Copies says how often each row of a class stands in the twin: each of the taken ones each times, and more of them, to
// be chosen at random and independently of the order in which they were drawn, once more. In all there are noisy rows.
func Copies(noisy, taken int64) (each, more int64, err error) {
	if taken < 1 || noisy < taken {
		return 0, 0, fmt.Errorf("%d rows cannot stand for %d", taken, noisy)
	}
	return noisy / taken, noisy % taken, nil
}

// Law is the law of the noisy counts of a table with these counts, as Draw draws it, with x in the place of e^(-ε/k) of
// Unit: every probability is a ratio of polynomials in x with whole coefficients, so that a rational x, 0 < x < 1,
// gives rational ones. It is for tests on small tables.
func (d *Design) Law(x *big.Rat, counts []int64) []Outcome { return d.noise.law(x, counts) }

// Unit is the exponent of x in Law: what is drawn has x = e^(-num/den). A pair is hidden as well as x^-steps = e^ε.
func (d *Design) Unit() (num, den uint64, steps int64) {
	num, den = d.noise.unit()
	return num, den, d.noise.steps()
}

// Edition tells laws apart that one Spec has had: it is empty, but where vectors are truncated, in the place of which
// there was noise without bounds. Counts that were drawn by one edition are not for the sizes of another.
func (s Spec) Edition() string {
	// With two classes, or without a delta, no vector is truncated; to choose among laws takes its time.
	if classes, err := s.Classes(); err != nil || len(classes) == 2 || s.Delta == 0 {
		return ""
	}
	if d, err := New(s); err == nil && d.truncated() {
		return "vectors truncated from above"
	}
	return ""
}

func (d *Design) truncated() bool {
	v, ok := d.noise.(*vector)
	return ok && v.most >= 0
}

// Public is what is known exactly of the table that the law is for; nil: nothing but its rows.
func (d *Design) Public() *Public { return d.public }

// Cells are the public cells, by their names for people, with their rows; nil, if there are none.
func (d *Design) Cells() map[string]int64 {
	if d.public == nil {
		return nil
	}
	out := map[string]int64{}
	for _, c := range d.public.Cells {
		out[d.public.name(c)] = c.Rows
	}
	return out
}
