package planner

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"fugu/parser"
)

// maxAlone bounds how many counts a table keeps. Statements choose the columns, and there are as many sets of these as
// they like.
const maxAlone = 1024

// Alone counts, in each class of the secret, the rows of the root's reference of which no other of the class is told
// the same; where rows stand in the reference several times by design, those of which no more others are.
func (b *Bound) Alone(ctx context.Context, ref Querier, secret int, apart Told) ([]float64, error) {
	all, err := b.alike(ctx, ref, -1, apart)
	if err != nil {
		return nil, err
	}
	classes, err := b.alike(ctx, ref, secret, apart)
	if err != nil {
		return nil, err
	}

	// Of all rows it can be told how often one stands by design; then a class has as many of it as it has of those.
	counts := make([]float64, len(classes))
	for k := 1; k <= stacked(all[0]); k++ {
		for class, seen := range classes {
			counts[class] += float64(k) * seen[k]
		}
	}
	return counts, nil
}

// Distinct counts the sets of values that rows of the reference are told.
func (b *Bound) Distinct(ctx context.Context, ref Querier, by Told) (float64, error) {
	all, err := b.alike(ctx, ref, -1, by)
	if err != nil {
		return 0, err
	}
	n := 0.0
	for _, seen := range all[0] {
		n += seen
	}
	return n, nil
}

// stacked is how often a row stands in the reference by design, 1 unless a number stands out. The expected numbers of
// sets of values that independent rows have once, twice, three times are, but for factorials, the moments of a measure,
// and moments are logarithmically convex: n_k² ≤ (1 + 1/k) n_(k-1) n_(k+1). A reference in which each row stands twice
// has an n_2 without an n_1 and an n_3.
func stacked(alike []float64) int {
	out := 1
	for k := 2; k <= maxStacked; k++ {
		// Three times as many as can be expected, and nine more on either side for chance.
		if alike[k] > 3*math.Sqrt((alike[k-1]+9)*(alike[k+1]+9)) {
			out = k
		}
	}
	return out
}

// alike counts for each class of the secret, or of -1 for all rows, how many sets of values are seen once, twice, and
// so on up to mostAlike; the last are those seen more often, and none are at 0. It asks ref once for each secret and
// such expressions of a table, as constants do not change what it counts: like the sizes of the classes, which were
// counted when the policy was loaded, they are the reference's of then.
func (b *Bound) alike(ctx context.Context, ref Querier, secret int, apart Told) ([][]float64, error) {
	label, classes := "", 1
	if secret >= 0 {
		if s := b.Table.Secrets[secret]; s.Number == nil {
			label, classes = s.Label(parser.Alias("t", b.sources.root)), s.Size()
		}
	}
	sql := apart.counts(label)
	if counts, ok := b.Table.Kept.Alike.Load(sql); ok {
		return counts, nil
	}

	rows, err := ref.Query(ctx, sql, nil, nil)
	if err != nil {
		return nil, err
	}

	counts := make([][]float64, classes)
	for i := range counts {
		counts[i] = make([]float64, mostAlike+2)
	}
	for _, row := range rows {
		class := 0
		if label != "" {
			class, row = b.Table.Secrets[secret].Class(row[0]), row[1:]
		}
		// What the reference was asked is composed here: another form of its answer is a mistake of ours.
		times, err := strconv.Atoi(row[0].Text)
		if err != nil || times < 1 || times > mostAlike+1 {
			return nil, fmt.Errorf("counting rows that are alone: %q", row[0].Text)
		}
		n, err := strconv.ParseFloat(row[1].Text, 64)
		if err != nil {
			return nil, fmt.Errorf("counting rows that are alone: %w", err)
		}
		if class >= 0 {
			counts[class][times] += n
		}
	}
	b.Table.Kept.Alike.Store(sql, counts, 1, maxAlone)
	return counts, nil
}
