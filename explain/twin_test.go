package explain

import (
	"strings"
	"testing"
)

// Of a twin whose rows come with those of another nobody is told that as many were drawn as it has: they are copies.
func TestTwinThatComesWithAnother(t *testing.T) {
	x := Explanation{Twins: []Twin{
		{Table: "public.orders", Rows: "60000", Sampled: "45481", Epsilon: "1", Delta: "0.001"},
		{Table: "public.payment", Rows: "60000", Epsilon: "1", Delta: "0.001"},
	}}
	got := strings.Join(x.twinLines(), "\n")
	for _, want := range []string{
		"Twin of public.orders: 60000 rows, made of 45481 that were drawn; it was paid for",
		"Twin of public.payment: 60000 rows, which come with the rows that they belong to, and were paid for with them",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("without %q:\n%s", want, got)
		}
	}
}
