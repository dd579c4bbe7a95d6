package mechanism

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fugu/internal/hook"
)

// Release is a vector of noisy values, fit for an analyst's eyes. It comes from Noise.Release, or from UnmarshalBinary
// of one that did.
type Release struct {
	values []string
}

// Values returns the values as plain decimal texts, one for each component.
func (r Release) Values() []string { return slices.Clone(r.values) }

// Numbers returns the values as floating-point numbers, for who computes with them: the nearest ones to the texts.
func (r Release) Numbers() ([]float64, error) {
	out := make([]float64, len(r.values))
	for k, text := range r.values {
		var err error
		if out[k], err = strconv.ParseFloat(text, 64); err != nil {
			return nil, fmt.Errorf("reading a released value: %w", err)
		}
	}
	return out, nil
}

// Len returns the number of components.
func (r Release) Len() int { return len(r.values) }

// Release draws noise and returns F with it. It is the only way from Statistics to something readable. random must be
// cryptographically secure and seeded by nobody: outside tests, call Calibration.Release. Its errors (a failing or
// degenerate random source, the wrong number of values) say nothing of the values.
func (n Noise) Release(random io.Reader, s Statistics) (Release, error) {
	values, err := n.fitting(s)
	if err != nil {
		return Release{}, err
	}

	// All noise is drawn by itself: how many random numbers it takes says nothing of the values.
	draws := 2*len(n.cells) + len(n.directions)
	for _, p := range n.planes {
		draws += triesOnPlane * len(p.of)
	}
	src := newSource(random, draws)
	own, shared := n.draw(src)
	if src.err != nil {
		return Release{}, fmt.Errorf("release: %w", src.err)
	}

	// Value and noise are added on the grid, where the sum is exact; then it is rounded for people.
	grid := make([]*big.Int, len(values))
	for k, c := range n.cells {
		grid[k] = toGrid(values[k], c.exponent)
	}
	for _, p := range n.planes {
		if p.drawn {
			p.project(grid)
		}
	}
	r := Release{values: make([]string, len(values))}
	for k, c := range n.cells {
		if hook.CoarseNoise && c.exponent < 0 {
			own[k] = own[k] >> -c.exponent << -c.exponent
			c.digits += 6
		}
		sum := grid[k].Add(grid[k], big.NewInt(own[k]))
		for i, d := range n.directions {
			sum.Add(sum, times(d.weights[k], shared[i]))
		}
		if hook.BlankRelease {
			sum.SetInt64(0)
		}
		r.values[k] = decimal(sum, c.exponent, c.digits)
	}
	return r, nil
}

// fitting returns the statistics' values if they are as many as the noise has components.
func (n Noise) fitting(s Statistics) ([]*big.Rat, error) {
	if !n.valid() {
		return nil, errors.New("release: noise that no calibration made")
	}
	if s.reveal == nil {
		return nil, errors.New("release: no statistics")
	}
	values := s.reveal()
	if len(values) != len(n.cells) || slices.Contains(values, nil) {
		return nil, fmt.Errorf("release: statistics do not have the %d values of the noise", len(n.cells))
	}
	return values, nil
}

// toGrid returns v in steps of 2^exponent, rounded to the nearest integer, halves up.
func toGrid(v *big.Rat, exponent int) *big.Int {
	num, den := new(big.Int).Set(v.Num()), new(big.Int).Set(v.Denom())
	if exponent < 0 {
		num.Lsh(num, uint(-exponent))
	} else {
		den.Lsh(den, uint(exponent))
	}
	num.Lsh(num, 1).Add(num, den)
	return num.Div(num, den.Lsh(den, 1)) // Euclidean, so floor: den > 0
}

// digits returns the decimals with which noise of standard deviation sd is published: the fewest whose unit is at most
// sd/100, none for integers.
func digits(sd float64, integer bool) int {
	d := 0
	if !integer {
		for math.Pow10(-d) > sd/100 {
			d++
		}
	}
	return d
}

// decimal writes n·2^exponent with the given number of decimals, rounded half-even.
func decimal(n *big.Int, exponent, digits int) string {
	x := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	x.Mul(x, n)

	// Halves go to the even neighbour, so that rounding moves no mean.
	if exponent >= 0 {
		x.Lsh(x, uint(exponent))
	} else {
		unit := new(big.Int).Lsh(big.NewInt(1), uint(-exponent))
		rest := new(big.Int)
		x.DivMod(x, unit, rest)
		switch rest.Lsh(rest, 1).Cmp(unit) {
		case 1:
			x.Add(x, big.NewInt(1))
		case 0:
			x.Add(x, big.NewInt(int64(x.Bit(0))))
		}
	}

	// At least one digit stands before the point.
	sign := ""
	if x.Sign() < 0 {
		sign = "-"
	}
	text := x.Abs(x).String()
	if missing := digits + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	if digits == 0 {
		return sign + text
	}
	whole := len(text) - digits
	return sign + text[:whole] + "." + text[whole:]
}

// version is the first byte of a marshalled Release. What follows: the number of values, then each value's length and
// text; numbers as in encoding/binary's shortest unsigned varint.
const version = 1

const maxText = 1 << 12 // bytes in one value

var decimalText = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

var errMalformed = errors.New("malformed release")

// MarshalBinary writes r so that UnmarshalBinary restores it text for text.
func (r Release) MarshalBinary() ([]byte, error) {
	if len(r.values) == 0 {
		return nil, errors.New("marshal release: it is empty")
	}
	b := binary.AppendUvarint([]byte{version}, uint64(len(r.values)))
	for _, v := range r.values {
		b = binary.AppendUvarint(b, uint64(len(v)))
		b = append(b, v...)
	}
	return b, nil
}

// UnmarshalBinary accepts exactly what MarshalBinary writes.
func (r *Release) UnmarshalBinary(data []byte) error {
	values, err := decode(data)
	if err != nil {
		return fmt.Errorf("unmarshal release: %w", err)
	}
	if again, err := (Release{values}).MarshalBinary(); err != nil || !bytes.Equal(again, data) {
		return fmt.Errorf("unmarshal release: %w", errMalformed)
	}
	r.values = values
	return nil
}

func decode(data []byte) ([]string, error) {
	if len(data) == 0 || data[0] != version {
		return nil, errors.New("unknown version")
	}

	// A length is compared with what there is before memory is taken for it.
	in := bytes.NewReader(data[1:])
	count, err := binary.ReadUvarint(in)
	if err != nil || count > uint64(in.Len()) { // a value takes at least one byte
		return nil, errMalformed
	}

	values := make([]string, count)
	for k := range values {
		size, err := binary.ReadUvarint(in)
		if err != nil || size > uint64(in.Len()) || size > maxText {
			return nil, errMalformed
		}
		text := make([]byte, size)
		_, _ = io.ReadFull(in, text) // in holds at least size bytes

		// Nothing but decimal numbers was ever encoded.
		if !decimalText.Match(text) {
			return nil, errMalformed
		}
		values[k] = string(text)
	}
	return values, nil
}

// without publishes F as it is. It is what hook.ZeroNoise asks for, and elsewhere the compiler leaves it out.
func (n Noise) without(s Statistics) (Release, error) {
	values, err := n.fitting(s)
	if err != nil || !hook.ZeroNoise {
		return Release{}, err
	}
	r := Release{values: make([]string, len(values))}
	for k, v := range values {
		decimals, finite := v.FloatPrec()
		if !finite {
			decimals += 40 // what repeats for ever is no sum, and no average that PostgreSQL would write out
		}
		r.values[k] = v.FloatString(decimals)
	}
	return r, nil
}
