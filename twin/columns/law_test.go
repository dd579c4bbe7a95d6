package columns

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"fugu/channel"
	"fugu/policy"
	"fugu/twin"
)

func count(value string, rows ...int64) Count {
	c := Count{Value: policy.Value{Text: value, IsNull: value == "-"}}
	copy(c.Rows[:], rows)
	return c
}

func obfuscated(epsilon float64) policy.Column {
	return policy.Column{Name: "x", Obfuscate: &policy.Obfuscate{Epsilon: epsilon, Delta: 1e-9}}
}

var transported = policy.Column{Name: "x",
	Transport: &policy.Transport{Hide: "s", Target: policy.Pooled, Cost: policy.Absolute}}

// matrix are the probabilities of a channel.
func matrix(t *testing.T, l Law, outcome int) [][]float64 {
	t.Helper()
	out := make([][]float64, len(l.Values))
	for x, row := range l.Channels[outcome] {
		out[x] = make([]float64, len(l.Values))
		sum := uint64(0)
		for _, e := range row {
			out[x][e.Output] = float64(e.Weight) / channel.Whole
			sum += e.Weight
		}
		if sum != channel.Whole {
			t.Fatalf("value %d: weights add up to %d", x, sum)
		}
	}
	return out
}

// Grosse et al.'s setting: sex by 10,000 rows, ε = .3, δ = 1e-9.
func TestObfuscate(t *testing.T) {
	l, err := New(obfuscated(.3), []Count{count("Male", 6762), count("Female", 3238)})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(l.Radius-.0654) > 1e-4 || l.Rows != 10_000 || l.Values[0].Text != "Female" || l.Usual != 1 {
		t.Errorf("got %+v", l)
	}
	if l.Leakage > .3 || l.Leakage < .3-1e-8 {
		t.Errorf("tells %v", l.Leakage)
	}
	m := matrix(t, l, 0)
	e, half := math.Exp(.3), l.Radius/2
	if want := e * (.3238 + half) / (1 + l.Radius*e); math.Abs(m[1][1]-want) > 1e-8 {
		t.Errorf("Male is shown as it is in %v, want %v", m[1][1], want)
	}
}

// Whatever the numbers are, what is told is worked out from the matrix that is kept, and is at most ε.
func TestObfuscateKeepsEpsilon(t *testing.T) {
	for _, epsilon := range []float64{.001, .1, 1, 4} {
		for values := 1; values <= 14; values++ {
			var counts []Count
			for i := range values {
				counts = append(counts, count(fmt.Sprint("v", i), int64(1+i*i*37)))
			}
			l, err := New(obfuscated(epsilon), counts)
			if err != nil {
				t.Fatalf("ε = %g, %d values: %v", epsilon, values, err)
			}
			c, err := channel.New(matrix(t, l, 0))
			if err != nil {
				t.Fatal(err)
			}
			laws := channel.Ball{Center: frequencies(counts, l.Rows, Count.all), Radius: l.Radius}
			told := 0.
			for y := range c.Outputs() {
				told = max(told, c.Leakage(y, reordered(laws, counts, l)))
			}
			if told > epsilon || math.Abs(told-l.Leakage) > 1e-9 {
				t.Errorf("ε = %g, %d values: tells %v, and says %v", epsilon, values, told, l.Leakage)
			}
		}
	}
}

// reordered has the frequencies in the order of the law's values.
func reordered(laws channel.Ball, counts []Count, l Law) channel.Ball {
	center := make([]float64, len(counts))
	for i, v := range l.Values {
		for k, n := range counts {
			if n.Value == v {
				center[i] = laws.Center[k]
			}
		}
	}
	return channel.Ball{Center: center, Radius: laws.Radius}
}

// Both outcomes show the law of all rows, and so does one that the reference does not have; numbers are in their order.
func TestTransport(t *testing.T) {
	counts := []Count{count("100", 30, 5), count("9", 10, 40), count("-", 5, 5), count("20.5", 0, 105)}
	l, err := New(transported, counts)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(l.Values, l.Usual); got != "['9' '20.5' '100' null] 1" {
		t.Fatalf("values %s", got)
	}
	target := []float64{.25, .525, .175, .05}
	own := map[int][]float64{twin.True: {10. / 45, 0, 30. / 45, 5. / 45}, twin.False: {40. / 155, 105. / 155, 5. / 155,
		5. / 155}, twin.Null: {1, 0, 0, 0}}
	for outcome, law := range own {
		m := matrix(t, l, outcome)
		for y := range target {
			shown := 0.
			for x := range law {
				shown += law[x] * m[x][y]
			}
			if math.Abs(shown-target[y]) > 1e-12 {
				t.Errorf("outcome %d shows %v with %v, want %v", outcome, l.Values[y], shown, target[y])
			}
		}
	}
	if m := matrix(t, l, twin.True); math.Abs(m[1][1]-.525) > 1e-12 {
		t.Errorf("a value that rows with the secret do not have shows %v, want a draw of the target", m[1])
	}
}

func TestNoLaw(t *testing.T) {
	many := make([]Count, mostObfuscated+1)
	for i := range many {
		many[i] = count(fmt.Sprint(i), 1)
	}
	for text, of := range map[string]struct {
		column policy.Column
		counts []Count
	}{
		"no rows":        {obfuscated(1), []Count{count("a", 0)}},
		"has 65 values":  {obfuscated(1), many},
		"that are none":  {transported, []Count{count("a", 1), count("2", 1)}},
		"values of it t": {transported, []Count{count("NaN", 1), count("2", 1)}},
	} {
		if _, err := New(of.column, of.counts); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want one with %q", err, text)
		}
	}
}

func TestCheck(t *testing.T) {
	l, err := New(obfuscated(.3), []Count{count("a", 10), count("b", 20)})
	if err != nil || l.Check() != nil {
		t.Fatal(err, l.Check())
	}
	for what, damage := range map[string]func(*Law){
		"no channel": func(l *Law) { l.Channels = nil }, "no value": func(l *Law) { l.Values = nil },
		"a value more": func(l *Law) { l.Values = append(l.Values, policy.Value{Text: "c"}) },
		"usual":        func(l *Law) { l.Usual = 2 },
		"weight":       func(l *Law) { l.Channels[0][1][0].Weight++ },
		"output":       func(l *Law) { l.Channels[0][1][0].Output = 2 },
	} {
		l, err := New(obfuscated(.3), []Count{count("a", 10), count("b", 20)})
		if damage(&l); err != nil || l.Check() == nil {
			t.Errorf("%s: passes", what)
		}
	}
}

// What a channel gives the law of its column: randomised response at ε, where nothing is known of the law, and none of
// a transport. The numbers hold whatever the reference is: they are of the matrix alone.
func TestDistribution(t *testing.T) {
	// By two rows nothing is known of the law: the ball is all laws.
	l, err := New(obfuscated(.3), []Count{count("a", 1), count("b", 1)})
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.Distribution()
	if err != nil || d == nil || d.Epsilon == nil || d.KL == nil {
		t.Fatalf("%+v, %v", d, err)
	}
	if tv := math.Tanh(*d.Epsilon / 2); math.Abs(d.TotalVariation-tv) > 1e-6 || *d.Epsilon > .3+1e-6 ||
		d.Delta > 1e-6 || math.Abs(*d.KL-*d.Epsilon*tv) > 1e-6 {
		t.Errorf("randomised response: %+v, ε %v", d, *d.Epsilon)
	}

	// The census' sex: a row is told of by .3, and the law by more, as the reference says which of the two is rare.
	if l, err = New(obfuscated(.3), []Count{count("Male", 6762), count("Female", 3238)}); err != nil {
		t.Fatal(err)
	}
	if d, err = l.Distribution(); err != nil {
		t.Fatal(err)
	}
	m := matrix(t, l, 0)
	if want := math.Abs(m[0][0] - m[1][0]); math.Abs(d.TotalVariation-want) > 1e-9 || *d.Epsilon < .3 || d.Delta <= 0 {
		t.Errorf("of sex %+v, ε %v; want total variation %v", d, *d.Epsilon, want)
	}
	if !strings.Contains(l.Words(), "of any two laws of the column one shown value tells epsilon 0.3 but for delta "+
		"0.") {
		t.Errorf("in words: %s", l.Words())
	}

	moved, err := New(transported, []Count{count("1", 5, 1), count("2", 1, 5)})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := moved.Distribution(); d != nil || err != nil {
		t.Errorf("of a transport %+v, %v", d, err)
	}
}
