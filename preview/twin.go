package preview

import (
	"context"
	"errors"
	"math"
	"slices"

	"fugu/answer"
	"fugu/policy"
	"fugu/privacy"
	"fugu/twin"
	"fugu/twin/margin"
)

// imagined is the twin that a table would have if its policy answered from one: the law, and for each of the law's
// public examples of tables what the twin would show of it. Nothing of it is known of the table as it is.
type imagined struct {
	design *twin.Design
	tables []example
}

// example is a twin of a table with so great a share of the secret. Lists are by class, rows without the secret first.
type example struct {
	share       float64
	told, taken []int64
	noise       []float64
}

// errSecrets is of tables whose twins have more classes than the model of a statement tells apart.
var errSecrets = errors.New("errors on twins are foreseen for tables with one secret, a proportion, and no " +
	"public counts")

// imagine is the twin of a table for this price. The policy is one that answers with noise, or with a twin.
func imagine(p *policy.Policy, table policy.QualifiedName, price privacy.Budget) (*imagined, error) {
	other := *p
	other.Privacy.Epsilon, other.Privacy.Delta = price.Epsilon, price.Delta
	other.Tables = slices.Clone(p.Tables)
	for i, t := range other.Tables {
		if t.Answers != policy.FromTwin {
			other.Tables[i].Answers, other.Tables[i].Twin = policy.FromTwin, &policy.Twin{}
		}
	}

	// The policy is as written but for its price and for how this table is answered.
	spec, err := margin.Spec(&other, table, func(string) bool { return false })
	if err != nil {
		return nil, err
	}
	if len(spec.Secrets) != 1 || spec.Secrets[0].Proportion == "" || spec.Public != nil {
		return nil, errSecrets
	}
	d, err := twin.New(spec)
	if err != nil {
		return nil, err
	}

	out := &imagined{design: d}
	for _, counts := range d.Tables() {
		out.tables = append(out.tables, exampleOf(d, counts))
	}
	return out, nil
}

// exampleOf is what is shown of a table with these counts, on average over the noise.
func exampleOf(d *twin.Design, counts []int64) example {
	e := example{told: make([]int64, 2), taken: make([]int64, 2), noise: make([]float64, 2)}
	for i, x := range d.Expect(counts) {
		class := 0
		if d.Classes[i].Outcomes[0] == twin.True {
			class, e.share = 1, float64(counts[i])/float64(d.Rows)
		}
		e.told[class], e.taken[class] = int64(math.Round(x.Noisy)), int64(max(1, math.Round(x.Taken)))
		e.noise[class] = x.Noise
	}
	return e
}

// errUnmodelled is of statements of which nothing says how they follow from the rows.
var errUnmodelled = errors.New("no model of class moments says how it follows from the rows")

// deviations are those of the values of a question on the twin: root mean squares over the examples, in the values'
// units; not a number where nothing is foreseen of a value.
func (t *imagined) deviations(ctx context.Context, q *answer.Question) (out []float64, err error) {
	for _, c := range q.Request.Cuts {
		if len(c.Aggregates) == 0 {
			continue
		}
		m, err := q.Request.Model(ctx, c)
		if err != nil {
			return nil, err
		}
		total := make([]float64, len(m.Components))
		for _, e := range t.tables {
			sums, squares := m.Parts(e.share)
			if sums == nil {
				return nil, errUnmodelled
			}

			// A sum is off by the noise on the sizes and by the drawing of rows, a percentile by the drawing alone.
			for k, comp := range m.Components {
				sd := math.NaN()
				sampled := c.Aggregates[comp.Aggregate].Sampled
				switch {
				case sampled == nil:
					sd = e.deviation(sums[k], squares[k])
				case sampled.Percentile():
					sd = e.drawing() * m.Inherent[k]
				}
				total[k] += sd * sd / float64(len(t.tables))
			}
		}

		for _, v := range total {
			out = append(out, math.Sqrt(v))
		}
	}
	return out, nil
}

// deviation is that of a statistic to which the rows of the classes add these.
func (e example) deviation(sums, squares []float64) float64 {
	parts := make([]twin.Part, len(sums))
	for c := range parts {
		parts[c] = twin.Part{Sum: sums[c], Squares: squares[c]}
	}
	return twin.DeviationOf(e.told, e.taken, e.noise, len(parts), parts).Both()
}

// drawing is by how much more a statistic varies that varies by the rows of all classes alike: of a percentile the
// noise on the secret is left out.
func (e example) drawing() float64 {
	total, told := 0., 0.
	for c, n := range e.told {
		factor := twin.DrawingError(n, e.taken[c])
		total += factor * factor * float64(n)
		told += float64(n)
	}
	return math.Sqrt(total / max(1, told))
}
