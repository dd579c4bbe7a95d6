package sensitivity

import (
	"context"
	"errors"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"fugu/privacy"
)

// nested draws the covariance of counts by two keys, by each of them and of all rows, as GROUP BY CUBE has them: the
// finest groups are independent, the others their sums. The noise has the variance 1.
func nested(r *rand.Rand, a, b int) Covariance {
	var c Covariance
	total := 0.0
	rows, columns := make([]float64, a), make([]float64, b)
	fine := make([]float64, a*b)
	for i := range fine {
		fine[i] = 1 + 9*r.Float64()
		rows[i/b] += fine[i]
		columns[i%b] += fine[i]
		total += fine[i]
	}

	for _, list := range [][]float64{fine, rows, columns, {total}} {
		for _, v := range list {
			c.Blocks = append(c.Blocks, Block{1, []float64{v + 1}})
		}
	}
	last := a*b + a + b
	for i, v := range fine {
		c.Off = append(c.Off, Entry{i, a*b + i/b, v}, Entry{i, a*b + a + i%b, v}, Entry{i, last, v})
	}
	for i, v := range rows {
		for j := range columns {
			c.Off = append(c.Off, Entry{a*b + i, a*b + a + j, fine[i*b+j]})
		}
		c.Off = append(c.Off, Entry{a*b + i, last, v})
	}

	for j, v := range columns {
		c.Off = append(c.Off, Entry{a*b + a + j, last, v})
	}
	return c
}

// K of covariances with entries between blocks, with rank-one terms and a movement, is that of the dense matrices.
func TestEliminationOfNestedGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		a, b := 3+r.IntN(5), 2+r.IntN(4)
		p, q := nested(r, a, b), nested(r, a, b)
		m := p.Len()
		v := vectors(r, m, 2)
		p.Low, q.Low = []RankOne{{.5, v[0]}}, []RankOne{{.2, v[0]}}
		e := experiment(t, nil, 0, &Pair{p, q, v[1]})
		rho, shift := spectrum(t, p, q, v[1])
		for range 10 {
			s := complex(math.Exp(2*r.Float64()-4), 20*r.NormFloat64())
			want, inside := complex(0, 0), true
			for i, v := range rho {
				d := 1 + s - s*complex(v, 0)
				inside = inside && real(d) > 1e-6
				want += (-cmplx.Log(d) - s*complex(math.Log(v), 0) + s*(s+1)*complex(shift[i]*shift[i], 0)/d) / 2
			}

			got, ok := e.smooth(s)
			if !inside || !ok {
				continue
			}
			if cmplx.Abs(got-want) > 1e-8*(1+cmplx.Abs(want)) {
				t.Fatalf("K(%v) = %v, want %v", s, got, want)
			}
		}
	}
}

// Of nested groups the finest go first, and little is filled in: 900 groups and their sums take far from 900³ steps.
// Groups that all meet do.
func TestOrderOfElimination(t *testing.T) {
	c := nested(rand.New(rand.NewPCG(6, 6)), 30, 30)
	m := c.Len()
	if w := newElimination(m, c.meet()).work(); w > 100*float64(m) {
		t.Errorf("%d components take %g multiplications", m, w)
	}
	var all [][2]int
	for i := range 300 {
		for j := range i {
			all = append(all, [2]int{j, i})
		}
	}
	if w := newElimination(300, all).work(); w < 300*300*300/3 {
		t.Errorf("300 components that all meet take %g multiplications", w)
	}
	one := newElimination(4, [][2]int{{1, 3}})
	if one.alone != 2 || !one.holds(4, [][2]int{{1, 3}}) || one.holds(4, [][2]int{{0, 1}}) || one.holds(5, nil) {
		t.Errorf("%+v", one)
	}
}

// What is remembered is what the family says; bounds over it end with the context.
func TestRemember(t *testing.T) {
	span := Span{From: .1, To: .6, Within: .05}
	f := &affine{span: span, at0: variances(10, 20), at1: variances(11, 21)}
	ctx, cancel := context.WithCancel(t.Context())
	kept := Remember(f, ctx.Err)
	for range 2 {
		if got, want := kept.Covariance(.3).Diagonal(), f.Covariance(.3).Diagonal(); got[0] != want[0] ||
			got[1] != want[1] {
			t.Errorf("%v, want %v", got, want)
		}
	}

	r := Release{Gaussian: variances(9, 9), Floor: []float64{9, 9}}
	b := privacy.Budget{Epsilon: 1, Delta: .01}
	one, err := Certify(f, r, b)
	if other, again := Certify(kept, r, b); err != nil || again != nil || one != other {
		t.Errorf("%+v %v, remembered %+v %v", one, err, other, again)
	}
	cancel()
	if _, err := Certify(kept, r, b); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
	bent := Remember(bentBy{bowed{affine: affine{at0: variances(1, 2), at1: variances(1, 2)}, bow: []float64{0, 0}},
		[]float64{1, 2}}, t.Context().Err)
	if x, ok := bent.(Bent); !ok || x.Bend(0, 1)(nil)[1] != 2 || x.Bend(0, 1)(nil)[0] != 1 {
		t.Error("the bend is lost")
	}
}
