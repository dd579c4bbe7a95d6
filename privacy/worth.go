package privacy

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Worth is the most noise for which an answer is worth its price: a standard deviation as a share of the value that the
// model expects. 0: any noise.
type Worth float64

// ParseWorth reads a percentage above 0: "50%". A bare number would be read as one by some and as a share by others.
func ParseWorth(s string) (Worth, error) {
	text, ok := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(text, 64)
	if !ok || err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, errors.New("noise is limited by a percentage above 0")
	}
	return Worth(v / 100), nil
}

// Allows reports whether noise of so large a share is within the limit.
func (w Worth) Allows(share float64) bool { return w == 0 || share <= float64(w)*(1+1e-9) }

// String writes w as ParseWorth reads it; empty: no limit.
func (w Worth) String() string {
	if w == 0 {
		return ""
	}
	return strconv.FormatFloat(100*float64(w), 'g', 12, 64) + "%"
}
