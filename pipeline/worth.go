package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"fugu/ledger"
	"fugu/privacy"
	"fugu/sqlstate"
	"fugu/wire"
)

// columnError is the noise of one column of a statement beside what the model expects of its values: both are public.
type columnError struct {
	column string
	share  float64 // the root of Σ sd² over that of Σ E², over the column's values; +Inf where all are expected to be 0
	values int
	larger int // values of which the noise's sd is larger than what is expected of them
}

// errors says how large the noise of each column is.
//
// A column is taken as a whole: one group of which the model expects next to nothing is no reason to refuse the others,
// and its noise counts as little as it does in a chart of them all. For a single value it is sd/|E|.
func (m *measured) errors() []columnError {
	type sums struct{ noise, expected float64 }
	var out []columnError
	var squares []sums
	for k, l := range m.labels {
		i := slices.IndexFunc(out, func(e columnError) bool { return e.column == l.Column })
		if i < 0 {
			i = len(out)
			out, squares = append(out, columnError{column: l.Column}), append(squares, sums{})
		}
		sd, mean := m.calibration.SD[k], m.expected[k]
		squares[i].noise += sd * sd
		squares[i].expected += mean * mean
		out[i].values++
		if sd > math.Abs(mean) {
			out[i].larger++
		}
	}
	for i, s := range squares {
		if out[i].share = math.Sqrt(s.noise / s.expected); math.IsNaN(out[i].share) {
			out[i].share = math.Inf(1)
		}
	}
	return out
}

// worst is the column with the most noise.
func (m *measured) worst() columnError {
	return slices.MaxFunc(m.errors(), func(a, b columnError) int {
		if a.share < b.share {
			return -1
		} else if a.share > b.share {
			return 1
		}
		return 0
	})
}

// worth takes over how much noise an answer may have: the policy's limit, or a session's that is narrower.
func (q *question) worth(set settings) error {
	q.limit = q.policy.Privacy.MaxError
	switch {
	case set.maxError == 0:
	case q.limit != 0 && set.maxError > q.limit:
		return sqlstate.New(sqlstate.NotAllowed, "fugu.max_error is %s, and the policy allows noise of at most %s", set.maxError, q.limit).
			WithHint("Write SET fugu.max_error = '%s', or less; RESET fugu.max_error gives the policy's.", q.limit)
	default:
		q.limit = set.maxError
	}
	return nil
}

// worthless refuses a statement whose noise is above the limit, before anything is charged for it: nil if it is not.
// Nothing but the model and the policy decides that.
func (q *question) worthless(ctx context.Context, m *measured) error {
	if q.limit == 0 || m.width == 0 {
		return nil
	}
	worst := m.worst()
	if q.limit.Allows(worst.share) {
		return nil
	}
	err := sqlstate.New(sqlstate.NotAllowed, "the noise of %s would be %s of the values expected, and fugu.max_error is %s", worst.column, percent(worst.share), q.limit)
	const otherwise = "Select more rows, group by fewer columns, or ask for fewer values in one statement"
	switch epsilon, ok := q.passes(ctx, worst.share); {
	case !ok:
		return err.WithHint("No epsilon up to %d is enough. %s.", maxPassing, otherwise)
	case epsilon <= float64(q.policy.Privacy.Epsilon):
		return err.WithHint("SET fugu.epsilon = %g is enough.", epsilon)
	default:
		return err.WithHint("It would take an epsilon of %g, and the policy allows %g for a statement. %s.", epsilon, float64(q.policy.Privacy.Epsilon), otherwise)
	}
}

// maxPassing is the largest ε that passes looks at, and maxPassingSteps how often it calibrates.
const (
	maxPassing      = 100
	maxPassingSteps = 5
)

// passes looks for an ε, of two digits, at which the noise is within the limit; share is what it is now. Noise falls about
// as 1/ε, so that a few steps are enough.
func (q *question) passes(ctx context.Context, share float64) (epsilon float64, ok bool) {
	at, ratio := float64(q.budget.Epsilon), share/float64(q.limit)
	for range maxPassingSteps {
		next := twoDigits(at * math.Max(ratio, 1.02))
		if ok {
			next = twoDigits(at * ratio)
		}
		if !(next <= maxPassing) || ok && next >= epsilon {
			break
		}
		at = next
		other := *q
		other.budget.Epsilon = privacy.Epsilon(at)
		other.key = ledger.Key(fmt.Sprintf("%s at %g", q.key, at)) // of the cache alone
		m, err := other.measure(ctx)
		if err != nil {
			break
		}
		ratio = m.worst().share / float64(q.limit)
		if ratio > 1 && ok {
			break
		}
		if q.limit.Allows(ratio * float64(q.limit)) {
			epsilon, ok = at, true
		}
	}
	return epsilon, ok
}

// twoDigits rounds up.
func twoDigits(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return x
	}
	digits := math.Pow10(int(math.Floor(math.Log10(x))) - 1)
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(math.Ceil(x/digits*(1-1e-12))*digits, 'g', 2, 64), 64)
	return rounded
}

// unlimited asks whether an answer that has to be paid for is worth it, where a limit is set.
func (q *question) unlimited(ctx context.Context) error {
	if q.limit == 0 {
		return nil
	}
	m, err := q.measure(ctx)
	if sqlstate.Is(err, sqlstate.StatisticsFailed) { // which costs its price, like any failure on rows
		return nil
	} else if err != nil {
		return err
	}
	return q.worthless(ctx, m)
}

// warning tells who has paid for an answer, and has set no limit, that the noise of values is larger than themselves.
func (q *question) warning(ctx context.Context) []wire.Notice {
	if !q.paid || q.limit != 0 {
		return nil
	}
	m, err := q.measure(ctx)
	if err != nil {
		return nil
	}
	text := m.warning()
	if text == "" {
		return nil
	}
	return []wire.Notice{{Warning: true, Message: "fugu: " + text,
		Hint: "SET fugu.max_error = '50%' refuses such a statement before it is charged; EXPLAIN (PRIVACY) shows its noise, and costs nothing."}}
}

// warning says of which columns the noise is larger than the values are expected to be; empty: of none.
func (m *measured) warning() string {
	var parts []string
	for _, e := range m.errors() {
		switch {
		case e.larger == 0:
		case e.values == 1:
			parts = append(parts, fmt.Sprintf("%s, %s of it", e.column, percent(e.share)))
		default:
			parts = append(parts, fmt.Sprintf("%s in %d of %d groups", e.column, e.larger, e.values))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "the noise is larger than the value expected: " + strings.Join(parts, "; ")
}

// percent writes a share for people.
func percent(share float64) string {
	if math.IsInf(share, 1) {
		return "more than any percentage"
	}
	return strconv.FormatFloat(100*share, 'g', 3, 64) + "%"
}

// ExplainedValue is one value of F: an aggregate in one group.
type ExplainedValue struct {
	Column, GroupKey string
	SD               float64 // of its noise
	Expected         float64 // what it is under the model, over the whole reference
	Inherent         float64 // what it varies by under the model
}
