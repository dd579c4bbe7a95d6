package mechanism

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"fugu/privacy"
	"fugu/sensitivity"
)

func requests(t *rapid.T) Request {
	m := rapid.IntRange(1, 6).Draw(t, "components")
	length := rapid.Custom(func(t *rapid.T) float64 { return math.Exp(rapid.Float64Range(-25, 25).Draw(t, "ln")) })
	r := Request{Budget: budget(math.Exp(rapid.Float64Range(-6, 3).Draw(t, "ln ε")),
		math.Exp(rapid.Float64Range(-24, -1).Draw(t, "ln δ")))}
	for range m {
		r.Components = append(r.Components, Component{Lattice: length.Draw(t, "lattice"), Unit: length.Draw(t, "unit"),
			Integer: rapid.Bool().Draw(t, "integer"), Block: rapid.IntRange(0, 2).Draw(t, "block")})
	}

	for i := range rapid.IntRange(1, 3).Draw(t, "secrets") {
		s := sensitivity.Shift{Secret: fmt.Sprint(i)}
		for range m {
			s.Along = append(s.Along, rapid.SampledFrom([]float64{-1, 0, 1}).Draw(t, "sign")*length.Draw(t, "along"))
			s.Beside = append(s.Beside,
				rapid.SampledFrom([]float64{0, 1e-3, 1}).Draw(t, "part")*length.Draw(t, "beside"))
		}

		for range rapid.IntRange(0, 2).Draw(t, "unseen") {
			u := sensitivity.Unseen{Rows: rapid.IntRange(1, 3).Draw(t, "rows")}
			for k := range m {
				u.At, u.Cell = append(u.At, k), append(u.Cell, k/rapid.IntRange(1, 2).Draw(t, "in a cell"))
				u.Size = append(u.Size, length.Draw(t, "size"))
			}
			if u.Check(m) == nil {
				s.Unseen = append(s.Unseen, u)
			}
		}

		r.Shifts = append(r.Shifts, s)
	}
	return r
}

// hiding is by how many steps the y of each direction has to move to hide the widest pair of a shift.
func hiding(n Noise, s sensitivity.Shift) map[int]float64 {
	for j, d := range n.directions {
		if d.secret == s.Secret {
			out := map[int]float64{j: float64(d.reach)}
			if d.lent != 0 {
				out[d.from] = d.lent * float64(n.directions[d.from].reach)
			}
			return out
		}
	}
	return nil
}

// Whatever the request: each kind is within the budget by an account of its own (continuous noise with the reported
// scales, no slack), covers the lattice, is deterministic, and auto is the least of them.
func TestEveryCalibrationHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := requests(t)
		least := math.Inf(1)
		for _, kind := range []Kind{ExpmLaplace, ExpmGaussian, Directional} {
			c, err := Calibrate(t.Context(), kind, r)
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			least = math.Min(least, c.Error)
			if again, _ := Calibrate(t.Context(), kind, r); !reflect.DeepEqual(c, again) {
				t.Fatalf("%s: not deterministic", kind)
			}
			if len(c.Losses) != len(r.Shifts) || c.Assumption != "translation" || c.Kind != kind || !c.Noise.valid() {
				t.Fatalf("%+v", c)
			}
			checkScales(t, r, c)
			for _, s := range r.Shifts {
				checkLoss(t, r, c, s)
			}
		}

		if c, err := Calibrate(t.Context(), Auto, r); err != nil || c.Error != least || c.Kind == Auto {
			t.Fatalf("auto: %s with %g, least %g: %v", c.Kind, c.Error, least, err)
		}
	})
}

// checkScales: noise covers the lattice, its error is what it says, and values are published to about a hundredth of
// it.
func checkScales(t *rapid.T, r Request, c Calibration) {
	var sum float64
	for k, sd := range c.SD {
		component, cell := r.Components[k], c.Noise.cells[k]
		if sd < component.Lattice {
			t.Fatalf("%s, component %d: sd %g", c.Kind, k, sd)
		}
		sum += sd * sd / component.Unit / component.Unit
		d, unit := cell.digits, math.Pow10(-cell.digits)
		if component.Integer != (d == 0) && (d != 0 || sd < 100) {
			t.Fatalf("%s, component %d: sd %g with %d digits", c.Kind, k, sd, d)
		}
		if d > 0 && (unit > sd/100 || unit*10 <= sd/100 || unit < step(cell.exponent)) {
			t.Fatalf("%s, component %d: sd %g published to %g on a grid of 2^%d", c.Kind, k, sd, unit, cell.exponent)
		}
	}
	if len(r.blocks()) == 1 && math.Abs(sum-c.Error) > 1e-9*sum {
		t.Fatalf("%s: error %g, sum %g", c.Kind, c.Error, sum)
	}
}

// checkLoss: what the widest pair of a shift costs, by the scales that are reported, is within the budget.
func checkLoss(t *rapid.T, r Request, c Calibration, s sensitivity.Shift) {
	if l := c.Losses[s.Secret]; !l.Within(r.Budget) {
		t.Fatalf("%s: %+v", c.Kind, l)
	}
	var l privacy.Loss
	for _, u := range extremes(len(c.SD), s.Unseen) {
		var own privacy.Loss
		for k, sd := range c.SD {
			beside := s.Beside[k] + u[k]
			d := math.Abs(s.Along[k]) + beside
			switch c.Kind {
			case ExpmLaplace:
				own.Pure += d / (sd / math.Sqrt2)
			case ExpmGaussian:
				own.Kappa2 += d / sd * d / sd
			case Directional:
				floor := math.Ldexp(float64(c.Noise.cells[k].sigma), c.Noise.cells[k].exponent)
				own.Kappa2 += beside / floor * beside / floor
			}
		}

		l = l.Max(own)
	}
	if c.Kind == Directional {
		l.Pure = hiddenAt(t, c, s)
	}
	if !l.Within(budget(float64(r.Budget.Epsilon), float64(r.Budget.Delta)*(1+1e-9))) {
		t.Fatalf("%s, secret %s: %+v", c.Kind, s.Secret, l)
	}
}

// hiddenAt is what directional noise hides all of Along at; 0 where there is nothing along.
func hiddenAt(t *rapid.T, c Calibration, s sensitivity.Shift) (pure float64) {
	hides := hiding(c.Noise, s)
	if len(hides) == 0 {
		if slices.ContainsFunc(s.Along, func(v float64) bool { return v != 0 }) {
			t.Fatalf("nothing hides secret %s", s.Secret)
		}
		return 0
	}

	sum := make([]float64, len(c.SD)) // what their y, moved so, do to F
	for j, moved := range hides {
		d := c.Noise.directions[j]
		pure += math.Abs(moved) / float64(d.scale)
		for k, w := range d.weights {
			sum[k] += moved * w * step(c.Noise.cells[k].exponent)
		}
	}

	for k, v := range s.Along {
		if math.Abs(sum[k]-v) > 1e-9*math.Abs(v)+1e-9*c.SD[k] {
			t.Fatalf("component %d of secret %s: %g of %g is hidden", k, s.Secret, sum[k], v)
		}
	}
	if pure == 0 {
		t.Fatalf("direction of %s hides nothing", s.Secret)
	}
	return pure
}
