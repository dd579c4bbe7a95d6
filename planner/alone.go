package planner

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"fugu/parser"
)

// maxAlone bounds how many counts a table keeps. Statements choose the columns, and there are as many sets of these as they like.
const maxAlone = 1024

// maxStacked is how often each row may stand in a reference by design, and be taken for one.
const maxStacked = 12

// seldom says how many sets of values are seen once, twice, and so on up to one more than maxStacked; the last are those
// seen more often, and none are at 0.
type seldom [maxStacked + 3]float64

// Alone counts, in each class of the secret, the rows of the root's reference of which no other of the class is told the
// same; where rows stand in the reference several times by design, those of which no more others are.
func (b *Bound) Alone(ctx context.Context, ref Querier, secret int, apart Told) ([]float64, error) {
	all, err := b.seldom(ctx, ref, -1, apart)
	if err != nil {
		return nil, err
	}
	classes, err := b.seldom(ctx, ref, secret, apart)
	if err != nil {
		return nil, err
	}
	counts := make([]float64, len(classes))
	for k := 1; k <= all[0].stacked(); k++ {
		for class, seen := range classes {
			counts[class] += float64(k) * seen[k]
		}
	}
	return counts, nil
}

// Distinct counts the sets of values that rows of the reference are told.
func (b *Bound) Distinct(ctx context.Context, ref Querier, by Told) (float64, error) {
	all, err := b.seldom(ctx, ref, -1, by)
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
// and moments are logarithmically convex: n_k² ≤ (1 + 1/k) n_(k-1) n_(k+1). A reference in which each row stands twice has
// an n_2 without an n_1 and an n_3.
func (s seldom) stacked() int {
	out := 1
	for k := 2; k <= maxStacked; k++ {
		// Three times as many as can be expected, and nine more on either side for chance.
		if s[k] > 3*math.Sqrt((s[k-1]+9)*(s[k+1]+9)) {
			out = k
		}
	}
	return out
}

// seldom counts for each class of the secret, or of -1 for all rows. It asks ref once for each secret and such expressions
// of a table, as constants do not change what it counts: like the sizes of the classes, which were counted when the policy
// was loaded, they are the reference's of then.
func (b *Bound) seldom(ctx context.Context, ref Querier, secret int, apart Told) ([]seldom, error) {
	label, classes := "", 1
	if secret >= 0 {
		if s := b.Table.Secrets[secret]; s.Number == nil {
			label, classes = s.label(parser.Alias("t", b.sources.root)), s.Size()
		}
	}
	sql := apart.counts(label)
	if counts, ok := b.Table.alone.load(sql); ok {
		return counts, nil
	}
	rows, err := ref.Query(ctx, sql, nil, nil)
	if err != nil {
		return nil, err
	}
	counts := make([]seldom, classes)
	for _, row := range rows {
		class := 0
		if label != "" {
			class, row = b.Table.Secrets[secret].Class(row[0]), row[1:]
		}
		times, err := strconv.Atoi(row[0].Text)
		if err != nil || times < 1 || times > maxStacked+2 {
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
	b.Table.alone.store(sql, counts, 1, maxAlone)
	return counts, nil
}
