package upstream

import (
	"context"
	"math/big"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/internal/hook"
	"fugu/mechanism"
	"fugu/planner"
)

// Question is one statistics statement and the places of its results in F.
type Question struct {
	Cut   *planner.Bound
	SQL   string   // the cut's statistics statement
	Args  [][]byte // its arguments, in text form
	Types []uint32 // and their types
	// Component gives the index in F of a cell's aggregate, -1 where the model leaves it out.
	Component [][]int // cell, aggregate
}

// statistics runs the questions on one connection.
func statistics(
	ctx context.Context, c *pgconn.PgConn, questions []Question, start []*big.Rat,
) (mechanism.Statistics, error) {
	f := append([]*big.Rat(nil), start...)
	if hook.NoStart {
		clear(f)
	}
	for _, q := range questions {
		if err := q.run(ctx, c, f); err != nil {
			return mechanism.Statistics{}, err
		}
	}
	return mechanism.NewStatistics(f), nil
}

// run writes what the question is answered into f.
func (q Question) run(ctx context.Context, c *pgconn.PgConn, f []*big.Rat) error {
	index := q.Cut.Index()
	keys := make([]planner.Value, q.Cut.Head())
	summed, sums := q.Cut.Summed(), make([]*big.Rat, len(q.Cut.Terms))
	var failed error

	rows := c.ExecParams(ctx, q.SQL, q.Args, q.Types, nil, nil)
	for rows.NextRow() {
		v := rows.Values()
		for i := range keys {
			keys[i] = planner.Value{Text: string(v[i]), Null: v[i] == nil}
		}
		cell, ok := index.Find(keys)
		if !ok {
			continue
		}

		// The sums of terms come first, and behind them what is no function of sums.
		for i, t := range summed {
			sums[t] = new(big.Rat)
			if text := v[len(keys)+i]; text == nil { // a sum over no rows
				if hook.NoStart {
					sums[t] = nil
				}
			} else if x, ok := new(big.Rat).SetString(string(text)); ok {
				sums[t] = x
			} else { // NaN or Infinity among the rows
				failed = ErrStatistics
			}
		}

		if !q.put(f, q.Component[cell], sums, v[len(keys)+len(summed):]) {
			failed = ErrStatistics
		}
	}

	if _, err := rows.Close(); err != nil {
		return err
	}
	return failed
}

// put writes the values of a cell into f, at the components of its aggregates (-1: none), and reports whether all of
// them are numbers. sampled are those of the aggregates that are no functions of sums, in turn.
func (q Question) put(f []*big.Rat, components []int, sums []*big.Rat, sampled [][]byte) bool {
	numbers := true
	for a, agg := range q.Cut.Aggregates {
		k := components[a]
		if agg.Sampled == nil {
			if k < 0 {
				continue
			}
			s := make([]*big.Rat, len(agg.Terms))
			for i, t := range agg.Terms {
				s[i] = sums[t]
			}
			if x, ok := agg.Exact(s); ok {
				f[k] = x
			}
			continue
		}

		// Percentiles and the like come in their own columns, behind the sums.
		text := sampled[0]
		sampled = sampled[1:]
		if k < 0 || text == nil {
			continue
		}
		if x, ok := new(big.Rat).SetString(string(text)); ok {
			f[k] = x
		} else {
			numbers = false
		}
	}
	return numbers
}
