package planner

import (
	"math"
	"strings"
	"testing"

	"fugu/parser"
)

// The lengths of a code's words satisfy Kraft's inequality: else there would be more statements of a length than the
// code counts.
func TestCodesAreCodes(t *testing.T) {
	names := 128 * math.Exp2(-named(parser.Func{Name: "strpos"}))
	for _, n := range frequent {
		names += math.Exp2(-named(parser.Func{Name: strings.Replace(n, "CASE", "lower", 1)}))
	}
	if len(frequent) > 16 || names > 1 {
		t.Errorf("%d names are frequent; all take %g of the codes", len(frequent), names)
	}
	if n := len(parser.FunctionNames()); n > 128-60 {
		t.Errorf("there are %d functions, and some 60 operators, casts and forms, for 128 names", n)
	}
	numbers := 0.0
	for n := range 1 << 20 {
		numbers += math.Exp2(-lengthOf(n))
	}
	if numbers > 1 {
		t.Errorf("whole numbers take %g of the codes", numbers)
	}
	// NULL, true and false; units; 15 characters of numbers and 255 of texts beside their ends; operations of
	// constants.
	var d description
	null, unit := parser.Const{Kind: parser.Null}, parser.Const{Kind: parser.String, Text: "day"}
	constants := 3*math.Exp2(-d.literal(null)) + float64(len(units))*math.Exp2(-d.literal(unit)) + math.Exp2(-3)
	for n := range 400 {
		constants += math.Exp2(float64(n)*math.Log2(15) - digits(strings.Repeat("1", n)))
		constants += math.Exp2(float64(n)*math.Log2(255) - characters(strings.Repeat("x", n)))
	}
	if constants > 1 {
		t.Errorf("constants take %g of the codes", constants)
	}
}

// Rows that stand twice or three times by design are found, and numbers as chance makes them are not taken for it.
func TestStacked(t *testing.T) {
	poisson := func(mean float64) []float64 {
		s := make([]float64, mostAlike+2)
		for k := range s {
			v := 5000 * math.Exp(-mean)
			for i := range k {
				v *= mean / float64(i+1)
			}
			s[k] = math.Round(v)
		}
		s[0] = 0
		return s
	}
	for _, mean := range []float64{0.1, 1, 3, 8, 12, 30} {
		if got := stacked(poisson(mean)); got != 1 {
			t.Errorf("rows by chance, %g in the mean, are taken to stand %d times", mean, got)
		}
	}
	for want, s := range map[int]map[int]float64{
		2: {1: 500, 2: 4500}, 3: {3: 3000, 6: 20}, 12: {12: 800}, 1: {1: 9000, 2: 500, 3: 20},
	} {
		alike := make([]float64, mostAlike+2)
		for k, n := range s {
			alike[k] = n
		}
		if got := stacked(alike); got != want {
			t.Errorf("rows stand %d times, and are taken to stand %d times", want, got)
		}
	}
}
