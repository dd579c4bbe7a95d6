package beside

import (
	"fmt"
	"testing"
)

func TestCells(t *testing.T) {
	table := func(rows ...[]Value) Table { return Table{[]string{"k", "n", "x"}, rows} }
	row := func(k, n string) []Value { return []Value{{Text: k}, {Text: n}, {Null: true}} }
	cells := Cells(table(row("a", "100"), row("b", "0"), row("c", "8"), row("d", "x")),
		table(row("d", "y"), row("a", "90"), row("b", "3"), row("e", "5")), 1)
	got := ""
	for _, c := range cells {
		got += fmt.Sprintf("%s %s %s/%s %g; ", c.Key, c.Column, c.Truth, c.Told, c.Off)
	}
	want := "a n 100/90 0.1; a x NULL/NULL 0; b n 0/3 1; b x NULL/NULL 0; c n 8/NULL 1; c x NULL/NULL 0; " +
		"d n x/y 1; d x NULL/NULL 0; e n NULL/5 1; e x NULL/NULL 0; "
	if got != want {
		t.Errorf("cells\n%s, want\n%s", got, want)
	}
	if got := Median(cells[:4]); got != .1 {
		t.Errorf("the median of 0, 0, .1, 1 is told as %g", got)
	}
}
