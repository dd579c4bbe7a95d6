package preview

import (
	"context"
	"errors"
	"math"
	"slices"

	"fugu/answer"
	"fugu/model"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/twin"
	"fugu/twin/margin"
)

// imagined is the twin that a table would have if its policy answered from one: the law, and for each of the law's
// public examples of tables what the twin would show of it. Nothing of it is known of the table as it is.
type imagined struct {
	spec   twin.Spec
	design *twin.Design
	tables []example
	// supposed is the share of the rows that every class is taken to have at least, where the law needs one and the
	// policy, which answers with noise, has no place for it; 0: it is not needed.
	supposed float64
}

// example is a twin of a table with these shares. Lists are by class, as the design has them.
type example struct {
	shares      []float64
	told, taken []int64
	noise       []float64
}

// errPublic is of tables of which counts are public: a model given these has no moments by class.
var errPublic = errors.New("errors on twins are not foreseen where counts are public")

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
	if spec.Public != nil {
		return nil, errPublic
	}

	out := &imagined{spec: spec}
	if err := out.choose(); err != nil {
		return nil, err
	}
	for _, counts := range out.design.Tables() {
		out.tables = append(out.tables, exampleOf(out.design, counts))
	}
	return out, nil
}

// choose chooses the law. That of several secrets needs to know how many rows every combination of them has at least:
// where nobody said so, it is taken to be half of what it would be if they had nothing to do with each other.
func (t *imagined) choose() (err error) {
	if t.design, err = twin.New(t.spec); err == nil || len(t.spec.Secrets) < 2 || t.spec.Smallest > 0 {
		return err
	}
	supposed := t.spec
	if supposed.Smallest = oneDigit(supposed.Independent() / 2); supposed.Smallest == 0 {
		return err
	}
	if t.design, err = twin.New(supposed); err == nil {
		t.spec, t.supposed = supposed, supposed.Smallest
	}
	return err
}

// oneDigit is a share above 0 rounded down to one digit, as people write it.
func oneDigit(share float64) float64 {
	if !(share > 0) {
		return 0
	}
	digits := -math.Floor(math.Log10(share) + 1e-9)
	unit := math.Pow(10, digits)
	return math.Floor(share*unit+1e-9) / unit
}

// exampleOf is what is shown of a table with these counts, on average over the noise.
func exampleOf(d *twin.Design, counts []int64) (e example) {
	for i, x := range d.Expect(counts) {
		e.shares = append(e.shares, float64(counts[i])/float64(d.Rows))
		e.told = append(e.told, int64(math.Round(x.Noisy)))
		e.taken = append(e.taken, int64(max(1, math.Round(x.Taken))))
		e.noise = append(e.noise, x.Noise)
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
		combined, err := m.Combine(ctx, q.Request.Reference)
		if err != nil {
			return nil, err
		} else if combined == nil {
			return nil, errUnmodelled
		}
		number, err := t.numbers(c.Table.Secrets, combined.Combinations)
		if err != nil {
			return nil, err
		}

		// A sum is off by the noise on the sizes and by the drawing of rows, a percentile by the drawing alone.
		total := make([]float64, len(m.Components))
		for _, e := range t.tables {
			parts := e.parts(combined, number)
			for k, comp := range m.Components {
				sd := math.NaN()
				sampled := c.Aggregates[comp.Aggregate].Sampled
				switch {
				case sampled == nil:
					sd = twin.DeviationOf(e.told, e.taken, e.noise, len(e.told), parts[k]).Both()
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

// errRare is of classes of which the reference shows no row.
var errRare = errors.New("the reference has no row of some combination of the secrets, and does not say what such " +
	"rows are like")

// numbers says which of the combinations that a model has moments of each class of the twin is; -1: it has no rows, and
// needs none.
func (t *imagined) numbers(secrets []planner.Secret, combinations [][]int) ([]int, error) {
	out := make([]int, len(t.design.Classes))
	for i, class := range t.design.Classes {
		want := make([]int, len(secrets))
		for j, s := range secrets {
			want[j] = t.outcome(s, class)
		}
		out[i] = slices.IndexFunc(combinations, func(c []int) bool { return slices.Equal(c, want) })
		if out[i] < 0 && slices.ContainsFunc(t.tables, func(e example) bool { return e.shares[i] > 0 }) {
			return nil, errRare
		}
	}
	return out, nil
}

// outcome is the number by which a model knows what a class of the twin is for a secret; -1: by none.
func (t *imagined) outcome(s planner.Secret, class twin.Class) int {
	i := slices.IndexFunc(t.spec.Secrets, func(x twin.Secret) bool { return x.Name == s.Name })
	switch {
	case i < 0:
		return -1
	case t.spec.Secrets[i].Categories != "":
		v := t.spec.Secrets[i].Values[class.Outcomes[i]]
		return slices.Index(s.Classes, planner.Value{Text: v.Text, Null: v.IsNull})
	case class.Outcomes[i] == twin.True:
		return 1
	}
	return 0
}

// parts are what the rows of each class of the twin add to the components of a model, whose numbers of classes number
// has.
func (e example) parts(m *model.Combined, number []int) [][]twin.Part {
	shares := make([]float64, len(m.Combinations))
	for class, n := range number {
		if n >= 0 {
			shares[n] = e.shares[class]
		}
	}
	sums, squares := m.Parts(shares)

	out := make([][]twin.Part, len(sums))
	for k := range out {
		out[k] = make([]twin.Part, len(number))
		for class, n := range number {
			if n >= 0 {
				out[k][class] = twin.Part{Sum: sums[k][n], Squares: squares[k][n]}
			}
		}
	}
	return out
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
