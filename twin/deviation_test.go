package twin

import (
	"math"
	"math/rand/v2"
	"testing"

	"fugu/policy"
)

// What an analyst is told of the error of a statistic covers both what the drawing of rows and what the noise of the
// secret bring about: over 2,000 builds by each of five laws, the mean square of the error in the standard deviation
// that goes with it is about 1, for groups that the secret makes, and for those that cut across it.
//
// The errors are Laplace's at worst, whose squares have a standard deviation of √5, so that the mean of 2,000 has one
// of .05; the estimate itself, from the twin's own rows, is off by .1 or so. Bounds of .7 and 1.35 are five standard
// deviations beyond that; and the seeds are fixed. Without the noise's part the groups of the secret are beyond 4.
func TestDeviationCovers(t *testing.T) {
	const rows, builds = 4000, 2000
	proportion := func(s policy.Secret) Secret { return Secret{Secret: s} }
	secret := policy.Secret{Name: "ill", Proportion: "ill", About: policy.AboutDataset,
		Spans: []policy.Span{{From: .1, To: .6, Within: .02}}}
	nullable := proportion(secret)
	nullable.Nullable = true
	pair := secret
	pair.Spans, pair.Listed = []policy.Span{{From: .25, To: .3, Within: .05}}, true
	sexes := &Public{Columns: []string{"sex"}, Cells: []Cell{
		{Values: []policy.Value{{Text: "f"}}, Rows: 1500}, {Values: []policy.Value{{Text: "m"}}, Rows: 2500}}}
	for name, law := range map[string]struct {
		Spec
		counts []int64
	}{
		"a range":       {Spec{Secrets: []Secret{proportion(secret)}, Delta: .001}, []int64{1400, 2600}},
		"with δ = 0":    {Spec{Secrets: []Secret{proportion(secret)}}, []int64{1400, 2600}},
		"a listed pair": {Spec{Secrets: []Secret{proportion(pair)}}, []int64{1000, 3000}},
		"NULL":          {Spec{Secrets: []Secret{nullable}, Delta: .001, Smallest: .05}, []int64{1400, 1800, 800}},
		"public, a cell": {Spec{Secrets: []Secret{proportion(secret)}, Delta: .001, Smallest: .1, Public: sexes},
			[]int64{600, 900, 800, 1700}},
	} {
		t.Run(name, func(t *testing.T) {
			law.Rows, law.Epsilon = rows, 1
			d, err := New(law.Spec)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, %d builds", d, builds)
			found := deviations(t, d, law.counts, builds)
			for _, s := range statistics {
				what, z := s.name, found[s.name]
				t.Logf("%-28s mean square %.3f; %.3f without the noise's part", what, z.both, z.drawing)
				if !(z.both > .7 && z.both < 1.35) {
					t.Errorf("%s: the mean square of errors in their standard deviations is %.3f", what, z.both)
				}
				if s.bySecret && z.drawing < 4 {
					t.Errorf("%s: drawing alone would explain it: %.3f", what, z.drawing)
				}
			}
		})
	}
}

// mean is of squares of errors in their standard deviations.
type mean struct{ both, drawing float64 }

// statistic is of a group: of some part of each class, the count, the sum or the average of x.
type statistic struct {
	name     string
	share    func(class int) float64 // of the class, which is in the group
	of       func(x float64, count, sum float64) (part float64)
	value    func(count, sum float64) float64
	bySecret bool
}

var statistics = []statistic{
	{"rows of the first class", only(1), one, count, true},
	{"half of the first class", only(.5), one, count, true},
	{"a tenth of all classes", evenly(.1), one, count, false},
	{"more of the first class", more, one, count, false},
	{"a sum over half of it", only(.5), func(x, _, _ float64) float64 { return x }, sum, true},
	{"an average over all", evenly(.5), deviate, average, false},
}

func only(share float64) func(int) float64 {
	return func(class int) float64 {
		if class == 0 {
			return share
		}
		return 0
	}
}
func evenly(share float64) func(int) float64 { return func(int) float64 { return share } }
func more(class int) float64                 { return .1 + only(.2)(class) }
func one(_, _, _ float64) float64            { return 1 }
func deviate(x, count, sum float64) float64  { return (x - sum/count) / count }
func count(count, _ float64) float64         { return count }
func sum(_, sum float64) float64             { return sum }
func average(count, sum float64) float64     { return sum / count }

// deviations builds twins of a table, and compares their statistics with the table's.
func deviations(t *testing.T, d *Design, counts []int64, builds int) map[string]*mean {
	r := rand.NewChaCha8([32]byte{7})
	random := rand.New(r)
	x := make([][]float64, len(counts)) // higher in the first class than in others
	for c, rows := range counts {
		x[c] = make([]float64, rows)
		for i := range x[c] {
			x[c][i] = 20*random.Float64() + 40/float64(1+c)
		}
	}

	out := map[string]*mean{}
	for range builds {
		noisy, err := d.Draw(r, counts)
		if err != nil {
			t.Fatal(err)
		}
		take, err := d.Take(noisy)
		if err != nil {
			t.Fatal(err)
		}
		stands := make([][]float64, len(counts))
		for c := range counts {
			stands[c] = make([]float64, counts[c])
			each, more, err := Copies(noisy[c], take[c])
			if err != nil {
				t.Fatal(err)
			}
			for place, i := range random.Perm(int(counts[c]))[:take[c]] {
				if stands[c][i] = float64(each); int64(place) < more {
					stands[c][i]++
				}
			}
		}

		noise := d.NoiseOf(noisy)
		for _, s := range statistics {
			if out[s.name] == nil {
				out[s.name] = &mean{}
			}
			m := out[s.name]
			off, dev := s.compare(d, noisy, take, noise, x, stands)
			m.both += math.Pow(off/dev.Both(), 2) / float64(builds)
			m.drawing += math.Pow(off/dev.Drawing, 2) / float64(builds)
		}
	}
	return out
}

// compare says how far a statistic is off in a twin whose rows stand so often, and how far it is said to be.
func (s statistic) compare(d *Design, noisy, take []int64, noise []float64, x, stands [][]float64) (off float64,
	said Deviation) {
	var trueCount, trueSum, toldCount, toldSum float64
	for c := range x {
		for i := range int(s.share(c) * float64(len(x[c]))) {
			w := stands[c][i]
			trueCount, trueSum = trueCount+1, trueSum+x[c][i]
			toldCount, toldSum = toldCount+w, toldSum+w*x[c][i]
		}
	}
	parts := make([]Part, len(x))
	for c := range x {
		for i := range int(s.share(c) * float64(len(x[c]))) {
			v := s.of(x[c][i], toldCount, toldSum)
			parts[c].Sum += stands[c][i] * v
			parts[c].Squares += stands[c][i] * v * v
		}
	}
	off = s.value(toldCount, toldSum) - s.value(trueCount, trueSum)
	return off, DeviationOf(noisy, take, noise, len(d.Classes)/len(d.cells), parts)
}
