package console

import (
	"fmt"
	"math"
	"strings"
)

// Chart is a diagram of lines with what is said of it in words. It is drawn as SVG, without script or style of its own:
// classes name what a line is, and the style sheet gives it colour and dashes.
type Chart struct {
	ID          string // unique on its page
	Title, Text string // heading, and what who cannot see it has to know
	X, Y        Axis
	Series      []Series
	Rule        *Mark // a level to compare with; nil: none
}

// Axis is one direction of a chart.
type Axis struct {
	Label    string
	Log      bool
	Ticks    []Tick // where the ends are, too
	From, To float64
}

// Tick is a place on an axis, with its number.
type Tick struct {
	At    float64
	Label string
}

// Series is one line.
type Series struct {
	Name   string
	Points []Mark
	Step   bool // each value stands until the next
	Marked bool // points are marked
	Dashed bool
}

// Mark is a point, with what is said when it is pointed at.
type Mark struct {
	X, Y float64
	Text string
}

// The size of a drawing, in its own units, and the margins around what is plotted.
const (
	width, height            = 420, 220
	left, right, top, bottom = 52, 12, 10, 38
)

// place is where a value stands on the axis, between two places of the drawing.
func (a Axis) place(v, from, to float64) float64 {
	lo, hi := a.From, a.To
	if a.Log {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	if hi == lo {
		return (from + to) / 2
	}
	return from + (to-from)*math.Min(1.02, math.Max(-.02, (v-lo)/(hi-lo)))
}

func (c Chart) x(v float64) float64 { return c.X.place(v, left, width-right) }
func (c Chart) y(v float64) float64 { return c.Y.place(v, height-bottom, top) }

// At is a place of the drawing, with as many digits as can be seen.
func at(v float64) string { return fmt.Sprintf("%.1f", v) }

// Path is a series as SVG has it.
func (c Chart) Path(s Series) string {
	var b strings.Builder
	for i, p := range s.Points {
		command := "L"
		if i == 0 {
			command = "M"
		} else if s.Step {
			fmt.Fprintf(&b, "H%s", at(c.x(p.X)))
		}
		fmt.Fprintf(&b, "%s%s,%s", command, at(c.x(p.X)), at(c.y(p.Y)))
	}
	return b.String()
}

// Placed is a mark where it stands in the drawing.
type Placed struct{ X, Y, Text string }

// Marks are the points of a series that are marked.
func (c Chart) Marks(s Series) (out []Placed) {
	if !s.Marked {
		return nil
	}
	for _, p := range s.Points {
		out = append(out, Placed{at(c.x(p.X)), at(c.y(p.Y)), p.Text})
	}
	return out
}

// XTicks are where numbers stand below the drawing.
func (c Chart) XTicks() (out []Placed) {
	for _, t := range c.X.Ticks {
		out = append(out, Placed{at(c.x(t.At)), at(height - bottom), t.Label})
	}
	return out
}

// YTicks are where numbers stand beside the drawing.
func (c Chart) YTicks() (out []Placed) {
	for _, t := range c.Y.Ticks {
		out = append(out, Placed{at(left), at(c.y(t.At)), t.Label})
	}
	return out
}

// RuleAt is how high the rule stands.
func (c Chart) RuleAt() string { return at(c.y(c.Rule.Y)) }

// RuleLow reports whether the rule stands in the lower half of the drawing. Its label is above it there, and below it
// otherwise, so that it never stands on an axis.
func (c Chart) RuleLow() bool { return c.y(c.Rule.Y) > (top+height-bottom)/2 }

// linear is an axis from 0, or from below where something is below, with about five ticks at round numbers.
func linear(label string, from, to float64) Axis {
	if to <= from {
		to = from + 1
	}
	step := math.Pow(10, math.Floor(math.Log10((to-from)/4)))
	for _, k := range []float64{1, 2, 5, 10} {
		if (to-from)/(k*step) <= 5 {
			step *= k
			break
		}
	}
	a := Axis{Label: label, From: from, To: to}
	for v := math.Ceil(from/step-1e-9) * step; v <= to+step*1e-9; v += step {
		if math.Abs(v) < step*1e-6 {
			v = 0
		}
		a.Ticks = append(a.Ticks, Tick{v, short(v)})
	}
	return a
}

// logarithmic is an axis with ticks at 1, 2 and 5 of each power of ten, or at powers alone where these are many.
func logarithmic(label string, from, to float64) Axis {
	if !(from > 0) || math.IsInf(to, 0) {
		from, to = 1, 10
	}
	a := Axis{Label: label, Log: true, From: from, To: to}
	steps := []float64{1, 2, 5}
	if to/from > 200 {
		steps = []float64{1}
	}
	for p := math.Floor(math.Log10(from)); p <= math.Ceil(math.Log10(to)); p++ {
		for _, k := range steps {
			if v := k * math.Pow(10, p); v >= from*.999 && v <= to*1.001 {
				a.Ticks = append(a.Ticks, Tick{v, short(v)})
			}
		}
	}
	return a
}

// extent is how far values go; 0, 0 of none.
func extent(series []Series, of func(Mark) float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, s := range series {
		for _, p := range s.Points {
			lo, hi = math.Min(lo, of(p)), math.Max(hi, of(p))
		}
	}
	if lo > hi {
		return 0, 0
	}
	return lo, hi
}
