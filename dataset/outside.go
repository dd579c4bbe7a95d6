package dataset

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
)

// Outside is how many rows of the table may have a value of the column that is not public: the root of the expected
// square. Of N reference rows x have none; so by Laplace's rule of succession the share p of such rows has the law
// Beta(x+1,N-x+1), and of n rows they are binomial. A table that is drawn from its reference has none if the reference
// has none.
func (t *Protected) Outside(ctx context.Context, ref planner.Querier, column string) (float64, error) {
	t.outsideMu.Lock()
	defer t.outsideMu.Unlock()
	if v, ok := t.outsideOf[column]; ok {
		return v, nil
	}

	col := "(t." + parser.QuoteIdent(column) + ")::pg_catalog.text"
	sql := "SELECT " + col + ", pg_catalog.count(*) FROM " + t.Table.Reference + " AS t GROUP BY " + col
	rows, err := ref.Query(ctx, sql, nil, nil)
	if err != nil {
		return 0, fmt.Errorf("counting the values of %s that are not public: %w", column, err)
	}
	var x, size float64
	for _, r := range rows {
		n, err := strconv.ParseFloat(r[1].Text, 64)
		if err != nil {
			return 0, fmt.Errorf("counting the values of %s that are not public: %w", column, err)
		}
		size += n
		if !slices.Contains(t.Table.Domains[column], r[0]) {
			x += n
		}
	}

	// E[k²] of k binomial of n rows with p of Beta(x+1, N-x+1): n(n-1)E[p²] + nE[p].
	n := float64(t.Table.Rows)
	v := math.Sqrt(n*(n-1)*(x+1)*(x+2)/((size+2)*(size+3)) + n*(x+1)/(size+2))
	if x == 0 && t.Config.Drawn == policy.FromReference {
		v = 0
	}

	if t.outsideOf == nil {
		t.outsideOf = map[string]float64{}
	}
	t.outsideOf[column] = v
	return v, nil
}
