package twin

import (
	"math"
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

// A law that is malformed is refused before anything is drawn by it: whatever a policy may say, and whoever fills a
// Spec without one.
func TestMalformedSpec(t *testing.T) {
	a, b := policy.Value{Text: "a"}, policy.Value{Text: "b"}
	kinds := func(edit func(*Secret)) func(*Spec) {
		return func(s *Spec) {
			s.Secrets[0] = Secret{Secret: policy.Secret{Name: "k", About: policy.AboutDataset, Categories: "kind",
				Vectors: [][2][]policy.Share{{{{Category: a, Proportion: .4}, {Category: b, Proportion: .6}},
					{{Category: a, Proportion: .5}, {Category: b, Proportion: .5}}}}}, Values: []policy.Value{a, b}}
			edit(&s.Secrets[0])
		}
	}
	span := func(from, to, within float64) func(*Spec) {
		return func(s *Spec) { s.Secrets[0].Spans = []policy.Span{{From: from, To: to, Within: within}} }
	}
	for name, c := range map[string]struct {
		want string
		edit func(*Spec)
	}{
		"sound":                 {"", func(*Spec) {}},
		"sound kinds":           {"", kinds(func(*Secret) {})},
		"no rows":               {"it takes 1 to", func(s *Spec) { s.Rows = 0 }},
		"too many rows":         {"it takes 1 to", func(s *Spec) { s.Rows = maxRows + 1 }},
		"no epsilon":            {"epsilon is above 0", func(s *Spec) { s.Epsilon = 0 }},
		"epsilon NaN":           {"epsilon is above 0", func(s *Spec) { s.Epsilon = math.NaN() }},
		"epsilon infinite":      {"epsilon is above 0", func(s *Spec) { s.Epsilon = math.Inf(1) }},
		"delta NaN":             {"delta of a twin", func(s *Spec) { s.Delta = math.NaN() }},
		"delta below 0":         {"delta of a twin", func(s *Spec) { s.Delta = -1e-9 }},
		"delta a half":          {"delta of a twin", func(s *Spec) { s.Delta = .5 }},
		"smallest NaN":          {"a share below 1", func(s *Spec) { s.Smallest = math.NaN() }},
		"smallest 1":            {"a share below 1", func(s *Spec) { s.Smallest = 1 }},
		"about nothing":         {"which is not known", func(s *Spec) { s.Secrets[0].About = "" }},
		"span from below 0":     {"none of a proportion", span(-.1, .5, .1)},
		"span to above 1":       {"none of a proportion", span(.2, 1.1, .1)},
		"span upside down":      {"none of a proportion", span(.5, .2, .1)},
		"span within NaN":       {"none of a proportion", span(.2, .5, math.NaN())},
		"span within 0":         {"none of a proportion", span(.2, .5, 0)},
		"span within too much":  {"none of a proportion", span(.2, .5, .4)},
		"no pairs":              {"has pairs of values", func(s *Spec) { s.Secrets[0].Spans = nil }},
		"one kind":              {"fewer than two values", kinds(func(s *Secret) { s.Values = s.Values[:1] })},
		"kinds without pairs":   {"one of the two", kinds(func(s *Secret) { s.Vectors = nil })},
		"kinds with a span":     {"one of the two", kinds(func(s *Secret) { s.Spans = []policy.Span{{To: 1}} })},
		"kinds that are NULL":   {"one of the two", kinds(func(s *Secret) { s.Nullable = true })},
		"a kind that is no one": {"is no value of column", kinds(func(s *Secret) { s.Values[1].Text = "c" })},
	} {
		s := Spec{Rows: 1000, Epsilon: 1, Smallest: .1,
			Secrets: []Secret{proportion(policy.Span{From: .2, To: .5, Within: .1})}}
		c.edit(&s)
		switch _, err := New(s); {
		case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", name, err)
		case err == nil && c.want != "":
			t.Errorf("%s: taken", name)
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
