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

// sampledModel is the model of a cut whose distribution the policy declares by samples. How close they are is all that
// noise goes by: there is no mean that moves, and no covariance. The reference, if there is one, has no part in it, not
// even by bounds on what a row contributes: the samples are of the statement as PostgreSQL has it.
func sampledModel(c *planner.Bound, d *dataset.Declared) Model {
	n := len(d.Components)
	out := Model{source: fromPolicy, Components: d.Components, limits: unlimited(c), samples: d.Close,
		Inherent: make([]float64, n), expected: make([]float64, n), Lattice: dataset.Spacing(d.Laws...)}
	for k := range n {
		out.expected[k], out.Inherent[k] = spread(d, k)
		x := new(big.Rat)
		if !c.Aggregates[d.Components[k].Aggregate].Extensive { // of an average over no rows something has to stand in
			x.SetFloat64(out.expected[k])
		}
		out.typical = append(out.typical, x)
	}

	for _, close := range d.Close {
		out.Shifts = append(out.Shifts, close.Shift(n))
		out.apart = append(out.apart, closeLine(close))
	}
	out.Families = func(context.Context) ([]sensitivity.Family, error) { return nil, nil }
	return out
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
func closeLine(c sensitivity.Close) string {
	line := fmt.Sprintf("samples under the two values of a pair of %s can be coupled within %s", c.Secret, Short(c.W))
	if c.Unit != nil {
		line += ", in units of what each value needs by itself, added up"
	}
	if c.Delta > 0 {
		line += ", but for a probability of " + Short(c.Delta)
	}
	return line
}
