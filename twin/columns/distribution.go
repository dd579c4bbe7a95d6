package columns

import (
	"fmt"
	"math"

	"fugu/channel"
)

// Distribution is what one shown value of an obfuscated column tells of the law that the column's values were drawn
// from, for any two laws whatever [Kawamoto & Murakami, Theorems 1 and 2]. It rests on the channel alone: not on the
// reference, whose error is in what is said of single rows. Of k rows that are drawn independently the numbers of one
// count k times; counts of many rows are meant to show the law.
type Distribution struct {
	// Epsilon hides any two laws at δ = 0; nil: a value that is shown excludes a true one.
	Epsilon *float64 `json:"epsilon,omitempty"`
	// Delta is the δ at which the ε that the policy asks for single rows hides any two laws, too.
	Delta float64 `json:"delta"`
	// TotalVariation is how far two laws are shown apart at most, between 0 and 1; laws that differ in a share of the
	// rows, that share of it.
	TotalVariation float64 `json:"total_variation"`
	// KL is that in nats, likewise; nil as Epsilon is.
	KL *float64 `json:"kl,omitempty"`
}

// Distribution is what the column's channel gives its law; nil for a column that is shown by a transport, which hides
// laws as a whole.
func (l Law) Distribution() (*Distribution, error) {
	if l.Obfuscate == nil || len(l.Channels) != 1 {
		return nil, nil
	}
	matrix := make([][]float64, len(l.Values))
	for x, row := range l.Channels[0] {
		matrix[x] = make([]float64, len(l.Values))
		for _, e := range row {
			matrix[x][e.Output] = float64(e.Weight) / channel.Whole
		}
	}
	c, err := channel.New(matrix)
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", l.Column, err)
	}

	// How far two rows of the channel are apart bounds how far any two laws of the column come to be.
	d := &Distribution{Delta: c.Apart(channel.Beyond(l.Obfuscate.Epsilon)),
		TotalVariation: c.Apart(channel.TotalVariation)}
	d.Epsilon, d.KL = finite(c.Epsilon(0)), finite(c.Apart(channel.KL))
	return d, nil
}

// finite is a number that JSON can say; nil: it is infinite.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Words says it for people.
func (d Distribution) Words(epsilon float64) string {
	line := fmt.Sprintf("of any two laws of the column one shown value tells epsilon %g but for delta %.3g", epsilon,
		d.Delta)
	if d.Epsilon != nil {
		line += fmt.Sprintf(" (epsilon %.3g without)", *d.Epsilon)
	}
	return line + fmt.Sprintf("; laws that differ in a share of the rows show %.3g of that", d.TotalVariation)
}
