package planner

import (
	"math"
	"testing"
)

func TestLiteralBits(t *testing.T) {
	digit := math.Log2(10)
	for sql, want := range map[string]float64{
		``:                                       0,
		`(t."x1" = t10."25")`:                    0,
		`(t."age" > 30)`:                         2 * digit,
		`(t."age" > 30123)`:                      10,
		`(t."s" = 'it''s a'::pg_catalog."text")`: 10,
		`(t."s" LIKE '%abc'::pg_catalog."text")`: 32,
		`pg_catalog.strpos('1,2,3'::pg_catalog."text", t."s")`:     40,
		`(t."s" = ('abc'::pg_catalog."text" || t."u"))`:            24,
		`(t."s" IN ('abc'::pg_catalog."text", 'de', 'x', '')) = 1`: 10 + 10 + 8 + digit,
		`(t."s" IN ('abc')) AND pg_catalog.f(t."x", 'abc')`:        10 + 24,
		`t."a'b" = 1.5e3 + CAST(t."c" AS pg_catalog."int8")`:       10,
		`''`: 0,
	} {
		if got := literalBits(sql, 10); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %g bits, want %g", sql, got, want)
		}
	}
}
