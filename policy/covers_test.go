package policy

import "testing"

// What was hidden for one law of a secret is hidden for another that has no pair besides.
func TestSecretsCover(t *testing.T) {
	spans := func(listed bool, s ...Span) Secret { return Secret{Spans: s, Listed: listed} }
	share := func(p float64) []Share { return []Share{{Value{Text: "a"}, p}, {Value{Text: "b"}, 1 - p}} }
	vectors := func(a, b float64) Secret { return Secret{Vectors: [][2][]Share{{share(a), share(b)}}} }
	simplex := func(r SimplexRange) Secret { return Secret{Range: &r} }
	distribution := spans(false, Span{.1, .6, .05})
	distribution.About = AboutDistribution

	for _, c := range []struct {
		name       string
		of, others Secret
		want       bool
	}{
		{"the same", spans(false, Span{.1, .6, .05}), spans(false, Span{.1, .6, .05}), true},
		{"narrower", spans(false, Span{.1, .6, .05}), spans(false, Span{.2, .5, .04}), true},
		{"farther apart", spans(false, Span{.1, .6, .05}), spans(false, Span{.1, .6, .06}), false},
		{"from less", spans(false, Span{.1, .6, .05}), spans(false, Span{.09, .6, .05}), false},
		{"to more", spans(false, Span{.1, .6, .05}), spans(false, Span{.1, .61, .05}), false},
		{"one span more", spans(false, Span{.1, .2, .05}), spans(false, Span{.1, .2, .05}, Span{.4, .5, .05}), false},
		{"a pair of the range", spans(false, Span{.1, .6, .05}), spans(true, Span{.25, .3, .05}), true},
		{"a pair too far apart", spans(false, Span{.1, .6, .05}), spans(true, Span{.2, .3, .1}), false},
		{"one of the pairs", spans(true, Span{.2, .3, .1}, Span{.4, .5, .1}), spans(true, Span{.4, .5, .1}), true},
		{"what is between a pair", spans(true, Span{.2, .3, .1}), spans(false, Span{.2, .3, .1}), false},
		{"another pair", spans(true, Span{.2, .3, .1}), spans(true, Span{.2, .25, .05}), false},
		{"a distribution", spans(false, Span{.1, .6, .05}), distribution, false},
		{"vectors turned round", vectors(.2, .3), vectors(.3, .2), true},
		{"other vectors", vectors(.2, .3), vectors(.2, .25), false},
		{"a simplex", simplex(SimplexRange{.1, .6, .05}), simplex(SimplexRange{.2, .6, .05}), true},
		{"a wider simplex", simplex(SimplexRange{.1, .6, .05}), simplex(SimplexRange{.1, .6, .1}), false},
		{"a simplex where there was none", vectors(.2, .3), simplex(SimplexRange{.1, .6, .1}), false},
	} {
		if got := c.of.Covers(c.others); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
