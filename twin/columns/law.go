// Package columns says by which channel a column of a twin is shown: what a policy asks for, with the numbers that the
// table's public reference has, as package channel's matrices. It reads no row, draws nothing and opens no database.
package columns

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"fugu/channel"
	"fugu/policy"
	"fugu/twin"
)

// Count is how many rows of the reference have a value: by the outcome of the secret that the column is to hide
// (twin.True, twin.False, twin.Null); of a column that hides none, all of them under twin.True.
type Count struct {
	Value policy.Value
	Rows  [3]int64
}

// all is how many rows have the value.
func (c Count) all() int64 { return c.Rows[twin.True] + c.Rows[twin.False] + c.Rows[twin.Null] }

// Law is the law by which a column is shown. All of it is public, and it is kept: what a row shows is drawn once by it.
type Law struct {
	Column    string
	Obfuscate *policy.Obfuscate `json:",omitempty"`
	Transport *policy.Transport `json:",omitempty"`

	Rows    int64          // of the reference
	Radius  float64        // of Obfuscate: how far the column's law may be from the reference's, in ℓ1
	Leakage float64        // of Obfuscate, in nats: what a shown value tells of its row at most; Epsilon or less
	Values  []policy.Value // that the reference has, in order; no other is shown
	Usual   int            // the most frequent of them: every value that the reference does not have counts as it
	// Channels are the entries by outcome of Transport's secret, and by true value; of Obfuscate there is one.
	Channels [][][]channel.Entry
}

// The numbers of values up to which a column is shown through a channel. The programme that finds the best obfuscating
// one takes a second or two for so many; a transporting one may have an entry for each pair of values.
const (
	mostObfuscated  = 64
	mostTransported = 256
)

// New is the law of a column of which the reference has these values, each with the rows that have it. It is an error
// if there are too many of them, or if they are no numbers where a transport needs some.
func New(c policy.Column, counts []Count) (Law, error) {
	law := Law{Column: c.Name, Obfuscate: c.Obfuscate, Transport: c.Transport}
	counts = slices.DeleteFunc(slices.Clone(counts), func(n Count) bool { return n.all() == 0 })
	if len(counts) == 0 {
		return law, errors.New("the reference has no rows: nothing is known of the column's law")
	}
	most := mostObfuscated
	if c.Transport != nil {
		most = mostTransported
	}
	if len(counts) > most {
		return law, fmt.Errorf("the reference has %d values of it, and a channel takes %d at most: drop the column, "+
			"or show a coarser one", len(counts), most)
	}

	// In one order a law is the same law, however the reference was read.
	if err := inOrder(counts, c.Transport != nil); err != nil {
		return law, err
	}
	for i, n := range counts {
		law.Rows += n.all()
		law.Values = append(law.Values, n.Value)
		if n.all() > counts[law.Usual].all() {
			law.Usual = i
		}
	}
	if c.Transport != nil {
		return law, law.transport(counts)
	}
	return law, law.obfuscate(counts)
}

// inOrder sorts values: numbers by what they are, others as bytes; NULL, which is neither, comes last.
func inOrder(counts []Count, numbers bool) error {
	number := map[string]float64{}
	for _, n := range counts {
		if !numbers || n.Value.IsNull {
			continue
		}
		x, err := strconv.ParseFloat(n.Value.Text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return errors.New("cost: absolute moves numbers, and the reference has values of it that are none")
		}
		number[n.Value.Text] = x
	}

	// Equal numbers that are written differently are in the order of their texts.
	slices.SortFunc(counts, func(a, b Count) int {
		switch {
		case a.Value.IsNull != b.Value.IsNull:
			if a.Value.IsNull {
				return 1
			}
			return -1
		case number[a.Value.Text] < number[b.Value.Text]:
			return -1
		case number[a.Value.Text] > number[b.Value.Text]:
			return 1
		}
		return strings.Compare(a.Value.Text, b.Value.Text)
	})
	return nil
}

// frequencies are the shares that the values have of so many rows.
func frequencies(counts []Count, rows int64, of func(Count) int64) []float64 {
	out := make([]float64, len(counts))
	for i, n := range counts {
		out[i] = float64(of(n)) / float64(rows)
	}
	return out
}

// obfuscate takes the channel that says most of those that keep ε for every law within the radius: the closed form
// where there is one, else the linear programme's. Values that the reference does not have count as its most frequent
// one, whose law is estimated as well; what is told of that is no less than what is told of the value itself.
func (l *Law) obfuscate(counts []Count) error {
	l.Radius = channel.Radius(len(counts), l.Rows, l.Obfuscate.Delta)
	laws := channel.Ball{Center: frequencies(counts, l.Rows, Count.all), Radius: l.Radius}

	// A closed form keeps ε up to rounding, which is taken off beforehand.
	c, err := channel.Binary(l.Obfuscate.Epsilon-1e-9, laws)
	if err != nil {
		if c, err = channel.Optimal(l.Obfuscate.Epsilon, laws); err != nil {
			return err
		}
	}
	if l.Leakage = c.Capacity(laws); l.Leakage > l.Obfuscate.Epsilon {
		return fmt.Errorf("the channel that was found tells %g, and epsilon is %g", l.Leakage, l.Obfuscate.Epsilon)
	}
	l.Channels = [][][]channel.Entry{entries(c)}
	return nil
}

// transport has every outcome of the secret show the law of all rows of the reference. Of an outcome that the reference
// does not have nothing is known: its rows show draws of that law, whatever they hold.
func (l *Law) transport(counts []Count) error {
	target := frequencies(counts, l.Rows, Count.all)
	for outcome := range 3 {
		rows := int64(0)
		for _, n := range counts {
			rows += n.Rows[outcome]
		}

		// Without rows of the outcome there is no law of its own that could be moved to the common one.
		var shown channel.Channel
		if rows == 0 {
			matrix := make([][]float64, len(target))
			for x := range matrix {
				matrix[x] = target
			}
			c, err := channel.New(matrix)
			if err != nil {
				return err
			}
			shown = c
		} else {
			own := frequencies(counts, rows, func(n Count) int64 { return n.Rows[outcome] })
			c, err := channel.Transport([][]float64{own}, target)
			if err != nil {
				return err
			}
			shown = c[0]
		}
		l.Channels = append(l.Channels, entries(shown))
	}
	return nil
}

// Check is an error if the law is none that values can be drawn by: every true value has a row in every channel, whose
// weights add up to channel.Whole and are of values that there are.
func (l Law) Check() error {
	if len(l.Channels) == 0 || l.Usual < 0 || l.Usual >= len(l.Values) {
		return errors.New("a law without channels or values")
	}

	for _, matrix := range l.Channels {
		if len(matrix) != len(l.Values) {
			return fmt.Errorf("a channel of %d values, and not of %d", len(matrix), len(l.Values))
		}
		for _, row := range matrix {
			// A draw picks a whole number below channel.Whole, so the weights have to fill it exactly.
			sum := uint64(0)
			for _, e := range row {
				if e.Output < 0 || e.Output >= len(l.Values) || e.Weight > channel.Whole {
					return errors.New("an entry of a channel that is none")
				}
				sum += e.Weight
			}
			if sum != channel.Whole {
				return errors.New("a row of a channel whose weights do not add up")
			}
		}
	}
	return nil
}

// entries are a channel's matrix, row by row.
func entries(c channel.Channel) [][]channel.Entry {
	out := make([][]channel.Entry, c.Inputs())
	for x := range out {
		out[x] = c.Row(x)
	}
	return out
}

// Words says how the column is shown, and what is promised of it.
func (l Law) Words() string {
	if l.Transport != nil {
		return fmt.Sprintf("column %s shows one law of values whatever %s is in a row, by the %d rows of the reference",
			l.Column, l.Transport.Hide, l.Rows)
	}
	line := fmt.Sprintf("a shown value of column %s tells at most epsilon %g of its row, by the %d rows of the "+
		"reference (radius %.4g, delta %g)", l.Column, l.Obfuscate.Epsilon, l.Rows, l.Radius, l.Obfuscate.Delta)
	if d, err := l.Distribution(); err == nil && d != nil {
		line += "; " + d.Words(l.Obfuscate.Epsilon)
	}
	return line
}
