package model

import (
	"context"
	"fmt"
	"math"
	"slices"

	"fugu/planner"
)

// Tie says that two secrets of a table speak of the same thing, as far as the reference shows. Each is hidden by
// itself: a pair of its values is the reference's rows with other shares of its own classes, in which the other secret
// moves along as the reference has it. That both move otherwise than so, no pair says; where they are tied, it may be
// what the owner means.
type Tie struct {
	A, B string // A may be several, with commas
	// Same: the class of each follows from that of the other, so that the two are one secret, or one and its opposite.
	Same bool
	What string // what ties them, in words
}

const (
	// fewExpected is the number of rows that a combination of classes would have of independent secrets, above which it
	// is no chance that there is none: a probability of e^-20.
	fewExpected = 20
	// strongTie is the correlation of two predicates from which on one tells most of the other.
	strongTie = 0.9
)

// Ties compares the classes of each two secrets of a table over its reference, and of more together.
func Ties(ctx context.Context, ref planner.Querier, t *planner.Table) ([]Tie, error) {
	// Numbers have no classes, and are looked at by themselves.
	var secrets []planner.Secret
	for _, s := range t.Secrets {
		if s.Number == nil && s.Size() > 1 {
			secrets = append(secrets, s)
		}
	}

	numbers, err := tiedNumbers(ctx, ref, t)
	if err != nil || len(secrets) < 2 {
		return numbers, err
	}

	// One scan counts every combination of classes.
	classes := &planner.Table{Reference: t.Reference, Secrets: secrets}
	rows, err := ref.Query(ctx, classes.ClassTotals(), nil, nil)
	if err != nil {
		return nil, fmt.Errorf("comparing the secrets of %s: %w", t, err)
	}
	var all []combination
	for _, row := range rows {
		n, err := number(row[len(row)-1])
		if err != nil {
			return nil, err
		}
		c := combination{rows: n}
		for i, s := range secrets {
			c.classes = append(c.classes, s.Class(row[i]))
		}
		if !slices.Contains(c.classes, -1) {
			all = append(all, c)
		}
	}

	// Each two secrets, from the same counts.
	var out []Tie
	for j := range secrets {
		for i := range j {
			table, err := crossed(rows, secrets, i, j)
			if err != nil {
				return nil, err
			}
			if tie, ok := tied(secrets[i], secrets[j], table); ok {
				out = append(out, tie)
			}
		}
	}

	// Of those that no pair of them ties, some may be tied together.
	out = append(out, tiedTogether(secrets, all, out)...)
	return append(out, numbers...), nil
}

// crossed counts the rows by the classes of two secrets, that of the i-th and that of the j-th.
func crossed(rows [][]planner.Value, secrets []planner.Secret, i, j int) ([][]float64, error) {
	table := make([][]float64, secrets[i].Size())
	for a := range table {
		table[a] = make([]float64, secrets[j].Size())
	}
	for _, row := range rows {
		n, err := number(row[len(row)-1])
		if err != nil {
			return nil, err
		}
		if a, b := secrets[i].Class(row[i]), secrets[j].Class(row[j]); a >= 0 && b >= 0 {
			table[a][b] += n
		}
	}
	return table, nil
}

// tiedNumbers compares the secrets that are means of numbers with each other, and with those that have classes: the
// mean of an indicator is a share.
func tiedNumbers(ctx context.Context, ref planner.Querier, t *planner.Table) (out []Tie, err error) {
	for j, b := range t.Secrets {
		for i, a := range t.Secrets {
			// Two numbers have a correlation; a number and classes the share of its variance that the classes explain.
			var r float64

			switch {
			case b.Number == nil || a.Parameter || i == j || a.Number != nil && i > j: // each two once
				continue
			case a.Number != nil:
				r, err = correlation(ctx, ref, t, a, b)
			default:
				r, err = correlationRatio(ctx, ref, t, b, a)
			}

			if err != nil {
				return nil, fmt.Errorf("comparing the secrets %s and %s of %s: %w", a.Name, b.Name, t, err)
			}
			switch {
			case 1-math.Abs(r) < lackOfOne && (a.Number != nil || a.Size() == 2):
				out = append(out, Tie{A: a.Name, B: b.Name, Same: true, What: "over the reference one is a linear " +
					"function of the other"})
			case math.Abs(r) >= strongTie:
				out = append(out, Tie{A: a.Name, B: b.Name, What: fmt.Sprintf("over the reference their correlation "+
					"is %.2f", r)})
			}
		}
	}
	return out, nil
}

// lackOfOne is what a correlation of 1 may lack in double precision.
const lackOfOne = 1e-9

func correlation(ctx context.Context, ref planner.Querier, t *planner.Table, a, b planner.Secret) (float64, error) {
	rows, err := ref.Query(ctx, t.Correlation(a, b), nil, nil)
	if err != nil {
		return 0, err
	}
	return number(rows[0][0])
}

// correlationRatio is the root of the share of a number's variance that the classes of another secret account for:
// where these are two, the correlation with the predicate but for its sign.
func correlationRatio(ctx context.Context, ref planner.Querier, t *planner.Table,
	g, classes planner.Secret) (float64, error) {
	rows, err := ref.Query(ctx, t.NumberByClass(g, classes), nil, nil)
	if err != nil {
		return 0, err
	}
	var all, mean, within, between float64
	for _, row := range rows {
		var n, m, v float64
		for i, x := range []*float64{&n, &m, &v} {
			if *x, err = number(row[len(row)-3+i]); err != nil {
				return 0, err
			}
		}

		if n == 0 {
			continue
		}
		// As variances of parts are put together: the distance of their means counts by both numbers of rows.
		within += n * v
		between += all * n / (all + n) * (m - mean) * (m - mean)
		all, mean = all+n, mean+(m-mean)*n/(all+n)
	}

	if within+between == 0 {
		return 0, nil
	}
	return math.Sqrt(between / (within + between)), nil
}

// tied judges how many rows each two classes have in common.
func tied(x, y planner.Secret, table [][]float64) (Tie, bool) {
	out := Tie{A: x.Name, B: y.Name}
	inX, inY, all := make([]float64, len(table)), make([]float64, len(table[0])), 0.0
	filled := 0
	for a, row := range table {
		for b, n := range row {
			inX[a] += n
			inY[b] += n
			all += n
			if n > 0 {
				filled++
			}
		}
	}

	// One combination for each class of either, and no more: each tells the other.
	if len(inX) == len(inY) && filled == len(inX) && everyPositive(inX) && everyPositive(inY) {
		out.Same, out.What = true, "the reference has no row in which one does not follow from the other"
		return out, true
	}
	for a, row := range table {
		for b, n := range row {
			if n == 0 && inX[a]*inY[b]/all > fewExpected {
				out.What = fmt.Sprintf("the reference has no row %s of %s and %s of %s", x.Where(a), x.Name, y.Where(b),
					y.Name)
				return out, true
			}
		}
	}

	if len(inX) == 2 && len(inY) == 2 {
		phi := (table[0][0]*table[1][1] - table[0][1]*table[1][0]) / math.Sqrt(inX[0]*inX[1]*inY[0]*inY[1])
		if math.Abs(phi) >= strongTie {
			out.What = fmt.Sprintf("over the reference their correlation is %.2f", phi)
			return out, true
		}
	}
	return Tie{}, false
}

func everyPositive(xs []float64) bool {
	for _, x := range xs {
		if x <= 0 {
			return false
		}
	}
	return true
}
