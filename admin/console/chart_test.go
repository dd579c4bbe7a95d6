package console

import (
	"math"
	"strings"
	"testing"
	"time"
)

// Marks stand where their values are, between the margins, and a step stands until the next value.
func TestChart(t *testing.T) {
	s := Series{Points: []Mark{{X: 1, Y: 0}, {X: 10, Y: 50}, {X: 100, Y: 100}}, Marked: true, Step: true}
	c := Chart{X: logarithmic("x", 1, 100), Y: linear("y", 0, 100), Series: []Series{s}}
	if got, want := c.Path(s), "M52.0,182.0H230.0L230.0,96.0H408.0L408.0,10.0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if marks := c.Marks(s); len(marks) != 3 || marks[1] != (Placed{"230.0", "96.0", ""}) {
		t.Errorf("%v", marks)
	}
}

// Ticks are round numbers within the axis, two at the least and not so many that they touch.
func TestTicks(t *testing.T) {
	for _, to := range []float64{1e-6, .3, 1, 7, 99, 1e5, 3e9} {
		a := linear("x", 0, to)
		if n := len(a.Ticks); n < 2 || n > 7 {
			t.Errorf("%d ticks up to %v", n, to)
		}
		for _, x := range a.Ticks {
			if x.At < 0 || x.At > to*1.0001 {
				t.Errorf("a tick at %v of %v", x.At, to)
			}
		}
	}
	for _, x := range [][2]float64{{.05, 10}, {1, 2}, {3, 3e6}} {
		if n := len(logarithmic("x", x[0], x[1]).Ticks); n < 2 || n > 9 {
			t.Errorf("%d ticks from %v to %v", n, x[0], x[1])
		}
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "1", 0.05: "0.05", 12.345: "12.3", 123456.7: "123\u202f457",
		-1234: "−1\u202f234", 1e-9: "1e-09", math.Inf(1): "∞", .99951: "1", 100: "100"} {
		if got := short(v); got != want {
			t.Errorf("short(%v) = %q, want %q", v, got, want)
		}
	}
}

// With noise the law under both values is wider and flatter, and each has the area 1.
func TestDrawn(t *testing.T) {
	p := Picture{Secret: "s", Means: [2]float64{100, 200}, Sampling: 10, NoiseSD: 50}
	for i := range 100 { // uniform noise of standard deviation 50
		p.Noise = append(p.Noise, (float64(i)-49.5)*math.Sqrt(12)/2)
	}
	d := drawn(p)
	if len(d.Charts) != 2 {
		t.Fatalf("%d charts", len(d.Charts))
	}
	for i, c := range d.Charts {
		for _, s := range c.Series {
			area, mean := 0., 0.
			for _, m := range s.Points {
				area, mean = area+m.Y, mean+m.Y*m.X
			}
			step := s.Points[1].X - s.Points[0].X
			if got := area * step / math.Sqrt(2*math.Pi); math.Abs(got-1) > .02 {
				t.Errorf("chart %d: an area of %v", i, got)
			}
			if got := mean / area; math.Abs(got-100) > 1 && math.Abs(got-200) > 1 {
				t.Errorf("chart %d: a mean of %v", i, got)
			}
		}
	}
	// A law has one peak: parts that are far apart would draw many.
	p.Sampling = 1
	for _, c := range drawn(p).Charts {
		for _, s := range c.Series {
			if n := peaks(s); n != 1 {
				t.Errorf("%s, %s: %d peaks", c.Title, s.Name, n)
			}
		}
	}
	if flat, peak := d.Charts[1].Y.To, d.Charts[0].Y.To; flat > peak/3 {
		t.Errorf("with noise as likely as %v, without %v", flat, peak)
	}
	if !strings.Contains(d.Charts[0].Text, "100 apart") || !strings.Contains(d.Charts[0].Text, "they are 10 of these") {
		t.Error(d.Charts[0].Text)
	}
}

// A single charge has a chart, too.
func TestSpent(t *testing.T) {
	charts := spentCharts([]Account{{Limit: 1, Spent: .5, History: []Spent{{time.Unix(1e9, 0), .5}}}, {Limit: 1}})
	if len(charts) != 1 || len(charts[0].Marks(charts[0].Series[0])) != 1 || charts[0].Rule.Y != 1 {
		t.Errorf("%+v", charts)
	}
}

// What is written beside a rule stands inside of the drawing, wherever the rule is.
func TestRule(t *testing.T) {
	for _, sampling := range []float64{.001, 12, 300} {
		curve := Curve{Columns: []Column{{"count(*)", sampling}}, Points: []CurvePoint{
			{Epsilon: 1, SD: []float64{40}, Within: []float64{80}},
			{Epsilon: 2, SD: []float64{20}, Within: []float64{40}}}}
		c := noiseCharts(curve)[0]
		label := c.y(c.Rule.Y) + 1.15*11.5
		if c.RuleLow() {
			label = c.y(c.Rule.Y) - .4*11.5
		}
		if label < top+9 || label > height-bottom-2 {
			t.Errorf("a rule at %v has its label at %v of %v", sampling, label, height-bottom)
		}
	}
}

// peaks are how often a line has risen and falls by more than a thousandth of its height.
func peaks(s Series) (n int) {
	most := 0.
	for _, p := range s.Points {
		most = math.Max(most, p.Y)
	}
	low, high := 0., 0.
	for _, p := range s.Points {
		switch {
		case p.Y > low+most/1000 && high == 0:
			high = p.Y
		case high > 0 && p.Y < high-most/1000:
			n, low, high = n+1, p.Y, 0
		}
		low = math.Min(low, p.Y)
		if high > 0 {
			high = math.Max(high, p.Y)
		}
	}
	return n
}
