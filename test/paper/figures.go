package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"fugu/test/setting"
)

func sqrt(v float64) float64 { return math.Sqrt(v) }

// figure is a set of curves: written as SVG, PNG and CSV under its name.
type figure struct {
	name, title, x, y string
	logX, logY        bool
	legend            place
	curves            []curve
}

// place is where a figure's curves leave room for the legend, at its left.
type place int

const (
	top place = iota
	bottom
	above
)

type curve struct {
	name   string
	points []point
}

type point struct{ X, Y float64 }

func (f *figure) add(name string, x, y float64) {
	if n := len(f.curves); n == 0 || f.curves[n-1].name != name {
		f.curves = append(f.curves, curve{name: name})
	}
	c := &f.curves[len(f.curves)-1]
	c.points = append(c.points, point{x, y})
}

func (f *figure) csv(path string) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(out)
	_ = w.Write([]string{"curve", f.x, f.y}) // what fails, Error tells
	for _, c := range f.curves {
		for _, p := range c.points {
			_ = w.Write([]string{c.name, fmt.Sprintf("%.4g", p.X), fmt.Sprintf("%.5g", p.Y)})
		}
	}
	w.Flush()
	return errors.Join(w.Error(), out.Close())
}

// span returns n points from a to b, each the same factor from the last.
func span(a, b float64, n int) []float64 {
	var out []float64
	for i := range n {
		out = append(out, a*math.Pow(b/a, float64(i)/float64(n-1)))
	}
	return out
}

// figures draws the paper's Figures 2 to 4 for both secrets, with ours added, and Figure 5.
func figures(data census, dir string, repetitions int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, s := range secrets {
		for _, draw := range []func() (*figure, error){
			func() (*figure, error) { return errorByEpsilon(data, s) },
			func() (*figure, error) { return errorByDistance(data, s) },
			func() (*figure, error) { return attackByEpsilon(data, s, repetitions) },
		} {
			f, err := draw()
			if err != nil {
				return err
			}
			if err := f.write(dir); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
	}
	for _, f := range []*figure{approximation(data, secrets[0], 3, 1), approximation(data, secrets[0], 4, 50)} {
		if err := f.write(dir); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	fmt.Printf("\nFigures 2 to 5 are in %s\n", dir)
	return nil
}

// drawn says which mechanisms a figure shows: the baseline for groups is ten times above all others, and of ours two
// are enough.
func drawn(d defence, only ...string) bool {
	if strings.HasPrefix(d.name, "GroupDP") || d.name == "Fugu auto" || d.name == "Fugu eigm" || d.name == "Fugu daum" {
		return false
	}
	for _, name := range only {
		if d.name == name {
			return true
		}
	}
	return len(only) == 0
}

// errorByEpsilon is Figure 2.
func errorByEpsilon(data census, s secret) (*figure, error) {
	f := &figure{name: "figure2_" + s.name, title: fmt.Sprintf("%s, Δp = %g, δ = .001", s.title, s.delta), x: "ε",
		y: "mean L2 error", logX: true, logY: true, legend: bottom}
	c := divide(data.modelling, s).classes()
	rng := rand.New(rand.NewPCG(4, 0))
	for _, d := range defences() {
		if !drawn(d) {
			continue
		}
		for _, epsilon := range span(.1, 10, 9) {
			made, err := d.calibrate(c, s.delta, budget(epsilon, .001))
			if err != nil {
				continue // refused at this ε: the curve has no point there
			}
			mean, _, err := meanError(made, divide(data.testing, s), s.delta, 1000, rng)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", d.name, err)
			}
			if mean > 0 {
				f.add(d.name, epsilon, mean)
			}
		}
	}
	return f, nil
}

// errorByDistance is Figure 3: beside the Gaussian mechanism of differential privacy, which protects one record.
func errorByDistance(data census, s secret) (*figure, error) {
	f := &figure{name: "figure3_" + s.name, title: s.title + ", ε = 1, δ = .001", x: "Δp", y: "mean L2 error"}
	c := divide(data.modelling, s).classes()
	rng := rand.New(rand.NewPCG(5, 0))
	for _, d := range append(defences(), fromPaper(setting.OneGaussian)) {
		if !drawn(d) {
			continue
		}
		for _, delta := range []float64{.02, .04, .08, .12, .16, .2, .24, .28, .32, .36, .4} {
			made, err := d.calibrate(c, delta, budget(1, .001))
			if err != nil {
				continue
			}
			mean, _, err := meanError(made, divide(data.testing, s), delta, 1000, rng)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", d.name, err)
			}
			f.add(d.name, delta, mean)
		}
	}
	return f, nil
}

// attackByEpsilon is Figure 4, with the attacker who trains on noised features beside the paper's.
func attackByEpsilon(data census, s secret, repetitions int) (*figure, error) {
	f := &figure{name: "figure4_" + s.name, title: s.title + ", Δp = .1, δ = .001", x: "ε", y: "accuracy of the attack",
		logX: true, legend: above}
	auxiliary, testing := divide(data.auxiliary, s), divide(data.testing, s)
	c := divide(data.modelling, s).classes()
	rng := rand.New(rand.NewPCG(6, 0))
	for _, d := range append([]defence{none}, defences()...) {
		if !drawn(d, none.name, "ExpM (G)", "EigM (G)", "DauM (G)", "Fugu directional", byTwin.name) {
			continue
		}
		for _, noised := range []bool{false, true} {
			name := d.name
			if noised {
				name += ", trained on noised"
			}
			if d.name == none.name && noised {
				continue
			}
			for _, epsilon := range span(.1, 10, 5) {
				made, err := d.calibrate(c, .1, budget(epsilon, .001))
				if err != nil {
					continue
				}
				rate, err := accuracy(made, auxiliary, testing, .1, repetitions, noised, rng)
				if err != nil {
					return nil, err
				}
				f.add(name, epsilon, rate)
			}
		}
	}
	return f, nil
}
