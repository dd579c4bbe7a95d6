// Command choosing draws the pictures of docs/choosing.md into docs/plots, by the exact laws: no data and no
// chance are in them. Run it from the root of the repository.
package main

import (
	"bytes"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"fugu/policy"
	"fugu/twin"
)

func main() {
	for name, draw := range pictures {
		text, err := draw()
		if err == nil {
			err = os.WriteFile(filepath.Join("docs", "plots", name), text, 0o644)
		}
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
}

var pictures = map[string]func() ([]byte, error){"choosing_guesses.svg": guesses, "choosing_errors.svg": errors}

// guesses is how often who sees everything may guess right which of two values a secret has, beforehand equally
// probable: e^ε/(1+e^ε).
func guesses() ([]byte, error) {
	p := picture("What ε allows", "ε", "guesses that are right, of two values")
	p.Y.Min, p.Y.Max = .5, 1
	return draw(p, curve{"at most, whatever is asked", points(0, 5, func(e float64) (float64, error) {
		return 1 / (1 + math.Exp(-e)), nil
	})})
}

// errors is how far counts of a hundredth of each class of a twin are off, as a root of mean squares: of the
// example's marketplace, of 270,000 orders of which a fifth have the secret, by ε and the range of the share.
func errors() ([]byte, error) {
	const rows, with, delta, within = 270000, 56700, .001, .02
	p := picture("A twin of 270,000 rows, within .02", "ε", "error of a count of 1% of the rows, in %")
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Y.Min = 0
	var curves []curve
	ranges := []policy.Span{
		{From: .02, To: .60, Within: within},
		{From: .05, To: .40, Within: within},
		{From: .15, To: .30, Within: within},
	}
	for _, span := range ranges {
		secret := policy.Secret{
			Name: "dependence", About: policy.AboutDataset, Proportion: "p", Spans: []policy.Span{span}}
		curves = append(curves, curve{fmt.Sprintf("share in %g...%g", span.From, span.To),
			points(.2, 5, func(epsilon float64) (float64, error) {
				law, err := twin.New(twin.Spec{Rows: rows, Epsilon: epsilon, Delta: delta,
					Secrets: []twin.Secret{{Secret: secret}}})
				if err != nil {
					return 0, err
				}
				counts := []int64{with, rows - with}
				return 100 * law.CountError(counts, []int64{with / 100, (rows - with) / 100}), nil
			})})
	}
	return draw(p, curves...)
}

func picture(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	return p
}

type curve struct {
	name   string
	points func() (plotter.XYs, error)
}

// points are forty of a function, each the same factor from the last, or at equal distances from 0.
func points(from, to float64, f func(float64) (float64, error)) func() (plotter.XYs, error) {
	return func() (xy plotter.XYs, err error) {
		const n = 40
		for i := range n {
			part := float64(i) / (n - 1)
			x := from * math.Pow(to/from, part)
			if from == 0 {
				x = to * part
			}
			y, err := f(x)
			if err != nil {
				return nil, err
			}
			xy = append(xy, plotter.XY{X: x, Y: y})
		}
		return xy, nil
	}
}

// draw is the picture as SVG.
func draw(p *plot.Plot, curves ...curve) ([]byte, error) {
	for i, c := range curves {
		xy, err := c.points()
		if err != nil {
			return nil, err
		}
		line, err := plotter.NewLine(xy)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = plotutil.Color(i), vg.Points(1.5)
		p.Add(line)
		p.Legend.Add(c.name, line)
	}
	w, err := p.WriterTo(16*vg.Centimeter, 9*vg.Centimeter, "svg")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = w.WriteTo(&b)
	return b.Bytes(), err
}
