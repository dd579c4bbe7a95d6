package sensitivity

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func atoms(t testing.TB, points [][]float64, weights []float64) Atoms {
	t.Helper()
	a, err := Sample(points)
	if weights != nil {
		a, err = Weighted(points, weights)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func line(x ...float64) (points [][]float64) {
	for _, v := range x {
		points = append(points, []float64{v})
	}
	return points
}

// The example of Chen & Ohrimenko, Figure 1.
func TestClosenessAsPublished(t *testing.T) {
	at := line(1, 2, 3, 100)
	mu, nu := atoms(t, at, []float64{.6, .2, 0, .2}), atoms(t, at, []float64{.4, .3, .2, .1})
	if c, err := WInfinity(mu, nu); err != nil || c.W != 97 || c.Delta > 1e-9 {
		t.Errorf("W∞: %+v, %v, want 97", c, err)
	}
	for _, test := range []struct{ delta, want float64 }{{.1, 1}, {.0999, 97}, {.1999, 1}, {.3, 0}, {.29, 1}} {
		// What a transport by 97, by 1 and by 0 leaves behind.
		left := map[float64]float64{97: 0, 1: .1, 0: .3}[test.want]
		if c, err := Closest(mu, nu, test.delta); err != nil || c.W != test.want || math.Abs(c.Delta-left) > 1e-9 {
			t.Errorf("δ = %g: %+v, %v, want %g but for %g", test.delta, c, err, test.want, left)
		}
	}

	// In whole numbers nothing is rounded.
	mu, errA := Counted(at, []int64{6, 2, 0, 2})
	nu, errB := Counted(at, []int64{4, 3, 2, 1})
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if c, err := WInfinity(mu, nu); err != nil || c.W != 97 || c.Delta != 0 {
		t.Errorf("counted, W∞: %+v, %v", c, err)
	}
	for delta, want := range map[float64]Close{0: {W: 97}, .1: {W: 1, Delta: .1}, .3: {Delta: .3}} {
		if c, err := Closest(mu, nu, delta); err != nil || c.W != want.W || c.Delta != want.Delta {
			t.Errorf("counted, δ = %g: %+v, %v, want %+v", delta, c, err, want)
		}
	}

	// A point that never occurs is none, wherever it stands.
	one, errA := Counted(line(1, 50), []int64{3, 0})
	two, errB := Counted(line(0, 2), []int64{0, 3})
	if c, err := WInfinity(one, two); err != nil || errA != nil || errB != nil || c.W != 1 {
		t.Errorf("beside points that never occur: %+v, %v", c, err)
	}

	// The same in the plane, far from one dimension's code.
	var plane [][]float64
	for _, p := range at {
		plane = append(plane, []float64{7, p[0]})
	}
	mu, nu = atoms(t, plane, []float64{.6, .2, 0, .2}), atoms(t, plane, []float64{.4, .3, .2, .1})
	for delta, want := range map[float64]float64{0: 97, .1: 1, .3: 0} {
		if c, err := Closest(mu, nu, delta); err != nil || c.W != want {
			t.Errorf("plane, δ = %g: %+v, %v, want %g", delta, c, err, want)
		}
	}
}

// assign is the reference: of all ways to match n points with n points, the least (d+1)-th largest distance in the norm
// Σ_k |x_k|/unit_k, and of those the fewest pairs that are further apart than that. A transport of equal masses is a
// mixture of matchings, so this is the least W with all but d/n moved by at most W, and what that leaves behind.
func assign(x, y [][]float64, unit []float64, d int) (best float64, left int) {
	best = math.Inf(1)
	var try func(used int, lengths []float64)
	try = func(used int, lengths []float64) {
		if len(lengths) == len(x) {
			l := slices.Sorted(slices.Values(lengths))
			own := l[len(l)-1-d]
			further := 0
			for _, v := range l {
				if v > own {
					further++
				}
			}
			if own < best || own == best && further < left {
				best, left = own, further
			}
			return
		}
		for j := range y {
			if used>>j&1 == 0 {
				sum := 0.0
				for k, v := range x[len(lengths)] {
					sum += math.Abs(v-y[j][k]) / unit[k]
				}
				try(used|1<<j, append(lengths, sum))
			}
		}
	}

	try(0, nil)
	return best, left
}

// merged is the law of a sample with each point once, by its weight.
func merged(t *rapid.T, x [][]float64) Atoms {
	weight := map[string]float64{}
	points := map[string][]float64{}
	for _, p := range x {
		weight[fmt.Sprint(p)] += 1 / float64(len(x))
		points[fmt.Sprint(p)] = p
	}
	var at [][]float64
	var w []float64
	for _, k := range slices.Sorted(maps.Keys(points)) {
		at, w = append(at, points[k]), append(w, weight[k])
	}
	out, err := Weighted(at, w)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Against the reference, on tiny supports: as samples, as weights of merged points, in one to three dimensions.
func TestClosenessAgainstAllMatchings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(1, 6).Draw(t, "n"), rapid.IntRange(1, 3).Draw(t, "m")
		coordinate := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-6, 6).Draw(t, "x")) / 2 })
		draw := func(name string) (out [][]float64) {
			for range n {
				out = append(out, rapid.SliceOfN(coordinate, m, m).Draw(t, name))
			}
			return out
		}

		x, y := draw("a"), draw("b")
		d := rapid.IntRange(0, n-1).Draw(t, "d")
		ones := slices.Repeat([]float64{1}, m)
		want, left := assign(x, y, ones, d)
		a, _ := Sample(x)
		b, _ := Sample(y)
		delta := float64(d) / float64(n)
		if c, err := Closest(a, b, delta); err != nil || c.W != want || c.Delta != float64(left)/float64(n) {
			t.Fatalf("%v, %v: %+v, %v, want %g but for %d", x, y, c, err, want, left)
		}
		widest, _ := assign(x, y, ones, 0)
		if c, err := WInfinity(a, b); err != nil || c.W != widest || c.Delta != 0 {
			t.Fatalf("W∞: %+v, %v", c, err)
		}

		// In units, which are powers of two so that nothing is rounded.
		unit := rapid.SliceOfN(rapid.SampledFrom([]float64{.25, 1, 8}), m, m).Draw(t, "unit")
		scaled, further := assign(x, y, unit, d)
		if c, err := Closest(a.In(unit), b.In(unit), delta); err != nil || c.W != scaled ||
			c.Delta != float64(further)/float64(n) {
			t.Fatalf("%v, %v in %v: %+v, %v, want %g but for %d", x, y, unit, c, err, scaled, further)
		}

		// The same laws by weights, of which some are rounded.
		mx, my := merged(t, x), merged(t, y)
		if c, err := Closest(mx, my, delta); err != nil || c.W != want || c.Delta < float64(left)/float64(n) ||
			c.Delta > float64(left)/float64(n)+1e-9 {
			t.Fatalf("merged %v, %v: %+v, %v, want %g", x, y, c, err, want)
		}
		if c, err := Closest(mx, b, delta); err != nil || c.W != want {
			t.Fatalf("merged %v against a sample: %+v, %v, want %g", x, c, err, want)
		}

		// Samples of different sizes: every point twice is the same law.
		twice, _ := Sample(append(slices.Clone(y), y...))
		if c, err := Closest(a, twice, delta); err != nil || c.W != want {
			t.Fatalf("twice: %+v, %v, want %g", c, err, want)
		}
	})
}

// In one dimension: translations by c are c apart, the distance is a metric and falls with δ; flow and sweep agree.
func TestClosenessOfLargerSamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Float64Range(-100, 100)
		draw := func(name string) Atoms {
			a, _ := Sample(line(rapid.SliceOfN(value, 1, 40).Draw(t, name)...))
			return a
		}
		a, b, c := draw("a"), draw("b"), draw("c")
		w := func(a, b Atoms, delta float64) float64 {
			c, err := Closest(a, b, delta)
			if err != nil {
				t.Fatal(err)
			}
			return c.W
		}

		if exact, _ := WInfinity(a, b); exact.W != w(a, b, 0) {
			t.Fatalf("quantiles %g, transport %g", exact.W, w(a, b, 0))
		}
		if w(a, c, 0) > w(a, b, 0)+w(b, c, 0)+1e-9 || w(a, b, 0) != w(b, a, 0) || w(a, a, 0) != 0 {
			t.Fatal("no metric")
		}
		if w(a, b, .3) > w(a, b, .1) || w(a, b, .1) > w(a, b, 0) {
			t.Fatal("grows with δ")
		}
		x, y, err := common(a.sorted(), b.sorted())
		if err != nil {
			t.Fatal(err)
		}
		if far := value.Draw(t, "w"); flow(x, y, far) != sweep(x, y, far) {
			t.Fatalf("W = %g: flow carries %d, sweep %d", far, flow(x, y, far), sweep(x, y, far))
		}
		var moved [][]float64
		for _, p := range a.points {
			moved = append(moved, []float64{p[0] + 12.5})
		}
		if far, _ := Sample(moved); math.Abs(w(a, far, 0)-12.5) > 1e-9 {
			t.Fatalf("a translation by 12.5 is %g away", w(a, far, 0))
		}
	})
}

func TestWidestAndConcentrated(t *testing.T) {
	laws := []Atoms{atoms(t, line(0, 1), nil), atoms(t, line(2, 3), nil), atoms(t, line(0, 50), nil)}
	if c, err := Widest("s", laws, [][2]int{{0, 1}, {1, 0}}, 0); err != nil || c.W != 2 || c.Secret != "s" ||
		c.Delta != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := Widest("s", laws, [][2]int{{0, 1}, {0, 2}}, 0); err != nil || c.W != 49 {
		t.Errorf("%+v, %v", c, err)
	}
	// Any two laws within c of means Δ apart are as close as the theorem says.
	if c, err := Concentrated("s", Tails{2, .5, .005}); err != nil || c.W != 3 || c.Delta != .01 {
		t.Errorf("%+v, %v", c, err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, v := range [][3]float64{{nan, 1, .1}, {1, nan, .1}, {1, 1, nan}, {inf, 1, .1}, {1, inf, .1}, {-1, 1, .1},
		{1, -1, .1}, {1, 1, -.1}, {1, 1, 1}} {
		if c, err := Concentrated("s", Tails{v[0], v[1], v[2] / 2}); err == nil {
			t.Errorf("%v: %+v", v, c)
		}
	}

	for name, pairs := range map[string][][2]int{"empty Ψ": nil, "unknown": {{0, 3}}, "negative": {{-1, 0}}} {
		if c, err := Widest("s", laws, pairs, 0); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestDistributionsAreChecked(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, points := range map[string][][]float64{
		"empty": nil, "no components": {{}}, "ragged": {{1}, {1, 2}}, "nan": {{1}, {nan}}, "infinite": {{-inf}},
	} {
		if a, err := Sample(points); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}

	for name, weights := range map[string][]float64{
		"nan": {nan, 1}, "negative": {-.1, 1.1}, "too much": {.5, .6}, "too little": {.5, .4}, "infinite": {inf, 0},
		"one short": {1}, "none": {},
	} {
		if a, err := Weighted(line(1, 2), weights); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}

	for name, counts := range map[string][]int64{"negative": {-1, 2}, "none": {0, 0}, "one short": {1},
		"too large": {1 << 41, 1}} {
		if a, err := Counted(line(1, 2), counts); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}

	if _, err := Weighted(nil, nil); err == nil {
		t.Error("an empty distribution is accepted")
	}
	a, plane := atoms(t, line(1), nil), atoms(t, [][]float64{{1, 2}}, nil)
	for _, delta := range []float64{nan, -1e-9, 1, inf} {
		if c, err := Closest(a, a, delta); err == nil {
			t.Errorf("δ = %v: %+v", delta, c)
		}
	}

	for name, pair := range map[string][2]Atoms{"dimensions": {a, plane}, "empty": {a, {}}, "both empty": {{}, {}}} {
		if c, err := Closest(pair[0], pair[1], 0); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
		if c, err := WInfinity(pair[0], pair[1]); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func BenchmarkClosest(b *testing.B) {
	for _, m := range []int{1, 5} {
		x, y := make([][]float64, 1000), make([][]float64, 1000)
		for i := range x {
			for k := range m {
				u := math.Sin(float64(i*31+k*17)) * 10
				x[i], y[i] = append(x[i], u), append(y[i], 1+math.Cos(float64(i*37+k*11))*10)
			}
		}
		p, q := atoms(b, x, nil), atoms(b, y, nil)
		b.Run(fmt.Sprint(m), func(b *testing.B) {
			for b.Loop() {
				if _, err := Closest(p, q, .001); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
