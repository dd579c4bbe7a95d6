//go:build !byday

package main

import (
	"errors"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

func (f *figure) write(dir string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.title, f.x, f.y
	if f.logX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	if f.logY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	p.Legend.Top, p.Legend.Left = f.legend != bottom, true
	p.Legend.TextStyle.Font.Size = 9
	p.Add(plotter.NewGrid())
	for i, c := range f.curves {
		xy := make(plotter.XYs, len(c.points))
		for i, p := range c.points {
			xy[i] = plotter.XY(p)
		}
		line, points, err := plotter.NewLinePoints(xy)
		if err != nil {
			return err
		}
		line.Color, line.Dashes = plotutil.Color(i), plotutil.Dashes(i/7)
		points.Color, points.Shape, points.Radius = plotutil.Color(i), plotutil.Shape(i), vg.Points(2)
		p.Add(line, points)
		p.Legend.Add(c.name, line, points)
	}
	if f.legend == above {
		p.Y.Max += .6 * (p.Y.Max - p.Y.Min)
	}
	path := filepath.Join(dir, f.name)
	return errors.Join(p.Save(16*vg.Centimeter, 11*vg.Centimeter, path+".svg"),
		p.Save(16*vg.Centimeter, 11*vg.Centimeter, path+".png"), f.csv(path+".csv"))
}
