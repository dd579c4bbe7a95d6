package quote

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"fugu/dataset"
	"fugu/planner"
	"fugu/sensitivity"
)

// coupledModel is the model of a cut of which the policy declares how near its distributions can be brought to each
// other, by samples or by concentration. How close they are is all that noise goes by: there is no mean that moves, and
// no covariance. The reference, if there is one, has no part in it, not even by bounds on what a row contributes: what
// is declared speaks of the statement as PostgreSQL answers it.
func coupledModel(c *planner.Bound, d *dataset.Declared) Model {
	n := len(d.Components)
	out := Model{source: fromPolicy, Components: d.Components, limits: unlimited(c), samples: d.Close,
		Inherent: make([]float64, n), expected: make([]float64, n)}
	spreadOf, what := spread, "samples"
	if d.Laws[0].Concentrated != nil {
		spreadOf, what, out.Lattice = concentration, "values", make([]float64, n)
	} else {
		out.Lattice = dataset.Spacing(d.Laws...)
	}
	for k, comp := range d.Components {
		out.expected[k], out.Inherent[k] = spreadOf(d, k)
		agg, x := c.Aggregates[comp.Aggregate], new(big.Rat)
		if !agg.Extensive { // of an average over no rows something has to stand in
			x.SetFloat64(out.expected[k])
		}
		out.typical = append(out.typical, x)

		// Nothing says in which steps a concentrated value comes. Noise hides it whatever they are, so that they only
		// have to be small beside the noise.
		if d.Laws[0].Concentrated != nil {
			if out.Lattice[k] = out.Inherent[k] / 1024; agg.Integer {
				out.Lattice[k] = 1
			}
		}
	}

	for _, close := range d.Close {
		out.Shifts = append(out.Shifts, close.Shift(n))
		out.coupling = append(out.coupling, closeLine(what, close))
	}
	out.Families = func(context.Context) ([]sensitivity.Family, error) { return nil, nil }
	return out
}

// concentration is the mean of a component over all values of all secrets, and how far from its mean it is taken to be
// under any.
func concentration(d *dataset.Declared, k int) (mean, radius float64) {
	laws := 0.0
	for _, l := range d.Laws {
		radius = math.Max(radius, l.Concentrated.Within[k])
		for _, m := range l.Means {
			mean, laws = mean+m[k], laws+1
		}
	}
	return mean / laws, radius
}

// spread is the mean of a component over all values of all secrets, and its largest standard deviation under any.
func spread(d *dataset.Declared, k int) (mean, sd float64) {
	laws := 0.0
	for _, l := range d.Laws {
		for i, points := range l.Samples {
			total, sum, squares := 0.0, 0.0, 0.0
			// Samples without weights count alike.
			weight := func(j int) float64 {
				if l.Weights == nil {
					return 1
				}
				return float64(l.Weights[i][j])
			}

			// The mean comes first: squares about it do not cancel.
			for j, x := range points {
				total, sum = total+weight(j), sum+weight(j)*x[k]
			}
			for j, x := range points {
				squares += weight(j) * (x[k] - sum/total) * (x[k] - sum/total)
			}
			mean, sd, laws = mean+sum/total, math.Max(sd, math.Sqrt(squares/total)), laws+1
		}
	}
	return mean / laws, sd
}

// closeLine says for people how close the laws of a secret's pairs are.
func closeLine(what string, c sensitivity.Close) string {
	line := fmt.Sprintf("%s under the two values of a pair of %s can be coupled within %s", what, c.Secret, Short(c.W))
	if c.Unit != nil {
		line += ", in units of what each value needs by itself, added up"
	}
	if c.Delta > 0 {
		line += ", but for a probability of " + Short(c.Delta)
	}
	return line
}
