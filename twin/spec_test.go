package twin

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"fugu/policy"
)

// What no law can hold is refused with what would do.
func TestRefused(t *testing.T) {
	low := proportion(policy.Span{From: 0, To: .5, Within: .1})
	nullable := proportion(policy.Span{From: .2, To: .5, Within: .1})
	nullable.Nullable = true
	mean := Secret{Secret: policy.Secret{Name: "m", About: policy.AboutDataset, Mean: "age",
		Spans: []policy.Span{{From: 1, To: 2, Within: 1}}}}
	distribution := proportion(policy.Span{From: .2, To: .5, Within: .1})
	distribution.About = policy.AboutDistribution
	for _, c := range []struct {
		want string
		spec Spec
	}{
		{"twin: {smallest: SHARE}", Spec{Rows: 1000, Epsilon: 1, Secrets: []Secret{low}}},
		{"class s=false", Spec{Rows: 1000, Epsilon: 1, Secrets: []Secret{nullable}}},
		{"neither a proportion nor categories", Spec{Rows: 1000, Epsilon: 1, Secrets: []Secret{mean}}},
		{"needs a delta", Spec{Rows: 1000, Epsilon: 1, Secrets: []Secret{distribution}}},
		{"without a secret", Spec{Rows: 1000, Epsilon: 1}},
		{"is at least 0 and below the", Spec{Rows: 10, Epsilon: 1, KnownRows: 10, Secrets: []Secret{low}}},
		{"widen the range", Spec{Rows: 1000, Epsilon: 1, Smallest: .4, Secrets: []Secret{nullable}}},
	} {
		if _, err := New(c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
}

// A secret about a distribution has room for chance: beyond the bounds are fewer tables than its share of δ, by the
// binomial law itself, and rows move further between the values of a pair as seldom.
func TestDistribution(t *testing.T) {
	secret := proportion(policy.Span{From: .1, To: .6, Within: .05})
	secret.About = policy.AboutDistribution
	s := Spec{Rows: 35222, Epsilon: 1, Delta: .001, Secrets: []Secret{secret}}
	d, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	each := s.chances().each
	low := distuv.Binomial{N: 35222, P: .1}.CDF(float64(d.Classes[True].Least - 1))
	high := 1 - distuv.Binomial{N: 35222, P: .6}.CDF(float64(d.Classes[True].Most))
	far := 1 - distuv.Binomial{N: 35222, P: .05}.CDF(float64(d.move()))
	for name, p := range map[string]float64{"below": low, "above": high, "far": far} {
		if !(p <= each) || p < each/100 {
			t.Errorf("%s: probability %g, of %g", name, p, each)
		}
	}

	if d.NoiseDelta+s.chances().all > s.Delta*(1+1e-12) {
		t.Errorf("δ %v of the noise and %v of chance", d.NoiseDelta, s.chances().all)
	}
	t.Logf("%d to %d rows, %d apart", d.Classes[True].Least, d.Classes[True].Most, d.move())
}
