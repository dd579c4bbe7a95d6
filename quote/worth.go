package quote

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"fugu/privacy"
	"fugu/sqlstate"
)

// columnError is the noise of one column of a statement beside what the model expects of its values: both are public.
type columnError struct {
	column string
	Share  float64 // the root of Σ sd² over that of Σ E², over the column's values; +Inf where all are expected to be 0
	values int
	larger int // values of which the noise's sd is larger than what is expected of them
}

// Errors says how large the noise of each column is.
//
// A column is taken as a whole: one group of which the model expects next to nothing is no reason to refuse the others,
// and its noise counts as little as it does in a chart of them all. For a single value it is sd/|E|.
func (m *Quote) Errors() []columnError {
	type sums struct{ noise, expected float64 }
	var out []columnError
	var squares []sums

	for k, l := range m.Labels {
		i := slices.IndexFunc(out, func(e columnError) bool { return e.column == l.Column })
		if i < 0 {
			i = len(out)
			out, squares = append(out, columnError{column: l.Column}), append(squares, sums{})
		}
		sd, mean := m.Calibration.SD[k], m.Expected[k]
		squares[i].noise += sd * sd
		squares[i].expected += mean * mean
		out[i].values++
		if sd > math.Abs(mean) {
			out[i].larger++
		}
	}

	// 0/0: a column of noise and of values that are all expected to be nothing is worth nothing.
	for i, s := range squares {
		if out[i].Share = math.Sqrt(s.noise / s.expected); math.IsNaN(out[i].Share) {
			out[i].Share = math.Inf(1)
		}
	}
	return out
}

// worst is the column with the most noise.
func (m *Quote) worst() columnError {
	return slices.MaxFunc(m.Errors(), func(a, b columnError) int {
		if a.Share < b.Share {
			return -1
		} else if a.Share > b.Share {
			return 1
		}
		return 0
	})
}

// Worthless refuses a request whose noise is above the limit, before anything is charged for it: nil if it is not. 0 is
// no limit. Nothing but the model and the policy decides that; measure is asked for the noise at another ε.
func (r *Request) Worthless(m *Quote, limit privacy.Worth, measure func(*Request) (*Quote, error)) error {
	if limit == 0 || m.Width == 0 {
		return nil
	}

	worst := m.worst()
	if limit.Allows(worst.Share) {
		return nil
	}

	// The hint says what would do, as the policy and the model have it.
	err := sqlstate.New(sqlstate.NotAllowed, "the noise of %s would be %s of the values expected, and "+
		"fugu.max_error is %s", worst.column, percent(worst.Share), limit)
	const otherwise = "Select more rows, group by fewer columns, or ask for fewer values in one statement"
	switch epsilon, ok := r.passes(worst.Share, limit, measure); {
	case !ok:
		return err.WithHint("No epsilon up to %d is enough. %s.", maxPassing, otherwise)
	case epsilon <= float64(r.Policy.Privacy.Epsilon):
		return err.WithHint("SET fugu.epsilon = %g is enough.", epsilon)
	default:
		return err.WithHint("It would take an epsilon of %g, and the policy allows %g for a statement. %s.", epsilon,
			float64(r.Policy.Privacy.Epsilon), otherwise)
	}
}

// maxPassing is the largest ε that passes looks at, and maxPassingSteps how often it calibrates.
const (
	maxPassing      = 100
	maxPassingSteps = 5
)

// passes looks for an ε, of two digits, at which the noise is within the limit; share is what it is now. Noise falls
// about as 1/ε, so that a few steps are enough.
func (r *Request) passes(share float64, limit privacy.Worth,
	measure func(*Request) (*Quote, error)) (epsilon float64, ok bool) {
	at, ratio := float64(r.Budget.Epsilon), share/float64(limit)

	// Once an ε is enough, a smaller one may be, too.
	for range maxPassingSteps {
		next := twoDigits(at * math.Max(ratio, 1.02))
		if ok {
			next = twoDigits(at * ratio)
		}
		if !(next <= maxPassing) || ok && next >= epsilon {
			break
		}

		at = next
		other := *r
		other.Budget.Epsilon = privacy.Epsilon(at)
		other.Key = key(fmt.Sprintf("%s at %g", r.Key, at)) // of the cache alone
		m, err := measure(&other)
		if err != nil {
			break
		}

		ratio = m.worst().Share / float64(limit)
		if ratio > 1 && ok {
			break
		}
		if limit.Allows(ratio * float64(limit)) {
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

// Warning names the columns whose noise is larger than the values are expected to be; empty: there are none.
func (m *Quote) Warning() string {
	var parts []string
	for _, e := range m.Errors() {
		switch {
		case e.larger == 0:
		case e.values == 1:
			parts = append(parts, fmt.Sprintf("%s, %s of it", e.column, percent(e.Share)))
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
	switch {
	case math.IsInf(share, 1):
		return "more than any percentage"
	case share >= 1e6: // the model expects next to nothing, and no percentage says more
		return "more than 100,000,000%"
	}
	// Digits before the point are all written: who reads 3.77e+03% does not see that it is 38 times the value.
	whole, rest, point := strings.Cut(strconv.FormatFloat(three(100*share), 'f', -1, 64), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		whole += "." + rest
	}
	return whole + "%"
}

// three rounds to three digits.
func three(x float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	return rounded
}
