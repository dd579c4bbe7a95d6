package sensitivity

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// chain is φ_0 → φ_1 → φ_2, each binary; a child equals its parent with probability .8.
func chain(t *testing.T) *Network {
	t.Helper()
	copies := [][]float64{{.8, .2}, {.2, .8}}
	n, err := NewNetwork([]Parameter{{"a", 2, nil, [][]float64{{.5, .5}}}, {"b", 2, []int{0}, copies},
		{"c", 2, []int{1}, copies}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// columns is the width of F = Σ_j weight_j·(number of ones in column j) over 10 rows.
func columns(weights ...float64) func([]bool) float64 {
	return func(near []bool) (sum float64) {
		for j, in := range near {
			if in {
				sum += 10 * weights[j]
			}
		}
		return sum
	}
}

func TestQuiltsOfAChain(t *testing.T) {
	n := chain(t)
	for _, test := range []struct {
		i    int
		set  []bool
		want float64
	}{
		{0, []bool{false, true, false}, math.Log(4)},
		{0, []bool{false, false, true}, math.Log(.68 / .32)}, // .8·.8 + .2·.2 against 2·.8·.2
		{0, []bool{false, true, true}, math.Log(4)},          // c follows from b alone
		{1, []bool{true, false, true}, 2 * math.Log(4)},      // two observations
		{0, []bool{false, false, false}, 0},
		{0, []bool{true, false, false}, math.Inf(1)},
	} {
		if got := n.Influence(test.i, test.set); math.Abs(got-test.want) > 1e-12 && got != test.want {
			t.Errorf("influence of %d on %v: %g, want %g", test.i, test.set, got, test.want)
		}
	}

	// a's own column counts 1, the others' 10: at ε = 2 the quilt {b} leaves column a alone.
	q, err := n.BestQuilt(0, 2, columns(1, 10, 10))
	if err != nil || !slices.Equal(q.Quilt, []bool{false, true, false}) ||
		!slices.Equal(q.Near, []bool{true, false, false}) || q.Width != 10 {
		t.Fatalf("%+v, %v", q, err)
	}

	if got, want := q.Scale(2), 10/(2-math.Log(4)); math.Abs(got-want) > 1e-12 {
		t.Errorf("scale %g, want %g", got, want)
	}
	// At ε = 1 the influence on b is too much, that on c is not; at ε = .5 nothing but all columns is left.
	if q, err = n.BestQuilt(0, 1, columns(1, 1, 100)); err != nil ||
		!slices.Equal(q.Quilt, []bool{false, false, true}) || q.Width != 20 {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err = n.BestQuilt(0, .5, columns(1, 1, 1)); err != nil || slices.Contains(q.Quilt, true) || q.Width != 30 ||
		q.Scale(.5) != 60 {
		t.Errorf("%+v, %v", q, err)
	}

	if s := (Quilt{Influence: 1, Width: 1}).Scale(1); !math.IsInf(s, 1) {
		t.Errorf("influence ε: scale %g", s)
	}
}

func networks(t *rapid.T) []Parameter {
	nodes := make([]Parameter, rapid.IntRange(1, 5).Draw(t, "parameters"))
	for i := range nodes {
		nodes[i] = Parameter{Name: string(rune('a' + i)), Values: 2}
		rows := 1
		for j := range i {
			if rapid.Bool().Draw(t, "edge") {
				nodes[i].Parents = append(nodes[i].Parents, j)
				rows *= 2
			}
		}
		for range rows {
			p := rapid.Float64Range(.05, .95).Draw(t, "p")
			nodes[i].Table = append(nodes[i].Table, []float64{p, 1 - p})
		}
	}
	return nodes
}

// What the graph calls separated is independent, in numbers; what it does not, is dependent but for chance tables.
func TestSeparationIsIndependence(t *testing.T) {
	near := 0
	rapid.Check(t, func(t *rapid.T) {
		nodes := networks(t)
		n, err := NewNetwork(nodes)
		if err != nil {
			t.Fatal(err)
		}
		i := rapid.IntRange(0, len(nodes)-1).Draw(t, "i")
		quilt := make([]bool, len(nodes))
		for j := range quilt {
			quilt[j] = j != i && rapid.Bool().Draw(t, "in quilt")
		}
		in := n.near(i, quilt)
		if !in[i] {
			t.Fatal("a parameter is not near itself")
		}

		rest, self := make([]bool, len(nodes)), make([]bool, len(nodes))
		self[i] = true
		for j := range rest {
			if rest[j] = !in[j] && !quilt[j]; in[j] {
				near++
			}
		}

		if !n.independent(rest, self, quilt) {
			t.Fatalf("quilt %v, near %v: not independent", quilt, in)
		}
	})
	if near == 0 {
		t.Error("nothing was near")
	}
}

// independent reports whether P(r, q, x)·P(q) = P(r, q)·P(q, x) for all values of the rest r, the quilt q and φ_i = x.
func (n *Network) independent(rest, self, quilt []bool) bool {
	key := func(s int, sets ...[]bool) (k int) {
		value := n.state(s)
		for _, set := range sets {
			for j, member := range set {
				if member {
					k |= (value[j] + 1) << (2 * j)
				}
			}
		}

		return k
	}
	p := map[int]float64{}
	for s, mass := range n.joint {
		keys := []int{key(s, quilt), key(s, rest, quilt), key(s, quilt, self), key(s, rest, quilt, self)}
		for _, k := range slices.Compact(slices.Sorted(slices.Values(keys))) {
			p[k] += mass
		}
	}

	for s := range n.joint {
		together := p[key(s, rest, quilt, self)] * p[key(s, quilt)]
		apart := p[key(s, rest, quilt)] * p[key(s, quilt, self)]
		if math.Abs(together-apart) > 1e-12 {
			return false
		}
	}
	return true
}

// A common child joins its parents when it is observed, and not before; a link of a chain parts it.
func TestWhatSeparates(t *testing.T) {
	half, both := [][]float64{{.5, .5}}, [][]float64{{.9, .1}, {.5, .5}, {.5, .5}, {.1, .9}}
	child, err := NewNetwork([]Parameter{{"a", 2, nil, half}, {"b", 2, nil, half}, {"c", 2, []int{0, 1}, both}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		what  string
		of    *Network
		i     int
		quilt []bool
		want  []bool
	}{
		{"given the child", child, 0, []bool{false, false, true}, []bool{true, true, false}},
		{"given nothing", child, 0, make([]bool, 3), []bool{true, false, true}},
		{"chain", chain(t), 0, []bool{false, true, false}, []bool{true, false, false}},
		{"chain, from its end", chain(t), 2, []bool{false, true, false}, []bool{false, false, true}},
	} {
		if got := test.of.near(test.i, test.quilt); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v", test.what, got)
		}
	}
}

// The guarantee itself, by enumeration: columns of one row, X_j = 1 with a probability that φ_j governs, F = Σ w_j X_j,
// Laplace noise of the best quilt's scale. Densities of the release given φ_i = 0 and 1 differ by at most e^ε anywhere:
// as piecewise exponentials of one scale, they do if they do at every value of F and beyond.
func TestQuiltKeepsItsPromise(t *testing.T) {
	tightest := 0.0
	rapid.Check(t, func(t *rapid.T) {
		nodes := networks(t)
		n, err := NewNetwork(nodes)
		if err != nil {
			t.Fatal(err)
		}
		i := rapid.IntRange(0, len(nodes)-1).Draw(t, "i")
		epsilon := rapid.Float64Range(.1, 4).Draw(t, "ε")
		weights := rapid.SliceOfN(rapid.Float64Range(0, 3), len(nodes), len(nodes)).Draw(t, "w")
		one := rapid.SliceOfN(rapid.Float64Range(0, 1), 2*len(nodes), 2*len(nodes)).Draw(t, "P(X=1)")
		q, err := n.BestQuilt(i, epsilon, func(near []bool) (sum float64) {
			for j, in := range near {
				if in {
					sum += weights[j]
				}
			}
			return sum
		})

		if err != nil {
			t.Fatal(err)
		}

		scale := math.Max(q.Scale(epsilon), 1e-3)
		f, own := n.sumsGiven(i, weights, one)
		density := func(v int, w float64) (sum float64) {
			for x, p := range f[v] {
				sum += p / own[v] * math.Exp(-math.Abs(w-x)/scale)
			}
			return sum
		}

		at := []float64{-1, 100}
		for x := range f[0] {
			at = append(at, x)
		}
		for _, w := range at {
			if a, b := density(0, w), density(1, w); a > 1e-250 && b > 1e-250 {
				loss := math.Abs(math.Log(a / b))
				if tightest = math.Max(tightest, loss/epsilon); loss > epsilon*(1+1e-9) {
					t.Fatalf("loss %g at %g, ε = %g, %+v", loss, w, epsilon, q)
				}
			}
		}
	})
	t.Logf("reached %.3g of ε", tightest)
}

// sumsGiven returns the laws of F = Σ w_j X_j together with φ_i = 0 and with φ_i = 1, and the probabilities of these,
// where X_j = 1 with probability one[2j+φ_j].
func (n *Network) sumsGiven(i int, weights, one []float64) (f [2]map[float64]float64, own [2]float64) {
	f = [2]map[float64]float64{{}, {}}
	for s, p := range n.joint {
		value := n.state(s)
		own[value[i]] += p
		for x := range 1 << len(n.nodes) {
			mass, sum := p, 0.0
			for j := range n.nodes {
				if x>>j&1 == 1 {
					mass, sum = mass*one[2*j+value[j]], sum+weights[j]
				} else {
					mass *= 1 - one[2*j+value[j]]
				}
			}
			f[value[i]][sum] += mass
		}
	}
	return f, own
}

func TestNetworksAreChecked(t *testing.T) {
	nan := math.NaN()
	half := [][]float64{{.5, .5}}
	for name, nodes := range map[string][]Parameter{
		"empty":        nil,
		"no values":    {{"a", 0, nil, [][]float64{{}}}},
		"own parent":   {{"a", 2, []int{0}, [][]float64{{.5, .5}, {.5, .5}}}},
		"negative":     {{"a", 2, []int{-1}, half}},
		"no table":     {{"a", 2, nil, nil}},
		"short table":  {{"a", 2, nil, half}, {"b", 2, []int{0}, half}},
		"short row":    {{"a", 2, nil, [][]float64{{1}}}},
		"nan":          {{"a", 2, nil, [][]float64{{nan, 1}}}},
		"below 0":      {{"a", 2, nil, [][]float64{{-.5, 1.5}}}},
		"sum":          {{"a", 2, nil, [][]float64{{.5, .6}}}},
		"infinite":     {{"a", 2, nil, [][]float64{{math.Inf(1), 0}}}},
		"large states": slices.Repeat([]Parameter{{"a", 8, nil, [][]float64{slices.Repeat([]float64{.125}, 8)}}}, 8),
	} {
		if _, err := NewNetwork(nodes); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}

	n := chain(t)
	for _, test := range []struct {
		i       int
		epsilon float64
		width   float64
	}{{-1, 1, 1}, {3, 1, 1}, {0, 0, 1}, {0, nan, 1}, {0, math.Inf(1), 1}, {0, 1, nan}, {0, 1, -1},
		{0, 1, math.Inf(1)}} {
		if q, err := n.BestQuilt(test.i, test.epsilon, func([]bool) float64 { return test.width }); err == nil {
			t.Errorf("%+v: %+v", test, q)
		}
	}
}

// What is not tried is no better: the best scale is that over all sets of parameters.
func TestBestQuiltIsBestOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := networks(t)
		n, err := NewNetwork(nodes)
		if err != nil {
			t.Fatal(err)
		}
		i := rapid.IntRange(0, len(nodes)-1).Draw(t, "i")
		epsilon := rapid.Float64Range(.1, 4).Draw(t, "ε")
		weights := rapid.SliceOfN(rapid.Float64Range(0, 3), len(nodes), len(nodes)).Draw(t, "w")
		width := columns(weights...)
		q, err := n.BestQuilt(i, epsilon, width)
		if err != nil {
			t.Fatal(err)
		}
		for set := range 1 << len(nodes) {
			quilt := make([]bool, len(nodes))
			for j := range quilt {
				quilt[j] = set>>j&1 == 1
			}
			if quilt[i] {
				continue
			}
			o := Quilt{Influence: n.Influence(i, quilt), Width: width(n.near(i, quilt))}
			if o.Scale(epsilon) < q.Scale(epsilon)*(1-1e-9) {
				t.Fatalf("%v has scale %g, and %+v %g", quilt, o.Scale(epsilon), q, q.Scale(epsilon))
			}
		}
	})
}
