package twin

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"fugu/policy"
)

// listedKinds is a secret of three kinds with one pair of vectors.
func listedKinds(about policy.About, from, to [3]float64) Secret {
	values := []policy.Value{{Text: "a"}, {Text: "b"}, {Text: "c"}}
	shares := func(v [3]float64) (out []policy.Share) {
		for i, p := range v {
			out = append(out, policy.Share{Category: values[i], Proportion: p})
		}
		return out
	}
	return Secret{Values: values, Secret: policy.Secret{Name: "kind", About: about, Categories: "kind",
		Vectors: [][2][]policy.Share{{shares(from), shares(to)}}}}
}

// A pair of vectors beside another secret differs by at least as many rows as any two tables do whose counts are whole
// rows next to those of the vectors, and by no more than a row of each kind besides; all of these tables are within the
// bounds.
func TestHowManyRowsOfKindsMove(t *testing.T) {
	beside := proportion(policy.Span{From: .2, To: .5, Within: .01})
	for _, n := range []int64{97, 100, 1003} {
		from, to := [3]float64{.5, .3, .2}, [3]float64{.25, .35, .4}
		s := Spec{Rows: n, Epsilon: 1, Secrets: []Secret{beside, listedKinds(policy.AboutDataset, from, to)}}
		d, err := s.domain()
		if err != nil {
			t.Fatal(err)
		}

		tables := func(shares [3]float64) (out [][]int64) {
			near := func(p float64) int64 { return int64(math.Floor(float64(n)*p + 1e-9)) }
			for a := near(shares[0]); a <= near(shares[0])+1; a++ {
				for b := near(shares[1]); b <= near(shares[1])+1; b++ {
					if c := n - a - b; math.Abs(float64(c)-float64(n)*shares[2]) <= 1 {
						out = append(out, []int64{a, b, c})
					}
				}
			}
			return out
		}
		most := int64(0)
		for _, a := range tables(from) {
			for _, b := range tables(to) {
				most = max(most, moved(a, b))
			}
			for _, total := range d.totals {
				if total.secret == 1 && (a[total.outcome] < total.least || a[total.outcome] > total.most) {
					t.Errorf("%d rows: %d of outcome %d is outside of %+v", n, a[total.outcome], total.outcome, total)
				}
			}
		}
		if d.move < most || d.move > most+3 {
			t.Errorf("%d rows: a pair differs by %d, and %d are counted", n, most, d.move)
		}
	}
}

// About a distribution a row changes its kind with the total variation of the two vectors: more rows than are counted
// change by the binomial law with at most the chance that is set aside, and a deviation less would be too few.
func TestHowManyRowsOfADistributionMove(t *testing.T) {
	s := Spec{Rows: 5000, Epsilon: 1, Delta: .001, Secrets: []Secret{listedKinds(policy.AboutDistribution,
		[3]float64{.5, .3, .2}, [3]float64{.25, .35, .4})}}
	d, err := s.domain()
	if err != nil {
		t.Fatal(err)
	}
	each, law := s.chances().each, distuv.Binomial{N: 5000, P: .25}
	if beyond := law.Survival(float64(d.move)); beyond > each {
		t.Errorf("more than %d rows change with a chance of %g, and %g is set aside", d.move, beyond, each)
	}
	if beyond := law.Survival(float64(d.move) - law.StdDev()); beyond < each {
		t.Errorf("%d rows are counted, and a deviation less is beyond with a chance of %g of %g", d.move, beyond, each)
	}
}

// Only of one secret with listed pairs that is about all rows of the table itself are the counts listed: whatever else
// is to be hidden has another law.
func TestWhatIsNotListed(t *testing.T) {
	listed := proportion(policy.Span{From: .2, To: .3, Within: .1})
	listed.Listed = true
	kinds := listedKinds(policy.AboutDataset, [3]float64{.5, .3, .2}, [3]float64{.25, .35, .4})
	for name, c := range map[string]struct {
		is   bool
		edit func(*Spec)
	}{
		"a proportion":   {true, func(*Spec) {}},
		"kinds":          {true, func(s *Spec) { s.Secrets = []Secret{kinds} }},
		"two secrets":    {false, func(s *Spec) { s.Secrets = []Secret{listed, kinds} }},
		"with a public":  {false, func(s *Spec) { s.Public = publicly(60, 40) }},
		"with NULL":      {false, func(s *Spec) { s.Secrets[0].Nullable = true }},
		"a distribution": {false, func(s *Spec) { s.Secrets[0].About = policy.AboutDistribution }},
		"a range":        {false, func(s *Spec) { s.Secrets[0].Listed = false }},
		"a range of kinds": {false, func(s *Spec) {
			kinds := kinds
			kinds.Vectors, kinds.Range = nil, &policy.SimplexRange{From: .1, To: .8, Within: .1}
			s.Secrets = []Secret{kinds}
		}},
	} {
		s := Spec{Rows: 100, Epsilon: 1, Secrets: []Secret{listed}}
		c.edit(&s)
		if _, err := newListed(s, 1); (err == nil) != c.is || err != nil && !errors.Is(err, errNotListed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// From each listed value the law of what is told adds up to 1, and no value is told of another component.
func TestListedValuesHaveALaw(t *testing.T) {
	span := func(from, to float64) policy.Span { return policy.Span{From: from, To: to, Within: to - from} }
	secret := proportion(span(.1, .2), span(.2, .3), span(.6, .7)) // a path of three, and a pair
	secret.Listed = true
	l, err := newListed(Spec{Rows: 100, Epsilon: 1, Secrets: []Secret{secret}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for from, v := range l.values {
		total := 0.
		for to, w := range l.values {
			p := math.Exp(l.logarithm(from, to))
			if total += p; (p > 0) != ((v[0] < 50) == (w[0] < 50)) {
				t.Errorf("%v is told as %v with a probability of %g", v, w, p)
			}
		}
		if math.Abs(total-1) > 1e-12 {
			t.Errorf("the probabilities of what is told of %v add up to %v", v, total)
		}
	}
}

// The law of a class's count in two tables adds up to 1 in both, has no negative probability, and is about the count.
func TestMarginalOfVectors(t *testing.T) {
	s := Spec{Rows: 1000, Epsilon: 9, Delta: .01, Smallest: .05, Secrets: []Secret{listedKinds(policy.AboutDataset,
		[3]float64{.5, .3, .2}, [3]float64{.45, .35, .2}), proportion(policy.Span{From: .2, To: .5, Within: .05})}}
	d, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	v, ok := d.noise.(*vector)
	if !ok || v.most < 0 || v.group() < 4 {
		t.Fatalf("%s is no truncated law of many classes: the test shows nothing", d)
	}
	const count, other = 300, 340
	var p, q, about float64
	for _, b := range v.marginal(count, other) {
		if b.p < 0 || b.q < 0 {
			t.Errorf("up to %d with a probability of %g and %g", b.count, b.p, b.q)
		}
		p, q, about = p+b.p, q+b.q, about+b.p*float64(b.count-count)
	}
	if math.Abs(p-1) > 1e-9 || math.Abs(q-1) > 1e-9 || math.Abs(about) > 1 {
		t.Errorf("the probabilities add up to %v and %v, and the mean is off by %v", p, q, about)
	}
}
