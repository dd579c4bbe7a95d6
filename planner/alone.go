package planner

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxAlone bounds how many counts a table keeps. Statements choose the columns, and there are as many sets of these as they like.
const maxAlone = 1024

// maxStacked is how often each row may stand in a reference by design, and be taken for one.
const maxStacked = 12

// seldom says how many sets of values are seen once, twice, and so on up to one more than maxStacked; none are at 0.
type seldom [maxStacked + 2]float64

// Alone counts, in each class of the secret, the rows of the root's reference of which no other of the class has the same values of
// the expressions apart; where rows stand in the reference several times by design, those of which no more others have.
func (b *Bound) Alone(ctx context.Context, ref Querier, secret int, apart []string) ([]float64, error) {
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

// stacked is how often a row stands in the reference by design, 1 unless a number stands out. The expected numbers of sets of values that independent rows have
// once, twice, three times are, but for factorials, the moments of a measure, and moments are logarithmically convex: n_k² ≤ (1 + 1/k) n_(k-1) n_(k+1). A
// reference in which each row stands twice has an n_2 without an n_1 and an n_3.
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

// seldom counts for each class of the secret, or of -1 for all rows. It asks ref once for each secret and such expressions of a table, as constants do not change what it counts: like
// the sizes of the classes, which were counted when the policy was loaded, they are the reference's of then.
func (b *Bound) seldom(ctx context.Context, ref Querier, secret int, apart []string) ([]seldom, error) {
	label, classes := "", 1
	if secret >= 0 {
		if s := b.Table.Secrets[secret]; s.Number == nil {
			label, classes = s.label("t"), s.Size()
		}
	}
	sql := b.alone(label, apart)
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
		if err != nil || times < 1 || times > maxStacked+1 {
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

// alone composes the statement of seldom: a row holds the label, if there is one, how many rows have the same values, and how many such sets of values there are.
func (b *Bound) alone(label string, apart []string) string {
	var inner, outer []string
	group := []string{"1"}
	if label != "" {
		inner, outer, group = []string{label + " AS s"}, []string{"s"}, []string{"1", "2"}
	}
	for i, e := range apart {
		inner = append(inner, e+" AS c"+strconv.Itoa(i))
	}
	by := make([]string, len(inner))
	for i := range by {
		by[i] = strconv.Itoa(i + 1)
	}
	few := "SELECT " + strings.Join(append(inner, "pg_catalog.count(*) AS n"), ", ") + " FROM " + b.Table.Reference + " AS t GROUP BY " + strings.Join(by, ", ") +
		" HAVING pg_catalog.count(*) <= " + strconv.Itoa(maxStacked+1)
	return selectSQL(append(outer, "n", "pg_catalog.count(*)"), "("+few+") AS q", "", group)
}
