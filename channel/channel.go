package channel

import (
	"fmt"
	"math"
	"slices"
)

// Whole is the denominator of every probability of a channel. It is a power of two, so that uniform bits serve as the
// draw, and small enough for exact sums in float64 and bigint.
const Whole = 1 << 48

// Entry says that an output is shown with probability Weight / Whole.
type Entry struct {
	Output int
	Weight uint64
}

// Channel is a matrix of probabilities, one row for each true value; of a row only what is not 0 is kept, in the order
// of the outputs. The zero Channel has no values.
type Channel struct {
	rows    [][]Entry
	outputs int
}

// New is the channel with the probabilities p[x][y], each rounded down to a multiple of 1/Whole; what is missing to one
// goes to the greatest of its row. It is an error if p is not a matrix of probabilities whose rows add up to 1 within
// 1e-9.
func New(p [][]float64) (Channel, error) {
	if len(p) == 0 || len(p[0]) == 0 {
		return Channel{}, fmt.Errorf("channel: no values")
	}
	c := Channel{outputs: len(p[0])}
	for x, row := range p {
		if len(row) != c.outputs {
			return Channel{}, fmt.Errorf("channel: row %d has %d outputs, and the first has %d", x, len(row), c.outputs)
		}
		entries, err := rounded(row)
		if err != nil {
			return Channel{}, fmt.Errorf("channel: row %d: %w", x, err)
		}
		c.rows = append(c.rows, entries)
	}
	return c, nil
}

// rounded are the probabilities of a row as weights that add up to Whole.
func rounded(row []float64) ([]Entry, error) {
	sum, most := 0., 0
	for y, q := range row {
		if !(q >= 0 && q <= 1+1e-9) {
			return nil, fmt.Errorf("%g is no probability", q)
		}
		if sum += q; q > row[most] {
			most = y
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		return nil, fmt.Errorf("the probabilities add up to %.12g", sum)
	}

	// Rounding down leaves at most one unit for each output, and the float's own error beside; the greatest entry is at
	// least 1/len(row), and hardly notices.
	left := uint64(Whole)
	weights := make([]uint64, len(row))
	for y, q := range row {
		if y != most {
			weights[y] = min(uint64(math.Floor(q*Whole)), left)
			left -= weights[y]
		}
	}
	weights[most] = left

	var out []Entry
	for y, w := range weights {
		if w > 0 {
			out = append(out, Entry{Output: y, Weight: w})
		}
	}
	return out, nil
}

// Inputs is the number of true values.
func (c Channel) Inputs() int { return len(c.rows) }

// Outputs is the number of values that may be shown.
func (c Channel) Outputs() int { return c.outputs }

// Row are the outputs that the true value x may become, in order; their weights add up to Whole.
func (c Channel) Row(x int) []Entry { return slices.Clone(c.rows[x]) }

// Probability is P(y|x).
func (c Channel) Probability(x, y int) float64 {
	for _, e := range c.rows[x] {
		if e.Output == y {
			return float64(e.Weight) / Whole
		}
	}
	return 0
}

// Column are the probabilities with which y is shown, by true value.
func (c Channel) Column(y int) []float64 {
	out := make([]float64, len(c.rows))
	for x := range c.rows {
		out[x] = c.Probability(x, y)
	}
	return out
}

// Shown is the law of what is shown if law is that of the true values.
func (c Channel) Shown(law []float64) []float64 {
	out := make([]float64, c.outputs)
	for x, row := range c.rows {
		for _, e := range row {
			out[e.Output] += law[x] * float64(e.Weight) / Whole
		}
	}
	return out
}

// Information is the mutual information of the true value and the shown one, in nats, where the true one has that law.
func (c Channel) Information(law []float64) float64 {
	shown, out := c.Shown(law), 0.
	for x, row := range c.rows {
		for _, e := range row {
			if q := float64(e.Weight) / Whole; law[x] > 0 {
				out += law[x] * q * math.Log(q/shown[e.Output])
			}
		}
	}
	return out
}
