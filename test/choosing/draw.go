//go:build !byday

package main

import (
	"bytes"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

func picture(title, x, y string) *plot.Plot {
	plot.DefaultFont.Variant = "Sans"
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Points(8)
	p.X.Padding, p.Y.Padding = vg.Points(4), vg.Points(4)
	p.Y.Min = 0
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.Padding = vg.Points(8), vg.Points(2)
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = gridGray, gridGray
	p.Add(grid)
	return p
}

// logarithmic has an axis begin where the data do, and not at 0.
func logarithmic(a *plot.Axis) {
	a.Min, a.Scale, a.Tick.Marker = math.Inf(1), plot.LogScale{}, plot.LogTicks{Prec: -1}
}

// curve is a name with points; the first of what is compared is solid, the second dashed.
type curve struct {
	name   string
	points func() (plotter.XYs, error)
}

const steps = 40

// evenly are points at equal distances, growing ones of which each is the same factor from the last.
func evenly(from, to float64, f func(float64) (float64, error)) func() (plotter.XYs, error) {
	return points(func(part float64) float64 { return from + (to-from)*part }, f)
}

func growing(from, to float64, f func(float64) (float64, error)) func() (plotter.XYs, error) {
	return points(func(part float64) float64 { return from * math.Pow(to/from, part) }, f)
}

func points(at func(float64) float64, f func(float64) (float64, error)) func() (plotter.XYs, error) {
	return func() (xy plotter.XYs, err error) {
		for i := range steps {
			x := at(float64(i) / (steps - 1))
			y, err := f(x)
			if err != nil {
				return nil, err
			}
			xy = append(xy, plotter.XY{X: x, Y: y})
		}
		return xy, nil
	}
}

// draw is the picture as SVG. What stands for a twin is drawn solid, noise dashed, in the colour of its group.
func draw(p *plot.Plot, curves ...curve) ([]byte, error) {
	paired := strings.HasPrefix(curves[0].name, "twin: ")
	for i, c := range curves {
		xy, err := c.points()
		if err != nil {
			return nil, err
		}
		line, err := plotter.NewLine(xy)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = palette[i], vg.Points(1.8)
		if paired {
			line.Color, line.Dashes = palette[i/2], plotutil.Dashes(3*(i%2))
		}
		p.Add(line)
		p.Legend.Add(c.name, line)
	}
	// The legend stands above the curves, wherever they go.
	room := .07 * float64(len(curves))
	if _, ok := p.Y.Scale.(plot.LogScale); ok {
		p.Y.Max *= math.Pow(p.Y.Max/p.Y.Min, room/(1-room))
	} else if len(curves) > 1 {
		p.Y.Max += (p.Y.Max - p.Y.Min) * room / (1 - room)
	}

	w, err := p.WriterTo(16*vg.Centimeter, 9*vg.Centimeter, "svg")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = w.WriteTo(&b)
	return themed(b.Bytes()), err
}

var (
	gridGray = color.RGBA{0xC8, 0xC9, 0xCA, 0xFF}
	palette  = []color.Color{
		color.RGBA{0x0B, 0x57, 0xB0, 0xFF}, color.RGBA{0xB3, 0x4A, 0x00, 0xFF}, color.RGBA{0x1A, 0x7A, 0x3E, 0xFF},
		color.RGBA{0x7A, 0x3E, 0x9D, 0xFF},
	}
)

// dark is what each colour becomes where the reader's screen is dark.
var dark = [][2]string{
	{"fill:#FFFFFF", "fill:#16181c"}, {"stroke:#000000", "stroke:#e4e6ea"}, {"stroke:#C8C9CA", "stroke:#3b4048"},
	{"stroke:#0B57B0", "stroke:#8ab8ff"}, {"stroke:#B34A00", "stroke:#ffb074"},
	{"stroke:#1A7A3E", "stroke:#7fd49a"}, {"stroke:#7A3E9D", "stroke:#d3a4f0"},
}

// themed gives a picture a style for dark screens. What the library writes are style attributes, which go before the
// rules of a style sheet unless these are important.
func themed(svg []byte) []byte {
	var b strings.Builder
	b.WriteString("\n<style>\ntext { font-family: \"Liberation Sans\", Arial, Helvetica, sans-serif !important }\n" +
		"@media (prefers-color-scheme: dark) {\n  text { fill: #e4e6ea }\n")
	for _, d := range dark {
		property := strings.SplitN(d[1], ":", 2)[0]
		b.WriteString("  [style*='" + d[0] + "'] { " + property + ": " + d[1][len(property)+1:] + " !important }\n")
	}
	b.WriteString("}\n</style>")
	const head = `xmlns:xlink="http://www.w3.org/1999/xlink">`
	return bytes.Replace(svg, []byte(head), []byte(head+b.String()), 1)
}
