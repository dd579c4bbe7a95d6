package ledger

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"fugu/test/patient"
)

// What is shown of an interval has the digits that its standard deviation warrants.
func TestShown(t *testing.T) {
	for _, c := range []struct {
		cell             Cell
		sd, lower, upper string
	}{
		{Cell{SD: 177.3612345, Lower: 9829.371, Upper: 10524.62}, "177.4", "9829", "10525"},
		{Cell{SD: 0.01234567, Lower: 51.98877, Upper: 52.02321}, "0.01235", "51.9887", "52.0233"},
		{Cell{SD: 81234.5, Lower: -1234567.8, Upper: 3456789.1}, "8.123e+04", "-1234600", "3456800"},
		{Cell{SD: 2, Lower: -0.001, Upper: 0.001}, "2", "-0.01", "0.01"},
		{Cell{SD: 2, Lower: 3.25, Upper: 4}, "2", "3.25", "4.00"},
		{Cell{Lower: 123456789012, Upper: 123456789012}, "0", "1.23456789012e+11", "1.23456789012e+11"},
		{Cell{SD: math.Inf(1), Lower: math.Inf(-1), Upper: math.Inf(1)}, "+Inf", "-Inf", "+Inf"},
	} {
		if sd, lower, upper := c.cell.Shown(); sd != c.sd || lower != c.lower || upper != c.upper {
			t.Errorf("%+v is shown as %s, %s, %s, want %s, %s, %s", c.cell, sd, lower, upper, c.sd, c.lower, c.upper)
		}
	}
}

// However large or small: no end is further in than it was, nor further out than a hundredth of the deviation.
func TestShownIsNeverTooNarrow(t *testing.T) {
	patient.Test(t)
	random := rand.New(rand.NewPCG(5, 17))
	for range 100_000 {
		sd := math.Pow(10, 20*random.Float64()-10)
		at := sd * 1000 * random.NormFloat64()
		c := Cell{SD: sd, Lower: at - 1.96*sd, Upper: at + 1.96*sd}
		_, l, u := c.Shown()
		lower, err := strconv.ParseFloat(l, 64)
		upper, err2 := strconv.ParseFloat(u, 64)
		ulp := math.Abs(at) * 1e-15
		if err != nil || err2 != nil || lower > c.Lower+ulp || upper < c.Upper-ulp ||
			lower < c.Lower-sd/100-ulp || upper > c.Upper+sd/100+ulp {
			t.Fatalf("%+v is shown as %s to %s", c, l, u)
		}
	}
}
