package twin

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"fugu/policy"
)

// content is the law of what the rows of one class hold: 'a' or 'b'. It is a law of whole classes, so that rows need
// not be independent.
type content func(class int, rows string) *big.Rat

// independent rows hold 'a' with a probability of their class's own.
func independent(class int, rows string) *big.Rat {
	p := []*big.Rat{big.NewRat(1, 3), big.NewRat(3, 5), big.NewRat(1, 4), big.NewRat(5, 7)}[class]
	out := big.NewRat(1, 1)
	for _, r := range rows {
		if r == 'a' {
			out.Mul(out, p)
		} else {
			out.Mul(out, new(big.Rat).Sub(big.NewRat(1, 1), p))
		}
	}
	return out
}

// drawn rows are some of a population of 10 of their class, without replacement.
func drawn(class int, rows string) *big.Rat {
	a, b := int64(3+class), int64(7-class)
	out := big.NewRat(1, 1)
	for _, r := range rows {
		left := &b
		if r == 'a' {
			left = &a
		}
		out.Mul(out, big.NewRat(max(0, *left), a+b))
		*left--
	}
	return out
}

// fault is a mistake in the making of a twin.
type fault int

const (
	none        fault = iota
	oneMore           // one row more is taken than there may be
	weightsOfN        // rows stand for N and not for Ñ
	conditioned       // noise is drawn again until it is within the range
	unbounded         // noise is not truncated, and sizes are as if it were
	tableOrder        // the first rows of the table are taken, and it is in the order of the contents
	oneCell           // only the first public cell has noise
)

// world is everything that is published of a table with these counts, with its probability: Ñ, how often the rows of
// each class stand, and what the rows taken hold. It goes through every table and every choice of rows.
func world(d *Design, x *big.Rat, counts []int64, rows content, f fault) map[string]*big.Rat {
	out := map[string]*big.Rat{}
	for _, o := range d.faultyLaw(x, counts, f) {
		if o.Counts == nil {
			out["the rest of a law without bounds"] = o.Probability
			continue
		}
		taken := d.take(o.Counts)
		published := map[string]*big.Rat{fmt.Sprint(o.Counts): o.Probability}
		for c, m := range taken {
			if f == oneMore {
				m += 2 // of a class that is as small as it can be all and one more: to take all tells nothing by itself
			}
			if m = min(m, counts[c]); m < 0 {
				panic("no class has fewer than no rows taken of it")
			}
			stands := o.Counts[c]
			if f == weightsOfN {
				stands = counts[c]
			}
			next := map[string]*big.Rat{}
			for seen, p := range sampled(c, counts[c], m, rows, f) {
				for before, q := range published {
					key := before + fmt.Sprintf(" %d/%d %s", stands, m, seen)
					if next[key] == nil {
						next[key] = new(big.Rat)
					}
					next[key].Add(next[key], new(big.Rat).Mul(p, q))
				}
			}

			published = next
		}
		for key, p := range published {
			if out[key] == nil {
				out[key] = new(big.Rat)
			}
			out[key].Add(out[key], p)
		}
	}
	return out
}

// sampled is the law of what m rows of a class of n hold, in any order: every content of the class, and every choice of
// m.
func sampled(class int, n, m int64, rows content, f fault) map[string]*big.Rat {
	out := map[string]*big.Rat{}
	choices := new(big.Int).Binomial(n, m)
	for text := range 1 << n {
		table := make([]byte, n)
		for i := range table {
			table[i] = "ab"[text>>i&1]
		}
		p := rows(class, string(table))
		for choice := range 1 << n {
			var seen []byte
			for i := range table {
				if choice>>i&1 == 1 {
					seen = append(seen, table[i])
				}
			}

			if int64(len(seen)) != m {
				continue
			}
			if f == tableOrder {
				seen = slices.Sorted(slices.Values(table))[:m]
			}
			key := fmt.Sprint(strings.Count(string(seen), "a"))
			if out[key] == nil {
				out[key] = new(big.Rat)
			}
			out[key].Add(out[key], new(big.Rat).Quo(p, new(big.Rat).SetInt(choices)))
		}
	}
	return out
}

// faultyLaw is Law with a fault in it.
func (d *Design) faultyLaw(x *big.Rat, counts []int64, f fault) []Outcome {
	l, ok := d.noise.(*laplace)
	v, vectors := d.noise.(*vector)
	switch {
	case f == unbounded && vectors:
		untruncated := *v
		untruncated.most = -1
		return untruncated.law(x, counts)
	case f == oneCell:
		first := *v
		first.cells, first.classes = v.cells[:1], v.classes[:v.group()]
		out := first.law(x, counts[:v.group()])
		for i := range out {
			if out[i].Counts != nil {
				out[i].Counts = append(out[i].Counts, counts[v.group():]...)
			}
		}

		return out
	case f == unbounded && ok:
		untruncated := *l
		untruncated.most = -1
		return untruncated.law(x, counts)
	case f == conditioned && ok:
		weights, total := map[int64]*big.Rat{}, new(big.Rat)
		for first := l.in[0].Least; first <= l.in[0].Most; first++ {
			if y := abs(first - counts[0]); l.most < 0 || y <= l.most {
				weights[first] = power(x, y)
				total.Add(total, weights[first])
			}
		}

		return normalised(weights, total, func(first int64) []int64 { return []int64{first, l.n - first} })
	}
	return d.Law(x, counts)
}

// beyond is Σ (P - e^ε Q)₊, the least δ with which P is not told from Q.
func beyond(p, q map[string]*big.Rat, factor *big.Rat) *big.Rat {
	out := new(big.Rat)
	for key, a := range p {
		over := new(big.Rat).Set(a)
		if b := q[key]; b != nil {
			over.Sub(over, new(big.Rat).Mul(factor, b))
		}
		if over.Sign() > 0 {
			out.Add(out, over)
		}
	}
	return out
}

// tablesOf lists all counts that the promise speaks of.
func tablesOf(d *Design) (out [][]int64) {
	var each func(counts []int64, left int64)
	each = func(counts []int64, left int64) {
		if len(counts) == len(d.Classes)-1 {
			if all := append(slices.Clone(counts), left); left >= 0 && d.Covers(all) {
				out = append(out, all)
			}
			return
		}
		for n := range left + 1 {
			each(append(slices.Clone(counts), n), left-n)
		}
	}
	each(nil, d.Rows)
	return out
}

// paired reports whether two tables are a pair of the policy.
func paired(d *Design, a, b []int64) bool {
	if l, ok := d.noise.(*listed); ok {
		return l.distance[l.nearest(a)][l.nearest(b)] == 1
	}
	return moved(a, b) > 0 && moved(a, b) <= d.move()
}

func (d *Design) move() int64 {
	switch n := d.noise.(type) {
	case *laplace:
		return n.move
	case *vector:
		return n.move
	}
	return 0
}

// excess is the largest δ that any pair of the policy has at e^ε = x^-steps, less the δ that is promised, and how many
// pairs there were.
func excess(d *Design, x *big.Rat, rows content, f fault) (*big.Rat, int) {
	_, _, steps := d.Unit()
	factor := new(big.Rat).Inv(power(x, steps))
	tables := tablesOf(d)
	worlds := make([]map[string]*big.Rat, len(tables))
	for i, counts := range tables {
		worlds[i] = world(d, x, counts, rows, f)
	}
	worst, pairs := big.NewRat(-1, 1), 0
	for i, a := range tables {
		for j, b := range tables {
			if !paired(d, a, b) {
				continue
			}
			pairs++
			if over := beyond(worlds[i], worlds[j], factor); over.Cmp(worst) > 0 {
				worst = over
			}
		}
	}
	return worst.Sub(worst, new(big.Rat).SetFloat64(d.NoiseDelta)), pairs
}

// small are the designs whose laws are gone through: up to 7 rows, every form of secret, and x = e^(-ε/k) as a
// fraction.
func small(t *testing.T, x *big.Rat, delta float64) map[string]*Design {
	t.Helper()
	out := map[string]*Design{}
	add := func(name string, s Spec, steps int64) {
		f, _ := x.Float64()
		s.Epsilon, s.Delta = -math.Log(f)*float64(steps), delta
		d, err := New(s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		out[name] = d

		// What New does not choose has to hold as well.
		domain, err := s.domain()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.candidates(domain) {
			if d, err := c(); err == nil && d.noise.steps() == steps {
				out[fmt.Sprintf("%s, by %T", name, d.noise)] = d
			}
		}
		if _, _, got := d.Unit(); got != steps {
			delete(out, name) // its x is another, and it is gone through where that is meant
		}
	}
	span := func(from, to, within float64) policy.Span { return policy.Span{From: from, To: to, Within: within} }
	for n := int64(4); n <= 7; n++ {
		f := float64(n)
		for k := int64(1); k <= n-4; k++ {
			add(fmt.Sprintf("range of %d rows, %d apart", n, k),
				Spec{Rows: n, Secrets: []Secret{proportion(span(2/f, 1-2/f, float64(k)/f))}}, k)
		}
	}

	pairs := func(spans ...policy.Span) Secret {
		s := proportion(spans...)
		s.Listed = true
		return s
	}
	wide := Spec{Rows: 9, Secrets: []Secret{proportion(span(2./9, 7./9, 1./9))}}
	if delta == 0.2 {
		add("a wide range", wide, 1)
		return out
	}

	add("a pair", Spec{Rows: 7, Secrets: []Secret{pairs(span(2./7, 5./7, 3./7))}}, 1)
	add("a triangle", Spec{Rows: 7, Secrets: []Secret{pairs(span(2./7, 3./7, 1./7), span(3./7, 5./7, 2./7),
		span(2./7, 5./7, 3./7))}}, 1)
	add("a path", Spec{Rows: 7, Secrets: []Secret{pairs(span(2./7, 3./7, 1./7), span(3./7, 5./7, 2./7))}}, 2)
	nullable := proportion(span(2./7, 3./7, 1./7))
	nullable.Nullable = true
	add("NULL", Spec{Rows: 7, Smallest: 2. / 7, Secrets: []Secret{nullable}}, 1)
	kinds := Secret{Values: []policy.Value{{Text: "a"}, {Text: "b"}, {Text: "c"}},
		Secret: policy.Secret{Name: "s", About: policy.AboutDataset, Categories: "kind",
			Range: &policy.SimplexRange{From: 2. / 7, To: 1, Within: 1. / 7}}}
	add("categories", Spec{Rows: 7, Secrets: []Secret{kinds}}, 1)
	return out
}

// The law, exhaustively: Ñ and the rows taken, under every pair of every small table, are within e^ε and δ, exactly, in
// rational numbers. At δ = 0, with noise without bounds, and at δ = .1.
func TestLawExhaustively(t *testing.T) {
	laws, pairs := 0, 0
	for _, x := range []*big.Rat{big.NewRat(1, 10), big.NewRat(1, 2), big.NewRat(9, 10)} {
		for _, delta := range []float64{0, .1} {
			for name, d := range small(t, x, delta) {
				for source, rows := range map[string]content{"independent": independent, "drawn": drawn} {
					over, n := excess(d, x, rows, none)
					if n == 0 {
						t.Errorf("%s: no pairs", name)
					}
					if laws, pairs = laws+1, pairs+n; over.Sign() > 0 {
						t.Errorf("%s, x = %v, δ = %v, %s rows: over by %s", name, x, delta, source, over.FloatString(6))
					}
				}
			}
		}
	}
	t.Logf("%d laws, %d ordered pairs", laws, pairs)
}

// Each fault is found in some law, where none is without it.
func TestLawFindsFaults(t *testing.T) {
	x := big.NewRat(1, 10)
	for _, c := range []struct {
		fault fault
		name  string
		law   string
		delta float64
	}{
		{oneMore, "one row more", "range of 7 rows, 1 apart", 0},
		{oneMore, "one row more, of a pair", "a pair, by *twin.listed", 0},
		{oneMore, "one row more, of categories", "categories", 0},
		{weightsOfN, "weights of N", "range of 7 rows, 1 apart", .1},
		{conditioned, "noise drawn again until it is in the range", "range of 7 rows, 1 apart", 0},
		{unbounded, "noise without bounds", "a wide range", .2},
		{tableOrder, "rows in table order", "range of 7 rows, 1 apart", 0},
	} {
		x := x
		if c.fault == unbounded {
			x = big.NewRat(9, 10)
		}
		d := small(t, x, c.delta)[c.law]
		if over, _ := excess(d, x, independent, none); over.Sign() > 0 {
			t.Fatalf("%s: over by %s without a fault", c.law, over.FloatString(6))
		}
		if over, _ := excess(d, x, independent, c.fault); over.Sign() <= 0 {
			t.Errorf("%s is not found", c.name)
		} else {
			t.Logf("%s: over by %s", c.name, over.FloatString(6))
		}
	}
}
